/* test_targets.c - the slots that are to be run, and the order of their opening. */
#include "../engine/rules/slot.h"
#include "../engine/run/leased_bucket.h"
#include "../engine/run/targets.h"
#include "test.h"

enum { S = 1000 * 1000 };

static void slots_come_before_second_looks_missed_ones_and_late_slots_oldest_first(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    targets_add(&all, TARGET_SWEEP, 900, 0);
    targets_add(&all, TARGET_RELOOK, 2700, 0);
    targets_add(&all, TARGET_RELOOK, 1800, 0);
    targets_add(&all, TARGET_MISSED, 3300, 0);
    targets_add(&all, TARGET_MISSED, 3000, 0);
    targets_add(&all, TARGET_SLOT, 3600, 0);
    static const int64_t order[] = { 3600, 1800, 2700, 3000, 3300, 900 };
    for (int i = 0; i < 6; i++) {
        struct target *t = targets_to_open(&all, 0);
        CU_ASSERT_EQUAL_FATAL(t->slot, order[i]);
        t->is_opening = true;
    }
    CU_ASSERT_PTR_NULL(targets_to_open(&all, 0));
    targets_release(&all);
}

static void a_slot_is_in_the_list_once(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    struct target *t = targets_add(&all, TARGET_RELOOK, 900, 0);
    CU_ASSERT_PTR_EQUAL(targets_add(&all, TARGET_SLOT, 900, 0), t);
    CU_ASSERT_EQUAL(t->kind, TARGET_RELOOK);
    CU_ASSERT_TRUE(targets_have(&all, 900));
    targets_remove(&all, t);
    CU_ASSERT_FALSE(targets_have(&all, 900));
}

/* What was begun stays as it is. */
static void slots_that_are_over_are_missed_ones_and_the_oldest_are_left_to_the_sweep(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    targets_add(&all, TARGET_SLOT, 900, 0);
    targets_add(&all, TARGET_SLOT, 1800, 0)->leased = 1;
    targets_add(&all, TARGET_SLOT, 2700, 0)->is_opening = true;
    targets_add(&all, TARGET_RELOOK, 450, 0);
    targets_add(&all, TARGET_SLOT, 3600, 0);
    targets_add(&all, TARGET_MISSED, 600, 0);
    struct target *missed = targets_add(&all, TARGET_SLOT, 3000, 0);
    targets_pass_over(&all, 3600, 1800);
    CU_ASSERT_FALSE(targets_have(&all, 900) || targets_have(&all, 600));
    CU_ASSERT_TRUE(targets_have(&all, 1800) && targets_have(&all, 2700));
    CU_ASSERT_EQUAL(missed->kind, TARGET_MISSED);
    static const int64_t order[] = { 1800, 3600, 450, 3000 };
    for (int i = 0; i < 4; i++) {
        struct target *t = targets_to_open(&all, 0);
        CU_ASSERT_EQUAL_FATAL(t->slot, order[i]);
        t->exhausted = true;
    }
    targets_release(&all);
}

/* The alarm of a locked one goes with it. */
static void after_a_clock_that_was_set_back_no_slot_is_left_that_lies_ahead(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    struct target *locked = targets_add(&all, TARGET_SLOT, 86400, 0);
    targets_add(&all, TARGET_MISSED, 85500, 0);
    targets_add(&all, TARGET_SWEEP, 85000, 0);
    targets_add(&all, TARGET_SLOT, 900, 0);
    targets_locked(&all, locked, 10 * S, 0);
    targets_pass_over(&all, 900, 0);
    CU_ASSERT_FALSE(targets_have(&all, 86400) || targets_have(&all, 85500));
    CU_ASSERT_TRUE(targets_have(&all, 85000) && targets_have(&all, 900));
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), INT64_MAX);
    targets_release(&all);
}

/* A file is locked for all of them, and each try waits for the lock. */
static void while_the_newest_slot_is_locked_no_missed_one_is_tried(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    struct target *old = targets_add(&all, TARGET_SLOT, 900, 0);
    targets_locked(&all, old, 10 * S, 0);
    struct target *next = targets_add(&all, TARGET_SLOT, 1800, 0);
    targets_pass_over(&all, 1800, 0);
    targets_locked(&all, next, 50 * S, 0);
    CU_ASSERT_PTR_NULL(targets_to_open(&all, 50 * S));
    CU_ASSERT_PTR_EQUAL(targets_to_open(&all, next->retry_us), next);
    CU_ASSERT_TRUE(target_is_worth_waiting(old, true, 50 * S));
    target_opened(next);
    next->exhausted = true;
    CU_ASSERT_PTR_EQUAL(targets_to_open(&all, 50 * S), old);
    targets_release(&all);
}

