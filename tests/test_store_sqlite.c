/* test_store_sqlite.c - what only the SQLite store does: its views for applications, a file that
 * goes away, is full, read-only, damaged, busy or not ours; what both stores promise is in the
 * contract. */
#include "sqlite_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[400], path[450], url[470];
static struct store *st;
static sqlite3 *app;                        /* an application: plain SQLite, nothing of ours */

/* ---- the fixture ----------------------------------------------------------------------------- */

static int hello(struct store *s)
{
    struct store_hello h = STORE_HELLO_INIT;
    store_do(s, &h.call);
    litefx_err = h.call.err;
    return h.call.rc;
}

static void remove_files(void)
{
    char other[500];
    litefx_remove(path);
    snprintf(other, sizeof other, "%s.other", path);
    litefx_remove(other);
    snprintf(other, sizeof other, "%s.none", path);
    litefx_remove(other);
}

static void end(void)
{
    store_free(st);
    st = NULL;
    sqlite3_close(app);
    app = NULL;
    remove_files();
}

static void begin(void)
{
    end();
    err_clear(&litefx_err);
    snprintf(dir, sizeof dir, "%s/store_sqlite_%d", test_tmp_dir(), (int)getpid());
    mkdir(dir, 0755);
    snprintf(path, sizeof path, "%s/store.db", dir);
    snprintf(url, sizeof url, "sqlite:%s", path);
    remove_files();
    st = litefx_connect(url, (struct store_options){ .lock_timeout_ms = 20 });
    CU_ASSERT_FATAL(st && litefx_init(st) > 0);
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(path, &app), SQLITE_OK);
}

static int teardown(void)
{
    end();
    rmdir(dir);
    return 0;
}

static const char *ask(const char *sql) { return litefx_ask(app, sql); }

static void text_is(int line, const char *found, const char *expected)
{
    bool same = strcmp(found, expected) == 0;
    if (!same)
        printf("\n      line %d: found '%s', expected '%s'", line, found, expected);
    CU_ASSERT(same);
}
#define SQL_IS(expected, sql) text_is(__LINE__, ask(sql), expected)

static void rc_is(int line, int found, int expected)
{
    if (found != expected)
        printf("\n      line %d: found %d, expected %d: %s", line, found, expected, litefx_err.text);
    CU_ASSERT(found == expected);
}
#define RC_IS(expected, rc) rc_is(__LINE__, rc, expected)
#define SAYS(words) CU_ASSERT_PTR_NOT_NULL(strstr(litefx_err.text, words))

/* ---- the views, from any SQLite connection --------------------------------------------------- */

static void a_view_files_checks_by_text_or_number(void)
{
    begin();
    static const struct { const char *at, *slot;
    } all[] = {
        { "'2026-03-01 13:15:00'", "1772370900" },
        { "'2026-03-01 13:15:01'", "1772371800" },
        { "'2026-03-01T13:15:00Z'", "1772370900" },
        { "'2026-03-01 13:15:00.001'", "1772371800" },
        { "'2026-03-01T15:15:00+02:00'", "1772370900" },
        { "'2026-03-01'", "1772323200" },
        { "1772370900", "1772370900" },
        { "1772370900.5", "1772371800" },
        { "'1772370901'", "1772371800" },
        { "0", "900" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, now) VALUES "
                 "('orders', %d, 'look', %s, 1)",
                 (int)i, all[i].at);
        SQL_IS("", sql);
        snprintf(sql, sizeof sql, "SELECT next_check_at FROM prescient_future_job WHERE entity_key = '%d'",
                 (int)i);
        SQL_IS(all[i].slot, sql);
    }
}

static void a_view_uses_the_clock_when_it_is_given_no_now(void)
{
    begin();
    SQL_IS("", "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at) "
               "VALUES ('orders', '42', 'look', datetime('now', '+3 hours')), ('orders', '43', 'look', 1)");
    SQL_IS(
        "1",
        "SELECT next_check_at BETWEEN strftime('%s', 'now') + 10799 AND strftime('%s', 'now') + 10800 + 900 "
        "FROM prescient_future_job WHERE entity_key = '42'");
    SQL_IS("1", "SELECT next_check_at BETWEEN strftime('%s', 'now') + 0 AND strftime('%s', 'now') + 900 FROM "
                "prescient_future_job WHERE entity_key = '43'");
}

