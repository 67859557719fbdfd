/* engine.c - its turns, and what happens between lanes, pool and plan. */
#include "engine.h"

#include <string.h>

#include "../base/moment.h"
#include "../rules/about.h"
#include "../rules/slot.h"
#include "engine_state.h"
#include "lane.h"
#include "lane_buckets.h"

static int64_t now_us(const struct engine *e)
{
    return clock_mono_us(e->o.clock);
}

/* ---- events of lanes ---- */

static void log_fine_slots(struct engine *e)
{
    char counts[PASS_COUNTS_TEXT];
    if (!e->fine_done.slots)
        return;
    log_info(e->o.log, "asked for at once, in %d seconds: %s", e->fine_done.slots,
             pass_counts_format(&e->fine_done.counts, counts));
    memset(&e->fine_done, 0, sizeof e->fine_done);
    e->fine_done.logged_us = now_us(e);
}

static void fine_slot_over(struct engine *e, const struct target *t)
{
    enum { EVERY_US = 60 * 1000 * 1000 };
    e->fine_done.slots++;
    pass_counts_add(&e->fine_done.counts, &t->counts);
    if (now_us(e) - e->fine_done.logged_us >= EVERY_US)
        log_fine_slots(e);
}

/* The slot of a pause is no time that says anything. */
static const char *paused_name(const struct engine *e, int64_t slot)
{
    const struct pause *p = pauses_of_slot(&e->pausing.pauses, slot);
    return p ? p->name : "what was resumed";
}

/* A slot of which nothing could be had is opened until others are through with it. */
static bool is_news(struct engine *e, const struct target *t)
{
    const struct pass_counts *c = &t->counts;
    if (c->run || c->held_back || c->unknown_job || c->busy)
        return true;
    if (!t->held_by_others || slot_is_fine(t->slot, e->clocks.slot_length_s))
        return t->held_by_others;
    return cooldown_may_log(&e->cooldowns, cooldown_of(COOLDOWN_LEASES, t->slot), now_us(e));
}

static void log_target_over(struct engine *e, const struct target *t)
{
    static const char *const kinds[] = { "slot", "slot (again)", "missed slot", "late slot",
                                         "late slot (moved on)" };
    const struct pass_counts *c = &t->counts;
    char slot[MOMENT_TEXT], counts[PASS_COUNTS_TEXT];
    if (!is_news(e, t))
        return;
    if (slot_is_fine(t->slot, e->clocks.slot_length_s)) {
        fine_slot_over(e, t);
        return;
    }
    const char *kind = kinds[t->kind], *which = moment_format(t->slot, slot);
    if (t->only_urgent)
        kind = "urgent checks of the late slot";
    if (slot_is_of_pause(t->slot)) {
        kind = "moved on, after the pause of";
        which = paused_name(e, t->slot);
    }
    log_line_about(e->o.log, LOG_LEVEL_INFO, about_slot(t->slot),
                   "%s %s: %s; %d leases held by others; %lld ms", kind, which,
                   pass_counts_format(c, counts), t->held_by_others,
                   (long long)(now_us(e) - t->began_us) / 1000);
}

static void count_target(struct engine *e, const struct target *target)
{
    struct totals *t = &e->totals;
    t->slots++;
    t->held_by_others += target->held_by_others;
    if (slot_is_fine(target->slot, e->clocks.slot_length_s) || slot_is_of_pause(target->slot))
        return;
    t->last_slot = target->slot;
    t->last_pass_us = clocks_now_us(&e->clocks, now_us(e));
}

void engine_target_over(void *engine, struct target *target)
{
    struct engine *e = engine;
    pass_counts_add(&e->totals.counts, &target->counts);
    if (!target->only_urgent) /* else the slot comes again */
        count_target(e, target);
    log_target_over(e, target);
    if (e->o.patient)
        trouble_tell(&e->trouble, &e->cooldowns, now_us(e));
    e->plan->target_over(&e->plan_env, e->plan_state, target);
    e->needs_tick = true;
    bool is_fine = slot_is_fine(target->slot, e->clocks.slot_length_s);
    targets_remove(is_fine ? e->plan_env.fine_targets : &e->targets, target);
}

