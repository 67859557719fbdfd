/* test_watch.c - leases of others: which may be taken over, and when. */
#include <string.h>

#include "../engine/run/watch.h"
#include "test.h"

enum { S = 1000 * 1000, SLOT = 900, LEASE_S = 10 };

static const unsigned char ours[STORE_OWNER_SIZE] = { 1 }, other[STORE_OWNER_SIZE] = { 2 };

static struct lease lease_of(const unsigned char *owner, int64_t slot, int64_t token, int64_t expires_s)
{
    struct lease l = { .slot = slot, .bucket = 3, .token = token, .expires_us = expires_s * S };
    memcpy(l.owner, owner, STORE_OWNER_SIZE);
    return l;
}

/* The database's clock shows 1000 s at first. */
static void sees(struct watch *w, int64_t now_s, const struct lease *held, int n)
{
    struct watch_terms terms = {
        .owner = ours, .lease_us = LEASE_S * S, .database_us = (1000 + now_s) * S, .now_us = now_s * S
    };
    watch_note(w, &terms, SLOT, UINT64_MAX, held, n);
}

static int expired(const struct watch *w, int64_t now_s)
{
    struct lease out[WATCH_MAX];
    return watch_expired(w, SLOT, now_s * S, out, WATCH_MAX);
}

static void a_lease_that_stays_unchanged_may_be_taken_over_after_a_leases_time(void)
{
    struct watch w = { 0 };
    struct lease held = lease_of(other, SLOT, 7, 1005);
    sees(&w, 0, &held, 1);
    sees(&w, 6, &held, 1);
    CU_ASSERT_EQUAL(expired(&w, 9), 0);
    CU_ASSERT_EQUAL(expired(&w, 10), 1);
}

static void a_lease_that_was_renewed_is_watched_from_then_on(void)
{
    struct watch w = { 0 };
    struct lease held = lease_of(other, SLOT, 7, 1005), renewed = lease_of(other, SLOT, 7, 1008);
    sees(&w, 0, &held, 1);
    sees(&w, 6, &renewed, 1);
    CU_ASSERT_EQUAL(expired(&w, 15), 0);
    CU_ASSERT_EQUAL(expired(&w, 16), 1);
}

/* Engines may have leases of different lengths; beyond ten times ours a clock was set back. */
static void a_longer_lease_is_waited_for_within_reason(void)
{
    struct watch w = { 0 };
    struct lease longer = lease_of(other, SLOT, 7, 1060), forever = lease_of(other, SLOT, 8, 100000);
    sees(&w, 0, &longer, 1);
    CU_ASSERT_EQUAL(expired(&w, 59), 0);
    CU_ASSERT_EQUAL(expired(&w, 60), 1);
    sees(&w, 0, &forever, 1);
    CU_ASSERT_EQUAL(expired(&w, 99), 0);
    CU_ASSERT_EQUAL(expired(&w, 100), 1);
}

static void a_lease_of_ours_whose_answer_was_lost_is_free_at_once(void)
{
    struct watch w = { 0 };
    struct lease lost = lease_of(ours, SLOT, 7, 1060);
    sees(&w, 0, &lost, 1);
    CU_ASSERT_EQUAL(expired(&w, 0), 1);
}

static void a_look_forgets_what_is_not_held_any_more_but_only_of_its_slot(void)
{
    struct watch w = { 0 };
    struct lease here = lease_of(other, SLOT, 7, 1005), there = lease_of(other, SLOT + 900, 8, 1005);
    struct watch_terms terms = { .owner = ours, .lease_us = LEASE_S * S, .database_us = 1000 * S };
    sees(&w, 0, &here, 1);
    watch_note(&w, &terms, SLOT + 900, UINT64_MAX, &there, 1);
    CU_ASSERT_EQUAL(w.n, 2);
    sees(&w, 1, NULL, 0);
    CU_ASSERT_EQUAL(w.n, 1);
    CU_ASSERT_EQUAL(w.leases[0].lease.token, 8);
}

/* A round of a slot asks only for some buckets. Leases of the others were watched anew after it, so
 * those of an engine that had died were kept for twice as long, or for as long as rounds came. */
static void a_look_at_some_buckets_forgets_nothing_of_the_others(void)
{
    struct watch w = { 0 };
    struct lease here = lease_of(other, SLOT, 7, 1005), beside = lease_of(other, SLOT, 8, 1005);
    struct lease renewed = lease_of(other, SLOT, 8, 1012);
    struct watch_terms later = {
        .owner = ours, .lease_us = LEASE_S * S, .database_us = 1006 * S, .now_us = 6 * S
    };
    beside.bucket = renewed.bucket = 4;
    sees(&w, 0, (const struct lease[]){ here, beside }, 2);
    watch_note(&w, &later, SLOT, 1 << 4, &beside, 1);
    CU_ASSERT_EQUAL(w.n, 2);
    CU_ASSERT_EQUAL(expired(&w, 10), 2);
    watch_note(&w, &later, SLOT, 1 << 4, NULL, 0);
    CU_ASSERT_EQUAL(w.n, 1);
    CU_ASSERT_EQUAL(w.leases[0].lease.bucket, 3);
    /* what is seen takes the place of what was, also where nobody asked */
    sees(&w, 0, (const struct lease[]){ here, beside }, 2);
    watch_note(&w, &later, SLOT, 0, &renewed, 1);
    CU_ASSERT_EQUAL(w.n, 2);
    CU_ASSERT_EQUAL(expired(&w, 10), 1);
    CU_ASSERT_EQUAL(expired(&w, 16), 2);
}

static void the_lease_of_a_whole_slot_is_its_first_bit(void)
{
    struct watch w = { 0 };
    struct watch_terms terms = { .owner = ours, .lease_us = LEASE_S * S, .database_us = 1000 * S };
    struct lease whole = lease_of(other, SLOT, 7, 1005);
    whole.bucket = BUCKET_WHOLE_SLOT;
    sees(&w, 0, &whole, 1);
    watch_note(&w, &terms, SLOT, ~UINT64_C(1), NULL, 0);
    CU_ASSERT_EQUAL(w.n, 1);
    watch_note(&w, &terms, SLOT, 1, NULL, 0);
    CU_ASSERT_EQUAL(w.n, 0);
}

static const struct test tests[] = {
    TEST(a_lease_that_stays_unchanged_may_be_taken_over_after_a_leases_time),
    TEST(a_lease_that_was_renewed_is_watched_from_then_on),
    TEST(a_longer_lease_is_waited_for_within_reason),
    TEST(a_lease_of_ours_whose_answer_was_lost_is_free_at_once),
    TEST(a_look_forgets_what_is_not_held_any_more_but_only_of_its_slot),
    TEST(a_look_at_some_buckets_forgets_nothing_of_the_others),
    TEST(the_lease_of_a_whole_slot_is_its_first_bit),
    { NULL, NULL },
};
const struct suite suite_watch = { "watch", NULL, NULL, tests };
