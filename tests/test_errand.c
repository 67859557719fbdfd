/* test_errand.c - the questions of plans: which comes first, how each is put, what comes back. */
#include <stdlib.h>
#include <string.h>

#include "../engine/run/errand.h"
#include "settings_fixture.h"

enum { S = 1000 * 1000 };

static struct settings settings = { .history_days_ahead = 7 };
static struct clocks clocks;

static void fatal(void *ctx, int rc, const char *text)
{
    struct err *err = ctx;
    err_set(err, rc, "%s", text);
}

static struct err ended;                /* the failure that ended the engine */
static struct errand_env env = { .settings = &settings, .clocks = &clocks, .fatal = fatal, .ctx = &ended };

static void write_metrics(void *ctx, const struct store_rows *rows)
{
    (void)ctx, (void)rows;
}

static int setup(void)
{
    static const unsigned char owner[STORE_OWNER_SIZE];
    static struct long_runs long_runs = { .clocks = &clocks };
    static struct measuring measuring;
    env.long_runs = &long_runs;
    env.measuring = &measuring;
    env.run_hours = run_hours_new(owner);
    bool is_made = measuring_init(&measuring, &(struct metrics_writer){ .write = write_metrics }) == 0;
    return env.run_hours && is_made ? settings_fixture_setup() : -1;
}

static int teardown(void)
{
    run_hours_free(env.run_hours);
    measuring_release(env.measuring);
    return settings_fixture_teardown();
}

static const struct totals totals;

static bool gives(struct errands *all, enum errand_kind kind)
{
    return errands_give(all, &(struct errand){ .kind = kind }, S);
}

static void one_is_asked_at_a_time(void)
{
    struct errands all = { 0 };
    CU_ASSERT_FALSE(errands_wait(&all, false));
    CU_ASSERT_TRUE(gives(&all, ERRAND_RELOOK));
    CU_ASSERT_TRUE(errands_wait(&all, false));
    CU_ASSERT_FALSE(gives(&all, ERRAND_PULSE));
    CU_ASSERT_FALSE(gives(&all, ERRAND_RELOOK));
}

static void days_take_the_place_of_what_waits_and_all_take_that_of_what_can_wait(void)
{
    struct errands all = { 0 };
    gives(&all, ERRAND_PRUNE);
    CU_ASSERT_TRUE(gives(&all, ERRAND_PULSE));
    CU_ASSERT_TRUE(gives(&all, ERRAND_KEEP_DAYS));
    CU_ASSERT_EQUAL(all.current.kind, ERRAND_KEEP_DAYS);
    CU_ASSERT_FALSE(gives(&all, ERRAND_PULSE));
    all.current.is_under_way = true;
    CU_ASSERT_FALSE(gives(&all, ERRAND_KEEP_DAYS));
}

/* A slot that cannot be opened may need just the errand that waits behind it. */
static void what_waits_for_two_seconds_is_urgent_but_not_what_can_wait(void)
{
    struct errands all = { 0 };
    gives(&all, ERRAND_RELOOK);
    CU_ASSERT_FALSE(errands_are_urgent(&all, 3 * S));
    CU_ASSERT_TRUE(errands_are_urgent(&all, 3 * S + 1));
    all.current.kind = ERRAND_INDEX_DAYS;
    CU_ASSERT_FALSE(errands_are_urgent(&all, 1000 * S));
    all.current.kind = ERRAND_KEEP_DAYS;
    CU_ASSERT_TRUE(errands_are_urgent(&all, S));
    all = (struct errands){ .current = { .kind = ERRAND_HELLO, .given_us = S, .is_urgent = true } };
    CU_ASSERT_TRUE(errands_are_urgent(&all, S));
}

static void at_a_stop_only_what_runs_were_like_is_sent(void)
{
    struct errands all = { 0 };
    CU_ASSERT_TRUE(gives(&all, ERRAND_INDEX_DAYS));
    CU_ASSERT_TRUE(errands_wait(&all, false));
    CU_ASSERT_FALSE(errands_wait(&all, true));
    errands_drop(&all);
    CU_ASSERT_FALSE(errands_wait(&all, false));
    CU_ASSERT_TRUE(gives(&all, ERRAND_NOTE_RUNS));
    CU_ASSERT_TRUE(errands_wait(&all, true));
    all.current.is_under_way = true;
    CU_ASSERT_FALSE(errands_wait(&all, true));
    errands_drop(&all);
    CU_ASSERT_EQUAL(all.current.kind, ERRAND_NOTE_RUNS);
}

