/* test_pool.c - what a pool believes of its workers: processes of the test's own that break every
 * rule, beside a clock that can be moved on. */
/* about 5 s */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pool_fixture.h"
#include "../engine/pool/pool_state.h"

enum { ASIDE_US = 2000 };

static void a_worker_that_keeps_to_the_rules_answers_a_page(void)
{
    poolfx_begin(poolfx_ready_and_answer_all);
    TURN_UNTIL(page_is_over(poolfx.page), 0);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS);
    CU_ASSERT_EQUAL(poolfx.started, 1);
    poolfx_end();
}

static bool is_delivery(const struct slab_check *c) { return c->terms; }
static bool is_of_one(const struct slab_check *c) { return c->job == 0; }

/* Hangs on such checks, and answers what else it is given. */
static void hang_on(struct fake_worker *f, bool (*is_such)(const struct slab_check *c))
{
    int from, n;
    poolfx_say_ready(f);
    for (;;) {
        poolfx_wait_for(f, MESSAGE_RUN);
        while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED) {
            struct slab_check c;
            slab_get(f->slab, from, &c);
            if (is_such(&c))
                poolfx_sleep_for_ever();
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
        }
        poolfx_say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    }
}

static void hang_on_deliveries(struct fake_worker *f) { hang_on(f, is_delivery); }
static void hang_on_one(struct fake_worker *f) { hang_on(f, is_of_one); }

static void deliveries_that_hang_leave_half_of_the_workers_to_others(void)
{
    poolfx.terms = "event \"late\"";
    poolfx_begin_with(SETTINGS_OF("3", "3"), hang_on_deliveries);
    struct page *deliveries = poolfx.page;
    poolfx.terms = NULL;
    poolfx_make_page();
    TURN_UNTIL(pool_is_ready(poolfx.pool) && deliveries->counts[CHECK_GIVEN] == CHECKS, 0);
    CU_ASSERT_FATAL(pool_offer(poolfx.pool, poolfx.page));
    TURN_UNTIL(poolfx.ended[ANSWER_DONE] == CHECKS, 0);
    CU_ASSERT_EQUAL(poolfx_all_ended(), CHECKS);
    TURN_UNTIL(deliveries->counts[CHECK_GIVEN] == 2, 1000);  /* the others have been taken back */
    CU_ASSERT_EQUAL(deliveries->counts[CHECK_WAITING], CHECKS - 2);
    poolfx_end();
    page_free(deliveries);
}

/* A slab is of one kind, as it takes a worker of one kind. */
static void deliveries_and_others_of_a_page_are_given_apart(void)
{
    poolfx.terms = "event \"late\"";
    poolfx_begin_with(SETTINGS_OF("2", "2"), hang_on_deliveries);
    poolfx.terms = NULL;
    pool_forget(poolfx.pool, poolfx.page);
    for (int i = 0; i < CHECKS; i += 2)
        poolfx.page->checks[i].is_delivery = false;
    for (int i = 0; i < CHECKS; i += 2)
        poolfx.page->rows.checks[i].terms = NULL;
    poolfx.page->ndeliveries = CHECKS / 2;
    CU_ASSERT_FATAL(pool_offer(poolfx.pool, poolfx.page));
    TURN_UNTIL(poolfx.ended[ANSWER_DONE] == CHECKS / 2, 0);
    CU_ASSERT_EQUAL(poolfx_all_ended(), CHECKS / 2);
    poolfx_end();
}

#define BOUNDED(workers, max_running)                                                                        \
    "workers = " workers "; workers_max = " workers "; slab = 2; plugin_dirs = [\"/nonexistent\"];\n"        \
    "jobs = { one = { plugin = \"x\"; timeout = \"60s\"; batch = 1; max_running = " max_running "; };"       \
    "two = { plugin = \"y\"; }; };\n"

