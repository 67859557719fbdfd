/* test_store_pg_settle.c - what a settle changes on PostgreSQL: rows, history and effects, by page
 * and by bucket. */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/base/settings.h"
#include "../engine/rules/idempotency.h"
#include "pg_fixture.h"

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

/* SQL starts plain checks anew, the engine those of schedules: after a restore either may write
 * what the other had written. */
static void the_origin_of_a_new_life_is_the_one_that_the_engine_computes(void)
{
    WITH_SERVER();
    static const char *const origins[] = {
        "b75ae83bea9f4ecb9112b7451a129de4", "b75ae83bea9f4ecb9112b745ffffffff",
        "00000000000000000000000000000000", "b75ae83bea9f4ecb9112b7451a129de4a",
        "B75AE83BEA9F4ECB9112B7451A129DE4", "b75ae83bea9f4ecb9112b7451a129de4\n",
        "1772370900/7", "xyz", "",
    };
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        char anew[IDEMPOTENCY_KEY_SIZE];
        idempotency_origin_anew(&(struct idempotency){ .origin = origins[i] }, anew);
        SQL_IS(anew, "SELECT prescient.origin_anew('%s')", origins[i]);
    }
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

static void a_call_of_more_statements_than_fit_says_so_and_the_next_one_goes_well(void)
{
    WITH_SERVER();
    static const struct listener_settings late = { .name = "late", .job = "mail" };
    static struct digest digests[SETTLE_DIGESTS_MAX + 17];
    enum { N = sizeof digests / sizeof *digests };
    struct pgfx_run run;
    pgfx_run_init(&run, N);
    for (int i = 0; i < N; i++) {
        digests[i].listener = &late;
        run.s[i] = (struct settlement){ .check = run.s[i].check, .renews = true, .outcome = OUTCOME_DONE,
                                        .next_at = SLOT + LENGTH, .first_at = SLOT + LENGTH,
                                        .digest = &digests[i] };
    }
    RC_IS(ERR_GENERAL, pgfx_run_settle(&run).call.rc);
    CU_ASSERT_STRING_EQUAL(pgfx.err.text, "store: a call has more statements than fit (48)");
    for (int i = 0; i < N; i++)
        run.s[i] = pgfx_done(run.s[i].check);
    struct store_settle settle = pgfx_run_settle(&run);
    RC_IS(0, settle.call.rc);
    CU_ASSERT_EQUAL(settle.touched, N);
    check_rows_free(&run.page);
}

/* ---- what fails at the commit, behind the results of all statements ---- */

static void refuse_late(const char *table, const char *state)
{
    PQclear(pgfx_ask(pgfx.app,
                     "CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql "
                     "AS $$BEGIN RAISE 'not today' USING ERRCODE = '%s'; END$$",
                     state));
    SQL_IS("",
           "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON prescient.%s DEFERRABLE INITIALLY DEFERRED "
           "FOR EACH ROW EXECUTE FUNCTION public.refuse()",
           table);
}

static void allow_again(const char *table)
{
    PQclear(pgfx_ask(pgfx.app, "DROP TRIGGER late ON prescient.%s; DROP FUNCTION public.refuse()", table));
}

static void a_settle_whose_commit_fails_has_settled_nothing(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 2);
    refuse_late("future_job_history", "22023");
    struct store_settle settle = pgfx_run_settle(&run);
    RC_IS(ERR_DATA, settle.call.rc);
    CU_ASSERT_STRING_EQUAL(settle.call.err.text, "not today");
    allow_again("future_job_history");
    refuse_late("future_job_history", "40001");
    settle = pgfx_run_settle(&run);
    RC_IS(ERR_LOST, settle.call.rc);
    CU_ASSERT_EQUAL(settle.call.err.reason, ERR_REASON_COLLIDED);
    allow_again("future_job_history");
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job_history");
    settle = pgfx_run_settle(&run);
    RC_IS(0, settle.call.rc);
    CU_ASSERT_EQUAL(settle.touched, 2);
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job_history");
    check_rows_free(&run.page);
}

static void a_lease_whose_commit_fails_is_not_taken(void)
{
    WITH_SERVER();
    pgfx_put_checks(1);
    refuse_late("slot_lease", "P0001");
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(ERR_LOST, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(pgfx.err.reason, ERR_REASON_REFUSED);
    allow_again("slot_lease");
    o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 1);
}

static void a_check_whose_commit_fails_is_not_new(void)
{
    WITH_SERVER();
    const char *const params[] = { "e", "1", "look", "1772371800", NULL, NULL, NULL, NULL, NULL, NULL };
    struct arena *a = arena_new(4096);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    refuse_late("future_job", "P0001");
    struct store_report r = pgfx_report(a, "enqueue", 10, params);
    RC_IS(ERR_LOST, r.call.rc);
    CU_ASSERT_STRING_EQUAL(pgfx.err.text, "not today");
    allow_again("future_job");
    r = pgfx_report(a, "enqueue", 10, params);
    RC_IS(0, r.call.rc);
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job");
    arena_free(a);
}

static const struct test tests[] = {
    TEST(pages_of_several_priorities_are_settled_in_a_slot_of_either_kind),
    TEST(a_check_asked_for_again_while_it_ran_starts_anew),
    TEST(the_origin_of_a_new_life_is_the_one_that_the_engine_computes),
    TEST(a_move_never_lands_in_a_slot_that_has_begun),
    TEST(what_was_replaced_meanwhile_keeps_its_new_state),
    TEST(effects_follow_what_was_touched_and_nothing_else),
    TEST(an_effect_that_is_refused_takes_its_page_back),
    TEST(a_split_slot_is_settled_bucket_by_bucket),
    TEST(heavy_payloads_make_small_pages_and_none_is_lost),
    TEST(a_call_of_more_statements_than_fit_says_so_and_the_next_one_goes_well),
    TEST(a_settle_whose_commit_fails_has_settled_nothing),
    TEST(a_lease_whose_commit_fails_is_not_taken),
    TEST(a_check_whose_commit_fails_is_not_new),
    { NULL, NULL },
};

const struct suite suite_store_pg_settle = { "store_pg_settle", pgfx_setup, pgfx_teardown, tests };