static void a_view_refuses_in_words(void)
{
    begin();
    static const struct { const char *values, *words;
    } all[] = {
        { "'orders', '1', 'look', 'tomorrow'",
          "prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch" },
        { "'orders', '1', 'look', NULL",
          "prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch" },
        { "'orders', '1', 'look', '13:00'",
          "prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch" },
        { "'orders', '1', 'look', x'31'",
          "prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch" },
        { "'orders', '1', 'look', '2026-13-01'", "prescient: check_at must lie in the years 1970 to 9999" },
        { "'orders', '1', 'look', -1", "prescient: check_at must lie in the years 1970 to 9999" },
        { "'orders', '1', 'look', 1e300", "prescient: check_at must lie in the years 1970 to 9999" },
        { "'orders', '', 'look', 1", "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
        { "'orders', 'a' || char(0) || 'b', 'look', 1",
          "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
        { "NULL, '1', 'look', 1", "prescient: entity_name must have 1 to 1024 bytes and no NUL" },
        { "'orders', CAST(x'ff' AS TEXT), 'look', 1",
          "prescient: entity_name, entity_key, job_exec and payload must be valid UTF-8" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at) VALUES (%s)",
                 all[i].values);
        SQL_IS(all[i].words, sql);
    }
    SQL_IS("prescient: conflict must be keep, earlier or replace",
           "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, conflict) VALUES "
           "('orders', '1', 'look', 1, 'never')");
    SQL_IS("prescient: payload must be valid JSON",
           "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload) VALUES "
           "('orders', '1', 'look', 1, '{')");
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job");
}

static void long_text_of_all_letters_passes_and_one_bad_byte_at_its_end_does_not(void)
{
    begin();
    SQL_IS("",
           "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload) "
           "VALUES ('orders', '1', 'look', 1, '\"' || replace(hex(zeroblob(7000)), '00', 'ü€🐘') || '\"')");
    SQL_IS("prescient: entity_name, entity_key, job_exec and payload must be valid UTF-8",
           "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload) "
           "VALUES ('orders', '2', 'look', 1, '\"' || replace(hex(zeroblob(4000)), '00', 'ü€🐘') || "
           "CAST(x'e282' AS TEXT) || '\"')");
}

static void views_work_in_triggers_and_transactions_of_the_application(void)
{
    begin();
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY, shipped INTEGER NOT NULL DEFAULT 0)");
    SQL_IS("", "CREATE TRIGGER placed AFTER INSERT ON orders BEGIN INSERT INTO prescient_enqueue "
               "(entity_name, entity_key, job_exec, check_at) "
               "VALUES ('orders', NEW.id, 'unshipped_order', strftime('%s', 'now') + 10800); END");
    SQL_IS("", "CREATE TRIGGER shipped AFTER UPDATE OF shipped ON orders WHEN NEW.shipped BEGIN "
               "INSERT INTO prescient_resolve (entity_name, entity_key) VALUES ('orders', NEW.id); END");
    SQL_IS("", "INSERT INTO orders (id) VALUES (42), (43)");
    SQL_IS("", "BEGIN");
    SQL_IS("", "UPDATE orders SET shipped = 1");
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job");
    SQL_IS("", "ROLLBACK");
    SQL_IS("2", "SELECT count(*) FROM prescient_future_job");
    SQL_IS("", "UPDATE orders SET shipped = 1 WHERE id = 42");
    SQL_IS("43", "SELECT group_concat(entity_key) FROM prescient_future_job");
    SQL_IS("42 resolved", "SELECT entity_key || ' ' || outcome FROM prescient_future_job_history");
    /* an application's own tables in the file change nothing for an engine */
    RC_IS(0, litefx_take(st));
}

static void a_view_reschedules(void)
{
    begin();
    SQL_IS("", "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, now) "
               "VALUES ('orders', '42', 'look', 900, '[1]', 1)");
    SQL_IS("", "INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at, now) VALUES "
               "('orders', '42', 'look', 1801, 1000)");
    SQL_IS("2700 [1]", "SELECT next_check_at || ' ' || payload FROM prescient_future_job");
    SQL_IS("", "INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at) VALUES "
               "('orders', '43', 'look', 1801)");
    SQL_IS("1", "SELECT count(*) FROM prescient_future_job");
}

