/* test_store_pg_races.c - calls on one schedule at the same time: each pair of them, the first one
 * open while the second one is made, and committed or rolled back then. Whatever came first, an
 * active schedule has its check with its rule, no other check has a rule, and nobody deadlocks.
 * Tokens that are made at the same time. */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "pg_fixture.h"

static const char *const calls[] = {
    "schedule('s', 'orders', '42', 'look', every => interval '1 hour')",
    "schedule('s', 'orders', '42', 'look', cron => '@daily')",
    "schedule('s', 'orders', '43', 'look', every => interval '1 hour')",
    "schedule('t', 'orders', '43', 'look', every => interval '3 hours')",
    "schedule_set('s', every => interval '2 hours')",
    "schedule_on('s')",
    "schedule_off('s')",
    "unschedule('s')",
    "resolve('orders', '42')",
    "resolve('orders', '43', 'look')",
    "enqueue('orders', '42', 'look', interval '1 day')",
    "enqueue('orders', '42', 'look', interval '0', conflict => 'earlier')",
    "enqueue('orders', '42', 'look', interval '1 day', conflict => 'replace')",
    "enqueue_now('orders', '42', 'look')",
    "reschedule('orders', '42', 'look', interval '2 days')",
    "pause(schedule => 's')",
    "resume(schedule => 's')",
    "put_schedules('[{\"name\": \"s\", \"entity_name\": \"orders\", \"entity_key\": \"43\","
    " \"job_exec\": \"look\", \"every_s\": \"3600\"}, {\"name\": \"t\", \"entity_name\": \"orders\","
    " \"entity_key\": \"42\", \"job_exec\": \"look\", \"every_s\": \"7200\"}]', NULL)",
    "repair_schedules(NULL, 1000, NULL)",
};
#define CALLS (sizeof calls / sizeof *calls)

/* Both rows have a check; that of order 42 is the schedule's, if one is on. */
static const char *const states[] = {
    "",
    "SELECT prescient.schedule('s', 'orders', '42', 'look', every => interval '1 hour');"
    "SELECT prescient.schedule_off('s');",
    "SELECT prescient.schedule('s', 'orders', '42', 'look', every => interval '1 hour');",
};
#define STATES (sizeof states / sizeof *states)

static const char one_off[] = "SELECT prescient.enqueue('orders', k, 'look', interval '3 hours')"
                              "  FROM unnest(ARRAY['42', '43']) k";

/* What is wrong, or "". Rules are compared without the moment from which on they hold. */
static const char broken[] =
    "SELECT coalesce(string_agg(w.words, '; '), '') FROM ("
    "SELECT 'schedule ' || s.name || ' has no check with its rule' FROM prescient.schedule s"
    " WHERE s.is_active AND NOT EXISTS ("
    "     SELECT FROM prescient.future_job f"
    "      WHERE f.entity_name = s.entity_name AND f.entity_key = s.entity_key AND f.job_exec = s.job_exec"
    "        AND prescient.terms_from_found(f.terms)"
    "            = prescient.terms_from_found(prescient.terms_of(s, now())))"
    " UNION ALL "
    "SELECT 'the check of ' || f.entity_key || ' has the rule of no active schedule'"
    "  FROM prescient.future_job f"
    " WHERE f.terms IS NOT NULL AND NOT EXISTS ("
    "     SELECT FROM prescient.schedule s"
    "      WHERE f.entity_name = s.entity_name AND f.entity_key = s.entity_key AND f.job_exec = s.job_exec"
    "        AND s.is_active)) w (words)";

static void prepare(const char *state)
{
    PQclear(pgfx_ask(pgfx.app, "DELETE FROM prescient.future_job; DELETE FROM prescient.schedule;"
                               "DELETE FROM prescient.pause; %s %s",
                     state, one_off));
}

/* Until the call has come back, or waits for a lock. */
static void wait_for(PGconn *conn, PGconn *watcher)
{
    for (int i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL(PQconsumeInput(conn), 1);
        if (!PQisBusy(conn))
            return;
        if (!strcmp(pgfx_cell(watcher, "SELECT count(*) FROM pg_locks WHERE pid = %d AND NOT granted",
                              PQbackendPID(conn)),
                    "1"))
            return;
        usleep(1000);
    }
}

/* Whether a call may end like this: well, or refused in prescient's own words. Of two schedules
 * that take the same check at the same time, the index refuses the second one. */
static bool is_told_in_words(const PGresult *r)
{
    const char *words = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    if (PQresultStatus(r) == PGRES_TUPLES_OK)
        return true;
    return !strncmp(words, "prescient: ", 11) || !strcmp(state, "23505");
}

static void race(size_t first, size_t second, const char *ending, const char *state, PGconn *watcher)
{
    prepare(state);
    PQclear(pgfx_ask(pgfx.app, "BEGIN"));
    PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.%s", calls[first]);
    bool goes_on = PQresultStatus(r) == PGRES_TUPLES_OK;
    PQclear(r);
    char sql[1024];
    snprintf(sql, sizeof sql, "SELECT prescient.%s", calls[second]);
    if (goes_on && PQsendQuery(pgfx.other, sql)) {
        wait_for(pgfx.other, watcher);
        PQclear(pgfx_ask(pgfx.app, "%s", ending));
        while ((r = PQgetResult(pgfx.other))) {
            CU_ASSERT(is_told_in_words(r));
            if (!is_told_in_words(r))
                printf("      %s, then %s: %s", calls[first], calls[second], PQresultErrorMessage(r));
            PQclear(r);
        }
    }
    PQclear(pgfx_ask(pgfx.app, "ROLLBACK"));
    const char *wrong = pgfx_cell(pgfx.app, "%s", broken);
    CU_ASSERT_STRING_EQUAL(wrong, "");
    if (*wrong)
        printf("      %s (%s), then %s: %s\n", calls[first], ending, calls[second], wrong);
}

