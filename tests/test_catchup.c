/* test_catchup.c - second looks, late slots and the mark; looks that time out or cannot be made. */
#include <stdio.h>
#include <string.h>

#include "../engine/run/catchup.h"
#include "test.h"

enum { S = 1000 * 1000 };

static int64_t now_us;
static int64_t now(void *ctx) { (void)ctx; return now_us; }
static const struct clock test_clock = { now, now, now, NULL };

static struct settings settings;
static struct log quiet;
static struct clocks clocks;
static struct agenda agenda;
static struct targets targets = { .agenda = &agenda };
static struct targets fine = { .agenda = &agenda };
static struct errands errands;
static struct cooldowns cooldowns;
static struct health health;
static struct shutdown ending;
static struct totals totals;
static struct plan_env env;
static struct catchup c;

static void begin(bool patient)
{
    now_us = 1000 * (int64_t)S;
    log_init(&quiet, fopen("/dev/null", "w"), LOG_LEVEL_ERROR, "test");
    targets_release(&targets);
    targets_release(&fine);
    clocks = (struct clocks){ .slot_length_s = 100 };
    errands = (struct errands){ 0 };
    memset(&cooldowns, 0, sizeof cooldowns);
    env = (struct plan_env){
        .settings = &settings,
        .log = &quiet,
        .clock = &test_clock,
        .patient = patient,
        .clocks = &clocks,
        .targets = &targets,
        .fine_targets = &fine,
        .errands = &errands,
        .cooldowns = &cooldowns,
        .health = &health,
        .shutdown = &ending,
        .totals = &totals,
    };
    catchup_begin(&c, TARGET_SWEEP, true, 900, false);
}

static void end(void)
{
    targets_release(&targets);
    targets_release(&fine);
    fclose(quiet.out);
}

static void ended(enum errand_kind kind, int64_t took_us, int rc, const union errand_request *reply)
{
    struct errand_result result = {
        .errand = { .kind = kind },
        .rc = rc,
        .err = &reply->call.err,
        .took_us = took_us,
        .late = errands.late[kind],
        .reply = reply,
    };
    now_us += took_us;
    catchup_errand_done(&env, &c, &result);
}

/* An answer that took so long. */
static void comes(enum errand_kind kind, int64_t took_us)
{
    union errand_request reply = { .late = { .call = { .busy_us = took_us } } };
    errands.late[kind] = 0;
    ended(kind, took_us, 0, &reply);
}

/* The same, and nearly all of it went by on the line. */
static void comes_slowly(enum errand_kind kind, int64_t took_us)
{
    union errand_request reply = { .late = { .call = { .busy_us = 1000 } } };
    errands.late[kind] = 0;
    ended(kind, took_us, 0, &reply);
}

static void is_late(enum errand_kind kind, int64_t took_us)
{
    union errand_request reply = { .call = { .op = STORE_RELOOK } };
    errands.late[kind]++;
    err_set(&reply.call.err, ERR_LOST, "no answer");
    reply.call.err.reason = ERR_REASON_TIMEOUT;
    ended(kind, took_us, ERR_LOST, &reply);
}

/* A line that dies without a word is no dear look: missed slots were swept half a minute later for
 * it. */
static void what_a_dead_line_swallowed_is_followed_by_no_rest(void)
{
    begin(true);
    is_late(ERRAND_RELOOK, 5 * S);
    comes(ERRAND_RELOOK, 1000);
    CU_ASSERT_EQUAL(catchup_rest_us(c.cost_us), 0);
    CU_ASSERT_FALSE(c.narrow);
    CU_ASSERT_EQUAL(c.step, CATCHUP_LOOKED);
    end();
}

/* Where no commit comes through, looks time out like those that old rows are in the way of: missed
 * slots were swept two minutes later for it. Lanes lose what they write then. */
