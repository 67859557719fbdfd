/* test_outcome.c - which outcomes are problems and which runs are kept, in C and in every SQL file
 * alike. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include "../engine/rules/outcome.h"
#include "../engine/store/embedded_sql.h"
#include "pg_statements.h"
#include "sqlite_statements.h"

static void what_did_not_answer_as_it_should_is_a_problem(void)
{
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        bool problem = o == OUTCOME_FAILED || o == OUTCOME_TIMEOUT || o == OUTCOME_CRASHED ||
                       o == OUTCOME_BAD_ANSWER || o == OUTCOME_UNKNOWN_JOB;
        CU_ASSERT_EQUAL(outcome_is_problem((enum outcome)o), problem);
    }
}

static void keep_runs_says_which_runs_leave_a_row(void)
{
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        enum outcome outcome = (enum outcome)o;
        CU_ASSERT_TRUE(outcome_leaves_run_row(outcome, KEEP_RUNS_ALL));
        CU_ASSERT_FALSE(outcome_leaves_run_row(outcome, KEEP_RUNS_NONE));
        CU_ASSERT_EQUAL(outcome_leaves_run_row(outcome, KEEP_RUNS_PROBLEMS),
                        outcome_is_problem(outcome) || outcome == OUTCOME_JOB_BROKEN);
    }
}

static bool is_outcome(const char *word)
{
    for (int o = 0; o < OUTCOME_COUNT; o++)
        if (!strcmp(outcome_name((enum outcome)o), word))
            return true;
    return false;
}

static bool is_in(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (!strcmp(*list, word))
            return true;
    return false;
}

/* What only moves a check leaves no row. */
static void each_outcome_that_leaves_a_row_can_be_asked_for(void)
{
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        const char *name = outcome_name((enum outcome)o);
        bool is_listed = is_in(outcomes_of_history, name) || is_in(outcomes_of_runs, name);
        CU_ASSERT_EQUAL(is_listed, o < OUTCOME_HELD_BACK);
    }
    for (int i = 0; outcomes_of_runs[i]; i++)
        CU_ASSERT_TRUE(is_outcome(outcomes_of_runs[i]));
    for (int i = 0; outcomes_of_history[i]; i++)
        CU_ASSERT_TRUE(is_outcome(outcomes_of_history[i]) || !strcmp(outcomes_of_history[i], "amiss") ||
                       !strcmp(outcomes_of_history[i], "retryable"));
}

/* A check that is over asked for no further look, and no guard has ended one that waits. */
static void no_list_can_be_asked_for_what_it_never_has(void)
{
    static const char *const only_runs[] = { "again", "deferred", "job_broken", "skipped", NULL };
    static const char *const only_ends[] = { "past", "beyond_horizon", "max_checks", "deferred_out",
                                             "resolved", "unknown_job", NULL };
    for (int i = 0; only_runs[i]; i++)
        CU_ASSERT_FALSE(is_in(outcomes_of_history, only_runs[i]));
    for (int i = 0; only_ends[i]; i++)
        CU_ASSERT_FALSE(is_in(outcomes_of_runs, only_ends[i]));
}

static void each_outcome_has_a_name_of_its_own(void)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        for (int j = 0; j <= i; j++)
            CU_ASSERT_EQUAL(!strcmp(outcome_name((enum outcome)i), outcome_name((enum outcome)j)), i == j);
    CU_ASSERT_STRING_EQUAL(outcome_name(OUTCOME_COUNT), "?");
    CU_ASSERT_STRING_EQUAL(outcome_name((enum outcome)-1), "?");
}

/* "('failed', 'timeout', ...)": the problems as an SQL list, in the order of the enum. */
static void problems_in_sql(char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "(");
    for (int o = 0; o < OUTCOME_COUNT; o++)
        if (outcome_is_problem((enum outcome)o))
            n += (size_t)snprintf(out + n, size - n, "%s'%s'", n > 1 ? ", " : "",
                                  outcome_name((enum outcome)o));
    snprintf(out + n, size - n, ")");
}

/* How many lists that begin with 'failed' stand in `text`; each must be `list`. */
static int lists_in(const char *text, const char *list)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, "('failed',")); at++, n++)
        CU_ASSERT_EQUAL(strncmp(at, list, strlen(list)), 0);
    return n;
}

/* The migration of SQLite that has the list of today; a landed one keeps the list of its time. */
#define LIST_SINCE 5

static void the_sql_files_hold_the_same_list_of_problems(void)
{
    char list[256];
    int in_pg = 0, in_sqlite = 0, in_migrations = 0;
    problems_in_sql(list, sizeof list);
    CU_ASSERT_STRING_EQUAL(list, "('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job')");
    for (int i = 0; i < PG_STATEMENTS; i++)
        in_pg += lists_in(pg_statements[i].text, list);
    for (int i = 0; i < SQLITE_STATEMENTS; i++)
        in_sqlite += lists_in(sqlite_statements[i].text, list);
    for (const struct sql_migration *m = migrations_sqlite; m->name; m++)
        if (m->version >= LIST_SINCE)
            in_migrations += lists_in(m->text, list);
    CU_ASSERT_TRUE(in_pg > 0);
    CU_ASSERT_TRUE(in_sqlite > 0);
    CU_ASSERT_TRUE(in_migrations > 0);
}

static const struct test tests[] = {
    TEST(what_did_not_answer_as_it_should_is_a_problem),
    TEST(keep_runs_says_which_runs_leave_a_row),
    TEST(each_outcome_that_leaves_a_row_can_be_asked_for),
    TEST(no_list_can_be_asked_for_what_it_never_has),
    TEST(each_outcome_has_a_name_of_its_own),
    TEST(the_sql_files_hold_the_same_list_of_problems),
    { NULL, NULL },
};

const struct suite suite_outcome = { "outcome", NULL, NULL, tests };
