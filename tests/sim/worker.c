/* worker.c - simulated workers: messages, claims, and jobs that may damage the process they run in.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../engine/rules/slot.h"
#include "../../engine/wire/slab.h"
#include "../../engine/wire/message.h"
#include "../../include/prescient/job.h"
#include "checker.h"
#include "faults.h"
#include "host.h"
#include "message.h"

enum state { STARTING, LOADING, IDLE, RUNNING, WAITING, DEAD };

enum { CLAIM_MAX = 16, PID_FIRST = 1000 };

struct claimed { int index, run; enum act act; int64_t now, at; };

struct worker_sim {
    struct host *host;
    struct worker_sim *following;
    int pid, sock, status;
    enum state state;
    struct slab *slab;
    uint32_t generation;
    uint64_t tag;                       /* of its next event */
    bool blocks_signals;                /* its job blocks them */
    bool hangs;
    bool stopped, event_pending;        /* SIGSTOP; an event came in the meantime */
    struct claimed claimed[CLAIM_MAX];
    int nclaimed;
    struct claimed last;                /* the last answered check; run < 0: none */
    char left_out[JOBS], usable[JOBS];
    int64_t began_us;                   /* the claim */
    int64_t progress_us;                /* the claim, or the last answer of it */
    int64_t deadline_boot_us;           /* it is ended then; 0: not at all */
};

static bool is_stopped(const struct worker_sim *w)
{
    return w->stopped || w->host->workers_frozen;
}

/* ---- the end ---- */

static void die(struct worker_sim *w, int status)
{
    if (w->state == DEAD)
        return;
    world_log(w->host->w, "host %d: worker %d ends, status %d", w->host->number, w->pid, status);
    w->state = DEAD;
    w->status = status;
    w->tag++;
    close(w->sock);
    w->sock = -1;
    slab_free(w->slab);
    w->slab = NULL;
    checker_worker_ends(w->host->w, w->host, w->nclaimed, w->progress_us);
    for (int i = 0; i < w->nclaimed; i++) {
        checker_event(w->host->w, w->host->number, checker_run(w->host->w, w->claimed[i].run)->key, 0,
                      "its worker ended");
        checker_run_ends(w->host->w, w->claimed[i].run);
    }
    host_wake(w->host, w->host->w->now_us + 50);
}

/* ---- events ---- */

static void go_on(struct world *world, void *arg, uint64_t tag);

static struct worker_sim *worker_of(struct host *h, int pid)
{
    for (struct worker_sim *w = h->crew.workers; w; w = w->following)
        if (w->pid == pid)
            return w;
    return NULL;
}

/* An event names its worker by host and pid, because the worker may be freed before it comes. */
static uint64_t name_of(const struct worker_sim *w)
{
    return (uint64_t)w->pid << 32 | (uint32_t)w->tag;
}

static void later(struct worker_sim *w, int64_t us)
{
    w->tag++;
    world_after(w->host->w, us, go_on, w->host, name_of(w));
}

static void send_message(struct worker_sim *w, enum message_kind kind, const void *body, size_t len)
{
    if (w->sock >= 0 && message_send(w->sock, kind, body, len, -1, NULL) == 0)
        host_wake(w->host, w->host->w->now_us + 30);
}

/* Opens each job. False: an opening has killed the worker. */
static bool open_jobs(struct worker_sim *w, char usable[JOBS])
{
    struct host *h = w->host;
    for (uint32_t j = 0; j < (uint32_t)h->settings.njobs; j++) {
        usable[j] = h->usable[j] && !w->left_out[j] &&
                    !(j == (uint32_t)h->shut_job && h->w->now_us < h->shut_until_us);
        if (w->left_out[j])
            continue;
        send_message(w, MESSAGE_OPENING, &j, sizeof j);
        if ((int)j == h->deadly_job) {
            die(w, SIGSEGV);
            return false;
        }
    }
    return true;
}

