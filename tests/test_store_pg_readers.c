/* test_store_pg_readers.c - those who only look: prescient.pending, the views, and the role that
 * reads them. */
#include "pg_roles_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/store/store_pg.h"

/* A row in each table, with a secret in payload and data. */
static void put_one_of_each(void)
{
    static const char *const rows[] = {
        "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours', '{\"card\": \"4111\"}')",
        "INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, "
        "check_count,"
        " failure_count, run_count, entity_name, entity_key, job_exec, outcome, note, payload) VALUES"
        " (clock_timestamp(), now(), now(), now(), 1, 3, 2, 'orders', '41', 'unshipped', 'failed', 'no "
        "carrier',"
        " '{\"card\": \"4111\"}')",
        "INSERT INTO prescient.future_job_run (run_at, slot_at, next_check_at, run_us, check_count,"
        " failure_count, entity_name, entity_key, job_exec, outcome) VALUES"
        " (now(), now(), now(), 7, 1, 0, 'orders', '42', 'unshipped', 'again')",
        "INSERT INTO prescient.event (emitted_at, slot_at, check_count, event, entity_name, entity_key, "
        "job_exec,"
        " data) VALUES (now(), now(), 1, 'late', 'orders', '42', 'unshipped', '{\"card\": \"4111\"}')",
        "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, pending) VALUES"
        " ('2026-03-01 13:15:00+00', -1, 0, 1, 1)",
        "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, run, done, again, failed, timeout, crashed,"
        " late_us, left_jobs) VALUES ('2026-03-01 13:15:00+00', -1, 1, 6, 1, 2, 1, 1, 1, 60000000, '{a,b}')",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PGresult *r = pgfx_ask(pgfx.app, "%s", rows[i]);
        if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
            printf("      %s: %s\n", rows[i], PQresultErrorMessage(r));
        CU_ASSERT(PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK);
        PQclear(r);
    }
}

/* ---- what waits for a row -------------------------------------------------------------------- */

