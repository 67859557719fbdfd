/* process.c - see process.h. poll, not epoll: the descriptors are few, and libpq changes them while
 * it connects. */
#include "process.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "../base/signals.h"

enum {
    POLL_MAX = 2200,
    TURN_MS = 1000,  /* the longest that the loop waits */
    CLOSING_MS = 100 /* while workers close their jobs */
};

void process_init(struct process *p, const struct process_options *options)
{
    *p = (struct process){ .o = *options, .signals = -1 };
}

bool process_has_child(const void *process, pid_t pid)
{
    const struct process *p = process;
    for (int i = 0; i < p->n; i++)
        if (engine_has_child(p->all[i].e, pid))
            return true;
    return false;
}

static int64_t now_us(const struct process *p)
{
    return clock_mono_us(p->o.clock);
}

static int place_of(const struct process *p, enum process_stage stage)
{
    for (int i = 0; i < p->n; i++)
        if (p->all[i].stage == stage)
            return i;
    return -1;
}

static struct process_engine *find(struct process *p, enum process_stage stage)
{
    int i = place_of(p, stage);
    return i < 0 ? NULL : &p->all[i];
}

/* ---- signals ---- */

static const int heard[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD, 0 };

static void stop_all(struct process *p)
{
    p->is_ending = true;
    for (int i = 0; i < p->n; i++)
        engine_stop(p->all[i].e);
}

static void tell_stop(const struct process *p)
{
    enum { STOP_MORE_US = 10 * 1000 * 1000 };
    int64_t longest_us = 0;
    for (int i = 0; i < p->n; i++) {
        int64_t us = engine_settings(p->all[i].e)->stop_timeout_us;
        longest_us = us > longest_us ? us : longest_us;
    }
    supervisor_stops(p->o.supervisor, 2 * longest_us + STOP_MORE_US);
}

static void take_stop_signal(struct process *p, int signo)
{
    if (++p->stop_signals > 1) {
        for (int i = 0; i < p->n; i++)
            engine_stop_at_once(p->all[i].e);
        return;
    }
    log_info(p->o.log, "SIG%s: finishing what runs, taking nothing new", sigabbrev_np(signo));
    tell_stop(p);
    stop_all(p);
}

/* A terminal that is closed sends more than one, by its shell and by the kernel: they do not hurry
 * what ends. */
static void take_hangup(struct process *p, const struct signalfd_siginfo *info)
{
    bool from_kernel = info->ssi_code == SI_KERNEL;
    enum hangup_means means = hangup_came(&p->hangup, from_kernel, p->o.renew != NULL, now_us(p));
    if (means == HANGUP_RENEWS && p->is_ending)
        log_info(p->o.log, "SIGHUP: it is about to end, and reads no settings");
    else if (means == HANGUP_RENEWS)
        p->wants_renewal = true;
    else if (means == HANGUP_ENDS && !p->is_ending)
        take_stop_signal(p, SIGHUP);
}