static void no_more_workers_than_max_running_run_a_job(void)
{
    poolfx_begin_with(BOUNDED("4", "2"), hang_on_one);
    struct page *bounded = poolfx.page;
    TURN_UNTIL(pool_is_ready(poolfx.pool) && bounded->counts[CHECK_GIVEN] == 4, 0);
    poolfx.has_both_jobs = true;
    poolfx_make_page();
    poolfx.has_both_jobs = false;
    CU_ASSERT_FATAL(pool_offer(poolfx.pool, poolfx.page));
    TURN_UNTIL(poolfx.ended[ANSWER_DONE] == CHECKS / 2, 0);
    CU_ASSERT_EQUAL(poolfx_all_ended(), CHECKS / 2);
    /* one that hangs on a check has no others after a while */
    CU_ASSERT_TRUE(bounded->counts[CHECK_GIVEN] >= 2 && bounded->counts[CHECK_GIVEN] <= 4);
    CU_ASSERT_EQUAL(poolfx.page->counts[CHECK_WAITING], CHECKS / 2);
    poolfx_end();
    page_free(bounded);
}

static void deliveries_of_a_job_with_max_running_may_take_all_workers(void)
{
    poolfx.terms = "event \"late\"";
    poolfx_begin_with(BOUNDED("3", "3"), hang_on_one);
    TURN_UNTIL(pool_is_ready(poolfx.pool) && poolfx.page->counts[CHECK_GIVEN] == 6, 0);
    poolfx.terms = NULL;
    poolfx_end();
}

static void deliveries_of_a_job_with_max_running_take_no_more(void)
{
    poolfx.terms = "event \"late\"";
    poolfx_begin_with(BOUNDED("4", "1"), hang_on_one);
    struct page *deliveries = poolfx.page;
    TURN_UNTIL(pool_is_ready(poolfx.pool) && deliveries->counts[CHECK_GIVEN] == 2, 0);
    poolfx.has_both_jobs = true;
    poolfx_make_page();
    poolfx.has_both_jobs = false;
    poolfx.terms = NULL;
    CU_ASSERT_FATAL(pool_offer(poolfx.pool, poolfx.page));
    TURN_UNTIL(poolfx.ended[ANSWER_DONE] == CHECKS / 2, 0);
    CU_ASSERT_TRUE(deliveries->counts[CHECK_GIVEN] >= 1 && deliveries->counts[CHECK_GIVEN] <= 2);
    poolfx_end();
    page_free(deliveries);
}

/* Claims one check after the other and answers none: each claim would wind its stopwatch back. */
static void claim_on_and_on(struct fake_worker *f)
{
    int from, n;
    poolfx_say_ready(f);
    poolfx_wait_for(f, MESSAGE_RUN);
    while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED)
        usleep(ASIDE_US);
    poolfx_sleep_for_ever();
}

static void a_worker_that_claims_without_answering_is_ended(void)
{
    poolfx_begin(claim_on_and_on);
    TURN_UNTIL(poolfx.started == 1 && poolfx.is_ready, 0);
    poolfx.misdeed = poolfx_ready_and_answer_all;
    TURN_UNTIL(page_is_over(poolfx.page), 0);
    CU_ASSERT_TRUE(poolfx_says("it claimed new checks before it had answered the old ones"));
    CU_ASSERT_TRUE(poolfx.ended[ANSWER_DONE] >= CHECKS - 1 && poolfx_all_ended() == CHECKS);
    poolfx_end();
}

static void answer(struct fake_worker *f, int place)
{
    slab_answer(f->slab, place, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
}

/* Has a batch of ten, hands over two of them, not the first, and hangs. */
static void hand_over_two_and_hang(struct fake_worker *f)
{
    int from, n;
    poolfx_say_ready(f);
    poolfx_wait_for(f, MESSAGE_RUN);
    slab_claim(f->slab, 10, clock_boot_us(&clock_system), &from, &n);
    answer(f, 7);
    answer(f, 3);
    poolfx_sleep_for_ever();
}

static void what_a_batch_has_handed_over_is_answered_at_once_and_never_run_again(void)
{
    poolfx_begin(hand_over_two_and_hang);
    TURN_UNTIL(poolfx.ended[ANSWER_DONE] == 2, 0);
    poolfx.misdeed = poolfx_ready_and_answer_all;
    TURN_UNTIL(page_is_over(poolfx.page), 1000);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS);
    CU_ASSERT_EQUAL(poolfx_all_ended(), CHECKS);
    CU_ASSERT_TRUE(poolfx_says("timeout with 8 checks claimed: they run one by one"));
    poolfx_end();
}