static void get_ready(struct worker_sim *w)
{
    struct host *h = w->host;
    char usable[JOBS] = { 0 };
    if (!open_jobs(w, usable))
        return;
    memcpy(w->usable, usable, sizeof usable);
    if (h->w->now_us < h->dead_start_until_us) {
        static const char text[] = "a library is missing";
        send_message(w, MESSAGE_FAILED, text, sizeof text - 1);
        die(w, 78 << 8);
        return;
    }
    w->state = IDLE;
    send_message(w, MESSAGE_READY, usable, (size_t)h->settings.njobs);
}

/* ---- jobs ---- */

struct act_row { int weight, bad_weight; int64_t us, most_us; };

static const struct act_row act_rows[ACTS] = {
    [ACT_DONE] = { 700, 500, 50, 5 * MS_US },         [ACT_AGAIN] = { 200, 150, 50, 5 * MS_US },
    [ACT_DEFER] = { 20, 50, 50, 5 * MS_US },          [ACT_FAIL] = { 40, 80, 50, 5 * MS_US },
    [ACT_SILENT] = { 5, 20, 50, 5 * MS_US },          [ACT_GARBAGE] = { 0, 20, 50, 5 * MS_US },
    [ACT_SLOW] = { 35, 80, 5 * MS_US, 1800 * MS_US }, [ACT_HANG] = { 0, 40, 0, 0 },
    [ACT_CRASH] = { 0, 40, 50, 50 * MS_US },          [ACT_EXIT] = { 0, 10, 50, 5 * MS_US },
    [ACT_CLOSE] = { 0, 10, 50, 300 * MS_US },         [ACT_LIE] = { 0, 10, 50, 5 * MS_US },
    [ACT_BABBLE] = { 0, 10, 50, 5 * MS_US },          [ACT_CHATTER] = { 10, 10, 50, 5 * MS_US },
};

static enum act draw_act(struct world *world)
{
    bool quiet = world_is_quiet(world), bad = world->shape.jobs_misbehave && !quiet;
    if (quiet)
        return world_chance(world, 900) ? ACT_DONE : ACT_AGAIN;
    int sum = 0;
    for (int i = 0; i < ACTS; i++)
        sum += bad ? act_rows[i].bad_weight : act_rows[i].weight;
    int at = (int)world_between(world, 0, sum - 1), act = 0;
    while ((at -= bad ? act_rows[act].bad_weight : act_rows[act].weight) >= 0)
        act++;
    return (enum act)act;
}

static struct claimed begin_check(struct worker_sim *w, int index)
{
    struct host *h = w->host;
    struct slab_check c;
    slab_get(w->slab, index, &c);
    int key = key_of(c.entity_key);
    struct run run = { .key = key,
                       .host = h->number,
                       .id = c.id,
                       .slot = c.slot,
                       .check_count = c.check_count,
                       .failure_count = c.failure_count,
                       .began_us = h->w->now_us,
                       .deadline_boot_us = w->deadline_boot_us,
                       .act = draw_act(h->w) };
    bool is_known = c.job >= 0 && c.job < h->settings.njobs;
    if (key < 0 || !is_known || strcmp(c.job_name, h->settings.jobs[c.job].name) != 0)
        world_violate(h->w, "a worker was given check %s of job %s (%d)", c.entity_key, c.job_name, c.job);
    if (c.job >= 0 && c.job < JOBS && !w->usable[c.job])
        world_violate(h->w, "a worker was given check %s of job %s, which it cannot run", c.entity_key,
                      c.job_name);
    int number = checker_run_begins(h->w, &run);
    world_log(h->w, "host %d: worker %d begins run %d: check %d (id %lld), count %d, failures %d", h->number,
               w->pid, number, key, (long long)c.id, c.check_count, c.failure_count);
    return (struct claimed){ .index = index, .run = number, .act = run.act, .now = c.now };
}

/* The seconds until a job's next look: now and then in the past, or beyond the horizon. */
static int64_t draw_again_s(struct world *world)
{
    if (world_chance(world, 30))
        return -1;
    if (world_chance(world, 20))
        return 90 * 86400;
    return world_between(world, 1, 3 * world->shape.slot_length_s);
}

