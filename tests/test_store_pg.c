/* test_store_pg.c - the protocol as only PostgreSQL can break it: late commits, locks, deadlines,
 * what settles change. */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>

#include "pg_fixture.h"

#include "../engine/store/store_pg.h"

static void a_page_runs_from_open_to_finish(void)
{
    WITH_SERVER();
    pgfx_put_checks(5);
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.rows, 5);
    CU_ASSERT_EQUAL(o.split, 1);
    CU_ASSERT_EQUAL(o.ntaken, 1);
    CU_ASSERT_EQUAL(o.state, SLOT_OPEN);
    struct check_rows page = pgfx_read_page(&o.taken[0], 100);
    CU_ASSERT_EQUAL_FATAL(page.n, 5);
    CU_ASSERT_STRING_EQUAL(page.checks[0].entity_name, "e");
    CU_ASSERT_EQUAL(page.checks[0].first_check_at, SLOT);
    struct settlement s[5];
    for (int i = 0; i < 5; i++)
        s[i] = i < 3 ? pgfx_done(&page.checks[i]) : pgfx_again(&page.checks[i], SLOT + LENGTH);
    struct store_settle settle = pgfx_settle_of(&o.taken[0], s, 5);
    RC_IS(0, pgfx_call(&settle.call));
    CU_ASSERT_EQUAL(settle.touched, 5);
    SQL_IS("2",
           "SELECT count(*) FROM prescient.future_job WHERE next_check_at = to_timestamp(%" PRId64
           ") AND check_count = 1 AND run_count = 1",
           SLOT + LENGTH);
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job_history WHERE outcome = 'done' AND engine = "
                "'test/1' AND total_run_us = 1500 AND run_count = 1");
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job_run WHERE outcome = 'again' AND check_count = 1");
    check_rows_free(&page);
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = o.taken[0];
    f.counts.run = 5;
    RC_IS(0, pgfx_call(&f.call));
    CU_ASSERT(f.finished);
    SQL_IS("0", "SELECT count(*) FROM prescient.slot_lease");
    struct relook_slot slots[4];
    struct store_relook l = STORE_RELOOK_INIT;
    l.slots = slots;
    l.want = 4;
    RC_IS(0, pgfx_call(&l.call));
    CU_ASSERT_EQUAL(l.closed, 1);
    CU_ASSERT_EQUAL(l.n, 0);
}

/* ---- late commits ---------------------------------------------------------------------------- */

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

/* An engine that has left rows in some buckets goes on with the others: those alone would be given
 * out for ever. */
static void buckets_that_are_left_out_are_not_taken(void)
{
    WITH_SERVER();
    pgfx_put_checks(200);
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    o.split_at = 10;
    o.again = true;
    o.want = BUCKETS;
    o.left_out = ~UINT64_C(0) ^ (UINT64_C(1) << 63 | UINT64_C(1) << 7 | 1);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.split, BUCKETS);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 3);
    for (int i = 0; i < o.ntaken; i++)
        CU_ASSERT(o.taken[i].bucket == 63 || o.taken[i].bucket == 7 || o.taken[i].bucket == 0);
}

/* What they are there for, a table with a page that cannot be read, is made in
 * tests/faults/f38_damaged_page.sh. */