static void a_store_that_was_away_is_followed_by_no_rest(void)
{
    begin(true);
    is_late(ERRAND_RELOOK, 5 * S);
    health_write_failed(&health, now_us);
    is_late(ERRAND_RELOOK, 5 * S);
    CU_ASSERT_TRUE(c.narrow);
    comes(ERRAND_RELOOK_SETTLED, 1000);
    CU_ASSERT_EQUAL(catchup_rest_us(c.cost_us), 0);
    CU_ASSERT_TRUE(c.looked_past);
    end();
    /* what was lost before is another matter */
    begin(true);
    now_us += S;
    is_late(ERRAND_RELOOK, 5 * S);
    is_late(ERRAND_RELOOK, 5 * S);
    health.write_failed_us = now_us - 11 * (int64_t)S;
    comes(ERRAND_RELOOK_SETTLED, 1000);
    CU_ASSERT(catchup_rest_us(c.cost_us) > 0);
    end();
    health = (struct health){ 0 };
}

/* Each question takes a second on a line of 64 kbit/s, and none of it is the database's: missed
 * slots were swept half a minute later for it. */
static void a_slow_line_is_followed_by_no_rest(void)
{
    begin(true);
    comes_slowly(ERRAND_RELOOK, 2 * S);
    c.step = CATCHUP_ASK;
    comes_slowly(ERRAND_LATE_SLOT, 2 * S);
    CU_ASSERT_EQUAL(catchup_rest_us(c.cost_us), 0);
    end();
}

static void what_is_late_twice_is_asked_narrowly_and_the_mark_stays(void)
{
    begin(false);
    is_late(ERRAND_RELOOK, 30 * S);
    is_late(ERRAND_RELOOK, 30 * S);
    CU_ASSERT_TRUE(c.narrow);
    CU_ASSERT_EQUAL(c.step, CATCHUP_RELOOK);
    comes(ERRAND_RELOOK_SETTLED, 1000);
    CU_ASSERT_EQUAL(c.step, CATCHUP_LOOKED);
    CU_ASSERT(catchup_rest_us(c.cost_us) >= 300 * (int64_t)S);
    c.step = CATCHUP_ASK;
    comes(ERRAND_LATE_BESIDE, 1000);
    CU_ASSERT_EQUAL(c.step, CATCHUP_DONE);
    end();
}

static void a_daemon_goes_on_without_what_is_late_even_so_and_a_command_does_not(void)
{
    for (int patient = 0; patient <= 1; patient++) {
        begin(patient);
        for (int i = 0; i < 4; i++)
            is_late(i < 2 ? ERRAND_RELOOK : ERRAND_RELOOK_SETTLED, 30 * S);
        CU_ASSERT_EQUAL(c.step, patient ? CATCHUP_LOOKED : CATCHUP_RELOOK);
        end();
    }
}

/* An answer to what it has just asked. */
static void is_answered(const union errand_request *reply)
{
    catchup_tick(&env, &c);
    enum errand_kind kind = errands.current.kind;
    errands.current = (struct errand){ 0 };
    ended(kind, 1000, 0, reply);
}

static void slot_is_over(struct target how)
{
    struct target *t = targets.first;
    t->held_by_others = how.held_by_others;
    t->unopened = how.unopened;
    t->counts = how.counts;
    catchup_target_over(&env, &c, t);
    targets_remove(&targets, t);
}

static const union errand_request nothing = { .relook = { .n = 0 } };

static void late_slots_are_run_one_at_a_time_and_then_the_mark_moves(void)
{
    begin(true);
    is_answered(&nothing);
    for (int64_t slot = 100; slot <= 200; slot += 100) {
        union errand_request found = { .late = { .slot = slot } };
        is_answered(&found);
        CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
        CU_ASSERT_TRUE(targets_have(&targets, slot));
        catchup_tick(&env, &c);
        CU_ASSERT_EQUAL(errands.current.kind, ERRAND_NONE);
        slot_is_over((struct target){ .counts = { .run = 1 } });
    }
    union errand_request none = { .late = { .slot = 0 } };
    is_answered(&none);
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.kind, ERRAND_MARK_SWEPT);
    CU_ASSERT_EQUAL(errands.current.before, 900);
    CU_ASSERT_EQUAL(c.slots, 2);
    end();
}

