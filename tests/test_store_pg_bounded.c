/* test_store_pg_bounded.c - reports of large, odd and foreign tables: counts that end, checks at
 * infinity, passes of a busy day, and users who may read the views only. */
#include "pg_roles_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/store/store_pg.h"

static int ask(struct store *st, struct arena *a, const char *name, int n, const char *const *params,
               struct store_report *r)
{
    *r = (struct store_report)STORE_REPORT_INIT;
    r->name = name;
    r->nparams = n;
    r->params = params;
    r->arena = a;
    int rc = store_do(st, &r->call);
    pgfx.err = r->call.err;
    return rc;
}

static const char *cell_of(const struct store_rows *rows, int row, const char *column)
{
    for (int c = 0; row < rows->rows && c < rows->columns; c++)
        if (strcmp(rows->names[c], column) == 0)
            return rows->cells[row * rows->columns + c] ? rows->cells[row * rows->columns + c] : "NULL";
    return "no such cell";
}

/* A column of the finding of doctor with this name. */
static const char *finding(struct arena *a, const char *what, const char *column)
{
    struct store_report r;
    RC_IS(0, ask(pgfx.st, a, "doctor", 0, NULL, &r));
    for (int i = 0; i < r.rows.rows; i++)
        if (strcmp(cell_of(&r.rows, i, "what"), what) == 0)
            return cell_of(&r.rows, i, column);
    return "no such finding";
}

#define HAS(text, words)                                                                                     \
    do {                                                                                                     \
        const char *t_ = text;                                                                               \
        if (!strstr(t_, words))                                                                              \
            printf("      line %d: '%s', expected '%s' in it\n", __LINE__, t_, words);                       \
        CU_ASSERT_PTR_NOT_NULL(strstr(t_, words));                                                           \
    } while (0)

/* ---- at infinity ----------------------------------------------------------------------------- */

static void put_at(const char *key, const char *at)
{
    SQL_IS("",
           "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, "
           "next_check_at) VALUES (prescient.bucket_of('orders', '%s'), 'orders', '%s', 'look', '%s', '%s')",
           key, key, at, at);
}

static void checks_at_infinity_are_named_with_the_line_that_mends_them(void)
{
    WITH_SERVER();
    struct arena *a = arena_new(64 * 1024);
    struct store_report r;
    CU_ASSERT_STRING_EQUAL(finding(a, "times of checks", "level"), "ok");
    put_at("1", "infinity");
    put_at("2", "-infinity");
    put_at("3", "infinity");
    put_at("4", "12345-01-01 00:00:00+00");
    HAS(finding(a, "times of checks", "level"), "warn");
    HAS(finding(a, "times of checks", "found"),
        "4 before 1970 or after 9999, or infinite, as (orders, 1, look)");
    const char *line = strstr(finding(a, "times of checks", "advice"), "SELECT prescient.reschedule");
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    RC_IS(0, ask(pgfx.st, a, "status", 0, NULL, &r));
    CU_ASSERT_STRING_EQUAL(cell_of(&r.rows, 0, "never_due"), "3");
    PGresult *mended = pgfx_ask(pgfx.app, "%s", line);
    CU_ASSERT_EQUAL(PQntuples(mended), 4);
    PQclear(mended);
    SQL_IS("4", "SELECT count(*) FROM prescient.future_job WHERE next_check_at = "
                "prescient.slot_next(now()) AND first_check_at = next_check_at");
    CU_ASSERT_STRING_EQUAL(finding(a, "times of checks", "level"), "ok");
    arena_free(a);
}

static void reports_show_checks_at_infinity(void)
{
    WITH_SERVER();
    static const char *const reports[] = { "list", "slots" };
    static const char *const params[] = { NULL, NULL, "101" };
    struct arena *a = arena_new(64 * 1024);
    struct store_report r;
    put_at("1", "infinity");
    put_at("2", "-infinity");
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        RC_IS(0, ask(pgfx.st, a, reports[i], i == 0 ? 0 : 3, params, &r));
        CU_ASSERT_EQUAL_FATAL(r.rows.rows, 2);
        CU_ASSERT_STRING_EQUAL(r.rows.cells[0], "-Infinity");
        CU_ASSERT_STRING_EQUAL(r.rows.cells[r.rows.columns], "Infinity");
    }
    RC_IS(0, ask(pgfx.st, a, "status", 0, NULL, &r));
    CU_ASSERT_STRING_EQUAL(cell_of(&r.rows, 0, "oldest_overdue_at"), "-Infinity");
    CU_ASSERT_STRING_EQUAL(cell_of(&r.rows, 0, "next_slot_at"), "NULL");
    RC_IS(0, ask(pgfx.st, a, "jobs_pending", 0, NULL, &r));
    CU_ASSERT_STRING_EQUAL(cell_of(&r.rows, 0, "checks"), "2");
    HAS(finding(a, "missed slots", "found"), "1 overdue checks, the oldest of -infinity");
    arena_free(a);
}

