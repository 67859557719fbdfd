/* test_pool.c - what a pool believes of its workers: processes of the test's own that break every
 * rule, beside a clock that can be moved on. A fork of the test stands where a worker would be: it
 * has the socket and the slab, and no rules. */
/* about 5 s */
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engine/pool/pool.h"
#include "../engine/pool/spawn.h"
#include "../engine/wire/message.h"
#include "../include/prescient/job.h"
#include "../engine/base/settings_load.h"

enum { CHECKS = 40, TURNS_MAX = 4000, ASIDE_US = 2000 };

#define SETTINGS(workers_max)                                                                                \
    "workers = 1; workers_max = " workers_max                                                                \
    "; kill_grace = \"20ms\"; slab = 20; plugin_dirs = [\"/nonexistent\"];\n"                                \
    "jobs = { one = { plugin = \"x\"; timeout = \"2s\"; batch_timeout = \"3s\"; }; two = { plugin = \"y\"; " \
    "}; };\n"

static struct settings settings;
static struct agenda agenda;
static struct pool *pool;
static struct page *page;
static char *logged;
static size_t logged_size;
static FILE *log_file;
static struct log test_log;
static int64_t ahead_us;                /* of our clock before the machine's */
static int started, ended[ANSWER_BAD + 1];
static bool usable[2], is_ready;
static struct raw_answer last;

/* ---- a clock that can be moved on ---- */

static int64_t mono(void *ctx) { (void)ctx; return clock_mono_us(&clock_system) + ahead_us; }
static int64_t boot(void *ctx) { (void)ctx; return clock_boot_us(&clock_system) + ahead_us; }
static int64_t wall(void *ctx) { (void)ctx; return clock_wall_us(&clock_system) + ahead_us; }
static const struct clock test_clock = { mono, boot, wall, NULL };

/* ---- a worker without rules ---- */

struct fake { int sock; struct slab *slab; uint32_t generation; };

static void (*misdeed)(struct fake *f);         /* what the next worker does once it has its settings */

static void say(struct fake *f, enum message_kind kind, const void *body, size_t len)
{
    message_send(f->sock, kind, body, len, -1, NULL);
}
static void say_ready(struct fake *f) { say(f, MESSAGE_READY, "\1\1", 2); }

static enum message_kind hear(struct fake *f, char body[MESSAGE_MAX + 1])
{
    enum message_kind kind = 0;
    int fd = -1;
    if (message_receive(f->sock, &kind, body, &fd, NULL) < 0)
        _exit(1);
    if (fd >= 0 && slab_attach(fd, &f->slab, NULL))
        _exit(2);
    return kind;
}

static void wait_for(struct fake *f, enum message_kind kind)
{
    char body[MESSAGE_MAX + 1];
    while (hear(f, body) != kind)
        ;
    if (kind == MESSAGE_RUN)
        memcpy(&f->generation, body, sizeof f->generation);
}

static _Noreturn void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static int start_fake(void *ctx, const char *program, bool pg_environment, struct child *out, struct err *err)
{
    (void)ctx, (void)program, (void)pg_environment, (void)err;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return ERR_BUSY;
    fflush(NULL);
    pid_t parent = getpid();
    out->pid = fork();
    if (out->pid == 0) {
        setpgid(0, 0);
        close(pair[0]);
        struct fake f = { .sock = pair[1] };
        wait_for(&f, MESSAGE_BEGIN);
        if (getppid() == parent)
            misdeed(&f);
        _exit(0);
    }
    setpgid(out->pid, out->pid);
    close(pair[1]);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    out->sock = pair[0];
    out->output = -1;
    started++;
    return 0;
}

/* ---- the pool's owner ---- */

static void answered(void *ctx, struct page *p, int index, enum answer_kind kind,
                     const struct raw_answer *raw, int64_t taken_us)
{
    (void)ctx;
    ended[kind]++;
    last = *raw;
    page_answer(p, index, taken_us);
    page_over(p, index);
}