void engine_errand_done(void *engine, const struct errand_result *result)
{
    struct engine *e = engine;
    bool pauses_changed;
    e->needs_tick = true;
    bool is_note = result->errand.kind == ERRAND_NOTE_RUNS || result->errand.kind == ERRAND_NOTE_RUNNING;
    if (e->note_until_us && is_note && result->rc)
        e->note_until_us = now_us(e);   /* it is not tried again */
    bool is_ours = pausing_errand_done(&e->pausing, &e->plan_env, result, &pauses_changed);
    is_ours = is_ours || notifying_errand_done(&e->notifying, &e->plan_env, result);
    if (pauses_changed)
        lanes_take_back_paused(&e->lanes);
    if (!is_ours)
        e->plan->errand_done(&e->plan_env, e->plan_state, result);
}

void engine_fatal(void *engine, int rc, const char *text)
{
    struct engine *e = engine;
    shutdown_end(&e->shutdown, rc, "%s", text);
}

/* ---- events of the pool ---- */

void engine_answered(void *engine, struct page *page, int index, enum answer_kind kind,
                     const struct raw_answer *raw, int64_t taken_us)
{
    const struct engine *e = engine;
    lanes_take_answer(&e->lanes, page, index, kind, raw, taken_us);
}

/* What was left or put off while a job could not be run is found by the next look and the next
 * sweep. At the end of an engine its workers end, which is no news. */
void engine_workers_ready(void *engine, const bool *usable)
{
    struct engine *e = engine;
    enum log_level level = e->shutdown.stopping || e->shutdown.ended ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR;
    for (int i = 0; i < e->o.settings->njobs; i++) {
        const char *name = e->o.settings->jobs[i].name;
        bool was_usable = e->jobs.watched[i].is_usable;
        if (was_usable && !usable[i]) {
            log_line_about(
                e->o.log, level, (struct log_about){ .job = name },
                "job %s cannot be run here; other engines get its checks until a worker can open it", name);
            lanes_job_is_gone(&e->lanes, i);
        } else if (!was_usable && usable[i])
            log_line_about(e->o.log, LOG_LEVEL_INFO, (struct log_about){ .job = name },
                           "job %s can be run here again", name);
    }
    jobs_set_usable(&e->jobs, usable);
    e->needs_tick = true;
}

static bool is_idle_but_for_notifying(const struct engine *e)
{
    if (e->targets.first || e->fine_targets.first || e->errands.current.kind || e->fine_errands.current.kind)
        return false;
    for (int i = 0; i < e->lanes.n; i++)
        if (!lane_is_idle(&e->lanes.all[i]))
            return false;
    return places_hold_nothing(e->places);
}

bool engine_is_idle(const void *engine)
{
    const struct engine *e = engine;
    return is_idle_but_for_notifying(e) && !notifying_owes(&e->notifying, &e->plan_env);
}

/* ---- ending ---- */

void engine_stop(struct engine *e)
{
    shutdown_begin(&e->shutdown, now_us(e) + e->o.settings->stop_timeout_us);
}

/* The timeouts of its jobs bound that, and a later stop. */
void engine_stop_in_its_time(struct engine *e)
{
    if (!e->shutdown.stopping)
        lanes_leave(&e->lanes);
    shutdown_begin(&e->shutdown, SHUTDOWN_IN_ITS_TIME);
}

void engine_stop_at_once(struct engine *e)
{
    shutdown_end(&e->shutdown, ERR_STOPPED, "stopped at once by a second signal");
}

static bool lanes_hold_nothing(const struct engine *e)
{
    for (int i = 0; i < e->lanes.n; i++)
        if (e->lanes.all[i].nbuckets || e->lanes.all[i].doing != LANE_WAIT)
            return false;
    return places_hold_nothing(e->places);
}

