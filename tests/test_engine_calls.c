/* test_engine_calls.c - which calls an engine makes, and in which order, against a store that
 * answers at once, as each test wants. */
#include "settings_fixture.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/run/engine.h"
#include "../engine/run/engine_state.h"
#include "../engine/run/plans.h"
#include "../engine/store/store_ops.h"

enum { CALLS_MAX = 64, SLOT = 900 * 1000, LENGTH_S = 900 };

/* The store, and what it was asked; the read of this number is lost. */
static struct fake {
    struct store head;
    enum store_op calls[CALLS_MAX];
    int ncalls, reads, lose_read;
    const struct err *finish_fails; /* the first one */
    const struct err *hello_fails;  /* all */
    const struct err *opens_fail;   /* all */
    int damaged_opens;              /* so many at first meet a page of the database that cannot be read */
    /* until then the slot's opening meets a lock, or the database's clock is not there yet */
    int64_t locked_until_us, early_until_us;
    enum target_kind kind;          /* of the slot; SLOT (0): nothing is in it, as that would need workers */
    bool is_command;                /* not patient */
    int64_t full_look_ago_s;        /* what a hello says of the last one; 0: never */
    int full_looks, full_notes;     /* asked for, and noted */
    int late_reads;                 /* so many are given no answer in their time */
    int read_within_ms[8], most_within_ms;      /* what the reads were given; the most that any call was */
    int opens;
    int rows;                       /* of the slot; their ids begin with 1 */
    /* of the row whose settle meets such a page, as all that are sent with it; -1: all do */
    int64_t unwritable_id, writable_from_us;    /* 0: for ever */
    int settled, single_reads;        /* rows settled; reads that asked for one row only */
    /* every so many rows an application's transaction holds one, until that moment; 0: it holds
     * none */
    int held_every;
    int64_t held_until_us, free_settled_us;     /* when the last of the others was settled */
    int waits, free_settled;        /* for the lock timeout; rows settled that nobody held */
    int64_t trust_us;               /* of the lease, as the last renewal was sent */
    int notes;                      /* of the runs that go on for long */
    int64_t notified_us;            /* when who waits for events was told first; 0: never */
    void (*stop)(struct engine *e); /* how the engine is stopped by a plan that does so */
    int64_t now_us;
} fake;
static struct settings settings;
static struct log quiet;
static struct engine *engine;
static bool was_unopened;            /* the target, when it was over */
static int ended_with;
static bool skipped_some;           /* of its totals */
static bool holds_back_its_namesake;        /* a check whose id is the number of the slot */
static bool holds_back_the_unwritable;

static int64_t fake_clock(void *ctx)
{
    (void)ctx;
    return fake.now_us;
}
static const struct clock counted = { fake_clock, fake_clock, fake_clock, NULL };

/* ---- the store ---- */

static void answer_hello(struct store_call *call)
{
    struct store_hello *h = (struct store_hello *)call;
    if (fake.hello_fails) {
        call->err = *fake.hello_fails;
        call->rc = call->err.code;
        return;
    }
    h->now_us = (SLOT + LENGTH_S + 1) * INT64_C(1000000);
    h->slot_length_s = LENGTH_S;
    h->full_look_at = fake.full_look_ago_s ? h->now_us / 1000000 - fake.full_look_ago_s : 0;
}

static void answer_open(struct store_call *call)
{
    struct store_open_slot *o = (struct store_open_slot *)call;
    fake.opens++;
    if (fake.opens_fail) {
        call->err = *fake.opens_fail;
        call->rc = call->err.code;
        return;
    }
    if (fake.damaged_opens-- > 0) {
        call->rc = err_set(&call->err, ERR_LOST, "invalid page in block 0");
        call->err.reason = ERR_REASON_DAMAGED;
        return;
    }
    if (fake.now_us < fake.locked_until_us) {
        call->rc = err_set(&call->err, ERR_BUSY, "canceling statement due to lock timeout");
        return;
    }
    if (fake.now_us < fake.early_until_us) {
        o->not_begun = true;
        call->rc = err_set(&call->err, ERR_BUSY, "the slot has not begun by the database's clock");
        return;
    }
    o->split = 1;
    o->state = SLOT_RELOOK;
    o->ntaken = o->nheld = 0;
    if (fake.kind == TARGET_SLOT)
        return;
    o->state = SLOT_OPEN;
    o->taken[0] = (struct lease){ .slot = o->slot, .bucket = BUCKET_WHOLE_SLOT, .token = 1 };
    memcpy(o->taken[0].owner, o->owner, STORE_OWNER_SIZE);
    o->ntaken = 1;
}

