/* test_business.c - what jobs may ask the business database: the same tests over PostgreSQL and
 * SQLite. */
#include "test.h"

#include <libpq-fe.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/worker/business.h"

#define TABLE "prescient_test_business"

static char sqlite_url[PATH_MAX];
static struct err err;

/* ---- the two databases ---- */

static void write_sqlite(const char *sql)
{
    sqlite3 *db;
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(sqlite_url + 7, &db), SQLITE_OK);
    CU_ASSERT_EQUAL(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void write_pg(const char *sql)
{
    PGconn *conn = PQconnectdb(test_pg_url());
    PQclear(PQexec(conn, "SET client_min_messages = warning"));
    PGresult *r = PQexec(conn, sql);
    CU_ASSERT_TRUE(PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK);
    PQclear(r);
    PQfinish(conn);
}

struct database {
    const char *dialect;
    void (*write)(const char *sql);
    const char *slow;                   /* a query that takes longer than any limit here */
};

static const struct database sqlite = {
    "sqlite",
    write_sqlite,
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i < 0 "
    "LIMIT 1",
};
static const struct database pg = { "postgresql", write_pg, "SELECT pg_sleep(100)" };

static const char *url_of(const struct database *d)
{
    return d == &pg ? test_pg_url() : sqlite_url;
}

/* Runs f over each database there is, with three orders in its table. */
static void over_both(void (*f)(const struct database *d, struct business *b))
{
    const struct database *const all[] = { &sqlite, test_pg_url() ? &pg : NULL };
    for (size_t i = 0; i < sizeof all / sizeof *all && all[i]; i++) {
        struct business *b;
        struct business_options o = { .url = url_of(all[i]) };
        all[i]->write("DROP TABLE IF EXISTS " TABLE);
        all[i]->write("CREATE TABLE " TABLE " (id integer PRIMARY KEY, name text)");
        all[i]->write("INSERT INTO " TABLE " VALUES (1, 'one'), (2, NULL), (3, 'dr\xc3\xa9i')");
        CU_ASSERT_EQUAL_FATAL(business_new(&o, &b, &err), 0);
        f(all[i], b);
        business_free(b);
        all[i]->write("DROP TABLE " TABLE);
    }
}

static int64_t in_ms(int ms)
{
    return business_now_us() + ms * 1000LL;
}

static struct prescient_value value_of(const char *text)
{
    return (struct prescient_value){ text, text ? strlen(text) : 0 };
}

/* `one` and `two` are the parameters; the first that is NULL and those after it are not sent. */
static const struct prescient_rows *ask(struct business *b, const char *sql, const char *one, const char *two)
{
    static const struct prescient_rows none;
    const struct prescient_rows *rows = &none;
    struct prescient_value params[] = { value_of(one), value_of(two) };
    int n = 0;
    if (two)
        n = 2;
    else if (one)
        n = 1;
    err_clear(&err);
    int rc = business_query(b, sql, params, n, in_ms(10000), &rows, &err);
    CU_ASSERT_EQUAL(rc, 0);
    if (rc)
        fprintf(stderr, "%s\n", err.text);
    return rows;
}

static bool is_text(const struct prescient_rows *rows, int row, int column, const char *text)
{
    if (row >= rows->rows || column >= rows->columns)
        return false;
    const struct prescient_value *v = &rows->values[row * rows->columns + column];
    return text ? v->text && v->len == strlen(text) && !strcmp(v->text, text) : !v->text;
}

/* ---- tests ---- */

static void reads_rows(const struct database *d, struct business *b)
{
    const struct prescient_rows *rows = ask(b, "SELECT id, name AS n FROM " TABLE " ORDER BY id", NULL, NULL);
    CU_ASSERT_STRING_EQUAL(business_dialect(b), d->dialect);
    CU_ASSERT_EQUAL(rows->rows, 3);
    CU_ASSERT_EQUAL_FATAL(rows->columns, 2);
    CU_ASSERT_STRING_EQUAL(rows->names[0], "id");
    CU_ASSERT_STRING_EQUAL(rows->names[1], "n");
    CU_ASSERT_TRUE(is_text(rows, 0, 0, "1"));
    CU_ASSERT_TRUE(is_text(rows, 0, 1, "one"));
    CU_ASSERT_TRUE(is_text(rows, 1, 1, NULL));
    CU_ASSERT_TRUE(is_text(rows, 2, 1, "dr\xc3\xa9i"));
    rows = ask(b, "SELECT id FROM " TABLE " WHERE id > 9", NULL, NULL);
    CU_ASSERT_EQUAL(rows->rows, 0);
    CU_ASSERT_EQUAL(rows->columns, 1);
}
static void rows_come_as_text_and_null_as_null(void) { over_both(reads_rows); }

static void binds(const struct database *d, struct business *b)
{
    (void)d;
    for (int i = 0; i < 3; i++) {       /* the second and third time from the cache */
        CU_ASSERT_TRUE(
            is_text(ask(b, "SELECT name FROM " TABLE " WHERE id = $1", "3", NULL), 0, 0, "dr\xc3\xa9i"));
        CU_ASSERT_TRUE(
            is_text(ask(b, "SELECT id FROM " TABLE " WHERE name = $2 AND id = $1 AND id = $1", "1", "one"), 0,
                    0, "1"));
    }
    const struct prescient_rows *rows;
    struct prescient_value null = { NULL, 0 };
    CU_ASSERT_EQUAL(
        business_query(b, "SELECT id FROM " TABLE " WHERE name = $1", &null, 1, in_ms(10000), &rows, &err),
        0);
    CU_ASSERT_EQUAL(rows->rows, 0);
    CU_ASSERT_NOT_EQUAL(business_query(b, "SELECT id FROM " TABLE " WHERE id = $2 AND id = $1", &null, 1,
                                       in_ms(10000), &rows, &err),
                        0);
}
static void parameters_are_bound_by_number(void) { over_both(binds); }

static void takes_keys(const struct database *d, struct business *b)
{
    const char *sql = d == &pg ? "SELECT k FROM json_array_elements_text($1::json) AS k JOIN " TABLE
                                 " t ON t.id = k::integer ORDER BY 1"
                               : "SELECT k.value FROM json_each($1) AS k JOIN " TABLE
                                 " t ON t.id = k.value ORDER BY 1";
    const struct prescient_rows *rows = ask(b, sql, "[\"3\",\"9\",\"1\"]", NULL);
    CU_ASSERT_EQUAL(rows->rows, 2);
    CU_ASSERT_TRUE(is_text(rows, 0, 0, "1"));
    CU_ASSERT_TRUE(is_text(rows, 1, 0, "3"));
}
static void many_keys_go_in_as_one_json_array(void) { over_both(takes_keys); }

static void refuses_writes(const struct database *d, struct business *b)
{
    static const char *const writes[] = { "INSERT INTO " TABLE " VALUES (4, 'four')", "DELETE FROM " TABLE,
                                          "DROP TABLE " TABLE };
    const struct prescient_rows *rows;
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        CU_ASSERT_NOT_EQUAL(business_query(b, writes[i], NULL, 0, in_ms(10000), &rows, &err), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, d == &pg ? "read-only transaction" : "only reads"));
    }
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT count(*) FROM " TABLE, NULL, NULL), 0, 0, "3"));
}
static void nothing_can_be_written(void) { over_both(refuses_writes); }

