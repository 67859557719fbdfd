/* calls_fixture.c - see calls_fixture.h. */
#include "calls_fixture.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;
struct ran ran;
static struct settings settings;
static struct log quiet;

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
    fake.trust_us = ran.engine->lanes.all[0].buckets[0]->start_until_us;
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
static void answer_note_runs(struct store_call *call)
{
    (void)call;
    fake.runs_notes++;
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
        [STORE_NOTE_RUNNING] = answer_note_running, [STORE_NOTE_RUNS] = answer_note_runs,
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

void one_slot(const struct plan_env *env, void *state)
{
    bool *given = state;
    if (env->clocks->is_known && !*given)
        *given = plan_add_target(env, fake.kind, SLOT);
}

void nothing_to_do(const struct plan_env *env, void *state, const struct errand_result *result)
{
    (void)env, (void)state, (void)result;
}

void slot_is_over(const struct plan_env *env, void *state, const struct target *target)
{
    (void)state;
    ran.was_unopened = target->unopened;
    shutdown_end(env->shutdown, 0, "all done");
}

static bool holds_back(int64_t id)
{
    return cooldown_is_on(&ran.engine->cooldowns, cooldown_of(COOLDOWN_CHECK, id), fake.now_us);
}

static const struct plan plan = { "one slot", one_slot, nothing_to_do, slot_is_over };

void run_plan(struct fake how, const struct plan *how_to, void *state)
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
    CU_ASSERT_EQUAL_FATAL(engine_new(&options, &ran.engine, &err), 0);
    engine_begin(ran.engine, how_to, state);
    for (int turns = 0; turns < 1000000 && !engine_has_ended(ran.engine); turns++) {
        engine_turn(ran.engine);
        fake.now_us += 10 * 1000;
    }
    CU_ASSERT(engine_has_ended(ran.engine));
    ran.skipped_some = engine_totals(ran.engine)->skipped_some;
    ran.ended_with = engine_result(ran.engine, NULL);
    ran.holds_back_its_namesake = holds_back(SLOT);
    ran.holds_back_the_unwritable = holds_back(fake.unwritable_id);
    engine_free(ran.engine);
    settings_release(&settings);
    fclose(quiet.out);
}

void run_slot(struct fake how)
{
    bool given = false;
    run_plan(how, &plan, &given);
}

void calls_are(const enum store_op *expected, int n)
{
    CU_ASSERT_EQUAL(fake.ncalls, n);
    for (int i = 0; i < n && i < fake.ncalls; i++)
        CU_ASSERT_EQUAL(fake.calls[i], expected[i]);
}