static void the_careful_functions_say_of_a_whole_table_what_the_plain_statements_do(void)
{
    WITH_SERVER();
    pgfx_put_checks(20);
    SQL_IS("20", "SELECT prescient.count_checks('-infinity', 'infinity', 1000)");
    SQL_IS("5", "SELECT prescient.count_checks('-infinity', 'infinity', 5)");
    SQL_IS("0", "SELECT prescient.count_checks('-infinity', to_timestamp(%" PRId64 "), 1000)", SLOT);
    SQL_IS("t", "SELECT prescient.first_slot('-infinity', 'infinity') = to_timestamp(%" PRId64 ")", SLOT);
    SQL_IS("t", "SELECT prescient.first_slot(to_timestamp(%" PRId64 "), 'infinity') IS NULL", SLOT + 1);
    SQL_IS("t", "SELECT prescient.first_slot('-infinity', to_timestamp(%" PRId64 ")) IS NULL", SLOT);
    SQL_IS("t",
           "SELECT prescient.holds_checks(s, s, 0, 63, '{look}') AND NOT prescient.holds_checks(s, s, 0, 63, "
           "'{other}') AND NOT prescient.holds_checks(s, s, 64, 99, NULL)"
           " FROM to_timestamp(%" PRId64 ") s",
           SLOT);
    SQL_IS("f", "SELECT prescient.is_beside_the_index('invalid page in block 3 of relation ' || "
                "pg_relation_filepath('prescient.future_job_slot'))");
    SQL_IS("t", "SELECT prescient.is_beside_the_index('invalid page in block 3 of relation ' || "
                "pg_relation_filepath('prescient.future_job_slot') || '0')");
    SQL_IS("{}", "SELECT prescient.unreadable_checks(to_timestamp(%" PRId64 "), 0, 63)", SLOT);
    SQL_IS("20", "SELECT count(DISTINCT id) FROM prescient.readable_checks(to_timestamp(%" PRId64 "), 0, 63)",
           SLOT);
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

/* ---- locks ----------------------------------------------------------------------------------- */

static void a_settle_gives_up_on_a_locked_row_and_leaves_it_out_when_told(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 4);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT FROM prescient.future_job WHERE entity_key = '2' FOR UPDATE"));
    PQclear(pgfx_ask(pgfx.app, "DELETE FROM prescient.future_job WHERE entity_key = '3'"));
    struct store_settle settle = pgfx_settle_of(&run.lease, run.s, 4);
    RC_IS(ERR_BUSY, pgfx_call(&settle.call));
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job");
    settle.skip_locked = true;
    RC_IS(0, pgfx_call(&settle.call));
    CU_ASSERT_EQUAL(settle.touched, 2);
    CU_ASSERT_EQUAL(pgfx_answer_of(&run, "1")->state, SETTLE_TOUCHED);
    CU_ASSERT_EQUAL(pgfx_answer_of(&run, "2")->state, SETTLE_LOCKED);
    CU_ASSERT_EQUAL(pgfx_answer_of(&run, "3")->state, SETTLE_SUPERSEDED);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    RC_IS(0, pgfx_call(&settle.call));
    CU_ASSERT_EQUAL(settle.touched, 1);
    CU_ASSERT_EQUAL(pgfx_answer_of(&run, "2")->state, SETTLE_TOUCHED);
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job_history");
    SQL_IS("0", "SHOW lock_timeout");
    check_rows_free(&run.page);
}

static void a_lease_that_another_is_just_taking_is_not_waited_for_long(void)
{
    WITH_SERVER();
    pgfx_put_checks(1);
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    o.want = 1;
    RC_IS(0, pgfx_call(&o.call));
    PQclear(pgfx_ask(pgfx.app, "DELETE FROM prescient.slot_lease"));
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other,
                     "INSERT INTO prescient.slot_lease VALUES (to_timestamp(%" PRId64
                     "), -1, '00000000-0000-0000-0000-000000000000', 1, now() + interval '1 hour')",
                     SLOT));
    RC_IS(ERR_BUSY, pgfx_call(&o.call));
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT(o.ntaken == 0 && o.nheld == 1);
}

static void an_opening_row_that_is_not_committed_is_a_lock_and_not_a_slot_that_has_not_begun(void)
{
    WITH_SERVER();
    pgfx_put_checks(1);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(
        pgfx.other,
        "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, engine) VALUES (to_timestamp(%" PRId64
        "), -1, 0, 1, 'e')",
        SLOT));
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(ERR_BUSY, pgfx_call(&o.call));
    CU_ASSERT_FALSE(o.not_begun);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 1);
}

/* With the database's clock set back, leases of an engine that died go by what others have
 * watched, a few with each call: what is not told is not watched. */
static void leases_that_are_ripe_and_not_wanted_yet_are_told(void)
{
    WITH_SERVER();
    pgfx_put_checks(100);
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    o.split_at = 10;
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL_FATAL(o.ntaken, BUCKETS);
    struct lease watched[BUCKETS];
    memcpy(watched, o.taken, sizeof watched);
    o = pgfx_open_slot(pgfx_stranger);
    o.watched = watched;
    o.nwatched = BUCKETS;
    o.want = 4;
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 4);
    CU_ASSERT_EQUAL(o.nheld, BUCKETS - 4);
}