static int kind_of(struct worker_sim *w, struct claimed *c)
{
    struct world *world = w->host->w;
    int64_t length = world->shape.slot_length_s;
    switch (c->act) {
    case ACT_AGAIN:
        c->at = c->now + draw_again_s(world);
        return PRESCIENT_AGAIN;
    case ACT_DEFER:
        c->at = c->now + world_between(world, 0, 2 * length);
        return PRESCIENT_DEFER;
    case ACT_FAIL:
        return PRESCIENT_FAIL;
    case ACT_SILENT:
        return PRESCIENT_NO_ANSWER;
    case ACT_GARBAGE:
        return 77;
    default:
        return PRESCIENT_DONE;
    }
}

/* Some answers declare an effect: an event, a new check, the end of one. */
static void declare(struct worker_sim *w, const struct claimed *c)
{
    struct world *world = w->host->w;
    char key[8];
    if (world_is_quiet(world) || !world_chance(world, 150))
        return;
    snprintf(key, sizeof key, "%d", (int)world_between(world, 0, KEYS_MAX - 1));
    static const char *const conflicts[] = { "keep", "earlier", "replace" };
    char job[4] = { 'j', (char)('0' + key_of(key) % JOBS), '\0', '\0' };
    struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "seen", .json = "{}" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "order",
          .entity_key = key,
          .job = job,
          .conflict = conflicts[world_random(world) % 3],
          .at = c->now + world_between(world, 0, 3 * world->shape.slot_length_s) },
        { .kind = EFFECT_RESOLVE, .entity_name = "order", .entity_key = key },
    };
    int which = (int)world_between(world, 0, 2);
    if (slab_add_effect(w->slab, c->index, &effects[which]) == 0 && which == 0)
        checker_run(world, c->run)->effects++;
}

static void answer(struct worker_sim *w, struct claimed *c)
{
    struct world *world = w->host->w;
    char text[32];
    bool repeat = world->wrong[WORKER_REPEATS_ANSWER] && w->last.run >= 0 && world_chance(world, 100);
    struct claimed *from = repeat ? &w->last : c;
    int kind = kind_of(w, from);
    if (kind == PRESCIENT_DONE || kind == PRESCIENT_AGAIN)
        declare(w, c);
    snprintf(text, sizeof text, "run %d", from->run);
    checker_run(world, c->run)->answered = true;
    checker_run_ends(world, c->run);
    slab_answer(w->slab, c->index, kind, from->at, host_boot_us(w->host) - (world->now_us - w->began_us),
                world->now_us - w->began_us, text);
    world_log(world, "host %d: worker %d answers run %d", w->host->number, w->pid, c->run);
    w->last = *c;
    w->progress_us = world->now_us;
}

/* Some jobs do harm besides answering. */
static void misbehave(struct worker_sim *w, enum act act)
{
    static const char text[] = "\1a job has much to say";
    uint32_t other = w->generation - 1;
    if (act == ACT_CLOSE && w->sock >= 0) {
        shutdown(w->sock, SHUT_RDWR);
        host_wake(w->host, w->host->w->now_us + 30);
    } else if (act == ACT_LIE)
        send_message(w, MESSAGE_ENDED, world_chance(w->host->w, 500) ? &w->generation : &other, sizeof other);
    else if (act == ACT_BABBLE)
        send_message(w, (enum message_kind)'?', NULL, 0);
    for (int i = 0; i < 80 && act == ACT_CHATTER; i++)
        send_message(w, MESSAGE_LOG, text, sizeof text - 1);
}

/* ---- deadlines ---- */

/* The kernel's timer ends a worker, also one that is stopped; while its host is suspended, there is
 * no kernel that could. */
