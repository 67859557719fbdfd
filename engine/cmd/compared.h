/* compared.h - whether all engines have the same listeners: for doctor. */
#ifndef PRESCIENT_COMPARED_H
#define PRESCIENT_COMPARED_H

#include "app.h"

struct compared {
    const char *words;              /* all of them have the same: which engines, and how many */
    const char *const *amiss;       /* else what differs, a text for each listener, and `n` of them */
    int n;
    bool by_engines;                /* they differ from one another, and not only from our settings */
};

/* Compares what engines have noted, and the settings of this command where they come from a file
 * with jobs. What is in `out` lives in the arena. 0 or an ERR_. */
int compared_ask(struct app *app, struct compared *out, struct err *err);

#endif
