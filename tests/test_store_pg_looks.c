/* test_store_pg_looks.c - looks for late checks that keep away from where an old transaction keeps
 * rows that are gone. */
#include "pg_fixture.h"

#include <inttypes.h>
#include "../engine/base/clock.h"

static void open_then_put_one(void)
{
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    CU_ASSERT_EQUAL(pgfx_call(&o.call), 0);
    pgfx_put_checks(1);
}

static struct store_relook narrow_relook(struct relook_slot *slots, int want)
{
    struct store_relook l = STORE_RELOOK_INIT;
    l.slots = slots;
    l.want = want;
    l.settled_only = true;
    CU_ASSERT_EQUAL(pgfx_call(&l.call), 0);
    return l;
}

static void a_narrow_look_leaves_out_slots_that_wait_for_a_transaction(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    open_then_put_one();
    struct store_relook l = pgfx_relook(slots);
    CU_ASSERT(l.n == 1 && slots[0].has_rows);
    l = narrow_relook(slots, 8);
    CU_ASSERT_EQUAL(l.n, 0);
    CU_ASSERT_EQUAL(l.closed, 0);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    l = narrow_relook(slots, 8);
    CU_ASSERT(l.n == 1 && slots[0].slot == SLOT && slots[0].has_rows);
    CU_ASSERT_EQUAL(l.closed, 0);
}

static int64_t late_slot_beside(int64_t from)
{
    struct store_late_slot l = STORE_LATE_SLOT_INIT;
    l.from = from;
    l.before = SLOT + 4 * LENGTH;
    l.beside_opened = true;
    CU_ASSERT_EQUAL(pgfx_call(&l.call), 0);
    return l.slot;
}

static void put_at(int64_t slot)
{
    PQclear(pgfx_ask(pgfx.app,
                     "SELECT prescient.file_check('e', '%" PRId64 "', 'look', to_timestamp(%" PRId64
                     "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))",
                     slot, slot, slot - 100));
}

static void a_look_beside_opened_slots_finds_what_lies_between_them(void)
{
    WITH_SERVER();
    CU_ASSERT_EQUAL(late_slot_beside(0), 0);
    put_at(SLOT - LENGTH);
    put_at(SLOT + LENGTH);
    CU_ASSERT_EQUAL(late_slot_beside(0), SLOT - LENGTH);
    CU_ASSERT_EQUAL(late_slot_beside(SLOT - LENGTH), SLOT - LENGTH);
    CU_ASSERT_EQUAL(late_slot_beside(SLOT - LENGTH + 1), SLOT + LENGTH);
    open_then_put_one();
    CU_ASSERT_EQUAL(late_slot_beside(SLOT - LENGTH + 1), SLOT + LENGTH);
    CU_ASSERT_EQUAL(late_slot_beside(SLOT), SLOT + LENGTH);
    CU_ASSERT_EQUAL(late_slot_beside(SLOT + LENGTH + 1), 0);
}

/* Asks, and tells whether the server's own time for it is one that it can have been. */
static bool is_busy_for_some_time(struct store_call *call)
{
    int64_t began_us = clock_mono_us(&clock_system);
    CU_ASSERT_EQUAL(pgfx_call(call), 0);
    return call->busy_us > 0 && call->busy_us <= clock_mono_us(&clock_system) - began_us;
}

static void the_server_tells_how_long_it_was_at_a_look(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    struct store_relook relook = STORE_RELOOK_INIT;
    relook.slots = slots;
    relook.want = 8;
    open_then_put_one();
    CU_ASSERT(is_busy_for_some_time(&relook.call));
    CU_ASSERT_EQUAL(relook.n, 1);
    for (int form = 0; form < 3; form++) {
        struct store_late_slot late = STORE_LATE_SLOT_INIT;
        late.before = SLOT + LENGTH;
        late.full = form == 1;
        late.beside_opened = form == 2;
        CU_ASSERT(is_busy_for_some_time(&late.call));
    }
    struct store_mark_swept mark = STORE_MARK_SWEPT_INIT;
    mark.slot = SLOT;
    CU_ASSERT(is_busy_for_some_time(&mark.call));
}

static const struct test tests[] = {
    TEST(a_narrow_look_leaves_out_slots_that_wait_for_a_transaction),
    TEST(the_server_tells_how_long_it_was_at_a_look),
    TEST(a_look_beside_opened_slots_finds_what_lies_between_them),
    { NULL, NULL },
};

const struct suite suite_store_pg_looks = { "store_pg_looks", pgfx_setup, pgfx_teardown, tests };
