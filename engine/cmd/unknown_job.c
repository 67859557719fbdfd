/* unknown_job.c - see unknown_job.h. */
#include "unknown_job.h"

#include <inttypes.h>
#include <string.h>
#include "../base/settings_load.h"
#include "../base/utf8.h"

static bool is_unknown(const struct app *app, const char *job)
{
    return app->settings.njobs && !settings_job(&app->settings, job, NULL);
}

void unknown_jobs_note(struct unknown_jobs *u, struct app *app, const char *job)
{
    if (!is_unknown(app, job))
        return;
    for (int i = 0; i < u->n; i++)
        if (!strcmp(u->all[i].name, job)) {
            u->all[i].checks++;
            return;
        }
    const char *name = u->n < UNKNOWN_JOB_NAMES ? arena_strdup(app->arena, job) : NULL;
    if (!name) {
        u->others++;
        return;
    }
    u->all[u->n].name = name;
    u->all[u->n++].checks = 1;
}

static const char *what_waits(struct app *app, int64_t checks)
{
    const char *words = "the check is filed and waits";
    if (checks > 1)
        words = arena_printf(app->arena, "its %" PRId64 " checks are filed and wait", checks);
    return words ? words : "";
}

static const char *place(const struct app *app)
{
    const char *file = settings_file_used(app->settings_file);
    return file ? file : "the settings";
}

/* "no such job in prescient.cfg: 'typo'; did you mean 'type'?" */
static const char *no_such_job(struct app *app, const char *job)
{
    const char *nearest = settings_nearest_job(&app->settings, job), *hint = "";
    if (nearest)
        hint = arena_printf(app->arena, "; did you mean '%.*s'?", UTF8_SHOWN(nearest));
    const char *words = arena_printf(app->arena, "no such job in %s: '%.*s'%s", place(app), UTF8_SHOWN(job),
                                     hint ? hint : "");
    return words ? words : "no such job";
}

void unknown_jobs_tell(const struct unknown_jobs *u, struct app *app)
{
    for (int i = 0; i < u->n; i++)
        app_warn(app, "%s (%s for an engine that has the job)", no_such_job(app, u->all[i].name),
                 what_waits(app, u->all[i].checks));
    if (u->others)
        app_warn(app, "%" PRId64 " more checks are of other jobs that %s does not have", u->others,
                 place(app));
}

void unknown_job_remark(struct app *app, const char *job)
{
    if (is_unknown(app, job))
        app_remark(app, "%s", no_such_job(app, job));
}
