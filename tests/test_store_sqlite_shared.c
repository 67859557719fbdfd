/* test_store_sqlite_shared.c - a file that is the application's first: what its statements say about conflicts, the journal that it has chosen, and its
 * writes beside our looks. */
#include "sqlite_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[400], path[450], url[470];
static struct store *st;
static sqlite3 *app;                        /* an application: plain SQLite, nothing of ours */

/* ---- the fixture -------------------------------------------------------------------------------------------------------------- */

static void end(void)
{
    store_free(st);
    st = NULL;
    sqlite3_close(app);
    app = NULL;
    litefx_remove(path);
}

/* The application's file, and nothing of ours in it. */
static void begin_bare(void)
{
    end();
    err_clear(&litefx_err);
    snprintf(dir, sizeof dir, "%s/store_sqlite_shared_%d", test_tmp_dir(), (int)getpid());
    mkdir(dir, 0755);
    snprintf(path, sizeof path, "%s/store.db", dir);
    snprintf(url, sizeof url, "sqlite:%s", path);
    litefx_remove(path);
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(path, &app), SQLITE_OK);
    st = litefx_connect(url, (struct store_options){ .lock_timeout_ms = 20 });
}

static void begin(void)
{
    begin_bare();
    CU_ASSERT_FATAL(st && litefx_init(st) > 0);
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

/* ---- conflict policies ---------------------------------------------------------------------------------------------------------- */

#define NAMES "prescient: entity_name, entity_key and job_exec must have at most 2600 bytes together"

/* What a check may not be, as a trigger of the application writes it: values of entity_name, entity_key, job_exec, check_at, payload, priority. */
static const struct { const char *values, *words; } refused[] = {
    { "'orders', '1', 'look', 900, '{', 0", "prescient: payload must be valid JSON" },
    { "'orders', '1', 'look', 900, '\"' || char(0) || '\"', 0", "prescient: payload must be valid JSON" },
    { "'orders', '1', 'look', 900, '\"' || hex(zeroblob(32768)) || '\"', 0", "prescient: payload must have at most 65536 bytes" },
    { "NULL, '1', 'look', 900, NULL, 0", "prescient: entity_name must have 1 to 1024 bytes and no NUL" },
    { "'orders', '', 'look', 900, NULL, 0", "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
    { "'orders', 'a' || char(0), 'look', 900, NULL, 0", "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
    { "'orders', hex(zeroblob(513)), 'look', 900, NULL, 0", "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
    { "'orders', '1', NULL, 900, NULL, 0", "prescient: job_exec must have 1 to 1024 bytes and no NUL" },
    { "hex(zeroblob(500)), hex(zeroblob(500)), hex(zeroblob(500)), 900, NULL, 0", NAMES },
    { "'orders', '1', 'look', 253402300799, NULL, 0", "prescient: check_at must lie in the years 1970 to 9999" },
    { "'orders', '1', 'look', 'tomorrow', NULL, 0", "prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch" },
    { "'orders', '1', 'look', 900, NULL, 4294967296", "prescient: priority must fit in 32 bits" },
    { "'orders', '1', 'look', 900, NULL, 'high'", "cannot store TEXT value in INTEGER column prescient_future_job.priority" },
    { "'orders', CAST(x'ff' AS TEXT), 'look', 900, NULL, 0", "prescient: entity_name, entity_key, job_exec and payload must be valid UTF-8" },
};

static const char *const policies[] = { "INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT OR FAIL", "INSERT OR ROLLBACK" };

#define FILES(event) "CREATE TRIGGER filed_" #event " AFTER " #event " ON orders BEGIN INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, " \
    "check_at, payload, priority, conflict) VALUES (NEW.name, NEW.key, NEW.job, NEW.at, NEW.payload, NEW.priority, NEW.conflict); END"

static void make_orders(void)
{
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY, name, key, job, at, payload, priority, conflict)");
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
            snprintf(sql, sizeof sql, "%s INTO orders (name, key, job, at, payload, priority) VALUES (%s)", policies[p], refused[i].values);
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
            snprintf(sql, sizeof sql, "%s INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, priority) VALUES (%s)",
                     policies[p], refused[i].values);
            SQL_IS(refused[i].words, sql);
        }
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job");
}

static void an_update_whose_check_is_refused_changes_nothing(void)
{
    begin();
    make_orders();
    SQL_IS("", "INSERT INTO orders (id, name, key, job, at, payload, priority) VALUES (1, 'orders', '1', 'look', 900, '[1]', 0)");
    SQL_IS("prescient: payload must be valid JSON", "UPDATE OR IGNORE orders SET payload = '{', conflict = 'replace'");
    SQL_IS("prescient: payload must be valid JSON", "UPDATE OR REPLACE orders SET payload = '{', conflict = 'replace'");
    SQL_IS("[1]", "SELECT payload FROM orders");
    SQL_IS("[1]", "SELECT payload FROM prescient_future_job");     /* replace deletes what waits before it files */
}

/* What is in order goes through whatever the statement says, and a check that waits is not taken for a conflict. */
static void what_is_in_order_is_filed_whatever_the_statement_says(void)
{
    begin();
    make_orders();
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        char sql[512];
        snprintf(sql, sizeof sql, "%s INTO orders (name, key, job, at, payload, priority, conflict) VALUES ('orders', '1', 'look', 253402300799 - 900 * %d, "
                 "'[%d]', 0, 'earlier')", policies[p], (int)p + 1, (int)p);
        SQL_IS("", sql);
    }
    SQL_IS("5", "SELECT count(*) FROM orders");
    SQL_IS("[0] 1", "SELECT payload || ' ' || (next_check_at = (253402300799 - 900 * 5 + 899) / 900 * 900) FROM prescient_future_job");
    SQL_IS("", "INSERT OR IGNORE INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict) "
               "VALUES ('orders', '1', 'look', 900, '[9]', 'replace')");
    SQL_IS("1 [9]", "SELECT count(*) || ' ' || payload FROM prescient_future_job");
}

static void the_other_views_refuse_whatever_the_statement_says(void)
{
    begin();
    SQL_IS("", "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload) VALUES ('orders', '1', 'look', 900, '[1]')");
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY, at, now)");
    SQL_IS("", "CREATE TRIGGER moved AFTER INSERT ON orders WHEN NEW.at IS NOT NULL BEGIN INSERT INTO prescient_reschedule "
               "(entity_name, entity_key, job_exec, check_at, now) VALUES ('orders', NEW.id, 'look', NEW.at, NEW.now); END");
    SQL_IS("", "CREATE TRIGGER over AFTER INSERT ON orders WHEN NEW.at IS NULL BEGIN INSERT INTO prescient_resolve "
               "(entity_name, entity_key, now) VALUES ('orders', NEW.id, NEW.now); END");
    SQL_IS("prescient: check_at must lie in the years 1970 to 9999", "INSERT OR IGNORE INTO orders VALUES (1, 253402300799, NULL)");
    SQL_IS("prescient: check_at must lie in the years 1970 to 9999", "INSERT OR IGNORE INTO orders VALUES (1, -1, NULL)");
    SQL_IS("prescient: now must be whole seconds since the epoch", "INSERT OR IGNORE INTO orders VALUES (1, 900, 'today')");
    SQL_IS("prescient: now must be whole seconds since the epoch", "INSERT OR IGNORE INTO orders VALUES (1, NULL, 'today')");
    SQL_IS("prescient: now must be whole seconds since the epoch", "INSERT OR IGNORE INTO orders VALUES (1, NULL, 1e300)");
    SQL_IS("0", "SELECT count(*) FROM orders");
    SQL_IS("1 [1]", "SELECT count(*) || ' ' || payload FROM prescient_future_job");
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job_history");
    SQL_IS("", "INSERT OR IGNORE INTO orders VALUES (1, NULL, 1000)");
    SQL_IS("1000000000", "SELECT ended_at_us FROM prescient_future_job_history");
    SQL_IS("prescient: entity_name and entity_key must be given", "INSERT OR IGNORE INTO prescient_resolve (entity_name) VALUES ('orders')");
}

static const struct test tests[] = {
    TEST(an_order_whose_check_is_refused_is_refused_whatever_its_statement_says),
    TEST(a_view_refuses_whatever_the_statement_says),
    TEST(an_update_whose_check_is_refused_changes_nothing),
    TEST(what_is_in_order_is_filed_whatever_the_statement_says),
    TEST(the_other_views_refuse_whatever_the_statement_says),
    { NULL, NULL },
};

const struct suite suite_store_sqlite_shared = { "store_sqlite_shared", NULL, teardown, tests };