static void what_waits_for_a_row_is_told_for_a_key_of_any_type(void)
{
    WITH_ROLES();
    SHOP_IS("new", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours', "
                   "'{\"card\": \"4111\"}', 'keep', 7)");
    SHOP_IS("new", "SELECT prescient.enqueue('orders', '42', 'unpaid', interval '1 hour')");
    SHOP_IS("new", "SELECT prescient.enqueue('users', '6f1a3c52-0000-4000-8000-0123456789ab', 'gone', "
                   "interval '1 hour')");
    static const char *const keys[] = {
        "'42'", "'42'::text", "'42'::varchar", "'42'::varchar(10)", "42", "42::bigint", "42::smallint",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        SHOP_IS("unpaid 0 0 0 | unshipped 0 0 7",
                "SELECT string_agg(concat_ws(' ', job_exec, check_count, failure_count, priority), ' | ')"
                "  FROM prescient.pending('orders', %s)",
                keys[i]);
    SHOP_IS("gone", "SELECT job_exec FROM prescient.pending('users', "
                    "'6f1a3c52-0000-4000-8000-0123456789ab'::uuid)");
    SHOP_IS("t t",
            "SELECT concat_ws(' ', next_check_at = prescient.slot_for(now() + interval '1 hour', now()),"
            " first_check_at = next_check_at) FROM prescient.pending('orders', 42) LIMIT 1");
    SHOP_IS("0", "SELECT count(*) FROM prescient.pending('orders', 43)");
    SHOP_IS("0", "SELECT count(*) FROM prescient.pending('order', 42)");
    /* as a driver sends it that gives no type */
    SHOP_IS("", "PREPARE waits AS SELECT count(*) FROM prescient.pending($1, $2)");
    SHOP_IS("2", "EXECUTE waits('orders', '42')");
    /* in a query over the application's own table */
    READER_IS("2",
              "SELECT count(*) FROM (VALUES (41), (42)) o (id), LATERAL prescient.pending('orders', o.id)");
}

static void a_row_without_a_name_and_a_key_of_another_type_are_refused(void)
{
    WITH_ROLES();
    SHOP_IS("22023", "SELECT * FROM prescient.pending('orders', NULL)");
    SHOP_IS("22023", "SELECT * FROM prescient.pending('orders', NULL::bigint)");
    SHOP_IS("22023", "SELECT * FROM prescient.pending(NULL, '42')");
    SHOP_IS("42804", "SELECT * FROM prescient.pending('orders', 4.2)");
    SHOP_IS("42804", "SELECT * FROM prescient.pending('orders', '{}'::json)");
    SHOP_IS("42804", "SELECT * FROM prescient.pending('orders', now())");
    SHOP_IS("", "CREATE DOMAIN pg_temp.mine AS integer");
    SHOP_IS("0", "SELECT count(*) FROM prescient.pending('orders', 42::pg_temp.mine)");
}

static void what_was_asked_again_is_told_beside_the_running_slot(void)
{
    WITH_ROLES();
    pgfx_put_checks(1);
    SHOP_IS("kept", "SELECT prescient.enqueue('e', '1', 'look', interval '3 hours')");
    SHOP_IS("t t", "SELECT concat_ws(' ', next_check_at < now(), again_at > now() + interval '2 hours')"
                   "  FROM prescient.pending('e', 1)");
    SHOP_IS("t", "SELECT p.again_at = prescient.filed_at('e', '1', 'look') FROM prescient.pending('e', 1) p");
    SHOP_IS("", "SELECT prescient.filed_at('e', '2', 'look')");
}

static void what_is_paused_is_told_to_be(void)
{
    WITH_ROLES();
    SHOP_IS("new", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours')");
    SHOP_IS("new", "SELECT prescient.enqueue('orders', '42', 'unpaid', interval '1 hour')");
    SHOP_IS("f f", "SELECT string_agg(is_paused::text::char, ' ') FROM prescient.pending('orders', 42)");
    SQL_IS("paused", "SELECT prescient.pause(job => 'unpaid')");
    PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.future_job SET next_check_at = (SELECT slot_at FROM"
                               " prescient.pause) WHERE job_exec = 'unpaid'"));
    SHOP_IS("unshipped f, unpaid t", "SELECT string_agg(job_exec || ' ' || is_paused::text::char, ', ')"
                                     "  FROM prescient.pending('orders', '42')");
    SHOP_IS("t", "SELECT bool_and(is_paused) FROM prescient.pending('orders', 42) WHERE job_exec = 'unpaid'");
    SQL_IS("t", "SELECT bool_and(p.is_paused = v.is_paused AND p.next_check_at = v.next_check_at)"
                "  FROM prescient.pending('orders', 42) p JOIN prescient.pending v USING (job_exec)");
    /* it waits, so it is not NULL */
    SHOP_IS("t", "SELECT prescient.filed_at('orders', '42', 'unpaid') >= '9000-01-01 00:00:00+00'");
}

/* ---- the views ------------------------------------------------------------------------------- */

/* Dashboards name these columns: one may be added at the end, and that is all that may change. */
static const struct view {
    const char *name, *columns, *report, *left_out;
} views[] = {
    { "pending",
      "next_check_at entity_name entity_key job_exec check_count failure_count priority first_check_at "
      "again_at put_off_at is_paused concurrency_key tenant bucket id",
      "list", "payload state cursor" },
    { "history",
      "ended_at entity_name entity_key job_exec outcome guard check_count failure_count run_count slot_at "
      "first_check_at first_run_at last_run_at total_run_us last_run_us note engine archived_at check_number "
      "tenant",
      "history", "payload cursor" },
    { "runs",
      "run_at entity_name entity_key job_exec outcome check_count failure_count slot_at next_check_at run_us "
      "note engine recorded_at check_number tenant",
      "runs", "cursor" },
    { "events",
      "cursor event entity_name entity_key job_exec emitted_at slot_at check_count recorded_at generation "
      "xid id check_number",
      "events", "data" },
    { "slots", "slot_at state late_us run done again failed opened_at closed_at", "slots",
      "checks is_estimate parts" },
    { "passes",
      "slot_at bucket pass engine split run done again failed timeout crashed guarded deferred held_back "
      "unknown_job superseded locked late_us took_us left_jobs recorded_at busy",
      "passes", "" },
    { "run_hours",
      "hour_at job_exec entity_name tenant outcome runs took_us took_max_us late_max_us took late",
      "runs_by",
      "name done again failed timeout crashed other took_p50_us took_p95_us took_p99_us late_p50_us "
      "late_p95_us late_p99_us" },
    { "tallies", "what name outcome n took_us took late_us late made_at", "metrics", "" },
    { "running", "engine worker entity_name entity_key job_exec slot_at began_at seen_at", "running",
      "run_us" },
    { "engines",
      "engine command file seen_at counts_until version host pid started_at serves jobs last_slot_at "
      "last_pass_at",
      "engines", "" },
    { "places", "concurrency_key number engine taken_at expires_at is_wanted", "keys",
      "place held_until waiting" },
    { "concurrency_limits", "pattern places set_at set_by", "concurrency_limits", "" },
    { "pauses",
      "what name state checks paused_at paused_by reason resumed_at resumed_by is_reslotted ended_at slot_at",
      "pauses", "is_at_least" },
    { "schedules",
      "name entity_name entity_key job_exec every_s bias cron timezone missed is_active next_check_at "
      "made_at made_by changed_at changed_by switched_at switched_by switched_why concurrency_key "
      "tenant",
      "schedules", "payload first_check_at again_at terms slot_length_s" },
    { "audit",
      "id changed_at who done_by change what entity_name entity_key job_exec name before after reason",
      "audit", "cursor" },
    { "consumers",
      "name cursor moved_at made_at held_by held_until skipped pruned_at generation xid id",
      "consumers", "unread oldest_unread_at held_until_at" },
};

static void the_columns_of_the_views_stay_as_they_are(void)
{
    WITH_ROLES();
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        SQL_IS("t",
               "SELECT string_agg(attname, ' ' ORDER BY attnum) || ' ' LIKE '%s %%' FROM pg_attribute WHERE "
               "attrelid = 'prescient.%s'::regclass AND attnum > 0",
               views[i].columns, views[i].name);
    SQL_IS("16",
           "SELECT count(*) FROM pg_class WHERE relnamespace = 'prescient'::regnamespace AND relkind = 'v'");
}

static bool has_word(const char *words, const char *word, size_t n)
{
    for (const char *at = words; (at = strstr(at, word)); at++)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

/* A moment of a report has no unit in its name as it is printed: ended_at_us is ended_at. */
static bool is_of_view(const struct view *view, const char *column)
{
    char name[64];
    size_t n = strlen(column);
    if (store_cell_kind(column, true) == CELL_MOMENT_US)
        n -= strlen("_us");
    snprintf(name, sizeof name, "%.*s", (int)n, column);
    return has_word(view->columns, name, n) || has_word(view->left_out, name, n);
}

static void a_view_names_its_columns_as_the_report_does(void)
{
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        int report = 0;
        while (report < PG_STATEMENTS && strcmp(pg_statements[report].name, views[i].report) != 0)
            report++;
        CU_ASSERT_FATAL(report < PG_STATEMENTS);
        for (int c = 0; c < pg_statements[report].nout; c++) {
            const char *column = pg_statements[report].out[c].name;
            if (!is_of_view(&views[i], column)) {
                printf("      %s has no column %s\n", views[i].name, column);
                CU_FAIL("a column of the report");
            }
        }
    }
}

static void a_reader_sees_every_row_and_no_payload(void)
{
    WITH_ROLES();
    put_one_of_each();
    static const char *const rows[][2] = {
        { "pending", "orders 42 unshipped" },
        { "history", "orders 41 unshipped failed max_failures no carrier" },
        { "runs", "orders 42 unshipped again 7" },
        { "events", "late orders 42 unshipped" },
        { "slots", "relook 60000000 6 1 2 3" },
        { "passes", "-1 1 6 a, b" },
    };
    READER_IS(rows[0][1], "SELECT concat_ws(' ', entity_name, entity_key, job_exec) FROM prescient.pending");
    READER_IS(rows[1][1],
              "SELECT concat_ws(' ', entity_name, entity_key, job_exec, outcome, guard, note) FROM "
              "prescient.history");
    READER_IS(rows[2][1], "SELECT concat_ws(' ', entity_name, entity_key, job_exec, outcome, run_us) FROM "
                          "prescient.runs");
    READER_IS(rows[3][1],
              "SELECT concat_ws(' ', event, entity_name, entity_key, job_exec) FROM prescient.events");
    READER_IS("2 1 2", "SELECT concat_ws(' ', (SELECT check_number FROM prescient.history), (SELECT "
                       "check_number FROM prescient.runs), (SELECT check_number FROM prescient.events))");
    READER_IS("t", "SELECT cursor = generation || '-' || xid || '-' || id FROM prescient.events");
    /* of one part, which has been run: a second look is due */
    READER_IS(rows[4][1],
              "SELECT concat_ws(' ', state, late_us, run, done, again, failed) FROM prescient.slots");
    READER_IS(rows[5][1], "SELECT concat_ws(' ', bucket, pass, run, left_jobs) FROM prescient.passes WHERE "
                          "pass > 0");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        READER_IS("t f",
                  "SELECT concat_ws(' ', count(*) > 0, bool_or(v::text LIKE '%%4111%%')) FROM "
                  "prescient.%s v",
                  rows[i][0]);
}

static void slots_are_open_then_looked_at_again_then_closed(void)
{
    WITH_ROLES();
    SQL_IS("",
           "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, closed_at, seen_xid)"
           " SELECT to_timestamp(900 * n), -1, 0, 64, CASE n WHEN 3 THEN now() END, CASE n WHEN 2 THEN 5 END"
           "   FROM generate_series(1, 3) n");
    READER_IS("open relook closed", "SELECT string_agg(state, ' ' ORDER BY slot_at) FROM prescient.slots");
    READER_IS("closed",
              "SELECT state FROM prescient.slots WHERE slot_at = to_timestamp(2700) AND closed_at IS "
              "NOT NULL AND opened_at IS NOT NULL");
}

/* A consumer that goes on behind the last cursor it has seen loses nothing: no event is shown as
 * long as one may still come in front of it. */
static void an_event_is_shown_when_nothing_can_come_before_it(void)
{
    WITH_ROLES();
    static const char emit[] =
        "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, "
        "job_exec) VALUES (now(), 'late', 'orders', '%s', 'j')";
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, emit, "first"));
    PQclear(pgfx_ask(pgfx.app, emit, "second"));
    SQL_IS("second", "SELECT entity_key FROM prescient.event");
    READER_IS("0", "SELECT count(*) FROM prescient.events");
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    READER_IS("first second", "SELECT string_agg(entity_key, ' ' ORDER BY generation, xid, id) FROM "
                              "prescient.events");
    READER_IS("second", "SELECT entity_key FROM prescient.events WHERE (generation, xid, id) > (SELECT "
                        "generation, xid, id FROM prescient.events WHERE entity_key = 'first')");
}