static void answer_renew(struct store_call *call)
{
    struct store_renew *r = (struct store_renew *)call;
    memset(r->lost, 0, sizeof r->lost);
    fake.trust_us = engine->lanes.all[0].buckets[0]->start_until_us;
}

static void answer_read(struct store_call *call)
{
    struct store_read_page *r = (struct store_read_page *)call;
    int from = r->after.id > 0 ? (int)r->after.id : 0;
    int n = fake.rows - from < r->want ? fake.rows - from : r->want;
    r->page = (struct check_rows){ 0 };
    r->has_more = from + n < fake.rows;
    fake.single_reads += r->want == 1;
    if (fake.reads < 8)
        fake.read_within_ms[fake.reads] = call->within_ms;
    if (fake.reads < fake.late_reads) {
        call->rc = err_set(&call->err, ERR_LOST, "no answer within its time");
        call->err.reason = ERR_REASON_TIMEOUT;
    }
    if (++fake.reads == fake.lose_read)
        call->rc = err_set(&call->err, ERR_LOST, "the connection was lost");
    if (call->rc || !n)
        return;
    r->page.checks = calloc((size_t)n, sizeof *r->page.checks);
    for (r->page.n = 0; r->page.checks && r->page.n < n; r->page.n++)
        r->page.checks[r->page.n] = (struct check){ .id = from + r->page.n + 1,
                                                    .first_check_at = SLOT,
                                                    .next_check_at = SLOT,
                                                    .entity_name = "e",
                                                    .entity_key = "k",
                                                    .job_exec = "j",
                                                    .entity_name_len = 1,
                                                    .entity_key_len = 1,
                                                    .job_exec_len = 1 };
}

static bool is_held(const struct settlement *s)
{
    return fake.held_every && s->check->id % fake.held_every == 0 && fake.now_us < fake.held_until_us;
}

/* Without skip_locked the first row that is held costs the lock timeout; with it, the others are
 * written. */
static void answer_settle_around(struct store_settle *s)
{
    int held = 0;
    for (int i = 0; i < s->n; i++)
        held += is_held(&s->settlements[i]);
    if (held && !s->skip_locked) {
        fake.waits++;
        fake.now_us += 250 * 1000;
        s->call.rc = err_set(&s->call.err, ERR_BUSY, "canceling statement due to lock timeout");
    }
    for (int i = 0; i < s->n; i++) {
        struct settlement *one = &s->settlements[i];
        one->state = is_held(one) ? SETTLE_LOCKED : SETTLE_TOUCHED;
        if (s->call.rc)
            one->state = SETTLE_UNTOUCHED;
        fake.settled += one->state == SETTLE_TOUCHED;
        if (one->state != SETTLE_TOUCHED || one->check->id % fake.held_every == 0)
            continue;
        fake.free_settled++;
        fake.free_settled_us = fake.now_us;
    }
}

static void answer_settle(struct store_call *call)
{
    struct store_settle *s = (struct store_settle *)call;
    if (fake.held_every) {
        answer_settle_around(s);
        return;
    }
    for (int i = 0; i < s->n && !call->rc; i++) {
        s->settlements[i].state = SETTLE_TOUCHED;
        bool is_good = fake.unwritable_id != -1 && s->settlements[i].check->id != fake.unwritable_id;
        if (is_good || (fake.writable_from_us && fake.now_us >= fake.writable_from_us))
            continue;
        call->rc = err_set(&call->err, ERR_LOST, "invalid page in block 7");
        call->err.reason = ERR_REASON_DAMAGED;
    }
    for (int i = 0; i < s->n && call->rc; i++)
        s->settlements[i].state = SETTLE_UNTOUCHED;
    fake.settled += call->rc ? 0 : s->n;
}

