/* test_pool_start.c - what a pool makes of workers that die at their start, and of jobs that some
 * of them, or all, cannot open. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pool_fixture.h"

/* It says of itself what the pool says of those that it has retired, and dies: that must count, or
 * workers are started without end. */
static void fail_as_if_replaced(struct fake_worker *f)
{
    poolfx_say(f, MESSAGE_FAILED, "replaced", 8);
    _exit(0);
}

static void a_worker_that_dies_at_its_start_is_backed_off_from_whatever_it_says(void)
{
    poolfx_begin(fail_as_if_replaced);
    TURN_UNTIL(pool_broken(poolfx.pool) != NULL, 10000);
    CU_ASSERT_EQUAL(poolfx.started, 3);
    CU_ASSERT_STRING_EQUAL(pool_broken(poolfx.pool), "replaced");
    poolfx_end();
}

static void die_of_the_first_job(struct fake_worker *f)
{
    static const uint32_t job = 0;
    poolfx_say(f, MESSAGE_OPENING, &job, sizeof job);
    _exit(3);
}

static void a_job_that_workers_die_of_is_left_out_and_named(void)
{
    poolfx_begin(die_of_the_first_job);
    TURN_UNTIL(poolfx.started == 2, 10000);
    poolfx.misdeed = poolfx_ready_and_answer_all;
    TURN_UNTIL(poolfx.is_ready, 10000);
    CU_ASSERT_TRUE(
        poolfx_says("job one: a worker died while it loaded or opened it (exit status 3): it is left out"));
    poolfx_end();
}

static void die_of_a_job_that_is_none(struct fake_worker *f)
{
    static const uint32_t jobs[] = { 2, 0x80000000u, UINT32_MAX };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        poolfx_say(f, MESSAGE_OPENING, &jobs[i], sizeof jobs[i]);
    poolfx_say(f, MESSAGE_OPENING, "x", 1);
    poolfx_say(f, MESSAGE_OPENING, NULL, 0);
    _exit(3);
}

static void a_job_that_does_not_exist_is_not_left_out(void)
{
    poolfx_begin(die_of_a_job_that_is_none);
    TURN_UNTIL(pool_broken(poolfx.pool) != NULL, 10000);
    CU_ASSERT_PTR_NULL(strstr(poolfx.logged, "left out"));
    poolfx_end();
}

static void opens_one_job_only(struct fake_worker *f)
{
    /* the first of them; `started` is what the parent had counted by then */
    poolfx_say(f, MESSAGE_READY, poolfx.started == 0 ? "\0\1" : "\1\1", 2);
    poolfx_answer_all(f);
}

/* Its open() failed, say, as a database was away for a moment: told once when the first worker was
 * ready, the job was never run here again. */
static void a_job_that_could_not_be_opened_is_taken_up_again(void)
{
    poolfx_begin(opens_one_job_only);
    TURN_UNTIL(poolfx.is_ready, 0);
    CU_ASSERT_FALSE(poolfx.usable[0]);
    CU_ASSERT_TRUE(poolfx.usable[1]);
    for (int i = 0; i < 20; i++)
        poolfx_turn(0);
    CU_ASSERT_EQUAL(poolfx_all_ended(), 0);            /* all wait for the job that it lacks */
    TURN_UNTIL(poolfx.usable[0], 10000);
    CU_ASSERT_EQUAL(poolfx.started, 2);
    CU_ASSERT_TRUE(poolfx.usable[1]);
    TURN_UNTIL(poolfx_all_ended() == CHECKS, 0);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS);
    poolfx_end();
}

static void opens_no_job_of_the_page(struct fake_worker *f)
{
    poolfx_say(f, MESSAGE_READY, "\0\1", 2);
    poolfx_answer_all(f);
}

