/* errand.c - the table of errands, and the one that is given. */
#include "errand.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../rules/job_limits.h"
#include "../rules/slot.h"
#include "digests.h"
#include "noted.h"

enum { URGENT_AFTER_US = 2 * 1000 * 1000 };

/* ---- requests ---- */

static void fill_hello(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)errand, (void)env;
    r->hello = (struct store_hello)STORE_HELLO_INIT;
}

static void fill_keep_days(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)errand;
    r->days = (struct store_keep_days)STORE_KEEP_DAYS_INIT;
    r->days.days = env->settings->history_days_ahead;
}

static void fill_index_days(const struct errand *errand, const struct errand_env *env,
                            union errand_request *r)
{
    (void)errand, (void)env;
    r->days = (struct store_keep_days)STORE_KEEP_DAYS_INIT;
}

static void fill_pulse(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)errand, (void)env;
    r->pulse = (struct store_pulse)STORE_PULSE_INIT;
}

static void fill_fine_slots(const struct errand *errand, const struct errand_env *env,
                            union errand_request *r)
{
    (void)env;
    r->fine = (struct store_fine_slots)STORE_FINE_SLOTS_INIT;
    r->fine.low = errand->from;
    if (!errand->jobs)
        return;
    r->fine.jobs = errand->jobs->names;
    r->fine.njobs = errand->jobs->nnames;
}

static void fill_report(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)env;
    r->report = *errand->report;
}

static void fill_pauses(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)env;
    r->pauses = (struct store_pauses)STORE_PAUSES_INIT;
    r->pauses.known = errand->from;
}

static void fill_end_pauses(const struct errand *errand, const struct errand_env *env,
                            union errand_request *r)
{
    (void)errand, (void)env;
    r->end_pauses = (struct store_end_pauses)STORE_END_PAUSES_INIT;
}

static void fill_relook(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    r->relook = (struct store_relook)STORE_RELOOK_INIT;
    r->relook.now = env->clocks->virtual_now;
    r->relook.settled_only = errand->kind == ERRAND_RELOOK_SETTLED;
    r->relook.slots = calloc(BUCKETS, sizeof *r->relook.slots);
    r->relook.want = r->relook.slots ? BUCKETS : 0;
}

static void fill_late_slot(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)env;
    r->late = (struct store_late_slot)STORE_LATE_SLOT_INIT;
    r->late.from = errand->from;
    r->late.before = errand->before;
    r->late.full = errand->full;
    r->late.urgent_from = errand->urgent_from;
    r->late.beside_opened = errand->kind == ERRAND_LATE_BESIDE;
}

static void fill_refile(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    enum { AT_ONCE = 2000 };            /* well below a second */
    (void)env;
    r->refile = (struct store_refile)STORE_REFILE_INIT;
    r->refile.from = errand->from;
    r->refile.before = errand->before;
    r->refile.most = AT_ONCE;
}

/* Before a worker has loaded the jobs, one check is fetched, whose run loads them: a job that
 * cannot be loaded here would else move all its checks to and fro. So would one that is broken;
 * its checks come back by themselves within an hour. */
static void fill_recall(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    r->recall = (struct store_recall)STORE_RECALL_INIT;
    r->recall.now = env->clocks->virtual_now;
    r->recall.after = errand->after;
    if (!errand->jobs)
        return;
    r->recall.jobs = errand->jobs->sound;
    r->recall.njobs = errand->jobs->nsound;
    r->recall.only_one = !errand->jobs->changes;
}

static void fill_mark_swept(const struct errand *errand, const struct errand_env *env,
                            union errand_request *r)
{
    (void)env;
    r->swept = (struct store_mark_swept)STORE_MARK_SWEPT_INIT;
    r->swept.slot = errand->before;
    r->swept.full = errand->full;
}

static void fill_keep_digests(const struct errand *errand, const struct errand_env *env,
                              union errand_request *r)
{
    r->digests = (struct store_keep_digests)STORE_KEEP_DIGESTS_INIT;
    digests_fill(env, errand->given_us, &r->digests);
}

static void fill_note_listeners(const struct errand *errand, const struct errand_env *env,
                                union errand_request *r)
{
    r->note = (struct store_note_listeners)STORE_NOTE_LISTENERS_INIT;
    r->note.command = errand->command;
    r->note.counts_s = errand->counts_s;
    noted_fill(env, errand->totals, &r->note);
}