/* The same, but only its first check is left. */
static void hand_over_all_but_the_first_and_hang(struct fake_worker *f)
{
    int from, n;
    poolfx_say_ready(f);
    poolfx_wait_for(f, MESSAGE_RUN);
    slab_claim(f->slab, 10, clock_boot_us(&clock_system), &from, &n);
    for (int i = 9; i > 0; i--)
        answer(f, i);
    poolfx_sleep_for_ever();
}

static void the_last_check_of_a_batch_times_out_alone(void)
{
    poolfx_begin(hand_over_all_but_the_first_and_hang);
    TURN_UNTIL(poolfx.ended[ANSWER_DONE] == 9, 0);
    poolfx.misdeed = poolfx_ready_and_answer_all;
    TURN_UNTIL(page_is_over(poolfx.page), 1000);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS - 1);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_TIMEOUT], 1);
    poolfx_end();
}

/* Hands over an answer each second; its call takes longer than the batch timeout of 3 s. */
static void hand_over_slowly(struct fake_worker *f)
{
    int from, n;
    char body[MESSAGE_MAX + 1];
    poolfx_say_ready(f);
    poolfx_wait_for(f, MESSAGE_RUN);
    slab_claim(f->slab, 10, clock_boot_us(&clock_system), &from, &n);
    for (int i = 9; i >= 0; i--) {
        poolfx_hear(f, body);                  /* CONTINUE, by which this test counts the seconds */
        answer(f, i);
    }
    poolfx_answer_all(f);
}

static void each_answer_that_is_handed_over_restarts_the_time_of_its_batch(void)
{
    poolfx_begin(hand_over_slowly);
    TURN_UNTIL(page_waiting(poolfx.page) == CHECKS - 20, 0);
    TURN_UNTIL(page_waiting(poolfx.page) == CHECKS - 10, 1000);        /* it is stuck: the rest is cut off */
    for (int i = 1; i < 10; i++) {
        for (int k = 0; k < 10; k++)
            poolfx_turn(100 * 1000);
        poolfx.page->start_until_us = 0;
        pool_set_trust(poolfx.pool, poolfx.page);
        poolfx.page->start_until_us = clock_boot_us(&poolfx_clock) + 3600 * 1000000LL;
        pool_set_trust(poolfx.pool, poolfx.page);     /* sends CONTINUE */
        TURN_UNTIL(poolfx.ended[ANSWER_DONE] >= i, 0);
    }
    CU_ASSERT_EQUAL(poolfx.started, 1);
    CU_ASSERT_EQUAL(poolfx_all_ended(), poolfx.ended[ANSWER_DONE]);
    poolfx_end();
}

/* Claims one check, answers another that it has not claimed, and dies. */
static void answer_what_was_not_claimed(struct fake_worker *f)
{
    int from, n;
    poolfx_say_ready(f);
    poolfx_wait_for(f, MESSAGE_RUN);
    slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n);
    answer(f, 15);
    usleep(20 * ASIDE_US);
    _exit(1);
}

static void an_answer_to_a_check_that_was_not_claimed_is_none(void)
{
    poolfx_begin(answer_what_was_not_claimed);
    TURN_UNTIL(poolfx.started == 1 && poolfx.is_ready, 0);
    poolfx.misdeed = poolfx_ready_and_answer_all;
    TURN_UNTIL(page_is_over(poolfx.page), 100);
    CU_ASSERT_EQUAL(poolfx_all_ended(), CHECKS);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_CRASH], 1);
    poolfx_end();
}

/* Has its checks, starts none, and its lease is renewed all the time. */
static void do_nothing(struct fake_worker *f)
{
    poolfx_say_ready(f);
    poolfx_sleep_for_ever();
}

