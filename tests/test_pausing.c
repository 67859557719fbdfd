/* test_pausing.c - what an engine asks about pauses, and when. */
#include <string.h>

#include "../engine/rules/slot.h"
#include "../engine/run/pausing.h"
#include "lane_env_fixture.h"

#define SECOND INT64_C(1000000)

static struct lane_env_fixture x;
static struct pausing p;

static void begin(void)
{
    lane_env_begin(&x, "");
    pausing_init(&p);
}

static void end(void)
{
    pausing_release(&p, &x.agenda);
    lane_env_end(&x);
}

/* What is asked at this moment: the errand's kind, and it is taken. */
static enum errand_kind asked(struct errands *errands)
{
    pausing_tick(&p, &x.plan_env);
    enum errand_kind kind = errands->current.kind;
    errands->current = (struct errand){ 0 };
    return kind;
}

/* The answer to PAUSES. True when what waits may be paused now. */
static bool told_all(int64_t change, struct pause *all, int n)
{
    bool changed;
    union errand_request reply = { .pauses = STORE_PAUSES_INIT };
    reply.pauses.change = change;
    reply.pauses.pauses = (struct pauses){ .all = all, .n = n };
    struct errand_result result = { .errand = { .kind = ERRAND_PAUSES }, .reply = &reply };
    CU_ASSERT_TRUE(pausing_errand_done(&p, &x.plan_env, &result, &changed));
    return changed;
}

/* One pause, or none. */
static bool told(int64_t change, struct pause *pause)
{
    return told_all(change, pause, pause ? 1 : 0);
}

static void pulse_tells(int64_t change)
{
    bool changed;
    union errand_request reply = { .fine = STORE_FINE_SLOTS_INIT };
    reply.fine.pause_change = change;
    struct errand_result result = { .errand = { .kind = ERRAND_FINE_SLOTS }, .reply = &reply };
    CU_ASSERT_FALSE(pausing_errand_done(&p, &x.plan_env, &result, &changed));
    CU_ASSERT_FALSE(changed);
}

static struct pause on = { SLOT_PAUSES_FROM, PAUSE_JOB, "j", true, false };
static struct pause ending = { SLOT_PAUSES_FROM, PAUSE_JOB, "j", false, false };

static void it_is_asked_first_of_all_and_each_second(void)
{
    begin();
    CU_ASSERT_EQUAL(asked(&x.fine_errands), ERRAND_PAUSES);
    CU_ASSERT_FALSE(p.is_known);
    CU_ASSERT_TRUE(told(5, NULL));
    CU_ASSERT_TRUE(p.is_known);
    CU_ASSERT_EQUAL(asked(&x.fine_errands), ERRAND_NONE);
    fixture_now_us += SECOND;
    CU_ASSERT_EQUAL(asked(&x.fine_errands), ERRAND_PAUSES);
    CU_ASSERT_FALSE(told(5, NULL));
    end();
}

/* A replay's clock stands still meanwhile. Of a second pass nobody knows when it is over. */
static void the_slots_of_pauses_that_are_ending_are_emptied_when_each_was_passed_over_once(void)
{
    begin();
    CU_ASSERT_FALSE(pausing_is_emptying(&p, &x.plan_env));
    told(5, &on);
    CU_ASSERT_FALSE(pausing_is_emptying(&p, &x.plan_env));
    told(6, &ending);
    CU_ASSERT_TRUE(pausing_is_emptying(&p, &x.plan_env));
    pausing_tick(&p, &x.plan_env);
    CU_ASSERT_PTR_NOT_NULL_FATAL(x.targets.first);
    CU_ASSERT_TRUE(pausing_is_emptying(&p, &x.plan_env));
    targets_remove(&x.targets, x.targets.first);
    CU_ASSERT_FALSE(pausing_is_emptying(&p, &x.plan_env));
    fixture_now_us += 30 * SECOND;
    pausing_tick(&p, &x.plan_env);
    CU_ASSERT_PTR_NOT_NULL(x.targets.first);
    CU_ASSERT_FALSE(pausing_is_emptying(&p, &x.plan_env));
    told(7, &ending);
    CU_ASSERT_TRUE(pausing_is_emptying(&p, &x.plan_env));
    end();
}

