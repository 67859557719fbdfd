/* test_sqlite_functions.c - the functions that our own statements have in SQLite. */
#include "../engine/store/store_sqlite_functions.h"

#include <stdio.h>
#include <string.h>

#include "../engine/rules/bucket.h"
#include "test.h"

/* The one value of a statement, or "error TEXT". */
static const char *value_of(const char *sql)
{
    static char out[200];
    sqlite3 *db;
    sqlite3_stmt *row = NULL;
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(":memory:", &db), SQLITE_OK);
    CU_ASSERT_EQUAL_FATAL(sqlite_functions_register(db), SQLITE_OK);
    CU_ASSERT_EQUAL_FATAL(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    if (sqlite3_step(row) != SQLITE_ROW)
        snprintf(out, sizeof out, "error %s", sqlite3_errmsg(db));
    else if (sqlite3_column_type(row, 0) == SQLITE_NULL)
        snprintf(out, sizeof out, "NULL");
    else
        snprintf(out, sizeof out, "%s", (const char *)sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    sqlite3_close(db);
    return out;
}

static void a_bucket_is_that_of_the_engine(void)
{
    char expected[12];
    snprintf(expected, sizeof expected, "%d", bucket_of("orders", "42"));
    CU_ASSERT_STRING_EQUAL(value_of("SELECT prescient_bucket_of('orders', 42)"), expected);
    CU_ASSERT_STRING_EQUAL(value_of("SELECT prescient_bucket_of('orders', NULL)"), "NULL");
}

#define ADDED_UP(values) value_of("SELECT prescient_add_up(column1) FROM (VALUES " values ")")

static void classes_are_added_up(void)
{
    CU_ASSERT_STRING_EQUAL(ADDED_UP("('{\"104\":3}'), ('{\"399\": 1, \"104\" : 4}'), ('{}')"),
                           "{\"104\":7,\"399\":1}");
    CU_ASSERT_STRING_EQUAL(value_of("SELECT prescient_add_up(1) WHERE false"), "{}");
    CU_ASSERT_STRING_EQUAL(ADDED_UP("('{\"0\":9223372036854775807}')"), "{\"0\":9223372036854775807}");
}

/* Somebody has written to the table by hand. */
static void what_are_no_classes_is_an_error(void)
{
    static const char *const bad[] = {
        "NULL", "''", "'3'", "'{'", "'{\"104\":3'", "'{\"104\":}'", "'{\"104\":3,}'", "'{\"x\":3}'",
        "'{104:3}'", "'{\"400\":1}'", "'{\"-1\":1}'", "'{\"1\":99999999999999999999}'", "'{\"1\":3} '||'x'",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sql[120];
        snprintf(sql, sizeof sql, "SELECT prescient_add_up(%s)", bad[i]);
        const char *found = value_of(sql);
        if (strncmp(found, "error the classes of prescient_run_hour are not", 47) != 0)
            printf("      %s: %s\n", sql, found);
        CU_ASSERT_EQUAL(strncmp(found, "error the classes of prescient_run_hour are not", 47), 0);
    }
}

static const struct test tests[] = {
    TEST(a_bucket_is_that_of_the_engine),
    TEST(classes_are_added_up),
    TEST(what_are_no_classes_is_an_error),
    { NULL, NULL },
};

const struct suite suite_sqlite_functions = { .name = "sqlite_functions", .tests = tests };