static void answer_finish(struct store_call *call)
{
    ((struct store_finish *)call)->finished = true;
    if (!fake.finish_fails)
        return;
    call->err = *fake.finish_fails;
    call->rc = call->err.code;
    fake.finish_fails = NULL;
}

static void answer_late(struct store_call *call)
{
    fake.full_looks += ((struct store_late_slot *)call)->full;
}
static void answer_fine_slots(struct store_call *call)
{
    ((struct store_fine_slots *)call)->clock_us =
        (SLOT + LENGTH_S + 1) * INT64_C(1000000) + fake.now_us;
}
static void answer_notify(struct store_call *call)
{
    (void)call;
    fake.notified_us = fake.notified_us ? fake.notified_us : fake.now_us;
}
static void answer_note_running(struct store_call *call)
{
    fake.notes += ((struct store_note_running *)call)->n == 0;
}
static void answer_swept(struct store_call *call)
{
    fake.full_notes += ((struct store_mark_swept *)call)->full;
}

static void fake_begin(struct store *st, struct store_call *call)
{
    static void (*const answers[])(struct store_call *) = {
        [STORE_HELLO] = answer_hello,      [STORE_OPEN_SLOT] = answer_open, [STORE_RENEW] = answer_renew,
        [STORE_READ_PAGE] = answer_read,   [STORE_SETTLE] = answer_settle,  [STORE_LATE_SLOT] = answer_late,
        [STORE_MARK_SWEPT] = answer_swept, [STORE_FINISH] = answer_finish,
        [STORE_FINE_SLOTS] = answer_fine_slots, [STORE_NOTIFY] = answer_notify,
        [STORE_NOTE_RUNNING] = answer_note_running,
    };
    (void)st;
    if (call->within_ms > fake.most_within_ms || !call->within_ms)
        fake.most_within_ms = call->within_ms ? call->within_ms : INT_MAX;
    bool is_beside = call->op == STORE_PAUSES;          /* asked each second, beside all else */
    if (fake.ncalls < CALLS_MAX && !is_beside)
        fake.calls[fake.ncalls++] = call->op;
    if ((size_t)call->op < sizeof answers / sizeof *answers && answers[call->op])
        answers[call->op](call);
}

static bool fake_step(struct store *st)
{
    (void)st;
    return true;
}

static void fake_close(struct store *st)
{
    (void)st;
}

static const struct store_ops fake_ops = {
    .scheme = "fake", .begin = fake_begin, .step = fake_step, .close = fake_close
};

static int fake_open(const struct store_options *options, struct store **out, struct err *err)
{
    (void)err;
    fake.head = (struct store){ .ops = &fake_ops, .clock = options->clock };
    *out = &fake.head;
    return 0;
}

/* ---- a plan of one slot, whose checks (if there are any) are moved on without a worker ---- */

static void one_slot(const struct plan_env *env, void *state)
{
    bool *given = state;
    if (env->clocks->is_known && !*given)
        *given = plan_add_target(env, fake.kind, SLOT);
}

static void nothing_to_do(const struct plan_env *env, void *state, const struct errand_result *result)
{
    (void)env, (void)state, (void)result;
}

static void slot_is_over(const struct plan_env *env, void *state, const struct target *target)
{
    (void)state;
    was_unopened = target->unopened;
    shutdown_end(env->shutdown, 0, "all done");
}

static bool holds_back(int64_t id)
{
    return cooldown_is_on(&engine->cooldowns, cooldown_of(COOLDOWN_CHECK, id), fake.now_us);
}

static const struct plan plan = { "one slot", one_slot, nothing_to_do, slot_is_over };

