/* progress.h - a bar on stderr while something long runs; nothing when stderr is no terminal. */
#ifndef PRESCIENT_PROGRESS_H
#define PRESCIENT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct clock;

struct progress {
    FILE *out;
    const struct clock *clock;
    const char *what;               /* "loading orders.csv" */
    int64_t total;                  /* 0: not known */
    int64_t started_us, drawn_us;
    bool shown;                     /* false: every call does nothing */
    int fd;
};

/* `wanted` false (--quiet), or stderr is no terminal: every call does nothing. */
void progress_init(struct progress *p, const char *what, int64_t total, bool wanted);

/* `done` of the total; `detail` is shown after the bar ("120000 checks") and may be NULL. Draws ten
 * times a second at most. */
void progress_show(struct progress *p, int64_t done, const char *detail);

/* Removes the bar from the screen: before other output, and at the end. */
void progress_clear(struct progress *p);

#endif
