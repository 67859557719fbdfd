/* test_store_sqlite_views.c - the views of a SQLite store, from any SQLite connection: what
 * applications file, move and are refused. */
#include "sqlite_store_fixture.h"

#include <stdio.h>
#include <string.h>

static void a_view_files_checks_by_text_or_number(void)
{
    litefx_begin();
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
    litefx_begin();
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
    litefx_begin();
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
        { "'orders', '1', 'look', '2026-02-30 13:15:00'", "prescient: check_at: there is no such day" },
        { "'orders', '1', 'look', '2026-02-29'", "prescient: check_at: there is no such day" },
        { "'orders', '1', 'look', '2100-02-29T00:00Z'", "prescient: check_at: there is no such day" },
        { "'orders', '1', 'look', '2026-04-31'", "prescient: check_at: there is no such day" },
        { "'orders', '1', 'look', '2026-13-01'", "prescient: check_at: there is no such day" },
        { "'orders', '1', 'look', -1", "prescient: check_at must lie in the years 1970 to 9999" },
        { "'orders', '1', 'look', 1e300", "prescient: check_at must lie in the years 1970 to 9999" },
        { "'orders', '', 'look', 1", "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
        { "'orders', 'a' || char(0) || 'b', 'look', 1",
          "prescient: entity_key must have 1 to 1024 bytes and no NUL" },
        { "NULL, '1', 'look', 1", "prescient: entity_name must have 1 to 1024 bytes and no NUL" },
        { "'orders', CAST(x'ff' AS TEXT), 'look', 1",
          "prescient: names, concurrency_key, tenant and payload must be valid UTF-8" },
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
    SQL_IS("prescient: entity_name is prescient.digest, which stands for digests: prescient resolve ends one",
           "INSERT INTO prescient_resolve (entity_name, entity_key) VALUES ('prescient.digest', 'late')");
}

static void long_text_of_all_letters_passes_and_one_bad_byte_at_its_end_does_not(void)
{
    litefx_begin();
    SQL_IS("",
           "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload) "
           "VALUES ('orders', '1', 'look', 1, '\"' || replace(hex(zeroblob(7000)), '00', 'ü€🐘') || '\"')");
    SQL_IS("prescient: names, concurrency_key, tenant and payload must be valid UTF-8",
           "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload) "
           "VALUES ('orders', '2', 'look', 1, '\"' || replace(hex(zeroblob(4000)), '00', 'ü€🐘') || "
           "CAST(x'e282' AS TEXT) || '\"')");
}

static void views_work_in_triggers_and_transactions_of_the_application(void)
{
    litefx_begin();
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
    RC_IS(0, litefx_take(litefx.st));
}

static void a_view_reschedules(void)
{
    litefx_begin();
    SQL_IS("", "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, now) "
               "VALUES ('orders', '42', 'look', 900, '[1]', 1)");
    SQL_IS("", "INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at, now) VALUES "
               "('orders', '42', 'look', 1801, 1000)");
    SQL_IS("2700 [1]", "SELECT next_check_at || ' ' || payload FROM prescient_future_job");
    SQL_IS("", "INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at) VALUES "
               "('orders', '43', 'look', 1801)");
    SQL_IS("1", "SELECT count(*) FROM prescient_future_job");
}

static void a_plain_insert_may_lie_on_any_second(void)
{
    litefx_begin();
    SQL_IS("", "INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, "
               "next_check_at) VALUES ('o', '1', 'j', 901, 901)");
    SQL_IS("CHECK constraint failed: next_check_at must lie in the years 1970 to 9999",
           "UPDATE prescient_future_job SET next_check_at = -1");
    SQL_IS("0", "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%%must be a slot%%'");
    SQL_IS("1", "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%%again_at must lie%%'");
}

static const struct test tests[] = {
    TEST(a_view_files_checks_by_text_or_number),
    TEST(a_view_uses_the_clock_when_it_is_given_no_now),
    TEST(a_view_refuses_in_words),
    TEST(long_text_of_all_letters_passes_and_one_bad_byte_at_its_end_does_not),
    TEST(views_work_in_triggers_and_transactions_of_the_application),
    TEST(a_view_reschedules),
    TEST(a_plain_insert_may_lie_on_any_second),
    { NULL, NULL },
};

const struct suite suite_store_sqlite_views = { "store_sqlite_views", NULL, litefx_teardown, tests };
