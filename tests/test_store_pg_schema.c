/* test_store_pg_schema.c - history by days, reports, and the servers and schemas that fit or do
 * not. */
/* about 8 s */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/store/store_pg.h"
#include "pg_fixture.h"

static void every_report_runs_with_and_without_parameters(void)
{
    WITH_SERVER();
    pgfx_put_checks(3);
    pgfx_take();
    struct arena *a = arena_new(4096);
    static const struct { const char *name; int nparams, least; const char *first, *params[8]; } all[] = {
        { "list", 6, 3, "next_check_at", { "e", "2", "look", "0", "1772370901", "10" } },
        { "history", 7, 0, "ended_at_us", { "e", "2", "look", "done", "0", "1772370901", "10" } },
        { "runs", 7, 0, "run_at_us", { "e", "2", "look", "again", "0", "1772370901", "10" } },
        { "slots", 3, 1, "slot_at", { "0", "1772370901", "10" } },
        { "passes", 3, 1, "slot_at", { "0", "1772370901", "10" } },
        { "status", 1, 1, "now_at", { "1772370960" } },
        { "leases", 0, 1, "slot_at", { NULL } },
        { "put_off", 1, 0, "job_exec", { "10" } },
        { "jobs_pending", 0, 1, "job_exec", { NULL } },
        { "growth", 0, 4, "what", { NULL } },
        { "events", 4, 0, "cursor", { "0", "0", "0", "10" } },
        { "events_end", 0, 1, "cursor", { NULL } },
        { "doctor", 1, 10, "what", { "1772370960" } },
        { "whole", 1, 0, "what", { "1" } },
        { "plan", 1, 1, "line", { "1772370900" } },
        { "retry_found", 4, 0, "mark", { "e", "2", "look", "0" } },
        { "retry", 4, 0, "entity_name",
          { "[[\"e\", \"2\", \"look\", 1]]", "1772380000000000", "1772380000", "1772370960" } },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int n = 0; n <= all[i].nparams; n += all[i].nparams ? all[i].nparams : 1) {
            struct store_report r = pgfx_report(a, all[i].name, n, all[i].params);
            if (r.call.rc < 0)
                printf("      %s/%d: %s\n", all[i].name, n, r.call.err.text);
            CU_ASSERT_EQUAL_FATAL(r.call.rc, 0);
            CU_ASSERT_STRING_EQUAL(r.rows.names[0], all[i].first);
            CU_ASSERT(n > 0 || r.rows.rows >= all[i].least);
            if (getenv("VERBOSE") && n == 0)
                for (int row = 0; row < r.rows.rows; row++, printf("\n"))
                    for (int c = 0; c < r.rows.columns; c++)
                        printf("%s=%s ", r.rows.names[c], r.rows.cells[row * r.rows.columns + c]);
        }
    struct store_report none = pgfx_report(a, "no such thing", 0, NULL);
    CU_ASSERT_EQUAL(none.call.rc, ERR_NOTFOUND);
    arena_free(a);
}

static void the_name_of_a_schema_is_not_put_into_names_of_entities(void)
{
    static const struct {
        const char *text, *expected;
    } is[] = {
        { "prescient.event e, prescient_schema", "other.event e, other" },
        { "'prescient.event'::regclass", "'other.event'::regclass" },
        { "nextval('prescient.event_id_seq')", "nextval('other.event_id_seq')" },
        { "entity = 'prescient.event' OR ''prescient.digest''",
          "entity = 'prescient.event' OR ''prescient.digest''" },
        { "of \"prescient.digest\"", "of \"prescient.digest\"" },
        { "entity is prescient.event, which", "entity is prescient.event, which" },
        { "prescient: prescient.enqueue()", "prescient: other.enqueue()" },
    };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        char *text = pg_with_schema(is[i].text, "other");
        CU_ASSERT_STRING_EQUAL(text, is[i].expected);
        free(text);
    }
}

/* ---- history by days ------------------------------------------------------------------------- */

/* The store may have been made yesterday, a moment before midnight: now the days until then are
 * indexed, and there are those to come. */
static void the_store_is_of_today(void)
{
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 3;
    RC_IS(0, pgfx_call(&days.call));
    days.days = 0;
    days.indexed = 1;
    for (int i = 0; i < 20 && days.indexed > 0; i++)
        RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_EQUAL(days.indexed, 0);
}

