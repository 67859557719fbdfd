/* test_process.c - what a process makes of a SIGHUP: which engine is in charge then, also where the
 * store lets the next one do nothing. Engines and signals are real, the store answers as each test
 * wants, and each look at the clock is 50 ms. */
#include "settings_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/run/engine_state.h"
#include "../engine/run/process.h"
#include "../engine/store/store_ops.h"

enum { ENGINES_MAX = 4, LENGTH_S = 900, TICKS_MAX = 5000 };

static const struct err full = { ERR_LOST, "53300", .text = "too many connections for role \"shop\"" };

static struct world {
    struct fake_store {
        struct store head;
        bool is_lost;               /* it answers nothing but `full` */
    } stores[ENGINES_MAX];          /* by engine: all its lanes have it */
    int made, renewals, taken, refused, over;
    int most;                       /* engines at a time */
    bool next_is_lost;              /* of the engine that is made next */
    struct err why;                 /* one was refused */
    int64_t now_us, first_renewed_us, refused_us;
    int ticks, sent;
    void (*script)(void);
} world;
static struct settings settings;
static struct log quiet;
static struct process process;

/* ---- the world ---- */

static int64_t fake_clock(void *ctx)
{
    (void)ctx;
    return world.now_us += 50 * 1000;
}
static const struct clock counted = { fake_clock, fake_clock, fake_clock, NULL };

static void fake_begin(struct store *st, struct store_call *call)
{
    const struct fake_store *fake = (const struct fake_store *)st;
    if (fake->is_lost) {
        call->err = full;
        call->rc = full.code;
    } else if (call->op == STORE_HELLO) {
        ((struct store_hello *)call)->now_us = 900 * INT64_C(1000000) * 1000;
        ((struct store_hello *)call)->slot_length_s = LENGTH_S;
    }
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
    struct fake_store *fake = &world.stores[world.made];
    fake->head = (struct store){ .ops = &fake_ops, .clock = options->clock };
    *out = &fake->head;
    return 0;
}

/* ---- engines that only ask what an engine has the rights to ---- */

static void ask(const struct plan_env *env, void *state)
{
    (void)state;
    if (env->clocks->is_known && !env->health->has_worked)
        plan_give_errand(env, ERRAND_KEEP_DAYS);
    if (world.ticks++ < TICKS_MAX)
        world.script();
    else
        shutdown_end(env->shutdown, ERR_GENERAL, "the script does not end");
}

static void asked(const struct plan_env *env, void *state, const struct errand_result *result)
{
    (void)state;
    if (result->errand.kind == ERRAND_HELLO && result->rc)
        plan_give_errand(env, ERRAND_HELLO);
}

static void none_is_over(const struct plan_env *env, void *state, const struct target *target)
{
    (void)env, (void)state, (void)target;
}

static const struct plan plan = { "asks", ask, asked, none_is_over };

static struct engine *make(void)
{
    struct err err = { 0 };
    struct engine *e = NULL;
    struct engine_options options = { .settings = &settings,
                                      .log = &quiet,
                                      .clock = &counted,
                                      .patient = true,
                                      .open_store = fake_open,
                                      .seed = 1 };
    world.stores[world.made].is_lost = world.next_is_lost;
    CU_ASSERT_EQUAL_FATAL(engine_new(&options, &e, &err), 0);
    engine_begin(e, &plan, NULL);
    world.made++;
    if (world.made - world.over > world.most)
        world.most = world.made - world.over;
    return e;
}

static struct engine *renew(void *ctx)
{
    (void)ctx;
    if (!world.renewals++)
        world.first_renewed_us = world.now_us;
    return make();
}

static void taken(void *ctx, const struct engine *e)
{
    (void)ctx, (void)e;
    world.taken++;
}

static void refused_by(void *ctx, const struct engine *e, const struct err *why)
{
    (void)ctx, (void)e;
    world.refused++;
    world.refused_us = world.now_us;
    world.why = *why;
}

static void over(void *ctx, struct engine *e)
{
    (void)ctx;
    world.over++;
    engine_free(e);
}

/* Until the script ends it. What a process changes of itself is put back for later suites. */
static void run(void (*script)(void))
{
    sigset_t before;
    struct err err = { 0 };
    void (*on_pipe)(int) = signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_SETMASK, NULL, &before);
    bool was_lost = world.next_is_lost;
    world = (struct world){ .script = script, .next_is_lost = was_lost, .now_us = 1000 * 1000 };
    settings = parsed("store = \"sqlite:not used\"; lease = \"10s\"; trust = \"9s\";");
    log_init(&quiet, fopen("/dev/null", "we"), LOG_LEVEL_ERROR, "test");
    process_init(&process, &(struct process_options){ .log = &quiet,
                                                      .clock = &counted,
                                                      .renew = renew,
                                                      .taken = taken,
                                                      .refused = refused_by,
                                                      .over = over });
    CU_ASSERT_EQUAL(process_run(&process, make(), &err), ERR_STOPPED);
    CU_ASSERT_EQUAL(world.over, world.made);
    settings_release(&settings);
    fclose(quiet.out);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGPIPE, on_pipe);
    world.next_is_lost = false;
}