/* A consumer keeps one text, and goes on with it. */
static void a_reader_goes_on_behind_its_cursor(void)
{
    WITH_ROLES();
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.event (emitted_at, slot_at, check_count, event, "
                               "entity_name, entity_key, job_exec) SELECT now(), now(), 0, 'late', 'e', "
                               "i::text, 'j' FROM generate_series(1, 5) i"));
    READER_IS("1 2", "SELECT string_agg(entity_key, ' ') FROM prescient.events_after(NULL, 2)");
    READER_IS("3 4 5", "SELECT string_agg(n.entity_key, ' ') FROM prescient.events e, "
                       "prescient.events_after(e.cursor) n WHERE e.entity_key = '2'");
    READER_IS("0", "SELECT count(*) FROM prescient.events e, prescient.events_after(e.cursor) n WHERE "
                   "e.entity_key = '5'");
    READER_IS("22023", "SELECT * FROM prescient.events_after('99999999999-1-1')");
    READER_IS("22023", "SELECT * FROM prescient.events_after('4711')");
    READER_IS("22023", "SELECT * FROM prescient.events_after('')");
}

/* ---- what a reader may not ------------------------------------------------------------------- */

static void a_reader_may_read_the_views_and_nothing_else(void)
{
    WITH_ROLES();
    SQL_IS("bucket_of class_us delivery_backlog event_of events_after events_withheld generation_now "
           "jobs_noted newest_rows open_work pace pace_s pending refuse_cursor_ahead request_of "
           "row_events runs_by schema_state slot_ceil slot_count slot_fine_next slot_floor slot_for "
           "slot_length_s slot_next tokens",
           "SELECT string_agg(DISTINCT p.proname, ' ' ORDER BY p.proname) FROM pg_proc p WHERE "
           "p.pronamespace = 'prescient'::regnamespace AND has_function_privilege('" READER
           "', p.oid, 'EXECUTE')");
    SQL_IS("audit concurrency_limits consumers engines events history passes pauses pending places run_hours "
           "running runs schedules slots tallies",
           "SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_class c WHERE c.relnamespace = "
           "'prescient'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')"
           "   AND (has_table_privilege('" READER "', c.oid, 'SELECT')"
           "        OR has_any_column_privilege('" READER "', c.oid, 'SELECT'))");
    SQL_IS(
        "",
        "SELECT string_agg(c.relname, ' ') FROM pg_class c WHERE c.relnamespace = 'prescient'::regnamespace"
        "   AND c.relkind IN ('r', 'p', 'v', 'm')"
        "   AND (has_table_privilege('" READER
        "', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')"
        "        OR has_any_column_privilege('" READER "', c.oid, 'INSERT, UPDATE, REFERENCES'))");
    SQL_IS("f", "SELECT has_schema_privilege('" READER "', 'prescient', 'CREATE')");
}

