/* test_statements_sqlite.c - each statement of store_sqlite.sql is what its comments say: SQLite
 * takes it alone, on a fresh schema, with the parameters and columns that are declared there. */
#include "sqlite_fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/store/store_sqlite_db.h"

static char path[400];
static struct store *st;
static sqlite3 *db;

static int set_up(void)
{
    char url[420];
    struct store_hello hello = STORE_HELLO_INIT;
    snprintf(path, sizeof path, "%s/statements.XXXXXX", test_tmp_dir());
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    snprintf(url, sizeof url, "sqlite:%s", path);
    st = litefx_connect(url, (struct store_options){ 0 });
    if (!st || litefx_init(st) <= 0 || store_do(st, &hello.call) < 0)
        return 1;
    db = ((struct sqlite_store *)st)->db;
    /* what reslot_copy reads from is there in the middle of a reslot alone */
    return sqlite3_exec(db, "CREATE TABLE prescient_future_job_old AS SELECT * FROM prescient_future_job",
                        NULL, NULL, NULL) != SQLITE_OK;
}

static int tear_down(void)
{
    store_free(st);
    litefx_remove(path);
    return 0;
}

static void compare_columns(const struct sql_statement *s, sqlite3_stmt *row)
{
    int n = sqlite3_column_count(row);
    if (n != s->nout)
        printf("      %s: %d columns, declared %d\n", s->name, n, s->nout);
    CU_ASSERT_EQUAL(n, s->nout);
    for (int i = 0; i < n && i < s->nout; i++) {
        bool is_named = !strcmp(sqlite3_column_name(row, i), s->out[i].name);
        if (!is_named)
            printf("      %s: column '%s', declared '%s'\n", s->name, sqlite3_column_name(row, i),
                   s->out[i].name);
        CU_ASSERT(is_named);
    }
}

/* The generator has checked the names: those of the text are those declared, numbered in order. */
static void compare_parameters(const struct sql_statement *s, sqlite3_stmt *row)
{
    int n = sqlite3_bind_parameter_count(row);
    if (n != s->nin)
        printf("      %s: %d parameters, declared %d\n", s->name, n, s->nin);
    CU_ASSERT_EQUAL(n, s->nin);
    for (int i = 1; i <= n; i++) {
        char expected[16];
        const char *found = sqlite3_bind_parameter_name(row, i);
        snprintf(expected, sizeof expected, "?%d", i);
        CU_ASSERT(found && !strcmp(found, expected));
    }
}

static void each_statement_has_the_parameters_and_columns_that_it_declares(void)
{
    for (int i = 0; i < SQLITE_STATEMENTS; i++) {
        const struct sql_statement *s = &sqlite_statements[i];
        sqlite3_stmt *row = NULL;
        const char *rest = "";
        if (s->is_script)
            continue;
        int rc = sqlite3_prepare_v2(db, s->text, -1, &row, &rest);
        if (rc != SQLITE_OK)
            printf("      %s: %s\n", s->name, sqlite3_errmsg(db));
        CU_ASSERT_EQUAL(rc, SQLITE_OK);
        CU_ASSERT_EQUAL(strspn(rest, " \n"), strlen(rest));
        if (row) {
            compare_columns(s, row);
            compare_parameters(s, row);
        }
        sqlite3_finalize(row);
    }
}

static void no_statement_has_two_columns_of_one_name(void)
{
    for (int i = 0; i < SQLITE_STATEMENTS; i++)
        for (int k = 0; k < sqlite_statements[i].nout; k++)
            for (int l = 0; l < k; l++)
                CU_ASSERT_STRING_NOT_EQUAL(sqlite_statements[i].out[k].name,
                                           sqlite_statements[i].out[l].name);
}

static const struct test tests[] = {
    TEST(each_statement_has_the_parameters_and_columns_that_it_declares),
    TEST(no_statement_has_two_columns_of_one_name),
    { NULL, NULL },
};

const struct suite suite_statements_sqlite = { "statements_sqlite", set_up, tear_down, tests };