static void ready(void *ctx, const bool *jobs)
{
    (void)ctx;
    is_ready = true;
    memcpy(usable, jobs, sizeof usable);
}

static int job_of(void *ctx, const char *name)
{
    (void)ctx;
    return name[0] == 'o' ? 0 : 1;
}

static void make_page(void)
{
    struct check *checks = calloc(CHECKS, sizeof *checks);
    for (int i = 0; i < CHECKS; i++)
        checks[i] = (struct check){ .id = i + 1,
                                    .entity_name = "orders",
                                    .entity_name_len = 6,
                                    .entity_key = "1",
                                    .entity_key_len = 1,
                                    .job_exec = "one",
                                    .job_exec_len = 3 };
    struct check_rows rows = { .checks = checks, .n = CHECKS };
    page = page_new(&rows, job_of, NULL, 1000);
    page->start_until_us = clock_boot_us(&test_clock) + 3600 * 1000000LL;
}

static void begin_with(const char *settings_text, void (*deed)(struct fake *f))
{
    static struct spawner spawner;
    spawner = spawner_system;
    spawner.start = start_fake;
    misdeed = deed;
    ahead_us = started = 0;
    is_ready = false;
    memset(ended, 0, sizeof ended);
    CU_ASSERT_EQUAL_FATAL(settings_parse(&settings, settings_text, "test", NULL), 0);
    log_file = open_memstream(&logged, &logged_size);
    log_init(&test_log, log_file, LOG_LEVEL_INFO, "test");
    struct pool_options o = {
        .settings = &settings,
        .program = "none",
        .clock = &test_clock,
        .spawner = &spawner,
        .seed = 7,
        .log = &test_log,
        .agenda = &agenda,
        .events = { .answered = answered, .ready = ready },
    };
    CU_ASSERT_EQUAL_FATAL(pool_new(&o, &pool, NULL), 0);
    make_page();
    CU_ASSERT_FATAL(pool_offer(pool, page));
    pool_start(pool);
}

static void begin(void (*deed)(struct fake *f)) { begin_with(SETTINGS("1"), deed); }

static void end(void)
{
    pool_free(pool);
    page_free(page);
    fclose(log_file);
    free(logged);
    settings_release(&settings);
}

/* Turns of an engine's loop; `step_us` is what our clock gains in each beside the real time. */
static void turn(int64_t step_us)
{
    struct pollfd fds[8];
    poll(fds, (nfds_t)pool_poll_fds(pool, fds, 8), 1);
    ahead_us += step_us;
    pool_tick(pool);
    fflush(log_file);
}

#define TURN_UNTIL(condition, step_us)                                                                       \
    do {                                                                                                     \
        int n_ = 0;                                                                                          \
        while (!(condition) && n_++ < TURNS_MAX)                                                             \
            turn(step_us);                                                                                   \
        CU_ASSERT_TRUE(condition);                                                                           \
    } while (0)

static bool says(const char *words)
{
    fflush(log_file);
    if (strstr(logged, words))
        return true;
    fprintf(stderr, "found '%s', expected '%s'\n", logged, words);
    return false;
}

static int all_ended(void)
{
    int n = 0;
    for (int i = 0; i <= ANSWER_BAD; i++)
        n += ended[i];
    return n;
}

/* ---- tests ---- */

static void answer_all(struct fake *f)
{
    int from, n;
    for (;;) {
        wait_for(f, MESSAGE_RUN);
        while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED)
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
        say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    }
}

static void ready_and_answer_all(struct fake *f)
{
    say_ready(f);
    answer_all(f);
}

static void a_worker_that_keeps_to_the_rules_answers_a_page(void)
{
    begin(ready_and_answer_all);
    TURN_UNTIL(page_is_over(page), 0);
    CU_ASSERT_EQUAL(ended[ANSWER_DONE], CHECKS);
    CU_ASSERT_EQUAL(started, 1);
    end();
}