static void end_if_late(struct worker_sim *w)
{
    bool is_late = w->deadline_boot_us && host_boot_us(w->host) >= w->deadline_boot_us;
    if (w->state == DEAD || !is_late || w->host->asleep_since_us || w->host->w->wrong[DEADLINES_ARE_LOST])
        return;
    world_log(w->host->w, "host %d: worker %d is late, and its timer ends it", w->host->number, w->pid);
    die(w, SIGKILL);
}

static void deadline_comes(struct world *world, void *arg, uint64_t pid)
{
    struct worker_sim *w = worker_of(arg, (int)pid);
    (void)world;
    if (w)
        end_if_late(w);
}

/* As worker_call.c does it. The host's clock may be slow: the event comes behind the deadline by
 * any clock. */
static void set_deadline(struct worker_sim *w, int from, int n)
{
    const struct settings *s = &w->host->settings;
    w->deadline_boot_us = 0;
    if (!slab_has_key(w->slab, from, n))
        return;
    int64_t timeout_us = n == 1 ? s->defaults.timeout_us : s->defaults.batch_timeout_us;
    int64_t us = timeout_us + s->kill_grace_us + SLAB_DEADLINE_SLACK_US;
    w->deadline_boot_us = host_boot_us(w->host) + us;
    world_after(w->host->w, us + us / 5000, deadline_comes, w->host, (uint64_t)w->pid);
}

/* All before number `from` of those claimed were handed over, and the others go on. */
static void move_deadline(struct worker_sim *w, int from)
{
    int index = w->claimed[from].index, left = w->nclaimed - from;
    if (!w->deadline_boot_us || !from)
        return;
    if (!slab_has_key(w->slab, index, left))
        w->deadline_boot_us = 0;
    else if (slab_may_start(w->slab, host_boot_us(w->host)) && !slab_is_stopped(w->slab))
        set_deadline(w, index, left);
    for (int i = from; i < w->nclaimed; i++)
        checker_run_has_until(w->host->w, w->claimed[i].run, w->deadline_boot_us);
}

/* ---- claims ---- */

/* Ends the claimed checks. False: the worker ends or hangs, too. */
static bool end_claim(struct worker_sim *w)
{
    int n = w->nclaimed;
    for (int i = 0; i < n; i++) {
        struct claimed *c = &w->claimed[i];
        if (c->act == ACT_CRASH || c->act == ACT_EXIT) {
            die(w, c->act == ACT_CRASH ? SIGSEGV : 0);
            return false;
        }
        if (c->act == ACT_HANG) {
            move_deadline(w, i);
            w->hangs = true;
            w->blocks_signals = world_chance(w->host->w, 300);
            return false;
        }
        misbehave(w, c->act);
        answer(w, c);
    }
    w->nclaimed = 0;
    w->deadline_boot_us = 0;
    return true;
}

static int most_of(const struct worker_sim *w, int job, bool single)
{
    const struct settings *s = &w->host->settings;
    if (single || job < 0 || job >= s->njobs)
        return 1;
    return s->jobs[job].batch < CLAIM_MAX ? s->jobs[job].batch : CLAIM_MAX;
}

static void run_claimed(struct worker_sim *w, int from, int n)
{
    struct world *world = w->host->w;
    int64_t takes = 0;
    w->nclaimed = n;
    w->began_us = w->progress_us = world->now_us;
    faults_moment(world, w->host);
    set_deadline(w, from, n);
    for (int i = 0; i < n; i++) {
        w->claimed[i] = begin_check(w, from + i);
        const struct act_row *row = &act_rows[w->claimed[i].act];
        bool slow = world->shape.jobs_are_slow && n == 1 && row->most_us && world_chance(world, 500);
        takes += slow ? world_between(world, 100, 1800) * MS_US : world_between(world, row->us, row->most_us);
    }
    later(w, takes);
}

