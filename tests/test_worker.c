/* test_worker.c - a real worker process, forked, answers slabs as an engine would hand them over.
 * Its limits would be memcheck's own, so: not under valgrind. */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker_fixture.h"

#include "../engine/base/clock.h"
#include "../engine/rules/idempotency.h"
#include "../engine/worker/business.h"

static void a_slab_is_worked_to_its_end_and_then_the_next(void)
{
    workerfx_start();
    for (int round = 0; round < 3; round++) {
        workerfx_fill(1000000);
        for (int i = 0; i < 50; i++)
            workerfx_put(MISBEHAVE, "42", false);
        CU_ASSERT_TRUE(workerfx_run_to_end());
        for (int i = 0; i < 50; i++)
            CU_ASSERT_TRUE(workerfx_is_answer(i, PRESCIENT_DONE, NULL));
        CU_ASSERT_TRUE(workerfx_answer(0).began_us > 0);
        CU_ASSERT_TRUE(workerfx_answer(0).began_us <= clock_boot_us(&clock_system));
        CU_ASSERT_TRUE(workerfx_answer(0).run_us >= 0);
        CU_ASSERT_TRUE(workerfx_answer(0).run_us < test_patience() * 10000000);
    }
    workerfx_stop();
}

static void effects_arrive_with_their_answer(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(EFFECTS, "emit", false);
    workerfx_put(EFFECTS, "enqueue", false);
    workerfx_put(EFFECTS, "resolve", false);
    workerfx_put(EFFECTS, "nothing", false);
    workerfx_put(EFFECTS, "enqueue for", false);
    workerfx_put(EFFECTS, "enqueue short", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    struct raw_answer got = workerfx_answer(0);
    CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
    CU_ASSERT_STRING_EQUAL(got.effects[0].event, "order.late");
    CU_ASSERT_STRING_EQUAL(got.effects[0].json, "{\"n\": 1}");
    got = workerfx_answer(1);
    CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
    CU_ASSERT_EQUAL(got.effects[0].at, 1060);
    CU_ASSERT_STRING_EQUAL(got.effects[0].conflict, "earlier");
    got = workerfx_answer(2);
    CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
    CU_ASSERT_EQUAL(got.effects[0].kind, EFFECT_RESOLVE);
    CU_ASSERT_EQUAL(workerfx_answer(3).neffects, 0);
    got = workerfx_answer(4);
    CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
    CU_ASSERT_EQUAL(got.effects[0].at, 1060);
    CU_ASSERT_STRING_EQUAL(got.effects[0].conflict, "keep");
    CU_ASSERT_STRING_EQUAL(got.effects[0].json, "[2]");
    CU_ASSERT_EQUAL(got.effects[0].priority, -1);
    CU_ASSERT_STRING_EQUAL(got.effects[0].concurrency_key, "project 7");
    CU_ASSERT_STRING_EQUAL(got.effects[0].tenant, "acme");
    got = workerfx_answer(5);
    CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
    CU_ASSERT_STRING_EQUAL(got.effects[0].conflict, "replace");
    CU_ASSERT_PTR_NULL(got.effects[0].tenant);
    workerfx_stop();
}

static void an_effect_that_is_refused_makes_the_answer_a_failure(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(EFFECTS, "bad_json", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    CU_ASSERT_EQUAL(workerfx_answer(0).kind, PRESCIENT_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(workerfx_answer(0).text, "emit: json: found '"));
    CU_ASSERT_EQUAL(workerfx_answer(0).neffects, 0);
    workerfx_stop();
}

static void a_final_failure_stays_one_whatever_it_declares(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(EFFECTS, "final", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_FAIL_FINAL, "410 Gone"));
    CU_ASSERT_EQUAL(workerfx_answer(0).neffects, 0);
    workerfx_stop();
}

static void checks_of_a_batch_without_room_for_their_effects_are_put_off(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    for (int i = 0; i < 30; i++)
        workerfx_put(BATCH_EFFECTS, "big", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    int done = 0, deferred = 0;
    for (int i = 0; i < 30; i++) {
        struct raw_answer got = workerfx_answer(i);
        done += got.kind == PRESCIENT_DONE && got.neffects == 1;
        deferred += got.kind == PRESCIENT_DEFER && got.neffects == 0 && got.at == 1000;
    }
    CU_ASSERT_TRUE(done > 10 && deferred > 5);
    CU_ASSERT_EQUAL(done + deferred, 30);
    workerfx_stop();
}

static void a_worker_without_room_for_effects_gives_the_rest_back(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    for (int i = 0; i < 30; i++)
        workerfx_put(EFFECTS, "big", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    int end = slab_cut(workerfx.slab);
    CU_ASSERT_TRUE(end > 5 && end < 30);
    for (int i = 0; i < end; i++)
        CU_ASSERT_EQUAL(workerfx_answer(i).neffects, 1);
    workerfx_stop();
}

static void a_job_is_told_its_settings_and_idempotency_key(void)
{
    char key[IDEMPOTENCY_KEY_SIZE], expected[256];
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(EFFECTS, "notes", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    struct idempotency of = { .entity_name = "orders",
                              .entity_key = "notes",
                              .job_exec = "effects",
                              .first_check_at = 900,
                              .id = 7,
                              .check_count = 2 };
    idempotency_key(&of, key);
    snprintf(expected, sizeof expected, "hello 2 7200 %s", key);
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_DONE, expected));
    CU_ASSERT_TRUE(workerfx_says("effects: noted"));
    workerfx_stop();
}

static void a_check_without_an_answer_fails(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(NOANSWER, "1", true);
    for (int i = 0; i < 4; i++)
        workerfx_put(NOANSWER, "2", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_FAIL, "no answer"));
    for (int i = 1; i < 5; i += 2)
        CU_ASSERT_TRUE(workerfx_is_answer(i, PRESCIENT_DONE, NULL));
    for (int i = 2; i < 5; i += 2)
        CU_ASSERT_TRUE(workerfx_is_answer(i, PRESCIENT_FAIL, "no answer"));
    workerfx_stop();
}

static void start_early(void)
{
    char text[PATH_MAX + 256], build[PATH_MAX] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text,
             "plugin_dirs = [\"%s/tests/jobs\"]; jobs = { early = { plugin = \"early\"; timeout = \"3s\"; "
             "batch_timeout = \"5s\"; }; };",
             build);
    CU_ASSERT_EQUAL_FATAL(workerfx_start_with(text), MESSAGE_READY);
}

