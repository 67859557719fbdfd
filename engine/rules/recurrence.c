/* recurrence.c - the next slot of a rule, and what becomes of those that were missed. What is drawn
 * comes from a hash of the schedule's name and the occurrence, never from a generator. */
#include "recurrence.h"

#include "../base/saturate.h"
#include "slot.h"

#define BIAS_UNIT 10000

const char *const recurrence_missed_words[] = { "run_once", "run_all", "skip", NULL };

const char *recurrence_missed_word(enum recurrence_missed missed)
{
    return recurrence_missed_words[missed];
}

int64_t recurrence_bias_s(const struct recurrence *r)
{
    return (r->every_s * r->bias + BIAS_UNIT / 2) / BIAS_UNIT;
}

/* Each bit of the result depends on all bits of `n` (the finalizer of SplitMix64). */
static uint64_t mixed(uint64_t n)
{
    n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
    return n ^ n >> 31;
}

/* A number that is the same everywhere for one schedule and one moment of it. Each run draws one,
 * so this is FNV-1a and not a SHA-256, which would cost as much as all else that is computed. */
static uint64_t drawn(const struct recurrence *r, int64_t at)
{
    uint64_t n = UINT64_C(0xcbf29ce484222325);
    for (const char *p = r->name; *p; p++)
        n = (n ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return mixed(n ^ mixed((uint64_t)at));
}

/* A slot that nothing recurs in any more is none. */
static int64_t if_before_the_end(int64_t slot)
{
    return slot <= CRON_LAST ? slot : 0;
}

static int64_t next_of_cron(const struct recurrence *r, const struct recurrence_grid *grid, int64_t after)
{
    int64_t at = cron_next(&r->cron, grid->zone, after);
    return at ? if_before_the_end(slot_ceil(at, grid->slot_length_s)) : 0;
}

/* The slot nearest to `at`; of two that are equally near the later one. */
static int64_t nearest_slot(int64_t at, int32_t length_s)
{
    return slot_floor(saturate_add(at, length_s / 2), length_s);
}

static int64_t next_of_every(const struct recurrence *r, int32_t length_s, int64_t ended_at, int64_t shift_s)
{
    int64_t bias_s = recurrence_bias_s(r);
    int64_t wanted = saturate_add(saturate_add(ended_at, r->every_s), shift_s);
    int64_t earliest = saturate_add(ended_at, r->every_s - bias_s);
    int64_t slot = nearest_slot(wanted, length_s);
    return slot < earliest ? slot_ceil(earliest, length_s) : slot;
}

int64_t recurrence_becomes_s(const struct recurrence *r, int32_t slot_length_s)
{
    return r->is_cron ? 0 : next_of_every(r, slot_length_s, 1, 0);
}

int64_t recurrence_first(const struct recurrence *r, const struct recurrence_grid *grid, int64_t from)
{
    if (r->is_cron)
        return next_of_cron(r, grid, from);
    int64_t phase_s = (int64_t)(drawn(r, 0) % (uint64_t)r->every_s);
    return if_before_the_end(slot_ceil(saturate_add(from, 1 + phase_s), grid->slot_length_s));
}

int64_t recurrence_after(const struct recurrence *r, const struct recurrence_grid *grid,
                         const struct recurrence_run *run)
{
    int64_t ended_at = run->ended_at > run->began_at ? run->ended_at : run->began_at;
    if (r->is_cron && run->began_at < run->nominal)
        return next_of_cron(r, grid, saturate_sub(run->nominal, grid->slot_length_s));
    if (r->is_cron && r->missed == RECURRENCE_RUN_ALL)
        return next_of_cron(r, grid, run->nominal);
    /* A time in the slot that runs rounds up to the next one: it has not been run yet. */
    if (r->is_cron)
        return next_of_cron(r, grid, slot_floor(run->began_at, grid->slot_length_s));
    int64_t bias_s = recurrence_bias_s(r);
    int64_t shift_s = (int64_t)(drawn(r, run->nominal) % (uint64_t)(2 * bias_s + 1)) - bias_s;
    return if_before_the_end(next_of_every(r, grid->slot_length_s, ended_at, shift_s));
}

/* ---- missed occurrences ---- */

/* The nominal slots later than `after`, up to `until`, and not more than `most`: how many there
 * are; the last RECURRENCE_ALL_MAX of them in newest[n % RECURRENCE_ALL_MAX], if wanted. */
static int64_t count(const struct recurrence *r, const struct recurrence_grid *grid, int64_t after,
                     int64_t until, int64_t most, int64_t *newest)
{
    int64_t n = 0;
    for (int64_t slot = after; n < most; n++) {
        slot = next_of_cron(r, grid, slot);
        if (slot == 0 || slot > until)
            break;
        if (newest)
            newest[n % RECURRENCE_ALL_MAX] = slot;
    }
    return n;
}

/* The first of the newest RECURRENCE_ALL_MAX occurrences in (nominal, now], of which there are at
 * least so many. It looks back further and further, so that a year of minutes costs no more than a
 * day. */
static int64_t newest_from(const struct recurrence *r, const struct recurrence_grid *grid, int64_t nominal,
                           int64_t now)
{
    int64_t newest[RECURRENCE_ALL_MAX];
    int64_t back_s = RECURRENCE_ALL_MAX * (int64_t)grid->slot_length_s, n = 0, after;
    do {
        after = slot_floor(saturate_sub(now, back_s), grid->slot_length_s);
        after = after > nominal ? after : nominal;
        n = count(r, grid, after, now, INT64_MAX, newest);
        back_s *= 2;
    } while (n < RECURRENCE_ALL_MAX && after > nominal);
    return newest[n % RECURRENCE_ALL_MAX];
}

static struct recurrence_verdict run_once(const struct recurrence *r, const struct recurrence_grid *grid,
                                          int64_t nominal, int64_t now)
{
    (void)r, (void)grid, (void)now;
    return (struct recurrence_verdict){ .runs = true, .nominal = nominal };
}

static struct recurrence_verdict run_all(const struct recurrence *r, const struct recurrence_grid *grid,
                                         int64_t nominal, int64_t now)
{
    struct recurrence_verdict v = { .runs = true, .nominal = nominal };
    if (count(r, grid, nominal, now, RECURRENCE_ALL_MAX, NULL) < RECURRENCE_ALL_MAX)
        return v;
    v.runs = false;
    v.nominal = newest_from(r, grid, nominal, now);
    v.passed_over = 1 + count(r, grid, nominal, v.nominal - 1, RECURRENCE_COUNT_MAX - 1, NULL);
    return v;
}

/* On to the first occurrence whose slot has not ended, which may be the one that runs. */
static struct recurrence_verdict skip(const struct recurrence *r, const struct recurrence_grid *grid,
                                      int64_t nominal, int64_t now)
{
    int64_t over = slot_floor(now, grid->slot_length_s) - grid->slot_length_s;
    struct recurrence_verdict v = { .nominal = next_of_cron(r, grid, over > nominal ? over : nominal) };
    v.passed_over = 1 + count(r, grid, nominal, over, RECURRENCE_COUNT_MAX - 1, NULL);
    return v;
}

static struct recurrence_verdict (*const judges[])(const struct recurrence *, const struct recurrence_grid *,
                                                   int64_t nominal, int64_t now) = {
    [RECURRENCE_RUN_ONCE] = run_once,
    [RECURRENCE_RUN_ALL] = run_all,
    [RECURRENCE_SKIP] = skip,
};

struct recurrence_verdict recurrence_judge(const struct recurrence *r, const struct recurrence_grid *grid,
                                           int64_t nominal, int64_t now)
{
    struct recurrence_verdict v = { .runs = nominal <= now, .nominal = nominal };
    if (saturate_add(nominal, grid->slot_length_s) > now)
        return v;
    if (r->is_cron)
        return judges[r->missed](r, grid, nominal, now);
    if (r->missed != RECURRENCE_SKIP)
        return v; /* a time after each run: only one can have been missed */
    v.runs = false;
    v.nominal = recurrence_after(r, grid, &(struct recurrence_run){ nominal, now, now });
    v.passed_over = 1;
    return v;
}
