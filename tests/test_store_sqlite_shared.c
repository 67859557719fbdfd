/* test_store_sqlite_shared.c - a file that is the application's first: what its statements say
 * about conflicts, the journal that it has chosen, and its writes beside our looks. */
#include "sqlite_fixture.h"
#include "../engine/store/store_sqlite_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[400], path[450], url[470];
static struct store *st;
static sqlite3 *app;                        /* an application: plain SQLite, nothing of ours */

/* ---- the fixture ----------------------------------------------------------------------------- */

static void end(void)
{
    store_free(st);
    st = NULL;
    sqlite3_close(app);
    app = NULL;
    litefx_remove(path);
}

static void begin_anew(void)
{
    end();
    err_clear(&litefx_err);
    snprintf(dir, sizeof dir, "%s/store_sqlite_shared_%d", test_tmp_dir(), (int)getpid());
    mkdir(dir, 0755);
    snprintf(path, sizeof path, "%s/store.db", dir);
    snprintf(url, sizeof url, "sqlite:%s", path);
    litefx_remove(path);
}

static void connect_both(void)
{
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(path, &app), SQLITE_OK);
    st = litefx_connect(url, (struct store_options){ .lock_timeout_ms = 20 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(st);
}

/* The application's file, and nothing of ours in it. */
static void begin_bare(void)
{
    begin_anew();
    connect_both();
}

static void begin(void)
{
    begin_anew();
    CU_ASSERT_FATAL(litefx_new_file(path));
    connect_both();
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

static void number_is(int line, int64_t found, int64_t expected)
{
    if (found != expected)
        printf("\n      line %d: found %lld, expected %lld: %s", line, (long long)found, (long long)expected,
               litefx_err.text);
    CU_ASSERT(found == expected);
}
#define IS(expected, found) number_is(__LINE__, found, expected)

/* ---- conflict policies ----------------------------------------------------------------------- */

#define NAMES "prescient: entity_name, entity_key and job_exec must have at most 2600 bytes together"

/* What a check may not be, as a trigger of the application writes it: values of entity_name,
 * entity_key, job_exec, check_at, payload, priority. */
static const struct { const char *values, *words;
} refused[] = {
    { "'orders', '1', 'look', 900, '{', 0", "prescient: payload must be valid JSON" },
    { "'orders', '1', 'look', 900, '\"' || char(0) || '\"', 0", "prescient: payload must be valid JSON" },
    { "'orders', '1', 'look', 900, '\"' || hex(zeroblob(32768)) || '\"', 0",
      "prescient: payload must have at most 65536 bytes" },
    { "NULL, '1', 'look', 900, NULL, 0", "prescient: entity_name must have 1 to 1024 bytes and no NUL" },
    { "'orders', '', 'look', 900, NULL, 0", "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
    { "'orders', 'a' || char(0), 'look', 900, NULL, 0",
      "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
    { "'orders', hex(zeroblob(513)), 'look', 900, NULL, 0",
      "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
    { "'orders', '1', NULL, 900, NULL, 0", "prescient: job_exec must have 1 to 1024 bytes and no NUL" },
    { "hex(zeroblob(500)), hex(zeroblob(500)), hex(zeroblob(500)), 900, NULL, 0", NAMES },
    { "'orders', '1', 'look', 253402300800, NULL, 0",
      "prescient: check_at must lie in the years 1970 to 9999" },
    { "'orders', '1', 'look', 253402300799, NULL, 0",
      "prescient: check_at is a time at which paused checks wait: it must lie before the year 9000" },
    { "'orders', '1', 'look', 'tomorrow', NULL, 0",
      "prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch" },
    { "'orders', '1', 'look', 900, NULL, 4294967296", "prescient: priority must fit in 32 bits" },
    { "'orders', '1', 'look', '2030-03-01 25:00:00', NULL, 0",
      "prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch" },
    { "'orders', '1', 'look', '2030-03-01 13:00:00 or so', NULL, 0",
      "prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch" },
    { "'orders', '1', 'look', 900, NULL, 'high'", "prescient: priority must be a whole number" },
    { "'orders', '1', 'look', 900, NULL, 1.5", "prescient: priority must be a whole number" },
    { "'orders', CAST(x'ff' AS TEXT), 'look', 900, NULL, 0",
      "prescient: names, concurrency_key, tenant and payload must be valid UTF-8" },
};

static const char *const policies[] = { "INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT OR FAIL",
                                        "INSERT OR ROLLBACK" };

#define FILES(event)                                                                                         \
    "CREATE TRIGGER filed_" #event " AFTER " #event                                                          \
    " ON orders BEGIN INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, "                    \
    "check_at, payload, priority, conflict) VALUES (NEW.name, NEW.key, NEW.job, NEW.at, NEW.payload, "       \
    "NEW.priority, NEW.conflict); END"

static void make_orders(void)
{
    SQL_IS("",
           "CREATE TABLE orders (id INTEGER PRIMARY KEY, name, key, job, at, payload, priority, conflict)");
    SQL_IS("", FILES(INSERT));
    SQL_IS("", FILES(UPDATE));
}

static void an_order_whose_check_is_refused_is_refused_whatever_its_statement_says(void)
{
    begin();
    make_orders();
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
            char sql[512];
            snprintf(sql, sizeof sql, "%s INTO orders (name, key, job, at, payload, priority) VALUES (%s)",
                     policies[p], refused[i].values);
            SQL_IS(refused[i].words, sql);
            SQL_IS("0", "SELECT count(*) FROM orders");
        }
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job");
}

static void a_view_refuses_whatever_the_statement_says(void)
{
    begin();
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
            char sql[512];
            snprintf(sql, sizeof sql,
                     "%s INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, "
                     "priority) VALUES (%s)",
                     policies[p], refused[i].values);
            SQL_IS(refused[i].words, sql);
        }
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job");
}

static void an_update_whose_check_is_refused_changes_nothing(void)
{
    begin();
    make_orders();
    SQL_IS("", "INSERT INTO orders (id, name, key, job, at, payload, priority) VALUES (1, 'orders', '1', "
               "'look', 900, '[1]', 0)");
    SQL_IS("prescient: payload must be valid JSON",
           "UPDATE OR IGNORE orders SET payload = '{', conflict = 'replace'");
    SQL_IS("prescient: payload must be valid JSON",
           "UPDATE OR REPLACE orders SET payload = '{', conflict = 'replace'");
    SQL_IS("[1]", "SELECT payload FROM orders");
    /* replace deletes what waits before it files */
    SQL_IS("[1]", "SELECT payload FROM prescient_future_job");
}

/* What is in order goes through whatever the statement says, and a check that waits is not taken
 * for a conflict. */
static void what_is_in_order_is_filed_whatever_the_statement_says(void)
{
    begin();
    make_orders();
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "%s INTO orders (name, key, job, at, payload, priority, conflict) VALUES ('orders', '1', "
                 "'look', 221845305599 - 900 * %d, "
                 "'[%d]', 0, 'earlier')",
                 policies[p], (int)p + 1, (int)p);
        SQL_IS("", sql);
    }
    SQL_IS("5", "SELECT count(*) FROM orders");
    SQL_IS("[0] 1", "SELECT payload || ' ' || (next_check_at = (221845305599 - 900 * 5 + 899) / 900 * 900) "
                    "FROM prescient_future_job");
    SQL_IS("", "INSERT OR IGNORE INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, "
               "payload, conflict) "
               "VALUES ('orders', '1', 'look', 900, '[9]', 'replace')");
    SQL_IS("1 [9]", "SELECT count(*) || ' ' || payload FROM prescient_future_job");
}

static void the_other_views_refuse_whatever_the_statement_says(void)
{
    begin();
    SQL_IS("", "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload) VALUES "
               "('orders', '1', 'look', 900, '[1]')");
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY, at, now)");
    SQL_IS("", "CREATE TRIGGER moved AFTER INSERT ON orders WHEN NEW.at IS NOT NULL BEGIN INSERT INTO "
               "prescient_reschedule "
               "(entity_name, entity_key, job_exec, check_at, now) VALUES ('orders', NEW.id, 'look', NEW.at, "
               "NEW.now); END");
    SQL_IS(
        "",
        "CREATE TRIGGER over AFTER INSERT ON orders WHEN NEW.at IS NULL BEGIN INSERT INTO prescient_resolve "
        "(entity_name, entity_key, now) VALUES ('orders', NEW.id, NEW.now); END");
    SQL_IS("prescient: check_at is a time at which paused checks wait: it must lie before the year 9000",
           "INSERT OR IGNORE INTO orders VALUES (1, 253402300799, NULL)");
    SQL_IS("prescient: check_at must lie in the years 1970 to 9999",
           "INSERT OR IGNORE INTO orders VALUES (1, -1, NULL)");
    SQL_IS("prescient: now must be whole seconds since the epoch",
           "INSERT OR IGNORE INTO orders VALUES (1, 900, 'today')");
    SQL_IS("prescient: now must be whole seconds since the epoch",
           "INSERT OR IGNORE INTO orders VALUES (1, NULL, 'today')");
    SQL_IS("prescient: now must be whole seconds since the epoch",
           "INSERT OR IGNORE INTO orders VALUES (1, NULL, 1e300)");
    SQL_IS("0", "SELECT count(*) FROM orders");
    SQL_IS("1 [1]", "SELECT count(*) || ' ' || payload FROM prescient_future_job");
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job_history");
    SQL_IS("", "INSERT OR IGNORE INTO orders VALUES (1, NULL, 1000)");
    SQL_IS("1000000000", "SELECT ended_at_us FROM prescient_future_job_history");
    SQL_IS("prescient: entity_name and entity_key must be given",
           "INSERT OR IGNORE INTO prescient_resolve (entity_name) VALUES ('orders')");
}

