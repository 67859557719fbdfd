/* prescient slots - how many checks wait in which slot, and what became of slots that are over. */
#include <inttypes.h>
#include "app.h"
#include "filter.h"

static int slots_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    FILTER_FROM, FILTER_BEFORE, FILTER_LIMITED, FILTER_EXACT, { 0 }
};

const struct command cmd_slots = {
    .name = "slots",
    .args = "",
    .help = "count checks by slot",
    .more = "A slot is pending until an engine opens it, open while its checks run, in relook until nothing "
            "more can arrive in it,\n"
            "then closed. Without --from and --before: slots that hold checks or are not closed, whatever "
            "their age, and all of the last twelve.\n"
            "Of a large slot a part is counted, and the rest reckoned from it (~); --exact counts all.",
    .options = options,
    .main = slots_main,
};

#define SLOTS_AGO 12                /* so many slots that are over are told when nobody says from when */
#define COUNTED 250000              /* checks, in all slots that are told; a share of that in each */
#define COUNTED_LEAST 1000

/* From which moment on slots are told that are over and empty; NULL: all of the range that was
 * asked for. `rc` tells a failure. */
static const char *recent_param(struct app *app, const struct filter *f, int *rc, struct err *err)
{
    int64_t now;
    *rc = f->from || f->before ? 0 : app_now(app, &now, err);
    struct store *st = *rc < 0 ? NULL : app_store(app, err);
    if (f->from || f->before || !st)
        return NULL;
    int64_t length_s = store_slot_length_s(st);
    return arena_printf(app->arena, "%" PRId64, now - now % length_s - SLOTS_AGO * length_s);
}

static const char *counted_param(struct app *app, const struct filter *f)
{
    int64_t share = COUNTED / (f->limit ? f->limit : FILTER_LIMIT);
    return f->exact ? NULL
                    : arena_printf(app->arena, "%" PRId64, share < COUNTED_LEAST ? COUNTED_LEAST : share);
}

static int slots_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "slot_at checks state late_us run done again failed",
        .when_empty = "no slots: nothing waits and nothing was run", .bar = "checks", .estimated = "checks",
    };
    struct filter f;
    struct err err = { 0 };
    if (filter_read(app, args, &f, &err) < 0)
        return app_fail(app, &err);
    int rc;
    const char *recent = recent_param(app, &f, &rc, &err);
    if (rc < 0)
        return app_fail(app, &err);
    const char *params[] = { f.from, f.before, filter_limit_param(app, &f), recent, counted_param(app, &f) };
    return filter_print(app, &f, "slots", params, 5, &view);
}
