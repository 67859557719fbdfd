/* engine.c - the loop and what the lanes share: clock, targets, errands, watched leases, signals.
 * poll, not epoll: the descriptors are few, and libpq changes them while it connects. */
#include "engine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../base/moment.h"
#include "../rules/retry.h"
#include "../rules/slot.h"
#include "../pool/spawn.h"

enum { POLL_MAX = 2200 };

/* ---- clocks ---- */

int64_t engine_mono_us(const struct engine *e)
{
    return clock_mono_us(e->o.clock);
}

int64_t engine_now_us(const struct engine *e)
{
    if (e->virtual_now)
        return e->virtual_now * 1000000;
    return e->has_clock ? engine_mono_us(e) + e->clock_offset_us : 0;
}

int64_t engine_now(const struct engine *e)
{
    return engine_now_us(e) / 1000000;
}

static int64_t store_now(const struct engine *e)
{
    return (engine_mono_us(e) + e->clock_offset_us) / 1000000;
}

/* One that lies ahead was noted before the clock was set back, and says nothing. */
bool engine_wants_full_look(const struct engine *e)
{
    enum { FULL_LOOK_S = 3600 };
    int64_t now = store_now(e);
    return e->full_look_at > now || now - e->full_look_at >= FULL_LOOK_S;
}

void engine_noted_full_look(struct engine *e)
{
    e->full_look_at = store_now(e);
}

/* Which slots other servers run is nobody's to know here; that one of ours is none is. */
static void look_at_serve(const struct engine *e, int32_t length_s)
{
    char words[512];
    const struct settings *s = e->o.settings;
    if (slot_serve_mistakes(s->serve, s->nserve, length_s, words, sizeof words))
        log_warn(e->o.log, "%s; a slot that no server names is run an hour late", words);
}

void engine_set_clock(struct engine *e, const struct store_hello *hello)
{
    if (!e->has_clock)
        look_at_serve(e, hello->slot_length_s);
    e->full_look_at = hello->full_look_at;
    e->clock_offset_us = hello->now_us - engine_mono_us(e);
    e->slot_length_s = hello->slot_length_s;
    e->has_clock = true;
}

/* ---- targets ---- */

struct target *engine_add_target(struct engine *e, enum target_kind kind, int64_t slot)
{
    struct target **at = &e->targets;
    for (struct target *t = e->targets; t; t = t->following)
        if (t->slot == slot)
            return t;
    while (*at && ((*at)->kind < kind || ((*at)->kind == kind && (*at)->slot < slot)))
        at = &(*at)->following;
    struct target *t = calloc(1, sizeof *t);
    if (!t) {
        log_error(e->o.log, "out of memory: slot %lld is left to the next sweep", (long long)slot);
        e->left_some = true;
        return NULL;
    }
    *t = (struct target){ .kind = kind, .slot = slot, .began_us = engine_mono_us(e), .following = *at };
    *at = t;
    return t;
}

bool engine_has_target(const struct engine *e, int64_t slot)
{
    for (const struct target *t = e->targets; t; t = t->following)
        if (t->slot == slot)
            return true;
    return false;
}

struct target *engine_target_for(struct engine *e)
{
    int64_t now = engine_mono_us(e);
    for (struct target *t = e->targets; t; t = t->following)
        if (!t->exhausted && !t->opening && t->retry_us <= now)
            return t;
    return NULL;
}

static void remove_target(struct engine *e, struct target *t)
{
    for (struct target **at = &e->targets; *at; at = &(*at)->following)
        if (*at == t) {
            *at = t->following;
            free(t);
            return;
        }
}

static void say_target_over(struct engine *e, const struct target *t)
{
    static const char *const kinds[] = { "slot", "slot (again)", "late slot", "late slot (moved on)" };
    const struct pass_counts *c = &t->counts;
    char slot[MOMENT_TEXT];
    if (c->run || c->held_back || c->unknown_job || t->held)
        log_info(e->o.log,
                 "%s %s: %lld run, %lld done, %lld again, %lld failed, %lld timeout, %lld crashed, %lld "
                 "ended by a guard, %lld put off, "
                 "%lld superseded; %d leases held by others; %lld ms",
                 kinds[t->kind], moment_format(t->slot, slot), (long long)c->run, (long long)c->done,
                 (long long)c->again, (long long)c->failed, (long long)c->timeout, (long long)c->crashed,
                 (long long)c->guarded, (long long)(c->held_back + c->unknown_job + c->deferred),
                 (long long)c->superseded, t->held, (long long)(engine_mono_us(e) - t->began_us) / 1000);
}

