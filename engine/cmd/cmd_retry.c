/* prescient retry - enqueue again what ended in failure. */
#include "app.h"
#include "report.h"

static int retry_main(struct app *app, int argc, char **argv);

static const struct command_option options[] = {
    { "job", 'j', "NAME", "only of this job" },
    { "since", 's', "TIME", "only what failed from this time on" },
    { "at", 'a', "TIME", "when to look again (the next slot)" },
    { "limit", 'l', "N", "at most so many (1000), the newest first" },
    { "all", 'A', NULL, "whatever failed, without any other choice" },
    { 0 }
};

const struct command cmd_retry = {
    .name = "retry", .args = "[ENTITY [KEY]]",
    .help = "enqueue again what ended as failed, timeout, crashed or bad_answer",
    .more = "Each comes back with its payload; a check that waits already is left as it is.",
    .options = options, .main = retry_main,
};

struct retry { const char *entity, *key, *job, *since, *at, *limit; bool all; };

static int take(struct app *app, struct retry *r, int letter, const char *value, struct err *err)
{
    int64_t limit;
    switch (letter) {
    case 'j': r->job = value; break;
    case 's': r->since = app_moment_param(app, value, err); return r->since ? 0 : err->code;
    case 'a': r->at = app_moment_param(app, value, err); return r->at ? 0 : err->code;
    case 'l': r->limit = value; return app_number("--limit", value, 1, INT32_MAX, &limit, err);
    case 'A': r->all = true; break;
    }
    return 0;
}

static int retry_read(struct app *app, int argc, char **argv, struct retry *r)
{
    struct err err = { 0 };
    const char *value;
    int at = 0, first, letter;
    while ((letter = app_option(app, argc, argv, &at, &value, &first)) > 0)
        if (take(app, r, letter, value, &err) < 0)
            return app_fail(app, &err);
    if (letter < 0)
        return EXIT_BAD_USAGE;
    if (argc - first > 2)
        return app_usage(app, "too many arguments");
    r->entity = argc > first ? argv[first] : NULL;
    r->key = argc > first + 1 ? argv[first + 1] : NULL;
    if (!r->entity && !r->job && !r->since && !r->all)
        return app_usage(app, "say which: ENTITY, --job, --since, or --all");
    if (!r->at && !(r->at = app_moment_param(app, "now", &err)))
        return app_fail(app, &err);
    return EXIT_WELL;
}

static int retry_main(struct app *app, int argc, char **argv)
{
    struct retry r = { .limit = "1000" };
    int code = retry_read(app, argc, argv, &r);
    if (code != EXIT_WELL)
        return code;
    const char *params[] = { r.entity, r.key, r.job, r.since, r.at, app_now_param(app), r.limit };
    return app_report(app, "retry", params, 7, "nothing to retry");
}