static void no_lease_is_taken_without_a_partition_for_today(void)
{
    WITH_SERVER();
    the_store_is_of_today();
    pgfx_put_checks(1);
    char day[64];
    snprintf(day, sizeof day, "%s",
             pgfx_cell(pgfx.app,
                       "SELECT prescient.day_table('future_job_history', prescient.utc_day(now()))"));
    PQclear(pgfx_ask(
        pgfx.app,
        "ALTER TABLE prescient.future_job_history DETACH PARTITION prescient.%s; DROP TABLE prescient.%s",
        day, day));
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(ERR_LOST, pgfx_call(&o.call));
    CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, "no partition of history"));
    SQL_IS("0", "SELECT count(*) FROM prescient.slot_lease");
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 3;
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_EQUAL(days.made, 1);
    o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 1);
}

static void a_settle_without_a_partition_is_no_verdict_about_a_check(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 1);
    char day[64];
    snprintf(day, sizeof day, "%s",
             pgfx_cell(pgfx.app,
                       "SELECT prescient.day_table('future_job_history', prescient.utc_day(now()))"));
    PQclear(pgfx_ask(
        pgfx.app,
        "ALTER TABLE prescient.future_job_history DETACH PARTITION prescient.%s; DROP TABLE prescient.%s",
        day, day));
    RC_IS(ERR_LOST, pgfx_run_settle(&run).call.rc);
    SQL_IS("1", "SELECT prescient.resolve('e', '1')");          /* an application makes the day it needs */
    SQL_IS("resolved", "SELECT outcome FROM prescient.future_job_history");
    check_rows_free(&run.page);
}

/* That lock was once what decided who makes days, and anybody who can connect may hold it. */
static void a_lock_that_anybody_may_hold_keeps_no_day_from_being_made(void)
{
    WITH_SERVER();
    PQclear(
        pgfx_ask(pgfx.other,
                 "SELECT pg_advisory_lock(1886544243, 'prescient.future_job_history'::regclass::oid::int)"));
    char day[64];
    snprintf(day, sizeof day, "%s",
             pgfx_cell(pgfx.app,
                       "SELECT prescient.day_table('future_job_history', prescient.utc_day(now()))"));
    PQclear(pgfx_ask(pgfx.app, "DROP TABLE prescient.%s", day));
    SQL_IS("1", "SELECT prescient.keep_history_days(0)");
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_advisory_unlock_all()"));
}

/* Each of the three tables is asked for. */
static void no_lease_is_taken_without_a_day_for_runs_or_events(void)
{
    WITH_SERVER();
    static const char *const tables[] = { "future_job_run", "event" };
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_FATAL(pgfx_begin());
        pgfx_put_checks(1);
        char day[64];
        snprintf(
            day, sizeof day, "%s",
            pgfx_cell(pgfx.app, "SELECT prescient.day_table('%s', prescient.utc_day(now()))", tables[i]));
        PQclear(pgfx_ask(pgfx.app, "DROP TABLE prescient.%s", day));
        struct store_open_slot o = pgfx_open_slot(pgfx_owner);
        RC_IS(ERR_LOST, pgfx_call(&o.call));
        SQL_IS("1", "SELECT prescient.keep_history_days(0)");
        o = pgfx_open_slot(pgfx_owner);
        RC_IS(0, pgfx_call(&o.call));
        CU_ASSERT_EQUAL(o.ntaken, 1);
    }
}