static void answers_are_handed_over_once_and_then_belong_to_the_engine(void)
{
    static const char *const keys[] = { "late", "1", "twice", "2" };
    start_early();
    workerfx_fill(1000000);
    for (int i = 0; i < 4; i++)
        workerfx_put(0, keys[i], false);
    workerfx_put(0, "3", true);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    for (int i = 0; i < 4; i++)
        CU_ASSERT_TRUE(workerfx_is_answer(i, PRESCIENT_DONE, "many, 3000 ms of 5000 ms"));
    CU_ASSERT_TRUE(workerfx_is_answer(4, PRESCIENT_DONE, "one, 3000 ms of 5000 ms"));
    CU_ASSERT_EQUAL(workerfx_answer(2).neffects, 0);
    CU_ASSERT_TRUE(workerfx_says("early: answered: the answer has been handed over already"));
    CU_ASSERT_TRUE(workerfx_says("early: emit: the answer has been handed over already"));
    workerfx_stop();
}

static void a_job_that_waits_is_told_that_the_engine_stops(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    start_early();
    workerfx_fill(1000000);
    workerfx_put(0, "waits", false);
    workerfx_put(0, "1", false);
    workerfx_say_run();
    while (!slab_is_answered(workerfx.slab, 1))
        usleep(1000);
    slab_stop(workerfx.slab);
    CU_ASSERT_EQUAL(workerfx_hear(body, &len), MESSAGE_ENDED);
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_DEFER, "put off"));
    workerfx_stop();
}

