/* window.h - which checks a process was given and has not answered, since when each has its time,
 * and when a process that has ended may be started again. No I/O and no clock: times are
 * microseconds of one that only moves on.
 *
 * A process may work on one check after the other, or on all of them together. So the time of a
 * check begins when it has certainly been begun: when all that was written before it is answered,
 * or something that was written after it. */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WINDOW_MAX = 256, WINDOW_USUAL = 16,
    WINDOW_ID = 40,                     /* bytes of an id with its NUL */
    WINDOW_REMEMBERED = 256,            /* ids that were answered last */
    RESTART_FIRST_S = 1, RESTART_MAX_S = 60,
};

struct window_entry {
    char id[WINDOW_ID];
    int place;                          /* of the check */
    int64_t begun_us;                   /* 0: not known to be */
    bool is_given_up;                   /* its time was up; the process may still answer it */
};

struct window {
    int size, n;
    struct window_entry entries[WINDOW_MAX];            /* in the order in which they were written */
    int64_t answered_us;                /* the last answer; 0: none */
    int64_t given, answered;            /* in all, by this process */
    char remembered[WINDOW_REMEMBERED][WINDOW_ID];      /* a ring */
};

void window_open(struct window *w, int size);
bool window_has_room(const struct window *w);
int window_waiting(const struct window *w);             /* entries that were not given up */
bool window_gave_up(const struct window *w, const char *id);
void window_add(struct window *w, const char *id, int place, int64_t now_us);

/* An answer to `id` has come: the place of its check, or one of these. */
enum { WINDOW_LATE = -1, WINDOW_TWICE = -2, WINDOW_UNKNOWN = -3 };
int window_take(struct window *w, const char *id, int64_t now_us);

/* When the time of some check is up, INT64_MAX when there is none; and one whose time is up by
 * now, or NULL. */
int64_t window_deadline(const struct window *w, int64_t timeout_us);
struct window_entry *window_overdue(struct window *w, int64_t now_us, int64_t timeout_us);
/* Nothing has been answered since this check began, so the process stands still. Else it works on
 * others, and need not end. */
bool window_hangs(const struct window *w, const struct window_entry *overdue);
void window_give_up(struct window *w, struct window_entry *overdue, int64_t now_us);

/* The process is over. Each call returns the place of a check that was waiting; -1: no more. */
int window_pop(struct window *w);

/* ---- when a process is started again: after 1 s, and twice as long each time that it has answered
 * nothing ---- */

struct restart { int64_t pause_s, at_us; };             /* all 0: at once */
void restart_ended(struct restart *r, const struct window *w, int64_t now_us);

#endif
