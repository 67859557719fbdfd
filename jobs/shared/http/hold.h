/* hold.h - when nothing is sent to a receiver: it has asked for a pause, or it does not answer. No
 * clock: times are microseconds of one that only moves on. */
#ifndef PRESCIENT_SHARED_HOLD_H
#define PRESCIENT_SHARED_HOLD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HOLD_FAILURES = 3,                  /* in a row: it does not answer */
    HOLD_FIRST_S = 60, HOLD_MAX_S = 15 * 60,
    HOLD_LATE_S = 120,                  /* a check is no later than this after it was read */
};

struct hold {                           /* all 0: none */
    int failures;                       /* in a row, since the last answer or hold */
    int64_t pause_s;                    /* of the last hold for failures; 0: it has answered since */
    int64_t until_us, length_s;
    const char *why;
    bool is_asked;                      /* it has answered; else it does not */
    int asked;                          /* how many were sent away, or tried all the same, since it began */
};

/* It has answered that it wants nothing for so long. `is_tried`: to one of those that were counted
 * (hold_tried) when they were sent. */
void hold_asked(struct hold *h, int64_t now_us, int64_t wait_s, bool is_tried);
/* It could not be reached, or did not answer in time. Those that were under way when a hold began
 * count for nothing. */
void hold_unreachable(struct hold *h, int64_t now_us);
void hold_answered(struct hold *h);     /* it has answered, whatever it was */

/* 0: it may be sent to. Else how many seconds a check that was not sent is to be put off, and
 * hold->why is why. They come back spread over a tenth of the hold, each by its id (hexadecimal
 * digits). */
int64_t hold_wait_s(const struct hold *h, int64_t now_us, const char *id);

/* A check that was itself sent away has been told when to come. It is tried then, even if others
 * were sent away meanwhile: among those that were not sent it would lose its turn again and again.
 * But no hold has more tries than `most`, so that a quota is not asked for each check. */
bool hold_lets_try(const struct hold *h, int most);
void hold_tried(struct hold *h);        /* one was, during the hold */
/* The second of its return is the only mark that it has, which every worker and engine can read: an
 * odd one for what was sent away, an even one behind that for what was not sent. None is a full
 * minute, where a full slot may begin and the check would be moved on by a second. */
int64_t hold_second_of_turn(int64_t at);
int64_t hold_second_of_others(int64_t at);
/* Of a check that is in `slot`. One that is there first, or for another try, was not put there by a
 * hold. */
bool hold_is_turn(int64_t slot, int64_t first_check_at, int failure_count);
/* The same spread, from 0 on, of a check that has to wait so long. */
int64_t hold_spread_s(int64_t wait_s, const char *id);
/* When that is over, for a check whose time is `now`: that much time has passed since the call
 * began. Checks are read a while before the call, so the real clock counts where it is later; not
 * where it is far away, as times are virtual then. */
int64_t hold_over_at(int64_t now, int64_t passed_us, int64_t real_s, int64_t wait_s);

#endif
