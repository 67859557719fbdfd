/* targets.c - the list of targets.h, and when one that could not be opened is tried again. */
#include "targets.h"

#include <stdlib.h>

#include "../rules/retry.h"
#include "../rules/slot.h"
#include "counts.h"

enum {
    LOCKED_US = 50 * 1000,
    LOCKED_MAX_US = 500 * 1000,
    LOCKED_LONG_US = TARGET_LOCKED_LONG_S * 1000 * 1000,
    NEARLY_DUE_US = 1000 * 1000
};

static bool comes_before(const struct target *t, const struct target *other)
{
    if (t->kind != other->kind)
        return t->kind < other->kind;
    if (t->puts_off != other->puts_off)
        return other->puts_off;
    return t->slot < other->slot;
}

static void insert(struct targets *all, struct target *t)
{
    struct target **at = &all->first;
    while (*at && comes_before(*at, t))
        at = &(*at)->following;
    t->following = *at;
    *at = t;
}

static void take_out(struct targets *all, const struct target *t)
{
    struct target **at = &all->first;
    while (*at && *at != t)
        at = &(*at)->following;
    if (*at)
        *at = t->following;
}

struct target *targets_add(struct targets *all, enum target_kind kind, int64_t slot, int64_t now_us)
{
    for (struct target *t = all->first; t; t = t->following)
        if (t->slot == slot)
            return t;
    struct target *t = malloc(sizeof *t);
    if (!t)
        return NULL;
    *t = (struct target){ .kind = kind, .slot = slot, .began_us = now_us };
    insert(all, t);
    return t;
}

bool targets_have(const struct targets *all, int64_t slot)
{
    for (const struct target *t = all->first; t; t = t->following)
        if (t->slot == slot)
            return true;
    return false;
}

void targets_remove(struct targets *all, struct target *t)
{
    take_out(all, t);
    agenda_unset(all->agenda, &t->retry);
    free(t);
}

void targets_release(struct targets *all)
{
    while (all->first)
        targets_remove(all, all->first);
}

/* Of a daemon's own slots, in their time or later. */
static bool is_of_its_time(const struct target *t)
{
    return t->kind == TARGET_SLOT || t->kind == TARGET_MISSED;
}

void targets_pass_over(struct targets *all, int64_t slot, int64_t oldest)
{
    for (struct target *t = all->first, *next; t; t = next) {
        next = t->following;
        if (!is_of_its_time(t) || t->slot == slot || t->leased || t->is_opening)
            continue;
        if (t->slot < oldest || t->slot > slot) {
            targets_remove(all, t);
        } else if (t->kind == TARGET_SLOT) {
            take_out(all, t);
            t->kind = TARGET_MISSED;
            insert(all, t);
        }
    }
}

struct target *targets_to_open(const struct targets *all, int64_t now_us)
{
    struct target *first = NULL;
    bool is_locked = false;
    for (struct target *t = all->first; t; t = t->following) {
        is_locked = is_locked || (t->kind == TARGET_SLOT && t->locked_since_us);
        bool meets_the_same = t->kind == TARGET_MISSED && is_locked;
        bool waits = t->is_opening || t->retry_us > now_us || t->round_ends;
        if (t->exhausted || waits || meets_the_same)
            continue;
        if (first && (t->kind != first->kind || t->puts_off != first->puts_off))
            break;
        if (!t->is_barren)
            return t;
        first = first ? first : t;
    }
    return first;
}

void targets_wait(struct targets *all, struct target *t, int64_t until_us)
{
    t->retry_us = until_us;
    agenda_set(all->agenda, &t->retry, until_us);
}

bool targets_locked(struct targets *all, struct target *t, int64_t now_us, uint64_t random)
{
    bool begins = !t->locked_since_us;
    if (begins)
        t->locked_since_us = now_us;
    targets_wait(all, t, now_us + retry_delay(LOCKED_US, LOCKED_MAX_US, t->locked_opens++, random));
    return begins;
}

bool target_is_worth_waiting(const struct target *t, bool patient, int64_t now_us)
{
    return (is_of_its_time(t) && patient) || now_us - t->locked_since_us < LOCKED_LONG_US;
}

bool target_is_nearly_due(struct target *t, int64_t now_us)
{
    if (!t->early_since_us)
        t->early_since_us = now_us;
    return now_us - t->early_since_us < NEARLY_DUE_US;
}

void target_opened(struct target *t)
{
    t->locked_opens = t->damaged_opens = 0;
    t->early_since_us = t->locked_since_us = 0;
}

bool target_may_have_rounds(const struct target *t)
{
    bool only_moves = t->kind == TARGET_RESLOT || slot_is_of_pause(t->slot);
    return !only_moves && !t->began_rounds && !t->puts_off;
}

static enum read_what round_of_small(const struct target *t)
{
    return t->small_buckets ? READ_SMALL : READ_ALL;
}

void target_begin_rounds(struct target *t, bool has_urgent, uint64_t small_buckets)
{
    if (target_may_have_rounds(t)) {
        t->small_buckets = small_buckets;
        t->round = has_urgent ? READ_URGENT : round_of_small(t);
    }
    t->began_rounds = true;
}

bool target_none_left(struct target *t, bool is_read)
{
    if (t->only_urgent || t->round == READ_ALL)
        return true;
    t->round_ends = is_read;
    if (is_read)
        return false;
    t->round = t->round == READ_URGENT ? round_of_small(t) : READ_ALL;
    t->buckets_of_round = 0;
    return false;
}

void target_end_opening(struct target *t)
{
    t->exhausted = true;
    t->round_ends = false;
    if (!t->only_urgent)
        t->round = READ_ALL;
}

uint64_t target_left_out(const struct target *t)
{
    uint64_t beside = t->round == READ_SMALL ? ~t->small_buckets : 0;
    return t->skipped_buckets | t->buckets_of_round | beside;
}

void target_bucket_over(struct target *t, const struct pass_counts *counts)
{
    pass_counts_add(&t->counts, counts);
    t->leased--;
}

bool target_is_over(const struct target *t, bool stopping)
{
    return !t->leased && !t->is_opening && (t->exhausted || stopping);
}

bool target_has_to_put_off(const struct target *t)
{
    if (t->kind != TARGET_SWEEP || t->puts_off || t->only_urgent || t->unopened ||
        slot_is_of_pause(t->slot))
        return false;
    return t->left_some || (!t->was_taken && !t->held_by_others);
}

void targets_put_off(struct targets *all, struct target *t)
{
    take_out(all, t);
    t->puts_off = true;
    t->exhausted = t->first_open = false;
    t->skipped_buckets = 0;
    insert(all, t);
}
