/* test_trouble.c - what the log has of checks that ended in trouble, or whose job no engine has. */
#include "../engine/run/trouble.h"

#include <stdio.h>
#include <string.h>

#include "lane_env_fixture.h"

static struct lane_env_fixture x;

static struct check check_of(const char *key, const char *job)
{
    return (struct check){ .entity_name = "orders", .entity_key = key, .job_exec = job };
}

static void end_in_trouble(const char *key, const char *note)
{
    struct check c = check_of(key, "j");
    struct settlement s = { .check = &c, .ends = true, .ran = true, .outcome = OUTCOME_FAILED, .note = note };
    CU_ASSERT_FALSE(trouble_note(&x.trouble, &s));
}

static void put_off(const char *job, int64_t since)
{
    struct check c = check_of("1", job);
    struct settlement s = { .check = &c, .outcome = OUTCOME_UNKNOWN_JOB, .put_off_at = since };
    CU_ASSERT_TRUE(trouble_note(&x.trouble, &s));
}

static int lines_with(const char *text)
{
    int n = 0;
    fflush(x.log.out);
    for (const char *at = x.logged; at && (at = strstr(at, text)); at++)
        n++;
    return n;
}

static void a_check_that_ends_in_trouble_has_a_line_with_the_reason(void)
{
    lane_env_begin(&x, "");
    end_in_trouble("42", "the carrier does not answer");
    CU_ASSERT_TRUE(fixture_logged(&x, "warn test"));
    CU_ASSERT_TRUE(
        fixture_logged(&x, "check orders/42 (j) ended as failed: the carrier does not answer\n"));
    lane_env_end(&x);
}

static void what_ends_well_or_is_tried_again_has_none(void)
{
    lane_env_begin(&x, "");
    struct check c = check_of("1", "j");
    struct settlement done = { .check = &c, .ends = true, .outcome = OUTCOME_DONE };
    struct settlement tried_again = { .check = &c, .outcome = OUTCOME_TIMEOUT };
    struct settlement held_back = { .check = &c, .outcome = OUTCOME_HELD_BACK, .put_off_at = 900 };
    CU_ASSERT_FALSE(trouble_note(&x.trouble, &done));
    CU_ASSERT_FALSE(trouble_note(&x.trouble, &tried_again));
    CU_ASSERT_FALSE(trouble_note(&x.trouble, &held_back));
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_EQUAL(lines_with("\n"), 0);
    lane_env_end(&x);
}

static void ten_checks_have_lines_and_the_rest_a_count(void)
{
    lane_env_begin(&x, "");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 13; i++)
            end_in_trouble("1", "no");
        trouble_tell(&x.trouble, NULL, 0);
    }
    CU_ASSERT_EQUAL(lines_with("ended as failed: no"), 20);
    CU_ASSERT_EQUAL(lines_with("3 more checks ended in trouble"), 2);
    lane_env_end(&x);
}

/* Whoever enqueues chooses the names, and a job its words: no line breaks, no terminal sequences,
 * and no endless lines get into a mail. */
static void names_and_reasons_are_cut_and_have_no_control_characters(void)
{
    char name[1025], note[4000];
    memset(name, 'n', sizeof name - 1);
    memset(note, 'w', sizeof note - 1);
    name[sizeof name - 1] = note[sizeof note - 1] = '\0';
    lane_env_begin(&x, "");
    end_in_trouble(name, note);
    end_in_trouble("4\n2\x1b[31m", "two\nlines");
    fflush(x.log.out);
    CU_ASSERT_EQUAL(lines_with("\n"), 2);
    CU_ASSERT_EQUAL(lines_with("\x1b"), 0);
    CU_ASSERT_TRUE(fixture_logged(&x, "check orders/4 2 [31m (j) ended as failed: two lines\n"));
    CU_ASSERT_TRUE(strchr(x.logged, '\n') - x.logged < 700);
    lane_env_end(&x);
}

static void checks_of_an_unknown_job_are_told_with_count_age_and_a_suggestion(void)
{
    lane_env_begin(&x, "horizon = \"30d\";");
    put_off("k", 1800);
    put_off("k", 900);
    put_off("k", 2700);
    put_off("something_else", 900);
    CU_ASSERT_EQUAL(lines_with("\n"), 0);
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_TRUE(fixture_logged(
        &x, "3 checks wait for job 'k', which is not in the settings (did you mean 'j'?); the oldest since "
            "1970-01-01T00:15:00Z. What waits stays for an engine that has the job, and ends 30d after it "
            "was due"));
    CU_ASSERT_TRUE(fixture_logged(
        &x, "1 check waits for job 'something_else', which is not in the settings; the oldest"));
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_EQUAL(lines_with("\n"), 2);
    lane_env_end(&x);
}

static void a_job_of_the_settings_that_cannot_be_run_is_told_as_such(void)
{
    lane_env_begin(&x, "");
    put_off("j", 900);
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_TRUE(fixture_logged(&x, "job 'j', which cannot be run here (the log has the reason)"));
    lane_env_end(&x);
}

static void broken(const char *note, bool ran, bool is_attempt)
{
    struct check c = check_of("1", "j");
    struct settlement s = { .check = &c, .ran = ran, .outcome = OUTCOME_JOB_BROKEN, .put_off_at = 900,
                            .note = note, .is_attempt = is_attempt };
    CU_ASSERT_TRUE(trouble_note(&x.trouble, &s));
}