static void a_plain_insert_must_lie_on_a_slot(void)
{
    begin();
    SQL_IS("CHECK constraint failed: next_check_at must be a slot (a multiple of the slot length)",
           "INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, "
           "next_check_at) VALUES ('o', '1', 'j', 901, 901)");
    SQL_IS("", "INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, "
               "next_check_at) VALUES ('o', '1', 'j', 900, 900)");
    SQL_IS("CHECK constraint failed: next_check_at must be a slot (a multiple of the slot length)",
           "UPDATE prescient_future_job SET next_check_at = next_check_at + 1");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void urls_name_a_file(void)
{
    begin();
    static const char *const bad[] = { "sqlite:", "sqlite://", "sqlite::memory:" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_PTR_NULL(litefx_connect(bad[i], (struct store_options){ 0 }));
        RC_IS(ERR_INPUT, litefx_err.code);
        SAYS("expected sqlite:FILE");
    }
    char other[480];
    snprintf(other, sizeof other, "sqlite://%s", path);
    struct store *s = litefx_connect(other, (struct store_options){ 0 });
    RC_IS(0, hello(s));
    store_free(s);
}

static void a_folder_that_is_left_does_not_move_the_file(void)
{
    begin();
    char cwd[500];
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(cwd, sizeof cwd));
    CU_ASSERT_EQUAL_FATAL(chdir(dir), 0);
    struct store *s = litefx_connect("sqlite:store.db", (struct store_options){ 0 });
    CU_ASSERT_EQUAL_FATAL(chdir(cwd), 0);
    RC_IS(0, hello(s));
    store_free(s);
}

static void a_missing_file_is_not_made_by_looking(void)
{
    begin();
    char none[490];
    snprintf(none, sizeof none, "%s.none", url);
    struct store *s = litefx_connect(none, (struct store_options){ 0 });
    RC_IS(ERR_SCHEMA, hello(s));
    SAYS("prescient init");
    RC_IS(-1, access(none + strlen("sqlite:"), F_OK));
    store_free(s);
}

static void a_file_that_is_removed_stops_the_engine(void)
{
    begin();
    RC_IS(0, hello(st));
    unlink(path);
    RC_IS(ERR_LOST, litefx_take(st));
    SAYS(path);
    RC_IS(ERR_LOST, litefx_take(st));
    SAYS("removed");
    RC_IS(-1, access(path, F_OK));
}

static void a_file_that_is_replaced_stops_one_call_and_is_then_read_anew(void)
{
    begin();
    RC_IS(3, litefx_load(st, 0, 3));
    char other[500], other_url[520];
    snprintf(other, sizeof other, "%s.other", path);
    snprintf(other_url, sizeof other_url, "sqlite:%s", other);
    struct store *s = litefx_connect(other_url, (struct store_options){ 0 });
    CU_ASSERT(litefx_init(s) > 0);
    store_free(s);
    CU_ASSERT_EQUAL_FATAL(rename(other, path), 0);
    RC_IS(ERR_LOST, litefx_load(st, 10, 1));
    SAYS("replaced");
    RC_IS(1, litefx_load(st, 10, 1));
    sqlite3_close(app);
    sqlite3_open(path, &app);
    SQL_IS("10", "SELECT group_concat(entity_key) FROM prescient_future_job");
}

/* In an application's own tables they do no harm. In a trigger that we fire, SQLite would file a
 * misspelt column as text; instead the statement fails and names it. */
static void quoted_strings_of_an_application_are_left_alone_and_never_taken_for_columns(void)
{
    begin();
    sqlite3_db_config(app, SQLITE_DBCONFIG_DQS_DDL, 1, NULL);
    sqlite3_db_config(app, SQLITE_DBCONFIG_DQS_DML, 1, NULL);
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT CHECK (state <> \"none\"))");
    SQL_IS("", "CREATE INDEX open_orders ON orders (id) WHERE state = \"open\"");
    SQL_IS("", "INSERT INTO orders VALUES (1, \"open\")");
    RC_IS(2, litefx_load(st, 0, 2));
    SQL_IS("", "CREATE TRIGGER filed AFTER INSERT ON prescient_future_job BEGIN "
               "INSERT INTO orders (state) VALUES (\"entity_nmae\"); END");
    CU_ASSERT(litefx_load(st, 10, 1) < 0);
    SAYS("no such column: entity_nmae");
    SQL_IS("", "DROP TRIGGER filed");
    RC_IS(1, litefx_load(st, 10, 1));
    SQL_IS("1", "SELECT count(*) FROM orders");
}

