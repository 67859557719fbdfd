/* deliver.h - `prescient events --deliver NAME`: events as lines of JSON to a command, page after
 * page, with a cursor in the store that moves when the command has ended well. */
#ifndef PRESCIENT_DELIVER_H
#define PRESCIENT_DELIVER_H

#include "app.h"

struct deliver_options {
    const char *name;
    char **argv;                    /* the command; ends with NULL */
    int batch;                      /* events at once, at most */
    int skip_after;                 /* failures of an event alone; 0: it is never skipped */
    int64_t every_us;               /* look again and again; 0: go through what is there, and end */
    int64_t timeout_us;             /* of one run of the command */
    int64_t backoff_us;             /* after the first failure; then doubled, up to a minute */
};

/* Returns an exit code. */
int deliver(struct app *app, const struct deliver_options *options);

#endif