static void a_job_that_is_broken_has_one_line_with_the_first_reason_and_the_count(void)
{
    lane_env_begin(&x, "");
    broken("it will be tried again", true, true);
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_EQUAL(lines_with("\n"), 0);
    broken("order 1: permission denied\nfor table orders", true, false);
    broken("not asked: it is away", true, false);
    broken(NULL, false, false);
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_EQUAL(lines_with("\n"), 1);
    CU_ASSERT_TRUE(
        fixture_logged(&x, "job 'j' is broken: order 1: permission denied for table orders; 3 checks are put "
                           "off, the oldest since 1970-01-01T00:15:00Z. "));
    lane_env_end(&x);
}

static void left(const char *job, int64_t slot, int64_t put_off_at)
{
    struct check c = check_of("1", job);
    c.next_check_at = slot;
    c.put_off_at = put_off_at;
    trouble_note_left(&x.trouble, &c);
}

static void checks_that_stay_in_their_slots_are_told_as_such(void)
{
    lane_env_begin(&x, "");
    left("k", 1800, 0);
    left("k", 900, 0);
    left("k", 2700, 1800);
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_TRUE(fixture_logged(
        &x, "3 checks wait for job 'k', which is not in the settings (did you mean 'j'?); the oldest since "
            "1970-01-01T00:15:00Z. They stay in their slots: when the job can be run, give this command "
            "again\n"));
    lane_env_end(&x);
}

static void a_check_that_is_put_off_and_met_again_is_counted_once(void)
{
    lane_env_begin(&x, "");
    put_off("j", 900);
    put_off("j", 900);
    left("j", 1800, 900);
    left("j", 1800, 900);
    left("j", 1800, 0);
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_TRUE(fixture_logged(&x, "3 checks wait for job 'j'"));
    lane_env_end(&x);
}

static void many_unknown_jobs_are_named_up_to_a_limit(void)
{
    lane_env_begin(&x, "");
    for (int i = 0; i < TROUBLE_JOBS_MAX + 5; i++) {
        char job[32];
        snprintf(job, sizeof job, "unknown_job_%d", i);
        put_off(job, 900);
        put_off(job, 900);
    }
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_EQUAL(lines_with("2 checks wait for job 'unknown_job_"), TROUBLE_JOBS_MAX);
    CU_ASSERT_EQUAL(lines_with("10 checks wait for other jobs"), 1);
    CU_ASSERT_EQUAL(lines_with("\n"), TROUBLE_JOBS_MAX + 1);
    lane_env_end(&x);
}

/* A daemon meets them in each slot. */
static void a_daemon_tells_of_a_job_with_growing_pauses_and_adds_up_meanwhile(void)
{
    const int64_t second = 1000000;
    lane_env_begin(&x, "");
    put_off("k", 900);
    trouble_tell(&x.trouble, &x.cooldowns, 0);
    CU_ASSERT_EQUAL(lines_with("1 check waits for job 'k'"), 1);
    put_off("k", 900);
    put_off("other", 900);
    trouble_tell(&x.trouble, &x.cooldowns, 59 * second);
    CU_ASSERT_EQUAL(lines_with(" for job 'k'"), 1);
    CU_ASSERT_EQUAL(lines_with(" for job 'other'"), 1);
    put_off("k", 900);
    trouble_tell(&x.trouble, &x.cooldowns, 60 * second);
    CU_ASSERT_EQUAL(lines_with("2 checks wait for job 'k'"), 1);
    put_off("k", 900);
    trouble_tell(&x.trouble, &x.cooldowns, 121 * second);
    CU_ASSERT_EQUAL(lines_with(" for job 'k'"), 2);
    lane_env_end(&x);
}

static void who_is_alone_is_told_which_jobs_nobody_has(void)
{
    lane_env_begin(&x, "");
    struct check first = check_of("1", "nobody"), second = check_of("2", "nobody");
    first.next_check_at = second.next_check_at = 900;
    CU_ASSERT_FALSE(trouble_tell_here(&x.trouble));
    trouble_note_here(&x.trouble, &first);
    trouble_note_here(&x.trouble, &second);
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_EQUAL(lines_with("\n"), 0);           /* another engine may run them */
    CU_ASSERT_TRUE(trouble_tell_here(&x.trouble));
    CU_ASSERT_EQUAL(lines_with("slot 1970-01-01T00:15:00Z has checks of job 'nobody', which is not in"), 1);
    lane_env_end(&x);
}

static const struct test tests[] = {
    TEST(a_check_that_ends_in_trouble_has_a_line_with_the_reason),
    TEST(what_ends_well_or_is_tried_again_has_none),
    TEST(ten_checks_have_lines_and_the_rest_a_count),
    TEST(names_and_reasons_are_cut_and_have_no_control_characters),
    TEST(checks_of_an_unknown_job_are_told_with_count_age_and_a_suggestion),
    TEST(a_job_of_the_settings_that_cannot_be_run_is_told_as_such),
    TEST(checks_that_stay_in_their_slots_are_told_as_such),
    TEST(a_check_that_is_put_off_and_met_again_is_counted_once),
    TEST(a_job_that_is_broken_has_one_line_with_the_first_reason_and_the_count),
    TEST(who_is_alone_is_told_which_jobs_nobody_has),
    TEST(many_unknown_jobs_are_named_up_to_a_limit),
    TEST(a_daemon_tells_of_a_job_with_growing_pauses_and_adds_up_meanwhile),
    { NULL, NULL },
};

const struct suite suite_trouble = { .name = "trouble", .tests = tests };