static void a_settle_under_way_holds_a_takeover_up(void)
{
    WITH_SERVER();
    pgfx_put_checks(1);
    struct lease lease = pgfx_take();
    PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.slot_lease SET expires_at = now() - interval '1 minute'"));
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT FROM prescient.slot_lease FOR SHARE"));
    struct store_open_slot o = pgfx_open_slot(pgfx_stranger);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 0);
    CU_ASSERT_EQUAL_FATAL(o.nheld, 1);
    CU_ASSERT_EQUAL(o.held[0].token, lease.token);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    o = pgfx_open_slot(pgfx_stranger);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 1);
    CU_ASSERT_NOT_EQUAL(o.taken[0].token, lease.token);
}

static void a_settle_that_waited_for_a_takeover_changes_nothing(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 2);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "UPDATE prescient.slot_lease SET token = token + 1000"));
    struct store_settle settle = pgfx_settle_of(&run.lease, run.s, 2);
    store_begin(pgfx.st, &settle.call);
    for (int i = 0; i < 3; i++)
        store_step(pgfx.st);                         /* it is on its way, and waits behind the lock */
    while (strcmp(pgfx_cell(pgfx.app, "SELECT count(*) FROM pg_locks WHERE NOT granted"), "0") == 0)
        store_step(pgfx.st);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    while (!store_step(pgfx.st))
        ;
    CU_ASSERT_EQUAL(settle.call.rc, ERR_FENCED);
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job_history");
    check_rows_free(&run.page);
}

static void a_call_past_its_deadline_loses_its_connection(void)
{
    WITH_SERVER();
    struct store *patient = pgfx.st;
    pgfx.st = pgfx_new_store(
        &(struct store_options){ .statement_timeout_ms = 150, .lock_timeout_ms = 60000 });
    struct store_hello hello = STORE_HELLO_INIT;
    RC_IS(0, pgfx_call(&hello.call));
    int fd = store_fd(pgfx.st);
    CU_ASSERT(fd >= 0);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "LOCK prescient.slot_pass"));
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(ERR_LOST, pgfx_call(&o.call));
    CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, "connection is closed"));
    CU_ASSERT_EQUAL(store_fd(pgfx.st), -1);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    RC_IS(0, pgfx_call(&hello.call));
    store_free(pgfx.st);
    pgfx.st = patient;
}

#define WAITING                                                                                              \
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = "       \
    "'prescient' AND wait_event_type = 'Lock'"

static bool comes_to(const char *expected, const char *sql)
{
    for (int tries = 0; tries < 1000; tries++) {
        if (strcmp(pgfx_cell(pgfx.app, "%s", sql), expected) == 0)
            return true;
        poll(NULL, 0, 10);
    }
    return false;
}

static void a_look_past_its_time_is_ended_by_the_server_first(void)
{
    WITH_SERVER();
    struct store *patient = pgfx.st;
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    pgfx.st = pgfx_new_store(&(struct store_options){ .statement_timeout_ms = 2000 });
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "LOCK prescient.future_job"));
    struct store_report r = pgfx_report(a, "list", 0, NULL);
    CU_ASSERT_EQUAL(r.call.rc, ERR_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.call.err.text, "statement timeout"));
    SQL_IS("0", WAITING);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    store_free(pgfx.st);
    pgfx.st = patient;
}

/* An engine whose database cannot be read tries again and again, and a command three times. */
static void a_connection_that_is_not_answered_leaves_no_session_behind(void)
{
    WITH_SERVER();
    struct store *st = pgfx_new_store(&(struct store_options){ .statement_timeout_ms = 2000 });
    struct store_hello hello = STORE_HELLO_INIT;
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "LOCK prescient.setting"));
    CU_ASSERT_EQUAL(store_do(st, &hello.call), ERR_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(hello.call.err.text, "statement timeout"));
    SQL_IS("0", WAITING);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    CU_ASSERT_EQUAL(store_do(st, &hello.call), 0);
    store_free(st);
}

/* Whoever holds a lease has no use for an answer that comes when that is over, whatever the
 * settings allow a statement. */