/* Two days of long ago in all tables, with a row each of the first. */
static void make_old_days(void)
{
    PQclear(pgfx_ask(
        pgfx.app,
        "SELECT prescient.make_history_day('2020-01-01'); SELECT prescient.make_history_day('2020-01-02')"));
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, "
                     "first_check_at, check_count, failure_count, run_count,"
                     " entity_name, entity_key, job_exec, outcome) SELECT t, t, t, t, 0, 0, 1, 'e', '1', "
                     "'j', 'done' FROM (SELECT '2020-01-01 12:00+00'::timestamptz AS t) x"));
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.future_job_run (recorded_at, run_at, slot_at, next_check_at, "
                     "run_us, check_count, failure_count,"
                     " entity_name, entity_key, job_exec, outcome) SELECT t, t, t, t, 0, 0, 1, 'e', '1', "
                     "'j', 'again' FROM (SELECT '2020-01-01 12:00+00'::timestamptz AS t) x"));
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.event (recorded_at, emitted_at, event, entity_name, "
                               "entity_key, job_exec) VALUES"
                               " ('2020-01-01 12:00+00', '2019-01-01', 'old', 'e', '1', 'j'), (now(), "
                               "'2019-01-01', 'of a replay', 'e', '1', 'j')"));
    PQclear(pgfx_ask(
        pgfx.app,
        "INSERT INTO prescient.slot_pass (recorded_at, slot_at, bucket, pass, split, closed_at) VALUES"
        " ('2020-01-01', '2019-01-01', -1, 0, 1, now()), ('2020-01-01', '2019-01-02', -1, 0, 1, NULL), "
        "(now(), '2019-01-03', -1, 0, 1, now())"));
}

#define JANUARY_3 1578009600                    /* of 2020 */
#define OLD_TABLES                                                                                           \
    "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relkind = 'r' AND relname ~ "      \
    "'_p2020....$'"

static void days_that_are_over_are_indexed(void)
{
    WITH_SERVER();
    the_store_is_of_today();
    make_old_days();
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 1;
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_EQUAL(days.indexed, 0);
    days.days = 0;
    for (int i = 0; i < 14; i++) {
        RC_IS(0, pgfx_call(&days.call));
        CU_ASSERT_EQUAL(days.indexed, 1);
    }
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_EQUAL(days.indexed, 0);
    SQL_IS("6", "SELECT count(*) FROM pg_indexes WHERE tablename ~ '_p2020....$' AND indexdef LIKE "
                "'%%(entity_name, entity_key)%%'");
    SQL_IS("8", "SELECT count(*) FROM pg_indexes WHERE tablename ~ '_p2020....$' AND indexdef ~ "
                "'[(](job_exec|outcome), (archived|recorded)_at[)]'");
    struct prune_counts counts;
    RC_IS(0, store_prune(pgfx.st, JANUARY_3, false, &counts, &pgfx.err));
}

static void days_that_are_old_are_dropped_from_all_tables(void)
{
    WITH_SERVER();
    make_old_days();
    struct prune_counts counts;
    /* 2020-01-02: the second day is not over then */
    int64_t before = 1577923200;
    RC_IS(0, store_prune(pgfx.st, before, true, &counts, &pgfx.err));
    CU_ASSERT(counts.by_days && counts.history == 1 && counts.runs == 1 && counts.events == 1 &&
              counts.passes == 1);
    SQL_IS("6", "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '_p2020....$'");
    RC_IS(0, store_prune(pgfx.st, before, false, &counts, &pgfx.err));
    CU_ASSERT(counts.by_days && counts.history == 1 && counts.runs == 1 && counts.events == 1 &&
              counts.passes == 1);
    SQL_IS("event_p20200102 future_job_history_p20200102 future_job_run_p20200102", OLD_TABLES);
    SQL_IS("of a replay", "SELECT string_agg(event, ' ') FROM prescient.event");
    SQL_IS("2", "SELECT count(*) FROM prescient.slot_pass");
    RC_IS(0, store_prune(pgfx.st, before + 86400, false, &counts, &pgfx.err));
    CU_ASSERT(counts.history == 1 && counts.runs == 1 && counts.events == 1);
    SQL_IS("", OLD_TABLES);
}

static void what_is_young_is_never_dropped_whatever_is_asked(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, "SELECT prescient.keep_history_days(2); SELECT "
                               "prescient.make_history_day(prescient.utc_day(now()) - 1);"
                               "SELECT prescient.make_history_day(prescient.utc_day(now()) - 2)"));
    struct prune_counts counts;
    RC_IS(0, store_prune(pgfx.st, 4102444800, false, &counts, &pgfx.err));      /* 2100 */
    CU_ASSERT(counts.history >= 1 && counts.runs >= 1 && counts.events >= 1);
    SQL_IS("t", "SELECT prescient.history_day_is_there(prescient.utc_day(now()) - 1) AND "
                "prescient.history_day_is_there(prescient.utc_day(now()))");
    SQL_IS("f", "SELECT prescient.history_day_is_there(prescient.utc_day(now()) - 2)");
    SQL_IS("", "SELECT prescient.drop_old_day('future_job', '2100-01-01')");
}