static void claim(struct worker_sim *w)
{
    int job = -1, from = 0, n = 0;
    bool single = true, trusts_all = w->host->w->wrong[WORKER_IGNORES_TRUST];
    slab_peek(w->slab, &job, &single);
    int64_t now = trusts_all ? INT64_MIN : clock_boot_us(&w->host->clock);
    enum slab_claim how = slab_claim(w->slab, most_of(w, job, single), now, &from, &n);
    if (how == SLAB_CLAIMED) {
        w->state = RUNNING;
        run_claimed(w, from, n);
    } else if (how == SLAB_EMPTY) {
        w->state = IDLE;
        send_message(w, MESSAGE_ENDED, &w->generation, sizeof w->generation);
    } else
        w->state = WAITING;
}

static void go_on(struct world *world, void *arg, uint64_t tag)
{
    struct worker_sim *w = worker_of(arg, (int)(tag >> 32));
    (void)world;
    if (!w || w->state == DEAD || (uint32_t)w->tag != (uint32_t)tag)
        return;
    if (is_stopped(w))
        w->event_pending = true;
    else if (w->state == LOADING)
        get_ready(w);
    else if (w->state == RUNNING && (!w->nclaimed || end_claim(w)))
        claim(w);
}

/* ---- messages of the engine ---- */

/* Only the engine knows how many there are: behind them are some that it was given before. */
static void note_given(struct worker_sim *w)
{
    for (int i = 0; i < w->host->settings.slab; i++) {
        struct slab_check c;
        slab_get(w->slab, i, &c);
        if (c.id > 0)
            checker_given(w->host->w, c.id, c.slot);
    }
}

static void attach(struct worker_sim *w, int fd)
{
    struct err err = { 0 };
    if (slab_attach(fd, &w->slab, &err))
        world_violate(w->host->w, "a worker cannot use its slab: %s", err.text);
    close(fd);
}

static void take_message(struct worker_sim *w, enum message_kind kind, const char *body, int len)
{
    struct world *world = w->host->w;
    if (kind == MESSAGE_BEGIN && w->state == STARTING) {
        memcpy(w->left_out, body, len < JOBS ? (size_t)len : JOBS);
        w->state = LOADING;
        later(w, world_between(world, 1, 60) * MS_US);
    } else if (kind == MESSAGE_RUN && len == (int)sizeof w->generation) {
        memcpy(&w->generation, body, sizeof w->generation);
        note_given(w);
        w->state = RUNNING;
        later(w, world_between(world, 10, 300));
    } else if (kind == MESSAGE_CONTINUE && w->state == WAITING) {
        w->state = RUNNING;
        later(w, world_between(world, 10, 300));
    } else if (kind == MESSAGE_EXIT)
        die(w, 0);
}

static void listen_to_engine(struct worker_sim *w)
{
    char body[MESSAGE_MAX + 1];
    while (w->sock >= 0 && w->state != RUNNING && w->state != LOADING && !is_stopped(w)) {
        enum message_kind kind;
        int fd = -1, len = message_receive(w->sock, &kind, body, &fd, NULL);
        if (fd >= 0)
            attach(w, fd);
        if (len == ERR_BUSY)
            return;
        if (len < 0)
            die(w, 1 << 8);
        else
            take_message(w, kind, body, len);
    }
}

void workers_listen(struct host *h)
{
    for (struct worker_sim *w = h->crew.workers; w; w = w->following)
        listen_to_engine(w);
}

/* ---- the spawner's functions ---- */

static int crew_start(void *ctx, const char *program, bool pg_environment, struct child *out, struct err *err)
{
    struct host *h = ctx;
    int pair[2];
    (void)program;
    (void)pg_environment;
    if (h->w->now_us < h->no_spawn_until_us)
        return err_set(err, ERR_BUSY, "cannot start a worker: fork: no processes left");
    struct worker_sim *w = calloc(1, sizeof *w);
    if (!w || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)) {
        free(w);
        return err_sys(err, ERR_BUSY, "cannot start a worker: socketpair");
    }
    *w = (struct worker_sim){ .host = h, .pid = PID_FIRST + h->crew.pids++, .sock = pair[1],
                              .following = h->crew.workers, .last.run = -1 };
    h->crew.workers = w;
    *out = (struct child){ .pid = w->pid, .sock = pair[0], .output = -1 };
    return 0;
}