/* It was opened twice a second, for as long as the other engine ran a check of it. */
static void a_late_slot_that_others_hold_is_no_reason_to_look_again_soon(void)
{
    static const struct { struct target over; int slots; bool unfinished; } cases[] = {
        { { .held_by_others = 1 }, 0, true },
        { { .held_by_others = 1, .counts = { .run = 1 } }, 1, true },
        { { .held_by_others = 1, .counts = { .held_back = 1 } }, 1, true },
        { { .counts = { .locked = 1 } }, 0, false },
        { { .counts = { .run = 0 } }, 1, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(true);
        is_answered(&nothing);
        union errand_request found = { .late = { .slot = 100 } };
        is_answered(&found);
        slot_is_over(cases[i].over);
        CU_ASSERT_EQUAL(c.slots, cases[i].slots);
        CU_ASSERT_EQUAL(c.unfinished, cases[i].unfinished);
        bool is_others = cases[i].over.held_by_others || cases[i].over.counts.locked;
        CU_ASSERT_EQUAL(c.skipped_from, is_others ? 100 : 0);
        end();
    }
}

static union errand_request urgent_is(int64_t urgent, int64_t slot)
{
    return (union errand_request){ .late = { .slot = slot, .urgent = urgent } };
}

/* An outage of many slots: none of the others is begun before them. */
static void the_urgent_checks_of_all_late_slots_come_before_the_others_of_any(void)
{
    begin(true);
    is_answered(&nothing);
    union errand_request first = urgent_is(200, 100), second = urgent_is(300, 100), none = urgent_is(0, 100);
    is_answered(&first);
    is_answered(&second);
    is_answered(&none);
    CU_ASSERT_FALSE(targets_have(&targets, 100));
    for (int64_t slot = 200; slot <= 300; slot += 100) {
        struct target *t = targets.first;
        CU_ASSERT_EQUAL(t->slot, slot);
        CU_ASSERT(t->only_urgent && t->round == READ_URGENT);
        catchup_tick(&env, &c);
        CU_ASSERT_EQUAL(errands.current.kind, ERRAND_NONE);
        slot_is_over((struct target){ .held_by_others = 1 });
    }
    is_answered(&none);
    CU_ASSERT_TRUE(targets_have(&targets, 100));
    CU_ASSERT_FALSE(targets.first->only_urgent);
    slot_is_over((struct target){ .counts = { .run = 1 } });
    for (int64_t slot = 200; slot <= 300; slot += 100) {
        union errand_request others = urgent_is(slot, slot);    /* they came meanwhile */
        is_answered(&others);
        CU_ASSERT_FALSE(targets.first->only_urgent);
        slot_is_over((struct target){ .counts = { .run = 1 } });
    }
    union errand_request over = urgent_is(0, 0);
    is_answered(&over);
    CU_ASSERT_EQUAL(c.step, CATCHUP_MARK);
    CU_ASSERT_EQUAL(c.skipped_from, 0);
    end();
}

static void urgent_checks_of_many_late_slots_are_asked_for_some_at_a_time(void)
{
    begin(true);
    catchup_begin(&c, TARGET_SWEEP, true, 9000, false);
    is_answered(&nothing);
    for (int i = 0; i < CATCHUP_AT_ONCE; i++) {
        union errand_request found = urgent_is(1000 + i * 100, 50);
        is_answered(&found);
    }
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.kind, ERRAND_NONE);
    slot_is_over((struct target){ .counts = { .run = 1 } });
    catchup_tick(&env, &c);
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.kind, ERRAND_LATE_SLOT);
    CU_ASSERT_EQUAL(errands.current.urgent_from, 1000 + (CATCHUP_AT_ONCE - 1) * 100 + 1);
    CU_ASSERT_EQUAL(errands.current.from, 0);
    end();
}