static void fails(const struct database *d, struct business *b)
{
    (void)d;
    const struct prescient_rows *rows;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(business_query(b, "SELECT nonsense FROM " TABLE, NULL, 0, in_ms(10000), &rows, &err),
                        ERR_GENERAL);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "nonsense"));
        CU_ASSERT_TRUE(is_text(ask(b, "SELECT name FROM " TABLE " WHERE id = $1", "1", NULL), 0, 0, "one"));
    }
    CU_ASSERT_NOT_EQUAL(business_query(b, "SELECT 1; SELECT 2", NULL, 0, in_ms(10000), &rows, &err), 0);
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT 5", NULL, NULL), 0, 0, "5"));
}
static void a_query_that_fails_leaves_the_connection_in_order(void) { over_both(fails); }

static void is_slow(const struct database *d, struct business *b)
{
    const struct prescient_rows *rows;
    ask(b, "SELECT 1", NULL, NULL);
    int64_t began_us = business_now_us();
    CU_ASSERT_EQUAL(business_query(b, d->slow, NULL, 0, in_ms(60), &rows, &err), ERR_BUSY);
    CU_ASSERT_TRUE(business_now_us() - began_us < test_patience() * 8000000LL);
    CU_ASSERT_EQUAL(business_query(b, "SELECT 1", NULL, 0, in_ms(-1), &rows, &err), ERR_BUSY);
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT 5", NULL, NULL), 0, 0, "5"));
}
static void a_query_ends_at_its_deadline(void) { over_both(is_slow); }

