/* known_jobs.h - which jobs may be asked for: those of the settings of this server, and those that
 * engines have noted in the store. A misspelt job would wait for ever, and nobody be told. */
#ifndef PRESCIENT_HTTP_KNOWN_JOBS_H
#define PRESCIENT_HTTP_KNOWN_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/arena.h"
#include "../base/settings.h"
#include "../store/store_report.h"

struct known_jobs {                 /* all zero: nothing was asked yet */
    struct arena *arena;            /* of `noted` */
    struct store_rows noted;        /* a row each: its name; NULL: an engine has too many to note them */
    int64_t read_us;                /* when it was asked, monotonic; 0: never */
    struct err failed;              /* how it failed then; code 0: it did not */
};

enum known_job { JOB_UNKNOWN, JOB_KNOWN };

/* JOB_KNOWN too where neither the settings nor any engine name a job. The store is asked about one
 * that the settings do not have, once a second at most. JOB_UNKNOWN: `*near` is the name that was
 * probably meant, or NULL; it stands until the next call. Or an ERR_. */
int known_jobs_look(struct known_jobs *k, const struct settings *settings, struct store *st, int64_t now_us,
                    const char *job, const char **near, struct err *err);
void known_jobs_free(struct known_jobs *k);

#endif