static void a_locked_slot_is_tried_again_after_growing_pauses_and_others_meanwhile(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    struct target *t = targets_add(&all, TARGET_SLOT, 900, 0);
    struct target *next = targets_add(&all, TARGET_SLOT, 1800, 0);
    CU_ASSERT_TRUE(targets_locked(&all, t, 10 * S, 0));
    int64_t first_us = t->retry_us;
    CU_ASSERT(first_us > 10 * S && first_us <= 10 * S + 100 * 1000);
    CU_ASSERT_PTR_EQUAL(targets_to_open(&all, 10 * S), next);
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), first_us);
    CU_ASSERT_PTR_EQUAL(targets_to_open(&all, first_us), t);
    for (int i = 0; i < 20; i++)
        CU_ASSERT_FALSE(targets_locked(&all, t, 10 * S, 0));
    CU_ASSERT(t->retry_us > first_us && t->retry_us <= 10 * S + 750 * 1000);
    target_opened(t);
    CU_ASSERT_TRUE(targets_locked(&all, t, 20 * S, 0));
    targets_release(&all);
}

static void only_a_daemons_slot_is_waited_for_longer_than_half_a_minute(void)
{
    for (int patient = 0; patient <= 1; patient++)
        for (int kind = TARGET_SLOT; kind <= TARGET_RESLOT; kind++) {
            struct target t = { .kind = kind, .locked_since_us = S };
            CU_ASSERT_TRUE(target_is_worth_waiting(&t, patient, 30 * S));
            bool is_daemons = kind == TARGET_SLOT || kind == TARGET_MISSED;
            CU_ASSERT_EQUAL(target_is_worth_waiting(&t, patient, 31 * S), patient && is_daemons);
        }
}

static void a_slot_that_has_not_begun_is_waited_for_a_second(void)
{
    struct target t = { .slot = 900 };
    CU_ASSERT_TRUE(target_is_nearly_due(&t, 5 * S));
    CU_ASSERT_TRUE(target_is_nearly_due(&t, 5 * S + 999999));
    CU_ASSERT_FALSE(target_is_nearly_due(&t, 6 * S));
}

static void a_target_is_over_when_nothing_is_left_and_no_lease_is_held(void)
{
    struct pass_counts counts = { .run = 3, .late_us = 5 };
    struct target t = { .leased = 2, .exhausted = true };
    target_bucket_over(&t, &counts);
    CU_ASSERT_FALSE(target_is_over(&t, false));
    target_bucket_over(&t, &counts);
    CU_ASSERT_TRUE(target_is_over(&t, false));
    CU_ASSERT_EQUAL(t.counts.run, 6);
    CU_ASSERT_EQUAL(t.counts.late_us, 5);
    t.exhausted = false;
    CU_ASSERT_FALSE(target_is_over(&t, false));
    CU_ASSERT_TRUE(target_is_over(&t, true));
}

/* What cannot be run does not stand before what can. */
static void a_sweep_puts_off_what_it_left_after_all_other_slots(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    struct target *t = targets_add(&all, TARGET_SWEEP, 900, 0);
    targets_add(&all, TARGET_SWEEP, 1800, 0);
    targets_add(&all, TARGET_RESLOT, 2700, 0);
    t->was_taken = t->left_some = t->exhausted = t->first_open = true;
    t->skipped_buckets = 7;
    CU_ASSERT_TRUE(target_has_to_put_off(t));
    targets_put_off(&all, t);
    CU_ASSERT(!t->exhausted && !t->first_open && !t->skipped_buckets);
    CU_ASSERT_FALSE(target_has_to_put_off(t));
    static const int64_t order[] = { 1800, 900, 2700 };
    for (int i = 0; i < 3; i++) {
        struct target *next = targets_to_open(&all, 0);
        CU_ASSERT_EQUAL_FATAL(next->slot, order[i]);
        next->is_opening = true;
    }
    targets_release(&all);
}

static void a_slot_whose_last_page_had_nothing_to_run_comes_after_others_of_its_kind(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    struct target *old = targets_add(&all, TARGET_SLOT, 900, 0);
    struct target *next = targets_add(&all, TARGET_SLOT, 1800, 0);
    targets_add(&all, TARGET_RELOOK, 450, 0);
    old->is_barren = true;
    CU_ASSERT_PTR_EQUAL(targets_to_open(&all, 0), next);
    next->is_barren = true;
    CU_ASSERT_PTR_EQUAL(targets_to_open(&all, 0), old);
    next->is_barren = false;
    next->exhausted = true;
    CU_ASSERT_PTR_EQUAL(targets_to_open(&all, 0), old);     /* before a second look all the same */
    targets_release(&all);
}