static void fill_note_loads(const struct errand *errand, const struct errand_env *env,
                            union errand_request *r)
{
    (void)errand, (void)env;
    r->loads = (struct store_note_loads)STORE_NOTE_LOADS_INIT;
}

static void fill_note_runs(const struct errand *errand, const struct errand_env *env,
                           union errand_request *r)
{
    r->runs = (struct store_note_runs)STORE_NOTE_RUNS_INIT;
    run_hours_fill(env->run_hours, clocks_database_us(env->clocks, errand->sent_us), &r->runs);
}

static void fill_note_running(const struct errand *errand, const struct errand_env *env,
                              union errand_request *r)
{
    r->running = (struct store_note_running)STORE_NOTE_RUNNING_INIT;
    long_runs_fill(env->long_runs, errand->sent_us, &r->running);
}

static void fill_metrics(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)errand;
    measuring_fill(env->measuring, &r->report);
}

static void fill_prune(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)env;
    r->prune = (struct store_prune)STORE_PRUNE_INIT;
    r->prune.fine = errand->from == PRUNE_PARTS;
    r->prune.part = r->prune.fine ? PRUNE_PASSES : (enum prune_part)errand->from;
    r->prune.wish = errand->full ? PRUNE_CLAIM : PRUNE_DROP;
    r->prune.before = errand->before;
}

static void fill_notify(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)errand;
    r->notify = (struct store_notify)STORE_NOTIFY_INIT;
    r->notify.channel = env->settings->notify;
}

/* ---- answers ---- */

/* Which slots other servers run is not known here; that one of ours does not exist is. */
static void check_serve(const struct errand_env *env, int32_t length_s)
{
    char mistakes[512];
    const struct settings *s = env->settings;
    if (slot_serve_mistakes(s->serve, s->nserve, length_s, mistakes, sizeof mistakes))
        log_warn(env->log, "%s; slots that no server serves run an hour late", mistakes);
}

/* Asked again whenever the slot length has changed. */
static bool attempts_fit(const struct errand_env *env, int32_t length_s)
{
    struct err err;
    if (length_s == env->clocks->slot_length_s || job_limits_fit(env->settings, length_s, &err) == 0)
        return true;
    env->fatal(env->ctx, err.code, err.text);
    return false;
}

static void take_hello(const struct errand_env *env, int64_t now_us, const union errand_request *answer)
{
    const struct store_hello *hello = &answer->hello;
    if (!attempts_fit(env, hello->slot_length_s))
        return;
    if (!env->clocks->is_known)
        check_serve(env, hello->slot_length_s);
    clocks_set(env->clocks, hello->now_us, hello->slot_length_s, hello->full_look_at, now_us);
    if (hello->pace_s >= 0 && hello->pace_s <= hello->slot_length_s)
        env->clocks->pace_s = hello->pace_s;
}

static void take_keep_days(const struct errand_env *env, int64_t now_us, const union errand_request *answer)
{
    (void)now_us;
    if (*answer->days.noted)
        log_warn(env->log, "%s", answer->days.noted);
}

static void warn_of_buckets(const struct errand_env *env, const struct store_mark_swept *swept)
{
    int64_t n = swept->refiled + swept->doubles;
    if (n)
        log_warn(env->log,
                 "%" PRId64 " waiting %s in a bucket that is not that of the key, as %s: a plain INSERT "
                 "filed them, and enqueue and resolve could not find them. They are in the right one now, "
                 "for the same slot; %" PRId64 " of them had been filed once more meanwhile, and ended. "
                 "File checks by prescient.enqueue()",
                 n, n == 1 ? "check was" : "checks were", swept->one_refiled, swept->doubles);
}

static void take_mark_swept(const struct errand_env *env, int64_t now_us,
                            const union errand_request *answer)
{
    (void)now_us;
    warn_of_buckets(env, &answer->swept);
    int64_t n = answer->swept.filed;
    if (n)
        log_warn(env->log,
                 "%" PRId64 " %s no check that waits: deleted by hand, or lost with an older copy of the "
                 "table; filed in the next slot, where the rule holds from now on (prescient schedule show "
                 "NAME)",
                 n, n == 1 ? "schedule that is on had" : "schedules that are on had");
}