static void run_plan(struct fake how, const struct plan *how_to, void *state)
{
    struct err err = { 0 };
    fake = how;
    fake.trust_us = -1;
    fake.now_us = 1000000;
    settings = parsed("store = \"sqlite:not used\"; lease = \"10s\"; trust = \"9s\"; page = 2; "
                      "notify = \"shop\";");
    log_init(&quiet, fopen("/dev/null", "we"), LOG_LEVEL_ERROR, "test");
    struct engine_options options = { .settings = &settings,
                                      .log = &quiet,
                                      .clock = &counted,
                                      .patient = !how.is_command,
                                      .open_store = fake_open,
                                      .seed = 1 };
    CU_ASSERT_EQUAL_FATAL(engine_new(&options, &engine, &err), 0);
    engine_begin(engine, how_to, state);
    for (int turns = 0; turns < 1000000 && !engine_has_ended(engine); turns++) {
        engine_turn(engine);
        fake.now_us += 10 * 1000;
    }
    CU_ASSERT(engine_has_ended(engine));
    skipped_some = engine_totals(engine)->skipped_some;
    ended_with = engine_result(engine, NULL);
    holds_back_its_namesake = holds_back(SLOT);
    holds_back_the_unwritable = holds_back(fake.unwritable_id);
    engine_free(engine);
    settings_release(&settings);
    fclose(quiet.out);
}

static void run_slot(struct fake how)
{
    bool given = false;
    run_plan(how, &plan, &given);
}

static void calls_are(const enum store_op *expected, int n)
{
    CU_ASSERT_EQUAL(fake.ncalls, n);
    for (int i = 0; i < n && i < fake.ncalls; i++)
        CU_ASSERT_EQUAL(fake.calls[i], expected[i]);
}

/* ---- tests ---- */

static void a_slot_is_opened_read_and_finished(void)
{
    static const enum store_op expected[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_READ_PAGE, STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT });
    calls_are(expected, sizeof expected / sizeof *expected);
}

/* The database may be another one by now, and the lease lost with what it had not yet been told. */
static void after_a_lost_connection_the_lease_is_renewed_before_it_is_used(void)
{
    static const enum store_op expected[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_READ_PAGE,
                                              STORE_RENEW, STORE_READ_PAGE, STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .lose_read = 1 });
    calls_are(expected, sizeof expected / sizeof *expected);
    /* meanwhile jobs may be started under it: another engine cannot have it yet */
    CU_ASSERT(fake.trust_us > 0);
}

/* A database that takes no writes could not take the answers either, however long the lease still
 * lasts. */
static void after_a_refused_write_nothing_is_started_before_the_lease_is_renewed(void)
{
    static const struct err read_only = { ERR_LOST, "25006", ERR_REASON_REFUSED,
                                          .text = "cannot execute DELETE in a read-only transaction" };
    static const enum store_op expected[] = { STORE_HELLO,  STORE_OPEN_SLOT, STORE_READ_PAGE,
                                              STORE_FINISH, STORE_RENEW,     STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &read_only });
    calls_are(expected, sizeof expected / sizeof *expected);
    CU_ASSERT_EQUAL(fake.trust_us, 0);
}

/* A restore in place: for a moment there is no schema. A daemon that has worked waits for it,
 * trusts in no lease meanwhile, and asks for them anew. */
static void a_schema_that_goes_away_is_waited_for_by_a_daemon_that_has_worked(void)
{
    static const struct err gone = { ERR_SCHEMA, "42P01",
                                     .text = "relation \"prescient.slot_lease\" does not exist" };
    static const struct err other = {
        ERR_SETTINGS, "", .text = "slot_length is 60 s in the settings and 900 s in the database"
    };
    static const enum store_op expected[] = { STORE_HELLO,  STORE_OPEN_SLOT, STORE_READ_PAGE,
                                              STORE_FINISH, STORE_RENEW,     STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &gone });
    calls_are(expected, sizeof expected / sizeof *expected);
    CU_ASSERT_EQUAL(ended_with, 0);
    CU_ASSERT_EQUAL(fake.trust_us, 0);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &other });
    CU_ASSERT_EQUAL(ended_with, 0);
}

/* It waited for that, too, and nothing brings the old length back: each of its lanes refused the
 * new one for ever, and its process looked well. */
static void a_slot_length_changed_under_a_daemon_ends_it_so_that_it_is_started_again(void)
{
    static const struct err changed = { ERR_CHANGED, "",
                                        .text = "the slot length was changed from 900 s to 60 s" };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &changed });
    CU_ASSERT_EQUAL(ended_with, ERR_CHANGED);
}