static void no_file_is_left_beside_the_database(void)
{
    begin();
    RC_IS(5, litefx_load(st, 0, 5));
    store_free(st);
    st = NULL;
    char journal[500];
    snprintf(journal, sizeof journal, "%s-journal", path);
    RC_IS(-1, access(journal, F_OK));
}

/* Root may write whatever the modes say, so the test becomes somebody else. */
static void a_file_that_may_only_be_read_runs_nothing(void)
{
    begin();
    store_free(st);
    st = NULL;
    chmod(path, 0444);
    chmod(dir, 0555);
    bool was_root = geteuid() == 0;
    CU_ASSERT_FATAL(!was_root || seteuid(65534) == 0);
    struct store *s = litefx_connect(url, (struct store_options){ 0 });
    struct store_hello h = STORE_HELLO_INIT;
    if (access(dir, X_OK) == 0) {
        RC_IS(0, store_do(s, &h.call));
        CU_ASSERT(h.read_only);
        RC_IS(ERR_LOST, litefx_take(s));
        SAYS("may only be read");
        SAYS(path);
    }
    store_free(s);
    CU_ASSERT_FATAL(!was_root || seteuid(0) == 0);
    chmod(dir, 0755);
    chmod(path, 0644);
}

static void a_busy_file_says_try_again(void)
{
    begin();
    RC_IS(0, hello(st));
    SQL_IS("", "BEGIN IMMEDIATE");
    RC_IS(ERR_BUSY, litefx_take(st));
    CU_ASSERT_FALSE(litefx_not_begun);
    SAYS(path);
    SQL_IS("", "ROLLBACK");
    RC_IS(0, litefx_take(st));
}

static void a_reader_that_stays_keeps_a_commit_waiting_but_nothing_half_done(void)
{
    begin();
    RC_IS(0, hello(st));
    SQL_IS("", "BEGIN");
    SQL_IS("0", "SELECT count(*) FROM prescient_slot_pass");
    int rc = litefx_take(st);         /* a write-ahead log would not mind the reader */
    RC_IS(strcmp(ask("PRAGMA journal_mode"), "wal") == 0 ? 0 : ERR_BUSY, rc);
    SQL_IS("", "COMMIT");
    RC_IS(0, litefx_take(st));
    SQL_IS("1", "SELECT count(*) FROM prescient_slot_pass");
}

static void a_full_disk_loses_nothing_that_was_acknowledged(void)
{
    begin();
    RC_IS(500, litefx_load(st, 0, 500));
    struct stat now;
    struct rlimit before, tight;
    CU_ASSERT_FATAL(stat(path, &now) == 0 && getrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, SIG_IGN);
    tight = (struct rlimit){ .rlim_cur = (rlim_t)now.st_size + 8192, .rlim_max = before.rlim_max };
    setrlimit(RLIMIT_FSIZE, &tight);
    RC_IS(ERR_LOST, litefx_load(st, 500, 1000));
    SAYS(path);
    setrlimit(RLIMIT_FSIZE, &before);
    SQL_IS("500", "SELECT count(*) FROM prescient_future_job");
    RC_IS(1000, litefx_load(st, 500, 1000));
    SQL_IS("ok", "PRAGMA integrity_check");
}

static void write_noise(off_t from, size_t size)
{
    char noise[4096];
    memset(noise, 0xa5, sizeof noise);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    for (size_t at = 0; at < size; at += sizeof noise)
        CU_ASSERT_EQUAL(pwrite(fd, noise, sizeof noise, from + (off_t)at), (ssize_t)sizeof noise);
    close(fd);
}

static void a_damaged_file_is_named_and_not_written_to(void)
{
    begin();
    RC_IS(1000, litefx_load(st, 0, 1000));
    store_free(st);
    struct stat now;
    CU_ASSERT_FATAL(stat(path, &now) == 0 && now.st_size > 2000000);
    write_noise(now.st_size / 2 / 4096 * 4096, 400 * 1024);
    st = litefx_connect(url, (struct store_options){ 0 });
    struct store_report r = STORE_REPORT_INIT;
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    r.name = "list";
    r.arena = a;
    RC_IS(ERR_LOST, store_do(st, &r.call));
    litefx_err = r.call.err;
    SAYS("is damaged");
    SAYS(path);
}

