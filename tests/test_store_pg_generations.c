/* test_store_pg_generations.c - a database that goes on in another history: restored elsewhere, promoted, copied without its sequences. Its transaction
 * ids mean nothing, or something else, from there on. */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_fixture.h"

static const char *cell_of(const struct store_rows *rows, int row, const char *column)
{
    for (int c = 0; c < rows->columns; c++)
        if (!strcmp(rows->names[c], column))
            return rows->cells[row * rows->columns + c] ? rows->cells[row * rows->columns + c] : "";
    return "no such column";
}

/* ---- slots that wait for a transaction that nobody here knows -------------------------------------------------------------- */

/* An empty slot, opened: it waits for its second look. */
static void open_an_empty_slot(void)
{
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.state, SLOT_RELOOK);
}

static void an_id_of_a_larger_cluster_keeps_no_slot_open(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    open_an_empty_slot();
    SQL_IS("", "UPDATE prescient.slot_pass SET seen_xid = 1000000000");
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
}

static void a_slot_that_such_an_id_kept_open_is_looked_at_before_it_is_closed(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    open_an_empty_slot();
    SQL_IS("", "UPDATE prescient.slot_pass SET seen_xid = 1000000000");
    pgfx_put_checks(1);
    struct store_relook l = pgfx_relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT(l.n == 1 && slots[0].has_rows);
}

/* Beside it an id that means something here, of a transaction that runs: this one is waited for. */
static void an_id_of_our_own_beside_it_is_waited_for(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    open_an_empty_slot();
    SQL_IS("", "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, seen_xid) SELECT slot_at, -1, 1, 1000000000 FROM prescient.slot_pass");
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 0);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
}

/* One that was prepared on the old primary is there on the new one, under its id: it may still be committed, and files a check then. */
static void what_is_prepared_is_waited_for_and_told(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    struct arena *a = arena_new(4096);
    if (atoi(pgfx_cell(pgfx.app, "SHOW max_prepared_transactions")) == 0) {
        arena_free(a);
        return;
    }
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    CELL_IS(pgfx.other, "", "PREPARE TRANSACTION 'test_generations'");
    open_an_empty_slot();
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 0);
    struct store_report r = pgfx_report(a, "status", 0, NULL);
    CU_ASSERT_STRING_EQUAL("1", cell_of(&r.rows, 0, "prepared_transactions"));
    CU_ASSERT(atoi(cell_of(&r.rows, 0, "transactions_since")) >= 1);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK PREPARED 'test_generations'"));
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
    arena_free(a);
}

static const struct test tests[] = {
    TEST(an_id_of_a_larger_cluster_keeps_no_slot_open),
    TEST(a_slot_that_such_an_id_kept_open_is_looked_at_before_it_is_closed),
    TEST(an_id_of_our_own_beside_it_is_waited_for),
    TEST(what_is_prepared_is_waited_for_and_told),
    { NULL, NULL },
};

const struct suite suite_store_pg_generations = { "store_pg_generations", pgfx_setup, pgfx_teardown, tests };