/* It says of itself what the pool says of those that it has retired, and dies: that must count, or
 * workers are started without end. */
static void fail_as_if_replaced(struct fake *f)
{
    say(f, MESSAGE_FAILED, "replaced", 8);
    _exit(0);
}

static void a_worker_that_dies_at_its_start_is_backed_off_from_whatever_it_says(void)
{
    begin(fail_as_if_replaced);
    TURN_UNTIL(pool_broken(pool) != NULL, 10000);
    CU_ASSERT_EQUAL(started, 3);
    CU_ASSERT_STRING_EQUAL(pool_broken(pool), "replaced");
    end();
}

static void die_of_the_first_job(struct fake *f)
{
    static const uint32_t job = 0;
    say(f, MESSAGE_OPENING, &job, sizeof job);
    _exit(3);
}

static void a_job_that_workers_die_of_is_left_out_and_named(void)
{
    begin(die_of_the_first_job);
    TURN_UNTIL(started == 2, 10000);
    misdeed = ready_and_answer_all;
    TURN_UNTIL(is_ready, 10000);
    CU_ASSERT_TRUE(
        says("job one: a worker died while it loaded or opened it (exit status 3): it is left out"));
    end();
}

static void die_of_a_job_that_is_none(struct fake *f)
{
    static const uint32_t jobs[] = { 2, 0x80000000u, UINT32_MAX };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        say(f, MESSAGE_OPENING, &jobs[i], sizeof jobs[i]);
    say(f, MESSAGE_OPENING, "x", 1);
    say(f, MESSAGE_OPENING, NULL, 0);
    _exit(3);
}

static void a_job_that_does_not_exist_is_not_left_out(void)
{
    begin(die_of_a_job_that_is_none);
    TURN_UNTIL(pool_broken(pool) != NULL, 10000);
    CU_ASSERT_PTR_NULL(strstr(logged, "left out"));
    end();
}

/* Claims one check after the other and answers none: each claim would wind its stopwatch back. */
static void claim_on_and_on(struct fake *f)
{
    int from, n;
    say_ready(f);
    wait_for(f, MESSAGE_RUN);
    while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED)
        usleep(ASIDE_US);
    sleep_for_ever();
}

static void a_worker_that_claims_without_answering_is_ended(void)
{
    begin(claim_on_and_on);
    TURN_UNTIL(started == 1 && is_ready, 0);
    misdeed = ready_and_answer_all;
    int64_t before = clock_mono_us(&test_clock);
    TURN_UNTIL(page_is_over(page), 0);
    CU_ASSERT_TRUE(clock_mono_us(&test_clock) - before < 1500000);              /* and not at its timeout */
    CU_ASSERT_TRUE(ended[ANSWER_DONE] >= CHECKS - 1 && all_ended() == CHECKS);
    end();
}

/* Has its checks, starts none, and its lease is renewed all the time. */
static void do_nothing(struct fake *f)
{
    say_ready(f);
    sleep_for_ever();
}

static void a_worker_that_starts_nothing_is_replaced_although_its_lease_is_renewed(void)
{
    begin(do_nothing);
    TURN_UNTIL(started == 1 && is_ready, 0);
    misdeed = ready_and_answer_all;
    int64_t before = clock_mono_us(&test_clock);
    for (int i = 0; i < TURNS_MAX && !page_is_over(page); i++) {
        page->start_until_us = clock_boot_us(&test_clock) + 20 * 1000000LL;
        pool_set_trust(pool, page);
        turn(20000);
    }
    CU_ASSERT_TRUE(page_is_over(page));
    CU_ASSERT_EQUAL(ended[ANSWER_DONE], CHECKS);
    CU_ASSERT_TRUE(clock_mono_us(&test_clock) - before < 15 * 1000000LL);
    end();
}

