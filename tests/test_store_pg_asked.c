/* test_store_pg_asked.c - what an application asks for beside a running engine, on PostgreSQL:
 * kept rows are not run before the commit, and rows that were given one id are not mixed up. */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_fixture.h"

/* ---- kept in a transaction that is open when the slot begins --------------------------------- */

static bool is_kept(const struct check_rows *page, const char *key)
{
    for (int i = 0; i < page->n; i++)
        if (strcmp(page->checks[i].entity_key, key) == 0)
            return page->checks[i].kept;
    CU_FAIL("no such row in the page");
    return false;
}

/* At a moment before the slot: virtual time is the clock of whoever asks. */
static const char *ask(PGconn *app, const char *key, const char *conflict)
{
    return pgfx_cell(app,
                     "SELECT outcome FROM prescient.file_check('e', '%s', 'look', to_timestamp(%" PRId64
                     "), NULL, '%s', 0, to_timestamp(%" PRId64 "))",
                     key, SLOT + 7200, conflict, SLOT - 100);
}

static void a_row_kept_by_an_open_transaction_is_told_apart_until_that_is_over(void)
{
    WITH_SERVER();
    pgfx_put_checks(4);
    struct lease lease = pgfx_take();
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    CU_ASSERT_STRING_EQUAL(ask(pgfx.other, "2", "keep"), "kept");
    CU_ASSERT_STRING_EQUAL(ask(pgfx.other, "3", "earlier"), "kept");
    CU_ASSERT_STRING_EQUAL(ask(pgfx.app, "4", "keep"), "kept");       /* committed: nothing is waited for */
    CU_ASSERT_STRING_EQUAL(ask(pgfx.app, "2", "keep"), "kept");       /* two at once */
    struct check_rows page = pgfx_read_page(&lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 4);
    CU_ASSERT(!is_kept(&page, "1") && is_kept(&page, "2") && is_kept(&page, "3") && !is_kept(&page, "4"));
    check_rows_free(&page);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    page = pgfx_read_page(&lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 4);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_FALSE(page.checks[i].kept);
    check_rows_free(&page);
}

static void so_is_one_kept_in_a_savepoint_unless_that_is_rolled_back(void)
{
    WITH_SERVER();
    pgfx_put_checks(2);
    struct lease lease = pgfx_take();
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SAVEPOINT s"));
    CU_ASSERT_STRING_EQUAL(ask(pgfx.other, "1", "keep"), "kept");
    PQclear(pgfx_ask(pgfx.other, "RELEASE s"));
    PQclear(pgfx_ask(pgfx.other, "SAVEPOINT s"));
    CU_ASSERT_STRING_EQUAL(ask(pgfx.other, "2", "keep"), "kept");
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK TO s"));
    struct check_rows page = pgfx_read_page(&lease, 10);
    CU_ASSERT(is_kept(&page, "1") && !is_kept(&page, "2"));
    check_rows_free(&page);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
}

/* A read has the origin, and whether the payload was left out, in one text. */
static void an_origin_is_read_whatever_it_begins_with(void)
{
    static const char *const origins[] = { "+x", "-x", " x", "+", "x" };
    for (int i = 0; i < 5; i++) {
        WITH_SERVER();
        pgfx_put_checks(2);
        PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.future_job SET origin = '%s' WHERE entity_key = '1'",
                         origins[i]));
        struct lease lease = pgfx_take();
        struct check_rows page = pgfx_read_page(&lease, 10);
        CU_ASSERT_EQUAL(page.n, 2);
        for (int k = 0; k < page.n; k++) {
            const char *origin = page.checks[k].origin, *expected = NULL;
            if (strcmp(page.checks[k].entity_key, "1") == 0)
                expected = origins[i];
            CU_ASSERT(expected ? origin && !strcmp(origin, expected) : !origin);
        }
        check_rows_free(&page);
    }
}