static void only_a_sweep_that_left_something_or_took_nothing_has_to_put_off(void)
{
    static const struct { struct target t; bool has; } all[] = {
        { { .kind = TARGET_SWEEP, .was_taken = true }, false },
        { { .kind = TARGET_SWEEP, .was_taken = true, .left_some = true }, true },
        { { .kind = TARGET_SWEEP }, true },
        { { .kind = TARGET_SWEEP, .held_by_others = 1 }, false },
        { { .kind = TARGET_SWEEP, .unopened = true, .left_some = true }, false },
        { { .kind = TARGET_SLOT, .left_some = true }, false },
        { { .kind = TARGET_RELOOK, .left_some = true }, false },
        { { .kind = TARGET_RESLOT, .left_some = true }, false },
        { { .kind = TARGET_SWEEP, .slot = SLOT_PAUSES_FROM }, false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_EQUAL(target_has_to_put_off(&all[i].t), all[i].has);
}

/* ---- rounds ---- */

static void a_slot_with_urgent_checks_has_a_first_round_over_all_its_buckets(void)
{
    struct agenda agenda = { 0 };
    struct targets all = { .agenda = &agenda };
    struct target *t = targets_add(&all, TARGET_SLOT, 900, 0);
    target_begin_rounds(t, true, 0);
    CU_ASSERT_EQUAL(t->round, READ_URGENT);
    t->skipped_buckets = 1;
    t->buckets_of_round = 6;
    CU_ASSERT_EQUAL(target_left_out(t), 7);
    CU_ASSERT_FALSE(target_none_left(t, true));
    CU_ASSERT_PTR_NULL(targets_to_open(&all, 0));       /* a lane still reads urgent checks */
    CU_ASSERT_FALSE(target_none_left(t, false));
    CU_ASSERT_PTR_EQUAL(targets_to_open(&all, 0), t);
    CU_ASSERT_EQUAL(target_left_out(t), 1);
    CU_ASSERT_TRUE(target_none_left(t, false));
    targets_release(&all);
}

static void the_round_of_small_tenants_goes_over_their_buckets_only(void)
{
    struct target t = { .kind = TARGET_SLOT };
    target_begin_rounds(&t, false, 6);
    CU_ASSERT_EQUAL(t.round, READ_SMALL);
    CU_ASSERT_EQUAL(target_left_out(&t), ~UINT64_C(6));
    t.buckets_of_round = 2;
    CU_ASSERT_EQUAL(target_left_out(&t), ~UINT64_C(4));
    CU_ASSERT_FALSE(target_none_left(&t, false));
    CU_ASSERT_EQUAL(t.round, READ_ALL);
    CU_ASSERT_EQUAL(target_left_out(&t), 0);
}

static void urgent_checks_come_before_those_of_small_tenants(void)
{
    struct target t = { .kind = TARGET_SLOT };
    target_begin_rounds(&t, true, 6);
    CU_ASSERT_EQUAL(t.round, READ_URGENT);
    CU_ASSERT_EQUAL(target_left_out(&t), 0);
    t.buckets_of_round = 2;
    CU_ASSERT_FALSE(target_none_left(&t, false));
    CU_ASSERT_EQUAL(t.round, READ_SMALL);
    CU_ASSERT_EQUAL(target_left_out(&t), ~UINT64_C(6));
    CU_ASSERT_FALSE(target_none_left(&t, false));
    CU_ASSERT_TRUE(target_none_left(&t, false));
}

static void rounds_are_not_begun_twice(void)
{
    struct target t = { .kind = TARGET_SLOT };
    target_begin_rounds(&t, true, 1);
    target_none_left(&t, false);
    target_none_left(&t, false);
    target_begin_rounds(&t, true, 1);
    CU_ASSERT_EQUAL(t.round, READ_ALL);
}

static void what_only_moves_checks_has_one_round(void)
{
    struct target of[] = { { .kind = TARGET_RESLOT },
                           { .kind = TARGET_SWEEP, .puts_off = true },
                           { .kind = TARGET_SWEEP, .slot = SLOT_PAUSES_FROM } };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        target_begin_rounds(&of[i], true, 1);
        CU_ASSERT_EQUAL(of[i].round, READ_ALL);
    }
}

/* What was leased in a round is not given back half done. */
static void a_target_that_is_not_opened_to_its_end_is_in_its_last_round(void)
{
    struct target t = { .kind = TARGET_SLOT }, urgent = { .kind = TARGET_SWEEP, .only_urgent = true };
    target_begin_rounds(&t, false, 1);
    target_none_left(&t, true);
    target_end_opening(&t);
    CU_ASSERT(t.exhausted && !t.round_ends);
    CU_ASSERT_EQUAL(t.round, READ_ALL);
    target_begin_rounds(&urgent, true, 0);
    target_end_opening(&urgent);
    CU_ASSERT_EQUAL(urgent.round, READ_URGENT);
}

/* Another target of the slot follows, and puts off what has to be. */
static void where_only_urgent_checks_are_wanted_the_first_round_is_all(void)
{
    struct target t = { .kind = TARGET_SWEEP, .only_urgent = true };
    target_begin_rounds(&t, true, 0);
    CU_ASSERT_TRUE(target_none_left(&t, true));
    t.exhausted = t.left_some = true;
    CU_ASSERT_FALSE(target_has_to_put_off(&t));
}

static void a_bucket_is_parked_until_the_next_round(void)
{
    struct target t = { .kind = TARGET_SLOT };
    target_begin_rounds(&t, true, 1);
    struct leased_bucket b = { .target = &t, .reads = READ_URGENT };
    for (int rounds = 0; rounds < 2; rounds++) {
        CU_ASSERT(leased_bucket_has_more(&b) && !leased_bucket_is_parked(&b));
        b.exhausted = true;
        CU_ASSERT(!leased_bucket_has_more(&b) && leased_bucket_is_parked(&b));
        target_none_left(&t, false);
        CU_ASSERT(leased_bucket_has_more(&b) && !leased_bucket_is_parked(&b));
        leased_bucket_follow_round(&b);
        CU_ASSERT_EQUAL(b.reads, t.round);
    }
    CU_ASSERT_TRUE(leased_bucket_has_more(&b));
    b.exhausted = true;
    CU_ASSERT(!leased_bucket_has_more(&b) && !leased_bucket_is_parked(&b));
}

/* The last round reads what the round of small tenants has passed over, and that one begins behind
 * the urgent checks, some of which may still run. */
static void the_round_of_small_tenants_has_a_place_of_its_own_in_a_bucket(void)
{
    struct target t = { .round = READ_SMALL };
    struct leased_bucket b = { .target = &t, .reads = READ_URGENT, .cursor = { 3, -1, 7 } };
    CU_ASSERT_PTR_EQUAL(leased_bucket_cursor(&b), &b.cursor);
    leased_bucket_follow_round(&b);
    CU_ASSERT_PTR_EQUAL(leased_bucket_cursor(&b), &b.small_cursor);
    CU_ASSERT_EQUAL(b.small_cursor.id, 7);
    t.round = READ_ALL;
    leased_bucket_follow_round(&b);
    CU_ASSERT_PTR_EQUAL(leased_bucket_cursor(&b), &b.cursor);
}

static void so_many_pages_of_small_tenants_are_enough(void)
{
    struct leased_bucket b = { .reads = READ_ALL };
    CU_ASSERT_FALSE(leased_bucket_note_page(&b, false));
    b.reads = READ_SMALL;
    for (int pages = 1; pages < SMALL_PAGES; pages++)
        CU_ASSERT_FALSE(leased_bucket_note_page(&b, false));
    CU_ASSERT_TRUE(leased_bucket_note_page(&b, false));
    struct leased_bucket fast = { .reads = READ_SMALL };
    CU_ASSERT_TRUE(leased_bucket_note_page(&fast, true));
}

static const struct test tests[] = {
    TEST(a_slot_with_urgent_checks_has_a_first_round_over_all_its_buckets),
    TEST(the_round_of_small_tenants_goes_over_their_buckets_only),
    TEST(urgent_checks_come_before_those_of_small_tenants),
    TEST(rounds_are_not_begun_twice),
    TEST(what_only_moves_checks_has_one_round),
    TEST(a_target_that_is_not_opened_to_its_end_is_in_its_last_round),
    TEST(where_only_urgent_checks_are_wanted_the_first_round_is_all),
    TEST(a_bucket_is_parked_until_the_next_round),
    TEST(the_round_of_small_tenants_has_a_place_of_its_own_in_a_bucket),
    TEST(so_many_pages_of_small_tenants_are_enough),
    TEST(slots_come_before_second_looks_missed_ones_and_late_slots_oldest_first),
    TEST(a_slot_is_in_the_list_once),
    TEST(slots_that_are_over_are_missed_ones_and_the_oldest_are_left_to_the_sweep),
    TEST(after_a_clock_that_was_set_back_no_slot_is_left_that_lies_ahead),
    TEST(while_the_newest_slot_is_locked_no_missed_one_is_tried),
    TEST(a_locked_slot_is_tried_again_after_growing_pauses_and_others_meanwhile),
    TEST(only_a_daemons_slot_is_waited_for_longer_than_half_a_minute),
    TEST(a_slot_that_has_not_begun_is_waited_for_a_second),
    TEST(a_target_is_over_when_nothing_is_left_and_no_lease_is_held),
    TEST(a_sweep_puts_off_what_it_left_after_all_other_slots),
    TEST(a_slot_whose_last_page_had_nothing_to_run_comes_after_others_of_its_kind),
    TEST(only_a_sweep_that_left_something_or_took_nothing_has_to_put_off),
    { NULL, NULL },
};
const struct suite suite_targets = { "targets", NULL, NULL, tests };