void engine_target_run_over(struct engine *e, struct target *t, const struct pass_counts *counts)
{
    if (counts) {
        counts_add(&t->counts, counts);
        t->runs--;
    }
    if (t->runs || t->opening || (!t->exhausted && !e->stopping))
        return;
    counts_add(&e->totals, &t->counts);
    e->slots_over++;
    e->held_by_others += t->held;
    say_target_over(e, t);
    e->plan->target_over(e, e->plan_state, t);
    e->stirred = true;
    remove_target(e, t);
}

void engine_leave_older(struct engine *e, int64_t slot)
{
    for (struct target *t = e->targets, *next; t; t = next) {
        next = t->following;
        if (t->kind == TARGET_SLOT && t->slot < slot && !t->runs && !t->opening)
            remove_target(e, t);
    }
}

/* ---- leases of others ---- */

static bool same_lease(const struct lease *a, const struct lease *b)
{
    return a->slot == b->slot && a->bucket == b->bucket && a->token == b->token &&
           a->expires_us == b->expires_us && !memcmp(a->owner, b->owner, STORE_OWNER_SIZE);
}

/* How long a lease must be seen unchanged before it is taken over: our lease time, or what its
 * owner may still have of a longer one. One of our own that no lane knows, from an open whose
 * answer was lost, is free for us at once. */
static int64_t patience_us(const struct engine *e, const struct lease *held)
{
    if (!memcmp(held->owner, e->owner, STORE_OWNER_SIZE))
        return 0;
    int64_t lease_us = e->o.settings->lease_us, left_us = held->expires_us - engine_now_us(e);
    if (e->virtual_now || left_us < lease_us)
        return lease_us;
    return left_us < 10 * lease_us ? left_us : 10 * lease_us;       /* beyond that the clock was set back */
}

/* Keeps what is still held as it was, with the time since when; forgets this slot's others. */
void engine_watch_leases(struct engine *e, int64_t slot, const struct lease *held, int n,
                         bool (*is_ours)(const struct engine *e, const struct lease *lease))
{
    struct watched_lease kept[WATCHED_MAX];
    int nkept = 0;
    for (int i = 0; i < n && nkept < WATCHED_MAX; i++) {
        if (is_ours(e, &held[i]))
            continue;
        struct watched_lease w = { held[i], engine_mono_us(e), patience_us(e, &held[i]) };
        for (int k = 0; k < e->nwatched; k++)
            if (same_lease(&e->watched[k].lease, &held[i]))
                w = e->watched[k];
        kept[nkept++] = w;
    }
    for (int k = 0; k < e->nwatched && nkept < WATCHED_MAX; k++)
        if (e->watched[k].lease.slot != slot)
            kept[nkept++] = e->watched[k];
    memcpy(e->watched, kept, (size_t)nkept * sizeof *kept);
    e->nwatched = nkept;
}

int engine_watched(const struct engine *e, int64_t slot, struct lease *out, int room)
{
    int n = 0;
    for (int i = 0; i < e->nwatched && n < room; i++) {
        const struct watched_lease *w = &e->watched[i];
        if (w->lease.slot == slot && engine_mono_us(e) - w->since_us >= w->wait_us)
            out[n++] = w->lease;
    }
    return n;
}

/* ---- what is left alone for a while ---- */

static int place_of_given_up(const struct engine *e, int64_t what)
{
    for (int i = 0; i < e->ngiven_up; i++)
        if (e->given_up[i].what == what)
            return i;
    return -1;
}

static const int64_t give_up_first_us = 60 * 1000000LL, give_up_most_us = 3600 * 1000000LL;

/* A new place, or that of whoever would be free again first. */
static int place_to_give_up(struct engine *e)
{
    if (e->ngiven_up < GIVEN_UP_MAX)
        return e->ngiven_up++;
    int first = 0;
    for (int i = 1; i < GIVEN_UP_MAX; i++)
        if (e->given_up[i].until_us < e->given_up[first].until_us)
            first = i;
    return first;
}

static void give_up_for(struct engine *e, int place, int64_t what, int64_t pause_us)
{
    if (place < 0)
        place = place_to_give_up(e);
    e->given_up[place] =
        (struct given_up){ .what = what, .until_us = engine_mono_us(e) + pause_us, .pause_us = pause_us };
}

void engine_give_up(struct engine *e, int64_t what)
{
    int i = place_of_given_up(e, what);
    int64_t pause = i < 0 ? give_up_first_us : e->given_up[i].pause_us * 2;
    give_up_for(e, i, what, pause < give_up_most_us ? pause : give_up_most_us);
}

