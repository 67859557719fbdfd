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

/* `n` checks from that moment on, so many microseconds apart, by a plain INSERT. */
static void insert_from(int64_t at, int n, int apart_us)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                     "first_check_at, next_check_at) "
                     "SELECT prescient.bucket_of('e', k.key), 'e', k.key, 'look', now(), "
                     "to_timestamp(%" PRId64 ") + i::bigint * %d * interval '1 us' "
                     "FROM generate_series(1, %d) i, "
                     "LATERAL (SELECT '%" PRId64 "-' || i AS key OFFSET 0) k",
                     at, apart_us, n, at));
}

static struct store_late_slot first_late_slot(int64_t from, int64_t before)
{
    struct store_late_slot l = STORE_LATE_SLOT_INIT;
    l.from = from;
    l.before = before;
    l.full = !from;
    CU_ASSERT_EQUAL(pgfx_call(&l.call), 0);
    return l;
}

/* How many calls it takes to move all of them, `most` at a time. */
static int calls_to_refile(int64_t from, int64_t before, int most, int64_t *moved)
{
    enum { LIMIT = 100 };
    int calls = 0;
    *moved = 0;
    do {
        struct store_refile r = STORE_REFILE_INIT;
        r.from = from;
        r.before = before;
        r.most = most;
        CU_ASSERT_EQUAL_FATAL(pgfx_call(&r.call), 0);
        CU_ASSERT(r.refiled <= most);
        *moved += r.refiled;
        from = r.until;
        calls++;
    } while (from && calls < LIMIT);
    return calls;
}

/* It was one statement without a bound: 150,000 plain INSERTs took longer than a call may. */
static void checks_at_times_that_are_no_slots_are_moved_a_bounded_number_a_call(void)
{
    WITH_SERVER();
    int64_t moved;
    insert_from(SLOT - LENGTH, 300, 1000);                  /* in one second */
    insert_from(SLOT - LENGTH + 10, 120, 1500000);          /* some each second; every second one is a slot */
    put_at(SLOT);
    struct store_late_slot l = first_late_slot(0, SLOT + LENGTH);
    CU_ASSERT_EQUAL(l.misfiled_at, SLOT - LENGTH);
    CU_ASSERT_EQUAL(l.slot, SLOT - LENGTH + 13);            /* beside them the first slot is found */
    CU_ASSERT_EQUAL(l.until, 0);
    int calls = calls_to_refile(l.misfiled_at, SLOT + LENGTH, 100, &moved);
    CU_ASSERT(calls >= 4 && calls <= 5);
    CU_ASSERT_EQUAL(moved, 360);
    SQL_IS("420", "SELECT count(*) FROM prescient.future_job WHERE prescient.is_slot(next_check_at) "
                   "AND entity_key LIKE '%%-%%'");
    SQL_IS("360", "SELECT count(*) FROM prescient.future_job_run WHERE outcome = 'reslotted'");
    l = first_late_slot(0, SLOT + LENGTH);
    CU_ASSERT(l.slot == SLOT - LENGTH + 13 && !l.misfiled_at);
}

/* A look passes over so many seconds and then comes back, so that it, too, has a bound. */
static void a_look_behind_many_such_times_goes_on_from_where_it_was_cut(void)
{
    enum { SECONDS = 10002 };
    WITH_SERVER();
    int64_t first = SLOT - SECONDS - 10, moved;
    insert_from(first, SECONDS, 1000001);
    struct store_late_slot l = first_late_slot(0, SLOT + LENGTH);
    CU_ASSERT(!l.slot && l.misfiled_at == first + 1);
    CU_ASSERT_EQUAL(l.until, first + 10001);
    put_at(SLOT);
    l = first_late_slot(l.until, SLOT + LENGTH);
    CU_ASSERT(l.slot == SLOT && !l.until);
    CU_ASSERT_EQUAL(calls_to_refile(first, SLOT + LENGTH, 20000, &moved), 2);
    CU_ASSERT_EQUAL(moved, SECONDS);
}

/* Each of them was a step of its own, and a look that was cut in their second began there again. */
static void many_such_times_in_a_second_do_not_hide_urgent_checks(void)
{
    WITH_SERVER();
    put_at(SLOT - 2 * LENGTH);
    insert_from(SLOT - LENGTH, 6000, 100);
    put_at(SLOT);
    SQL_IS("", "UPDATE prescient.future_job SET priority = -1 WHERE next_check_at = to_timestamp(%lld)",
           (long long)SLOT);
    struct store_late_slot l = STORE_LATE_SLOT_INIT;
    l.before = SLOT + LENGTH;
    l.urgent_from = 1;
    CU_ASSERT_EQUAL_FATAL(pgfx_call(&l.call), 0);
    CU_ASSERT_EQUAL(l.slot, SLOT - 2 * LENGTH);
    CU_ASSERT_EQUAL(l.urgent, SLOT);
    CU_ASSERT_EQUAL(l.urgent_until, 0);
}