/* It went on to where it was late before: with slots of a second it took each one that began, its
 * urgent checks first, and all other late ones waited for a quarter of a minute. */
static void a_sweep_ends_where_the_clock_was_set_back_to(void)
{
    begin(true);
    is_answered(&nothing);
    catchup_end_before(&c, 300);
    union errand_request ahead = urgent_is(500, 100);       /* it was asked before */
    is_answered(&ahead);
    CU_ASSERT_FALSE(targets_have(&targets, 500));
    CU_ASSERT_TRUE(targets_have(&targets, 100));
    slot_is_over((struct target){ .counts = { .run = 1 } });
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.kind, ERRAND_LATE_SLOT);
    CU_ASSERT_EQUAL(errands.current.before, 300);
    union errand_request more_ahead = urgent_is(0, 400);
    is_answered(&more_ahead);
    CU_ASSERT_FALSE(targets_have(&targets, 400));
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.kind, ERRAND_MARK_SWEPT);
    CU_ASSERT_EQUAL(errands.current.before, 300);
    catchup_end_before(&c, 600);
    CU_ASSERT_EQUAL(c.before, 300);
    end();
}

/* Of so many seconds that none was left for others: it goes on behind them. */
static void a_look_for_urgent_checks_that_was_cut_goes_on(void)
{
    begin(true);
    is_answered(&nothing);
    union errand_request cut = { .late = { .slot = 100, .urgent_until = 400 } }, found = urgent_is(500, 100);
    is_answered(&cut);
    CU_ASSERT_FALSE(targets_have(&targets, 100));
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.urgent_from, 400);
    is_answered(&found);
    CU_ASSERT_TRUE(targets_have(&targets, 500));
    end();
}

/* They are short, and one slow check would keep all others. */
static void fine_slots_have_no_turn_of_their_own(void)
{
    begin(true);
    is_answered(&nothing);
    union errand_request found = urgent_is(201, 100), none = urgent_is(0, 100);
    is_answered(&found);
    CU_ASSERT_FALSE(targets_have(&fine, 201));
    is_answered(&none);
    CU_ASSERT_TRUE(targets_have(&targets, 100));
    end();
}

static void moving_checks_on_knows_no_urgent_ones(void)
{
    begin(false);
    catchup_begin(&c, TARGET_RESLOT, true, 900, false);
    union errand_request found = urgent_is(200, 100);
    is_answered(&found);
    CU_ASSERT_TRUE(targets_have(&targets, 100));
    CU_ASSERT_FALSE(targets_have(&targets, 200));
    end();
}

/* What comes of a look for late slots, or of a call that moves checks to slots. */
static union errand_request look_is(int64_t slot, int64_t misfiled_at, int64_t until)
{
    return (union errand_request){ .late = { .slot = slot, .misfiled_at = misfiled_at, .until = until } };
}

static union errand_request moved_are(int64_t n, int64_t until)
{
    return (union errand_request){ .refile = { .refiled = n, .until = until } };
}

static enum errand_kind asks_for(const union errand_request *reply)
{
    catchup_tick(&env, &c);
    enum errand_kind kind = errands.current.kind;
    is_answered(reply);
    return kind;
}

