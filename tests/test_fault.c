/* test_fault.c - which failures of a query are the job's, and which the row's. */
#include "test.h"

#include "../engine/base/err.h"
#include "../engine/rules/fault.h"

static void what_has_nothing_to_do_with_the_row_is_the_jobs_fault(void)
{
    static const struct { int code; const char *sqlstate; bool is_of_job; } cases[] = {
        { ERR_GENERAL, "42501", true },         /* no right */
        { ERR_GENERAL, "42P01", true },         /* no such table */
        { ERR_GENERAL, "42703", true },         /* no such column */
        { ERR_GENERAL, "42883", true },         /* no such function */
        { ERR_GENERAL, "42601", true },         /* a mistype in the statement */
        { ERR_GENERAL, "3F000", true },         /* no such schema */
        { ERR_LOST, "28P01", true },            /* a wrong password */
        { ERR_LOST, "3D000", true },            /* no such database */
        { ERR_LOST, "53300", true },            /* too many connections */
        { ERR_LOST, "57P01", true },            /* the server is being stopped */
        { ERR_LOST, "", true },                 /* it cannot be reached */
        { ERR_GENERAL, "08001", true },
        { ERR_GENERAL, "22P02", false },        /* a key that is no number */
        { ERR_GENERAL, "22012", false },        /* a division by zero */
        { ERR_GENERAL, "21000", false },        /* more than one row */
        { ERR_GENERAL, "P0001", false },        /* RAISE in a function */
        { ERR_GENERAL, "XX001", false },        /* a corrupt block */
        { ERR_GENERAL, "40001", false },        /* somebody else was in the way */
        { ERR_BUSY, "57014", false },           /* out of time */
        { ERR_BUSY, "", false },
        { ERR_GENERAL, "", false },
        { ERR_NOMEM, "", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(fault_is_of_job(cases[i].code, cases[i].sqlstate), cases[i].is_of_job);
}

static const struct test tests[] = {
    TEST(what_has_nothing_to_do_with_the_row_is_the_jobs_fault),
    { 0 },
};

const struct suite suite_fault = { "fault", NULL, NULL, tests };