static void the_sweep_files_a_check_at_infinity_and_goes_on(void)
{
    WITH_SERVER();
    struct store_late_slot l = STORE_LATE_SLOT_INIT;
    put_at("1", "-infinity");
    pgfx_put_checks(1);
    l.before = SLOT + LENGTH;
    RC_IS(0, pgfx_call(&l.call));
    CU_ASSERT_EQUAL(l.slot, SLOT);
    CU_ASSERT_EQUAL(l.misfiled_at, 1);
    struct store_refile r = STORE_REFILE_INIT;
    r.from = l.misfiled_at;
    r.before = l.before;
    r.most = 10;
    RC_IS(0, pgfx_call(&r.call));
    CU_ASSERT(r.refiled == 1 && !r.until);
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job WHERE entity_key = '1' AND entity_name = 'orders' "
                "AND next_check_at = prescient.slot_next(now()) AND origin LIKE '-infinity/%%'");
}

/* ---- passes of a busy day -------------------------------------------------------------------- */

/* Passes of now, one a bucket and number; the oldest of them is of yesterday, and three runs
 * failed in it. */
static void put_passes(int n)
{
    SQL_IS("",
           "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, failed) SELECT prescient.slot_floor("
           "now() - CASE i WHEN 1 THEN interval '20 hours' ELSE interval '0' END), i %% 64, 1 + i / 64, "
           "CASE i WHEN 1 THEN 3 ELSE 0 END FROM generate_series(1, %d) i",
           n);
}

static void failures_of_the_whole_day_are_counted(void)
{
    WITH_SERVER();
    struct arena *a = arena_new(64 * 1024);
    put_passes(3000);
    HAS(finding(a, "runs in trouble", "found"), "3 failed, 0 took too long, 0 crashed in the last day");
    arena_free(a);
}

static void of_more_passes_the_newest_are_counted_and_that_is_said(void)
{
    WITH_SERVER();
    struct arena *a = arena_new(64 * 1024);
    put_passes(10001);
    SQL_IS("", "UPDATE prescient.slot_pass SET crashed = 2 WHERE bucket = 3 AND pass = 1");
    HAS(finding(a, "runs in trouble", "found"),
        "at least 0 failed, 0 took too long, 2 crashed in the newest 10000 passes, since ");
    arena_free(a);
}

/* ---- the views only -------------------------------------------------------------------------- */

static void put_one_of_each(void)
{
    static const char *const rows[] = {
        "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours', '{\"card\": \"4111\"}')",
        "INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, "
        "check_count, failure_count, run_count, entity_name, entity_key, job_exec, outcome, payload) VALUES"
        " (clock_timestamp(), now(), now(), now(), 1, 3, 2, 'orders', '41', 'unshipped', 'failed', "
        "'{\"card\": \"4111\"}')",
        "INSERT INTO prescient.future_job_run (run_at, slot_at, next_check_at, run_us, check_count,"
        " failure_count, entity_name, entity_key, job_exec, outcome) VALUES"
        " (now(), now(), now(), 7, 1, 0, 'orders', '42', 'unshipped', 'again')",
        "INSERT INTO prescient.event (emitted_at, slot_at, check_count, event, entity_name, entity_key, "
        "job_exec, data) VALUES (now(), now(), 1, 'late', 'orders', '42', 'unshipped', "
        "'{\"card\": \"4111\"}')",
        "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, pending) VALUES"
        " (prescient.slot_floor(now()), -1, 0, 1, 1)",
        "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, run, done, late_us, left_jobs) VALUES"
        " (prescient.slot_floor(now()), -1, 1, 6, 1, 60000000, '{a,b}')",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        PQclear(pgfx_ask(pgfx.app, "%s", rows[i]));
}

/* What a reader and the owner are shown, but for the column that the views do not have. */
static bool is_the_same(const struct store_report *seen, const struct store_report *all)
{
    bool same = seen->rows.rows == all->rows.rows;
    for (int c = 0; same && c < all->rows.columns; c++) {
        const char *name = all->rows.names[c];
        for (int row = 0; row < all->rows.rows && (!seen->left_out || strcmp(name, seen->left_out)); row++)
            if (strcmp(cell_of(&seen->rows, row, name), cell_of(&all->rows, row, name)) != 0) {
                printf("      %s.%s: '%s', expected '%s'\n", seen->name, name,
                       cell_of(&seen->rows, row, name), cell_of(&all->rows, row, name));
                same = false;
            }
    }
    return same;
}

static void a_reader_is_shown_every_report_but_the_payloads(void)
{
    WITH_ROLES();
    static const struct { const char *report, *left_out, *params[3];
    } all[] = {
        { "list", "payload", { NULL } },     { "list", "payload", { "orders", "42" } },
        { "list", "payload", { "nobody" } }, { "history", "payload", { NULL } },
        { "history", "payload", { "orders", "41", "unshipped" } },
        { "runs", NULL, { NULL } },          { "events", "data", { "0", "0", "0" } },
        { "events_end", NULL, { NULL } },    { "slots", NULL, { NULL, NULL, "101" } },
        { "slots_before", NULL, { NULL, NULL, "101" } }, { "events_back", "data", { NULL } },
        { "passes", NULL, { NULL } },        { "status", NULL, { "1772370900" } },
        { "put_off", NULL, { NULL } },       { "withheld", NULL, { NULL } },
        { "waiting_jobs", NULL, { "[]", "10" } }, { "refused", NULL, { "0", "10", "2000" } },
    };
    struct arena *a = arena_new(64 * 1024);
    struct store *st = pgfx_new_store(&(struct store_options){ .url = pg_roles.reader_url });
    put_one_of_each();
    SQL_IS("1", "WITH u AS (UPDATE prescient.future_job SET put_off_at = now() - interval '1 day' "
                "RETURNING 1) SELECT count(*) FROM u");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct store_report seen, whole;
        int n = 3;
        while (n > 0 && !all[i].params[n - 1])
            n--;
        RC_IS(0, ask(pgfx.st, a, all[i].report, n, all[i].params, &whole));
        RC_IS(0, ask(st, a, all[i].report, n, all[i].params, &seen));
        CU_ASSERT_PTR_NULL(whole.left_out);
        if (all[i].left_out)
            CU_ASSERT_STRING_EQUAL(seen.left_out ? seen.left_out : "", all[i].left_out);
        CU_ASSERT_EQUAL(seen.left_out != NULL, all[i].left_out != NULL);
        CU_ASSERT_EQUAL(seen.rows.columns, whole.rows.columns - (all[i].left_out != NULL));
        CU_ASSERT_TRUE(is_the_same(&seen, &whole));
    }
    store_free(st);
    arena_free(a);
}