/* ---- the journal ----------------------------------------------------------------------------- */

/* What the file's header says, whoever asks: 2 for a write-ahead log, 1 for a rollback journal. */
static int journal_in_the_file(void)
{
    unsigned char header[20] = { 0 };
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fread(header, 1, sizeof header, f), sizeof header);
    fclose(f);
    return header[18];
}

static struct store_report report(struct arena *a, const char *name, const char *param)
{
    static const char *params[1];
    params[0] = param;
    struct store_report r = STORE_REPORT_INIT;
    r.name = name;
    r.arena = a;
    r.params = params;
    r.nparams = 1;
    store_do(st, &r.call);
    litefx_err = r.call.err;
    return r;
}

/* The columns `level` and `found` of the row about `what`; "" when there is none. */
static const char *finding(const struct store_rows *rows, const char *what)
{
    static char text[600];
    text[0] = '\0';
    for (int r = 0; r < rows->rows; r++) {
        const char *const *row = rows->cells + (size_t)r * (size_t)rows->columns;
        if (strcmp(row[0], what) == 0)
            snprintf(text, sizeof text, "%s %s", row[1], row[2]);
    }
    return text;
}

static void is_worked_with(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    IS(3, litefx_load(st, 0, 3));
    IS(1, litefx_take(st));
    IS(0, report(a, "status", NULL).call.rc);
    IS(0, report(a, "doctor", NULL).call.rc);
    IS(0, report(a, "whole", "1").call.rc);
}