static void a_call_waits_no_longer_than_its_caller_has_use_of_it(void)
{
    WITH_SERVER();
    struct store *patient = pgfx.st;
    pgfx.st = pgfx_new_store(
        &(struct store_options){ .statement_timeout_ms = 60000, .lock_timeout_ms = 60000 });
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "LOCK prescient.slot_pass"));
    for (int connected = 0; connected < 2; connected++) {
        struct store_hello hello = STORE_HELLO_INIT;
        struct store_open_slot o = pgfx_open_slot(pgfx_owner);
        if (connected)
            RC_IS(0, pgfx_call(&hello.call));
        o.call.within_ms = 150;
        int64_t began_us = clock_mono_us(&clock_system);
        RC_IS(ERR_LOST, pgfx_call(&o.call));
        CU_ASSERT_EQUAL(o.call.err.reason, ERR_REASON_TIMEOUT);
        CU_ASSERT(clock_mono_us(&clock_system) - began_us < 10 * 1000000);
        CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, "within its time (150 ms)"));
    }
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    store_free(pgfx.st);
    pgfx.st = patient;
}

/* Interrupted, killed, its machine gone: the question ends soon after whoever asked, and not after
 * its time. */
static void a_look_ends_with_whoever_asked(void)
{
    WITH_SERVER();
    if (PQserverVersion(pgfx.app) < 140000)
        return;
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    struct store *asker = pgfx_new_store(&(struct store_options){ .statement_timeout_ms = 600000 });
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "LOCK prescient.future_job"));
    struct store_report r = STORE_REPORT_INIT;
    r.name = "status";
    r.arena = a;
    store_begin(asker, &r.call);
    for (int tries = 0; tries < 1000 && strcmp(pgfx_cell(pgfx.app, WAITING), "1") != 0; tries++) {
        CU_ASSERT_FALSE_FATAL(store_step(asker));
        poll(NULL, 0, 10);
    }
    SQL_IS("1", WAITING);
    store_free(asker);
    CU_ASSERT(comes_to("0", WAITING));
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
}

static const char *connected_with(const PQconninfoOption *options, const char *keyword)
{
    for (const PQconninfoOption *o = options; o->keyword; o++)
        if (strcmp(o->keyword, keyword) == 0)
            return o->val ? o->val : "";
    return "";
}

/* As the server does on its side, and as the user has said where he has. */
static void our_side_of_a_line_gives_it_up_in_the_time_of_a_lease(void)
{
    WITH_SERVER();
    static const struct { int silence_ms; const char *idle, *interval, *user; } lines[] = {
        { 0, "10", "5", "22500" }, { 2000, "1", "1", "1500" }, { 12000, "4", "2", "9000" },
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct store *st = pgfx_new_store(&(struct store_options){ .silence_ms = lines[i].silence_ms });
        struct store_hello hello = STORE_HELLO_INIT;
        RC_IS(0, store_do(st, &hello.call));
        PQconninfoOption *options = PQconninfo(pg_store(st)->conn);
        CU_ASSERT_STRING_EQUAL(connected_with(options, "keepalives_idle"), lines[i].idle);
        CU_ASSERT_STRING_EQUAL(connected_with(options, "keepalives_interval"), lines[i].interval);
        CU_ASSERT_STRING_EQUAL(connected_with(options, "keepalives_count"), "3");
        CU_ASSERT_STRING_EQUAL(connected_with(options, "tcp_user_timeout"), lines[i].user);
        PQconninfoFree(options);
        store_free(st);
    }
}

static void a_session_ended_by_the_server_is_opened_anew(void)
{
    WITH_SERVER();
    struct store_hello hello = STORE_HELLO_INIT;
    RC_IS(0, pgfx_call(&hello.call));
    CELL_IS(pgfx.app, "t",
            "SELECT bool_and(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = "
            "current_database() AND application_name = 'prescient'");
    struct pollfd end = { .fd = store_fd(pgfx.st), .events = POLLRDHUP };
    CU_ASSERT_EQUAL_FATAL(poll(&end, 1, 10000), 1);
    RC_IS(0, pgfx_call(&hello.call));
    CU_ASSERT(strncmp(hello.server, "PostgreSQL ", 11) == 0);
    CU_ASSERT_EQUAL(hello.slot_length_s, LENGTH);
    CU_ASSERT(!hello.read_only);
}

/* ---- settle ---------------------------------------------------------------------------------- */