/* ---- what happens in them: each is called in the turns of all engines ---- */

/* The signals of a script are numbered from 0, and each is sent once. */
static void hear(int number, int signo)
{
    if (world.sent != number)
        return;
    world.sent++;
    kill(getpid(), signo);
}

/* The next engine gets no connection; when it was given up, the one after it does. */
static void a_full_server(void)
{
    world.next_is_lost = world.made < 2;
    hear(0, SIGHUP);
    if (world.refused)
        hear(1, SIGHUP);
    if (world.taken)
        hear(2, SIGTERM);
}

static void an_engine_that_never_gets_its_store_is_given_up(void)
{
    run(a_full_server);
    CU_ASSERT_EQUAL(world.refused, 1);
    CU_ASSERT(strstr(world.why.text, "in 120 s: cannot ask the store: too many connections") != NULL);
    CU_ASSERT(world.refused_us - world.first_renewed_us >= 120 * INT64_C(1000000));
    CU_ASSERT_EQUAL(world.taken, 1);    /* the signal after that was heard */
}

/* The same, and somebody cannot wait. */
static void an_impatient_person(void)
{
    world.next_is_lost = world.made < 3;
    hear(0, SIGHUP);
    if (world.renewals == 1)
        hear(1, SIGHUP);
    if (world.renewals == 2)
        hear(2, SIGHUP);
    if (world.taken)
        hear(3, SIGTERM);
}

static void a_later_signal_takes_the_place_of_an_engine_that_proves_itself(void)
{
    run(an_impatient_person);
    CU_ASSERT_EQUAL(world.renewals, 3);
    CU_ASSERT_EQUAL(world.most, 2);     /* one at a time beside the first */
    CU_ASSERT_EQUAL(world.refused, 0);
    CU_ASSERT_EQUAL(world.taken, 1);
}

/* The store is away for all, from the beginning: the settings of before are no better. */
static void an_outage(void)
{
    enum { OUTAGE_S = 300 };
    bool is_lost = world.now_us < OUTAGE_S * INT64_C(1000000);
    world.next_is_lost = is_lost;
    for (int i = 0; i < world.made; i++)
        world.stores[i].is_lost = is_lost;
    hear(0, SIGHUP);
    if (world.taken)
        hear(1, SIGTERM);
}

static void where_no_engine_has_worked_the_next_one_waits_as_long_as_the_first(void)
{
    world.next_is_lost = true;
    run(an_outage);
    CU_ASSERT_EQUAL(world.refused, 0);
    CU_ASSERT_EQUAL(world.taken, 1);
}

static void an_end_before_its_store_came(void)
{
    world.next_is_lost = world.made > 0;
    hear(0, SIGHUP);
    if (world.renewals == 1)
        hear(1, SIGTERM);
}

static void a_stop_ends_an_engine_that_proves_itself_without_a_word(void)
{
    run(an_end_before_its_store_came);
    CU_ASSERT_EQUAL(world.refused, 0);
    CU_ASSERT_EQUAL(world.taken, 0);
}

/* ---- what is to be made of a signal ---- */

static struct process with(int n, enum process_stage last)
{
    struct process p = { .n = n, .wants_renewal = true };
    for (int i = 0; i < n; i++)
        p.all[i].stage = i < n - 1 ? STAGE_LEAVING : last;
    return p;
}

static void settings_are_read_at_once_where_one_engine_serves(void)
{
    struct process p = with(1, STAGE_SERVING);
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NOW);
    p.wants_renewal = false;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NONE);
}

static void the_engine_that_proves_itself_makes_room_for_the_next(void)
{
    struct process p = with(PROCESS_ENGINES, STAGE_PROVING);
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_INSTEAD);
    p.all[PROCESS_ENGINES - 1].stage = STAGE_CLOSING;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_LACKS_ROOM);
    p.n--;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NOW);
}

static void a_signal_before_the_end_is_never_answered(void)
{
    struct process p = with(2, STAGE_PROVING);
    p.is_ending = true;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NONE);
}

static void of_so_many_engines_one_is_over_first(void)
{
    struct process p = with(PROCESS_ENGINES, STAGE_SERVING);
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_LACKS_ROOM);
    p.n--;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NOW);
}

static const struct test tests[] = {
    TEST(an_engine_that_never_gets_its_store_is_given_up),
    TEST(a_later_signal_takes_the_place_of_an_engine_that_proves_itself),
    TEST(where_no_engine_has_worked_the_next_one_waits_as_long_as_the_first),
    TEST(a_stop_ends_an_engine_that_proves_itself_without_a_word),
    TEST(settings_are_read_at_once_where_one_engine_serves),
    TEST(the_engine_that_proves_itself_makes_room_for_the_next),
    TEST(a_signal_before_the_end_is_never_answered),
    TEST(of_so_many_engines_one_is_over_first),
    { NULL, NULL },
};

const struct suite suite_process = { "process", settings_fixture_setup, settings_fixture_teardown, tests };