static void what_was_handed_over_before_a_crash_is_answered(void)
{
    static const char *const keys[] = { "0", "late", "crash", "late", "4" };
    char body[MESSAGE_MAX + 1];
    int len;
    start_early();
    workerfx_fill(1000000);
    for (int i = 0; i < 5; i++)
        workerfx_put(0, keys[i], false);
    workerfx_say_run();
    CU_ASSERT_EQUAL(workerfx_hear(body, &len), 0);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(slab_is_answered(workerfx.slab, i), i == 4);
    CU_ASSERT_EQUAL(slab_cut(workerfx.slab), 5);
    int status = workerfx_ended();
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* ---- the deadline of what has a concurrency key ---- */

/* A call of four checks takes longer than one may that hands over nothing, which is 1.4 s. The one
 * that has a key is number `keyed`; the last one is run first. */
static void begin_four(int keyed, int64_t trust_us)
{
    char text[PATH_MAX + 256], build[PATH_MAX] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text,
             "plugin_dirs = [\"%s/tests/jobs\"]; kill_grace = \"0s\"; jobs = { early = { plugin = "
             "\"early\"; timeout = \"400ms\"; batch_timeout = \"400ms\"; settings = { pause_us = 450000; "
             "}; }; };",
             build);
    CU_ASSERT_EQUAL_FATAL(workerfx_start_with(text), MESSAGE_READY);
    workerfx_fill(trust_us);
    for (int i = 0; i < 4; i++)
        if (i == keyed)
            workerfx_put_keyed(0, "1");
        else
            workerfx_put(0, "1", false);
}

/* It was killed in the middle of others, and one of them took the blame. */
static void nothing_is_ended_for_a_key_whose_check_is_over(void)
{
    begin_four(3, 10000000);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(workerfx_answer(i).kind, PRESCIENT_DONE);
    workerfx_stop();
}

/* The engine counts from there, too, and renews its places meanwhile. */
static void what_is_handed_over_gives_a_check_with_a_key_its_time_anew(void)
{
    begin_four(0, 10000000);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(workerfx_answer(i).kind, PRESCIENT_DONE);
    workerfx_stop();
}

/* A place lasts for as long as its engine could still trust it: nothing runs beyond that. */
static void a_check_whose_place_is_not_trusted_any_more_gets_no_more_time(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    for (int is_told = 0; is_told < 2; is_told++) {
        begin_four(0, is_told ? 10000000 : 300000);
        workerfx_say_run();
        while (is_told && !slab_claimed(workerfx.slab))
            usleep(1000);
        if (is_told)
            slab_stop(workerfx.slab);
        CU_ASSERT_EQUAL(workerfx_hear(body, &len), 0);
        CU_ASSERT_TRUE(workerfx_is_answer(3, PRESCIENT_DONE, "many, 400 ms of 400 ms"));
        CU_ASSERT_FALSE(slab_is_answered(workerfx.slab, 0));
        int status = workerfx_ended();
        CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
}

static void batches_are_as_long_as_the_job_says_and_single_checks_run_alone(void)
{
    /* 3, the single one, 2 */
    static const char *const notes[] = { "many", "many", "many", "one", "many", "many" };
    workerfx_start();
    workerfx_fill(1000000);
    for (int i = 0; i < 6; i++)
        workerfx_put(BATCH_CRASH, "42", i == 3);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    for (int i = 0; i < 6; i++)
        CU_ASSERT_TRUE(workerfx_is_answer(i, PRESCIENT_DONE, notes[i]));
    workerfx_stop();
}

static void garbage_of_a_job_is_garbage_to_the_engine_and_no_more(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(MISBEHAVE, "garbage", false);
    workerfx_put(MISBEHAVE, "garbage_text", false);
    workerfx_put(MISBEHAVE, "42", false);
    CU_ASSERT_TRUE(workerfx_run_to_end());
    CU_ASSERT_EQUAL(workerfx_answer(0).kind, -1);
    CU_ASSERT_EQUAL(workerfx_answer(1).kind, PRESCIENT_FAIL);
    CU_ASSERT_TRUE(strlen(workerfx_answer(1).text) > SLAB_TEXT_MAX - 4);
    CU_ASSERT_EQUAL(strspn(workerfx_answer(1).text, "?"), strlen(workerfx_answer(1).text));
    CU_ASSERT_TRUE(workerfx_is_answer(2, PRESCIENT_DONE, NULL));
    workerfx_stop();
}

static void past_the_trust_window_nothing_is_started_until_told_to_go_on(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    workerfx_start();
    workerfx_fill(-1);
    workerfx_put(MISBEHAVE, "42", false);
    workerfx_say_run();
    /* Told to go on although nothing has moved: it looks, and waits again. */
    CU_ASSERT_EQUAL(message_send(workerfx.sock, MESSAGE_CONTINUE, NULL, 0, -1, NULL), 0);
    struct pollfd p = { .fd = workerfx.sock, .events = POLLIN };
    CU_ASSERT_EQUAL(poll(&p, 1, 50), 0);
    CU_ASSERT_EQUAL(slab_claimed(workerfx.slab), 0);
    slab_set_trust(workerfx.slab, business_now_us() + 10000000);
    CU_ASSERT_EQUAL(poll(&p, 1, 50), 0);        /* moved on, but not said so */
    CU_ASSERT_EQUAL(slab_claimed(workerfx.slab), 0);
    CU_ASSERT_EQUAL(message_send(workerfx.sock, MESSAGE_CONTINUE, NULL, 0, -1, NULL), 0);
    CU_ASSERT_EQUAL(workerfx_hear(body, &len), MESSAGE_ENDED);
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_DONE, NULL));
    workerfx_stop();
}