/* Answers with more than one answer may have, again and again, each in a slab of its own. */
static void answer_with_effects(struct fake *f)
{
    static char json[CHECK_PAYLOAD_MAX];
    int from, n;
    memset(json, ' ', sizeof json - 1);
    json[0] = '1';
    say_ready(f);
    for (;;) {
        wait_for(f, MESSAGE_RUN);
        while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED) {
            for (int i = 0; i < 3; i++)
                slab_add_effect(f->slab, from,
                                &(struct effect){ .kind = EFFECT_EMIT, .event = "e", .json = json });
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
        }
        say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    }
}

static void what_the_answers_of_a_page_take_is_bounded_and_the_rest_is_put_off(void)
{
    begin(answer_with_effects);
    int rounds = 0;
    /* the same page's memory, filled by more checks than it has */
    for (; rounds < 8; rounds++) {
        TURN_UNTIL(page_is_over(page), 0);
        struct page *filled = page;
        pool_forget(pool, filled);
        make_page();
        struct arena *fresh = page->arena;
        page->arena = filled->arena;
        filled->arena = fresh;
        page_free(filled);
        CU_ASSERT_FATAL(pool_offer(pool, page));
    }
    CU_ASSERT_TRUE(ended[ANSWER_DONE] > 100);
    CU_ASSERT_TRUE(ended[ANSWER_DEFER] > 50);
    CU_ASSERT_TRUE(arena_used(page->arena) < (34u << 20));
    end();
}

static void lie_about_times(struct fake *f)
{
    int from, n;
    say_ready(f);
    for (;;) {
        wait_for(f, MESSAGE_RUN);
        while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED)
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, from % 2 ? 0 : INT64_C(253402300799000000),
                        INT64_C(253402300799000000), NULL);
        say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    }
}

static void times_are_what_the_engine_has_seen(void)
{
    begin(lie_about_times);
    TURN_UNTIL(page_is_over(page), 0);
    CU_ASSERT_EQUAL(ended[ANSWER_DONE], CHECKS);
    CU_ASSERT_TRUE(last.run_us >= 0 && last.run_us < 60 * 1000000LL);
    CU_ASSERT_TRUE(last.began_us > clock_boot_us(&test_clock) - 60 * 1000000LL &&
                   last.began_us <= clock_boot_us(&test_clock));
    end();
}

/* Messages of every kind, at any time, with bodies that fit nothing. */
static void say_anything(struct fake *f)
{
    static const enum message_kind kinds[] = { MESSAGE_READY, MESSAGE_ENDED, MESSAGE_OPENING, MESSAGE_FAILED,
                                               MESSAGE_READY, MESSAGE_LOG,   MESSAGE_ENDED };
    char body[300];
    say_ready(f);
    wait_for(f, MESSAGE_RUN);
    for (unsigned seed = 1, i = 0; i < 300; i++) {
        for (size_t k = 0; k < sizeof body; k++)
            body[k] = (char)((seed = seed * 1103515245 + 12345) >> 16);
        say(f, kinds[i % (sizeof kinds / sizeof *kinds)], body, (seed >> 8) % sizeof body);
    }
    _exit(0);
}

static void messages_that_fit_nothing_end_the_worker_and_nothing_else(void)
{
    begin(say_anything);
    TURN_UNTIL(started == 1 && is_ready, 0);
    misdeed = ready_and_answer_all;
    TURN_UNTIL(page_is_over(page), 1000);
    CU_ASSERT_EQUAL(ended[ANSWER_DONE], CHECKS);
    end();
}

/* A line for each check, and checks without end. */
static void chatter(struct fake *f)
{
    char body[2000];
    memset(body, 'x', sizeof body);
    body[0] = LOG_LEVEL_INFO;
    int from, n;
    say_ready(f);
    for (;;) {
        wait_for(f, MESSAGE_RUN);
        while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED) {
            say(f, MESSAGE_LOG, body, sizeof body);
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
        }
        say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    }
}