static void a_reader_of_one_table_is_named_and_the_others_are_pruned(void)
{
    WITH_SERVER();
    make_old_days();
    PQclear(pgfx_ask(
        pgfx.other,
        "SET application_name = 'backup'; BEGIN; SELECT count(*) FROM prescient.future_job_history"));
    struct prune_counts counts;
    RC_IS(ERR_BUSY, store_prune(pgfx.st, JANUARY_3, false, &counts, &pgfx.err));
    CU_ASSERT(strstr(pgfx.err.text, "future_job_history_p20200101 is in use by pid") &&
              strstr(pgfx.err.text, "backup"));
    CU_ASSERT(counts.history == 0 && counts.runs == 2 && counts.events == 2 && counts.passes == 1);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    RC_IS(0, store_prune(pgfx.st, JANUARY_3, false, &counts, &pgfx.err));
    CU_ASSERT(counts.history == 2 && counts.runs == 0);
    SQL_IS("", OLD_TABLES);
}

/* An older program detached first, and may have been interrupted in the middle of that, or before
 * it dropped what it had detached. */
static void what_an_interrupted_prune_left_behind_goes(void)
{
    WITH_SERVER();
    make_old_days();
    PQclear(pgfx_ask(pgfx.other, "BEGIN; SELECT count(*) FROM prescient.future_job_history"));
    PQclear(pgfx_ask(pgfx.app, "SET lock_timeout = '50ms'"));
    PQclear(pgfx_ask(pgfx.app, "ALTER TABLE prescient.future_job_history DETACH PARTITION "
                               "prescient.future_job_history_p20200101 CONCURRENTLY"));
    PQclear(pgfx_ask(pgfx.app, "RESET lock_timeout"));
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    PQclear(pgfx_ask(
        pgfx.app,
        "ALTER TABLE prescient.future_job_history DETACH PARTITION prescient.future_job_history_p20200102"));
    if (PQserverVersion(pgfx.app) >= 140000)
        SQL_IS("t", "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = "
                    "'prescient.future_job_history_p20200101'::regclass");
    struct prune_counts counts;
    RC_IS(0, store_prune(pgfx.st, JANUARY_3, false, &counts, &pgfx.err));
    CU_ASSERT_EQUAL(counts.history, 2);
    SQL_IS("", OLD_TABLES);
}

/* A table without a key takes no DELETE where a publication sends deletes of all tables. */
static void what_is_published_is_pruned_too(void)
{
    WITH_SERVER();
    make_old_days();
    PQclear(pgfx_ask(pgfx.app, "CREATE PUBLICATION everything FOR ALL TABLES"));
    struct prune_counts counts;
    RC_IS(0, store_prune(pgfx.st, JANUARY_3, false, &counts, &pgfx.err));
    CU_ASSERT(counts.history == 2 && counts.runs == 2 && counts.events == 2 && counts.passes == 1);
    PQclear(pgfx_ask(pgfx.app, "DROP PUBLICATION everything"));
}

/* ---- server and schema ----------------------------------------------------------------------- */

static int hello_of(const struct store_options *options)
{
    struct store *s = pgfx_new_store(options);
    struct store_hello hello = STORE_HELLO_INIT;
    int rc = store_do(s, &hello.call);
    pgfx.err = hello.call.err;
    store_free(s);
    return rc;
}