static void a_worker_that_starts_nothing_is_replaced_although_its_lease_is_renewed(void)
{
    poolfx_begin(do_nothing);
    poolfx.log.least = LOG_LEVEL_DEBUG;
    TURN_UNTIL(poolfx.started == 1 && poolfx.is_ready, 0);
    poolfx.misdeed = poolfx_ready_and_answer_all;
    /* by what the clock is set forward alone: real time, of which a busy machine takes more, comes
     * on top, and only makes it less */
    int64_t since_us = clock_mono_us(&clock_system), before_us = poolfx.ahead_us, ended_after_us = 0;
    for (int i = 0; poolfx_may_come(i, since_us) && !page_is_over(poolfx.page); i++) {
        poolfx.page->start_until_us = clock_boot_us(&poolfx_clock) + 20 * 1000000LL;
        pool_set_trust(poolfx.pool, poolfx.page);
        poolfx_turn(20000);
        if (!ended_after_us && strstr(poolfx.logged, "it makes no progress"))
            ended_after_us = poolfx.ahead_us - before_us;
    }
    CU_ASSERT_TRUE(page_is_over(poolfx.page));
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS);
    CU_ASSERT_TRUE(poolfx.started > 1);
    CU_ASSERT_TRUE(ended_after_us > 0 && ended_after_us < 15 * 1000000LL);
    poolfx_end();
}

/* Answers with more than one answer may have, again and again, each in a slab of its own. */
static void answer_with_effects(struct fake_worker *f)
{
    static char json[CHECK_PAYLOAD_MAX];
    int from, n;
    memset(json, ' ', sizeof json - 1);
    json[0] = '1';
    poolfx_say_ready(f);
    for (;;) {
        poolfx_wait_for(f, MESSAGE_RUN);
        while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED) {
            for (int i = 0; i < 3; i++)
                slab_add_effect(f->slab, from,
                                &(struct effect){ .kind = EFFECT_EMIT, .event = "e", .json = json });
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
        }
        poolfx_say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    }
}

static void what_the_answers_of_a_page_take_is_bounded_and_the_rest_is_put_off(void)
{
    poolfx_begin(answer_with_effects);
    int rounds = 0;
    /* the same page's memory, filled by more checks than it has */
    for (; rounds < 8; rounds++) {
        TURN_UNTIL(page_is_over(poolfx.page), 0);
        struct page *filled = poolfx.page;
        pool_forget(poolfx.pool, filled);
        poolfx_make_page();
        struct arena *fresh = poolfx.page->arena;
        poolfx.page->arena = filled->arena;
        filled->arena = fresh;
        page_free(filled);
        CU_ASSERT_FATAL(pool_offer(poolfx.pool, poolfx.page));
    }
    CU_ASSERT_TRUE(poolfx.ended[ANSWER_DONE] > 100);
    CU_ASSERT_TRUE(poolfx.ended[ANSWER_DEFER] > 50);
    CU_ASSERT_TRUE(arena_used(poolfx.page->arena) < (34u << 20));
    poolfx_end();
}

static void lie_about_times(struct fake_worker *f)
{
    int from, n;
    poolfx_say_ready(f);
    for (;;) {
        poolfx_wait_for(f, MESSAGE_RUN);
        while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED)
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, from % 2 ? 0 : INT64_C(253402300799000000),
                        INT64_C(253402300799000000), NULL);
        poolfx_say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    }
}

static void times_are_what_the_engine_has_seen(void)
{
    poolfx_begin(lie_about_times);
    TURN_UNTIL(page_is_over(poolfx.page), 0);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS);
    CU_ASSERT_TRUE(poolfx.last.run_us >= 0 && poolfx.last.run_us < 60 * 1000000LL);
    CU_ASSERT_TRUE(poolfx.last.began_us > clock_boot_us(&poolfx_clock) - 60 * 1000000LL &&
                   poolfx.last.began_us <= clock_boot_us(&poolfx_clock));
    poolfx_end();
}