/* 150,000 of them were moved in one call, which never came to an end: no late slot was run. */
static void checks_at_times_that_are_no_slots_are_moved_between_late_slots(void)
{
    begin(false);
    is_answered(&nothing);
    union errand_request look = look_is(200, 50, 0), more = moved_are(2000, 60);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    CU_ASSERT_TRUE(targets_have(&targets, 200));
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    slot_is_over((struct target){ .counts = { .run = 1 } });
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.from, 50);
    CU_ASSERT_EQUAL(errands.current.before, 900);
    CU_ASSERT_EQUAL(asks_for(&more), ERRAND_REFILE);
    look = look_is(300, 250, 0);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    slot_is_over((struct target){ .counts = { .run = 1 } });
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.from, 60);
    CU_ASSERT_EQUAL(asks_for(&more), ERRAND_REFILE);
    look = look_is(0, 350, 0);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    for (int i = 0; i < CATCHUP_REFILES; i++)               /* a command goes on to the end */
        CU_ASSERT_EQUAL(asks_for(&more), ERRAND_REFILE);
    more = moved_are(5, 0);
    CU_ASSERT_EQUAL(asks_for(&more), ERRAND_REFILE);
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.kind, ERRAND_MARK_SWEPT);
    CU_ASSERT_EQUAL(c.slots, 2);
    end();
}

/* Second looks wait while a catch-up is under way. */
static void a_daemon_moves_some_of_them_and_looks_again_soon(void)
{
    begin(true);
    is_answered(&nothing);
    union errand_request look = look_is(0, 50, 0), more = moved_are(2000, 60);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    for (int i = 0; i < CATCHUP_REFILES; i++)
        CU_ASSERT_EQUAL(asks_for(&more), ERRAND_REFILE);
    CU_ASSERT_EQUAL(c.step, CATCHUP_DONE);          /* the mark stays */
    CU_ASSERT_TRUE(c.moved);
    CU_ASSERT_EQUAL(catchup_rest_us(c.cost_us), 0);
    end();
}

/* Those that a lock keeps where they are do not hold up the end. */
static void what_is_left_at_such_a_time_is_asked_for_once(void)
{
    begin(true);
    is_answered(&nothing);
    union errand_request look = look_is(0, 50, 70), none = moved_are(0, 0);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    CU_ASSERT_EQUAL(asks_for(&none), ERRAND_REFILE);
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.from, 70);              /* the look that was cut goes on */
    look = look_is(0, 80, 0);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    CU_ASSERT_EQUAL(c.step, CATCHUP_MARK);
    end();
}

/* A call that times out is not blamed on an old transaction, and late slots are run. */
static void late_slots_are_run_where_such_checks_cannot_be_moved(void)
{
    begin(true);
    is_answered(&nothing);
    union errand_request look = look_is(200, 50, 0);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    slot_is_over((struct target){ .counts = { .run = 1 } });
    CU_ASSERT_EQUAL(c.step, CATCHUP_REFILE);
    is_late(ERRAND_REFILE, 30 * S);
    CU_ASSERT_EQUAL(c.step, CATCHUP_REFILE);
    is_late(ERRAND_REFILE, 30 * S);
    CU_ASSERT_EQUAL(c.step, CATCHUP_ASK);
    CU_ASSERT_FALSE(c.narrow);
    look = look_is(300, 50, 0);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    CU_ASSERT_TRUE(targets_have(&targets, 300));
    end();
}

static union errand_request recalled_are(int64_t n, int64_t until)
{
    return (union errand_request){ .recall = { .recalled = n, .until = { until, 1 } } };
}

/* After the late slots, page by page, and the mark comes last. */
static void checks_that_were_put_off_are_recalled_page_by_page(void)
{
    begin(false);
    c.recalling.wanted = true;
    is_answered(&nothing);
    union errand_request look = look_is(0, 0, 0), more = recalled_are(5000, 60);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    for (int i = 0; i <= CATCHUP_RECALLS; i++)
        CU_ASSERT_EQUAL(asks_for(&more), ERRAND_RECALL);
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.after.put_off_at, 60);
    more = recalled_are(5, 0);
    CU_ASSERT_EQUAL(asks_for(&more), ERRAND_RECALL);
    CU_ASSERT_EQUAL(c.step, CATCHUP_MARK);
    CU_ASSERT_FALSE(c.recalling.wanted);
    end();
}

