/* event_filter.c - see event_filter.h. */
#include "event_filter.h"

#include <string.h>
#include "../rules/listener.h"
#include "../view/rows.h"
#include "app.h"

int event_filter_read(struct app *app, const struct args *args, struct event_filter *out, struct err *err)
{
    *out = (struct event_filter){
        .job = args_text(args, 'j'),
        .entity = args_text(args, 'n'),
        .key = args_text(args, 'k'),
        .event = args_text(args, 'v'),
    };
    int rc = app_moment_option(app, args, 'S', &out->since, err);
    return rc < 0 ? rc : app_moment_option(app, args, 'B', &out->before, err);
}

bool event_filter_is_open(const struct event_filter *f)
{
    return !f->since && !f->before && !f->job && !f->entity && !f->key && !f->event;
}

static bool is_in_time(const struct event_filter *f, int64_t emitted_at_us)
{
    if (f->since && emitted_at_us < f->since * 1000000)
        return false;
    return !f->before || emitted_at_us < f->before * 1000000;
}

/* NULL is any. An event may have no entity, key or job. */
static bool is_named(const char *wanted, const char *found)
{
    return !wanted || (found && !strcmp(wanted, found));
}

bool event_filter_takes(const struct event_filter *f, const struct store_rows *rows, int row)
{
    const char *event = rows_value(rows, row, "event");
    if (f->event && !(event && listener_pattern_matches(f->event, event)))
        return false;
    return is_in_time(f, rows_number(rows, row, "emitted_at_us")) &&
           is_named(f->job, rows_value(rows, row, "job_exec")) &&
           is_named(f->entity, rows_value(rows, row, "entity_name")) &&
           is_named(f->key, rows_value(rows, row, "entity_key"));
}
