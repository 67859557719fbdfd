/* test_engine_calls_stop.c - what an engine does before it ends, when it is stopped or leaves. */
#include "calls_fixture.h"

/* As soon as answers in hand could not be written, or wait for rows that are held. */
static void stop_with_answers(const struct plan_env *env, void *state)
{
    one_slot(env, state);
    bool is_time = fake.held_every ? fake.waits > 0 : env->health->is_degraded;
    if (is_time)
        fake.stop(ran.engine);
}

static void goes_on(const struct plan_env *env, void *state, const struct target *target)
{
    (void)env, (void)state, (void)target;
}

static void run_and_stop(struct fake how)
{
    static const struct plan stops = { "stops", stop_with_answers, nothing_to_do, goes_on };
    bool given = false;
    how.kind = TARGET_RESLOT;
    run_plan(how, &stops, &given);
    CU_ASSERT_EQUAL(ran.ended_with, ERR_STOPPED);
}

/* It was in no hurry, and dropped what it had been waiting for. */
static void an_engine_that_leaves_keeps_answers_until_they_can_be_written(void)
{
    struct fake how = { .rows = 6, .unwritable_id = -1, .writable_from_us = 5 * 1000000 };
    how.stop = engine_stop_in_its_time;
    run_and_stop(how);
    CU_ASSERT_EQUAL(fake.settled, 6);
    CU_ASSERT_FALSE(ran.skipped_some);
    how.stop = engine_stop;
    run_and_stop(how);
    CU_ASSERT_EQUAL(fake.settled, 0);
    CU_ASSERT_TRUE(ran.skipped_some);
}

/* A second was all that it gave them. */
static void an_engine_that_leaves_waits_for_held_rows_as_one_that_goes_on(void)
{
    struct fake how = { .rows = 6, .held_every = 2, .held_until_us = 20 * 1000000 };
    how.stop = engine_stop_in_its_time;
    run_and_stop(how);
    CU_ASSERT_EQUAL(fake.settled, 6);
    CU_ASSERT_FALSE(ran.skipped_some);
    how.stop = engine_stop;
    run_and_stop(how);
    CU_ASSERT_EQUAL(fake.settled, 3);
}

/* An event is written in the turn in which the engine is stopped. */
static void stop_with_an_event(const struct plan_env *env, void *state)
{
    one_slot(env, state);
    if (fake.held_every ? !fake.waits : !env->targets->first)
        return;
    env->totals->events = 1;
    env->long_runs->is_noted = true;
    fake.stop(ran.engine);
}

static void stop_after_an_event(struct fake how)
{
    static const struct plan stops = { "stops", stop_with_an_event, nothing_to_do, goes_on };
    bool given = false;
    how.kind = TARGET_RESLOT;
    run_plan(how, &stops, &given);
    CU_ASSERT_EQUAL(ran.ended_with, ERR_STOPPED);
}

static void who_waits_for_events_is_told_of_the_last_ones(void)
{
    stop_after_an_event((struct fake){ .stop = engine_stop });
    CU_ASSERT(fake.notified_us > 0);
    stop_after_an_event((struct fake){ .stop = engine_stop_in_its_time });
    CU_ASSERT(fake.notified_us > 0);
}

/* Else it would be listed for a while with runs that are over. */
static void an_engine_that_has_stopped_has_no_runs_that_go_on(void)
{
    stop_after_an_event((struct fake){ .stop = engine_stop });
    CU_ASSERT_EQUAL(fake.notes, 1);
    stop_after_an_event((struct fake){ .stop = engine_stop_in_its_time });
    CU_ASSERT_EQUAL(fake.notes, 1);
}

/* However long it is at its last runs: here, at rows that are held. */
static void who_waits_for_events_is_told_by_an_engine_that_leaves(void)
{
    stop_after_an_event((struct fake){
        .rows = 6, .held_every = 2, .held_until_us = 20 * 1000000, .stop = engine_stop_in_its_time });
    CU_ASSERT_EQUAL(fake.settled, 6);
    CU_ASSERT(fake.notified_us > 0 && fake.notified_us < 10 * 1000000);
}

/* The store fails for a moment, and the fine lane has been given the last word already. */
static void stop_with_a_note(const struct plan_env *env, void *state)
{
    one_slot(env, state);
    if (!env->targets->first)
        return;
    run_hours_missed_slot(env->run_hours);
    CU_ASSERT_TRUE(plan_give_note(env, ERRAND_NOTE_RUNS));
    for (int i = 0; i < ran.engine->lanes.n; i++)
        ran.engine->lanes.all[i].retry_us = fake.now_us + 100 * 1000;
    fake.stop(ran.engine);
}

/* Two lanes sent the same one, and the answer to the first freed the rows that the other had. */
static void what_the_last_runs_were_like_is_noted_once(void)
{
    static const struct plan stops = { "stops", stop_with_a_note, nothing_to_do, goes_on };
    for (int i = 0; i < 2; i++) {
        bool given = false;
        run_plan((struct fake){ .stop = i ? engine_stop : engine_stop_in_its_time }, &stops, &given);
        CU_ASSERT_EQUAL(ran.ended_with, ERR_STOPPED);
        CU_ASSERT_EQUAL(fake.runs_notes, 1);
    }
}

static const struct test tests[] = {
    TEST(an_engine_that_leaves_keeps_answers_until_they_can_be_written),
    TEST(an_engine_that_leaves_waits_for_held_rows_as_one_that_goes_on),
    TEST(who_waits_for_events_is_told_of_the_last_ones),
    TEST(an_engine_that_has_stopped_has_no_runs_that_go_on),
    TEST(who_waits_for_events_is_told_by_an_engine_that_leaves),
    TEST(what_the_last_runs_were_like_is_noted_once),
    { NULL, NULL },
};

const struct suite suite_engine_calls_stop = {
    "engine_calls_stop", settings_fixture_setup, settings_fixture_teardown, tests
};
