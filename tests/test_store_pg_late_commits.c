/* test_store_pg_late_commits.c - transactions that commit after their slot was read: nothing that
 * they file is lost, and a slot is closed only when none of them can be left. */
#include "../engine/run/fine_pulse.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

#include "pg_fixture.h"

static void a_check_committed_late_is_found_by_the_second_look(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    /* it decides on SLOT before that begins, and commits after the empty look */
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other,
                     "SELECT prescient.file_check('e', 'late', 'look', to_timestamp(%" PRId64
                     "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))",
                     SLOT, SLOT - 100));
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.rows, 0);
    CU_ASSERT_EQUAL(o.ntaken, 0);
    CU_ASSERT_EQUAL(o.state, SLOT_RELOOK);
    struct store_relook l = pgfx_relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT_EQUAL(l.n, 0);                      /* nothing to do in it, and not closed either */
    SQL_IS("1", "SELECT count(*) FROM prescient.slot_pass WHERE pass = 0 AND closed_at IS NULL");
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    l = pgfx_relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT(l.n == 1 && slots[0].slot == SLOT && slots[0].has_rows);
    struct lease lease = pgfx_take();
    struct check_rows page = pgfx_read_page(&lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    struct settlement s = pgfx_done(&page.checks[0]);
    struct store_settle settle = pgfx_settle_of(&lease, &s, 1);
    RC_IS(0, pgfx_call(&settle.call));
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = lease;
    RC_IS(0, pgfx_call(&f.call));
    CU_ASSERT(f.finished);
    l = pgfx_relook(slots);
    CU_ASSERT_EQUAL(l.closed, 1);
    check_rows_free(&page);
}

static int64_t first_late_slot(void)
{
    struct store_late_slot l = STORE_LATE_SLOT_INIT;
    l.before = SLOT + LENGTH;
    RC_IS(0, pgfx_call(&l.call));
    return l.slot;
}

static void move_mark(void)
{
    struct store_mark_swept m = STORE_MARK_SWEPT_INIT;
    m.slot = SLOT + LENGTH;
    RC_IS(0, pgfx_call(&m.call));
    RC_IS(0, pgfx_call(&m.call));
}

/* Engines were down: the slot has no opening row, and so no second look. */
static void a_check_committed_late_into_a_slot_that_nobody_opened_is_swept(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other,
                     "SELECT prescient.file_check('e', 'late', 'look', to_timestamp(%" PRId64
                     "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))",
                     SLOT, SLOT - 100));
    move_mark();
    CU_ASSERT_EQUAL(first_late_slot(), 0);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    CU_ASSERT_EQUAL(first_late_slot(), SLOT);
    move_mark();
    CU_ASSERT_EQUAL(first_late_slot(), SLOT);
    PQclear(pgfx_ask(pgfx.app, "SELECT prescient.resolve('e', 'late')"));
    move_mark();
    SQL_IS("1", "SELECT count(*) FROM prescient.setting WHERE name = 'swept_until' AND value = '%" PRId64 "'",
           SLOT + LENGTH);
}

static void a_transaction_that_has_an_id_but_ended_none_yet_keeps_the_slot_open(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    /* The newest id of all: no snapshot lists it among the running, as it is not below any that
     * has ended. */
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.state, SLOT_RELOOK);
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 0);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
}

/* A lease on SLOT, and the first read under it. */
static struct store_read_page first_read(struct store_open_slot *o)
{
    *o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o->call));
    CU_ASSERT_EQUAL_FATAL(o->ntaken, 1);
    CU_ASSERT(o->origin.xid > 0);
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = o->taken[0];
    r.want = 10;
    r.max_bytes = 1 << 20;
    r.origin = o->origin;
    RC_IS(0, pgfx_call(&r.call));
    return r;
}

static void settle_and_finish(struct store_read_page *r)
{
    struct settlement s[10];
    for (int i = 0; i < r->page.n; i++)
        s[i] = pgfx_done(&r->page.checks[i]);
    struct store_settle settle = pgfx_settle_of(&r->lease, s, r->page.n);
    RC_IS(0, pgfx_call(&settle.call));
    CU_ASSERT_EQUAL(settle.touched, r->page.n);
    const struct check *last = &r->page.checks[r->page.n - 1];
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = r->lease;
    f.after = (struct page_cursor){ last->bucket, last->priority, last->id };
    f.complete = r->is_complete;
    f.origin = r->origin;
    RC_IS(0, pgfx_call(&f.call));
    CU_ASSERT(f.finished);
    check_rows_free(&r->page);
}