static void what_jobs_print_is_bounded_in_time_and_says_what_was_dropped(void)
{
    begin(chatter);
    for (int i = 0; i < 30; i++) {              /* 1,200 checks, 2.4 MB of words in no time */
        TURN_UNTIL(page_is_over(page), 0);
        pool_forget(pool, page);
        page_free(page);
        make_page();
        CU_ASSERT_FATAL(pool_offer(pool, page));
    }
    CU_ASSERT_TRUE(says("jobs print too much for the log"));
    CU_ASSERT_TRUE(logged_size > 900 << 10 && logged_size < 1300 << 10);
    size_t before = logged_size;
    ahead_us += 60 * 1000000LL;                 /* by then there is room again */
    TURN_UNTIL(page_is_over(page), 0);
    fflush(log_file);
    CU_ASSERT_PTR_NOT_NULL(strstr(logged + before, "bytes that jobs printed were dropped"));
    CU_ASSERT_TRUE(logged_size > before + 10000);
    end();
}

/* Its own end, when there is no more work: it is told, and has some time for it. */
static void close_slowly(struct fake *f)
{
    say_ready(f);
    wait_for(f, MESSAGE_EXIT);
    say(f, MESSAGE_LOG, "\1closed", 7);
    _exit(0);
}

static void never_close(struct fake *f)
{
    signal(SIGTERM, SIG_IGN);
    say_ready(f);
    sleep_for_ever();
}

static void idle_workers_are_told_to_end_and_those_that_do_not_are_ended(void)
{
    static const struct {
        void (*deed)(struct fake *f);
        bool closes;
    } cases[] = { { close_slowly, true }, { never_close, false } };
    for (int i = 0; i < 2; i++) {
        begin(cases[i].deed);
        pool_forget(pool, page);
        TURN_UNTIL(is_ready, 0);
        pool_retire(pool);
        int64_t before = clock_mono_us(&test_clock);
        TURN_UNTIL(pool_is_retired(pool), 10000);
        int64_t took = clock_mono_us(&test_clock) - before;
        /* how long beyond that is the machine's business, under memcheck */
        CU_ASSERT_TRUE(cases[i].closes || took >= 2000000);
        CU_ASSERT_EQUAL(strstr(logged, "closed") != NULL, cases[i].closes);
        CU_ASSERT_EQUAL(started, 1);
        end();
    }
}

static void opens_one_job_only(struct fake *f)
{
    /* the first of them; `started` is what the parent had counted by then */
    say(f, MESSAGE_READY, started == 0 ? "\0\1" : "\1\1", 2);
    answer_all(f);
}

/* Its open() failed, say, as a database was away for a moment: told once when the first worker was
 * ready, the job was never run here again. */
static void a_job_that_could_not_be_opened_is_taken_up_again(void)
{
    begin(opens_one_job_only);
    TURN_UNTIL(is_ready, 0);
    CU_ASSERT_FALSE(usable[0]);
    CU_ASSERT_TRUE(usable[1]);
    for (int i = 0; i < 20; i++)
        turn(0);
    CU_ASSERT_EQUAL(all_ended(), 0);            /* all wait for the job that it lacks */
    TURN_UNTIL(usable[0], 10000);
    CU_ASSERT_EQUAL(started, 2);
    CU_ASSERT_TRUE(usable[1]);
    TURN_UNTIL(all_ended() == CHECKS, 0);
    CU_ASSERT_EQUAL(ended[ANSWER_DONE], CHECKS);
    end();
}

static void opens_no_job_of_the_page(struct fake *f)
{
    say(f, MESSAGE_READY, "\0\1", 2);
    answer_all(f);
}

/* However long it lasts: a worker is replaced after pauses that grow up to a minute. */
static void a_job_that_can_never_be_opened_costs_few_workers(void)
{
    begin(opens_no_job_of_the_page);
    TURN_UNTIL(is_ready, 0);
    int64_t began_us = ahead_us;
    while (ahead_us - began_us < 120 * INT64_C(1000000))
        turn(100 * 1000);
    if (started < 4 || started > 10)
        printf("\n      %d workers were started", started);
    CU_ASSERT(started >= 4 && started <= 10);
    CU_ASSERT_FALSE(usable[0]);
    CU_ASSERT_EQUAL(all_ended(), 0);
    end();
}