static void rows_that_are_locked_stay_at_such_a_time_and_end_no_call(void)
{
    WITH_SERVER();
    int64_t moved;
    insert_from(SLOT, 5, 1000);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT FROM prescient.future_job WHERE entity_key LIKE '%%-3' FOR UPDATE"));
    CU_ASSERT_EQUAL(calls_to_refile(SLOT, SLOT + LENGTH, 2, &moved), 3);
    CU_ASSERT_EQUAL(moved, 4);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    CU_ASSERT_EQUAL(calls_to_refile(SLOT, SLOT + LENGTH, 2, &moved), 1);
    CU_ASSERT_EQUAL(moved, 1);
}

static void put_many_off(int n, const char *job, const char *until)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                     "first_check_at, next_check_at, put_off_at) "
                     "SELECT prescient.bucket_of('e', k.key), 'e', k.key, '%s', to_timestamp(%" PRId64 "), "
                     "'%s', to_timestamp(%" PRId64 ") FROM generate_series(1, %d) i, "
                     "LATERAL (SELECT '%s' || i AS key OFFSET 0) k",
                     job, SLOT, until, SLOT, n, job));
}

/* By an engine that has the job `mail`. */
static int calls_to_recall(int64_t *recalled)
{
    static const char *const jobs[] = { "look", "mail" };
    enum { LIMIT = 100 };
    struct store_recall r = STORE_RECALL_INIT;
    int calls = 0;
    r.jobs = jobs;
    r.njobs = 2;
    r.now = NOW;
    *recalled = 0;
    do {
        CU_ASSERT_EQUAL_FATAL(pgfx_call(&r.call), 0);
        *recalled += r.recalled;
        r.after = r.until;
    } while (++calls < LIMIT && r.until.put_off_at);
    return calls;
}

static void what_was_put_off_is_recalled_in_calls_with_a_bound(void)
{
    WITH_SERVER();
    int64_t n;
    CU_ASSERT_EQUAL(calls_to_recall(&n), 1);
    put_many_off(6000, "mail", "2026-03-02 00:00+00");
    put_many_off(6000, "nobody", "2026-03-02 00:00+00");
    put_many_off(3, "look", "9000-01-02 00:00+00");         /* paused */
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT FROM prescient.future_job WHERE entity_key = 'mail7' FOR UPDATE"));
    CU_ASSERT_EQUAL(calls_to_recall(&n), 3);
    CU_ASSERT_EQUAL(n, 5999);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    CU_ASSERT_EQUAL(calls_to_recall(&n), 3);
    CU_ASSERT_EQUAL(n, 1);
    SQL_IS("6000", "SELECT count(*) FROM prescient.future_job WHERE job_exec = 'mail' "
                   "AND put_off_at IS NOT NULL AND origin IS NULL "
                   "AND next_check_at = to_timestamp(%" PRId64 ")", SLOT + LENGTH);
}

/* A sequence was set back: two checks may have one id, in two slots. */
static void two_of_one_id_are_recalled_into_one_slot(void)
{
    WITH_SERVER();
    int64_t n;
    put_many_off(2, "mail", "2026-03-02 00:00+00");
    put_many_off(1, "look", "2026-03-01 18:00+00");
    PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.future_job SET id = 1, next_check_at = next_check_at + "
                               "CASE entity_key WHEN 'mail1' THEN interval '1 hour' ELSE '0' END"));
    SQL_IS("3", "WITH b AS (SELECT * FROM prescient.future_job), d AS (DELETE FROM prescient.future_job), "
                "i AS (INSERT INTO prescient.future_job (bucket, id, entity_name, entity_key, job_exec, "
                "first_check_at, next_check_at, put_off_at) SELECT 5, 1, 'f', entity_key, job_exec, "
                "first_check_at, next_check_at, put_off_at FROM b RETURNING 1) SELECT count(*) FROM i");
    calls_to_recall(&n);
    CU_ASSERT_EQUAL(n, 3);
    SQL_IS("3 2", "SELECT count(DISTINCT id) || ' ' || count(origin) FROM prescient.future_job "
                  "WHERE next_check_at = to_timestamp(%" PRId64 ")", SLOT + LENGTH);
}

static const struct test tests[] = {
    TEST(what_was_put_off_is_recalled_in_calls_with_a_bound),
    TEST(two_of_one_id_are_recalled_into_one_slot),
    TEST(checks_at_times_that_are_no_slots_are_moved_a_bounded_number_a_call),
    TEST(a_look_behind_many_such_times_goes_on_from_where_it_was_cut),
    TEST(many_such_times_in_a_second_do_not_hide_urgent_checks),
    TEST(rows_that_are_locked_stay_at_such_a_time_and_end_no_call),
    TEST(a_narrow_look_leaves_out_slots_that_wait_for_a_transaction),
    TEST(the_server_tells_how_long_it_was_at_a_look),
    TEST(a_look_beside_opened_slots_finds_what_lies_between_them),
    { NULL, NULL },
};

const struct suite suite_store_pg_looks = { "store_pg_looks", pgfx_setup, pgfx_teardown, tests };