static void a_slot_whose_reads_were_complete_is_closed_at_once(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    struct store_open_slot o;
    pgfx_put_checks(3);
    struct store_read_page r = first_read(&o);
    CU_ASSERT(r.is_complete);
    settle_and_finish(&r);
    /* begun after the slot: it can file nothing there, and keeps nothing open */
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
}

static void a_read_beside_an_older_transaction_is_not_complete(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    struct store_open_slot o;
    pgfx_put_checks(3);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other,
                     "SELECT prescient.file_check('e', 'late', 'look', to_timestamp(%" PRId64
                     "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))",
                     SLOT, SLOT - 100));
    /* two more, with higher ids: the late one lies before the last row read */
    pgfx_put_checks(5);
    struct store_read_page r = first_read(&o);
    CU_ASSERT_EQUAL(r.page.n, 5);
    CU_ASSERT_FALSE(r.is_complete);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    settle_and_finish(&r);
    struct store_relook l = pgfx_relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT(l.n == 1 && slots[0].has_rows);
    o = pgfx_open_slot(pgfx_owner);
    o.again = true;
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    struct check_rows page = pgfx_read_page(&o.taken[0], 10);
    CU_ASSERT_EQUAL(page.n, 1);
    check_rows_free(&page);
}

static void after_a_failover_a_slot_is_looked_at_again(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    struct store_open_slot o;
    pgfx_put_checks(3);
    struct store_read_page r = first_read(&o);
    CU_ASSERT(r.is_complete);
    /* it was taken on another server, which perhaps knew of more */
    r.origin.incarnation--;
    settle_and_finish(&r);
    pgfx_put_checks(4);                             /* one that was settled there is back */
    struct store_relook l = pgfx_relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT(l.n == 1 && slots[0].has_rows);
}

/* A pooler may turn to another server between two statements: the lease's transaction id means
 * nothing there. */
static void a_read_on_another_server_than_the_lease_is_not_complete(void)
{
    WITH_SERVER();
    pgfx_put_checks(3);
    struct store_open_slot o;
    struct store_read_page r = first_read(&o);
    CU_ASSERT(r.is_complete);
    check_rows_free(&r.page);
    r.origin.incarnation--;
    RC_IS(0, pgfx_call(&r.call));
    CU_ASSERT_FALSE(r.is_complete);
    check_rows_free(&r.page);
}

/* As after a restore into a server that went on: what is in the tables is not what was read. */
static void a_slot_read_before_its_tables_were_filled_anew_is_looked_at_again(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    struct store_open_slot o;
    pgfx_put_checks(3);
    struct store_read_page r = first_read(&o);
    CU_ASSERT(r.is_complete);
    SQL_IS("",
           "CREATE TABLE prescient.kept AS SELECT * FROM prescient.slot_lease; TRUNCATE prescient.slot_lease;"
           "INSERT INTO prescient.slot_lease SELECT * FROM prescient.kept; DROP TABLE prescient.kept");
    settle_and_finish(&r);
    pgfx_put_checks(4);
    struct store_relook l = pgfx_relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT(l.n == 1 && slots[0].has_rows);
}

/* What was closed unseen was opened again for a reason: a clock that had jumped, rows put there by
 * hand. */
static void a_slot_closed_unseen_and_opened_again_is_looked_at(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    struct store_open_slot o;
    pgfx_put_checks(3);
    struct store_read_page r = first_read(&o);
    settle_and_finish(&r);
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
    pgfx_put_checks(4);
    o = pgfx_open_slot(pgfx_owner);
    o.again = true;
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    struct store_relook l = pgfx_relook(slots);     /* while it is being run */
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT(l.n == 1 && slots[0].has_rows);
}

static void a_read_that_does_not_know_its_transaction_is_not_complete(void)
{
    WITH_SERVER();
    pgfx_put_checks(1);
    struct lease lease = pgfx_take();
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = lease;
    r.want = 10;
    r.max_bytes = 1 << 20;
    RC_IS(0, pgfx_call(&r.call));
    CU_ASSERT_FALSE(r.is_complete);
    check_rows_free(&r.page);
}

static void a_consumer_of_events_waits_for_the_oldest_transaction(void)
{
    WITH_SERVER();
    struct arena *a = arena_new(4096);
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, "
                               "job_exec) VALUES (now(), 'first', 'e', '1', 'j')"));
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, "
                                 "job_exec) VALUES (now(), 'late', 'e', '1', 'j')"));
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, "
                               "job_exec) VALUES (now(), 'third', 'e', '1', 'j')"));
    struct store_report r = pgfx_report(a, "events", 0, NULL);
    CU_ASSERT_EQUAL_FATAL(r.rows.rows, 1);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    char generation[24], xid[24], id[24];
    CU_ASSERT_EQUAL_FATAL(sscanf(r.rows.cells[0], "%23[0-9]-%23[0-9]-%23[0-9]", generation, xid, id), 3);
    const char *after[] = { generation, xid, id, NULL };
    r = pgfx_report(a, "events", 4, after);
    CU_ASSERT_EQUAL_FATAL(r.rows.rows, 2);
    CU_ASSERT_STRING_EQUAL(r.rows.cells[1], "late");
    CU_ASSERT_STRING_EQUAL(r.rows.cells[r.rows.columns + 1], "third");
    arena_free(a);
}