static void a_split_slot_and_large_payloads_tell_it_too(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app,
                     "SELECT prescient.file_check('e', n::text, 'look', to_timestamp(%" PRId64
                     "), to_json(repeat('x', 20000)), 'keep', 0, to_timestamp(%" PRId64
                     ")) FROM generate_series(1, 3) n",
                     SLOT, SLOT - 100));
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    CU_ASSERT_STRING_EQUAL(ask(pgfx.other, "2", "keep"), "kept");
    struct store_open_slot o = STORE_OPEN_SLOT_INIT;
    o.slot = SLOT;
    o.now = NOW;
    o.split_at = 1;
    o.owner = pgfx_owner;
    o.lease_s = 60;
    o.want = BUCKETS;
    RC_IS(0, pgfx_call(&o.call));
    int found = 0, kept = 0;
    for (int i = 0; i < o.ntaken; i++) {
        struct store_read_page r = STORE_READ_PAGE_INIT;
        r.lease = o.taken[i];
        r.want = 10;
        r.max_bytes = 30000;
        RC_IS(0, pgfx_call(&r.call));
        for (int k = 0; k < r.page.n; k++) {
            found++;
            kept += r.page.checks[k].kept;
        }
        check_rows_free(&r.page);
    }
    CU_ASSERT_EQUAL(found, 3);
    CU_ASSERT_EQUAL(kept, 1);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
}

/* To wait for it would hold up whoever only asks whether there is something to do. */
static void a_keep_waits_for_nobody_who_keeps_or_asks(void)
{
    WITH_SERVER();
    pgfx_put_checks(1);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    CU_ASSERT_STRING_EQUAL(ask(pgfx.other, "1", "keep"), "kept");
    PQclear(pgfx_ask(pgfx.app, "SET lock_timeout = '100ms'"));
    CU_ASSERT_STRING_EQUAL(ask(pgfx.app, "1", "keep"), "kept");
    CELL_IS(pgfx.app, "kept",
            "SELECT outcome FROM prescient.file_check('e', '1', 'look', to_timestamp(%" PRId64
            "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))",
            /* its slot has begun by that clock: again_at is written beside the lock */
            SLOT + 7200, NOW);
    SQL_IS("55P03", "SELECT prescient.resolve_at('e', '1', NULL, NULL)");
    PQclear(pgfx_ask(pgfx.app, "RESET lock_timeout"));
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
}

/* ---- ids that are there twice ---------------------------------------------------------------- */

static void set_ids_back(void)
{
    PQclear(pgfx_ask(
        pgfx.app,
        "SELECT setval('prescient.future_job_id_seq', (SELECT min(id) FROM prescient.future_job), false)"));
}

static const char *put_at(const char *key, int64_t slot, const char *conflict)
{
    return pgfx_cell(pgfx.app,
                     "SELECT outcome FROM prescient.file_check('e', '%s', 'look', to_timestamp(%" PRId64
                     "), NULL, '%s', 0, to_timestamp(%" PRId64 "))",
                     key, slot, conflict, SLOT - 100);
}

/* Keys of one bucket: only there can an answer be taken for another's. */
static const char *const one_bucket =
    "SELECT k::text FROM generate_series(1, 2000) k WHERE prescient.bucket_of('e', k::text) = 7 ORDER BY k";

static void an_id_in_use_is_not_given_to_a_row_of_the_same_slot(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app,
                     "SELECT prescient.file_check('e', k, 'look', to_timestamp(%" PRId64
                     "), NULL, 'keep', 0, to_timestamp(%" PRId64 ")) FROM (%s LIMIT 10) b (k)",
                     SLOT, SLOT - 100, one_bucket));
    set_ids_back();
    SQL_IS("(10,0,0,0)",
           "SELECT prescient.file_checks(array_agg('e'::text), array_agg(k), array_agg('look'::text), "
           "array_agg(to_timestamp(%" PRId64 ")), NULL, 'keep', NULL, "
           "to_timestamp(%" PRId64 ")) FROM (%s OFFSET 10 LIMIT 10) b (k)",
           SLOT, SLOT - 100, one_bucket);
    SQL_IS("20", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("20", "SELECT count(DISTINCT id) FROM prescient.future_job");
    set_ids_back();
    SQL_IS(
        "replaced",
        "SELECT outcome FROM (%s LIMIT 1) b (k), prescient.file_check('e', k, 'look', to_timestamp(%" PRId64
        "), NULL, 'replace', 0, to_timestamp(%" PRId64 "))",
        one_bucket, SLOT, SLOT - 100);
    set_ids_back();
    SQL_IS("moved",
           "SELECT outcome FROM (%s LIMIT 1) b (k), prescient.reschedule_at('e', k, 'look', "
           "to_timestamp(%" PRId64 "), to_timestamp(%" PRId64 "))",
           one_bucket, SLOT, SLOT - 100);
    SQL_IS("20", "SELECT count(DISTINCT id) FROM prescient.future_job");
}