void engine_give_up_held(struct engine *e, int64_t what)
{
    engine_give_up(e, what);
    e->given_up[place_of_given_up(e, what)].is_held = true;
}

void engine_try_held_again(struct engine *e)
{
    for (int i = 0; i < e->ngiven_up; i++)
        if (e->given_up[i].is_held)
            e->given_up[i].until_us = 0;
}

void engine_give_up_for_long(struct engine *e, int64_t what)
{
    give_up_for(e, place_of_given_up(e, what), what, 24 * give_up_most_us);
}

bool engine_has_given_up(const struct engine *e, int64_t what)
{
    int i = e->ngiven_up ? place_of_given_up(e, what) : -1;
    return i >= 0 && engine_mono_us(e) < e->given_up[i].until_us;
}

bool engine_gives_up_anew(struct engine *e, int64_t what)
{
    if (engine_has_given_up(e, what))
        return false;
    engine_give_up(e, what);
    return true;
}

/* ---- errands ---- */

/* Today's partition comes before whatever waits, and everything before what can wait: whoever gave
 * the other asks again. */
bool engine_give_errand(struct engine *e, enum errand_kind kind, int64_t from, int64_t before, bool full)
{
    bool takes_place = !e->errand.under_way && e->errand.kind != kind &&
                       (kind == ERRAND_KEEP_DAYS || engine_can_wait(&e->errand));
    if (e->errand.kind && !takes_place)
        return false;
    e->errand = (struct errand){
        .kind = kind, .given_us = engine_mono_us(e), .from = from, .before = before, .full = full
    };
    return true;
}

void engine_errand_done(struct engine *e, struct lane *lane, int rc)
{
    struct errand was = e->errand;
    e->errand = (struct errand){ 0 };
    e->stirred = true;
    e->plan->errand_done(e, e->plan_state, &was, rc, lane);
}

bool engine_is_idle(const struct engine *e)
{
    if (e->targets || e->errand.kind)
        return false;
    for (int i = 0; i < e->nlanes; i++)
        if (!lane_is_idle(&e->lanes[i]))
            return false;
    return true;
}

/* ---- ending ---- */

void engine_end(struct engine *e, int rc, const char *fmt, ...)
{
    if (e->ended)
        return;
    e->ended = true;
    e->end_rc = rc;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->end_err.text, sizeof e->end_err.text, fmt, ap);
    va_end(ap);
    e->end_err.code = rc;
}

void engine_stop(struct engine *e)
{
    if (e->stopping)
        return;
    e->stopping = true;
    e->stop_until_us = engine_mono_us(e) + e->o.settings->stop_timeout_us;
}

static void take_signals(struct engine *e)
{
    struct signalfd_siginfo info;
    while (read(e->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        if (++e->stop_signals > 1) {
            engine_end(e, ERR_STOPPED, "stopped at once by a second signal");
            return;
        }
        log_info(e->o.log, "SIG%s: finishing what runs, taking nothing new",
                 sigabbrev_np((int)info.ssi_signo));
        engine_stop(e);
    }
}

static int block_signals(struct err *err)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL))
        return err_sys(err, ERR_GENERAL, "sigprocmask");
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? err_sys(err, ERR_GENERAL, "signalfd") : fd;
}

static bool lanes_hold_nothing(const struct engine *e)
{
    for (int i = 0; i < e->nlanes; i++)
        if (e->lanes[i].nruns || e->lanes[i].doing != LANE_WAIT)
            return false;
    return true;
}

/* Stopping ends when all leases are given back; at its timeout running jobs are ended, and some
 * seconds later we go anyway. */
static void stop_tick(struct engine *e)
{
    int64_t now = engine_mono_us(e), grace = e->o.settings->kill_grace_us + 2000000;
    if (lanes_hold_nothing(e))
        engine_end(e, ERR_STOPPED, "stopped");
    else if (now > e->stop_until_us + grace)
        engine_end(e, ERR_STOPPED, "stopped with leases still held: they expire by themselves");
    else if (now > e->stop_until_us && !e->killed) {
        log_warn(e->o.log, "jobs still run after the stop timeout: they are ended, their checks run again");
        e->killed = true;
        pool_kill(e->pool);
    }
}

/* ---- the loop ---- */

/* When a slot that was locked is to be tried again. */
static int64_t next_target_us(const struct engine *e)
{
    int64_t next = INT64_MAX, now = engine_mono_us(e);
    for (const struct target *t = e->targets; t; t = t->following)
        if (!t->exhausted && t->retry_us > now && t->retry_us < next)
            next = t->retry_us;
    return next;
}

