/* runs_by.c - see runs_by.h. */
#include "runs_by.h"

#include <inttypes.h>
#include "app.h"
#include "filter.h"

enum { DAY_S = 86400 };

const char *const runs_by_parts[] = { "job", "entity", "tenant", NULL };

/* Without --since the last day. */
static int since_param(struct app *app, struct filter *f, struct err *err)
{
    int64_t now;
    if (f->from)
        return 0;
    int rc = app_now(app, &now, err);
    if (rc < 0)
        return rc;
    f->from = arena_printf(app->arena, "%" PRId64, now > DAY_S ? now - DAY_S : 0);
    return f->from ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

int runs_by_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "name runs done again failed timeout crashed other took_p50_us=p50 took_p95_us=p95 "
                   "took_p99_us=p99 took_max_us=max late_p95_us=late_p95 late_max_us=late_max",
        .when_empty = "no runs",
    };
    struct filter f;
    struct err err = { 0 };
    const char *part = args_text(args, 'y');
    int rc = filter_read(app, args, &f, &err);
    if (rc == 0)
        rc = since_param(app, &f, &err);
    if (rc < 0)
        return app_fail(app, &err);
    const char *params[] = { part, f.from, filter_limit_param(app, &f) };
    return filter_print(app, &f, "runs_by", params, sizeof params / sizeof *params, &view);
}
