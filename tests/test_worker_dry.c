/* test_worker_dry.c - a worker whose jobs may send nothing, and tell what they would send. Its
 * limits would be memcheck's own, so: not under valgrind. */
#include "worker_fixture.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char requested[80000];           /* of all messages */
static int requests;

static int hear_requests(void)
{
    char body[MESSAGE_MAX + 1];
    int len, kind;
    requested[0] = '\0';
    requests = 0;
    while ((kind = workerfx_hear(body, &len)) == MESSAGE_REQUEST && requests < 9) {
        strncat(requested, body, sizeof requested - strlen(requested) - 1);
        requests++;
    }
    return kind;
}

static void start_dry(enum message_begin how)
{
    char text[PATH_MAX + 512], build[PATH_MAX] = "", body[MESSAGE_MAX + 1];
    const char begin[] = { (char)how, (char)how };
    int len;
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text,
             "plugin_dirs = [\"%s/tests/jobs\"]; jobs = { tells = { plugin = \"dry\"; settings = { secret = "
             "\"@secret:hush-8814\"; }; }; old = { plugin = \"effects\"; }; };",
             build);
    CU_ASSERT_EQUAL_FATAL(workerfx_begin(text, begin, sizeof begin, body, &len), MESSAGE_READY);
    CU_ASSERT_EQUAL(body[0], RUNS_SINGLY);
    CU_ASSERT_EQUAL(body[1] != RUNS_NOT, how != BEGIN_DRY);
}

static void a_request_that_is_not_sent_is_told_without_secrets(void)
{
    start_dry(BEGIN_DRY);
    CU_ASSERT_TRUE(workerfx_says("opened dry"));
    workerfx_fill(1000000);
    workerfx_put(0, "42", false);
    workerfx_say_run();
    CU_ASSERT_EQUAL(hear_requests(), MESSAGE_ENDED);
    CU_ASSERT_EQUAL(requests, 1);
    CU_ASSERT_STRING_EQUAL(requested, "to 42: ***");
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_DONE, "not sent"));
    workerfx_stop();
}

/* A secret may lie where one message ends and the next begins. */
static void a_long_request_comes_in_parts(void)
{
    start_dry(BEGIN_DRY);
    workerfx_fill(1000000);
    workerfx_put(0, "long", false);
    workerfx_say_run();
    CU_ASSERT_EQUAL(hear_requests(), MESSAGE_ENDED);
    CU_ASSERT_EQUAL(requests, 3);
    CU_ASSERT_EQUAL(strspn(requested, "x"), 70000);
    CU_ASSERT_STRING_EQUAL(requested + strspn(requested, "x"), "to long: ***");
    workerfx_fill(1000000);
    workerfx_put(0, "none", false);
    workerfx_say_run();
    CU_ASSERT_EQUAL(hear_requests(), MESSAGE_ENDED);
    CU_ASSERT_EQUAL(requests, 0);
    workerfx_stop();
}

/* A plug-in of before would send. */
static void a_plugin_that_may_send_is_not_run_where_nothing_may_be_sent(void)
{
    start_dry(BEGIN_DRY);
    CU_ASSERT_TRUE(workerfx_says("job old: it may send or change things, and cannot say what: "
                                          "add --send"));
    workerfx_fill(1000000);
    workerfx_put(1, "42", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    CU_ASSERT_EQUAL(workerfx_answer(0).kind, PRESCIENT_FAIL);
    CU_ASSERT_EQUAL(workerfx_answer(0).neffects, 0);
    workerfx_stop();
}

static void what_may_be_sent_is_not_told(void)
{
    start_dry(BEGIN_RUN);
    CU_ASSERT_TRUE(workerfx_says("opened"));
    CU_ASSERT_FALSE(workerfx_says("opened dry"));
    workerfx_fill(1000000);
    workerfx_put(0, "42", false);
    workerfx_say_run();
    CU_ASSERT_EQUAL(hear_requests(), MESSAGE_ENDED);
    CU_ASSERT_EQUAL(requests, 0);
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_DONE, "sent"));
    workerfx_stop();
}

static const struct test tests[] = {
    TEST(a_request_that_is_not_sent_is_told_without_secrets),
    TEST(a_long_request_comes_in_parts),
    TEST(a_plugin_that_may_send_is_not_run_where_nothing_may_be_sent),
    TEST(what_may_be_sent_is_not_told),
    { 0 },
};
const struct suite suite_worker_dry = { "worker_dry", NULL, NULL, tests };
