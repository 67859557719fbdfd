/* test_plan_daemon.c - what a daemon asks for, and when it begins a slot. */
#include <string.h>

#include "../engine/run/plans.h"
#include "lane_env_fixture.h"

enum { S = 1000 * 1000 };

static struct lane_env_fixture x;
static struct plan_daemon state;

static void tick(void)
{
    plan_daemon.tick(&x.plan_env, &state);
}

/* What it has asked comes back. */
static void is_answered(int rc, const union errand_request *reply)
{
    struct err err;
    err_set(&err, rc ? rc : ERR_LOST, "gone");
    struct errand_result result = { .errand = x.errands.current, .rc = rc, .err = &err, .reply = reply };
    x.errands.current = (struct errand){ 0 };
    plan_daemon.errand_done(&x.plan_env, &state, &result);
}

/* Answers whatever it asks with nothing, until it asks no more. */
static void settles_down(void)
{
    static const union errand_request nothing;
    for (int i = 0; i < 20; i++) {
        tick();
        if (x.errands.current.kind == ERRAND_NONE)
            return;
        is_answered(0, &nothing);
    }
    CU_FAIL("it asks for ever");
}

static void begin(void)
{
    lane_env_begin(&x, "");
    state = (struct plan_daemon){ 0 };
}

static void nothing_begins_before_the_clock_is_known(void)
{
    begin();
    x.clocks.is_known = false;
    tick();
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_NONE);
    CU_ASSERT_PTR_NULL(x.targets.first);
    lane_env_end(&x);
}

/* History has a place for what is written before a check is run. */
static void the_days_of_the_history_come_before_the_first_slot(void)
{
    begin();
    tick();
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_KEEP_DAYS);
    CU_ASSERT_PTR_NULL(x.targets.first);
    is_answered(ERR_LOST, NULL);
    tick();
    CU_ASSERT_PTR_NULL(x.targets.first);
    fixture_now_us += 2 * S;
    tick();
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_KEEP_DAYS);
    settles_down();
    CU_ASSERT_TRUE(targets_have(&x.targets, FIXTURE_SLOT));
    lane_env_end(&x);
}

static int kind_of(int64_t slot)
{
    for (const struct target *t = x.targets.first; t; t = t->following)
        if (t->slot == slot)
            return (int)t->kind;
    return -1;
}

static void the_next_slot_begins_at_its_time(void)
{
    begin();
    settles_down();
    int64_t boundary_us = fixture_now_us + (FIXTURE_LENGTH_S - 1) * INT64_C(1000000);
    CU_ASSERT(agenda_next_us(&x.agenda) <= boundary_us + 1000);
    fixture_now_us = boundary_us - S;
    settles_down();
    CU_ASSERT_FALSE(targets_have(&x.targets, FIXTURE_SLOT + FIXTURE_LENGTH_S));
    fixture_now_us = boundary_us + 1000;
    settles_down();
    CU_ASSERT_TRUE(targets_have(&x.targets, FIXTURE_SLOT + FIXTURE_LENGTH_S));
    CU_ASSERT_EQUAL(x.targets.first->slot, FIXTURE_SLOT + FIXTURE_LENGTH_S);
    CU_ASSERT_EQUAL(kind_of(FIXTURE_SLOT), TARGET_MISSED);      /* no lane had begun it */
    lane_env_end(&x);
}

static int targets_of(enum target_kind kind)
{
    int n = 0;
    for (const struct target *t = x.targets.first; t; t = t->following)
        n += t->kind == kind;
    return n;
}

/* The store stood still for a while: they come before what is older than they are. */
static void slots_that_were_missed_come_behind_the_newest(void)
{
    begin();
    settles_down();
    targets_remove(&x.targets, x.targets.first);    /* the first is over */
    fixture_now_us += 3 * FIXTURE_LENGTH_S * INT64_C(1000000);
    settles_down();
    CU_ASSERT_EQUAL(kind_of(FIXTURE_SLOT + 3 * FIXTURE_LENGTH_S), TARGET_SLOT);
    CU_ASSERT_EQUAL(kind_of(FIXTURE_SLOT + 2 * FIXTURE_LENGTH_S), TARGET_MISSED);
    CU_ASSERT_EQUAL(kind_of(FIXTURE_SLOT + FIXTURE_LENGTH_S), TARGET_MISSED);
    CU_ASSERT_EQUAL(targets_of(TARGET_MISSED), 2);
    lane_env_end(&x);
}