/* It waited for that, too; the engine of before an upgrade is to end, in words, so that the later
 * one is started. */
static void a_schema_that_serves_later_programs_only_ends_a_daemon(void)
{
    static const struct err outgrown = {
        ERR_SCHEMA, "", ERR_REASON_OUTGROWN,
        .text = "schema 'prescient' serves programs that know version 99 or later"
    };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &outgrown });
    CU_ASSERT_EQUAL(ended_with, ERR_SCHEMA);
}

static void a_schema_that_is_not_there_ends_a_command_and_whoever_has_never_worked(void)
{
    static const struct err gone = { ERR_SCHEMA, "42P01",
                                     .text = "relation \"prescient.migration\" does not exist" };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &gone, .is_command = true });
    CU_ASSERT_EQUAL(ended_with, ERR_SCHEMA);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .hello_fails = &gone });
    CU_ASSERT_EQUAL(ended_with, ERR_SCHEMA);
}

/* Waiting would not give it. */
static void a_right_that_is_missing_ends_a_command_and_whoever_has_never_worked(void)
{
    static const struct err denied = { ERR_LOST, "42501", ERR_REASON_REFUSED,
                                       .text = "permission denied for schema prescient" };
    static const struct err kept_out = { ERR_LOST, "28P01", .text = "password authentication failed" };
    static const enum store_op expected[] = { STORE_HELLO };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .hello_fails = &denied, .is_command = true });
    calls_are(expected, 1);
    CU_ASSERT_EQUAL(ended_with, ERR_DENIED);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .hello_fails = &kept_out });
    calls_are(expected, 1);
    CU_ASSERT_EQUAL(ended_with, ERR_DENIED);
}

/* A hello is answered to any user of the schema: it waited for ever, and looked well. */
static void a_daemon_that_was_only_told_the_time_has_not_worked(void)
{
    static const struct err denied = { ERR_LOST, "42501", ERR_REASON_REFUSED,
                                       .text = "permission denied for table slot_lease" };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .opens_fail = &denied });
    CU_ASSERT_EQUAL(ended_with, ERR_DENIED);
    CU_ASSERT_EQUAL(fake.opens, 1);
}

/* With questions that are answered between the openings. */
static void one_slot_and_questions(const struct plan_env *env, void *state)
{
    one_slot(env, state);
    if (env->clocks->is_known)
        plan_give_errand(env, ERRAND_PULSE);
}

/* Each question that was answered took the failures before it as over: the command went on for
 * ever, with three tries and lines a second. */
static void an_opening_that_is_refused_ends_a_command_whatever_else_works(void)
{
    static const struct err full = { ERR_LOST, "", ERR_REASON_REFUSED, .text = "store.db cannot grow" };
    static const struct plan busy = { "one slot", one_slot_and_questions, nothing_to_do, slot_is_over };
    bool given = false;
    run_plan((struct fake){ .opens_fail = &full, .is_command = true }, &busy, &given);
    CU_ASSERT_EQUAL(ended_with, ERR_LOST);
    CU_ASSERT(fake.opens > 1 && fake.opens < 20);
    CU_ASSERT(fake.ncalls > fake.opens + 1);        /* others than the hello were answered */
}

/* It may be given back, and what is in hand is not thrown away for it. */
static void a_right_that_is_taken_away_is_waited_for(void)
{
    static const struct err denied = { ERR_LOST, "42501", ERR_REASON_REFUSED,
                                       .text = "permission denied for table slot_lease" };
    static const enum store_op expected[] = { STORE_HELLO,  STORE_OPEN_SLOT, STORE_READ_PAGE,
                                              STORE_FINISH, STORE_RENEW,     STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &denied });
    calls_are(expected, sizeof expected / sizeof *expected);
    CU_ASSERT_EQUAL(ended_with, 0);
    CU_ASSERT_EQUAL(fake.trust_us, 0);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &denied, .is_command = true });
    calls_are(expected, sizeof expected / sizeof *expected);
    CU_ASSERT_EQUAL(ended_with, 0);
}