static bool jobs_run(const struct engine *e)
{
    for (int i = 0; i < e->lanes.n; i++)
        for (const struct page *p = e->lanes.all[i].pages; p; p = p->following)
            if (p->counts[CHECK_GIVEN])
                return true;
    return false;
}

/* What the plan still wanted to know is left to the next engine. */
static void drop_questions(struct engine *e)
{
    bool hears = shutdown_leaves(&e->shutdown) && lanes_go_on(&e->lanes) &&
                 e->fine_errands.current.kind == ERRAND_PAUSES;
    if (!errand_is_last(e->errands.current.kind))
        errands_drop(&e->errands);
    if (!hears && !errand_is_last(e->fine_errands.current.kind))
        errands_drop(&e->fine_errands);
}

/* What the last runs were like is written, who waits for events is told of the last ones, and none
 * of its runs goes on any more. */
static enum errand_kind last_word(const struct engine *e)
{
    if (run_hours_have_news(e->run_hours))
        return ERRAND_NOTE_RUNS;
    if (notifying_owes(&e->notifying, &e->plan_env))
        return ERRAND_NOTIFY;
    return e->long_runs.is_noted ? ERRAND_NOTE_RUNNING : ERRAND_NONE;
}

/* If the store takes them soon. */
static bool last_words_are_said(struct engine *e, int64_t now_us)
{
    enum { HURRIED_US = 1000 * 1000, IN_ITS_TIME_US = 10 * 1000 * 1000 };
    enum errand_kind word = last_word(e);
    if (!e->note_until_us)
        e->note_until_us = now_us + (shutdown_hurries(&e->shutdown) ? HURRIED_US : IN_ITS_TIME_US);
    if (word == ERRAND_NONE || now_us >= e->note_until_us)
        return true;
    drop_questions(e);
    bool is_given = e->fine_errands.current.kind == word;   /* before; two lanes would share its rows */
    if (word == ERRAND_NOTIFY)
        notifying_tick(&e->notifying, &e->plan_env, true);
    else if (!is_given && errands_give(&e->errands, &(struct errand){ .kind = word }, now_us))
        e->needs_tick = true;           /* a lane has to be asked */
    return false;
}

/* Stopping ends when all leases are given back; at its timeout running jobs are ended, and some
 * seconds later we go anyway. */
static void stop_turn(struct engine *e)
{
    static const char jobs_stay[] =
        "jobs still run after the stop timeout: they are ended, their checks run again";
    static const char answers_stay[] =
        "answers still cannot be written after the stop timeout: their checks run again";
    struct shutdown *s = &e->shutdown;
    int64_t now = now_us(e), grace_us = e->o.settings->kill_grace_us + 2000000;
    if (lanes_hold_nothing(e) && last_words_are_said(e, now))
        shutdown_end(s, ERR_STOPPED, "stopped");
    else if (now > s->until_us + grace_us)
        shutdown_end(s, ERR_STOPPED, "stopped with leases still held: they expire by themselves");
    else if (now > s->until_us && !s->jobs_killed) {
        log_warn(e->o.log, "%s", jobs_run(e) ? jobs_stay : answers_stay);
        s->jobs_killed = true;
        pool_kill(e->pool);
    }
}

bool engine_has_ended(const struct engine *e)
{
    return e->shutdown.ended;
}

int engine_result(const struct engine *e, struct err *err)
{
    if (e->workers_broken) {
        const char *why = pool_broken(e->pool);
        return err_set(err, ERR_SETTINGS, "no worker gets ready: %s", why ? why : "see the log");
    }
    if (e->shutdown.rc && err)
        *err = e->shutdown.err;
    return e->shutdown.rc;
}

bool engine_has_worked(const struct engine *e)
{
    return e->health.has_worked;
}

const char *engine_last_failure(const struct engine *e)
{
    return e->health.last_failure.text;
}

bool engine_has_child(const struct engine *e, pid_t pid)
{
    return pool_has_child(e->pool, pid);
}