/* Messages of every kind, at any time, with bodies that fit nothing. */
static void say_anything(struct fake_worker *f)
{
    static const enum message_kind kinds[] = { MESSAGE_READY, MESSAGE_ENDED, MESSAGE_OPENING, MESSAGE_FAILED,
                                               MESSAGE_READY, MESSAGE_LOG,   MESSAGE_ENDED };
    char body[300];
    poolfx_say_ready(f);
    poolfx_wait_for(f, MESSAGE_RUN);
    for (unsigned seed = 1, i = 0; i < 300; i++) {
        for (size_t k = 0; k < sizeof body; k++)
            body[k] = (char)((seed = seed * 1103515245 + 12345) >> 16);
        poolfx_say(f, kinds[i % (sizeof kinds / sizeof *kinds)], body, (seed >> 8) % sizeof body);
    }
    _exit(0);
}

static void messages_that_fit_nothing_end_the_worker_and_nothing_else(void)
{
    poolfx_begin(say_anything);
    TURN_UNTIL(poolfx.started == 1 && poolfx.is_ready, 0);
    poolfx.misdeed = poolfx_ready_and_answer_all;
    TURN_UNTIL(page_is_over(poolfx.page), 1000);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS);
    poolfx_end();
}

/* A line for each check, and checks without end. */
static void chatter(struct fake_worker *f)
{
    char body[2000];
    memset(body, 'x', sizeof body);
    body[0] = LOG_LEVEL_INFO;
    int from, n;
    poolfx_say_ready(f);
    for (;;) {
        poolfx_wait_for(f, MESSAGE_RUN);
        while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED) {
            poolfx_say(f, MESSAGE_LOG, body, sizeof body);
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
        }
        poolfx_say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    }
}

static void what_jobs_print_is_bounded_in_time_and_says_what_was_dropped(void)
{
    poolfx_begin(chatter);
    for (int i = 0; i < 30; i++) {              /* 1,200 checks, 2.4 MB of words in no time */
        TURN_UNTIL(page_is_over(poolfx.page), 0);
        pool_forget(poolfx.pool, poolfx.page);
        page_free(poolfx.page);
        poolfx_make_page();
        CU_ASSERT_FATAL(pool_offer(poolfx.pool, poolfx.page));
    }
    CU_ASSERT_TRUE(poolfx_says("jobs print too much for the log"));
    CU_ASSERT_TRUE(poolfx.logged_size > 900 << 10 && poolfx.logged_size < 1300 << 10);
    size_t before = poolfx.logged_size;
    poolfx.ahead_us += 60 * 1000000LL;                 /* by then there is room again */
    TURN_UNTIL(page_is_over(poolfx.page), 0);
    fflush(poolfx.log_file);
    CU_ASSERT_PTR_NOT_NULL(strstr(poolfx.logged + before, "bytes that jobs printed were dropped"));
    CU_ASSERT_TRUE(poolfx.logged_size > before + 10000);
    poolfx_end();
}

/* Its own end, when there is no more work: it is told, and has some time for it. */
static void close_slowly(struct fake_worker *f)
{
    poolfx_say_ready(f);
    poolfx_wait_for(f, MESSAGE_EXIT);
    poolfx_say(f, MESSAGE_LOG, "\1closed", 7);
    _exit(0);
}

static void never_close(struct fake_worker *f)
{
    signal(SIGTERM, SIG_IGN);
    poolfx_say_ready(f);
    poolfx_sleep_for_ever();
}