static void each_kind_is_put_as_its_request(void)
{
    static const struct {
        enum errand_kind kind;
        enum store_op op;
    } all[] = {
        { ERRAND_HELLO, STORE_HELLO },           { ERRAND_KEEP_DAYS, STORE_KEEP_DAYS },
        { ERRAND_INDEX_DAYS, STORE_KEEP_DAYS },  { ERRAND_PULSE, STORE_PULSE },
        { ERRAND_RELOOK, STORE_RELOOK },         { ERRAND_RELOOK_SETTLED, STORE_RELOOK },
        { ERRAND_LATE_SLOT, STORE_LATE_SLOT },   { ERRAND_LATE_BESIDE, STORE_LATE_SLOT },
        { ERRAND_MARK_SWEPT, STORE_MARK_SWEPT }, { ERRAND_PRUNE, STORE_PRUNE },
        { ERRAND_FINE_SLOTS, STORE_FINE_SLOTS }, { ERRAND_REPORT, STORE_REPORT },
        { ERRAND_PAUSES, STORE_PAUSES },         { ERRAND_END_PAUSES, STORE_END_PAUSES },
        { ERRAND_KEEP_DIGESTS, STORE_KEEP_DIGESTS }, { ERRAND_NOTE_LISTENERS, STORE_NOTE_LISTENERS },
        { ERRAND_NOTE_LOADS, STORE_NOTE_LOADS }, { ERRAND_REFILE, STORE_REFILE },
        { ERRAND_RECALL, STORE_RECALL },           { ERRAND_NOTE_RUNS, STORE_NOTE_RUNS },
        { ERRAND_NOTE_RUNNING, STORE_NOTE_RUNNING },
    };
    static const struct store_report report = STORE_REPORT_INIT;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct errands errands = { .current = { all[i].kind, .from = 3, .before = 5, .full = true,
                                                  .report = &report, .totals = &totals } };
        union errand_request request;
        errand_fill(&errands, &env, 7 * S, &request);
        CU_ASSERT_EQUAL(request.call.op, all[i].op);
        CU_ASSERT_TRUE(errands.current.is_under_way);
        CU_ASSERT_EQUAL(errands.current.sent_us, 7 * S);
        if (request.call.op == STORE_NOTE_RUNS)
            CU_ASSERT_EQUAL(request.runs.made_us, clocks_database_us(&clocks, 7 * S));
        if (request.call.op == STORE_KEEP_DAYS)
            CU_ASSERT_EQUAL(request.days.days, all[i].kind == ERRAND_KEEP_DAYS ? 7 : 0);
        if (request.call.op == STORE_RELOOK)
            CU_ASSERT_EQUAL(request.relook.settled_only, all[i].kind == ERRAND_RELOOK_SETTLED);
        if (request.call.op == STORE_LATE_SLOT)
            CU_ASSERT(request.late.from == 3 && request.late.before == 5 && request.late.full &&
                      request.late.beside_opened == (all[i].kind == ERRAND_LATE_BESIDE));
        if (request.call.op == STORE_REFILE)
            CU_ASSERT(request.refile.from == 3 && request.refile.before == 5 && request.refile.most > 0);
        errand_release(&request);
    }
}

/* A job that cannot be loaded here would move all its checks to and fro. */
static void before_a_worker_has_loaded_the_jobs_one_check_is_recalled(void)
{
    const char *names[] = { "mail", "look" };
    struct jobs jobs = { .sound = names, .nsound = 2 };
    union errand_request request;
    for (unsigned changes = 0; changes < 2; changes++) {
        struct errands errands = { .current = { ERRAND_RECALL, .jobs = &jobs, .after = { 7, 8 } } };
        jobs.changes = changes;
        errand_fill(&errands, &env, 7 * S, &request);
        CU_ASSERT(request.recall.njobs == 2 && request.recall.jobs == names);
        CU_ASSERT(request.recall.after.put_off_at == 7 && request.recall.after.id == 8);
        CU_ASSERT_EQUAL(request.recall.only_one, !changes);
    }
    struct errands of_all = { .current = { ERRAND_RECALL } };
    errand_fill(&of_all, &env, 7 * S, &request);
    CU_ASSERT(!request.recall.jobs && !request.recall.only_one);
}