static void take_keep_digests(const struct errand_env *env, int64_t now_us,
                              const union errand_request *answer)
{
    (void)now_us;
    int64_t n = answer->digests.filed;
    if (n)
        log_info(env->log, "%" PRId64 " %s filed as the settings say", n,
                 n == 1 ? "digest is" : "digests are");
}

static void take_note_runs(const struct errand_env *env, int64_t now_us, const union errand_request *answer)
{
    (void)now_us, (void)answer;
    run_hours_noted(env->run_hours, true);
}

static void take_note_running(const struct errand_env *env, int64_t now_us,
                              const union errand_request *answer)
{
    (void)now_us;
    long_runs_noted(env->long_runs, &answer->running);
}

static void take_metrics(const struct errand_env *env, int64_t now_us, const union errand_request *answer)
{
    measuring_came(env->measuring, now_us, &answer->report.rows);
}

static void index_days_failed(const struct errand_env *env, const struct err *err)
{
    log_warn(env->log, "a day of the history was not indexed; lookups in it are slower: %s",
             err->text);
}

/* pruning.c logs it */
static void prune_failed(const struct errand_env *env, const struct err *err)
{
    (void)env, (void)err;
}

static void notify_failed(const struct errand_env *env, const struct err *err)
{
    log_info(env->log, "who waits for events was not told: %s", err->text);
}

static void note_failed(const struct errand_env *env, const struct err *err)
{
    log_warn(env->log, "prescient doctor cannot compare the listeners of this engine with others: %s",
             err->text);
}

/* Slots are drawn by the counts of before. */
static void note_loads_failed(const struct errand_env *env, const struct err *err)
{
    log_info(env->log, "the checks of the next slots were not counted: %s", err->text);
}

/* They are written again in ten seconds, if they still run. */
static void note_running_failed(const struct errand_env *env, const struct err *err)
{
    log_debug(env->log, "which runs go on for long was not written: %s", err->text);
}

/* They are written the next time. */
static void note_runs_failed(const struct errand_env *env, const struct err *err)
{
    run_hours_noted(env->run_hours, false);
    log_info(env->log, "what runs were like was not written yet: %s", err->text);
}

/* It is asked for again in a minute. */
static void metrics_failed(const struct errand_env *env, const struct err *err)
{
    measuring_came(env->measuring, env->now_us, NULL);
    log_warn(env->log, "metrics are not known: %s", err->text);
}

/* Who pauses or resumes at this moment holds what it needs: it is asked again. */
static void end_pauses_failed(const struct errand_env *env, const struct err *err)
{
    if (err->code != ERR_BUSY)
        log_warn(env->log, "it is not known whether a pause is over: %s", err->text);
}

/* ---- the table ---- */

static const struct errand_row {
    void (*fill)(const struct errand *errand, const struct errand_env *env, union errand_request *request);
    /* NULL: only the plan needs its answer */
    void (*take)(const struct errand_env *env, int64_t now_us, const union errand_request *answer);
    /* NULL: the lane backs off */
    void (*failed)(const struct errand_env *env, const struct err *err);
    bool can_wait;
} rows[ERRANDS] = {
    [ERRAND_HELLO] = { fill_hello, take_hello, NULL, false },
    [ERRAND_KEEP_DAYS] = { fill_keep_days, take_keep_days, NULL, false },
    [ERRAND_INDEX_DAYS] = { fill_index_days, NULL, index_days_failed, true },
    [ERRAND_PULSE] = { fill_pulse, NULL, NULL, false },
    [ERRAND_FINE_SLOTS] = { fill_fine_slots, NULL, NULL, false },
    [ERRAND_REPORT] = { fill_report, NULL, NULL, false },
    [ERRAND_PAUSES] = { fill_pauses, NULL, NULL, false },
    [ERRAND_END_PAUSES] = { fill_end_pauses, NULL, end_pauses_failed, true },
    [ERRAND_RELOOK] = { fill_relook, NULL, NULL, false },
    [ERRAND_LATE_SLOT] = { fill_late_slot, NULL, NULL, false },
    [ERRAND_RELOOK_SETTLED] = { fill_relook, NULL, NULL, false },
    [ERRAND_LATE_BESIDE] = { fill_late_slot, NULL, NULL, false },
    [ERRAND_REFILE] = { fill_refile, NULL, NULL, false },
    [ERRAND_RECALL] = { fill_recall, NULL, NULL, false },
    [ERRAND_MARK_SWEPT] = { fill_mark_swept, take_mark_swept, NULL, false },
    [ERRAND_KEEP_DIGESTS] = { fill_keep_digests, take_keep_digests, NULL, false },
    [ERRAND_NOTE_LISTENERS] = { fill_note_listeners, NULL, note_failed, true },
    [ERRAND_NOTE_LOADS] = { fill_note_loads, NULL, note_loads_failed, true },
    [ERRAND_NOTE_RUNS] = { fill_note_runs, take_note_runs, note_runs_failed, true },
    [ERRAND_NOTE_RUNNING] = { fill_note_running, take_note_running, note_running_failed, true },
    [ERRAND_METRICS] = { fill_metrics, take_metrics, metrics_failed, true },
    [ERRAND_NOTIFY] = { fill_notify, NULL, notify_failed, true },
    [ERRAND_PRUNE] = { fill_prune, NULL, prune_failed, true },
};

