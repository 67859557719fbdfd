/* slow_runs.c - see slow_runs.h. */
#include "slow_runs.h"

#include <inttypes.h>
#include "../run/long_runs.h"
#include "app.h"
#include "filter.h"

#define S_US INT64_C(1000000)

int slow_runs_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "engine worker entity_name=entity entity_key=key job_exec=job slot_at began_at "
                   "run_us=runs_for",
        .when_empty = "no run has been going on for so long",
    };
    struct filter f;
    struct err err = { 0 };
    int64_t least_us = 0;
    int rc = args_duration(args, 's', S_US * LONG_RUNS_S, S_US * 86400 * 366, &least_us, &err);
    if (rc == 0)
        rc = filter_read(app, args, &f, &err);
    if (rc < 0)
        return app_fail(app, &err);
    const char *params[] = { arena_printf(app->arena, "%" PRId64, least_us), filter_limit_param(app, &f) };
    return filter_print(app, &f, "running", params, sizeof params / sizeof *params, &view);
}