/* The table as somebody may leave it who has switched its constraints off. */
static void loosen(void)
{
    SQL_IS("", "ALTER TABLE prescient_future_job RENAME TO strict_one");
    SQL_IS("", "CREATE TABLE prescient_future_job AS SELECT * FROM strict_one");
    SQL_IS("", "DROP TABLE strict_one");
    SQL_IS("", "CREATE INDEX prescient_future_job_slot ON prescient_future_job (next_check_at, bucket, "
               "priority, id)");
}

static int read_page(struct store_read_page *r, struct page_cursor after)
{
    *r = (struct store_read_page)STORE_READ_PAGE_INIT;
    r->lease = (struct lease){ .slot = SLOT, .bucket = BUCKET_WHOLE_SLOT };
    r->after = after;
    r->want = 100;
    r->max_bytes = 1 << 20;
    store_do(st, &r->call);
    litefx_err = r->call.err;
    return r->call.rc;
}

/* A priority that is no number sorts behind all numbers: such a row would be read again and again.
 */
static void a_row_that_no_check_can_be_is_left_out_and_told(void)
{
    static const char *const damages[] = {
        "priority = x'07'",        "priority = 'low'",      "priority = 1.5",   "priority = 1 << 40",
        "entity_key = NULL",       "entity_name = x'37'",   "job_exec = x'6c'", "check_count = 'x'",
        "failure_count = 1 << 32", "first_check_at = NULL", "payload = x'37'",  "deferred_at = 'x'",
    };
    begin();
    RC_IS(10, litefx_load(st, 0, 10));
    loosen();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        for (int id = 1; id <= 10; id += 3) {           /* the first, the last, and between */
            struct store_read_page r;
            char sql[256];
            SQL_IS("", "UPDATE prescient_future_job SET (priority, entity_name, entity_key, job_exec, "
                       "check_count, failure_count, first_check_at, deferred_at, payload) "
                       "= (0, 'orders', id, 'look', 0, 0, 900, NULL, NULL)");
            RC_IS(0, read_page(&r, (struct page_cursor)PAGE_START));
            CU_ASSERT(r.page.n == 10 && !r.has_more && r.ndamaged == 0);
            check_rows_free(&r.page);
            snprintf(sql, sizeof sql, "UPDATE prescient_future_job SET %s WHERE id = %d", damages[i], id);
            SQL_IS("", sql);
            RC_IS(0, read_page(&r, (struct page_cursor)PAGE_START));
            CU_ASSERT(r.page.n == 9 && !r.has_more);
            CU_ASSERT(r.ndamaged == 1 && r.damaged_id == id);
            check_rows_free(&r.page);
        }
}

static void damaged_rows_alone_are_not_read_for_ever(void)
{
    struct store_read_page r;
    begin();
    RC_IS(200, litefx_load(st, 0, 200));
    loosen();
    SQL_IS("", "UPDATE prescient_future_job SET priority = x'07'");
    RC_IS(0, read_page(&r, (struct page_cursor)PAGE_START));
    CU_ASSERT(r.page.n == 0 && !r.has_more && r.ndamaged == 100);
    check_rows_free(&r.page);
}

static void what_is_no_database_is_said_to_be_none(void)
{
    begin();
    store_free(st);
    write_noise(0, 8192);
    st = litefx_connect(url, (struct store_options){ 0 });
    RC_IS(ERR_LOST, hello(st));
    SAYS("is no SQLite database");
}

/* ---- schema, deadline, memory ---------------------------------------------------------------- */

static void a_schema_that_needs_a_newer_program_is_refused(void)
{
    begin();
    SQL_IS("", "INSERT INTO prescient_migration VALUES (9000, '9000_later', 'x', 1, 0)");
    struct store *s = litefx_connect(url, (struct store_options){ 0 });
    RC_IS(0, hello(s));                 /* newer, but made for us as well */
    store_free(s);
    SQL_IS("", "UPDATE prescient_migration SET oldest_engine = 9000 WHERE version = 9000");
    s = litefx_connect(url, (struct store_options){ 0 });
    RC_IS(ERR_SCHEMA, hello(s));
    SAYS("9000");
    RC_IS(ERR_SCHEMA, litefx_init(s));
    SAYS("9000");
    store_free(s);
}

