/* test_job_limits.c - whether the attempts of each job fit into a slot, and the words for one where
 * they do not. */
#include <string.h>

#include "../engine/rules/job_limits.h"
#include "settings_fixture.h"

static void fits(const char *job, int32_t slot_length_s, const char *refusal)
{
    char text[512];
    struct err err = { 0 };
    snprintf(text, sizeof text, "timeout = \"5s\"; batch = 1;\njobs = { good = { plugin = \"p\"; };\n "
                                "pay = { plugin = \"p\"; %s }; };", job);
    struct settings s = parsed(text);
    int rc = job_limits_fit(&s, slot_length_s, &err);
    CU_ASSERT_EQUAL(rc, refusal ? ERR_SETTINGS : 0);
    if (refusal)
        says(&err, text, refusal);
    settings_release(&s);
}

static void all_attempts_fit_into_a_slot_or_the_sum_is_told(void)
{
    /* 10 + 20 + 40, three times 5, three times 5 */
    fits("attempts = 3;", 100, NULL);
    fits("attempts = 3;", 99,
         "test.cfg:3: job pay: its 3 attempts take up to 1m40s (delays 1m10s, jitter 15s, timeouts 15s), and "
         "a slot is 1m39s: lower attempts (2 would fit), attempt_interval, attempt_interval_max, "
         "attempt_jitter or timeout, or have longer slots (prescient migrate --slot-length)");
    fits("attempts = 3; attempt_interval_max = \"15s\"; attempt_jitter = \"0s\";", 55, NULL);
    fits("attempts = 3; attempt_interval_max = \"15s\"; attempt_jitter = \"0s\";", 54,
         "test.cfg:3: job pay: its 3 attempts take up to 55s (delays 40s, jitter 0s, timeouts 15s), and a "
         "slot is 54s: lower attempts (2 would fit), attempt_interval, attempt_interval_max, "
         "attempt_jitter or timeout, or have longer slots (prescient migrate --slot-length)");
    fits("attempts = 100; attempt_interval = \"1d\"; attempt_interval_max = \"1d\"; "
         "attempt_jitter = \"1d\"; timeout = \"1d\";", 86400,
         "test.cfg:3: job pay: its 100 attempts take up to 300d (delays 100d, jitter 100d, timeouts 100d), "
         "and a slot is 1d: lower attempts (1 would fit), attempt_interval, attempt_interval_max, "
         "attempt_jitter or timeout, or have longer slots (prescient migrate --slot-length)");
}

/* A batch that was too slow counts for none of its checks, which are run one by one then. */
static void a_check_may_be_run_twice_in_an_attempt_where_there_are_batches(void)
{
    /* 10 + 20 + 40, three times 5, three times 5, three times 60 */
    fits("attempts = 3; batch = 2;", 280, NULL);
    fits("attempts = 3; batch = 2;", 279,
         "test.cfg:3: job pay: its 3 attempts take up to 4m40s (delays 1m10s, jitter 15s, timeouts 15s, of "
         "batches 3m), and a slot is 4m39s: lower attempts (2 would fit), attempt_interval, "
         "attempt_interval_max, attempt_jitter, timeout or batch_timeout, set batch = 1, or have longer "
         "slots (prescient migrate --slot-length)");
    fits("attempts = 3; batch = 1000; batch_timeout = \"10s\";", 130, NULL);
    fits("attempts = 3; batch = 1000; batch_timeout = \"10s\";", 129,
         "timeouts 15s, of batches 30s), and a slot is 2m9s");
}

static void one_attempt_fits_whatever_it_takes(void)
{
    fits("timeout = \"1d\";", 1, NULL);
    fits("attempts = 1; timeout = \"1d\"; attempt_interval = \"4m\";", 1, NULL);
}

static void the_slot_length_matters_only_where_there_are_attempts(void)
{
    struct settings s = parsed("attempts = 2; jobs = { a = { plugin = \"p\"; attempts = 1; }; };");
    CU_ASSERT_FALSE(job_limits_have_attempts(&s));
    settings_release(&s);
    s = parsed("attempts = 2; jobs = { a = { plugin = \"p\"; attempts = 1; }; b = { plugin = \"p\"; }; };");
    CU_ASSERT_TRUE(job_limits_have_attempts(&s));
    settings_release(&s);
}

