/* prescient slots - how many checks wait in which slot, and how past slots ended. */
#include <inttypes.h>
#include "app.h"
#include "filter.h"

static int slots_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    FILTER_FROM, FILTER_BEFORE, FILTER_LIMITED, FILTER_EXACT, { 0 }
};

const struct command cmd_slots = {
    .name = "slots", .group = COMMAND_LOOKING,
    .args = "",
    .help = "count checks by slot",
    .more = "A slot is pending until an engine opens it, open while its checks run, in relook until nothing "
            "more can arrive in it,\n"
            "then closed. Without --from and --before: slots that hold checks or are not closed, however "
            "old, and all of the last twelve.\n"
            "In a large slot a part is counted, and the rest estimated from it (~); --exact counts all.",
    .examples = "prescient slots --from now",
    .options = options,
    .main = slots_main,
    .role = "prescient_reader", .only_reads = true,
};

#define SLOTS_AGO 12   /* slots that are over are listed back to here, without --from */
#define COUNTED 250000 /* checks counted in all slots of the list; each gets a share */
#define COUNTED_LEAST 1000

/* Without a range: the moment from which on slots are listed even if they are over and empty. With
 * a range all in it are, and *out stays NULL. */
static int recent_param(struct app *app, const struct filter *f, const char **out, struct err *err)
{
    int64_t now;
    if (f->from || f->before)
        return 0;
    int rc = app_now(app, &now, err);
    if (rc < 0)
        return rc;
    struct store *st = app_store(app, err);
    if (!st)
        return err->code;
    int64_t length_s = store_slot_length_s(st);
    *out = arena_printf(app->arena, "%" PRId64, now - now % length_s - SLOTS_AGO * length_s);
    return 0;
}

static const char *counted_param(struct app *app, const struct filter *f)
{
    int64_t share = COUNTED / (f->limit ? f->limit : FILTER_LIMIT);
    if (f->exact)
        return NULL;
    if (share < COUNTED_LEAST)
        share = COUNTED_LEAST;
    return arena_printf(app->arena, "%" PRId64, share);
}

static int slots_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "slot_at checks state late_us run done again failed",
        .when_empty = "no slots: nothing waits and nothing was run",
        .bar = "checks",
        .estimated = "checks",
    };
    struct filter f;
    struct err err = { 0 };
    const char *recent = NULL;
    if (filter_read(app, args, &f, &err) < 0)
        return app_fail(app, &err);
    if (recent_param(app, &f, &recent, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = { f.from, f.before, filter_limit_param(app, &f), recent, counted_param(app, &f) };
    return filter_print(app, &f, "slots", params, 5, &view);
}
