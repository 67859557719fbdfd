/* errand.c - the table of errands, and the one that is given. */
#include "errand.h"

#include <stdlib.h>

#include "../rules/slot.h"

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
    r->late.beside_opened = errand->kind == ERRAND_LATE_BESIDE;
}

static void fill_mark_swept(const struct errand *errand, const struct errand_env *env,
                            union errand_request *r)
{
    (void)env;
    r->swept = (struct store_mark_swept)STORE_MARK_SWEPT_INIT;
    r->swept.slot = errand->before;
    r->swept.full = errand->full;
}

static void fill_prune(const struct errand *errand, const struct errand_env *env, union errand_request *r)
{
    (void)env;
    r->prune = (struct store_prune)STORE_PRUNE_INIT;
    r->prune.part = (enum prune_part)errand->from;
    r->prune.wish = errand->full ? PRUNE_CLAIM : PRUNE_DROP;
    r->prune.before = errand->before;
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

static void take_hello(const struct errand_env *env, int64_t now_us, const union errand_request *answer)
{
    const struct store_hello *hello = &answer->hello;
    if (!env->clocks->is_known)
        check_serve(env, hello->slot_length_s);
    clocks_set(env->clocks, hello->now_us, hello->slot_length_s, hello->full_look_at, now_us);
}

static void take_keep_days(const struct errand_env *env, int64_t now_us, const union errand_request *answer)
{
    (void)now_us;
    if (*answer->days.noted)
        log_warn(env->log, "%s", answer->days.noted);
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
    [ERRAND_RELOOK] = { fill_relook, NULL, NULL, false },
    [ERRAND_LATE_SLOT] = { fill_late_slot, NULL, NULL, false },
    [ERRAND_RELOOK_SETTLED] = { fill_relook, NULL, NULL, false },
    [ERRAND_LATE_BESIDE] = { fill_late_slot, NULL, NULL, false },
    [ERRAND_MARK_SWEPT] = { fill_mark_swept, NULL, NULL, false },
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

bool errands_wait(const struct errands *all)
{
    return all->current.kind && !all->current.is_under_way;
}

bool errands_are_urgent(const struct errands *all, int64_t now_us)
{
    const struct errand *errand = &all->current;
    if (errand->kind == ERRAND_KEEP_DAYS)
        return true;
    return !errand_can_wait(errand->kind) && now_us - errand->given_us > URGENT_AFTER_US;
}