static void the_guard_has_the_limits_of_the_job(void)
{
    struct settings s = parsed("jobs = { a = { plugin = \"p\"; attempts = 4; attempt_interval = \"3s\"; "
                               "attempt_interval_max = \"9s\"; attempt_jitter = \"2s\"; max_checks = 7; "
                               "max_failures = 8; backoff = \"11s\"; backoff_max = \"12s\"; "
                               "horizon = \"13s\"; }; };");
    struct guard_policy p = job_limits_policy(&s.jobs[0], 60);
    CU_ASSERT(p.slot_length_s == 60 && p.max_checks == 7 && p.horizon_s == 13 && p.max_failures == 8);
    CU_ASSERT(p.backoff_s == 11 && p.backoff_max_s == 12 && p.attempts.most == 4);
    CU_ASSERT(p.attempts.interval_s == 3 && p.attempts.interval_max_s == 9 && p.attempts.jitter_s == 2);
    settings_release(&s);
}

/* What the top level says is for checks. */
static void deliveries_have_limits_of_their_own_but_for_what_the_job_sets(void)
{
    struct settings s = parsed("max_failures = 3; backoff = \"2m\"; backoff_max = \"1h\"; attempts = 2; "
                               "horizon = \"9d\";"
                               "jobs = { a = { plugin = \"p\"; }; "
                               "b = { plugin = \"p\"; max_failures = 2; backoff = \"3s\"; "
                               "backoff_max = \"9s\"; attempts = 3; }; "
                               "c = { plugin = \"p\"; attempts = 1; backoff = \"1h\"; }; };");
    struct guard_policy p = job_limits_of_deliveries(&s.jobs[0], 60);
    CU_ASSERT(p.max_failures == 12 && p.backoff_s == 60 && p.backoff_max_s == 2 * 86400);
    CU_ASSERT(p.attempts.most == 1 && p.first_retry_s == 5 && p.horizon_s == 9 * 86400);
    p = job_limits_of_deliveries(&s.jobs[1], 60);
    CU_ASSERT(p.max_failures == 2 && p.backoff_s == 3 && p.backoff_max_s == 9);
    CU_ASSERT(p.attempts.most == 3 && p.first_retry_s == 0 && p.slot_length_s == 60);
    p = job_limits_of_deliveries(&s.jobs[2], 60);
    CU_ASSERT(p.backoff_s == 3600 && p.attempts.most == 1 && p.first_retry_s == 0 && p.max_failures == 12);
    p = job_limits_policy(&s.jobs[0], 60);
    CU_ASSERT(p.max_failures == 3 && p.backoff_s == 120 && p.attempts.most == 2 && p.first_retry_s == 0);
    settings_release(&s);
}

/* Failures until a delivery of that job is over, as of any check: attempts * (max_failures + 1). */
static int failures_until_the_end(const struct job_settings *job)
{
    struct guard_policy p = job_limits_of_deliveries(job, 60);
    struct guard_input in = { .answer = ANSWER_FAIL, .slot = 60001, .now = 60001, .ended_at = 60001 };
    int n = 0;
    for (bool ends = false; !ends && n < 100; n++) {
        struct verdict v = guard_judge(&p, &in);
        in.failure_count = v.failure_count;
        ends = v.ends;
    }
    return n;
}

static void what_the_job_says_of_failures_holds_for_deliveries(void)
{
    struct settings s = parsed("max_failures = 0; jobs = { a = { plugin = \"p\"; }; "
                               "b = { plugin = \"p\"; max_failures = 0; attempts = 1; }; "
                               "c = { plugin = \"p\"; max_failures = 0; }; "
                               "d = { plugin = \"p\"; max_failures = 2; attempts = 1; }; "
                               "e = { plugin = \"p\"; max_failures = 0; attempts = 3; }; "
                               "f = { plugin = \"p\"; max_failures = 2; }; };");
    static const int expected[] = { 14, 1, 1, 3, 3, 4 };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CU_ASSERT(failures_until_the_end(&s.jobs[i]) == expected[i]);
    settings_release(&s);
}

static const struct test tests[] = {
    TEST(all_attempts_fit_into_a_slot_or_the_sum_is_told),
    TEST(a_check_may_be_run_twice_in_an_attempt_where_there_are_batches),
    TEST(one_attempt_fits_whatever_it_takes),
    TEST(the_slot_length_matters_only_where_there_are_attempts),
    TEST(the_guard_has_the_limits_of_the_job),
    TEST(deliveries_have_limits_of_their_own_but_for_what_the_job_sets),
    TEST(what_the_job_says_of_failures_holds_for_deliveries),
    { NULL, NULL },
};
const struct suite suite_job_limits = { "job_limits", settings_fixture_setup, settings_fixture_teardown,
                                        tests };