static void two_rows_of_one_slot_never_have_one_id(void)
{
    WITH_SERVER();
    pgfx_put_checks(1);
    SQL_IS("23505", "INSERT INTO prescient.future_job (id, bucket, entity_name, entity_key, job_exec, "
                    "first_check_at, next_check_at)"
                    " SELECT id, bucket, entity_name, entity_key, 'other', first_check_at, next_check_at "
                    "FROM prescient.future_job");
    SQL_IS("t", "SELECT indisunique FROM pg_index WHERE indexrelid = 'prescient.future_job_slot'::regclass");
}

/* `earlier` takes a row with its id to another slot, and so does the answer of a job. */
static void a_row_that_moves_to_where_its_id_is_gets_another_and_keeps_its_key(void)
{
    WITH_SERVER();
    CU_ASSERT_STRING_EQUAL(put_at("1", SLOT + LENGTH, "keep"), "new");
    set_ids_back();
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                               "first_check_at, next_check_at)"
                               " SELECT bucket, entity_name, entity_key, 'other', first_check_at - interval "
                               "'15 minutes', next_check_at - interval '15 minutes'"
                               " FROM prescient.future_job"));
    SQL_IS("1", "SELECT count(DISTINCT id) FROM prescient.future_job");
    CU_ASSERT_STRING_EQUAL(put_at("1", SLOT, "earlier"), "moved");
    SQL_IS("2",
           "SELECT count(DISTINCT id) FROM prescient.future_job WHERE next_check_at = to_timestamp(%" PRId64
           ")",
           SLOT);
    SQL_IS("t", "SELECT f.origin = date_part('epoch', f.first_check_at)::bigint || '/' || o.id FROM "
                "prescient.future_job f, prescient.future_job o"
                " WHERE f.job_exec = 'look' AND o.job_exec = 'other'");
}

static void an_answer_that_cannot_move_for_a_twin_is_given_again_under_the_same_key(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 1);
    char before[IDEMPOTENCY_KEY_SIZE], after[IDEMPOTENCY_KEY_SIZE];
    struct idempotency of = check_identity(&run.page.checks[0]);
    idempotency_key(&of, before);
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.future_job (id, bucket, entity_name, entity_key, "
                               "job_exec, first_check_at, next_check_at)"
                               " SELECT id, bucket, entity_name, entity_key, 'twin', first_check_at, "
                               "next_check_at + interval '15 minutes' FROM prescient.future_job"));
    run.s[0] = pgfx_again(&run.page.checks[0], SLOT + LENGTH);
    struct store_settle s = pgfx_settle_of(&run.lease, run.s, 1);
    RC_IS(0, pgfx_call(&s.call));
    CU_ASSERT_EQUAL(s.touched, 0);
    CU_ASSERT_EQUAL(run.s[0].state, SETTLE_SUPERSEDED);
    check_rows_free(&run.page);
    struct check_rows page = pgfx_read_page(&run.lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    of = check_identity(&page.checks[0]);
    idempotency_key(&of, after);
    CU_ASSERT_STRING_EQUAL(before, after);
    struct settlement again = pgfx_again(&page.checks[0], SLOT + LENGTH);
    s = pgfx_settle_of(&run.lease, &again, 1);
    RC_IS(0, pgfx_call(&s.call));
    CU_ASSERT_EQUAL(s.touched, 1);
    SQL_IS("2",
           "SELECT count(DISTINCT id) FROM prescient.future_job WHERE next_check_at = to_timestamp(%" PRId64
           ")",
           SLOT + LENGTH);
    check_rows_free(&page);
}

/* A page of a slot that is not split spans buckets, and one of several priorities those: the index
 * lets an id stand in both. */
static void the_answer_to_one_is_not_taken_for_that_of_its_twin(void)
{
    WITH_SERVER();
    for (int other_priority = 0; other_priority < 2; other_priority++) {
        pgfx_begin();
        PQclear(pgfx_ask(pgfx.app,
                         "SELECT prescient.file_check('e', k, 'look', to_timestamp(%" PRId64
                         "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))"
                         " FROM (VALUES ('1'), ('2')) v (k)",
                         SLOT, SLOT - 100));
        PQclear(pgfx_ask(pgfx.app,
                         "UPDATE prescient.future_job SET id = 7, priority = CASE WHEN entity_key = '2' THEN "
                         "%d ELSE 0 END",
                         other_priority));
        SQL_IS("2", "SELECT count(*) FROM prescient.future_job WHERE id = 7");
        struct lease lease = pgfx_take();
        struct check_rows page = pgfx_read_page(&lease, 10);
        CU_ASSERT_EQUAL_FATAL(page.n, 2);
        const struct check *second = &page.checks[strcmp(page.checks[1].entity_key, "2") == 0];
        struct settlement s = pgfx_done(second);
        struct store_settle req = pgfx_settle_of(&lease, &s, 1);
        RC_IS(0, pgfx_call(&req.call));
        CU_ASSERT_EQUAL(req.touched, 1);
        SQL_IS("1", "SELECT entity_key FROM prescient.future_job");
        SQL_IS("2", "SELECT entity_key FROM prescient.future_job_history");
        check_rows_free(&page);
    }
}

