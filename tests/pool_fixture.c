/* pool_fixture.c - see pool_fixture.h. */
#include "pool_fixture.h"

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

#include "../engine/pool/spawn.h"

struct pool_fixture poolfx;

/* ---- a clock that can be moved on ---- */

static int64_t mono(void *ctx) { (void)ctx; return clock_mono_us(&clock_system) + poolfx.ahead_us; }
static int64_t boot(void *ctx) { (void)ctx; return clock_boot_us(&clock_system) + poolfx.ahead_us; }
static int64_t wall(void *ctx) { (void)ctx; return clock_wall_us(&clock_system) + poolfx.ahead_us; }
const struct clock poolfx_clock = { mono, boot, wall, NULL };

/* ---- a worker without rules ---- */

void poolfx_say(struct fake_worker *f, enum message_kind kind, const void *body, size_t len)
{
    message_send(f->sock, kind, body, len, -1, NULL);
}
void poolfx_say_ready(struct fake_worker *f)
{
    poolfx_say(f, MESSAGE_READY, poolfx.runs_singly ? "\1\1" : "\2\2", 2);
}

enum message_kind poolfx_hear(struct fake_worker *f, char body[MESSAGE_MAX + 1])
{
    enum message_kind kind = 0;
    int fd = -1;
    if (message_receive(f->sock, &kind, body, &fd, NULL) < 0)
        _exit(1);
    if (fd >= 0 && slab_attach(fd, &f->slab, NULL))
        _exit(2);
    return kind;
}

void poolfx_wait_for(struct fake_worker *f, enum message_kind kind)
{
    char body[MESSAGE_MAX + 1];
    while (poolfx_hear(f, body) != kind)
        ;
    if (kind == MESSAGE_RUN)
        memcpy(&f->generation, body, sizeof f->generation);
}

_Noreturn void poolfx_sleep_for_ever(void)
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
        struct fake_worker f = { .sock = pair[1] };
        poolfx_wait_for(&f, MESSAGE_BEGIN);
        if (getppid() == parent)
            poolfx.misdeed(&f);
        _exit(0);
    }
    setpgid(out->pid, out->pid);
    close(pair[1]);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    out->sock = pair[0];
    out->output = -1;
    poolfx.started++;
    return 0;
}

/* ---- the pool's owner ---- */

static void answered(void *ctx, struct page *p, int index, enum answer_kind kind,
                     const struct raw_answer *raw, int64_t taken_us)
{
    (void)ctx;
    poolfx.ended[kind]++;
    poolfx.last = *raw;
    page_answer(p, index, taken_us);
    page_over(p, index);
}

static void ready(void *ctx, const bool *jobs)
{
    (void)ctx;
    poolfx.is_ready = true;
    memcpy(poolfx.usable, jobs, sizeof poolfx.usable);
}

static int job_of(void *ctx, const char *name)
{
    (void)ctx;
    return name[0] == 'o' ? 0 : 1;
}

void poolfx_make_page(void)
{
    const char *tenant = poolfx.tenant ? poolfx.tenant : "orders";
    struct check *checks = calloc(CHECKS, sizeof *checks);
    for (int i = 0; i < CHECKS; i++)
        checks[i] = (struct check){ .id = i + 1,
                                    .priority = poolfx.priority,
                                    .entity_name = tenant,
                                    .entity_name_len = (uint32_t)strlen(tenant),
                                    .entity_key = "1",
                                    .entity_key_len = 1,
                                    .job_exec = poolfx.has_both_jobs && i % 2 ? "two" : "one",
                                    .job_exec_len = 3,
                                    .terms = poolfx.terms };
    struct check_rows rows = { .checks = checks, .n = CHECKS };
    poolfx.page = page_new(&rows, job_of, NULL, 1000);
    poolfx.page->start_until_us = clock_boot_us(&poolfx_clock) + 3600 * 1000000LL;
}

void poolfx_begin_with(const char *settings_text, void (*deed)(struct fake_worker *f))
{
    static struct spawner spawner;
    spawner = spawner_system;
    spawner.start = start_fake;
    poolfx.misdeed = deed;
    poolfx.ahead_us = poolfx.started = 0;
    poolfx.is_ready = false;
    memset(poolfx.ended, 0, sizeof poolfx.ended);
    CU_ASSERT_EQUAL_FATAL(settings_parse(&poolfx.settings, settings_text, "test", NULL), 0);
    poolfx.log_file = open_memstream(&poolfx.logged, &poolfx.logged_size);
    log_init(&poolfx.log, poolfx.log_file, LOG_LEVEL_INFO, "test");
    struct pool_options o = {
        .settings = &poolfx.settings,
        .program = "none",
        .clock = &poolfx_clock,
        .spawner = &spawner,
        .seed = 7,
        .log = &poolfx.log,
        .agenda = &poolfx.agenda,
        .events = { .answered = answered, .ready = ready },
    };
    CU_ASSERT_EQUAL_FATAL(pool_new(&o, &poolfx.pool, NULL), 0);
    poolfx_make_page();
    CU_ASSERT_FATAL(pool_offer(poolfx.pool, poolfx.page));
    pool_start(poolfx.pool);
}

void poolfx_begin(void (*deed)(struct fake_worker *f)) { poolfx_begin_with(SETTINGS("1"), deed); }

void poolfx_end(void)
{
    pool_free(poolfx.pool);
    page_free(poolfx.page);
    fclose(poolfx.log_file);
    free(poolfx.logged);
    settings_release(&poolfx.settings);
}

void poolfx_turn(int64_t step_us)
{
    struct pollfd fds[8];
    poll(fds, (nfds_t)pool_poll_fds(poolfx.pool, fds, 8), 1);
    poolfx.ahead_us += step_us;
    pool_tick(poolfx.pool);
    fflush(poolfx.log_file);
}

bool poolfx_may_come(int turns, int64_t since_us)
{
    return turns < TURNS_MAX || clock_mono_us(&clock_system) < since_us + test_patience() * 60 * 1000000LL;
}

bool poolfx_says(const char *words)
{
    fflush(poolfx.log_file);
    if (strstr(poolfx.logged, words))
        return true;
    fprintf(stderr, "found '%s', expected '%s'\n", poolfx.logged, words);
    return false;
}

int poolfx_all_ended(void)
{
    int n = 0;
    for (int i = 0; i <= ANSWER_BAD; i++)
        n += poolfx.ended[i];
    return n;
}

/* ---- deeds ---- */

void poolfx_answer_slab(struct fake_worker *f)
{
    int from, n;
    while (slab_claim(f->slab, 1, clock_boot_us(&clock_system), &from, &n) == SLAB_CLAIMED)
        slab_answer(f->slab, from, PRESCIENT_DONE, 0, clock_boot_us(&clock_system), 5, NULL);
    poolfx_say(f, MESSAGE_ENDED, &f->generation, sizeof f->generation);
}

void poolfx_answer_all(struct fake_worker *f)
{
    for (;;) {
        poolfx_wait_for(f, MESSAGE_RUN);
        poolfx_answer_slab(f);
    }
}

void poolfx_ready_and_answer_all(struct fake_worker *f)
{
    poolfx_say_ready(f);
    poolfx_answer_all(f);
}