static void crew_signal(void *ctx, pid_t pid, int sig)
{
    struct host *h = ctx;
    struct worker_sim *w = worker_of(h, pid);
    if (!w || w->state == DEAD || (h->w->wrong[SIGNALS_ARE_LOST] && w->hangs))
        return;
    if (sig == SIGKILL || (!w->blocks_signals && !is_stopped(w)))
        die(w, sig);
}

static bool crew_has_ended(void *ctx, pid_t pid)
{
    const struct worker_sim *w = worker_of(ctx, pid);
    return w && w->state == DEAD;
}

static pid_t crew_any_ended(void *ctx)
{
    (void)ctx;
    return 0;
}

static int crew_bury(void *ctx, pid_t pid)
{
    struct host *h = ctx;
    for (struct worker_sim **at = &h->crew.workers; *at; at = &(*at)->following)
        if ((*at)->pid == pid) {
            struct worker_sim *w = *at;
            die(w, SIGKILL);
            int status = w->status;
            *at = w->following;
            free(w);
            return status;
        }
    return 0;
}

void workers_make(struct host *h)
{
    h->crew.spawner =
        (struct spawner){ crew_start, crew_signal, crew_has_ended, crew_any_ended, crew_bury, h };
}

void workers_free(struct host *h)
{
    while (h->crew.workers)
        crew_bury(h, h->crew.workers->pid);
}

/* ---- faults of workers ---- */

void workers_die(struct host *h)
{
    for (struct worker_sim *w = h->crew.workers; w; w = w->following)
        die(w, SIGKILL);
}

/* Some lives are longer than that of their engine, but not those of runs beyond their deadline. */
void workers_are_left(struct host *h)
{
    for (struct worker_sim *w = h->crew.workers; w; w = w->following) {
        bool is_left = w->state != DEAD && w->deadline_boot_us && world_chance(h->w, 300);
        for (int i = 0; i < w->nclaimed && is_left; i++)
            checker_run_is_left(h->w, w->claimed[i].run);
    }
}

static void thaw(struct worker_sim *w)
{
    bool pending = w->event_pending;
    w->event_pending = false;
    if (pending)
        later(w, world_between(w->host->w, 0, 100));
    listen_to_engine(w);
}

void workers_thaw(struct host *h)
{
    h->workers_frozen = false;
    for (struct worker_sim *w = h->crew.workers; w; w = w->following)
        end_if_late(w);
    for (struct worker_sim *w = h->crew.workers; w; w = w->following)
        if (w->state != DEAD && !w->stopped)
            thaw(w);
}

static struct worker_sim *any_worker(struct host *h)
{
    int n = 0;
    for (struct worker_sim *w = h->crew.workers; w; w = w->following)
        n += w->state != DEAD && !w->stopped;
    int which = n ? (int)world_between(h->w, 0, n - 1) : -1;
    for (struct worker_sim *w = h->crew.workers; w; w = w->following)
        if (w->state != DEAD && !w->stopped && which-- == 0)
            return w;
    return NULL;
}

bool workers_kill_one(struct host *h)
{
    struct worker_sim *w = any_worker(h);
    if (w)
        die(w, SIGKILL);
    return w != NULL;
}

static void continue_one(struct world *world, void *arg, uint64_t pid)
{
    struct worker_sim *w = worker_of(arg, (int)pid);
    (void)world;
    if (!w || w->state == DEAD)
        return;
    w->stopped = false;
    if (!is_stopped(w))
        thaw(w);
}

bool workers_stop_one(struct host *h, int64_t us)
{
    struct worker_sim *w = any_worker(h);
    if (!w)
        return false;
    world_log(h->w, "host %d: worker %d is stopped for %lld ms", h->number, w->pid, (long long)(us / 1000));
    w->stopped = true;
    world_after(h->w, us, continue_one, h, (uint64_t)w->pid);
    return true;
}