static void what_a_reader_may_not_it_cannot(void)
{
    WITH_ROLES();
    put_one_of_each();
    static const char *const attempts[] = {
        "SELECT payload FROM prescient.future_job",
        "SELECT payload FROM prescient.future_job_history",
        "SELECT data FROM prescient.event",
        "SELECT * FROM prescient.setting",
        "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours')",
        "SELECT prescient.resolve('orders', '42')",
        "SELECT prescient.reschedule('orders', '42', 'unshipped', interval '3 hours')",
        "SELECT prescient.filed_at('orders', '42', 'unshipped')",
        "SELECT prescient.keep_history_days(3)",
        "SELECT prescient.current_generation()",
        "SELECT * FROM prescient.newest_rows(NULL::prescient.future_job_history, NULL, NULL, NULL, NULL, "
        "NULL, "
        "NULL, 1, NULL)",
        "DELETE FROM prescient.runs",
        "UPDATE prescient.history SET note = ''",
        "INSERT INTO prescient.runs (outcome) VALUES ('x')",
        "TRUNCATE prescient.future_job",
        "BEGIN; LOCK TABLE prescient.history IN EXCLUSIVE MODE",
        "CREATE RULE r AS ON SELECT TO prescient.pending DO INSTEAD SELECT 1",
        "CREATE OR REPLACE VIEW prescient.pending AS SELECT 1",
        "ALTER VIEW prescient.events RESET (security_barrier)",
        "CREATE TABLE prescient.mine (id int)",
        "GRANT SELECT ON prescient.history TO " SHOP,
        "SET ROLE prescient_engine",
        "SELECT * FROM payroll.salary",
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const char *got = pgfx_cell(pg_roles.reader, "%s", attempts[i]);
        PQclear(PQexec(pg_roles.reader, "ROLLBACK"));
        /* a grant without the right to it is a warning in some cases; it changes nothing */
        if (strcmp(got, DENIED) != 0 && strncmp(attempts[i], "GRANT SELECT", 12) != 0) {
            printf("      %s: '%s'\n", attempts[i], got);
            CU_FAIL("not denied");
        }
    }
    READER_IS("55000", "DELETE FROM prescient.pending"); /* nobody can: it is a join */
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("f", "SELECT has_table_privilege('" SHOP "', 'prescient.history', 'SELECT')");
}

