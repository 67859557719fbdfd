/* test_store_sqlite.c - what only the SQLite store does with its schema, the slot length, a relaxed
 * replay, a deadline and without memory; what both stores promise is in the contract. */
#include "sqlite_store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void a_schema_that_needs_a_newer_program_is_refused(void)
{
    litefx_begin();
    SQL_IS("", "INSERT INTO prescient_migration VALUES (9000, '9000_later', 'x', 1, 0)");
    struct store *s = litefx_connect(litefx.url, (struct store_options){ 0 });
    RC_IS(0, litefx_hello(s));                 /* newer, but made for us as well */
    store_free(s);
    SQL_IS("", "UPDATE prescient_migration SET oldest_engine = 9000 WHERE version = 9000");
    s = litefx_connect(litefx.url, (struct store_options){ 0 });
    RC_IS(ERR_SCHEMA, litefx_hello(s));
    SAYS("9000");
    RC_IS(ERR_SCHEMA, litefx_init(s));
    SAYS("9000");
    store_free(s);
}

static void a_migration_applied_with_other_contents_is_refused(void)
{
    litefx_begin();
    SQL_IS("", "UPDATE prescient_migration SET checksum = 'something else' WHERE version = 1");
    RC_IS(ERR_SCHEMA, litefx_init(litefx.st));
    SAYS("0001_tables");
}

/* In the transaction that creates its tables: no process sees the file with another length. */
static void a_new_file_takes_the_slot_length_that_was_asked_for(void)
{
    litefx_begin();
    char other[sizeof litefx.path + 8], other_url[sizeof other + 8];
    snprintf(other, sizeof other, "%s.other", litefx.path);
    snprintf(other_url, sizeof other_url, "sqlite:%s", other);
    struct store *s = litefx_connect(other_url, (struct store_options){ 0 });
    struct migrate_options wanted = { .slot_length_s = 300 };
    CU_ASSERT(store_migrate(s, &wanted, &litefx_err) > 0);
    store_free(s);
    sqlite3 *db = NULL;
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(other, &db), SQLITE_OK);
    CU_ASSERT_STRING_EQUAL("300", litefx_ask(db, "SELECT value FROM prescient_setting "
                                                 "WHERE name = 'slot_length_s'"));
    CU_ASSERT_STRING_EQUAL("1", litefx_ask(db, "SELECT count(origin) + 1 FROM prescient_future_job"));
    sqlite3_close(db);
    unlink(other);
}

static void a_slot_length_changed_under_an_engine_stops_it(void)
{
    litefx_begin();
    RC_IS(0, litefx_take(litefx.st));
    struct store *s = litefx_connect(litefx.url, (struct store_options){ 0 });
    struct migrate_options change = { .slot_length_s = 300, .change_slot_length = true };
    RC_IS(0, store_migrate(s, &change, &litefx_err));
    store_free(s);
    RC_IS(ERR_CHANGED, litefx_take(litefx.st));
    SAYS("was changed from 900 s to 300 s");
}

static void the_slot_length_is_not_changed_while_checks_are_run(void)
{
    litefx_begin();
    RC_IS(3, litefx_load(litefx.st, 0, 3));
    RC_IS(1, litefx_take(litefx.st));
    struct migrate_options change = { .slot_length_s = 300, .change_slot_length = true };
    RC_IS(ERR_BUSY, store_migrate(litefx.st, &change, &litefx_err));
    SAYS("leases");
    SQL_IS("900", "SELECT value FROM prescient_setting WHERE name = 'slot_length_s'");
}

/* A number that does not fit is not cut to one that does. */
static void a_slot_length_beyond_all_numbers_is_an_error(void)
{
    litefx_begin();
    SQL_IS("", "UPDATE prescient_setting SET value = 4294968196 WHERE name = 'slot_length_s'");
    struct migrate_options o = { .slot_length_s = 900 };
    RC_IS(ERR_DATA, store_migrate(litefx.st, &o, &litefx_err));
    SAYS("cannot be read");
}

/* The table is built anew. A column that the copy leaves out is lost with what was in it. */
static void a_change_of_the_slot_length_keeps_each_column(void)
{
    litefx_begin();
    RC_IS(1, litefx_load(litefx.st, 0, 1));
    SQL_IS("", "UPDATE prescient_future_job SET first_check_at = first_check_at - 900, priority = 1, "
               "check_count = 2, failure_count = 3, deferred_at = 4, again_at = 5400, run_count = 6, "
               "first_run_at_us = 7, total_run_us = 8, payload = '10', origin = '9', "
               "put_off_at = 11, terms = '12', concurrency_key = '13', tenant = '14'");
    char columns[2000], all[2200], before[4000];
    snprintf(columns, sizeof columns, "%s",
             litefx_ask(litefx.app, "SELECT group_concat('quote(' || name || ')', ' || '','' || ') "
                             "FROM pragma_table_info('prescient_future_job')"));
    snprintf(all, sizeof all, "SELECT %s FROM prescient_future_job", columns);
    snprintf(before, sizeof before, "%s", litefx_ask(litefx.app, all));
    CU_ASSERT_PTR_NULL(strstr(before, "NULL"));         /* a new column is to be set above, too */
    struct migrate_options change = { .slot_length_s = 300, .change_slot_length = true };
    RC_IS(0, store_migrate(litefx.st, &change, &litefx_err));
    SQL_IS(before, all);
}

/* What a replay's store was told lies in one transaction until a hello: others see all of it or
 * nothing, and a call that fails undoes itself alone. */
