/* load.h - enqueueing the lines of a CSV file, ten thousand a transaction. */
#ifndef PRESCIENT_LOAD_H
#define PRESCIENT_LOAD_H

#include "command.h"

struct load_options {
    const char *file;               /* "-": stdin */
    const char *conflict;
    int64_t start_line; /* 0: all; else lines between the header and this one are skipped */
    /* bad lines are skipped and counted; else one ends the load before its chunk is written */
    bool skip_bad;
};

/* Returns an exit code. When a load ends early, it prints from which line to continue. */
int load_csv(struct app *app, const struct load_options *options);

#endif