/* However long it lasts: a worker is replaced after pauses that grow up to a minute. */
static void a_job_that_can_never_be_opened_costs_few_workers(void)
{
    poolfx_begin(opens_no_job_of_the_page);
    TURN_UNTIL(poolfx.is_ready, 0);
    int64_t began_us = poolfx.ahead_us;
    while (poolfx.ahead_us - began_us < 120 * INT64_C(1000000))
        poolfx_turn(100 * 1000);
    if (poolfx.started > 10)
        printf("\n      %d workers were started", poolfx.started);
    CU_ASSERT(poolfx.started <= 10);
    /* the clock runs ahead, and a process takes its own time to start: perhaps these are few yet */
    TURN_UNTIL(poolfx.started >= 4, 100 * 1000);
    CU_ASSERT_FALSE(poolfx.usable[0]);
    CU_ASSERT_EQUAL(poolfx_all_ended(), 0);
    poolfx_end();
}

static void opens_all_but_the_second_time(struct fake_worker *f)
{
    poolfx_say(f, MESSAGE_READY, poolfx.started == 1 ? "\0\1" : "\1\1", 2);
    int from, n;
    poolfx_wait_for(f, MESSAGE_RUN);
    if (poolfx.started == 0) {                         /* a few answers, then its end */
        for (int i = 0;
             i < 3 && slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED; i++)
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
        _exit(3);
    }
    while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED)
        slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
    poolfx_say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    poolfx_answer_all(f);
}

/* The reverse: a worker takes the place of one that could, and cannot. It is given nothing of that
 * job. */
static void a_job_that_a_later_worker_cannot_open_is_told_and_given_to_nobody_until_one_can(void)
{
    poolfx_begin(opens_all_but_the_second_time);
    TURN_UNTIL(poolfx.usable[0], 0);
    TURN_UNTIL(poolfx.started == 2 && !poolfx.usable[0], 0);
    /* the answers of the one that has ended may be taken a turn later */
    TURN_UNTIL(poolfx_all_ended() >= 3, 0);
    CU_ASSERT_EQUAL(poolfx_all_ended(), 3);
    TURN_UNTIL(poolfx.usable[0], 10000);
    TURN_UNTIL(poolfx_all_ended() == CHECKS, 0);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS);
    poolfx_end();
}

static void hangs_as_first_and_opens_no_job_of_the_page_later(struct fake_worker *f)
{
    static const uint32_t first_job = 0;
    int from, n;
    if (poolfx.started == 0) {
        poolfx_say_ready(f);
        poolfx_wait_for(f, MESSAGE_RUN);
        slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n);
        pause();
    }
    if (poolfx.started < 3) {                          /* the two that are started beside it die of the job */
        poolfx_say(f, MESSAGE_OPENING, &first_job, sizeof first_job);
        _exit(3);
    }
    opens_no_job_of_the_page(f);
}

/* The last that could run a job hung, one more was started beside it, and took its place when it
 * was ended: no other came, and nobody noticed that the job could not be run any more. Its checks
 * were waited for, and their leases renewed, for ever. */
static void a_job_that_only_a_hanging_worker_could_run_is_told_when_that_one_is_ended(void)
{
    poolfx_begin_with(SETTINGS("2"), hangs_as_first_and_opens_no_job_of_the_page_later);
    TURN_UNTIL(poolfx.usable[0], 0);
    TURN_UNTIL(poolfx.started == 4, 1000);
    TURN_UNTIL(poolfx.ended[ANSWER_TIMEOUT] == 1, 1000);
    TURN_UNTIL(!poolfx.usable[0], 1000);
    CU_ASSERT_TRUE(poolfx.usable[1]);
    CU_ASSERT_EQUAL(poolfx.started, 4);
    poolfx_end();
}

static const struct test tests[] = {
    TEST(a_job_that_only_a_hanging_worker_could_run_is_told_when_that_one_is_ended),
    TEST(a_job_that_could_not_be_opened_is_taken_up_again),
    TEST(a_job_that_can_never_be_opened_costs_few_workers),
    TEST(a_job_that_a_later_worker_cannot_open_is_told_and_given_to_nobody_until_one_can),
    TEST(a_worker_that_dies_at_its_start_is_backed_off_from_whatever_it_says),
    TEST(a_job_that_workers_die_of_is_left_out_and_named),
    TEST(a_job_that_does_not_exist_is_not_left_out),
    { 0 },
};

const struct suite suite_pool_start = { "pool_start", NULL, NULL, tests };