static void a_server_that_does_not_fit_is_refused_in_words(void)
{
    WITH_SERVER();
    RC_IS(ERR_SCHEMA, hello_of(&(struct store_options){ .schema = "nothing_here" }));
    CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, "prescient init"));
    RC_IS(ERR_SETTINGS, hello_of(&(struct store_options){ .slot_length_s = 60 }));
    CU_ASSERT(strstr(pgfx.err.text, "60") && strstr(pgfx.err.text, "900"));
    PQclear(pgfx_ask(pgfx.app, "ALTER DATABASE %s SET default_transaction_isolation = 'serializable'",
                     pgfx.db.name));
    RC_IS(ERR_SETTINGS, hello_of(NULL));
    CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, "serializable"));
    PQclear(pgfx_ask(pgfx.app, "ALTER DATABASE %s RESET default_transaction_isolation", pgfx.db.name));
    PQclear(pgfx_ask(pgfx.app, "ALTER DATABASE %s SET default_transaction_read_only = on", pgfx.db.name));
    RC_IS(ERR_LOST, hello_of(NULL));
    PQclear(pgfx_ask(pgfx.app, "ALTER DATABASE %s RESET default_transaction_read_only", pgfx.db.name));
    PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.migration SET oldest_engine = 9999 WHERE version = 1"));
    RC_IS(ERR_SCHEMA, hello_of(NULL));
    CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, "9999"));
    PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.migration SET oldest_engine = 1 WHERE version = 1"));
    RC_IS(0, hello_of(NULL));
}

/* Migrations of other names have made it: it is of a program from before the first release. */
static void a_schema_of_an_unreleased_version_is_refused_in_words(void)
{
    WITH_SERVER();
    static const char words[] = "schema 'prescient' was made by an unreleased version of prescient, and no "
                                "migration leads from it to this one: dump what you need, drop it (DROP "
                                "SCHEMA prescient CASCADE), and run `prescient init`";
    struct migrate_options options = { 0 };
    char name[100];
    snprintf(name, sizeof name, "%s",
             pgfx_cell(pgfx.app, "SELECT name FROM prescient.migration WHERE version = 2"));
    SQL_IS("", "UPDATE prescient.migration SET name = '0002_history_days' WHERE version = 2");
    SQL_IS("", "INSERT INTO prescient.migration VALUES (86, '0086_within', '', 80)");
    RC_IS(ERR_SCHEMA, hello_of(NULL));
    CU_ASSERT_STRING_EQUAL(pgfx.err.text, words);
    RC_IS(ERR_SCHEMA, store_migrate(pgfx.st, &options, &pgfx.err));
    CU_ASSERT_STRING_EQUAL(pgfx.err.text, words);
    options.dry_run = true;
    RC_IS(ERR_SCHEMA, store_migrate(pgfx.st, &options, &pgfx.err));
    CU_ASSERT_STRING_EQUAL(pgfx.err.text, words);
    SQL_IS("", "DELETE FROM prescient.migration WHERE version = 86");
    SQL_IS("", "UPDATE prescient.migration SET name = '%s' WHERE version = 2", name);
    RC_IS(0, hello_of(NULL));
}

static void a_migration_that_was_applied_with_another_text_is_named(void)
{
    WITH_SERVER();
    struct migrate_options options = { 0 };
    RC_IS(0, store_migrate(pgfx.st, &options, &pgfx.err));
    PQclear(pgfx_ask(pgfx.app,
                     "UPDATE prescient.migration SET sha256 = 'x' || substr(sha256, 2) WHERE version = 2"));
    RC_IS(ERR_SCHEMA, store_migrate(pgfx.st, &options, &pgfx.err));
    CU_ASSERT(strstr(pgfx.err.text, "migration 0002_slots was applied with checksum x") &&
              strstr(pgfx.err.text, "unreleased version"));
    PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.migration SET sha256 = (SELECT sha256 FROM "
                               "prescient.migration WHERE version = 1) WHERE version = 99"));
    PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA prescient CASCADE"));
    options.dry_run = true;
    int would = store_migrate(pgfx.st, &options, &pgfx.err);
    CU_ASSERT(would > 0);
    options.dry_run = false;
    RC_IS(would, store_migrate(pgfx.st, &options, &pgfx.err));
    store_free(pgfx.st);                     /* its statements spoke of the tables that are gone */
    pgfx.st = pgfx_new_store(NULL);
}

static void a_new_slot_length_reslots_what_is_pending(void)
{
    WITH_SERVER();
    PQclear(
        pgfx_ask(pgfx.app,
                 "SELECT prescient.file_check('e', '1', 'j', '2030-01-01 00:15+00', NULL, 'keep', 0, NULL)"));
    struct migrate_options options = { .slot_length_s = 3600 };
    RC_IS(ERR_SETTINGS, store_migrate(pgfx.st, &options, &pgfx.err));
    options.change_slot_length = true;
    RC_IS(0, store_migrate(pgfx.st, &options, &pgfx.err));
    SQL_IS("t", "SELECT next_check_at = '2030-01-01 01:00+00' FROM prescient.future_job");
    SQL_IS("t", "SELECT prescient.slot_ceil('2030-01-01 00:00:01+00') = '2030-01-01 01:00+00'");
    options.slot_length_s = 7;
    RC_IS(ERR_SETTINGS, store_migrate(pgfx.st, &options, &pgfx.err));
    options.slot_length_s = LENGTH;
    RC_IS(0, store_migrate(pgfx.st, &options, &pgfx.err));
}