/* An application that enqueues may ask for a row that it can name, and may not look through all. */
static void an_enqueuer_reads_no_view(void)
{
    WITH_ROLES();
    put_one_of_each();
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        SHOP_IS(DENIED, "SELECT count(*) FROM prescient.%s", views[i].name);
    SHOP_IS("unshipped", "SELECT job_exec FROM prescient.pending('orders', 42)");
}

static void note_words(void *arg, const char *words)
{
    char *heard = arg;
    size_t used = strlen(heard);
    snprintf(heard + used, 4096 - used, "%s", words);
}

/* A function of the reader's own, so cheap that it would be called before all else, sees what the
 * view shows and no more. */
static void a_function_in_a_where_sees_what_the_view_shows(void)
{
    WITH_ROLES();
    char heard[4096] = "";
    put_one_of_each();
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, "
                               "job_exec) VALUES (now(), 'late', 'orders', 'withheld', 'j')"));
    READER_IS("", "CREATE FUNCTION pg_temp.peek(text) RETURNS boolean COST 0.0000001 LANGUAGE plpgsql AS "
                  "'BEGIN RAISE NOTICE ''saw %%'', $1; RETURN true; END'");
    READER_IS("", "CREATE OPERATOR pg_temp.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq)");
    PQnoticeProcessor before = PQsetNoticeProcessor(pg_roles.reader, note_words, heard);
    READER_IS("1", "SELECT count(*) FROM prescient.events WHERE pg_temp.peek(entity_key)");
    READER_IS("1", "SELECT count(*) FROM prescient.events e WHERE pg_temp.peek(e::text)");
    READER_IS("1", "SELECT count(*) FROM prescient.history h WHERE pg_temp.peek(h::text)");
    READER_IS("1", "SELECT count(*) FROM prescient.pending p WHERE pg_temp.peek(p::text)");
    PQsetNoticeProcessor(pg_roles.reader, before, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard, "saw 42"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard, "no carrier"));
    CU_ASSERT_PTR_NULL(strstr(heard, "withheld"));
    CU_ASSERT_PTR_NULL(strstr(heard, "4111"));
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
}

