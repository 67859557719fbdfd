/* refused.h - jobs whose checks ended by a failure that is final: for doctor. */
#ifndef PRESCIENT_REFUSED_H
#define PRESCIENT_REFUSED_H

#include "app.h"

struct refused_job {
    int job;                    /* its place in the settings */
    int64_t checks, deliveries;
    const char *note;           /* of the newest; "": none. It lives in the arena */
};

struct refused {
    struct refused_job *jobs;   /* in the order of the settings, in the arena */
    int n;
    bool has_more;              /* not all failures were looked at */
};

/* Those of the last day before `now`, among the newest hundred thousand failures: a check that
 * ended before the limits of its job were reached. 0, or an ERR_. */
int refused_ask(struct app *app, int64_t now, int32_t slot_length_s, struct refused *out, struct err *err);

#endif