/* Three rows side by side, by bucket or by priority, of which the second has the id of the third
 * and is not answered. */
static void put_a_twin_between_two(bool by_priority)
{
    const char *keys = by_priority ? one_bucket
                                   : "SELECT min(k)::text FROM generate_series(1, 300) k"
                                     " GROUP BY prescient.bucket_of('e', k::text) ORDER BY 1";
    pgfx_begin();
    PQclear(pgfx_ask(pgfx.app,
                     "SELECT prescient.file_check('e', k, 'look', to_timestamp(%" PRId64 "), NULL, 'keep', 0,"
                     " to_timestamp(%" PRId64 ")) FROM (%s LIMIT 3) b (k)",
                     SLOT, SLOT - 100, keys));
    PQclear(pgfx_ask(
        pgfx.app,
        "UPDATE prescient.future_job f SET id = CASE n WHEN 1 THEN 3 ELSE 7 END, priority = CASE WHEN %s "
        "THEN n ELSE 0 END"
        " FROM (SELECT ctid, row_number() OVER (ORDER BY bucket, id) AS n FROM prescient.future_job) r"
        " WHERE r.ctid = f.ctid",
        by_priority ? "true" : "false"));
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job WHERE id = 7");
}

/* What spans both of them is found by the range that the answered ones make, in which the other
 * lies. */
static void an_answer_on_either_side_of_a_twin_leaves_it_alone(void)
{
    WITH_SERVER();
    for (int by_priority = 0; by_priority < 2; by_priority++) {
        put_a_twin_between_two(by_priority);
        struct lease lease = pgfx_take();
        struct check_rows page = pgfx_read_page(&lease, 10);
        CU_ASSERT_EQUAL_FATAL(page.n, 3);
        struct settlement s[] = { pgfx_done(&page.checks[0]), pgfx_done(&page.checks[2]) };
        struct store_settle req = pgfx_settle_of(&lease, s, 2);
        RC_IS(0, pgfx_call(&req.call));
        CU_ASSERT_EQUAL(req.touched, 2);
        SQL_IS(page.checks[1].entity_key, "SELECT string_agg(entity_key, ' ') FROM prescient.future_job");
        SQL_IS("2", "SELECT count(*) FROM prescient.future_job_history");
        check_rows_free(&page);
    }
}

/* ---- many at once ---------------------------------------------------------------------------- */

static void a_load_refuses_what_the_single_call_refuses(void)
{
    WITH_SERVER();
    static const struct { const char *call, *message, *row;
    } bad[] = {
        { "ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now(), NULL]", "check_at is NULL",
          "row 2" },
        { "ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now(), '1960-01-01']", "check_at is 1960",
          "row 2" },
        { "ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY['-infinity', now()]",
          "check_at is -infinity", "row 1" },
        { "ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now(), 'infinity']",
          "check_at is infinity", "row 2" },
        { "ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now()]", "check_ats has 1 elements", "" },
        { "ARRAY['e', 'e'], ARRAY['1'], ARRAY['j', 'j'], ARRAY[now(), now()]",
          "keys has 1 elements and entities has 2", "" },
        { "ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now(), now()], ARRAY['{}']::json[]",
          "payloads has 1 elements", "" },
        { "ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now(), now()], ARRAY['{}', "
          "'\"\\u0000\"']::json[]",
          "JSON that jobs cannot read", "row 2" },
        { "ARRAY['e', NULL], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now(), now()]", "entity is NULL",
          "row 2" },
        { "ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now(), now()], NULL, 'sooner'",
          "'sooner', expected keep, earlier or replace", "" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.enqueue_each(%s)", bad[i].call);
        const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
        const char *row = PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL);
        if (!message)
            message = "no error";
        if (!row)
            row = "";
        bool as_expected = strstr(message, bad[i].message) && strcmp(row, bad[i].row) == 0;
        if (!as_expected)
            printf("      %s: '%s' (%s)\n", bad[i].call, message, row);
        CU_ASSERT(as_expected);
        PQclear(r);
    }
    SQL_IS("22008", "SELECT prescient.enqueue_many('e', ARRAY['1', '2'], 'j', NULL::timestamptz)");
    SQL_IS("(0,0,0,0)", "SELECT prescient.enqueue_many('e', NULL::text[], 'j', now())");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
}