static void what_was_cut_off_is_not_run(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    workerfx_start();
    workerfx_fill(-1);
    for (int i = 0; i < 3; i++)
        workerfx_put(MISBEHAVE, "42", false);
    workerfx_say_run();
    CU_ASSERT_EQUAL(slab_cut(workerfx.slab), 0);
    slab_set_trust(workerfx.slab, business_now_us() + 10000000);
    CU_ASSERT_EQUAL(message_send(workerfx.sock, MESSAGE_CONTINUE, NULL, 0, -1, NULL), 0);
    CU_ASSERT_EQUAL(workerfx_hear(body, &len), MESSAGE_ENDED);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(workerfx_answer(i).kind, -2);
    workerfx_stop();
}

static void a_crash_leaves_the_answers_before_it(void)
{
    static const struct { const char *key; int signal, code; } cases[] = {
        { "crash", SIGSEGV, 0 }, { "abort", SIGABRT, 0 }, { "exit0", 0, 0 }, { "_exit", 0, 3 },
    };
    char body[MESSAGE_MAX + 1];
    int len;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        workerfx_start();
        workerfx_fill(1000000);
        workerfx_put(MISBEHAVE, "1", false);
        workerfx_put(MISBEHAVE, "2", false);
        workerfx_put(MISBEHAVE, cases[i].key, false);
        workerfx_put(MISBEHAVE, "4", false);
        workerfx_say_run();
        CU_ASSERT_EQUAL(workerfx_hear(body, &len), 0);
        CU_ASSERT_EQUAL(slab_claimed(workerfx.slab), 3);
        CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_DONE, NULL));
        CU_ASSERT_TRUE(workerfx_is_answer(1, PRESCIENT_DONE, NULL));
        CU_ASSERT_FALSE(slab_is_answered(workerfx.slab, 2));
        CU_ASSERT_EQUAL(slab_cut(workerfx.slab), 3);
        int status = workerfx_ended();
        CU_ASSERT_TRUE(cases[i].signal ? WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal
                                       : WIFEXITED(status) && WEXITSTATUS(status) == cases[i].code);
    }
}