static void a_reader_is_told_of_events_that_wait(void)
{
    WITH_ROLES();
    struct arena *a = arena_new(64 * 1024);
    struct store *st = pgfx_new_store(&(struct store_options){ .url = pg_roles.reader_url });
    struct store_report r;
    PQclear(pgfx_ask(pgfx.other, "BEGIN; SELECT pg_current_xact_id()"));
    put_one_of_each();
    RC_IS(0, ask(st, a, "withheld", 0, NULL, &r));
    CU_ASSERT_STRING_EQUAL(cell_of(&r.rows, 0, "events_withheld"), "1");
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    store_free(st);
    arena_free(a);
}

static void who_may_not_read_the_views_is_told_of_their_role(void)
{
    WITH_ROLES();
    struct arena *a = arena_new(64 * 1024);
    struct store_report r;
    struct store *st =
        pgfx_new_store(&(struct store_options){ .url = pg_roles.shop_url, .role = "prescient_reader" });
    CU_ASSERT(ask(st, a, "list", 0, NULL, &r) < 0);
    HAS(pgfx.err.text, "(user " SHOP "). As a superuser or an admin of that role run: GRANT "
                       "prescient_reader TO " SHOP);
    store_free(st);
    arena_free(a);
}

/* ---- times in words -------------------------------------------------------------------------- */

static void each_different_text_is_read_once(void)
{
    WITH_SERVER();
    SQL_IS("", "BEGIN");
    SQL_IS("", "CREATE SEQUENCE asked; ALTER FUNCTION prescient.moment_of(text, timestamptz) RENAME TO "
               "moment_of_words; CREATE FUNCTION prescient.moment_of(words text, at timestamptz) RETURNS "
               "timestamptz LANGUAGE sql VOLATILE AS 'SELECT CASE WHEN nextval(''public.asked'') > 0 THEN "
               "prescient.moment_of_words(words, at) END'");
    SQL_IS("4000",
           "SELECT (prescient.enqueue_each(array_fill('orders'::text, ARRAY[4000]), array_agg(i::text),"
           " array_fill('look'::text, ARRAY[4000]), array_agg(CASE i %% 4 WHEN 0 THEN '+3 hours' WHEN 1 THEN"
           " '2099-12-31T23:30:00Z' WHEN 2 THEN 'tomorrow' ELSE '2099-12-31 23:45+00' END))).added"
           "  FROM generate_series(1, 4000) i");
    SQL_IS("2", "SELECT last_value FROM asked");
    SQL_IS("2000", "SELECT count(*) FROM prescient.future_job WHERE next_check_at >= '2099-12-31 23:30+00'");
    SQL_IS("1000", "SELECT count(*) FROM prescient.future_job WHERE entity_key::integer %% 4 = 0 AND "
                   "next_check_at = prescient.slot_ceil(now() + interval '3 hours')");
    SQL_IS("", "ROLLBACK");
}