static void a_relaxed_store_keeps_what_it_wrote_with_a_hello(void)
{
    litefx_begin();
    RC_IS(3, litefx_load(litefx.st, 0, 3));
    struct store *replay = litefx_replay(litefx.url);
    CU_ASSERT_PTR_NOT_NULL_FATAL(replay);
    RC_IS(1, litefx_take(replay));
    SQL_IS("0", "SELECT count(*) FROM prescient_slot_lease");
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = (struct lease){ .slot = SLOT, .bucket = BUCKET_WHOLE_SLOT, .token = 4711 };
    RC_IS(ERR_FENCED, store_do(replay, &f.call));
    RC_IS(0, litefx_hello(replay));
    SQL_IS("1", "SELECT count(*) FROM prescient_slot_lease");
    store_free(replay);
}

static void a_relaxed_store_that_loses_its_file_says_that_the_replay_is_to_be_started_again(void)
{
    litefx_begin();
    struct store *replay = litefx_replay(litefx.url);
    CU_ASSERT_PTR_NOT_NULL_FATAL(replay);
    RC_IS(0, litefx_take(replay));
    CU_ASSERT_EQUAL(unlink(litefx.path), 0);
    CU_ASSERT(litefx_hello(replay) < 0);
    RC_IS(ERR_INPUT, litefx_hello(replay));
    SAYS("start it again");
    store_free(replay);
}

#define EMIT                                                                                                 \
    "INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us, recorded_at_us, " \
    "slot_at, check_count) VALUES ('late', 'orders', '1', 'look', 1, 1, 900, 0)"

/* doctor says how many there are. The ids of a copy go on far above those of before. */
static void events_of_a_restored_copy_are_counted(void)
{
    litefx_begin();
    struct migrate_options options = { .restored = true };
    for (int i = 0; i < 3; i++) {
        SQL_IS("", EMIT);
        SQL_IS("", EMIT);
        RC_IS(0, store_migrate(litefx.st, &options, &litefx_err));
    }
    struct store_report r = STORE_REPORT_INIT;
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    r.name = "growth";
    r.arena = a;
    RC_IS(0, store_do(litefx.st, &r.call));
    static const char *const expected[] = { "history", "0", "runs", "0", "events", "6", "passes", "0" };
    CU_ASSERT_EQUAL_FATAL(r.rows.rows, 4);
    for (int i = 0; i < 4; i++) {
        const char *const *row = r.rows.cells + (size_t)i * (size_t)r.rows.columns;
        litefx_text_is(__LINE__, row[0], expected[2 * i]);
        litefx_text_is(__LINE__, row[1], expected[2 * i + 1]);
    }
}

static int64_t hurried_us(void *ctx)
{
    return *(int64_t *)ctx += 1000000;  /* a second passes with every look at the clock */
}

static void a_statement_past_its_deadline_is_stopped(void)
{
    litefx_begin();
    for (int i = 0; i < 5; i++)
        RC_IS(1000, litefx_load(litefx.st, i * 1000, 1000));
    int64_t now = 0;
    struct clock clock = {
        .mono_us = hurried_us, .boot_us = hurried_us, .wall_us = clock_system.wall_us, .ctx = &now
    };
    struct store *s = litefx_connect(litefx.url,
                                     (struct store_options){ .clock = &clock, .statement_timeout_ms = 500 });
    struct store_report r = STORE_REPORT_INIT;
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    r.name = "jobs_pending";
    r.arena = a;
    RC_IS(ERR_LOST, store_do(s, &r.call));
    litefx_err = r.call.err;
    SAYS("statement timeout");
    store_free(s);
}

static void without_memory_a_call_fails_cleanly(void)
{
    litefx_begin();
    int failed = 0, added = 0;
    for (int64_t limit = 60000; limit < 3000000; limit += limit / 10) {
        struct store *s = litefx_connect(litefx.url, (struct store_options){ .lock_timeout_ms = 20 });
        sqlite3_hard_heap_limit64(sqlite3_memory_used() + limit);
        int rc = litefx_load(s, added, 20);
        sqlite3_hard_heap_limit64(0);
        CU_ASSERT(rc == 20 || rc == ERR_LOST);
        failed += rc < 0;
        added += rc > 0 ? rc : 0;
        store_free(s);
    }
    CU_ASSERT(failed > 0 && added > 0);
    RC_IS(added, atoi(litefx_look("SELECT count(*) FROM prescient_future_job")));
    SQL_IS("ok", "PRAGMA integrity_check");
}

static const struct test tests[] = {
    TEST(a_schema_that_needs_a_newer_program_is_refused),
    TEST(a_migration_applied_with_other_contents_is_refused),
    TEST(a_new_file_takes_the_slot_length_that_was_asked_for),
    TEST(a_slot_length_changed_under_an_engine_stops_it),
    TEST(the_slot_length_is_not_changed_while_checks_are_run),
    TEST(a_slot_length_beyond_all_numbers_is_an_error),
    TEST(a_change_of_the_slot_length_keeps_each_column),
    TEST(a_relaxed_store_keeps_what_it_wrote_with_a_hello),
    TEST(a_relaxed_store_that_loses_its_file_says_that_the_replay_is_to_be_started_again),
    TEST(events_of_a_restored_copy_are_counted),
    TEST(a_statement_past_its_deadline_is_stopped),
    TEST(without_memory_a_call_fails_cleanly),
    { NULL, NULL },
};

const struct suite suite_store_sqlite = { "store_sqlite", NULL, litefx_teardown, tests };
