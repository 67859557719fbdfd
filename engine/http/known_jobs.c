/* known_jobs.c - see known_jobs.h. */
#include "known_jobs.h"

#include <string.h>

#include "../base/nearest.h"

enum { AGAIN_US = 1000 * 1000, ARENA_BLOCK = 4096 };

static int read_noted(struct known_jobs *k, struct store *st, int64_t now_us, struct err *err)
{
    struct store_report report = STORE_REPORT_INIT;
    k->noted = (struct store_rows){ 0 };
    k->read_us = 0;
    err_clear(&k->failed);
    if (!k->arena)
        k->arena = arena_new(ARENA_BLOCK);
    if (!k->arena)
        return err_set(err, ERR_NOMEM, "out of memory");
    arena_reset(k->arena);
    report.name = "jobs_noted";
    report.arena = k->arena;
    int rc = store_do(st, &report.call);
    k->read_us = now_us;
    if (rc < 0) {
        k->failed = *err = report.call.err;
        return rc;
    }
    k->noted = report.rows;
    return 0;
}

static bool is_noted(const struct known_jobs *k, const char *job)
{
    for (int i = 0; i < k->noted.rows; i++)
        if (!k->noted.cells[i] || !strcmp(k->noted.cells[i], job))
            return true;
    return false;
}

static const char *nearest_job(const struct known_jobs *k, const struct settings *settings, const char *job)
{
    struct nearest near = { .wanted = job };
    for (int i = 0; i < settings->njobs; i++)
        nearest_look(&near, settings->jobs[i].name);
    for (int i = 0; i < k->noted.rows; i++)
        nearest_look(&near, k->noted.cells[i]);
    return nearest_word(&near);
}

int known_jobs_look(struct known_jobs *k, const struct settings *settings, struct store *st, int64_t now_us,
                    const char *job, const char **near, struct err *err)
{
    *near = NULL;
    if (settings_job(settings, job, NULL) || is_noted(k, job))
        return JOB_KNOWN;
    bool is_old = !k->read_us || now_us - k->read_us >= AGAIN_US;
    if (!is_old && k->failed.code < 0) {
        *err = k->failed;               /* who asks in the same second does not wait for it again */
        return err->code;
    }
    int rc = is_old ? read_noted(k, st, now_us, err) : 0;
    if (rc < 0)
        return rc;
    bool names_any = settings->njobs || k->noted.rows;
    if (!names_any || is_noted(k, job))
        return JOB_KNOWN;
    *near = nearest_job(k, settings, job);
    return JOB_UNKNOWN;
}

void known_jobs_free(struct known_jobs *k)
{
    arena_free(k->arena);
    *k = (struct known_jobs){ 0 };
}
