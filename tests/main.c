/* main.c - runs the suites of the table: all, those whose name contains the first argument, or
 * with =NAME that one. PRESCIENT_TEST_EACH: a line for each test as it begins. */
#include "test.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *test_pg_url(void)
{
    const char *url = getenv("PRESCIENT_TEST_PG");
    return url && *url ? url : NULL;
}

const char *test_build_dir(void)
{
    const char *dir = getenv("BUILD");
    return dir && *dir ? dir : "build";
}

bool test_is_brief(void)
{
    return getenv("PRESCIENT_TEST_BRIEF") != NULL;
}

int test_patience(void)
{
    const char *patience = getenv("PATIENCE");
    return patience && atoi(patience) > 0 ? atoi(patience) : 1;
}

const char *test_tmp_dir(void)
{
    const char *dir = getenv("PRESCIENT_TEST_TMP");
    return dir && *dir ? dir : "/tmp";
}

/* `wanted`: a part of the name, or =NAME, or several as =NAME+NAME. */
static bool is_wanted(const char *name, const char *wanted)
{
    if (*wanted != '=')
        return strstr(name, wanted) != NULL;
    size_t n = strlen(name);
    for (const char *at = strstr(wanted, name); at; at = strstr(at + 1, name))
        if ((at[-1] == '=' || at[-1] == '+') && (at[n] == '\0' || at[n] == '+'))
            return true;
    return false;
}

/* How many suites `wanted` names; `found` when it names none. */
static unsigned wanted_suites(const char *wanted, unsigned found)
{
    if (*wanted != '=')
        return found;
    unsigned n = 1;
    for (const char *at = strchr(wanted, '+'); at; at = strchr(at + 1, '+'))
        n++;
    return n;
}

/* False when it has no tests, or not all of them could be added. */
static bool add_suite(const struct suite *s)
{
    CU_pSuite suite = CU_add_suite(s->name, s->setup, s->teardown);
    bool added = suite && s->tests->name;
    for (const struct test *t = s->tests; added && t->name; t++)
        added = CU_add_test(suite, t->name, t->run) != NULL;
    return added;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    unsigned added = 0;
    setvbuf(stdout, NULL, _IONBF, 0);       /* what ran when it all ended is the last line */
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    for (const struct suite *const *s = suite_table; *s; s++) {
        if (!is_wanted((*s)->name, wanted))
            continue;
        added += add_suite(*s);
    }
    if (added != wanted_suites(wanted, added)) {
        fprintf(stderr, "%s: %u of the suites are there, and have tests\n", wanted, added);
        return 2;
    }
    CU_basic_set_mode(getenv("PRESCIENT_TEST_EACH") ? CU_BRM_VERBOSE : CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned run = CU_get_number_of_tests_run(),
             failed = CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed();
    FILE *counts = getenv("PRESCIENT_TEST_COUNTS") ? fopen(getenv("PRESCIENT_TEST_COUNTS"), "w") : NULL;
    if (counts) {
        fprintf(counts, "%u %u\n", run - CU_get_number_of_tests_failed(), failed);
        fclose(counts);
    }
    CU_cleanup_registry();
    return failed ? 1 : 0;
}
