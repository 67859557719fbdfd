/* prescient slots - how many checks wait in which slot, and what became of slots that are over. */
#include "filter.h"

static int slots_main(struct app *app, int argc, char **argv);

static const struct command_option options[] = {
    FILTER_FROM, FILTER_BEFORE, FILTER_LIMITED, { 0 }
};

const struct command cmd_slots = {
    .name = "slots", .args = "",
    .help = "count checks by slot",
    .more = "A slot is pending until an engine opens it, open while its checks run, in relook until nothing more can arrive in it,\n"
            "then closed.",
    .options = options, .main = slots_main,
};

static int slots_main(struct app *app, int argc, char **argv)
{
    static const struct report_view view = { .when_empty = "no slots: nothing waits and nothing was run", .bar = "checks" };
    struct filter f;
    int code = filter_read(app, argc, argv, 0, &f);
    if (code != EXIT_WELL)
        return code;
    const char *params[] = { f.from, f.before, filter_limit_param(app, &f) };
    return filter_print(app, &f, "slots", params, 3, &view);
}
