/* schedule_load.h - makes the schedules that are there equal to a file. */
#ifndef PRESCIENT_SCHEDULE_LOAD_H
#define PRESCIENT_SCHEDULE_LOAD_H

#include <stdint.h>
#include "command.h"

struct schedule_load {
    const char *file, *format;          /* see schedule_file_read */
    bool dry_run;
};

/* Reads and checks the whole file before anything is changed, and prints a line for each schedule
 * that is added (+), changed (~) or removed (-), when it is written; in JSON one object at the end,
 * also of a load that fails after the file was checked. Up to a thousand are a transaction; an
 * error names the line, and what was printed before it is written. Blocks. */
int schedule_load(struct app *app, const struct schedule_load *what, struct err *err);

/* How many entries the next transaction has, after one of so many that took so long: of 10 to 1,000
 * so many that it takes about a second. A call is cut off after statement_timeout, and how long one
 * takes depends on the machine and what else it does. */
int schedule_load_next_page(int entries, int64_t took_us);

#endif
