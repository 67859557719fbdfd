/* test_worker_start.c - what a worker loads of the jobs that its settings have, what it refuses,
 * and how it ends when there is nothing to begin with. As test_worker.c: not under valgrind. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker_fixture.h"

#include "../engine/worker/worker.h"

static void a_job_that_cannot_be_loaded_is_refused_alone_and_with_words(void)
{
    workerfx_start();
    CU_ASSERT_TRUE(workerfx_says("[6 jobs: 121202]"));
    CU_ASSERT_TRUE(workerfx_says("job missing: plug-in: no file no_such_file.so"));
    workerfx_fill(1000000);
    workerfx_put(MISSING, "42", false);
    workerfx_put(MISBEHAVE, "42", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    CU_ASSERT_EQUAL(workerfx_answer(0).kind, PRESCIENT_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(workerfx_answer(0).text, "no_such_file"));
    CU_ASSERT_TRUE(workerfx_is_answer(1, PRESCIENT_DONE, NULL));
    workerfx_stop();
}

/* The second of two jobs with one plug-in must not take it for loaded. */
static void jobs_that_share_a_plugin_share_its_refusal(void)
{
    char text[PATH_MAX + 512], build[PATH_MAX] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    static const char *const plugins[] = { "no_symbol", "no_exec", "wrong_abi", "absent" };
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        snprintf(text, sizeof text,
                 "plugin_dirs = [\"%s/tests/jobs\"]; jobs = { a = { plugin = \"%s\"; }; b = { plugin = "
                 "\"%s\"; }; c = { plugin = \"noanswer\"; }; };",
                 build, plugins[i], plugins[i]);
        CU_ASSERT_EQUAL_FATAL(workerfx_start_with(text), MESSAGE_READY);
        CU_ASSERT_TRUE(workerfx_says("[3 jobs: 002"));
        CU_ASSERT_TRUE(workerfx_says("job b: it shares the plug-in of job a, which cannot be used"));
        workerfx_stop();
    }
}

static void a_job_that_the_engine_leaves_out_is_not_even_loaded(void)
{
    char text[PATH_MAX + 512], build[PATH_MAX] = "", body[MESSAGE_MAX + 1];
    static const char left_out[] = { 1, 0 };
    int len;
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text,
             "plugin_dirs = [\"%s/tests/jobs\"]; jobs = { a = { plugin = \"misbehave\"; }; b = { plugin = "
             "\"noanswer\"; }; };",
             build);
    CU_ASSERT_EQUAL_FATAL(workerfx_begin(text, left_out, sizeof left_out, body, &len), MESSAGE_READY);
    CU_ASSERT_EQUAL(body[0], RUNS_NOT);
    CU_ASSERT_EQUAL(body[1], RUNS_BATCHES);
    CU_ASSERT_TRUE(workerfx_says("job a: left out"));
    char maps[PATH_MAX + 64];
    snprintf(maps, sizeof maps, "grep -q misbehave /proc/%d/maps", (int)workerfx.pid);
    CU_ASSERT_NOT_EQUAL(system(maps), 0);
    snprintf(maps, sizeof maps, "grep -q noanswer /proc/%d/maps", (int)workerfx.pid);
    CU_ASSERT_EQUAL(system(maps), 0);
    workerfx_stop();
}

static void words_of_an_open_that_are_no_text_still_make_a_failure(void)
{
    char text[4096 + PATH_MAX], build[PATH_MAX] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text,
             "store = \"sqlite:/nonexistent/business.db\"; plugin_dirs = [\"%s/tests/jobs\"];\n"
             "jobs = { refuses = { plugin = \"refuses\"; }; noanswer = { plugin = \"noanswer\"; }; };\n",
             build);
    CU_ASSERT_EQUAL_FATAL(workerfx_start_with(text), MESSAGE_READY);
    workerfx_fill(1000000);
    workerfx_put(0, "42", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_FAIL, "job refuses: kein Schl?ssel"));
    workerfx_stop();
}

static void settings_that_are_no_good_end_the_worker_with_words(void)
{
    static const struct { const char *text, *words;
    } cases[] = {
        { "jobs = { a = { plugin = ", "" },
        { "jobs = { };", "no jobs in the settings" },
        { "plugin_dirs = [\"/nonexistent\"]; jobs = { a = { plugin = \"x\"; }; };",
          "job a: plug-in: no file x.so" },
        { "plugin_dirs = [\"/nonexistent\"]; jobs = { a = { plugin = \"x\"; }; b = { plugin = \"x\"; }; };",
          "none of 2 jobs can be used; the last: job b: " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(workerfx_start_with(cases[i].text), MESSAGE_FAILED);
        CU_ASSERT_TRUE(workerfx_says(cases[i].words));
        CU_ASSERT_NOT_EQUAL(strlen(workerfx.logged), 0);
        int status = workerfx_ended();
        CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 78);
    }
}

static void a_worker_whose_parent_is_not_the_engine_does_not_begin(void)
{
    int pair[2], status;
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    fflush(NULL);
    pid_t between = fork();
    if (between == 0) {
        pid_t inner = fork();
        if (inner == 0)
            exit(worker_main(pair[1]));
        waitpid(inner, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
    }
    close(pair[1]);
    waitpid(between, &status, 0);
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 78);
    char body[MESSAGE_MAX + 1];
    enum message_kind kind;
    CU_ASSERT_TRUE(message_receive(pair[0], &kind, body, NULL, NULL) > 0);
    CU_ASSERT_EQUAL(kind, MESSAGE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(body, "is gone"));
    close(pair[0]);
}

static const struct test tests[] = {
    TEST(a_job_that_cannot_be_loaded_is_refused_alone_and_with_words),
    TEST(jobs_that_share_a_plugin_share_its_refusal),
    TEST(a_job_that_the_engine_leaves_out_is_not_even_loaded),
    TEST(words_of_an_open_that_are_no_text_still_make_a_failure),
    TEST(settings_that_are_no_good_end_the_worker_with_words),
    TEST(a_worker_whose_parent_is_not_the_engine_does_not_begin),
    { 0 },
};

const struct suite suite_worker_start = { "worker_start", NULL, NULL, tests };