/* ---- beside later migrations and prune ------------------------------------------------------- */

static void a_column_more_in_a_table_leaves_the_views_as_they_are(void)
{
    WITH_ROLES();
    static const char *const tables[] = { "future_job", "future_job_history", "future_job_run", "event",
                                          "slot_pass", "schedule", "pause", "cursor", "place",
                                          "concurrency_limit", "run_hour", "run_now", "engine_seen",
                                          "tally", "change" };
    put_one_of_each();
    SQL_IS("paused", "SELECT prescient.pause(entity => 'nothing')");
    SQL_IS("new", "SELECT prescient.schedule('nightly', 'shops', '7', 'sync', interval '1 hour', "
                  "payload => '{\"card\": \"4111\"}')");
    SQL_IS("", "INSERT INTO prescient.cursor (kind, name) VALUES ('consumer', 'mail')");
    SQL_IS("set", "SELECT prescient.set_concurrency('shop*', 2)");
    SQL_IS("", "INSERT INTO prescient.place (concurrency_key, number, owner, expires_at, lasts_s, taken_at) "
               "VALUES ('shop', 1, '00000000-0000-4000-8000-000000000000', now(), 60, now())");
    SQL_IS("", "INSERT INTO prescient.run_hour VALUES (now(), 'sync', 'shops', 'acme', 'done', "
               "1, 7, 7, 7, '{7}', '{1}', '{7}', '{1}')");
    SQL_IS("", "INSERT INTO prescient.tally VALUES ('run', 'sync', 'done', 1, 7, '{1}', 7, '{1}')");
    SQL_IS("", "INSERT INTO prescient.run_now VALUES ('00000000-0000-4000-8000-000000000000', 1, "
               "'shop-1/7', 7, 'shops', '7', 'sync', now(), now(), clock_timestamp())");
    SQL_IS("", "INSERT INTO prescient.engine_seen VALUES ('shop-1', 'daemon', 'a.cfg', '4111', 'sync', "
               "now(), now() + interval '1 hour')");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        SQL_IS("", "ALTER TABLE prescient.%s ADD COLUMN later_on text DEFAULT '4111'", tables[i]);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        READER_IS("t f",
                  "SELECT concat_ws(' ', count(*) > 0, bool_or(v::text LIKE '%%4111%%')) FROM "
                  "prescient.%s v",
                  views[i].name);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        SQL_IS("", "ALTER TABLE prescient.%s DROP COLUMN later_on", tables[i]);
}

static void old_days_are_dropped_beside_the_views(void)
{
    WITH_ROLES();
    static const char *const tables[] = { "future_job_history", "future_job_run", "event" };
    SQL_IS("", "SELECT prescient.make_history_day('2020-01-01')");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char day[64];
        snprintf(day, sizeof day, "%s_p20200101", tables[i]);
        SQL_IS(day, "SELECT prescient.drop_old_day('%s', now() - interval '90 days')", tables[i]);
    }
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        READER_IS("0", "SELECT count(*) FROM prescient.%s", views[i].name);
}

static const struct test tests[] = {
    TEST(what_waits_for_a_row_is_told_for_a_key_of_any_type),
    TEST(a_row_without_a_name_and_a_key_of_another_type_are_refused),
    TEST(what_was_asked_again_is_told_beside_the_running_slot),
    TEST(what_is_paused_is_told_to_be),
    TEST(the_columns_of_the_views_stay_as_they_are),
    TEST(a_view_names_its_columns_as_the_report_does),
    TEST(a_reader_sees_every_row_and_no_payload),
    TEST(slots_are_open_then_looked_at_again_then_closed),
    TEST(an_event_is_shown_when_nothing_can_come_before_it),
    TEST(a_reader_goes_on_behind_its_cursor),
    TEST(a_reader_may_read_the_views_and_nothing_else),
    TEST(what_a_reader_may_not_it_cannot),
    TEST(an_enqueuer_reads_no_view),
    TEST(a_function_in_a_where_sees_what_the_view_shows),
    TEST(a_column_more_in_a_table_leaves_the_views_as_they_are),
    TEST(old_days_are_dropped_beside_the_views),
    { NULL, NULL },
};

const struct suite suite_store_pg_readers = { "store_pg_readers", pg_roles_setup, pg_roles_teardown, tests };