static void opens_all_but_the_second_time(struct fake *f)
{
    say(f, MESSAGE_READY, started == 1 ? "\0\1" : "\1\1", 2);
    int from, n;
    wait_for(f, MESSAGE_RUN);
    if (started == 0) {                         /* a few answers, then its end */
        for (int i = 0;
             i < 3 && slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED; i++)
            slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
        _exit(3);
    }
    while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED)
        slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
    say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
    answer_all(f);
}

/* The reverse: a worker takes the place of one that could, and cannot. It is given nothing of that
 * job. */
static void a_job_that_a_later_worker_cannot_open_is_told_and_given_to_nobody_until_one_can(void)
{
    begin(opens_all_but_the_second_time);
    TURN_UNTIL(usable[0], 0);
    TURN_UNTIL(started == 2 && !usable[0], 0);
    CU_ASSERT_EQUAL(all_ended(), 3);
    TURN_UNTIL(usable[0], 10000);
    TURN_UNTIL(all_ended() == CHECKS, 0);
    CU_ASSERT_EQUAL(ended[ANSWER_DONE], CHECKS);
    end();
}

static void hangs_as_first_and_opens_no_job_of_the_page_later(struct fake *f)
{
    static const uint32_t first_job = 0;
    int from, n;
    if (started == 0) {
        say_ready(f);
        wait_for(f, MESSAGE_RUN);
        slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n);
        pause();
    }
    if (started < 3) {                          /* the two that are started beside it die of the job */
        say(f, MESSAGE_OPENING, &first_job, sizeof first_job);
        _exit(3);
    }
    opens_no_job_of_the_page(f);
}

/* The last that could run a job hung, one more was started beside it, and took its place when it
 * was ended: no other came, and nobody noticed that the job could not be run any more. Its checks
 * were waited for, and their leases renewed, for ever. */
static void a_job_that_only_a_hanging_worker_could_run_is_told_when_that_one_is_ended(void)
{
    begin_with(SETTINGS("2"), hangs_as_first_and_opens_no_job_of_the_page_later);
    TURN_UNTIL(usable[0], 0);
    TURN_UNTIL(started == 4, 1000);
    TURN_UNTIL(ended[ANSWER_TIMEOUT] == 1, 1000);
    TURN_UNTIL(!usable[0], 1000);
    CU_ASSERT_TRUE(usable[1]);
    CU_ASSERT_EQUAL(started, 4);
    end();
}

static const struct test tests[] = {
    TEST(a_job_that_only_a_hanging_worker_could_run_is_told_when_that_one_is_ended),
    TEST(a_job_that_could_not_be_opened_is_taken_up_again),
    TEST(a_job_that_can_never_be_opened_costs_few_workers),
    TEST(a_job_that_a_later_worker_cannot_open_is_told_and_given_to_nobody_until_one_can),
    TEST(a_worker_that_keeps_to_the_rules_answers_a_page),
    TEST(a_worker_that_dies_at_its_start_is_backed_off_from_whatever_it_says),
    TEST(a_job_that_workers_die_of_is_left_out_and_named),
    TEST(a_job_that_does_not_exist_is_not_left_out),
    TEST(a_worker_that_claims_without_answering_is_ended),
    TEST(a_worker_that_starts_nothing_is_replaced_although_its_lease_is_renewed),
    TEST(what_the_answers_of_a_page_take_is_bounded_and_the_rest_is_put_off),
    TEST(times_are_what_the_engine_has_seen),
    TEST(messages_that_fit_nothing_end_the_worker_and_nothing_else),
    TEST(what_jobs_print_is_bounded_in_time_and_says_what_was_dropped),
    TEST(idle_workers_are_told_to_end_and_those_that_do_not_are_ended),
    { 0 },
};

const struct suite suite_pool = { "pool", NULL, NULL, tests };
