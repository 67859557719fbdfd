/* test_phase.c - the parts of a slot begin one after the other, and are read as they do. */
#include "../engine/rules/phase.h"

#include "../engine/rules/bucket.h"
#include "../engine/rules/slot.h"
#include "../engine/run/leased_bucket.h"
#include "../engine/run/phases.h"
#include "test.h"

#define SLOT INT64_C(1772370900)            /* 2026-03-01T13:15:00Z */
enum { S = 1000 * 1000, LENGTH = 900, PACE = 450 };

static void parts_begin_over_those_seconds(void)
{
    CU_ASSERT_EQUAL(phase_begins_s(0, PACE), 0);
    CU_ASSERT_EQUAL(phase_begins_s(1, PACE), 7);
    CU_ASSERT_EQUAL(phase_begins_s(32, PACE), 225);
    CU_ASSERT_EQUAL(phase_begins_s(63, PACE), 442);
    CU_ASSERT_EQUAL(phase_begins_s(63, 86400), 85050);
    CU_ASSERT_EQUAL(phase_begins_s(63, 0), 0);
}

static void a_part_has_begun_from_its_second_on(void)
{
    static const int32_t paces[] = { 0, 1, 2, 63, 64, 65, 450, 900, 86400 };
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++)
        for (int64_t into = 0; into <= paces[i]; into++) {
            int begun = phases_begun(into, paces[i]);
            CU_ASSERT_FATAL(begun >= 1 && begun <= PHASES);
            CU_ASSERT_FATAL(phase_begins_s(begun - 1, paces[i]) <= into);
            CU_ASSERT_FATAL(begun == PHASES || phase_begins_s(begun, paces[i]) > into);
        }
    CU_ASSERT_EQUAL(phases_begun(-5, PACE), 1);         /* the database's clock was set back */
    CU_ASSERT_EQUAL(phases_begun(INT64_MAX, PACE), PHASES);
    CU_ASSERT_EQUAL(phases_begun(0, 0), PHASES);
}

static struct clocks clocks_at(int64_t into_s)
{
    return (struct clocks){ .is_known = true, .offset_us = (SLOT + into_s) * S, .slot_length_s = LENGTH,
                            .pace_s = PACE };
}

static void a_slot_is_run_in_parts_by_the_databases_clock(void)
{
    struct clocks clocks = clocks_at(225);
    struct target t = { .kind = TARGET_SLOT, .slot = SLOT };
    CU_ASSERT_EQUAL(phases_of_target(&clocks, &t, 0), 33);
    CU_ASSERT_EQUAL(phases_of_target(&clocks, &t, 6 * S), 33);
    CU_ASSERT_EQUAL(phases_of_target(&clocks, &t, 7 * S), 34);
    CU_ASSERT_EQUAL(phase_begins_us(&clocks, &t, 33, 0), 7 * INT64_C(1000000));
    CU_ASSERT_EQUAL(phase_begins_us(&clocks, &t, 33, 3 * S), 7 * INT64_C(1000000));
    t.slot -= LENGTH;                                   /* a late one */
    CU_ASSERT_EQUAL(phases_of_target(&clocks, &t, 0), PHASES);
}

static void what_is_not_spread_is_run_at_once(void)
{
    struct clocks clocks = clocks_at(0);
    const struct target all[] = {
        { .kind = TARGET_SLOT, .slot = SLOT + 1 },      /* a fine one */
        { .kind = TARGET_SLOT, .slot = SLOT_PAUSES_FROM },
        { .kind = TARGET_RESLOT, .slot = SLOT },
        { .kind = TARGET_SLOT, .slot = SLOT, .round = READ_URGENT },
        { .kind = TARGET_SWEEP, .slot = SLOT, .only_urgent = true },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_EQUAL(phases_of_target(&clocks, &all[i], 0), PHASES);
    struct target t = { .kind = TARGET_SLOT, .slot = SLOT };
    CU_ASSERT_EQUAL(phases_of_target(&clocks, &t, 0), 1);
    clocks.virtual_now = SLOT;
    CU_ASSERT_EQUAL(phases_of_target(&clocks, &t, 0), PHASES);
    clocks.virtual_now = 0;
    clocks.pace_s = 0;
    CU_ASSERT_EQUAL(phases_of_target(&clocks, &t, 0), PHASES);
}

static void a_check_comes_up_with_its_part(void)
{
    struct clocks clocks = clocks_at(0);
    struct check c = { .next_check_at = SLOT, .entity_name = "orders", .entity_key = "42" };
    int32_t phase_s = phase_begins_s(bucket_of("orders", "42"), PACE);
    CU_ASSERT(phase_s > 0);
    CU_ASSERT_EQUAL(phase_of_check_s(&clocks, &c), phase_s);
    c.priority = -1;
    CU_ASSERT_EQUAL(phase_of_check_s(&clocks, &c), 0);
    c.priority = 0;
    c.next_check_at++;
    CU_ASSERT_EQUAL(phase_of_check_s(&clocks, &c), 0);
}

static void a_slot_that_is_one_lease_is_read_as_its_parts_begin(void)
{
    struct leased_bucket b = { .cursor = PAGE_START };
    CU_ASSERT_FALSE(leased_bucket_begin_parts(&b, 3));
    CU_ASSERT_EQUAL(b.parts, 3);
    b.cursor.id = 7;
    CU_ASSERT_FALSE(leased_bucket_begin_parts(&b, 5));  /* its page was cut: it is read on as it was begun */
    CU_ASSERT_EQUAL(b.parts, 3);
    CU_ASSERT_EQUAL(b.cursor.id, 7);
    CU_ASSERT_FALSE(leased_bucket_is_in_part(&b));
    b.exhausted = true;
    CU_ASSERT_TRUE(leased_bucket_is_in_part(&b));
    CU_ASSERT_TRUE(leased_bucket_begin_parts(&b, PHASES));
    CU_ASSERT_EQUAL(b.parts, PHASES);
    CU_ASSERT_EQUAL(b.cursor.id, INT64_MIN);
    CU_ASSERT_FALSE(b.exhausted);
    b.exhausted = true;
    CU_ASSERT_FALSE(leased_bucket_is_in_part(&b));
}

static const struct test tests[] = {
    TEST(parts_begin_over_those_seconds),
    TEST(a_part_has_begun_from_its_second_on),
    TEST(a_slot_is_run_in_parts_by_the_databases_clock),
    TEST(what_is_not_spread_is_run_at_once),
    TEST(a_check_comes_up_with_its_part),
    TEST(a_slot_that_is_one_lease_is_read_as_its_parts_begin),
    { NULL, NULL },
};

const struct suite suite_phase = { .name = "phase", .tests = tests };