static void a_daemon_goes_on_recalling_in_its_next_catchup(void)
{
    begin(true);
    c.recalling.wanted = true;
    is_answered(&nothing);
    union errand_request look = look_is(0, 0, 0), more = recalled_are(0, 60);
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    for (int i = 0; i < CATCHUP_RECALLS; i++)
        CU_ASSERT_EQUAL(asks_for(&more), ERRAND_RECALL);
    CU_ASSERT_EQUAL(c.step, CATCHUP_MARK);
    CU_ASSERT_TRUE(c.moved);                        /* which comes soon */
    catchup_begin(&c, TARGET_SWEEP, true, 900, false);
    is_answered(&nothing);
    is_answered(&look);
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(errands.current.kind, ERRAND_RECALL);
    CU_ASSERT_EQUAL(errands.current.after.put_off_at, 60);
    more = recalled_are(0, 0);
    CU_ASSERT_EQUAL(asks_for(&more), ERRAND_RECALL);
    CU_ASSERT_FALSE(c.recalling.wanted);
    c.recalling = (struct recalling){ 0 };
    end();
}

/* Its run shows whether the job can be run here. */
static void after_the_one_check_of_an_engine_that_has_loaded_no_job_none_is_asked_for(void)
{
    begin(true);
    c.recalling.wanted = true;
    is_answered(&nothing);
    union errand_request look = look_is(0, 0, 0), one = recalled_are(1, 60), none = recalled_are(0, 60);
    one.recall.only_one = none.recall.only_one = true;
    CU_ASSERT_EQUAL(asks_for(&look), ERRAND_LATE_SLOT);
    CU_ASSERT_EQUAL(asks_for(&none), ERRAND_RECALL);
    CU_ASSERT_EQUAL(asks_for(&one), ERRAND_RECALL);
    CU_ASSERT_EQUAL(c.step, CATCHUP_MARK);
    CU_ASSERT_FALSE(c.recalling.wanted);
    end();
}

static void next_late_slot_is(int64_t slot)
{
    union errand_request found = { .late = { .slot = slot } };
    is_answered(&found);
}

static void fine_slot_is_over(int64_t slot)
{
    struct target over = { .kind = TARGET_SWEEP, .slot = slot, .counts = { .run = 1 } };
    catchup_target_over(&env, &c, &over);
}

/* One slow check in one of them keeps no other. */
static void late_fine_slots_are_run_some_at_once(void)
{
    begin(true);
    is_answered(&nothing);
    for (int64_t slot = 101; slot < 101 + CATCHUP_AT_ONCE; slot++) {
        CU_ASSERT_EQUAL(c.step, slot == 101 ? CATCHUP_LOOKED : CATCHUP_ASK);
        next_late_slot_is(slot);
        CU_ASSERT_TRUE(targets_have(&fine, slot));
    }
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    fine_slot_is_over(107);
    CU_ASSERT_EQUAL(c.step, CATCHUP_ASK);
    next_late_slot_is(0);
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    for (int64_t slot = 101; slot < 101 + CATCHUP_AT_ONCE; slot++)
        fine_slot_is_over(slot);
    CU_ASSERT_EQUAL(c.step, CATCHUP_MARK);
    CU_ASSERT_EQUAL(c.slots, CATCHUP_AT_ONCE);
    end();
}

static void a_late_full_slot_waits_for_all_and_all_wait_for_it(void)
{
    begin(true);
    is_answered(&nothing);
    next_late_slot_is(101);
    next_late_slot_is(200);
    CU_ASSERT_TRUE(targets_have(&targets, 200));
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    fine_slot_is_over(101);
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    slot_is_over((struct target){ .counts = { .run = 1 } });
    CU_ASSERT_EQUAL(c.step, CATCHUP_ASK);
    end();
}

/* Whoever asks for a check at once does not know which server serves what. */
static void fine_slots_are_every_servers(void)
{
    settings.serve[0] = 30;
    settings.nserve = 1;
    begin(true);
    clocks.is_known = true;
    is_answered(&nothing);
    next_late_slot_is(100);
    CU_ASSERT_PTR_NULL(targets.first);
    next_late_slot_is(101);
    CU_ASSERT_TRUE(targets_have(&fine, 101));
    settings.nserve = 0;
    end();
}