static void a_schema_of_another_name_and_unprepared_statements_work(void)
{
    WITH_SERVER();
    struct store *usual = pgfx.st;
    pgfx.st = pgfx_new_store(&(struct store_options){ .schema = "bench_1", .unprepared = true });
    struct migrate_options options = { .slot_length_s = 60 };
    CU_ASSERT(store_migrate(pgfx.st, &options, &pgfx.err) > 0);
    SQL_IS("1", "SELECT bench_1.keep_history_days(0)");
    SQL_IS("new",
           "SELECT (bench_1.file_check('e', '1', 'look', to_timestamp(%" PRId64
           "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))).outcome",
           SLOT, SLOT - 1000);
    struct lease lease = pgfx_take();
    CU_ASSERT_EQUAL(store_slot_length_s(pgfx.st), 60);
    struct check_rows page = pgfx_read_page(&lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    struct settlement s = pgfx_done(&page.checks[0]);
    struct store_settle settle = pgfx_settle_of(&lease, &s, 1);
    RC_IS(0, pgfx_call(&settle.call));
    SQL_IS("1", "SELECT count(*) FROM bench_1.future_job_history");
    check_rows_free(&page);
    store_free(pgfx.st);
    pgfx.st = usual;
    PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA bench_1 CASCADE"));
    struct store *bad = NULL;
    CU_ASSERT_EQUAL(
        store_new(&(struct store_options){ .url = pgfx.db.url, .schema = "no; DROP" }, &bad, &pgfx.err),
        ERR_INPUT);
}

static void the_second_host_is_tried_when_the_first_is_not_there(void)
{
    WITH_SERVER();
    const char *host = strstr(pgfx.db.url, "host=");
    char two[700];
    if (!host)
        return;
    snprintf(two, sizeof two, "%.*shost=/nowhere,%s", (int)(host - pgfx.db.url), pgfx.db.url,
             host + strlen("host="));
    RC_IS(0, hello_of(&(struct store_options){ .url = two }));
    snprintf(two, sizeof two, "%.*shost=/nowhere", (int)(host - pgfx.db.url), pgfx.db.url);
    RC_IS(ERR_LOST, hello_of(&(struct store_options){ .url = two }));
    CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, "/nowhere"));
}

static const struct test tests[] = {
    TEST(every_report_runs_with_and_without_parameters),
    TEST(the_name_of_a_schema_is_not_put_into_names_of_entities),
    TEST(no_lease_is_taken_without_a_partition_for_today),
    TEST(a_settle_without_a_partition_is_no_verdict_about_a_check),
    TEST(a_lock_that_anybody_may_hold_keeps_no_day_from_being_made),
    TEST(no_lease_is_taken_without_a_day_for_runs_or_events),
    TEST(days_that_are_over_are_indexed),
    TEST(days_that_are_old_are_dropped_from_all_tables),
    TEST(what_is_young_is_never_dropped_whatever_is_asked),
    TEST(a_reader_of_one_table_is_named_and_the_others_are_pruned),
    TEST(what_an_interrupted_prune_left_behind_goes),
    TEST(what_is_published_is_pruned_too),
    TEST(a_server_that_does_not_fit_is_refused_in_words),
    TEST(a_schema_of_an_unreleased_version_is_refused_in_words),
    TEST(a_migration_that_was_applied_with_another_text_is_named),
    TEST(a_new_slot_length_reslots_what_is_pending),
    TEST(a_schema_of_another_name_and_unprepared_statements_work),
    TEST(the_second_host_is_tried_when_the_first_is_not_there),
    { NULL, NULL },
};

const struct suite suite_store_pg_schema = { "store_pg_schema", pgfx_setup, pgfx_teardown, tests };