static void a_write_ahead_log_beside_which_an_application_works_stays(void)
{
    begin_bare();
    SQL_IS("wal", "PRAGMA journal_mode = WAL");
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY)");
    CU_ASSERT(litefx_init(st) > 0);
    is_worked_with();
    SQL_IS("", "BEGIN IMMEDIATE");
    IS(ERR_BUSY, litefx_take(st));
    SQL_IS("", "COMMIT");
    store_free(st);
    st = NULL;
    SQL_IS("wal", "PRAGMA journal_mode");
    SQL_IS("ok", "PRAGMA integrity_check");
}

static void a_write_ahead_log_stays_when_nobody_else_is_there(void)
{
    begin_bare();
    SQL_IS("wal", "PRAGMA journal_mode = WAL");
    sqlite3_close(app);
    app = NULL;
    CU_ASSERT(litefx_init(st) > 0);
    is_worked_with();
    store_free(st);
    st = NULL;
    IS(2, journal_in_the_file());
}

static void a_rollback_journal_of_the_application_stays(void)
{
    begin_bare();
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY)");
    CU_ASSERT(litefx_init(st) > 0);
    is_worked_with();
    store_free(st);
    st = NULL;
    IS(1, journal_in_the_file());
}

static void a_write_ahead_log_that_comes_later_is_worked_with(void)
{
    begin_bare();
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY)");
    CU_ASSERT(litefx_init(st) > 0);
    IS(5, litefx_load(st, 100, 5));
    SQL_IS("wal", "PRAGMA journal_mode = WAL");
    is_worked_with();
    store_free(st);
    st = NULL;
    IS(2, journal_in_the_file());
    SQL_IS("8", "SELECT count(*) FROM prescient_future_job");
}

static void a_reader_of_a_write_ahead_log_keeps_nobody_waiting(void)
{
    begin_bare();
    SQL_IS("wal", "PRAGMA journal_mode = WAL");
    CU_ASSERT(litefx_init(st) > 0);
    SQL_IS("", "BEGIN");
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job");
    is_worked_with();
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job");
    SQL_IS("", "COMMIT");
    SQL_IS("3", "SELECT count(*) FROM prescient_future_job");
}

static void doctor_says_what_the_library_makes_of_the_journal(void)
{
    begin_bare();
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY)");
    CU_ASSERT(litefx_init(st) > 0);
    struct store_report r = report(a, "doctor", NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(finding(&r.rows, "SQLite"), "with a rollback journal"));
    CU_ASSERT_EQUAL(strncmp(finding(&r.rows, "SQLite"), "ok ", 3), 0);
    SQL_IS("wal", "PRAGMA journal_mode = WAL");
    r = report(a, "doctor", NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(finding(&r.rows, "SQLite"), "with a write-ahead log"));
    const char *level = sqlite_wal_is_safe(sqlite3_libversion_number()) ? "ok " : "warn ";
    CU_ASSERT_EQUAL(strncmp(finding(&r.rows, "SQLite"), level, strlen(level)), 0);
}