/* Nor does what waits for a slow check in one of them. */
static void second_looks_at_fine_slots_are_not_waited_for(void)
{
    begin(true);
    struct relook_slot slots[] = { { .slot = 101, .has_rows = true }, { .slot = 102, .undone = true } };
    union errand_request found = { .relook = { .slots = slots, .n = 2 } };
    is_answered(&found);
    CU_ASSERT_TRUE(targets_have(&fine, 101) && targets_have(&fine, 102));
    next_late_slot_is(101);
    CU_ASSERT_EQUAL(c.skipped_from, 101);
    CU_ASSERT_EQUAL(c.step, CATCHUP_ASK);
    end();
}

/* Putting off what cannot be run may take long, and behind it may be what can. */
static void a_full_slot_in_which_checks_are_only_put_off_keeps_no_other(void)
{
    begin(true);
    is_answered(&nothing);
    next_late_slot_is(200);
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    targets_put_off(&targets, targets.first);
    catchup_tick(&env, &c);
    CU_ASSERT_EQUAL(c.step, CATCHUP_ASK);
    next_late_slot_is(300);
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    CU_ASSERT_EQUAL(targets.first->slot, 300);
    catchup_target_over(&env, &c, targets.first);
    CU_ASSERT_EQUAL(c.step, CATCHUP_ASK);
    next_late_slot_is(0);
    CU_ASSERT_EQUAL(c.step, CATCHUP_SLOT);
    catchup_target_over(&env, &c, targets.first->following);
    CU_ASSERT_EQUAL(c.step, CATCHUP_MARK);
    end();
}

static enum target_kind kind_at(int64_t slot)
{
    for (const struct target *t = fine.first; t; t = t->following)
        if (t->slot == slot)
            return t->kind;
    CU_FAIL("no target");
    return TARGET_RESLOT;
}

/* The late slot that a sweep asks for is often that at which it has just begun to look again: then
 * checks whose job is unknown here were left for hours. */
static void a_sweeps_second_look_at_a_late_fine_slot_takes_all_its_rows(void)
{
    struct relook_slot slots[] = { { .slot = 799, .has_rows = true }, { .slot = 801, .has_rows = true } };
    union errand_request found = { .relook = { .slots = slots, .n = 2 } };
    begin(true);
    is_answered(&found);
    CU_ASSERT_EQUAL(kind_at(799), TARGET_SWEEP);
    CU_ASSERT_EQUAL(kind_at(801), TARGET_RELOOK);
    end();
    begin(true);
    catchup_begin(&c, TARGET_SWEEP, false, 900, false);
    is_answered(&found);
    CU_ASSERT_EQUAL(kind_at(799), TARGET_RELOOK);
    end();
}

/* What could not be emptied is found by the next sweep, too: the mark stays below it. */
static void the_mark_stays_below_a_slot_that_could_not_be_emptied(void)
{
    static const struct target ways[] = {
        { .held_by_others = 1 }, { .unopened = true }, { .counts.locked = 1 }, { .counts.superseded = 1 }
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        union errand_request found = { .late = { .slot = 100 } }, none = { .late = { .slot = 0 } };
        begin(true);
        is_answered(&nothing);
        is_answered(&found);
        slot_is_over(ways[i]);
        is_answered(&none);
        catchup_tick(&env, &c);
        CU_ASSERT_EQUAL(errands.current.kind, ERRAND_MARK_SWEPT);
        CU_ASSERT_EQUAL(errands.current.before, 100);
        end();
    }
}