static void take_signals(struct process *p)
{
    struct signalfd_siginfo info;
    while (read(p->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        if (info.ssi_signo == SIGHUP)
            take_hangup(p, &info);
        else
            take_stop_signal(p, (int)info.ssi_signo);
    }
}

/* ---- other settings ---- */

enum process_renewal process_renewal(const struct process *p)
{
    if (!p->wants_renewal || p->is_ending)
        return RENEWAL_NONE;
    if (place_of(p, STAGE_PROVING) >= 0)
        return RENEWAL_INSTEAD;
    return p->n == PROCESS_ENGINES ? RENEWAL_LACKS_ROOM : RENEWAL_NOW;
}

static void tell_lack(struct process *p)
{
    if (!p->waits_to_renew)
        log_info(p->o.log, "SIGHUP: the settings are read when what runs under earlier ones is over");
    p->waits_to_renew = true;
}

/* It has done nothing of an engine's work, so that there is nothing to be finished. */
static void drop_proving(struct process_engine *it)
{
    engine_stop_at_once(it->e);
    it->stage = STAGE_CLOSING;
    engine_close(it->e);
}

static void renew(struct process *p)
{
    enum process_renewal renewal = process_renewal(p);
    if (renewal == RENEWAL_INSTEAD) {
        log_info(p->o.log, "SIGHUP again: the settings that were read before it never were in force");
        drop_proving(find(p, STAGE_PROVING));
    }
    if (renewal == RENEWAL_LACKS_ROOM)
        tell_lack(p);
    if (renewal != RENEWAL_NOW)
        return;
    p->wants_renewal = p->waits_to_renew = false;
    supervisor_reloads(p->o.supervisor, now_us(p));
    struct engine *next = p->o.renew(p->o.ctx);
    if (next)
        p->all[p->n++] = (struct process_engine){ next, STAGE_PROVING, now_us(p) };
}

/* What keeps it from its store may keep it for ever. Where the engine before has none either, both
 * wait for it. */
static void bound_proving(struct process *p)
{
    struct process_engine *it = find(p, STAGE_PROVING), *serving = find(p, STAGE_SERVING);
    bool is_bound = it && serving && !p->is_ending && engine_has_worked(serving->e);
    if (!is_bound || now_us(p) - it->begun_us < PROCESS_PROVING_S * INT64_C(1000000))
        return;
    struct err why;
    const char *last = engine_last_failure(it->e);
    err_set(&why, ERR_LOST, "the store has not let it work with the settings that were read in %d s%s%s",
            PROCESS_PROVING_S, *last ? ": " : "", last);
    p->o.refused(p->o.ctx, it->e, &why);
    drop_proving(it);
}

static void take_over(struct process *p, struct process_engine *next)
{
    struct process_engine *before = find(p, STAGE_SERVING);
    if (before) {
        before->stage = STAGE_LEAVING;
        engine_stop_in_its_time(before->e);
    }
    next->stage = STAGE_SERVING;
    p->o.taken(p->o.ctx, next->e);
}

/* ---- ends ---- */

static void engine_ended(struct process *p, struct process_engine *it)
{
    struct err err = { 0 };
    int rc = engine_result(it->e, &err);
    if (it->stage == STAGE_PROVING && !p->is_ending)
        p->o.refused(p->o.ctx, it->e, &err);
    if (it->stage == STAGE_SERVING) {
        p->rc = rc;
        p->err = err;
        stop_all(p);
    }
    it->stage = STAGE_CLOSING;
    engine_close(it->e);
}

static void follow(struct process *p, struct process_engine *it)
{
    if (it->stage != STAGE_CLOSING && engine_has_ended(it->e))
        engine_ended(p, it);
    else if (it->stage == STAGE_PROVING && engine_has_worked(it->e) && !p->is_ending)
        take_over(p, it);
}

/* Another signal cuts short what workers have left to do. */
static void give_back_closed(struct process *p)
{
    for (int i = 0; i < p->n;) {
        struct process_engine it = p->all[i];
        if (it.stage != STAGE_CLOSING || (!engine_is_closed(it.e) && p->stop_signals < 2)) {
            i++;
            continue;
        }
        memmove(&p->all[i], &p->all[i + 1], (size_t)(--p->n - i) * sizeof *p->all);
        p->o.over(p->o.ctx, it.e);
    }
}

/* ---- the loop ---- */

static int wait_ms(const struct process *p)
{
    enum process_renewal renewal = process_renewal(p);
    int ms = renewal == RENEWAL_NOW || renewal == RENEWAL_INSTEAD ? 0 : TURN_MS;
    int64_t now = now_us(p);
    for (int i = 0; i < p->n; i++) {
        int64_t left_us = engine_next_us(p->all[i].e) - now;
        if (p->all[i].stage == STAGE_CLOSING)
            left_us = CLOSING_MS * 1000;
        if (left_us <= 0)
            return 0;
        if (left_us < ms * INT64_C(1000))
            ms = (int)((left_us + 999) / 1000);
    }
    return ms;
}

static void wait_for_something(struct process *p)
{
    struct pollfd fds[POLL_MAX];
    int n = 0;
    fds[n++] = (struct pollfd){ .fd = p->signals, .events = POLLIN };
    for (int i = 0; i < p->n; i++)
        n += engine_poll_fds(p->all[i].e, fds + n, POLL_MAX - n);
    poll(fds, (nfds_t)n, wait_ms(p));
    if (fds[0].revents)
        take_signals(p);
}

/* The store lets it work, and no other settings are being tried. */
static bool is_ready(struct process *p)
{
    const struct process_engine *serving = find(p, STAGE_SERVING);
    return serving && engine_has_worked(serving->e) && !p->wants_renewal && !find(p, STAGE_PROVING);
}

static void turn(struct process *p)
{
    wait_for_something(p);
    hangup_look(&p->hangup, now_us(p));
    renew(p);
    for (int i = 0; i < p->n; i++)
        if (p->all[i].stage != STAGE_CLOSING)
            engine_turn(p->all[i].e);
    for (int i = 0; i < p->n; i++)
        follow(p, &p->all[i]);
    bound_proving(p);
    give_back_closed(p);
    if (is_ready(p))
        supervisor_ready(p->o.supervisor);
    supervisor_turn(p->o.supervisor, now_us(p));
}

int process_run(struct process *p, struct engine *first, struct err *err)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* it gets the children that its workers leave behind */
    p->all[p->n++] = (struct process_engine){ first, STAGE_SERVING, now_us(p) };
    signal(SIGPIPE, SIG_IGN);
    hangup_init(&p->hangup, now_us(p));
    p->signals = signals_open(heard, err);
    if (p->signals < 0) {
        p->n = 0;
        p->o.over(p->o.ctx, first);
        return p->signals;
    }
    while (p->n)
        turn(p);
    close(p->signals);
    if (p->rc && err)
        *err = p->err;
    return p->rc;
}

/* ---- one engine, and no other settings ---- */

static void is_over(void *ctx, struct engine *e)
{
    (void)ctx;
    (void)e;
}

int engine_run(struct engine *e, const struct plan *plan, void *plan_state, struct err *err)
{
    struct process p;
    process_init(&p, &(struct process_options){
                         .log = engine_log(e),
                         .clock = engine_clock(e),
                         .over = is_over,
                     });
    engine_begin(e, plan, plan_state);
    return process_run(&p, e, err);
}