static void a_load_takes_new_and_old_ones_and_those_that_stand_twice(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('e', '2', 'j', interval '5 hours')");
    SQL_IS("(2,0,2,0)",
           "SELECT prescient.enqueue_each(ARRAY['e', 'e', 'e', 'e'], ARRAY['3', '2', '1', '3'], ARRAY['j', "
           "'j', 'j', 'j'],"
           " ARRAY[now() + interval '2 hours', now(), now(), now() + interval '1 hour'], NULL, 'earlier')");
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("t", "SELECT next_check_at < now() + interval '76 minutes' FROM prescient.future_job WHERE "
                "entity_key = '3'");
}

/* From 64 on in a transaction every snapshot of the whole server is slow. */
static void a_load_takes_no_subtransaction(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, "BEGIN"));
    char first[64];
    snprintf(first, sizeof first, "%s", pgfx_cell(pgfx.app, "SELECT pg_current_xact_id()"));
    for (int i = 0; i < 3; i++) {
        SQL_IS("(2,0,0,0)", "SELECT prescient.enqueue_many('e', ARRAY['%d', '%da'], 'j', now())", i, i);
        SQL_IS("(1,1,0,0)", "SELECT prescient.enqueue_many('e', ARRAY['%d', '%db'], 'j', now())", i, i);
    }
    CELL_IS(pgfx.other, "1", "SELECT pg_current_xact_id()::text::bigint - %s", first);
    PQclear(pgfx_ask(pgfx.app, "COMMIT"));
}

/* ---- the slot length ------------------------------------------------------------------------- */

static void an_enqueue_that_waited_for_a_new_slot_length_is_filed_by_it(void)
{
    WITH_SERVER();
    static const char *const ways[] = {
        "SELECT prescient.enqueue('e', 'w', 'j', '2030-01-01 00:15+00'::timestamptz)",
        "SELECT (prescient.enqueue_many('e', ARRAY['w'], 'j', '2030-01-01 00:15+00'::timestamptz)).added",
        "SELECT prescient.enqueue('e', 'there', 'j', '2029-01-01 00:15+00'::timestamptz, NULL, 'earlier')",
        "SELECT prescient.reschedule('e', 'there', 'j', '2030-01-01 00:15+00'::timestamptz)",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        PQclear(pgfx_ask(pgfx.app, "TRUNCATE prescient.future_job; SELECT prescient.enqueue('e', 'there', "
                                   "'j', '2031-01-01 00:00+00'::timestamptz)"));
        /* its plans are made by the old length */
        PQclear(pgfx_ask(pgfx.other,
                         "SELECT prescient.enqueue('e', 'x', 'j', '2031-01-01 00:15+00'::timestamptz)"));
        PQclear(pgfx_ask(pgfx.app, "BEGIN; SELECT prescient.set_slot_length(3600)"));
        CU_ASSERT_EQUAL_FATAL(PQsendQuery(pgfx.other, ways[i]), 1);
        while (strcmp(pgfx_cell(pgfx.app, "SELECT count(*) FROM pg_locks WHERE pid = %d AND NOT granted",
                                PQbackendPID(pgfx.other)),
                      "1") != 0)
            CU_ASSERT_FATAL(PQisBusy(pgfx.other));              /* it waits for the table */
        PQclear(pgfx_ask(pgfx.app, "COMMIT"));
        PGresult *r = PQgetResult(pgfx.other);
        CU_ASSERT_EQUAL(PQresultStatus(r), PGRES_TUPLES_OK);
        PQclear(r);
        PQclear(PQgetResult(pgfx.other));
        SQL_IS("0", "SELECT count(*) FROM prescient.future_job WHERE next_check_at <> "
                    "prescient.slot_ceil(next_check_at) OR date_part('minute', next_check_at) <> 0");
        PQclear(pgfx_ask(pgfx.app, "SELECT prescient.set_slot_length(900)"));
    }
}