static void a_check_asked_for_again_while_it_ran_starts_anew(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 2);
    SQL_IS("(kept,\"2026-03-01 15:15:00+00\")",
           "SELECT prescient.file_check('e', '1', 'look', to_timestamp(%" PRId64
           "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))",
           SLOT + 7200, NOW);
    char id[32];
    snprintf(id, sizeof id, "%s",
             pgfx_cell(pgfx.app, "SELECT id FROM prescient.future_job WHERE entity_key = '1'"));
    CU_ASSERT_EQUAL(pgfx_run_settle(&run).touched, 2);
    SQL_IS("2",
           "SELECT count(*) FROM prescient.future_job_history WHERE outcome = 'done' AND first_check_at = "
           "to_timestamp(%" PRId64 ")",
           SLOT);
    SQL_IS("t",
           "SELECT id <> %s AND first_check_at = to_timestamp(%" PRId64
           ") AND next_check_at = first_check_at AND again_at IS NULL"
           " FROM prescient.future_job",
           id, SLOT + 7200);
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job");
    check_rows_free(&run.page);
}

static void a_move_never_lands_in_a_slot_that_has_begun(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 1);
    run.s[0] = pgfx_again(&run.page.checks[0], SLOT);
    CU_ASSERT_EQUAL(pgfx_run_settle(&run).touched, 1);
    char next[32];
    snprintf(next, sizeof next, "%" PRId64, SLOT + LENGTH);
    SQL_IS(next, "SELECT extract(epoch FROM next_check_at)::bigint FROM prescient.future_job");
    check_rows_free(&run.page);
}

static void what_was_replaced_meanwhile_keeps_its_new_state(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 2);
    SQL_IS("moved", "SELECT prescient.reschedule('e', '1', 'look', '2030-01-01 00:00+00')");
    struct store_settle settle = pgfx_run_settle(&run);
    CU_ASSERT_EQUAL(settle.touched, 1);
    CU_ASSERT_EQUAL(pgfx_answer_of(&run, "1")->state, SETTLE_UNTOUCHED);
    CU_ASSERT_EQUAL(pgfx_answer_of(&run, "2")->state, SETTLE_TOUCHED);
    SQL_IS("2030-01-01", "SELECT next_check_at::date FROM prescient.future_job");
    check_rows_free(&run.page);
}

static void effects_follow_what_was_touched_and_nothing_else(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 3);
    SQL_IS("moved", "SELECT prescient.reschedule('e', '3', 'look', '2030-01-01 00:00+00')");
    struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "seen", .json = "{\"n\": 1}" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "f",
          .entity_key = "9",
          .job = "next",
          .at = NOW + 10,
          .conflict = "keep",
          .json = "[1]" },
        { .kind = EFFECT_RESOLVE, .entity_name = "e", .entity_key = "2" },
    };
    struct settlement *first = pgfx_answer_of(&run, "1"), *second = pgfx_answer_of(&run, "2"),
                      *third = pgfx_answer_of(&run, "3");
    first->effects = effects;
    first->neffects = 2;
    *second = pgfx_again(second->check, SLOT + 9000);        /* its own resolve beats it */
    second->effects = &effects[2];
    second->neffects = 1;
    third->effects = effects;
    third->neffects = 1;
    struct store_settle settle = pgfx_run_settle(&run);
    RC_IS(0, settle.call.rc);
    CU_ASSERT_EQUAL(settle.touched, 2);
    SQL_IS("1", "SELECT count(*) FROM prescient.event WHERE event = 'seen' AND entity_key = '1' AND job_exec "
                "= 'look' AND data->>'n' = '1'");
    SQL_IS("1", "SELECT count(*) FROM prescient.event");
    SQL_IS("t",
           "SELECT next_check_at = to_timestamp(%" PRId64
           ") AND payload::text = '[1]' FROM prescient.future_job WHERE entity_name = 'f'",
           SLOT + LENGTH);
    SQL_IS("resolved", "SELECT outcome FROM prescient.future_job_history WHERE entity_key = '2'");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job WHERE entity_name = 'e' AND entity_key = '2'");
    check_rows_free(&run.page);
}

static void an_effect_that_is_refused_takes_its_page_back(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 2);
    struct effect bad = { .kind = EFFECT_EMIT, .event = "seen", .json = "no json" };
    run.s[0].effects = &bad;
    run.s[0].neffects = 1;
    struct store_settle settle = pgfx_run_settle(&run);
    RC_IS(ERR_DATA, settle.call.rc);
    CU_ASSERT_STRING_EQUAL(settle.call.err.sqlstate, "22P02");
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job_history");
    check_rows_free(&run.page);
}

