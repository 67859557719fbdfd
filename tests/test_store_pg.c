/* test_store_pg.c - the protocol as only PostgreSQL can break it: locks, deadlines, connections. */
/* about 8 s */
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

/* Several columns of a page hold more than one value each. */
static void the_least_and_the_greatest_numbers_are_read_as_they_are(void)
{
    static const int32_t priorities[] = { INT32_MIN, -1, INT32_MAX };
    for (int split = 0; split < 2; split++) {
        WITH_SERVER();
        pgfx_put_checks(3);
        SQL_IS("", "UPDATE prescient.future_job SET check_count = 2147483647, "
                   "priority = (ARRAY[-2147483648, -1, 2147483647])[entity_key::integer], "
                   "failure_count = 2147483647 - entity_key::integer");
        struct store_open_slot o = pgfx_open_slot(pgfx_owner);
        o.split_at = split ? 1 : o.split_at;
        o.want = BUCKETS;
        RC_IS(0, pgfx_call(&o.call));
        CU_ASSERT_EQUAL(o.split, split ? BUCKETS : 1);
        int n = 0;
        for (int i = 0; i < o.ntaken; i++) {
            struct check_rows page = pgfx_read_page(&o.taken[i], 10);
            for (int j = 0; j < page.n; j++, n++) {
                const struct check *c = &page.checks[j];
                CU_ASSERT_EQUAL(c->bucket, bucket_of(c->entity_name, c->entity_key));
                CU_ASSERT_EQUAL(c->priority, priorities[atoi(c->entity_key) - 1]);
                CU_ASSERT_EQUAL(c->check_count, INT32_MAX);
                CU_ASSERT_EQUAL(c->failure_count, INT32_MAX - atoi(c->entity_key));
            }
            check_rows_free(&page);
        }
        CU_ASSERT_EQUAL(n, 3);
    }
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
static void the_degraded_functions_return_of_a_whole_table_what_the_plain_statements_do(void)
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
                     "), -1, '00000000-0000-0000-0000-000000000000', 1, now() + interval '1 hour', "
                     "NULL)",
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

/* Goes on with a call until the server has it wait for a lock. */
static bool steps_until_it_waits(struct store *st)
{
    for (int tries = 0; tries < 1000; tries++) {
        if (store_step(st))
            return false;
        if (strcmp(pgfx_cell(pgfx.app, WAITING), "1") == 0)
            return true;
        poll(NULL, 0, 10);
    }
    return false;
}

/* Moves only when a test moves it. */
static int64_t held_us(void *ctx) { return *(const int64_t *)ctx; }

static void a_call_past_its_deadline_loses_its_connection(void)
{
    WITH_SERVER();
    int64_t now_us = 1;
    const struct clock held = { held_us, held_us, pgfx_slow.wall_us, &now_us };
    struct store *patient = pgfx.st;
    pgfx.st = pgfx_new_store(&(struct store_options){
        .statement_timeout_ms = 150, .lock_timeout_ms = 60000, .clock = &held });
    struct store_hello hello = STORE_HELLO_INIT;
    RC_IS(0, pgfx_call(&hello.call));
    CU_ASSERT(store_fd(pgfx.st) >= 0);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "LOCK prescient.slot_pass"));
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    store_begin(pgfx.st, &o.call);
    CU_ASSERT(steps_until_it_waits(pgfx.st));
    now_us += 150 * 1000;
    CU_ASSERT(store_step(pgfx.st));
    CU_ASSERT_EQUAL(o.call.rc, ERR_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.call.err.text, "connection is closed"));
    CU_ASSERT_EQUAL(store_fd(pgfx.st), -1);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    RC_IS(0, pgfx_call(&hello.call));
    store_free(pgfx.st);
    pgfx.st = patient;
}