static void a_migration_applied_with_other_contents_is_refused(void)
{
    begin();
    SQL_IS("", "UPDATE prescient_migration SET checksum = 'something else' WHERE version = 1");
    RC_IS(ERR_SCHEMA, litefx_init(st));
    SAYS("0001_init");
}

/* Its table is made anew before the migrations after the first have given it their columns. */
static void a_new_file_takes_the_slot_length_that_was_asked_for(void)
{
    begin();
    char other[sizeof path + 8], other_url[sizeof other + 8];
    snprintf(other, sizeof other, "%s.other", path);
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
    begin();
    RC_IS(0, litefx_take(st));
    struct store *s = litefx_connect(url, (struct store_options){ 0 });
    struct migrate_options change = { .slot_length_s = 300, .change_slot_length = true };
    RC_IS(0, store_migrate(s, &change, &litefx_err));
    store_free(s);
    RC_IS(ERR_CHANGED, litefx_take(st));
    SAYS("was changed from 900 s to 300 s");
}

static void the_slot_length_is_not_changed_while_checks_are_run(void)
{
    begin();
    RC_IS(3, litefx_load(st, 0, 3));
    RC_IS(1, litefx_take(st));
    struct migrate_options change = { .slot_length_s = 300, .change_slot_length = true };
    RC_IS(ERR_BUSY, store_migrate(st, &change, &litefx_err));
    SAYS("leases");
    SQL_IS("900", "SELECT value FROM prescient_setting WHERE name = 'slot_length_s'");
}

/* A number that does not fit is not cut to one that does. */
static void a_slot_length_beyond_all_numbers_is_an_error(void)
{
    begin();
    SQL_IS("", "UPDATE prescient_setting SET value = 4294968196 WHERE name = 'slot_length_s'");
    struct migrate_options o = { .slot_length_s = 900 };
    RC_IS(ERR_DATA, store_migrate(st, &o, &litefx_err));
    SAYS("cannot be read");
}

/* The table is built anew. A column that the copy leaves out is lost with what was in it. */
static void a_change_of_the_slot_length_keeps_each_column(void)
{
    begin();
    RC_IS(1, litefx_load(st, 0, 1));
    SQL_IS("", "UPDATE prescient_future_job SET first_check_at = first_check_at - 900, priority = 1, "
               "check_count = 2, failure_count = 3, deferred_at = 4, again_at = 5400, run_count = 6, "
               "first_run_at_us = 7, total_run_us = 8, payload = '10', origin = '9', "
               "put_off_at = 11");
    char columns[2000], all[2200], before[4000];
    snprintf(columns, sizeof columns, "%s",
             litefx_ask(app, "SELECT group_concat('quote(' || name || ')', ' || '','' || ') "
                             "FROM pragma_table_info('prescient_future_job')"));
    snprintf(all, sizeof all, "SELECT %s FROM prescient_future_job", columns);
    snprintf(before, sizeof before, "%s", litefx_ask(app, all));
    CU_ASSERT_PTR_NULL(strstr(before, "NULL"));         /* a new column is to be set above, too */
    struct migrate_options change = { .slot_length_s = 300, .change_slot_length = true };
    RC_IS(0, store_migrate(st, &change, &litefx_err));
    SQL_IS(before, all);
}

/* What a replay's store was told lies in one transaction until a hello: others see all of it or
 * nothing, and a call that fails undoes itself alone. */
static void a_relaxed_store_keeps_what_it_wrote_with_a_hello(void)
{
    begin();
    RC_IS(3, litefx_load(st, 0, 3));
    struct store *replay = litefx_connect(url, (struct store_options){ .relaxed = true });
    CU_ASSERT_PTR_NOT_NULL_FATAL(replay);
    RC_IS(1, litefx_take(replay));
    SQL_IS("0", "SELECT count(*) FROM prescient_slot_lease");
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = (struct lease){ .slot = SLOT, .bucket = BUCKET_WHOLE_SLOT, .token = 4711 };
    RC_IS(ERR_FENCED, store_do(replay, &f.call));
    RC_IS(0, hello(replay));
    SQL_IS("1", "SELECT count(*) FROM prescient_slot_lease");
    store_free(replay);
}