static void asks_much(const struct database *d, struct business *b)
{
    (void)d;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100; i++) {
            char sql[64], number[16];
            snprintf(sql, sizeof sql, "SELECT %d", i);
            snprintf(number, sizeof number, "%d", i);
            CU_ASSERT_TRUE(is_text(ask(b, sql, NULL, NULL), 0, 0, number));
        }
}
static void there_may_be_more_queries_than_are_kept_prepared(void) { over_both(asks_much); }

static void changes(const struct database *d, struct business *b)
{
    CU_ASSERT_EQUAL(ask(b, "SELECT * FROM " TABLE, NULL, NULL)->columns, 2);
    d->write("ALTER TABLE " TABLE " ADD COLUMN more integer");
    CU_ASSERT_EQUAL(ask(b, "SELECT * FROM " TABLE, NULL, NULL)->columns, 3);
}
static void a_prepared_query_survives_a_change_of_its_table(void) { over_both(changes); }

/* pg_terminate_backend waits by itself from PostgreSQL 14 on. */
static const char end_backend[] =
    "DO $$ BEGIN PERFORM pg_terminate_backend(%s);"
    "  FOR turn IN 1..500 LOOP"
    "    PERFORM pg_stat_clear_snapshot();"
    "    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = %s);"
    "    PERFORM pg_sleep(0.01);"
    "  END LOOP; END $$";

static void a_lost_connection_is_opened_again(void)
{
    struct business *b;
    if (!test_pg_url())
        return;
    CU_ASSERT_EQUAL_FATAL(business_new(&(struct business_options){ .url = test_pg_url() }, &b, &err), 0);
    for (int i = 0; i < 2; i++) {
        char pid[32], sql[400];
        const struct prescient_rows *rows = ask(b, "SELECT pg_backend_pid()", NULL, NULL);
        CU_ASSERT_EQUAL_FATAL(rows->rows, 1);
        snprintf(pid, sizeof pid, "%s", rows->values[0].text);
        snprintf(sql, sizeof sql, end_backend, pid, pid);
        write_pg(sql);
        rows = ask(b, "SELECT pg_backend_pid()", NULL, NULL);
        CU_ASSERT_EQUAL_FATAL(rows->rows, 1);
        CU_ASSERT_STRING_NOT_EQUAL(rows->values[0].text, pid);
    }
    business_free(b);
}

static void no_session_setting_is_left_behind(void)
{
    struct business *b;
    if (!test_pg_url())
        return;
    CU_ASSERT_EQUAL_FATAL(business_new(&(struct business_options){ .url = test_pg_url() }, &b, &err), 0);
    const char *sql =
        "SELECT current_setting('transaction_read_only'), current_setting('statement_timeout'),"
        " (SELECT reset_val FROM pg_settings WHERE name = 'statement_timeout'), pg_backend_pid()";
    const struct prescient_rows *rows = ask(b, sql, NULL, NULL);
    CU_ASSERT_TRUE(is_text(rows, 0, 0, "on"));
    CU_ASSERT_FALSE(is_text(rows, 0, 1, "0"));
    CU_ASSERT_TRUE(is_text(rows, 0, 2, "0"));
    business_free(b);
}