static void a_batch_that_crashes_leaves_none_of_its_answers(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(BATCH_CRASH, "1", true);
    workerfx_put(BATCH_CRASH, "2", false);
    workerfx_put(BATCH_CRASH, "bad", false);
    workerfx_say_run();
    CU_ASSERT_EQUAL(workerfx_hear(body, &len), 0);
    CU_ASSERT_TRUE(workerfx_is_answer(0, PRESCIENT_DONE, "one"));
    CU_ASSERT_EQUAL(workerfx_answer(1).kind, -2);
    CU_ASSERT_EQUAL(slab_cut(workerfx.slab), 3);
    int status = workerfx_ended();
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void a_worker_that_scribbles_over_the_slab_does_no_harm(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(MISBEHAVE, "1", false);
    workerfx_put(MISBEHAVE, "scribble", false);
    workerfx_put(MISBEHAVE, "3", false);
    workerfx_say_run();
    workerfx_hear(body, &len);
    for (int i = 0; i < SLAB_CHECKS_MAX; i++)
        workerfx_answer(i);
    int end = slab_cut(workerfx.slab);
    CU_ASSERT_TRUE(end >= 0 && end <= 3);
    kill(workerfx.pid, SIGKILL);
    workerfx_ended();
}

static void a_worker_that_hangs_is_ended_by_term_and_the_end_is_seen(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(MISBEHAVE, "hang", false);
    workerfx_say_run();
    while (slab_claimed(workerfx.slab) == 0)
        usleep(1000);
    kill(workerfx.pid, SIGTERM);
    int status = workerfx_ended();
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void memory_is_limited(void)
{
#ifndef __SANITIZE_ADDRESS__
    char body[MESSAGE_MAX + 1];
    int len;
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(MISBEHAVE, "eat", false);
    workerfx_say_run();
    CU_ASSERT_EQUAL(workerfx_hear(body, &len), 0);
    int status = workerfx_ended();
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

static void a_job_that_closes_the_socket_ends_its_worker(void)
{
    workerfx_start();
    workerfx_fill(1000000);
    workerfx_put(MISBEHAVE, "closefds", false);
    workerfx_say_run();
    int status = workerfx_ended();
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void a_worker_ends_when_the_engine_closes_the_socket(void)
{
    workerfx_start();
    shutdown(workerfx.sock, SHUT_RDWR);
    int status = workerfx_ended();
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static int teardown(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/runs.log", test_tmp_dir());
    unlink(path);
    return 0;
}

static const struct test tests[] = {
    TEST(a_slab_is_worked_to_its_end_and_then_the_next),
    TEST(effects_arrive_with_their_answer),
    TEST(an_effect_that_is_refused_makes_the_answer_a_failure),
    TEST(a_final_failure_stays_one_whatever_it_declares),
    TEST(checks_of_a_batch_without_room_for_their_effects_are_put_off),
    TEST(a_worker_without_room_for_effects_gives_the_rest_back),
    TEST(a_job_is_told_its_settings_and_idempotency_key),
    TEST(a_check_without_an_answer_fails),
    TEST(batches_are_as_long_as_the_job_says_and_single_checks_run_alone),
    TEST(answers_are_handed_over_once_and_then_belong_to_the_engine),
    TEST(a_job_that_waits_is_told_that_the_engine_stops),
    TEST(what_was_handed_over_before_a_crash_is_answered),
    TEST(nothing_is_ended_for_a_key_whose_check_is_over),
    TEST(what_is_handed_over_gives_a_check_with_a_key_its_time_anew),
    TEST(a_check_whose_place_is_not_trusted_any_more_gets_no_more_time),
    TEST(garbage_of_a_job_is_garbage_to_the_engine_and_no_more),
    TEST(past_the_trust_window_nothing_is_started_until_told_to_go_on),
    TEST(what_was_cut_off_is_not_run),
    TEST(a_crash_leaves_the_answers_before_it),
    TEST(a_batch_that_crashes_leaves_none_of_its_answers),
    TEST(a_worker_that_scribbles_over_the_slab_does_no_harm),
    TEST(a_worker_that_hangs_is_ended_by_term_and_the_end_is_seen),
    TEST(memory_is_limited),
    TEST(a_job_that_closes_the_socket_ends_its_worker),
    TEST(a_worker_ends_when_the_engine_closes_the_socket),
    { 0 },
};

const struct suite suite_worker = { "worker", NULL, teardown, tests };
