/* cooldown.h - what is left alone, until when, and why: checks, lines about slots, questions to the
 * store. One place for all of them. How often in a row something failed is counted where it is
 * tried: a table that can be full must not lose such a count. */
#ifndef PRESCIENT_COOLDOWN_H
#define PRESCIENT_COOLDOWN_H

#include <stdbool.h>
#include <stdint.h>

enum cooldown_kind {
    COOLDOWN_CHECK,                 /* a check, by its id: it is not run */
    COOLDOWN_SLOT,                  /* what is logged of a slot */
    COOLDOWN_LEASES,                /* what is logged of a slot that others hold */
    COOLDOWN_CATCHUP,               /* second looks and the search for late slots */
    COOLDOWN_NARROW_LOOK,           /* what is logged of a look that passes over old rows */
    COOLDOWN_JOB,                   /* what is logged of a job that no engine has */
    COOLDOWN_TERMS                  /* what is logged of terms that cannot be read here */
};

struct cooldown_key { enum cooldown_kind kind; int64_t number; };

static inline struct cooldown_key cooldown_of(enum cooldown_kind kind, int64_t number)
{
    return (struct cooldown_key){ .kind = kind, .number = number };
}

enum cooldown_reason {
    COOLDOWN_HELD,                  /* another transaction holds a row: until that one has ended */
    COOLDOWN_REFUSED,               /* the database refuses a value */
    COOLDOWN_CORRUPT,               /* a block of the database cannot be read */
    COOLDOWN_LOGGED                 /* it is in the log already */
};

/* From this many failures in a row on a block is believed to be corrupt. */
enum { COOLDOWN_TRIES = 3, COOLDOWN_MAX = 256 };

struct cooldowns {
    struct cooldown {
        struct cooldown_key key;
        enum cooldown_reason reason;
        int64_t until_us, pause_us;
    } entries[COOLDOWN_MAX];
    int n;
};

/* Leaves it alone from now on: a corrupt block for a day; else for a minute, the next time for two,
 * and so on up to an hour. When there is no room, what would be over first is forgotten. */
void cooldown_start(struct cooldowns *all, struct cooldown_key key, enum cooldown_reason reason,
                    int64_t now_us);
bool cooldown_is_on(const struct cooldowns *all, struct cooldown_key key, int64_t now_us);
static inline bool cooldown_is_check_on(const struct cooldowns *all, int64_t id, int64_t now_us)
{
    return all->n && cooldown_is_on(all, cooldown_of(COOLDOWN_CHECK, id), now_us);
}
/* A transaction has ended: what was held may be tried again. */
void cooldown_end_held(struct cooldowns *all);

/* For a line that is worth logging once, and again after growing pauses: false while it is not. */
bool cooldown_may_log(struct cooldowns *all, struct cooldown_key key, int64_t now_us);

#endif