/* The database is there, and says itself that nothing was changed. */
static void after_a_collision_the_call_is_repeated_without_a_renewal(void)
{
    static const struct err collision = { ERR_LOST, "40P01", ERR_REASON_COLLIDED,
                                          .text = "deadlock detected" };
    static const enum store_op expected[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_READ_PAGE, STORE_FINISH,
                                              STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &collision });
    calls_are(expected, sizeof expected / sizeof *expected);
}

/* Once may be chance. A slot that stays so is skipped: others wait behind it. */
static void a_slot_whose_opening_meets_a_corrupt_block_is_tried_thrice_and_left(void)
{
    static const enum store_op once[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_OPEN_SLOT, STORE_READ_PAGE,
                                          STORE_FINISH };
    static const enum store_op ever[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_OPEN_SLOT, STORE_OPEN_SLOT };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .damaged_opens = 1 });
    calls_are(once, sizeof once / sizeof *once);
    CU_ASSERT_FALSE(skipped_some);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .damaged_opens = 100 });
    calls_are(ever, sizeof ever / sizeof *ever);
    CU_ASSERT_TRUE(skipped_some);
    CU_ASSERT_FALSE(holds_back_its_namesake);
}

/* It is found by halving, tried again, and left; others in the slot are written. */
static void a_settle_that_meets_a_corrupt_block_costs_the_row_beside_it_only(void)
{
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 20, .unwritable_id = 7 });
    CU_ASSERT_EQUAL(fake.settled, 19);
    CU_ASSERT_TRUE(skipped_some);
    CU_ASSERT_TRUE(holds_back_the_unwritable);
    CU_ASSERT_EQUAL(fake.single_reads, 0);
    CU_ASSERT(fake.now_us < 3 * 1000000);
}

/* Perhaps nothing can be written at all: then jobs must not be run as fast as answers are dropped.
 */
static void when_no_settle_is_taken_answers_are_dropped_after_a_lease_and_checks_read_one_by_one(void)
{
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 3, .unwritable_id = -1 });
    CU_ASSERT_EQUAL(fake.settled, 0);
    CU_ASSERT_TRUE(skipped_some);
    CU_ASSERT(fake.now_us > 10 * 1000000);
    /* more than what is in hand when nothing is known yet */
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 2 * LANE_PAGES + 4, .unwritable_id = -1 });
    CU_ASSERT_EQUAL(fake.settled, 0);
    CU_ASSERT(fake.single_reads > 0);
}

/* Each page used to wait for the lock timeout before it was sent around them. */
static void rows_that_are_held_cost_the_lock_timeout_once_not_once_a_page(void)
{
    run_slot(
        (struct fake){ .kind = TARGET_RESLOT, .rows = 100, .held_every = 5, .held_until_us = 5 * 1000000 });
    CU_ASSERT_EQUAL(fake.settled, 100);
    CU_ASSERT_EQUAL(fake.waits, 1);
    CU_ASSERT_FALSE(skipped_some);
    CU_ASSERT(fake.free_settled_us < 2 * 1000000);
    /* and those are written within a second of their transaction's end */
    CU_ASSERT(fake.now_us < 6 * 1000000);
}

/* A lane holds 64 pages: full of rows that are held, they kept all behind them waiting for half a
 * minute. */
static void pages_that_wait_for_held_rows_leave_room_for_others(void)
{
    enum { ROWS = 2 * 3 * LANE_PAGES };
    run_slot(
        (struct fake){ .kind = TARGET_RESLOT, .rows = ROWS, .held_every = 2, .held_until_us = 20 * 1000000 });
    CU_ASSERT_EQUAL(fake.free_settled, ROWS / 2);
    CU_ASSERT(fake.free_settled_us < 10 * 1000000);
}

static void a_settle_goes_around_held_rows_for_a_while_after_one_was_met(void)
{
    const struct health never = { 0 }, once = { .lock_met_us = 1000 };
    CU_ASSERT_FALSE(health_met_lock_lately(&never, 1000));
    CU_ASSERT_TRUE(health_met_lock_lately(&once, 1000 + 4 * 1000000));
    CU_ASSERT_FALSE(health_met_lock_lately(&once, 1000 + 6 * 1000000));
}

