/* test.h - a suite is a table of tests, each named for a behaviour. */
#ifndef PRESCIENT_TEST_H
#define PRESCIENT_TEST_H

#include <CUnit/CUnit.h>
#include <stdbool.h>

struct test { const char *name; void (*run)(void); };
#define TEST(f) { #f, f }

struct suite {
    const char *name;
    int (*setup)(void);             /* 0 is good; may be NULL */
    int (*teardown)(void);
    const struct test *tests;       /* ends with a NULL name */
};

extern const struct suite *const suite_table[];

/* The PostgreSQL server of this test run (a libpq URL of its "postgres" database), or NULL when
 * there is none. */
const char *test_pg_url(void);
/* The folder where the built program, jobs and test jobs are ($BUILD). */
const char *test_build_dir(void);
/* Whether every computation takes some fifty times as long (PRESCIENT_TEST_BRIEF: memcheck): then
 * fewer values are drawn, of the same kinds. */
bool test_is_brief(void);
/* A limit that is only there for what never comes is multiplied by it (PATIENCE, as in lib.sh). */
int test_patience(void);
/* An empty folder for the test's files, removed at the end of the run. */
const char *test_tmp_dir(void);

#endif