int64_t engine_next_us(const struct engine *e)
{
    if (e->stirred)
        return engine_mono_us(e);
    int64_t next = pool_next_us(e->pool);
    for (int i = 0; i < e->nlanes; i++) {
        int64_t at = lane_next_us(&e->lanes[i]);
        next = at < next ? at : next;
    }
    int64_t plan = e->plan->next_us && !e->stopping ? e->plan->next_us(e, e->plan_state) : INT64_MAX;
    next = plan < next ? plan : next;
    int64_t target = e->stopping ? INT64_MAX : next_target_us(e);
    next = target < next ? target : next;
    if (e->stopping) {
        int64_t soon = engine_mono_us(e) + 50000;
        next = soon < next ? soon : next;
    }
    return next;
}

static int wait_ms(const struct engine *e)
{
    int64_t next = engine_next_us(e), now = engine_mono_us(e);
    if (next <= now)
        return 0;
    int64_t ms = next == INT64_MAX ? 1000 : (next - now + 999) / 1000;
    return ms > 1000 ? 1000 : (int)ms;
}

static void wait_for_something(struct engine *e)
{
    struct pollfd fds[POLL_MAX];
    int n = 0;
    fds[n++] = (struct pollfd){ .fd = e->signals, .events = POLLIN };
    for (int i = 0; i < e->nlanes; i++)
        if (e->lanes[i].doing != LANE_WAIT && store_fd(e->lanes[i].store) >= 0)
            fds[n++] = (struct pollfd){ .fd = store_fd(e->lanes[i].store),
                                        .events = store_wants(e->lanes[i].store) };
    n += pool_poll_fds(e->pool, fds + n, POLL_MAX - n);
    poll(fds, (nfds_t)n, wait_ms(e));
    if (fds[0].revents)
        take_signals(e);
}

void engine_begin(struct engine *e, const struct plan *plan, void *plan_state)
{
    e->plan = plan;
    e->plan_state = plan_state;
    engine_give_errand(e, ERRAND_HELLO, 0, 0, false);
}

void engine_turn(struct engine *e)
{
    e->stirred = false;
    e->asleep_us = clock_boot_us(e->o.clock) - engine_mono_us(e);
    pool_tick(e->pool);
    if (!e->stopping)
        e->plan->tick(e, e->plan_state);
    for (int i = 0; i < e->nlanes && !e->ended; i++)
        lane_drive(&e->lanes[i]);
    pool_tick(e->pool);                 /* give what was read just now */
    if (e->stopping && !e->ended)
        stop_tick(e);
    if (pool_broken(e->pool) && !e->o.patient && !e->stopping) {
        log_error(e->o.log, "no worker gets ready: %s", pool_broken(e->pool));
        e->broken = true;
        engine_stop(e);
    }
}

int engine_result(const struct engine *e, struct err *err)
{
    if (e->broken)
        return err_set(err, ERR_SETTINGS, "no worker gets ready: %s",
                       pool_broken(e->pool) ? pool_broken(e->pool) : "see the log");
    if (e->end_rc && err)
        *err = e->end_err;
    return e->end_rc;
}

/* A process of its own hears signals, and gets the children that its workers leave behind. */
static int become_process(struct engine *e, struct err *err)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    e->signals = block_signals(err);
    return e->signals < 0 ? e->signals : 0;
}

/* The jobs of idle workers are closed as they were opened; another signal cuts that short. */
static void let_workers_end(struct engine *e)
{
    struct pollfd fds[POLL_MAX];
    pool_retire(e->pool);
    while (!pool_is_retired(e->pool) && e->stop_signals < 2) {
        fds[0] = (struct pollfd){ .fd = e->signals, .events = POLLIN };
        poll(fds, 1 + (nfds_t)pool_poll_fds(e->pool, fds + 1, POLL_MAX - 1), 100);
        take_signals(e);
        pool_tick(e->pool);
    }
}

int engine_run(struct engine *e, const struct plan *plan, void *plan_state, struct err *err)
{
    int rc = become_process(e, err);
    if (rc)
        return rc;
    engine_begin(e, plan, plan_state);
    while (!e->ended) {
        wait_for_something(e);
        engine_turn(e);
    }
    let_workers_end(e);
    return engine_result(e, err);
}

/* ---- making one ---- */

static void job_changes(struct engine *e, int job, bool usable)
{
    const char *name = e->o.settings->jobs[job].name;
    if (e->jobs[job].usable && !usable) {
        log_error(
            e->o.log,
            "job %s cannot be run here: its checks are left to other engines, until a worker can open it",
            name);
        verdict_job_is_gone(e, job);
    } else if (!e->jobs[job].usable && usable)
        log_info(e->o.log, "job %s can be run here again", name);
    e->jobs[job].usable = usable;
}

