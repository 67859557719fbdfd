/* test_store_sqlite_within.c - the column `within` of the view prescient_enqueue on SQLite. */
#include "sqlite_store_fixture.h"

#include <string.h>

#define PUT "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, now, within) "
#define WORDS "prescient: within must be whole seconds, from the length of a slot to 31622400 (366 days)"

static void checks_of_one_time_lie_over_the_slots_of_the_span(void)
{
    litefx_begin();
    SQL_IS("", PUT "SELECT 'orders', j.key, 'look', 1893456000, 1893400000, 3600 FROM json_each('[1' || "
               "replace(hex(zeroblob(999)), '00', ',1') || ']') AS j");
    SQL_IS("1000", "SELECT count(*) FROM prescient_future_job");
    SQL_IS("1893456000 1893456900 1893457800 1893458700 1893459600",
           "SELECT group_concat(at, ' ') FROM (SELECT next_check_at AS at FROM prescient_future_job "
           "GROUP BY 1)");
    /* by the golden ratio more evenly than by chance */
    SQL_IS("1", "SELECT max(n) < 210 AND min(n) > 190 FROM (SELECT count(*) AS n FROM prescient_future_job "
                "GROUP BY next_check_at)");
}

static void a_full_slot_is_drawn_seldom(void)
{
    litefx_begin();
    SQL_IS("", "INSERT INTO prescient_slot_load VALUES (1893456000, 9000)");
    SQL_IS("", PUT "SELECT 'orders', j.key, 'look', 1893456000, 1893400000, 900 FROM json_each('[1' || "
               "replace(hex(zeroblob(999)), '00', ',1') || ']') AS j");
    SQL_IS("1", "SELECT count(*) BETWEEN 90 AND 110 FROM prescient_future_job "
                "WHERE next_check_at = 1893456000");
}

static void a_long_span_is_used_to_its_end(void)
{
    litefx_begin();
    SQL_IS("", PUT "SELECT 'orders', j.key, 'look', 1893456000, 1893400000, 31622400 FROM json_each('[1' || "
               "replace(hex(zeroblob(999)), '00', ',1') || ']') AS j");
    SQL_IS("1", "SELECT min(next_check_at) >= 1893456000 AND max(next_check_at) <= 1893456000 + 31622400 AND "
                "max(next_check_at) - min(next_check_at) > 31000000 AND max(next_check_at % 900) = 0 "
                "FROM prescient_future_job");
}

static void a_span_that_is_over_gives_the_next_slot(void)
{
    litefx_begin();
    SQL_IS("", PUT "VALUES ('orders', '1', 'look', 1893400000, 1893456000, 3600)");
    SQL_IS("1893456900", "SELECT next_check_at FROM prescient_future_job");
}

static void what_is_no_span_is_refused(void)
{
    litefx_begin();
    static const char *const bad[] = { "0", "-1", "899", "31622401", "1800.5", "'1800'", "'an hour'",
                                       "9e99" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sql[300];
        snprintf(sql, sizeof sql, PUT "VALUES ('orders', '1', 'look', 1893456000, NULL, %s)", bad[i]);
        SQL_IS(WORDS, sql);
    }
    SQL_IS("prescient: check_at must lie in the years 1970 to 9999",
           PUT "VALUES ('orders', '1', 'look', 253402300800, NULL, 3600)");
    SQL_IS("0", "SELECT count(*) FROM prescient_future_job");
}

static void without_it_nothing_is_drawn_and_nobody_counts(void)
{
    litefx_begin();
    SQL_IS("", PUT "VALUES ('orders', '1', 'look', 1893455999, 1893400000, NULL)");
    SQL_IS("1893456000", "SELECT next_check_at FROM prescient_future_job");
    SQL_IS("0", "SELECT count(*) FROM prescient_setting WHERE name = 'loads_noted_at'");
    SQL_IS("", PUT "VALUES ('orders', '2', 'look', 1893455999, 1893400000, 900)");
    SQL_IS("1", "SELECT count(*) FROM prescient_setting WHERE name = 'loads_noted_at'");
}

static const struct test tests[] = {
    TEST(checks_of_one_time_lie_over_the_slots_of_the_span),
    TEST(a_full_slot_is_drawn_seldom),
    TEST(a_long_span_is_used_to_its_end),
    TEST(a_span_that_is_over_gives_the_next_slot),
    TEST(what_is_no_span_is_refused),
    TEST(without_it_nothing_is_drawn_and_nobody_counts),
    { 0 }
};

const struct suite suite_store_sqlite_within = { "store_sqlite_within", NULL, litefx_teardown, tests };
