/* measuring.h - an engine that writes metrics where no server answers for them: once a minute, and
 * a command at its end, the report `metrics` is asked for, as an errand that nobody waits for. What
 * becomes of its rows the owner of the engine decides. Times are monotonic. */
#ifndef PRESCIENT_MEASURING_H
#define PRESCIENT_MEASURING_H

#include <stdbool.h>
#include "../base/arena.h"
#include "../store/store_report.h"

/* Writes the rows, or that the store is away (NULL). `write` NULL: nobody wants them. */
struct metrics_writer {
    void (*write)(void *ctx, const struct store_rows *rows);
    void *ctx;
};

struct measuring {
    struct metrics_writer writer;
    struct arena *arena;            /* of the rows; NULL: nobody wants them */
    int64_t due_us;                 /* 0: not known yet */
    int64_t asked_us;               /* 0: no answer is waited for */
};

/* Returns 0 or ERR_NOMEM. */
int measuring_init(struct measuring *m, const struct metrics_writer *writer);
void measuring_release(struct measuring *m);
bool measuring_is_wanted(const struct measuring *m);

/* Each tick. True: the report is to be asked for, again and again, until it has come. Where it has
 * not for a minute, it is written that the store is away. `at_once`: a daemon begins with it. */
bool measuring_is_due(struct measuring *m, int64_t now_us, bool at_once);

void measuring_fill(struct measuring *m, struct store_report *out);
/* The answer; rows NULL: it has failed. */
void measuring_came(struct measuring *m, int64_t now_us, const struct store_rows *rows);

#endif