const struct settings *engine_settings(const struct engine *e)
{
    return e->o.settings;
}

struct log *engine_log(const struct engine *e)
{
    return e->o.log;
}

const struct clock *engine_clock(const struct engine *e)
{
    return e->o.clock;
}

const struct totals *engine_totals(const struct engine *e)
{
    return &e->totals;
}

const unsigned char *engine_owner(const struct engine *e)
{
    return e->owner;
}

/* ---- the loop ---- */

int64_t engine_next_us(const struct engine *e)
{
    return e->needs_tick ? now_us(e) : agenda_next_us(&e->agenda);
}

int engine_poll_fds(const struct engine *e, struct pollfd *out, int room)
{
    int n = 0;
    for (int i = 0; i < e->lanes.n && n < room; i++) {
        const struct lane *l = &e->lanes.all[i];
        if (l->doing != LANE_WAIT && store_fd(l->store) >= 0)
            out[n++] = (struct pollfd){ .fd = store_fd(l->store), .events = store_wants(l->store) };
    }
    return n + pool_poll_fds(e->pool, out + n, room - n);
}

void engine_begin(struct engine *e, const struct plan *plan, void *plan_state)
{
    e->plan = plan;
    e->plan_state = plan_state;
    e->totals.began_us = now_us(e);
    errands_give(&e->errands, &(struct errand){ .kind = ERRAND_HELLO }, now_us(e));
    e->needs_tick = true;
}

/* Before it is known what is paused, nothing is chosen that would be run. */
static void plan_turn(struct engine *e)
{
    pausing_tick(&e->pausing, &e->plan_env);
    notifying_tick(&e->notifying, &e->plan_env, !e->o.patient && is_idle_but_for_notifying(e));
    if (e->pausing.is_known || !e->clocks.is_known)
        e->plan->tick(&e->plan_env, e->plan_state);
}

/* Another engine takes what is due. As long as runs of this one go on it notes which, and tells who
 * waits for events of those that settles write. */
static void leaving_turn(struct engine *e)
{
    drop_questions(e);
    if (lanes_go_on(&e->lanes))
        pausing_ask(&e->pausing, &e->plan_env);
    notifying_tick(&e->notifying, &e->plan_env, false);
    plan_note_own_runs(&e->plan_env);
}

void engine_turn(struct engine *e)
{
    enum { STOP_WATCH_US = 50000 };
    struct shutdown *s = &e->shutdown;
    e->needs_tick = false;
    agenda_ring(&e->agenda, now_us(e));
    e->clocks.suspended_us = clock_boot_us(e->o.clock) - now_us(e);
    pool_tick(e->pool);
    lanes_collect_places(&e->lanes);
    if (!s->stopping)
        plan_turn(e);
    else if (!shutdown_hurries(s))
        leaving_turn(e);
    for (int i = 0; i < e->lanes.n && !s->ended; i++)
        lane_drive(&e->lanes.all[i]);
    pool_tick(e->pool);                 /* give what was read just now */
    if (s->stopping && !s->ended)
        stop_turn(e);
    if (pool_broken(e->pool) && !e->o.patient && !s->stopping) {
        log_error(e->o.log, "no worker gets ready: %s", pool_broken(e->pool));
        e->workers_broken = true;
        engine_stop(e);
    }
    for (int i = 0; i < e->lanes.n; i++)
        lane_set_alarm(&e->lanes.all[i]);
    if (s->stopping)
        agenda_set(&e->agenda, &e->wake_stop, now_us(e) + STOP_WATCH_US);
}

/* ---- its end ---- */

void engine_close(struct engine *e)
{
    log_fine_slots(e);
    trouble_tell(&e->trouble, e->o.patient ? &e->cooldowns : NULL, now_us(e));
    pool_retire(e->pool);
}

bool engine_is_closed(struct engine *e)
{
    pool_tick(e->pool);
    return pool_is_retired(e->pool);
}