/* A trigger sees the settings that a statement runs with. */
static void settings_of_a_database_do_not_reach_a_call(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app,
                     "CREATE TABLE seen (settings text);"
                     "CREATE FUNCTION note_settings() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                     " INSERT INTO public.seen VALUES (concat_ws(' ', current_setting('jit'),"
                     "  current_setting('statement_timeout'))); RETURN NEW; END $$;"
                     "CREATE TRIGGER noted BEFORE INSERT ON prescient.slot_lease"
                     " FOR EACH ROW EXECUTE FUNCTION note_settings();"
                     "ALTER DATABASE %1$s SET jit = on; ALTER DATABASE %1$s SET statement_timeout = '54s'",
                     pgfx.db.name));
    struct store *patient = pgfx.st;
    pgfx.st = pgfx_new_store(
        &(struct store_options){ .statement_timeout_ms = 60000, .lock_timeout_ms = 60000 });
    struct pgfx_run run;
    pgfx_run_init(&run, 1);
    check_rows_free(&run.page);
    SQL_IS("off 0", "SELECT DISTINCT settings FROM public.seen");
    PQclear(pgfx_ask(pgfx.app,
                     "ALTER DATABASE %1$s RESET jit; ALTER DATABASE %1$s RESET statement_timeout;"
                     "DROP TRIGGER noted ON prescient.slot_lease; DROP FUNCTION note_settings;"
                     "DROP TABLE seen", pgfx.db.name));
    store_free(pgfx.st);
    pgfx.st = patient;
}

static void a_look_past_its_time_is_ended_by_the_server_first(void)
{
    WITH_SERVER();
    struct store *patient = pgfx.st;
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    pgfx.st = pgfx_new_store(
        &(struct store_options){ .statement_timeout_ms = 2000, .clock = &pgfx_slow });
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
    struct store *st = pgfx_new_store(
        &(struct store_options){ .statement_timeout_ms = 2000, .clock = &pgfx_slow });
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
    int64_t now_us = 1;
    const struct clock held = { held_us, held_us, pgfx_slow.wall_us, &now_us };
    struct store *patient = pgfx.st;
    pgfx.st = pgfx_new_store(&(struct store_options){
        .statement_timeout_ms = 60000, .lock_timeout_ms = 60000, .clock = &held });
    for (int connected = 0; connected < 2; connected++) {
        struct store_hello hello = STORE_HELLO_INIT;
        struct store_open_slot o = pgfx_open_slot(pgfx_owner);
        if (connected)
            RC_IS(0, pgfx_call(&hello.call));
        PQclear(pgfx_ask(pgfx.other, "BEGIN"));
        PQclear(pgfx_ask(pgfx.other, "LOCK prescient.slot_pass"));
        o.call.within_ms = 150;
        store_begin(pgfx.st, &o.call);
        CU_ASSERT(steps_until_it_waits(pgfx.st));
        now_us += 149 * 1000;
        CU_ASSERT_FALSE(store_step(pgfx.st));
        now_us += 1000;
        CU_ASSERT(store_step(pgfx.st));
        CU_ASSERT_EQUAL(o.call.rc, ERR_LOST);
        CU_ASSERT_EQUAL(o.call.err.reason, ERR_REASON_TIMEOUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(o.call.err.text, "within its time (150 ms)"));
        PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
        CU_ASSERT(comes_to("0", WAITING));          /* its session, which nobody listens to */
    }
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
    CU_ASSERT(steps_until_it_waits(asker));
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

static const struct test tests[] = {
    TEST(a_page_runs_from_open_to_finish),
    TEST(the_least_and_the_greatest_numbers_are_read_as_they_are),
    TEST(buckets_that_are_left_out_are_not_taken),
    TEST(the_degraded_functions_return_of_a_whole_table_what_the_plain_statements_do),
    TEST(a_settle_gives_up_on_a_locked_row_and_leaves_it_out_when_told),
    TEST(settings_of_a_database_do_not_reach_a_call),
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
    { NULL, NULL },
};

const struct suite suite_store_pg = { "store_pg", pgfx_setup, pgfx_teardown, tests };