static void idle_workers_are_told_to_end_and_those_that_do_not_are_ended(void)
{
    static const struct {
        void (*deed)(struct fake_worker *f);
        bool closes;
    } cases[] = { { close_slowly, true }, { never_close, false } };
    for (int i = 0; i < 2; i++) {
        poolfx_begin(cases[i].deed);
        pool_forget(poolfx.pool, poolfx.page);
        TURN_UNTIL(poolfx.is_ready, 0);
        pool_retire(poolfx.pool);
        int64_t before = clock_mono_us(&poolfx_clock);
        TURN_UNTIL(pool_is_retired(poolfx.pool), 10000);
        int64_t took = clock_mono_us(&poolfx_clock) - before;
        /* how long beyond that is the machine's business, under memcheck */
        CU_ASSERT_TRUE(cases[i].closes || took >= 2000000);
        CU_ASSERT_EQUAL(strstr(poolfx.logged, "closed") != NULL, cases[i].closes);
        CU_ASSERT_EQUAL(poolfx.started, 1);
        poolfx_end();
    }
}

/* The first is slow until it is cut, and another one is started beside it, which has to be ended.
 * On a busy machine it is cut before it has claimed any check. */
static void be_slow_as_first_and_end_late_as_second(struct fake_worker *f)
{
    char body[MESSAGE_MAX + 1];
    enum message_kind kind;
    int from, n;
    poolfx_say_ready(f);
    if (poolfx.started > 0)
        poolfx_answer_all(f);
    poolfx_wait_for(f, MESSAGE_RUN);
    if (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED) {
        poolfx_wait_for(f, MESSAGE_CONTINUE);
        slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
    }
    poolfx_say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    while ((kind = poolfx_hear(f, body)) != MESSAGE_EXIT)
        if (kind == MESSAGE_RUN) {
            memcpy(&f->generation, body, sizeof f->generation);
            poolfx_answer_slab(f);
        }
}

/* The usual number of workers is one: when the first of the two was gone, none that was left could
 * run a job, and a run in which all went well ended with an error. */
static void that_workers_end_with_their_pool_is_no_news_of_jobs(void)
{
    poolfx_begin_with(SETTINGS("2"), be_slow_as_first_and_end_late_as_second);
    TURN_UNTIL(poolfx.is_ready, 0);
    TURN_UNTIL(poolfx.started == 2, 50000);
    TURN_UNTIL(poolfx_all_ended() == CHECKS && pool_count(poolfx.pool, WORKER_IDLE) == 2, 0);
    pool_forget(poolfx.pool, poolfx.page);
    pool_retire(poolfx.pool);
    TURN_UNTIL(pool_is_retired(poolfx.pool), 10000);
    CU_ASSERT_EQUAL(poolfx.ended[ANSWER_DONE], CHECKS);
    CU_ASSERT_TRUE(poolfx.usable[0]);
    CU_ASSERT_TRUE(poolfx.usable[1]);
    poolfx_end();
}

static const struct test tests[] = {
    TEST(a_worker_that_keeps_to_the_rules_answers_a_page),
    TEST(deliveries_that_hang_leave_half_of_the_workers_to_others),
    TEST(deliveries_and_others_of_a_page_are_given_apart),
    TEST(no_more_workers_than_max_running_run_a_job),
    TEST(deliveries_of_a_job_with_max_running_may_take_all_workers),
    TEST(deliveries_of_a_job_with_max_running_take_no_more),
    TEST(a_worker_that_claims_without_answering_is_ended),
    TEST(what_a_batch_has_handed_over_is_answered_at_once_and_never_run_again),
    TEST(the_last_check_of_a_batch_times_out_alone),
    TEST(each_answer_that_is_handed_over_restarts_the_time_of_its_batch),
    TEST(an_answer_to_a_check_that_was_not_claimed_is_none),
    TEST(a_worker_that_starts_nothing_is_replaced_although_its_lease_is_renewed),
    TEST(what_the_answers_of_a_page_take_is_bounded_and_the_rest_is_put_off),
    TEST(times_are_what_the_engine_has_seen),
    TEST(messages_that_fit_nothing_end_the_worker_and_nothing_else),
    TEST(what_jobs_print_is_bounded_in_time_and_says_what_was_dropped),
    TEST(idle_workers_are_told_to_end_and_those_that_do_not_are_ended),
    TEST(that_workers_end_with_their_pool_is_no_news_of_jobs),
    { 0 },
};

const struct suite suite_pool = { "pool", NULL, NULL, tests };