/* After a suspend of hours the newest of them come first, and the sweep takes the rest. */
static void of_many_that_were_slept_through_the_newest_sixteen_come_first(void)
{
    begin();
    settles_down();
    fixture_now_us += 100 * FIXTURE_LENGTH_S * INT64_C(1000000);
    settles_down();
    CU_ASSERT_EQUAL(x.targets.first->slot, FIXTURE_SLOT + 100 * FIXTURE_LENGTH_S);
    CU_ASSERT_EQUAL(targets_of(TARGET_MISSED), 16);
    CU_ASSERT_EQUAL(x.targets.first->following->slot, FIXTURE_SLOT + 84 * FIXTURE_LENGTH_S);
    CU_ASSERT_FALSE(targets_have(&x.targets, FIXTURE_SLOT));
    lane_env_end(&x);
}

/* With slots split between servers each has its own; after an hour a sweep takes others', too. */
static void no_slot_of_another_server_is_missed_here(void)
{
    lane_env_begin(&x, "serve = [ 0, 15 ];");
    state = (struct plan_daemon){ 0 };
    settles_down();
    fixture_now_us += 5 * FIXTURE_LENGTH_S * INT64_C(1000000);
    settles_down();
    for (const struct target *t = x.targets.first; t; t = t->following)
        CU_ASSERT_TRUE(t->slot / 60 % 60 < 30);
    CU_ASSERT_EQUAL(targets_of(TARGET_SLOT), 1);
    CU_ASSERT_EQUAL(targets_of(TARGET_MISSED), 3);
    lane_env_end(&x);
}

/* A daemon that was just started has missed nothing: the sweep takes what is late, oldest first. */
static void the_first_slot_of_a_daemon_has_none_before_it(void)
{
    begin();
    settles_down();
    CU_ASSERT_EQUAL(targets_of(TARGET_SLOT), 1);
    CU_ASSERT_EQUAL(targets_of(TARGET_MISSED), 0);
    lane_env_end(&x);
}

static void a_clock_that_came_back_begins_its_slot_again(void)
{
    begin();
    x.clocks.offset_us += 10 * FIXTURE_LENGTH_S * INT64_C(1000000);
    settles_down();
    x.clocks.offset_us -= 10 * FIXTURE_LENGTH_S * INT64_C(1000000);
    settles_down();
    CU_ASSERT_EQUAL(x.targets.first->slot, FIXTURE_SLOT);
    CU_ASSERT_PTR_NULL(x.targets.first->following);     /* what lay ahead comes again */
    lane_env_end(&x);
}

static void a_sweep_under_way_takes_no_slot_that_comes_again(void)
{
    begin();
    x.clocks.offset_us += 10 * FIXTURE_LENGTH_S * INT64_C(1000000);
    tick();
    is_answered(0, &(const union errand_request){ 0 });     /* of the days: it has begun */
    tick();
    CU_ASSERT_TRUE(state.looking);
    CU_ASSERT_EQUAL(state.catchup.before, FIXTURE_SLOT + 10 * FIXTURE_LENGTH_S);
    x.clocks.offset_us -= 10 * FIXTURE_LENGTH_S * INT64_C(1000000);
    tick();
    CU_ASSERT_EQUAL(state.catchup.before, FIXTURE_SLOT);
    lane_env_end(&x);
}

static void doubt_about_the_clock_asks_for_it_within_a_second(void)
{
    begin();
    settles_down();
    x.clocks.is_doubtful = true;
    tick();
    CU_ASSERT_FALSE(x.clocks.is_doubtful);
    fixture_now_us += S;
    x.errands.current = (struct errand){ 0 };
    tick();
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_HELLO);
    lane_env_end(&x);
}