static void a_pulse_stands_for_the_question(void)
{
    begin();
    told(5, NULL);
    for (int i = 0; i < 5; i++) {
        pulse_tells(5);
        fixture_now_us += SECOND;
        CU_ASSERT_EQUAL(asked(&x.fine_errands), ERRAND_NONE);
    }
    pulse_tells(6);
    CU_ASSERT_EQUAL(asked(&x.fine_errands), ERRAND_PAUSES);
    CU_ASSERT_TRUE(told(6, &on));
    CU_ASSERT_EQUAL(p.pauses.n, 1);
    pulse_tells(6);
    fixture_now_us += 2 * SECOND;               /* there is no pulse any more */
    CU_ASSERT_EQUAL(asked(&x.fine_errands), ERRAND_PAUSES);
    end();
}

/* A restored database, or a standby that has not got the last change. */
static void a_lower_number_is_a_change_too(void)
{
    begin();
    told(6, &on);
    pulse_tells(4);
    CU_ASSERT_EQUAL(asked(&x.fine_errands), ERRAND_PAUSES);
    CU_ASSERT_TRUE(told(4, NULL));
    CU_ASSERT_EQUAL(p.pauses.n, 0);
    end();
}

static void the_slot_of_a_pause_that_was_resumed_is_opened(void)
{
    begin();
    told(5, &on);
    fixture_now_us += SECOND;
    asked(&x.fine_errands);
    CU_ASSERT_FALSE(plan_has_target(&x.plan_env, SLOT_PAUSES_FROM));
    told(6, &ending);
    CU_ASSERT_EQUAL(asked(&x.fine_errands), ERRAND_END_PAUSES);
    CU_ASSERT_TRUE(plan_has_target(&x.plan_env, SLOT_PAUSES_FROM));
    end();
}

static int opened(const struct pause *all, int n)
{
    int opened = 0;
    for (int i = 0; i < n; i++)
        opened += plan_has_target(&x.plan_env, all[i].slot);
    return opened;
}

/* The first ones are left as they are, as if their checks were locked. */
static void each_pause_that_was_resumed_has_its_turn(void)
{
    enum { N = 40, AT_ONCE = 16 };
    struct pause all[N];
    bool had_turn[N] = { false };
    begin();
    for (int i = 0; i < N; i++)
        all[i] = (struct pause){ SLOT_PAUSES_FROM + i * INT64_C(86400), PAUSE_JOB, "j", false, false };
    told_all(5, all, N);
    for (int look = 0; look < 3; look++) {
        asked(&x.fine_errands);
        CU_ASSERT_EQUAL(opened(all, N), AT_ONCE);
        for (int i = 0; i < N; i++)
            had_turn[i] |= plan_has_target(&x.plan_env, all[i].slot);
        targets_release(&x.targets);
        fixture_now_us += 60 * SECOND;
        told_all(6 + look, all, N);             /* a change each time: others are paused */
    }
    for (int i = 0; i < N; i++)
        CU_ASSERT_TRUE(had_turn[i]);
    end();
}

static void names_are_kept_when_the_answer_is_gone(void)
{
    char name[] = "look";
    struct pause of_answer = { SLOT_PAUSES_FROM, PAUSE_JOB, name, true, false };
    begin();
    told(5, &of_answer);
    memset(name, 'x', sizeof name - 1);
    CU_ASSERT_STRING_EQUAL(p.pauses.all[0].name, "look");
    end();
}

/* For applications beside it. */
static void the_slot_of_a_pause_is_emptied_at_a_walk(void)
{
    begin();
    CU_ASSERT_EQUAL(pausing_rests_until(&p, fixture_now_us), 0);
    pausing_note_page(&p, 2000, fixture_now_us);
    CU_ASSERT_EQUAL(pausing_rests_until(&p, fixture_now_us), fixture_now_us + SECOND / 2);
    CU_ASSERT_EQUAL(pausing_rests_until(&p, fixture_now_us + SECOND / 2), 0);
    end();
}

static const struct test tests[] = {
    TEST(it_is_asked_first_of_all_and_each_second),
    TEST(a_pulse_stands_for_the_question),
    TEST(the_slots_of_pauses_that_are_ending_are_emptied_when_each_was_passed_over_once),
    TEST(a_lower_number_is_a_change_too),
    TEST(the_slot_of_a_pause_that_was_resumed_is_opened),
    TEST(each_pause_that_was_resumed_has_its_turn),
    TEST(names_are_kept_when_the_answer_is_gone),
    TEST(the_slot_of_a_pause_is_emptied_at_a_walk),
    { 0 }
};

const struct suite suite_pausing = { "pausing", settings_fixture_setup, settings_fixture_teardown, tests };