static void an_answer_makes_room_and_is_handed_on(void)
{
    struct errands all = { .late[ERRAND_HELLO] = 1 };
    union errand_request request;
    struct errand_result result;
    clocks = (struct clocks){ 0 };
    gives(&all, ERRAND_HELLO);
    errand_fill(&all, &env, 2 * S, &request);
    request.hello.now_us = 500 * S;
    request.hello.slot_length_s = 60;
    CU_ASSERT_FALSE(errand_ended(&all, &env, 5 * S, 0, &request, &result));
    CU_ASSERT_EQUAL(clocks_now(&clocks, 5 * S), 500);
    CU_ASSERT_EQUAL(result.errand.kind, ERRAND_HELLO);
    CU_ASSERT_EQUAL(result.took_us, 3 * S);
    CU_ASSERT_EQUAL(result.late, 1);
    CU_ASSERT_TRUE(gives(&all, ERRAND_PULSE));
}

/* A lane that pauses for it would keep slots waiting for a drop of old rows. */
static void a_failure_holds_up_the_lane_but_for_what_can_wait(void)
{
    for (enum errand_kind kind = ERRAND_HELLO; kind <= ERRAND_PRUNE; kind++) {
        static const struct store_report report = STORE_REPORT_INIT;
        struct errands all = { .current = { .kind = kind, .report = &report, .totals = &totals } };
        union errand_request request;
        struct errand_result result;
        struct log quiet;
        FILE *nowhere = fopen("/dev/null", "we");
        log_init(&quiet, nowhere, LOG_LEVEL_ERROR, "test");
        struct errand_env logs = env;
        logs.log = &quiet;
        errand_fill(&all, &logs, 0, &request);
        err_set(&request.call.err, ERR_LOST, "gone");
        CU_ASSERT_EQUAL(errand_ended(&all, &logs, 0, ERR_LOST, &request, &result), !errand_can_wait(kind));
        CU_ASSERT_EQUAL(result.rc, ERR_LOST);
        errand_release(&request);
        fclose(nowhere);
    }
}

static void learns_slot_length(const struct errand_env *of, int32_t length_s)
{
    struct errands all = { 0 };
    union errand_request request;
    struct errand_result result;
    gives(&all, ERRAND_HELLO);
    errand_fill(&all, of, 2 * S, &request);
    request.hello.now_us = 500 * S;
    request.hello.slot_length_s = length_s;
    errand_ended(&all, of, 5 * S, 0, &request, &result);
}

static void attempts_that_do_not_fit_into_a_slot_end_the_engine_at_once_and_when_it_changes(void)
{
    struct settings tries =
        parsed("batch = 1; jobs = { pay = { plugin = \"noop\"; attempts = 3; timeout = \"5s\"; }; };");
    struct errand_env of = env;
    of.settings = &tries;
    clocks = (struct clocks){ 0 };
    ended = (struct err){ 0 };
    learns_slot_length(&of, 60);
    CU_ASSERT_EQUAL(ended.code, ERR_SETTINGS);
    CU_ASSERT_PTR_NOT_NULL(strstr(ended.text, "job pay: its 3 attempts take up to 1m40s"));
    CU_ASSERT_FALSE(clocks.is_known);
    ended = (struct err){ 0 };
    learns_slot_length(&of, 900);
    CU_ASSERT_EQUAL(ended.code, 0);
    CU_ASSERT_TRUE(clocks.is_known);
    learns_slot_length(&of, 60);
    CU_ASSERT_EQUAL(ended.code, ERR_SETTINGS);
    CU_ASSERT_EQUAL(clocks.slot_length_s, 900);
    settings_release(&tries);
}

static const struct test tests[] = {
    TEST(one_is_asked_at_a_time),
    TEST(days_take_the_place_of_what_waits_and_all_take_that_of_what_can_wait),
    TEST(what_waits_for_two_seconds_is_urgent_but_not_what_can_wait),
    TEST(at_a_stop_only_what_runs_were_like_is_sent),
    TEST(each_kind_is_put_as_its_request),
    TEST(before_a_worker_has_loaded_the_jobs_one_check_is_recalled),
    TEST(an_answer_makes_room_and_is_handed_on),
    TEST(a_failure_holds_up_the_lane_but_for_what_can_wait),
    TEST(attempts_that_do_not_fit_into_a_slot_end_the_engine_at_once_and_when_it_changes),
    { NULL, NULL },
};
const struct suite suite_errand = { "errand", setup, teardown, tests };
