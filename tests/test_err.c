/* test_err.c - errors: the code comes back, the words gain context, and long words are cut, not
 * lost. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include "../engine/base/err.h"

static void setting_an_error_returns_its_code(void)
{
    struct err err = { .sqlstate = "25006" };
    CU_ASSERT_EQUAL(err_set(&err, ERR_INPUT, "slot %d", 9), ERR_INPUT);
    CU_ASSERT_EQUAL(err.code, ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "slot 9");
    CU_ASSERT_STRING_EQUAL(err.sqlstate, "");
}

static void context_goes_in_front_and_keeps_the_sqlstate(void)
{
    struct err err = { 0 };
    err_set(&err, ERR_LOST, "connection refused");
    strcpy(err.sqlstate, "08006");
    CU_ASSERT_EQUAL(err_wrap(&err, ERR_BUSY, "bucket %d", 3), ERR_BUSY);
    CU_ASSERT_EQUAL(err_wrap(&err, ERR_BUSY, "slot %d", 9), ERR_BUSY);
    CU_ASSERT_STRING_EQUAL(err.text, "slot 9: bucket 3: connection refused");
    CU_ASSERT_STRING_EQUAL(err.sqlstate, "08006");
    CU_ASSERT_EQUAL(err.code, ERR_BUSY);
}

static void the_words_of_errno_go_behind(void)
{
    struct err err = { 0 };
    errno = ENOENT;
    CU_ASSERT_EQUAL(err_sys(&err, ERR_GENERAL, "cannot open %s", "x.cfg"), ERR_GENERAL);
    CU_ASSERT_STRING_EQUAL(err.text, "cannot open x.cfg: No such file or directory");
}

static void nobody_who_listens_still_gets_the_code(void)
{
    CU_ASSERT_EQUAL(err_set(NULL, ERR_DATA, "x"), ERR_DATA);
    CU_ASSERT_EQUAL(err_wrap(NULL, ERR_DATA, "x"), ERR_DATA);
    CU_ASSERT_EQUAL(err_sys(NULL, ERR_DATA, "x"), ERR_DATA);
    err_one_line(NULL);
    err_clear(NULL);
}

static void words_that_are_too_long_are_cut(void)
{
    struct err err = { 0 };
    err_set(&err, ERR_GENERAL, "%0*d", 5000, 7);
    CU_ASSERT_EQUAL(strlen(err.text), sizeof err.text - 1);
    err_wrap(&err, ERR_GENERAL, "slot 9");
    CU_ASSERT_EQUAL(strlen(err.text), sizeof err.text - 1);
    CU_ASSERT_EQUAL(strncmp(err.text, "slot 9: 000", 11), 0);
    err_wrap(&err, ERR_GENERAL, "%0*d", 5000, 8);
    CU_ASSERT_EQUAL(strlen(err.text), sizeof err.text - 1);
    errno = EIO;
    err_sys(&err, ERR_GENERAL, "%0*d", 5000, 8);
    CU_ASSERT_EQUAL(strlen(err.text), sizeof err.text - 1);
}

static void words_of_others_come_on_one_line(void)
{
    struct err err = { 0 };
    err_set(&err, ERR_LOST, "connection to server failed: refused\n\tIs it running there?\n \n");
    err_one_line(&err);
    CU_ASSERT_STRING_EQUAL(err.text, "connection to server failed: refused  Is it running there?");
    CU_ASSERT_EQUAL(err.code, ERR_LOST);
    err_set(&err, ERR_LOST, "\n");
    err_one_line(&err);
    CU_ASSERT_STRING_EQUAL(err.text, "");
}

static void context_keeps_the_reason_and_a_new_failure_has_none(void)
{
    struct err err = { 0 };
    err_set(&err, ERR_LOST, "deadlock detected");
    err.reason = ERR_REASON_COLLIDED;
    err_wrap(&err, ERR_LOST, "slot 9");
    CU_ASSERT_EQUAL(err.reason, ERR_REASON_COLLIDED);
    err_set(&err, ERR_LOST, "connection refused");
    CU_ASSERT_EQUAL(err.reason, ERR_REASON_NONE);
    err.reason = ERR_REASON_DAMAGED;
    err_sys(&err, ERR_GENERAL, "cannot open %s", "x.cfg");
    CU_ASSERT_EQUAL(err.reason, ERR_REASON_NONE);
}

static void only_a_canceled_statement_is_late_and_a_refusal_at_once(void)
{
    static const struct {
        enum err_reason reason;
        bool late, refusal;
    } rows[] = {
        { ERR_REASON_NONE, false, false },     { ERR_REASON_REFUSED, false, true },
        { ERR_REASON_DAMAGED, false, false },  { ERR_REASON_COLLIDED, false, false },
        { ERR_REASON_TIMEOUT, true, false },   { ERR_REASON_CANCELED, true, true },
        { ERR_REASON_OUTGROWN, false, false }, { ERR_REASON_DENIED, false, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = { .reason = rows[i].reason };
        CU_ASSERT_EQUAL(err_is_late(&err), rows[i].late);
        CU_ASSERT_EQUAL(err_is_refusal(&err), rows[i].refusal);
    }
}

static void a_login_or_a_right_that_is_refused_is_denied_and_nothing_else(void)
{
    static const struct {
        int code;
        const char *sqlstate;
        bool denied;
    } rows[] = {
        { ERR_LOST, "42501", true }, { ERR_LOST, "28P01", true },   { ERR_LOST, "28000", true },
        { ERR_LOST, "", false },     { ERR_LOST, "57P03", false },  { ERR_LOST, "42P01", false },
        { ERR_DENIED, "", true },    { ERR_SCHEMA, "42501", false }, { ERR_OK, "42501", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = { .code = rows[i].code };
        snprintf(err.sqlstate, sizeof err.sqlstate, "%s", rows[i].sqlstate);
        CU_ASSERT_EQUAL(err_is_denied(&err), rows[i].denied);
    }
    CU_ASSERT(err_is_denied(&(struct err){ .code = ERR_LOST, .reason = ERR_REASON_DENIED }));
    CU_ASSERT_FALSE(err_is_denied(&(struct err){ .code = ERR_LOST, .reason = ERR_REASON_REFUSED }));
}

static void a_cleared_error_says_nothing(void)
{
    struct err err = { 0 };
    memset(&err, 'x', sizeof err);
    err_clear(&err);
    CU_ASSERT_EQUAL(err.code, ERR_OK);
    CU_ASSERT_STRING_EQUAL(err.text, "");
    CU_ASSERT_STRING_EQUAL(err.sqlstate, "");
    CU_ASSERT_EQUAL(err.reason, ERR_REASON_NONE);
}

static const struct test tests[] = {
    TEST(setting_an_error_returns_its_code),
    TEST(context_goes_in_front_and_keeps_the_sqlstate),
    TEST(the_words_of_errno_go_behind),
    TEST(nobody_who_listens_still_gets_the_code),
    TEST(words_that_are_too_long_are_cut),
    TEST(words_of_others_come_on_one_line),
    TEST(context_keeps_the_reason_and_a_new_failure_has_none),
    TEST(only_a_canceled_statement_is_late_and_a_refusal_at_once),
    TEST(a_login_or_a_right_that_is_refused_is_denied_and_nothing_else),
    TEST(a_cleared_error_says_nothing),
    { NULL, NULL },
};

const struct suite suite_err = { .name = "err", .tests = tests };