static struct store_pulse pulse(void)
{
    struct store_pulse p = STORE_PULSE_INIT;
    RC_IS(0, pgfx_call(&p.call));
    return p;
}

/* Those that began before a slot was read to its end, and no others; of closed slots none. */
static void a_pulse_counts_the_transactions_that_open_slots_wait_for(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    CU_ASSERT_EQUAL(pulse().newest, 0);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    struct store_pulse before = pulse();
    CU_ASSERT(before.newest > 0);
    CU_ASSERT(before.running >= 1);
    PQclear(pgfx_ask(pgfx.app, "BEGIN"));
    PQclear(pgfx_ask(pgfx.app, "SELECT pg_current_xact_id()"));
    CU_ASSERT_EQUAL(pulse().running, before.running);
    PQclear(pgfx_ask(pgfx.app, "ROLLBACK"));
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    CU_ASSERT_EQUAL(pulse().running, before.running - 1);
    CU_ASSERT_EQUAL(pulse().newest, before.newest);
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
    CU_ASSERT_EQUAL(pulse().newest, 0);
}

static struct fine_pulse fine;

/* The pulse of a moment from `low` on, and what it changes there. */
static struct store_fine_slots fine_slots(void)
{
    struct store_fine_slots f = STORE_FINE_SLOTS_INIT;
    f.low = fine.low;
    RC_IS(0, pgfx_call(&f.call));
    fine_pulse_note(&fine, &f, 900);
    return f;
}

/* It read the clock before the pulse, and commits after it has gone on: the pulse does not go past
 * what it may still commit. */
static void what_was_asked_for_at_once_and_committed_late_is_still_found(void)
{
    WITH_SERVER();
    fine = (struct fine_pulse){ .low = atoll(pgfx_cell(
        pgfx.app, "SELECT date_part('epoch', prescient.slot_floor(now()))::bigint")) };
    int64_t begun = fine.low;
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT prescient.enqueue_now('orders', 1, 'look')"));
    PQclear(pgfx_ask(pgfx.app, "SELECT pg_sleep(1.5)"));
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(fine_slots().n, 0);
    CU_ASSERT_EQUAL(fine.low, begun);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    struct store_fine_slots found = fine_slots();
    CU_ASSERT_EQUAL_FATAL(found.n, 1);
    SQL_IS("t", "SELECT next_check_at = to_timestamp(%lld) FROM prescient.future_job",
           (long long)found.slots[0]);
    CU_ASSERT_EQUAL(fine.low, begun);
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    o.slot = found.slots[0];
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 1);
    PQclear(pgfx_ask(pgfx.app, "SELECT pg_sleep(1)"));      /* the second noted last is over */
    CU_ASSERT_EQUAL(fine_slots().n, 0);
    CU_ASSERT(fine.low >= found.slots[0]);
    RC_IS(0, pgfx_call(&(struct store_release){ .call.op = STORE_RELEASE, .leases = o.taken, .n = 1 }.call));
}

static const struct test tests[] = {
    TEST(what_was_asked_for_at_once_and_committed_late_is_still_found),
    TEST(a_pulse_counts_the_transactions_that_open_slots_wait_for),
    TEST(a_check_committed_late_is_found_by_the_second_look),
    TEST(a_check_committed_late_into_a_slot_that_nobody_opened_is_swept),
    TEST(a_transaction_that_has_an_id_but_ended_none_yet_keeps_the_slot_open),
    TEST(a_slot_whose_reads_were_complete_is_closed_at_once),
    TEST(a_read_beside_an_older_transaction_is_not_complete),
    TEST(after_a_failover_a_slot_is_looked_at_again),
    TEST(a_read_on_another_server_than_the_lease_is_not_complete),
    TEST(a_slot_read_before_its_tables_were_filled_anew_is_looked_at_again),
    TEST(a_slot_closed_unseen_and_opened_again_is_looked_at),
    TEST(a_read_that_does_not_know_its_transaction_is_not_complete),
    TEST(a_consumer_of_events_waits_for_the_oldest_transaction),
    { NULL, NULL },
};

const struct suite suite_store_pg_late_commits = { "store_pg_late_commits", pgfx_setup, pgfx_teardown,
                                                   tests };