static void the_row_with_a_wrong_time_is_told(void)
{
    WITH_SERVER();
    static const char *const wrong[][2] = {
        { "{2099-01-01T00:00:00Z,2099-13-01T00:00:00Z}", "row 2" },
        { "{2099-01-01T00:00:00Z,+3 hours,NULL,17}", "row 4" },
        { "{someday,2099-01-01T00:00:00Z}", "row 1" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.moments_of('%s'::text[], NULL)", wrong[i][0]);
        CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_SQLSTATE), "22007");
        CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL), wrong[i][1]);
        HAS(PQresultErrorMessage(r), "check_at is ");
        PQclear(r);
    }
    SQL_IS("{NULL,NULL}", "SELECT prescient.moments_of('{NULL,NULL}'::text[], NULL)");
    SQL_IS("{}", "SELECT prescient.moments_of('{}'::text[], NULL)");
    SQL_IS("", "SELECT prescient.moments_of(NULL::text[], NULL)");
}

/* ---- behind a lock --------------------------------------------------------------------------- */

/* Each waits for the row that an open transaction of the application has locked. */
static const struct { const char *name, *params[5]; int n; } changes[] = {
    { "pause", { "job", NULL, NULL, NULL, "why" }, 5 },
    { "resolve", { "orders", "1", "look", NULL }, 4 },
};

static void a_change_behind_a_lock_is_given_up_and_does_not_happen_later(void)
{
    WITH_SERVER();
    struct store *st = pgfx_new_store(
        &(struct store_options){ .statement_timeout_ms = 2000, .clock = &pgfx_slow });
    SQL_IS("new", "SELECT prescient.enqueue('orders', '1', 'look', interval '1 day')");
    PQclear(pgfx_ask(pgfx.app, "BEGIN; SELECT prescient.pause('other')"));
    PQclear(pgfx_ask(pgfx.app, "SELECT FROM prescient.future_job FOR UPDATE"));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct arena *a = arena_new(4096);
        struct store_report r;
        RC_IS(ERR_BUSY, ask(st, a, changes[i].name, changes[i].n, changes[i].params, &r));
        HAS(pgfx.err.text, "nothing was changed");
        arena_free(a);
    }
    PQclear(pgfx_ask(pgfx.app, "ROLLBACK"));
    /* one that still waited would come before these */
    SQL_IS("paused", "SELECT prescient.pause('behind')");
    SQL_IS("1", "SELECT count(*) FROM (SELECT FROM prescient.future_job FOR UPDATE) f");
    SQL_IS("behind", "SELECT string_agg(name, ' ') FROM prescient.pause");
    store_free(st);
}

/* More than are ended at once cannot be emptied; the newest pause is empty. */
static void a_pause_is_over_behind_any_number_that_are_not(void)
{
    WITH_SERVER();
    SQL_IS("", "INSERT INTO prescient.pause (slot_at, what, name, paused_at, paused_by, resumed_at) "
               "SELECT '9000-01-01 00:00+00'::timestamptz + i * interval '24 hours', 'job', 'j' || i, now(), "
               "session_user, now() FROM generate_series(0, 150) i");
    SQL_IS("", "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, "
               "next_check_at) SELECT prescient.bucket_of('e', p.name), 'e', p.name, p.name, p.slot_at, "
               "p.slot_at FROM prescient.pause p WHERE p.name <> 'j150'");
    SQL_IS("1", "SELECT prescient.end_pauses()");
    SQL_IS("j150", "SELECT string_agg(name, ' ') FROM prescient.pause WHERE ended_at IS NOT NULL");
    SQL_IS("0", "SELECT prescient.end_pauses()");
}

static const struct test tests[] = {
    TEST(checks_at_infinity_are_named_with_the_line_that_mends_them),
    TEST(reports_show_checks_at_infinity),
    TEST(the_sweep_files_a_check_at_infinity_and_goes_on),
    TEST(failures_of_the_whole_day_are_counted),
    TEST(of_more_passes_the_newest_are_counted_and_that_is_said),
    TEST(a_reader_is_shown_every_report_but_the_payloads),
    TEST(a_reader_is_told_of_events_that_wait),
    TEST(who_may_not_read_the_views_is_told_of_their_role),
    TEST(each_different_text_is_read_once),
    TEST(the_row_with_a_wrong_time_is_told),
    TEST(a_change_behind_a_lock_is_given_up_and_does_not_happen_later),
    TEST(a_pause_is_over_behind_any_number_that_are_not),
    { NULL, NULL },
};

const struct suite suite_store_pg_bounded = { "store_pg_bounded", pg_roles_setup, pg_roles_teardown, tests };