/* A corrupt block does not heal. A daemon has more to do; a command ends by itself. */
static void a_daemon_goes_on_without_a_look_that_meets_a_corrupt_block(void)
{
    for (int patient = 0; patient <= 1; patient++) {
        begin(patient);
        union errand_request reply = { .call = { .op = STORE_RELOOK } };
        err_set(&reply.call.err, ERR_LOST, "invalid page");
        reply.call.err.reason = ERR_REASON_DAMAGED;
        for (int i = 0; i < 2; i++)
            ended(ERRAND_RELOOK, 1000, ERR_LOST, &reply);
        CU_ASSERT_EQUAL(c.step, CATCHUP_RELOOK);
        ended(ERRAND_RELOOK, 1000, ERR_LOST, &reply);
        CU_ASSERT_EQUAL(c.step, patient ? CATCHUP_LOOKED : CATCHUP_RELOOK);
        CU_ASSERT_EQUAL(c.looked_past, patient);
        end();
    }
}

/* Each empty look over a million rows that are gone took a second, and was taken every 15 seconds.
 */
static void a_costly_look_is_followed_by_a_long_rest(void)
{
    enum { MS = 1000 };
    CU_ASSERT_EQUAL(catchup_rest_us(0), 0);
    CU_ASSERT_EQUAL(catchup_rest_us(250 * MS), 0);
    CU_ASSERT_EQUAL(catchup_rest_us(1250 * MS), 10 * S);
    CU_ASSERT_EQUAL(catchup_rest_us(31 * S), 300 * (int64_t)S);
    CU_ASSERT_EQUAL(catchup_rest_us(INT64_MAX), 300 * (int64_t)S);
}

static const struct test tests[] = {
    TEST(what_a_dead_line_swallowed_is_followed_by_no_rest),
    TEST(a_slow_line_is_followed_by_no_rest),
    TEST(what_is_late_twice_is_asked_narrowly_and_the_mark_stays),
    TEST(a_store_that_was_away_is_followed_by_no_rest),
    TEST(a_daemon_goes_on_without_what_is_late_even_so_and_a_command_does_not),
    TEST(late_slots_are_run_one_at_a_time_and_then_the_mark_moves),
    TEST(a_late_slot_that_others_hold_is_no_reason_to_look_again_soon),
    TEST(the_urgent_checks_of_all_late_slots_come_before_the_others_of_any),
    TEST(urgent_checks_of_many_late_slots_are_asked_for_some_at_a_time),
    TEST(a_sweep_ends_where_the_clock_was_set_back_to),
    TEST(a_look_for_urgent_checks_that_was_cut_goes_on),
    TEST(fine_slots_have_no_turn_of_their_own),
    TEST(moving_checks_on_knows_no_urgent_ones),
    TEST(checks_at_times_that_are_no_slots_are_moved_between_late_slots),
    TEST(a_daemon_moves_some_of_them_and_looks_again_soon),
    TEST(what_is_left_at_such_a_time_is_asked_for_once),
    TEST(late_slots_are_run_where_such_checks_cannot_be_moved),
    TEST(checks_that_were_put_off_are_recalled_page_by_page),
    TEST(a_daemon_goes_on_recalling_in_its_next_catchup),
    TEST(after_the_one_check_of_an_engine_that_has_loaded_no_job_none_is_asked_for),
    TEST(late_fine_slots_are_run_some_at_once),
    TEST(a_late_full_slot_waits_for_all_and_all_wait_for_it),
    TEST(a_full_slot_in_which_checks_are_only_put_off_keeps_no_other),
    TEST(fine_slots_are_every_servers),
    TEST(second_looks_at_fine_slots_are_not_waited_for),
    TEST(a_sweeps_second_look_at_a_late_fine_slot_takes_all_its_rows),
    TEST(the_mark_stays_below_a_slot_that_could_not_be_emptied),
    TEST(a_daemon_goes_on_without_a_look_that_meets_a_corrupt_block),
    TEST(a_costly_look_is_followed_by_a_long_rest),
    { NULL, NULL },
};

const struct suite suite_catchup = { "catchup", NULL, NULL, tests };