static void the_releases_are_known_that_keep_a_write_ahead_log(void)
{
    static const struct { int version; bool safe;
    } all[] = {
        { 3040001, false }, { 3044005, false }, { 3044006, true }, { 3045000, false },
        { 3046001, false }, { 3050006, false }, { 3050007, true }, { 3051002, false },
        { 3051003, true },  { 3052000, false }, { 3053000, true }, { 4000000, true },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_EQUAL(sqlite_wal_is_safe(all[i].version), all[i].safe);
}

/* ---- doctor ---------------------------------------------------------------------------------- */

static void a_look_that_cannot_be_taken_keeps_nothing_from_the_others(void)
{
    begin();
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    SQL_IS("", "DROP TABLE prescient_slot_lease");
    struct store_report r = report(a, "doctor", NULL);
    IS(0, r.call.rc);
    CU_ASSERT_EQUAL(strncmp(finding(&r.rows, "leases that have expired"), "error ", 6), 0);
    text_is(__LINE__, finding(&r.rows, "overdue checks"), "ok 0");
    text_is(__LINE__, finding(&r.rows, "slots that stay open"), "ok 0");
    CU_ASSERT_PTR_NOT_NULL(strstr(finding(&r.rows, "room in the file"), "pages are free"));
    CU_ASSERT_PTR_NOT_NULL(strstr(finding(&r.rows, "SQLite"), "rollback journal"));
}

static void a_small_file_is_looked_through_and_a_large_one_when_asked_for(void)
{
    begin();
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    struct store_report r = report(a, "whole", NULL);
    text_is(__LINE__, finding(&r.rows, "file is whole"), "ok ok");
    SQL_IS("", "CREATE TABLE large AS SELECT zeroblob(17 * 1024 * 1024) AS bytes");
    r = report(a, "whole", NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(finding(&r.rows, "file is whole"),
                                  "ok not checked, because the file has 17 MiB: prescient doctor --full"));
    r = report(a, "whole", "1");
    text_is(__LINE__, finding(&r.rows, "file is whole"), "ok ok");
}

/* The page of a table in the middle of the file, which no other look reads. */
static void damage_in_a_large_file_is_found_when_asked_for(void)
{
    begin();
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    SQL_IS("", "CREATE TABLE mine AS SELECT zeroblob(100) AS bytes");
    long page = atol(ask("SELECT rootpage FROM sqlite_schema WHERE name = 'mine'")),
         size = atol(ask("PRAGMA page_size"));
    SQL_IS("", "CREATE TABLE large AS SELECT zeroblob(17 * 1024 * 1024) AS bytes");
    sqlite3_close(app);
    app = NULL;
    FILE *f = fopen(path, "r+b");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    IS(0, fseek(f, (page - 1) * size, SEEK_SET));
    IS('!', fputc('!', f));
    fclose(f);
    struct store_report r = report(a, "whole", "1");
    CU_ASSERT(strncmp(finding(&r.rows, "file is whole"), "error ", 6) == 0 || r.call.rc == ERR_LOST);
    r = report(a, "doctor", NULL);
    text_is(__LINE__, finding(&r.rows, "overdue checks"), "ok 0");
}

static const struct test tests[] = {
    TEST(an_order_whose_check_is_refused_is_refused_whatever_its_statement_says),
    TEST(a_view_refuses_whatever_the_statement_says),
    TEST(an_update_whose_check_is_refused_changes_nothing),
    TEST(what_is_in_order_is_filed_whatever_the_statement_says),
    TEST(the_other_views_refuse_whatever_the_statement_says),
    TEST(a_write_ahead_log_beside_which_an_application_works_stays),
    TEST(a_write_ahead_log_stays_when_nobody_else_is_there),
    TEST(a_rollback_journal_of_the_application_stays),
    TEST(a_write_ahead_log_that_comes_later_is_worked_with),
    TEST(a_reader_of_a_write_ahead_log_keeps_nobody_waiting),
    TEST(doctor_says_what_the_library_makes_of_the_journal),
    TEST(the_releases_are_known_that_keep_a_write_ahead_log),
    TEST(a_look_that_cannot_be_taken_keeps_nothing_from_the_others),
    TEST(a_small_file_is_looked_through_and_a_large_one_when_asked_for),
    TEST(damage_in_a_large_file_is_found_when_asked_for),
    { NULL, NULL },
};

const struct suite suite_store_sqlite_shared = { "store_sqlite_shared", NULL, teardown, tests };