/* Beyond its lease (10 s) an engine has no use for an answer. One that was late may only be slow,
 * and must not be asked for in vain for ever. */
static void a_call_has_the_time_of_a_lease_and_twice_as_much_each_time_it_was_late(void)
{
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 5 });
    CU_ASSERT_EQUAL(fake.most_within_ms, 10000);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 5, .late_reads = 2 });
    CU_ASSERT_EQUAL(fake.settled, 5);
    static const int expected[] = { 10000, 20000, 40000, 10000 };
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(fake.read_within_ms[i], expected[i]);
    CU_ASSERT_EQUAL(fake.most_within_ms, 40000);
}

/* It used to be made in the first slot of an hour: a cron that calls at 13:10 never made it. The
 * clock is at 10:15:01 here. */
static void a_run_makes_the_full_look_when_the_last_one_was_an_hour_ago(void)
{
    static const struct {
        int64_t ago_s;
        int full;
    } looks[] = { { 0, 1 }, { 60, 0 }, { 3599, 0 }, { 3600, 1 }, { 86400, 1 }, { -7200, 1 } };
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        struct plan_run state = { 0 };
        run_plan((struct fake){ .is_command = true, .full_look_ago_s = looks[i].ago_s }, &plan_run, &state);
        CU_ASSERT_EQUAL(fake.full_looks, looks[i].full);
        CU_ASSERT_EQUAL(fake.full_notes, looks[i].full);
        CU_ASSERT_EQUAL(ended_with, 0);
    }
}

/* Somebody's transaction is in the way: however long, the slot is opened when that is over, and
 * not at the next slot's time. */
static void a_slot_that_is_locked_is_opened_as_soon_as_it_is_free(void)
{
    run_slot((struct fake){ .locked_until_us = 300 * INT64_C(1000000) });
    CU_ASSERT_FALSE(was_unopened);
    CU_ASSERT_FALSE(skipped_some);
    CU_ASSERT(fake.now_us >= 300 * INT64_C(1000000) && fake.now_us < 301 * INT64_C(1000000));
    CU_ASSERT(fake.opens < 1300);       /* with pauses */
    run_slot((struct fake){ .locked_until_us = 10 * INT64_C(1000000), .is_command = true });
    CU_ASSERT_FALSE(was_unopened);
    CU_ASSERT_FALSE(skipped_some);
    CU_ASSERT(fake.now_us < 11 * INT64_C(1000000));
}

/* Its caller calls again; and behind what a catch-up has found other slots wait. That it is still
 * to be done, both are informed. */
static void a_slot_that_stays_locked_is_left_by_a_command_and_by_a_catch_up(void)
{
    static const struct fake ways[] = {
        { .is_command = true }, { .kind = TARGET_RELOOK }, { .kind = TARGET_SWEEP }, { .kind = TARGET_RESLOT }
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct fake how = ways[i];
        how.locked_until_us = INT64_MAX;
        run_slot(how);
        CU_ASSERT_TRUE(was_unopened);
        CU_ASSERT_TRUE(skipped_some);
        CU_ASSERT(fake.now_us > 30 * 1000000 && fake.now_us < 33 * 1000000);
    }
}

/* The database's clock was set back: the slot comes again when it is its time. */
static void a_slot_that_has_not_begun_for_a_second_is_dropped_and_told(void)
{
    run_slot((struct fake){ .early_until_us = 1500 * 1000 });
    CU_ASSERT_FALSE(was_unopened);
    run_slot((struct fake){ .early_until_us = INT64_MAX });
    CU_ASSERT_TRUE(was_unopened);
    CU_ASSERT(fake.now_us < 3 * 1000000);
}

/* ---- stops ---- */

/* As soon as answers in hand could not be written, or wait for rows that are held. */
static void stop_with_answers(const struct plan_env *env, void *state)
{
    one_slot(env, state);
    bool is_time = fake.held_every ? fake.waits > 0 : env->health->is_degraded;
    if (is_time)
        fake.stop(engine);
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
    CU_ASSERT_EQUAL(ended_with, ERR_STOPPED);
}