/* Of a brief run each pair has one of the two endings. */
static bool is_left_out(size_t first, size_t second, bool commits)
{
    return test_is_brief() && ((first + second) % 2 == 0) == commits;
}

static void race_all(bool commits)
{
    const char *ending = commits ? "COMMIT" : "ROLLBACK";
    PGconn *watcher = PQconnectdb(pgfx.db.url);
    for (size_t state = test_is_brief() ? STATES - 1 : 0; state < STATES; state++)
        for (size_t first = 0; first < CALLS; first++)
            for (size_t second = 0; second < CALLS; second++)
                if (!is_left_out(first, second, commits))
                    race(first, second, ending, states[state], watcher);
    PQfinish(watcher);
}

static void a_call_behind_one_that_commits_leaves_schedules_and_checks_in_step(void)
{
    WITH_SERVER();
    race_all(true);
}

static void a_call_behind_one_that_is_rolled_back_does_so_too(void)
{
    WITH_SERVER();
    race_all(false);
}

/* ---- what came of it ------------------------------------------------------------------------- */

static void resolve_behind(const char *call)
{
    PQclear(pgfx_ask(pgfx.app, "BEGIN; SELECT prescient.%s", call));
    CU_ASSERT_EQUAL_FATAL(PQsendQuery(pgfx.other, "SELECT prescient.resolve('orders', '42')"), 1);
    wait_for(pgfx.other, pgfx.app);
    PQclear(pgfx_ask(pgfx.app, "COMMIT"));
    PGresult *r = PQgetResult(pgfx.other);
    CU_ASSERT_STRING_EQUAL(PQgetvalue(r, 0, 0), "1");
    PQclear(r);
    PQclear(PQgetResult(pgfx.other));
    SQL_IS("f resolved", "SELECT concat_ws(' ', is_active, switched_why) FROM prescient.schedule");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job WHERE entity_key = '42'");
}

static void a_resolve_switches_off_what_is_switched_on_meanwhile(void)
{
    WITH_SERVER();
    prepare(states[1]);
    resolve_behind("schedule_on('s')");
}

static void a_resolve_switches_off_what_is_made_meanwhile(void)
{
    WITH_SERVER();
    prepare(states[0]);
    resolve_behind(calls[0]);
}

/* Its check is moved to the row that is resolved. */
static void a_resolve_switches_off_what_is_moved_there_meanwhile(void)
{
    WITH_SERVER();
    prepare("SELECT prescient.schedule('s', 'orders', '44', 'look', every => interval '1 hour');");
    resolve_behind(calls[0]);
}

static void a_schedule_does_not_take_the_check_of_another_one(void)
{
    WITH_SERVER();
    prepare("SELECT prescient.schedule('s', 'orders', '44', 'look', every => interval '1 hour');"
            "SELECT prescient.schedule('t', 'orders', '43', 'look', every => interval '1 hour');");
    PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.%s", calls[2]);
    const char *words = "prescient: schedule 't' is of the same check (orders, 43, look)";
    CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY), words);
    CU_ASSERT_PTR_NOT_NULL(PQresultErrorField(r, PG_DIAG_MESSAGE_HINT));
    PQclear(r);
    SQL_IS("44", "SELECT entity_key FROM prescient.schedule WHERE name = 's'");
}

static const char new_token[] =
    "INSERT INTO prescient.token (name, role, hash, session_key) "
    "SELECT 't' || n, 'read', lpad(n::text, 64, '0'), lpad(n::text, 64, '0') FROM generate_series(%d, %d) n";

/* Each saw 999. */
static void of_two_that_make_the_last_token_at_once_one_is_told_that_there_are_enough(void)
{
    char second[sizeof new_token + 16];
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, new_token, 1, 999));
    PQclear(pgfx_ask(pgfx.app, "BEGIN"));
    PQclear(pgfx_ask(pgfx.app, new_token, 1000, 1000));
    snprintf(second, sizeof second, new_token, 1001, 1001);
    CU_ASSERT_EQUAL_FATAL(PQsendQuery(pgfx.other, second), 1);
    wait_for(pgfx.other, pgfx.app);
    PQclear(pgfx_ask(pgfx.app, "COMMIT"));
    PGresult *r = PQgetResult(pgfx.other);
    CU_ASSERT_STRING_EQUAL(PQcmdTuples(r), "0");
    PQclear(r);
    PQclear(PQgetResult(pgfx.other));
    SQL_IS("1000", "SELECT count(*) FROM prescient.token");
    SQL_IS("1000", "SELECT count(*) FROM prescient.token WHERE name <> 't1001'");
}

static const struct test tests[] = {
    TEST(a_call_behind_one_that_commits_leaves_schedules_and_checks_in_step),
    TEST(a_call_behind_one_that_is_rolled_back_does_so_too),
    TEST(a_resolve_switches_off_what_is_switched_on_meanwhile),
    TEST(a_resolve_switches_off_what_is_made_meanwhile),
    TEST(a_resolve_switches_off_what_is_moved_there_meanwhile),
    TEST(a_schedule_does_not_take_the_check_of_another_one),
    TEST(of_two_that_make_the_last_token_at_once_one_is_told_that_there_are_enough),
    { NULL, NULL },
};

const struct suite suite_store_pg_races = { "store_pg_races", pgfx_setup, pgfx_teardown, tests };