static void a_relaxed_store_that_loses_its_file_says_that_the_replay_is_to_be_started_again(void)
{
    begin();
    struct store *replay = litefx_connect(url, (struct store_options){ .relaxed = true });
    CU_ASSERT_PTR_NOT_NULL_FATAL(replay);
    RC_IS(0, litefx_take(replay));
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT(hello(replay) < 0);
    RC_IS(ERR_INPUT, hello(replay));
    SAYS("start it again");
    store_free(replay);
}

static int64_t hurried_us(void *ctx)
{
    return *(int64_t *)ctx += 1000000;  /* a second passes with every look at the clock */
}

static void a_statement_past_its_deadline_is_stopped(void)
{
    begin();
    for (int i = 0; i < 5; i++)
        RC_IS(1000, litefx_load(st, i * 1000, 1000));
    int64_t now = 0;
    struct clock clock = {
        .mono_us = hurried_us, .boot_us = hurried_us, .wall_us = clock_system.wall_us, .ctx = &now
    };
    struct store *s = litefx_connect(url,
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
    begin();
    int failed = 0, added = 0;
    for (int64_t limit = 60000; limit < 3000000; limit += limit / 10) {
        struct store *s = litefx_connect(url, (struct store_options){ .lock_timeout_ms = 20 });
        sqlite3_hard_heap_limit64(sqlite3_memory_used() + limit);
        int rc = litefx_load(s, added, 20);
        sqlite3_hard_heap_limit64(0);
        CU_ASSERT(rc == 20 || rc == ERR_LOST);
        failed += rc < 0;
        added += rc > 0 ? rc : 0;
        store_free(s);
    }
    CU_ASSERT(failed > 0 && added > 0);
    RC_IS(added, atoi(ask("SELECT count(*) FROM prescient_future_job")));
    SQL_IS("ok", "PRAGMA integrity_check");
}

static const struct test tests[] = {
    TEST(a_view_files_checks_by_text_or_number),
    TEST(a_view_uses_the_clock_when_it_is_given_no_now),
    TEST(a_view_refuses_in_words),
    TEST(long_text_of_all_letters_passes_and_one_bad_byte_at_its_end_does_not),
    TEST(views_work_in_triggers_and_transactions_of_the_application),
    TEST(a_view_reschedules),
    TEST(a_plain_insert_must_lie_on_a_slot),
    TEST(urls_name_a_file),
    TEST(a_folder_that_is_left_does_not_move_the_file),
    TEST(a_missing_file_is_not_made_by_looking),
    TEST(a_file_that_is_removed_stops_the_engine),
    TEST(a_file_that_is_replaced_stops_one_call_and_is_then_read_anew),
    TEST(no_file_is_left_beside_the_database),
    TEST(a_file_that_may_only_be_read_runs_nothing),
    TEST(a_busy_file_says_try_again),
    TEST(a_reader_that_stays_keeps_a_commit_waiting_but_nothing_half_done),
    TEST(a_full_disk_loses_nothing_that_was_acknowledged),
    TEST(a_damaged_file_is_named_and_not_written_to),
    TEST(a_row_that_no_check_can_be_is_left_out_and_told),
    TEST(damaged_rows_alone_are_not_read_for_ever),
    TEST(what_is_no_database_is_said_to_be_none),
    TEST(a_schema_that_needs_a_newer_program_is_refused),
    TEST(a_migration_applied_with_other_contents_is_refused),
    TEST(a_new_file_takes_the_slot_length_that_was_asked_for),
    TEST(a_slot_length_changed_under_an_engine_stops_it),
    TEST(the_slot_length_is_not_changed_while_checks_are_run),
    TEST(a_slot_length_beyond_all_numbers_is_an_error),
    TEST(a_change_of_the_slot_length_keeps_each_column),
    TEST(a_relaxed_store_keeps_what_it_wrote_with_a_hello),
    TEST(a_relaxed_store_that_loses_its_file_says_that_the_replay_is_to_be_started_again),
    TEST(a_statement_past_its_deadline_is_stopped),
    TEST(quoted_strings_of_an_application_are_left_alone_and_never_taken_for_columns),
    TEST(without_memory_a_call_fails_cleanly),
    { NULL, NULL },
};

const struct suite suite_store_sqlite = { "store_sqlite", NULL, teardown, tests };