/* It was in no hurry, and dropped what it had been waiting for. */
static void an_engine_that_leaves_keeps_answers_until_they_can_be_written(void)
{
    struct fake how = { .rows = 6, .unwritable_id = -1, .writable_from_us = 5 * 1000000 };
    how.stop = engine_stop_in_its_time;
    run_and_stop(how);
    CU_ASSERT_EQUAL(fake.settled, 6);
    CU_ASSERT_FALSE(skipped_some);
    how.stop = engine_stop;
    run_and_stop(how);
    CU_ASSERT_EQUAL(fake.settled, 0);
    CU_ASSERT_TRUE(skipped_some);
}

/* A second was all that it gave them. */
static void an_engine_that_leaves_waits_for_held_rows_as_one_that_goes_on(void)
{
    struct fake how = { .rows = 6, .held_every = 2, .held_until_us = 20 * 1000000 };
    how.stop = engine_stop_in_its_time;
    run_and_stop(how);
    CU_ASSERT_EQUAL(fake.settled, 6);
    CU_ASSERT_FALSE(skipped_some);
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
    fake.stop(engine);
}

static void stop_after_an_event(struct fake how)
{
    static const struct plan stops = { "stops", stop_with_an_event, nothing_to_do, goes_on };
    bool given = false;
    how.kind = TARGET_RESLOT;
    run_plan(how, &stops, &given);
    CU_ASSERT_EQUAL(ended_with, ERR_STOPPED);
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

static const struct test tests[] = {
    TEST(an_engine_that_leaves_keeps_answers_until_they_can_be_written),
    TEST(an_engine_that_leaves_waits_for_held_rows_as_one_that_goes_on),
    TEST(who_waits_for_events_is_told_of_the_last_ones),
    TEST(an_engine_that_has_stopped_has_no_runs_that_go_on),
    TEST(who_waits_for_events_is_told_by_an_engine_that_leaves),
    TEST(rows_that_are_held_cost_the_lock_timeout_once_not_once_a_page),
    TEST(pages_that_wait_for_held_rows_leave_room_for_others),
    TEST(a_settle_goes_around_held_rows_for_a_while_after_one_was_met),
    TEST(a_slot_is_opened_read_and_finished),
    TEST(after_a_lost_connection_the_lease_is_renewed_before_it_is_used),
    TEST(after_a_refused_write_nothing_is_started_before_the_lease_is_renewed),
    TEST(a_schema_that_goes_away_is_waited_for_by_a_daemon_that_has_worked),
    TEST(a_schema_that_serves_later_programs_only_ends_a_daemon),
    TEST(a_slot_length_changed_under_a_daemon_ends_it_so_that_it_is_started_again),
    TEST(a_schema_that_is_not_there_ends_a_command_and_whoever_has_never_worked),
    TEST(a_right_that_is_missing_ends_a_command_and_whoever_has_never_worked),
    TEST(a_daemon_that_was_only_told_the_time_has_not_worked),
    TEST(an_opening_that_is_refused_ends_a_command_whatever_else_works),
    TEST(a_right_that_is_taken_away_is_waited_for),
    TEST(after_a_collision_the_call_is_repeated_without_a_renewal),
    TEST(a_slot_whose_opening_meets_a_corrupt_block_is_tried_thrice_and_left),
    TEST(a_run_makes_the_full_look_when_the_last_one_was_an_hour_ago),
    TEST(a_call_has_the_time_of_a_lease_and_twice_as_much_each_time_it_was_late),
    TEST(a_slot_that_is_locked_is_opened_as_soon_as_it_is_free),
    TEST(a_slot_that_stays_locked_is_left_by_a_command_and_by_a_catch_up),
    TEST(a_slot_that_has_not_begun_for_a_second_is_dropped_and_told),
    TEST(a_settle_that_meets_a_corrupt_block_costs_the_row_beside_it_only),
    TEST(when_no_settle_is_taken_answers_are_dropped_after_a_lease_and_checks_read_one_by_one),
    { NULL, NULL },
};

const struct suite suite_engine_calls = { "engine_calls", settings_fixture_setup, settings_fixture_teardown,
                                          tests };