/* Second looks came up to 15 s apart, however soon a transaction that they waited for had ended. */
static void a_pulse_calls_for_a_look_when_a_transaction_ended_or_more_is_waited_for(void)
{
    static const struct { struct pulse before, now; bool look;
    } all[] = {
        { { 0, 0, 0 }, { 0, 0, 0 }, false },     { { 0, 0, 0 }, { 70, 2, 60 }, true },
        { { 70, 2, 60 }, { 70, 2, 60 }, false }, { { 70, 2, 60 }, { 70, 1, 61 }, true },
        { { 70, 1, 61 }, { 70, 0, 0 }, true },   { { 70, 0, 0 }, { 70, 0, 0 }, false },
        { { 70, 1, 61 }, { 90, 3, 61 }, true },  { { 70, 1, 61 }, { 0, 0, 0 }, false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_EQUAL(plan_pulse_says_look(&all[i].before, &all[i].now), all[i].look);
}

/* Other errands come first; until it is answered, it is given again. */
static void the_listeners_are_noted_each_ten_minutes(void)
{
    static const union errand_request nothing;
    begin();
    settles_down();
    fixture_now_us += 600 * INT64_C(1000000);
    int notes = 0;
    for (int i = 0; i < 20; i++) {
        tick();
        const struct errand *given = &x.errands.current;
        if (given->kind == ERRAND_NONE)
            break;
        if (given->kind == ERRAND_NOTE_LISTENERS) {
            CU_ASSERT_STRING_EQUAL(given->command, "daemon");
            CU_ASSERT_EQUAL(given->counts_s, 1800);
            if (++notes < 3) {          /* another one takes its place */
                x.errands.current = (struct errand){ 0 };
                continue;
            }
        }
        is_answered(0, &nothing);
    }
    CU_ASSERT_EQUAL(notes, 3);
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_NONE);
    lane_env_end(&x);
}

/* ---- metrics of a store that is away ---- */

static int written, away;

static void note_metrics(void *ctx, const struct store_rows *rows)
{
    (void)ctx;
    written += rows != NULL;
    away += rows == NULL;
}

static void begin_measuring(void)
{
    begin();
    written = away = 0;
    CU_ASSERT_EQUAL_FATAL(measuring_init(&x.measuring, &(struct metrics_writer){ .write = note_metrics }), 0);
}

static void end_measuring(void)
{
    measuring_release(&x.measuring);
    lane_env_end(&x);
}

/* Nothing that it asks comes back. */
static void ticks_for(int seconds)
{
    for (int i = 0; i < seconds; i++) {
        fixture_now_us += S;
        tick();
    }
}

/* Calls that fail are counted, too: what is to be written of runs came before what is to be asked,
 * for as long as the store was away. */
static void a_store_that_goes_away_is_told_of_in_a_minute(void)
{
    static const struct store_rows rows;
    struct err err;
    begin_measuring();
    settles_down();
    measuring_came(&x.measuring, fixture_now_us, &rows);
    x.errands.current = x.fine_errands.current = (struct errand){ 0 };
    err_set(&err, ERR_LOST, "the connection was lost");
    run_hours_store_failed(x.run_hours, &err);
    ticks_for(119);
    CU_ASSERT_EQUAL(away, 0);
    ticks_for(2);
    CU_ASSERT_EQUAL(away, 1);
    ticks_for(60);
    CU_ASSERT_EQUAL(away, 2);
    end_measuring();
}

static void a_store_that_is_away_from_the_beginning_is_told_of(void)
{
    for (int is_known = 0; is_known < 2; is_known++) {
        begin_measuring();
        x.clocks.is_known = is_known;
        tick();
        ticks_for(59);
        CU_ASSERT_EQUAL(away, 0);
        ticks_for(1);
        CU_ASSERT_EQUAL(away, 1);
        CU_ASSERT_EQUAL(x.fine_errands.current.kind, ERRAND_NONE);
        end_measuring();
    }
}

/* The one that it may take over from tells of the store. */
static void settings_that_are_being_tried_tell_nothing(void)
{
    begin_measuring();
    state.takes_over = true;
    x.clocks.is_known = false;
    tick();
    ticks_for(130);
    CU_ASSERT_EQUAL(away, 0);
    end_measuring();
}

static const struct test tests[] = {
    TEST(nothing_begins_before_the_clock_is_known),
    TEST(the_days_of_the_history_come_before_the_first_slot),
    TEST(the_next_slot_begins_at_its_time),
    TEST(slots_that_were_missed_come_behind_the_newest),
    TEST(of_many_that_were_slept_through_the_newest_sixteen_come_first),
    TEST(no_slot_of_another_server_is_missed_here),
    TEST(the_first_slot_of_a_daemon_has_none_before_it),
    TEST(a_clock_that_came_back_begins_its_slot_again),
    TEST(a_sweep_under_way_takes_no_slot_that_comes_again),
    TEST(doubt_about_the_clock_asks_for_it_within_a_second),
    TEST(a_pulse_calls_for_a_look_when_a_transaction_ended_or_more_is_waited_for),
    TEST(the_listeners_are_noted_each_ten_minutes),
    TEST(a_store_that_goes_away_is_told_of_in_a_minute),
    TEST(a_store_that_is_away_from_the_beginning_is_told_of),
    TEST(settings_that_are_being_tried_tell_nothing),
    { NULL, NULL },
};
const struct suite suite_plan_daemon = { "plan_daemon", settings_fixture_setup, settings_fixture_teardown,
                                         tests };