bool errand_can_wait(enum errand_kind kind)
{
    return rows[kind].can_wait;
}

void errand_fill(struct errands *all, const struct errand_env *env, int64_t now_us,
                 union errand_request *request)
{
    all->current.is_under_way = true;
    all->current.sent_us = now_us;
    rows[all->current.kind].fill(&all->current, env, request);
}

bool errand_ended(struct errands *all, const struct errand_env *env, int64_t now_us, int rc,
                  const union errand_request *answer, struct errand_result *out)
{
    struct errand errand = all->current;
    const struct errand_row *row = &rows[errand.kind];
    all->current = (struct errand){ 0 };
    if (rc && row->failed)
        row->failed(env, &answer->call.err);
    if (!rc && row->take)
        row->take(env, now_us, answer);
    *out = (struct errand_result){
        .errand = errand,
        .rc = rc,
        .err = &answer->call.err,
        .took_us = now_us - errand.sent_us,
        .late = all->late[errand.kind],
        .reply = answer,
    };
    return rc && !row->failed;
}

void errand_release(union errand_request *request)
{
    if (request->call.op == STORE_RELOOK)
        free(request->relook.slots);
    if (request->call.op == STORE_PAUSES)
        arena_free(request->pauses.arena);
    if (request->call.op == STORE_KEEP_DIGESTS)
        arena_free(request->digests.arena);
    if (request->call.op == STORE_NOTE_LISTENERS)
        arena_free(request->note.arena);
    if (request->call.op == STORE_NOTE_RUNNING)
        arena_free(request->running.arena);
}

/* ---- the one that is given ---- */

bool errands_give(struct errands *all, const struct errand *errand, int64_t now_us)
{
    const struct errand *other = &all->current;
    bool goes_first = errand->kind == ERRAND_KEEP_DAYS || errand_can_wait(other->kind);
    if (other->kind && (other->is_under_way || other->kind == errand->kind || !goes_first))
        return false;
    all->current = *errand;
    all->current.given_us = now_us;
    return true;
}

void errands_drop(struct errands *all)
{
    if (!all->current.is_under_way)
        all->current = (struct errand){ 0 };
}

bool errand_is_last(enum errand_kind kind)
{
    return kind == ERRAND_NOTE_RUNS || kind == ERRAND_NOTE_RUNNING || kind == ERRAND_NOTIFY;
}

bool errands_wait(const struct errands *all, bool stopping)
{
    enum errand_kind kind = all->current.is_under_way ? ERRAND_NONE : all->current.kind;
    return stopping ? errand_is_last(kind) : kind != ERRAND_NONE;
}

bool errands_are_urgent(const struct errands *all, int64_t now_us)
{
    const struct errand *errand = &all->current;
    enum errand_kind kind = errand->kind;
    if (errand->is_urgent || kind == ERRAND_KEEP_DAYS || kind == ERRAND_FINE_SLOTS || kind == ERRAND_PAUSES)
        return true;
    return !errand_can_wait(errand->kind) && now_us - errand->given_us > URGENT_AFTER_US;
}