static void without_prepared_statements_none_are_made(void)
{
    struct business *b;
    if (!test_pg_url())
        return;
    CU_ASSERT_EQUAL_FATAL(
        business_new(&(struct business_options){ .url = test_pg_url(), .unprepared = true }, &b, &err), 0);
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT 1 + $1", "2", NULL), 0, 0, "3"));
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT count(*) FROM pg_prepared_statements", NULL, NULL), 0, 0, "0"));
    business_free(b);
}

/* As a pooler does it that hands each transaction another session. */
static void a_session_that_forgets_what_was_prepared_is_put_up_with(void)
{
    struct business *b;
    if (!test_pg_url())
        return;
    CU_ASSERT_EQUAL_FATAL(business_new(&(struct business_options){ .url = test_pg_url() }, &b, &err), 0);
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT 1 + $1", "2", NULL), 0, 0, "3"));
    ask(b, "DEALLOCATE ALL", NULL, NULL);
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT 1 + $1", "3", NULL), 0, 0, "4"));
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT count(*) FROM pg_prepared_statements", NULL, NULL), 0, 0, "0"));
    business_free(b);
}

static const char name_of_7[] = "SELECT name FROM pg_prepared_statements WHERE statement = 'SELECT 7'";

/* Two workers may meet in one session: a name stands for one text. */
static void a_name_is_prepared_for_one_text_only(void)
{
    struct business *b;
    char names[2][64];
    if (!test_pg_url())
        return;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(business_new(&(struct business_options){ .url = test_pg_url() }, &b, &err), 0);
        if (i)
            ask(b, "SELECT 8", NULL, NULL);
        CU_ASSERT_TRUE(is_text(ask(b, "SELECT 7", NULL, NULL), 0, 0, "7"));
        const struct prescient_rows *rows = ask(b, name_of_7, NULL, NULL);
        CU_ASSERT_EQUAL_FATAL(rows->rows, 1);
        snprintf(names[i], sizeof names[i], "%s", rows->values[0].text);
        business_free(b);
    }
    CU_ASSERT_STRING_EQUAL(names[0], names[1]);
}

static void a_database_that_is_not_there_is_told(void)
{
    static const char *const urls[] = { "postgresql:///x?host=/nonexistent", "sqlite:/nonexistent/x.db" };
    const struct prescient_rows *rows;
    for (int i = 0; i < 2; i++) {
        struct business *b;
        CU_ASSERT_EQUAL_FATAL(
            business_new(&(struct business_options){ .url = urls[i], .connect_timeout_us = 1000000 }, &b,
                         &err),
            0);
        CU_ASSERT_EQUAL(business_query(b, "SELECT 1", NULL, 0, in_ms(5000), &rows, &err), ERR_LOST);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nonexistent"));
        business_free(b);
    }
}

static void a_url_of_no_known_kind_is_refused_without_its_password(void)
{
    struct business *b;
    CU_ASSERT_EQUAL(business_new(&(struct business_options){ .url = "mysql://u:secret@host/db" }, &b, &err),
                    ERR_SETTINGS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "'mysql'"));
    CU_ASSERT_PTR_NULL(strstr(err.text, "secret"));
    CU_ASSERT_EQUAL(business_new(&(struct business_options){ .url = "sqlite:" }, &b, &err), ERR_SETTINGS);
}

/* A schema may have quoted strings, as SQLite allows by default: it can still be read. */
static void a_quoted_name_that_no_column_has_is_an_error_in_sqlite(void)
{
    struct business *b;
    const struct prescient_rows *rows;
    write_sqlite("CREATE TABLE " TABLE " (id integer PRIMARY KEY, name text CHECK (name <> \"none\"))");
    write_sqlite("CREATE INDEX " TABLE "_named ON " TABLE " (name) WHERE name <> \"some\"");
    write_sqlite("INSERT INTO " TABLE " VALUES (1, 'one'), (2, NULL)");
    CU_ASSERT_EQUAL_FATAL(business_new(&(struct business_options){ .url = sqlite_url }, &b, &err), 0);
    CU_ASSERT_TRUE(is_text(ask(b, "SELECT \"name\" FROM " TABLE " WHERE name <> 'some'", NULL, NULL), 0, 0,
                           "one"));
    CU_ASSERT_EQUAL(business_query(b, "SELECT \"nmae\" FROM " TABLE, NULL, 0, in_ms(5000), &rows, &err),
                    ERR_GENERAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no such column: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "nmae"));
    business_free(b);
    write_sqlite("DROP TABLE " TABLE);
}

