/* test_jobs.c - which jobs can be run here, and which are in trouble. */
#include "../engine/run/jobs.h"
#include "settings_fixture.h"

static struct settings settings;
static struct jobs jobs;

static void begin(void)
{
    struct err err;
    settings = parsed("store = \"sqlite:not used\"; hold_back_after = 3; timeout = \"7s\";"
                      "jobs = { a = { plugin = \"noop\"; };"
                      " b = { plugin = \"noop\"; timeout = \"9s\"; }; };");
    CU_ASSERT_EQUAL_FATAL(jobs_init(&jobs, &settings, &err), 0);
}

static void end(void)
{
    jobs_release(&jobs);
    settings_release(&settings);
}

/* The first slot must not wait for a worker. */
static void all_jobs_are_usable_until_a_worker_has_loaded_them(void)
{
    begin();
    CU_ASSERT_EQUAL(jobs.nnames, 2);
    CU_ASSERT_EQUAL(jobs_usable_index(&jobs, "a"), 0);
    CU_ASSERT_EQUAL(jobs_usable_index(&jobs, "c"), -1);
    CU_ASSERT_EQUAL(jobs.changes, 0);
    jobs_set_usable(&jobs, (const bool[]){ false, true });
    jobs_set_usable(&jobs, (const bool[]){ false, true });
    CU_ASSERT_EQUAL(jobs.changes, 1);
    CU_ASSERT_EQUAL(jobs_usable_index(&jobs, "a"), -1);
    CU_ASSERT_EQUAL(jobs_usable_index(&jobs, "b"), 1);
    CU_ASSERT_EQUAL_FATAL(jobs.nnames, 1);
    CU_ASSERT_STRING_EQUAL(jobs.names[0], "b");
    end();
}

static void an_unknown_job_has_the_defaults(void)
{
    begin();
    CU_ASSERT_EQUAL(jobs_settings(&jobs, 1)->timeout_us, 9 * 1000000);
    CU_ASSERT_EQUAL(jobs_settings(&jobs, -1)->timeout_us, 7 * 1000000);
    end();
}

static void troubles_count_in_a_row_and_for_each_job(void)
{
    begin();
    CU_ASSERT_FALSE(jobs_note_run(&jobs, 0, ANSWER_TIMEOUT));
    CU_ASSERT_FALSE(jobs_note_run(&jobs, 0, ANSWER_CRASH));
    CU_ASSERT_FALSE(jobs_note_run(&jobs, 1, ANSWER_CRASH));
    CU_ASSERT_FALSE(jobs_note_run(&jobs, 0, ANSWER_FAIL));      /* it answered: it is no trouble */
    CU_ASSERT_FALSE(jobs_note_run(&jobs, 0, ANSWER_CRASH));
    CU_ASSERT_FALSE(jobs_note_run(&jobs, 0, ANSWER_CRASH));
    CU_ASSERT_TRUE(jobs_note_run(&jobs, 0, ANSWER_TIMEOUT));
    CU_ASSERT_TRUE(jobs_note_run(&jobs, 0, ANSWER_TIMEOUT));
    CU_ASSERT_FALSE(jobs_note_run(&jobs, -1, ANSWER_TIMEOUT));
    end();
}

static bool is_sound(const char *name)
{
    for (int i = 0; i < jobs.nsound; i++)
        if (strcmp(jobs.sound[i], name) == 0)
            return true;
    return false;
}

static void a_job_is_sound_until_it_says_that_it_is_broken_and_after_another_answer(void)
{
    begin();
    const char *name = jobs.settings->jobs[0].name, *other = jobs.settings->jobs[1].name;
    CU_ASSERT(is_sound(name) && is_sound(other));
    jobs_note_run(&jobs, 0, ANSWER_BROKEN);
    CU_ASSERT(!is_sound(name) && is_sound(other));
    jobs_note_run(&jobs, 0, ANSWER_FAIL);
    CU_ASSERT(is_sound(name));
    jobs_set_usable(&jobs, (const bool[]){ false, true });
    CU_ASSERT(!is_sound(name) && is_sound(other));
    end();
}

/* A plug-in that spares a receiver which does not answer defers. */
static void a_deferral_says_nothing_of_a_job_that_is_broken(void)
{
    begin();
    const char *name = jobs.settings->jobs[0].name;
    jobs_note_run(&jobs, 0, ANSWER_DEFER);
    CU_ASSERT(is_sound(name));
    jobs_note_run(&jobs, 0, ANSWER_BROKEN);
    jobs_note_run(&jobs, 0, ANSWER_DEFER);
    CU_ASSERT(!is_sound(name));
    jobs_note_run(&jobs, 0, ANSWER_DONE);
    CU_ASSERT(is_sound(name));
    end();
}

static void a_job_is_held_back_for_one_slot(void)
{
    begin();
    jobs.watched[0].held_slot = 900;
    CU_ASSERT_TRUE(jobs_is_held(&jobs, 0, 900));
    CU_ASSERT_FALSE(jobs_is_held(&jobs, 0, 1800));
    CU_ASSERT_FALSE(jobs_is_held(&jobs, 1, 900));
    CU_ASSERT_FALSE(jobs_is_held(&jobs, -1, 900));
    end();
}

static const struct test tests[] = {
    TEST(all_jobs_are_usable_until_a_worker_has_loaded_them),
    TEST(an_unknown_job_has_the_defaults),
    TEST(troubles_count_in_a_row_and_for_each_job),
    TEST(a_job_is_sound_until_it_says_that_it_is_broken_and_after_another_answer),
    TEST(a_deferral_says_nothing_of_a_job_that_is_broken),
    TEST(a_job_is_held_back_for_one_slot),
    { NULL, NULL },
};
const struct suite suite_jobs = { "jobs", settings_fixture_setup, settings_fixture_teardown, tests };