static void a_split_slot_is_settled_bucket_by_bucket(void)
{
    WITH_SERVER();
    pgfx_put_checks(40);
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    o.split_at = 10;
    o.want = 64;
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.rows, 11);
    CU_ASSERT_EQUAL(o.split, 64);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 64);
    int total = 0, finished = 0;
    for (int i = 0; i < o.ntaken; i++) {
        struct check_rows page = pgfx_read_page(&o.taken[i], 100);
        struct settlement s[40];
        for (int j = 0; j < page.n; j++) {
            s[j] = j % 2 ? pgfx_again(&page.checks[j], SLOT + LENGTH) : pgfx_done(&page.checks[j]);
            s[j].note = "said so";
        }
        struct store_settle settle = pgfx_settle_of(&o.taken[i], s, page.n);
        if (page.n > 0)
            RC_IS(0, pgfx_call(&settle.call));
        total += settle.touched;
        check_rows_free(&page);
        struct store_finish f = STORE_FINISH_INIT;
        f.lease = o.taken[i];
        RC_IS(0, pgfx_call(&f.call));
        finished += f.finished;
    }
    CU_ASSERT_EQUAL(total, 40);
    CU_ASSERT_EQUAL(finished, 64);
    SQL_IS("40", "SELECT (SELECT count(*) FROM prescient.future_job_history WHERE note = 'said so') + "
                 "(SELECT count(*) FROM prescient.future_job_run WHERE note = 'said so')");
    struct relook_slot slots[8];
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
}