/* Ids that were given out twice stand in two slots, which become one. */
static void a_new_slot_length_parts_twins_that_come_together(void)
{
    WITH_SERVER();
    PQclear(
        pgfx_ask(pgfx.app,
                 "INSERT INTO prescient.future_job (id, bucket, entity_name, entity_key, job_exec, "
                 "first_check_at, next_check_at)"
                 " SELECT 77, prescient.bucket_of('e', b.k), 'e', b.k, 'j', t.at, t.at"
                 " FROM (SELECT k, row_number() OVER (ORDER BY k) FROM (%s LIMIT 3) s (k)) b (k, n),"
                 " LATERAL (SELECT '2099-01-01 00:00+00'::timestamptz + b.n * interval '15 minutes') t (at)",
                 one_bucket));
    set_ids_back();
    SQL_IS("3", "SELECT prescient.set_slot_length(3600)");
    SQL_IS("3 3 1", "SELECT concat_ws(' ', count(*), count(DISTINCT id), count(DISTINCT next_check_at)) FROM "
                    "prescient.future_job");
    SQL_IS("4070909700/77 4070910600/77 4070911500/77",
           "SELECT string_agg(prescient.origin_of(origin, first_check_at, 77), ' ' ORDER BY entity_key) FROM "
           "prescient.future_job");
    SQL_IS("0", "SELECT prescient.set_slot_length(900)");
}

/* When only multiples of the slot length were slots, such a time was none: no answer of the whole
 * page could be written, and all of it was tried again for ever. Now it is a fine slot. */
static void a_time_asked_for_under_another_slot_length_holds_no_answer_up(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 3);
    SQL_IS("", "UPDATE prescient.future_job SET again_at = to_timestamp(%" PRId64 ") WHERE entity_key = '1'",
           SLOT + LENGTH + 300);
    SQL_IS("", "UPDATE prescient.future_job SET again_at = to_timestamp(%" PRId64 ") WHERE entity_key = '2'",
           SLOT + 20 * LENGTH + 300);
    for (int i = 0; i < 3; i++)
        run.s[i] = pgfx_again(&run.page.checks[i], SLOT + 9 * LENGTH);
    struct store_settle s = pgfx_run_settle(&run);
    RC_IS(0, s.call.rc);
    CU_ASSERT_EQUAL(s.touched, 3);
    SQL_IS("1.33 9.00 9.00",
           "SELECT string_agg(round((date_part('epoch', next_check_at)::numeric - %" PRId64
           ") / %d, 2)::text, ' ' ORDER BY entity_key) FROM prescient.future_job",
           SLOT, LENGTH);
    SQL_IS("2", "SELECT string_agg(entity_key, ' ') FROM prescient.future_job WHERE again_at IS NOT NULL");
    check_rows_free(&run.page);
}

static const struct test tests[] = {
    TEST(a_row_kept_by_an_open_transaction_is_told_apart_until_that_is_over),
    TEST(so_is_one_kept_in_a_savepoint_unless_that_is_rolled_back),
    TEST(an_origin_is_read_whatever_it_begins_with),
    TEST(a_split_slot_and_large_payloads_tell_it_too),
    TEST(a_keep_waits_for_nobody_who_keeps_or_asks),
    TEST(an_id_in_use_is_not_given_to_a_row_of_the_same_slot),
    TEST(two_rows_of_one_slot_never_have_one_id),
    TEST(a_row_that_moves_to_where_its_id_is_gets_another_and_keeps_its_key),
    TEST(an_answer_that_cannot_move_for_a_twin_is_given_again_under_the_same_key),
    TEST(the_answer_to_one_is_not_taken_for_that_of_its_twin),
    TEST(an_answer_on_either_side_of_a_twin_leaves_it_alone),
    TEST(a_load_refuses_what_the_single_call_refuses),
    TEST(a_load_takes_new_and_old_ones_and_those_that_stand_twice),
    TEST(a_load_takes_no_subtransaction),
    TEST(an_enqueue_that_waited_for_a_new_slot_length_is_filed_by_it),
    TEST(a_new_slot_length_parts_twins_that_come_together),
    TEST(a_time_asked_for_under_another_slot_length_holds_no_answer_up),
    { NULL, NULL },
};

const struct suite suite_store_pg_asked = { "store_pg_asked", pgfx_setup, pgfx_teardown, tests };
