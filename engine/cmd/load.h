/* load.h - enqueueing the lines of a CSV file, ten thousand a transaction. */
#ifndef PRESCIENT_LOAD_H
#define PRESCIENT_LOAD_H

#include "command.h"

struct load_options {
    const char *file;               /* "-": stdin */
    const char *conflict;
    int64_t start_line;             /* 0: all; else lines between the header and this one are passed over */
    /* bad lines are left out and counted, else they end the load before their chunk is written */
    bool skip_bad;
};

/* Returns an exit code. Whatever ends a load early, the words say from which line to go on. */
int load_csv(struct app *app, const struct load_options *options);

#endif