static int by_id(const void *a, const void *b)
{
    const struct settlement *x = a, *y = b;
    return (x->check->id > y->check->id) - (x->check->id < y->check->id);
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

/* Reads on from `after` and settles what it finds, one row of it held by another session; 0 at the
 * end. */
static int settle_three(const struct lease *lease, struct page_cursor *after, bool hold)
{
    struct store_read_page r = STORE_READ_PAGE_INIT;
    struct settlement s[3];
    r.lease = *lease;
    r.after = *after;
    r.want = 3;
    r.max_bytes = 1 << 20;
    RC_IS(0, pgfx_call(&r.call));
    for (int i = 0; i < r.page.n; i++)
        s[i] = pgfx_done(&r.page.checks[i]);
    if (r.page.n) {
        const struct check *last = &r.page.checks[r.page.n - 1];
        *after = (struct page_cursor){ .bucket = last->bucket, .priority = last->priority, .id = last->id };
        qsort(s, (size_t)r.page.n, sizeof *s, by_id);
        PQclear(pgfx_ask(pgfx.other, "BEGIN"));
        if (hold)
            PQclear(pgfx_ask(pgfx.other, "SELECT FROM prescient.future_job WHERE id = %" PRId64 " FOR UPDATE",
                             s[0].check->id));
        struct store_settle settle = pgfx_settle_of(lease, s, r.page.n);
        settle.skip_locked = hold;
        RC_IS(0, pgfx_call(&settle.call));
        CU_ASSERT_EQUAL(settle.touched, r.page.n - hold);
        PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
        RC_IS(0, pgfx_call(&settle.call));
        CU_ASSERT_EQUAL(settle.touched, hold);
    }
    int n = r.page.n;
    check_rows_free(&r.page);
    return n;
}

static void pages_of_several_priorities_are_settled_in_a_slot_of_either_kind(void)
{
    for (int kind = 0; kind < 4; kind++) {
        WITH_SERVER();
        pgfx_put_checks(300);
        PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.future_job SET priority = id %% 7 - 3"));
        struct store_open_slot o = pgfx_open_slot(pgfx_owner);
        o.split_at = kind & 1 ? 10 : 1000;
        o.want = 64;
        RC_IS(0, pgfx_call(&o.call));
        CU_ASSERT_EQUAL_FATAL(o.ntaken, kind & 1 ? 64 : 1);
        for (int i = 0; i < o.ntaken; i++) {
            struct page_cursor after = PAGE_START;
            while (settle_three(&o.taken[i], &after, kind & 2))
                continue;
        }
        SQL_IS("300", "SELECT count(DISTINCT entity_key) FROM prescient.future_job_history");
        SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    }
}

static void heavy_payloads_make_small_pages_and_none_is_lost(void)
{
    WITH_SERVER();
    pgfx_put_checks(20);
    PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.future_job SET payload = to_json(repeat('x', CASE WHEN "
                               "entity_key IN ('5', '6', '7') THEN 3000 ELSE 10 END))"));
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    struct page_cursor after = PAGE_START;
    int pages = 0, rows = 0, heavy = 0;
    for (struct check_rows page;; check_rows_free(&page), pages++) {
        struct store_read_page r = STORE_READ_PAGE_INIT;
        r.lease = o.taken[0];
        r.after = after;
        r.want = 10;
        r.max_bytes = 2000;
        RC_IS(0, pgfx_call(&r.call));
        page = r.page;
        if (page.n == 0)
            break;
        for (int i = 0; i < page.n; i++, rows++) {
            CU_ASSERT_PTR_NOT_NULL_FATAL(page.checks[i].payload);
            CU_ASSERT_EQUAL(strlen(page.checks[i].payload), page.checks[i].payload_len);
            heavy += page.checks[i].payload_len > 3000;
        }
        CU_ASSERT(page.n == 1 || page.checks[0].payload_len < 3000);
        const struct check *last = &page.checks[page.n - 1];
        after = (struct page_cursor){ .bucket = last->bucket, .priority = last->priority, .id = last->id };
    }
    CU_ASSERT_EQUAL(rows, 20);
    CU_ASSERT_EQUAL(heavy, 3);
    CU_ASSERT(pages >= 4);
}

static const struct test tests[] = {
    TEST(a_page_runs_from_open_to_finish),
    TEST(a_pulse_counts_the_transactions_that_open_slots_wait_for),
    TEST(pages_of_several_priorities_are_settled_in_a_slot_of_either_kind),
    TEST(a_check_committed_late_is_found_by_the_second_look),
    TEST(a_check_committed_late_into_a_slot_that_nobody_opened_is_swept),
    TEST(a_transaction_that_has_an_id_but_ended_none_yet_keeps_the_slot_open),
    TEST(a_slot_whose_reads_were_complete_is_closed_at_once),
    TEST(a_read_beside_an_older_transaction_is_not_complete),
    TEST(after_a_failover_a_slot_is_looked_at_again),
    TEST(a_read_on_another_server_than_the_lease_is_not_complete),
    TEST(a_slot_read_before_its_tables_were_filled_anew_is_looked_at_again),
    TEST(a_slot_closed_unseen_and_opened_again_is_looked_at),
    TEST(buckets_that_are_left_out_are_not_taken),
    TEST(the_careful_functions_say_of_a_whole_table_what_the_plain_statements_do),
    TEST(a_read_that_does_not_know_its_transaction_is_not_complete),
    TEST(a_consumer_of_events_waits_for_the_oldest_transaction),
    TEST(a_settle_gives_up_on_a_locked_row_and_leaves_it_out_when_told),
    TEST(a_lease_that_another_is_just_taking_is_not_waited_for_long),
    TEST(an_opening_row_that_is_not_committed_is_a_lock_and_not_a_slot_that_has_not_begun),
    TEST(leases_that_are_ripe_and_not_wanted_yet_are_told),
    TEST(a_settle_under_way_holds_a_takeover_up),
    TEST(a_settle_that_waited_for_a_takeover_changes_nothing),
    TEST(a_call_past_its_deadline_loses_its_connection),
    TEST(a_look_past_its_time_is_ended_by_the_server_first),
    TEST(a_connection_that_is_not_answered_leaves_no_session_behind),
    TEST(a_look_ends_with_whoever_asked),
    TEST(a_call_waits_no_longer_than_its_caller_has_use_of_it),
    TEST(our_side_of_a_line_gives_it_up_in_the_time_of_a_lease),
    TEST(a_session_ended_by_the_server_is_opened_anew),
    TEST(a_check_asked_for_again_while_it_ran_starts_anew),
    TEST(a_move_never_lands_in_a_slot_that_has_begun),
    TEST(what_was_replaced_meanwhile_keeps_its_new_state),
    TEST(effects_follow_what_was_touched_and_nothing_else),
    TEST(an_effect_that_is_refused_takes_its_page_back),
    TEST(a_split_slot_is_settled_bucket_by_bucket),
    TEST(heavy_payloads_make_small_pages_and_none_is_lost),
    { NULL, NULL },
};

const struct suite suite_store_pg = { "store_pg", pgfx_setup, pgfx_teardown, tests };
