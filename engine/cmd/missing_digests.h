/* missing_digests.h - listeners of these settings whose digest has no check: for doctor. */
#ifndef PRESCIENT_MISSING_DIGESTS_H
#define PRESCIENT_MISSING_DIGESTS_H

#include "app.h"

struct missing_digests {
    int digests;                    /* how many listeners have one */
    int n;                          /* how many of these have no check */
    const char *names;              /* theirs; of many the first ones, and how many more there are */
};

/* What is in `out` lives in the arena. 0 or an ERR_. */
int missing_digests_ask(struct app *app, struct missing_digests *out, struct err *err);

#endif
