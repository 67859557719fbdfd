/* mistakes.h - mistakes that the simulated parts make on purpose, one at a time. The checker must
 * find each. */
#ifndef PRESCIENT_SIM_MISTAKES_H
#define PRESCIENT_SIM_MISTAKES_H

enum mistake {
    SETTLE_IGNORES_TOKEN,
    SETTLE_IGNORES_COUNTS,
    SETTLE_IGNORES_BEGUN,
    SETTLE_FORGETS_HISTORY,
    SETTLE_REPEATS_EFFECTS,
    SETTLE_FORGETS_PUT_OFF,
    TAKE_IGNORES_HOLDERS,
    LEASE_ENDS_EARLY,
    RENEWAL_ALWAYS_GOOD,
    RELEASE_IGNORES_TOKEN,
    FINISH_KEEPS_LEASE,
    RELOOK_ALWAYS_CLOSED,
    RELOOK_IGNORES_RUNNING,
    MARK_MOVES_TOO_FAR,
    ENQUEUE_INTO_BEGUN,
    WORKER_IGNORES_TRUST,
    WORKER_REPEATS_ANSWER,
    BOOT_CLOCK_STOPS,
    SIGNALS_ARE_LOST,
    MISTAKES
};

struct mistake_row { const char *name, *what; };
extern const struct mistake_row mistake_rows[MISTAKES];

#endif