static int setup(void)
{
    snprintf(sqlite_url, sizeof sqlite_url, "sqlite:%s/business.db", test_tmp_dir());
    return 0;
}

static int teardown(void)
{
    unlink(sqlite_url + 7);
    return 0;
}

static const char *version_of(struct business *b)
{
    const struct prescient_rows *rows = ask(b, "SELECT n FROM version", NULL, NULL);
    return rows->rows == 1 ? rows->values[0].text : "none";
}

static void copy_with_version(const char *to, const char *version)
{
    char sql[PATH_MAX + 128];
    snprintf(sql, sizeof sql, "UPDATE version SET n = %s; VACUUM INTO '%s'; UPDATE version SET n = 1",
             version, to);
    write_sqlite(sql);
}

/* An export is made anew beside the old one, and takes its name; or a link is switched. */
static void a_file_that_was_replaced_is_opened_anew(void)
{
    char other[PATH_MAX + 8], link[PATH_MAX + 8], url[PATH_MAX + 16];
    const struct prescient_rows *rows;
    struct business *b;
    snprintf(other, sizeof other, "%s.other", sqlite_url + 7);
    snprintf(link, sizeof link, "%s.link", sqlite_url + 7);
    snprintf(url, sizeof url, "sqlite:%s", link);
    struct business_options o = { .url = url };
    write_sqlite("CREATE TABLE version AS SELECT 1 AS n");
    CU_ASSERT_EQUAL_FATAL(symlink(sqlite_url + 7, link), 0);
    CU_ASSERT_EQUAL_FATAL(business_new(&o, &b, &err), 0);
    CU_ASSERT_STRING_EQUAL(version_of(b), "1");
    copy_with_version(other, "2");
    CU_ASSERT_STRING_EQUAL(version_of(b), "1");
    CU_ASSERT_EQUAL_FATAL(rename(other, sqlite_url + 7), 0);
    CU_ASSERT_STRING_EQUAL(version_of(b), "2");
    copy_with_version(other, "3");
    CU_ASSERT_EQUAL_FATAL(unlink(link), 0);
    CU_ASSERT_EQUAL(business_query(b, "SELECT n FROM version", NULL, 0, in_ms(10000), &rows, &err), ERR_LOST);
    CU_ASSERT_EQUAL_FATAL(symlink(other, link), 0);
    CU_ASSERT_STRING_EQUAL(version_of(b), "3");
    business_free(b);
    unlink(link);
    unlink(other);
    write_sqlite("DROP TABLE version");
}

static const struct test tests[] = {
    TEST(rows_come_as_text_and_null_as_null),
    TEST(parameters_are_bound_by_number),
    TEST(many_keys_go_in_as_one_json_array),
    TEST(nothing_can_be_written),
    TEST(a_query_that_fails_leaves_the_connection_in_order),
    TEST(a_query_ends_at_its_deadline),
    TEST(there_may_be_more_queries_than_are_kept_prepared),
    TEST(a_prepared_query_survives_a_change_of_its_table),
    TEST(a_lost_connection_is_opened_again),
    TEST(no_session_setting_is_left_behind),
    TEST(without_prepared_statements_none_are_made),
    TEST(a_session_that_forgets_what_was_prepared_is_put_up_with),
    TEST(a_name_is_prepared_for_one_text_only),
    TEST(a_file_that_was_replaced_is_opened_anew),
    TEST(a_database_that_is_not_there_is_told),
    TEST(a_url_of_no_known_kind_is_refused_without_its_password),
    TEST(a_quoted_name_that_no_column_has_is_an_error_in_sqlite),
    { 0 },
};

const struct suite suite_business = { "business", setup, teardown, tests };