/* All are taken for usable until the first worker says otherwise. What was left or put off
 * meanwhile is found by the next look and the next sweep. */
static void jobs_are_ready(void *ctx, const bool *usable)
{
    struct engine *e = ctx;
    e->njob_names = 0;
    for (int i = 0; i < e->o.settings->njobs; i++) {
        job_changes(e, i, usable[i]);
        if (usable[i])
            e->job_names[e->njob_names++] = e->o.settings->jobs[i].name;
    }
    e->stirred = true;
}

static int open_lanes(struct engine *e, struct err *err)
{
    const struct settings *s = e->o.settings;
    int wanted = s->connections ? s->connections : strncmp(s->store, "sqlite:", 7) ? 2 : 1;
    e->lanes = calloc((size_t)wanted, sizeof *e->lanes);
    if (!e->lanes)
        return err_set(err, ERR_NOMEM, "out of memory for %d store connections", wanted);
    for (int i = 0; i < wanted; i++) {
        struct store_options options = store_options_from(s);
        options.engine = e->name;
        options.silence_ms = (int)(s->lease_us / 1000);
        options.relaxed = e->o.relaxed;
        options.clock = e->o.clock;
        lane_init(&e->lanes[i], e, i);
        int rc = e->o.open_store(&options, &e->lanes[i].store, err);
        if (rc)
            return rc;
        e->nlanes++;
    }
    return 0;
}

/* 128 random bits a process start; of a simulated one those that follow from its seed. */
static int name_owner(struct engine *e, struct err *err)
{
    e->random = e->o.seed;
    if (!e->o.seed && (getrandom(e->owner, sizeof e->owner, 0) != (ssize_t)sizeof e->owner ||
                       getrandom(&e->random, sizeof e->random, 0) != (ssize_t)sizeof e->random))
        return err_sys(err, ERR_GENERAL, "getrandom");
    for (size_t i = 0; e->o.seed && i < sizeof e->owner; i++)
        e->owner[i] = (unsigned char)random_next(&e->random);
    return 0;
}

static int set_up(struct engine *e, struct err *err)
{
    const struct settings *s = e->o.settings;
    char host[64] = "localhost";
    gethostname(host, sizeof host - 1);
    snprintf(e->name, sizeof e->name, "%s/%d", s->engine_name ? s->engine_name : host, (int)getpid());
    int rc = name_owner(e, err);
    if (rc)
        return rc;
    e->jobs = calloc((size_t)s->njobs + 1, sizeof *e->jobs);
    e->job_names = calloc((size_t)s->njobs + 1, sizeof *e->job_names);
    if (!e->jobs || !e->job_names)
        return err_set(err, ERR_NOMEM, "out of memory for %d jobs", s->njobs);
    for (int i = 0; i < s->njobs; i++) {
        e->jobs[i].usable = true;       /* until the first worker says otherwise */
        e->job_names[e->njob_names++] = s->jobs[i].name;
    }
    struct pool_options pool = {
        .settings = s,
        .program = e->o.worker_program,
        .clock = e->o.clock,
        .spawner = e->o.spawner,
        .seed = random_next(&e->random),
        .log = e->o.log,
        .events = { .answered = verdict_answered, .ready = jobs_are_ready, .ctx = e },
    };
    rc = pool_new(&pool, &e->pool, err);
    return rc ? rc : open_lanes(e, err);
}

int engine_new(const struct engine_options *options, struct engine **out, struct err *err)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return err_set(err, ERR_NOMEM, "out of memory for the engine");
    e->o = *options;
    if (!e->o.clock)
        e->o.clock = &clock_system;
    if (!e->o.spawner)
        e->o.spawner = &spawner_system;
    if (!e->o.open_store)
        e->o.open_store = store_new;
    e->signals = -1;
    e->virtual_now = options->virtual_now;
    int rc = set_up(e, err);
    if (rc) {
        engine_free(e);
        return rc;
    }
    *out = e;
    return 0;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    pool_free(e->pool);                 /* first: pages outlive the workers that hold their checks */
    for (int i = 0; i < e->nlanes; i++)
        lane_release_memory(&e->lanes[i]);
    free(e->lanes);
    while (e->targets)
        remove_target(e, e->targets);
    if (e->signals >= 0)
        close(e->signals);
    free(e->jobs);
    free(e->job_names);
    free(e);
}
