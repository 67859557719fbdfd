/* key_rules.h - a part of the checker: the rules that hold for checks with a concurrency key. */
#ifndef PRESCIENT_SIM_KEY_RULES_H
#define PRESCIENT_SIM_KEY_RULES_H

#include "checker.h"
#include "db.h"

/* A run of a key, from its begin until it is answered or its worker has ended. `is_left`: its
 * engine was killed, and it lives on until its deadline (CLOCK_BOOTTIME). */
struct going {
    int number, concurrency, host, start;
    int64_t deadline_boot_us;
    bool is_left;
};

/* A number of places that held until then. */
struct old_limit { int32_t places; int64_t until_us; };

enum { GOING_MAX = 256, OLD_LIMITS_MAX = 64 };

struct key_rules {
    struct going going[GOING_MAX];
    int ngoing;
    struct old_limit old[CONCURRENCY_MAX][OLD_LIMITS_MAX];
    int nold[CONCURRENCY_MAX];
    int64_t ended_us[CONCURRENCY_MAX];      /* when the last run of the key ended */
    /* since when the check waits where it is, or where it was before it was put off as busy */
    int64_t wanted_us[KEYS_MAX];
    int64_t set_forward_us;                 /* when the database's clock was last set forward */
};

void key_rules_run_begins(struct world *w, struct key_rules *k, const struct run *run, int number);
void key_rules_run_ends(const struct world *w, struct key_rules *k, int number);
void key_rules_run_is_left(struct key_rules *k, int number);
void key_rules_run_has_until(struct key_rules *k, int number, int64_t boot_us);
/* Before a transaction takes effect. */
void key_rules_commit(struct world *w, struct key_rules *k, const struct tx *tx);
/* Before some keys have other numbers of places. */
void key_rules_limits_change(const struct world *w, struct key_rules *k);

/* The database's clock keeps the time of places, but for what it was set forward. */
bool key_rules_clock_is_good(const struct world *w, const struct key_rules *k);

/* In a world without faults but kills and locks: since when the key of this check is idle while the
 * check waits, and how much longer than without a key it may be. */
int64_t key_rules_idle_since_us(const struct key_rules *k, const struct row *row);
int64_t key_rules_may_wait_us(const struct world *w, bool was_killed);

#endif
