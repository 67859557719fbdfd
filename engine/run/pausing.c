/* pausing.c - see pausing.h. */
#include "pausing.h"

#include <string.h>

#include "plan.h"

enum {
    ASK_US = 1000 * 1000,
    PULSE_LATE_US = 1500 * 1000,        /* a pulse that has not come by then may be none */
    OPEN_US = 2 * 1000 * 1000, OPEN_MAX_US = 30 * 1000 * 1000,
    OPEN_AT_ONCE = 16,
    REST_US = 250,                      /* for each check that was read */
    ROOM = 4096
};

void pausing_init(struct pausing *p)
{
    *p = (struct pausing){ .change = -1 };
}

void pausing_release(struct pausing *p, struct agenda *agenda)
{
    agenda_unset(agenda, &p->wake);
    arena_free(p->arena);
    pausing_init(p);
}

/* Other engines open it, too; a slot without anything to take is left at once, and then not so
 * soon again. They have turns: some may stay as they are, as their checks are locked or damaged. */
static void open_resumed(struct pausing *p, const struct plan_env *env, int64_t now)
{
    int opened = 0;
    for (int i = 0; i < p->pauses.n && opened < OPEN_AT_ONCE; i++) {
        p->turn = (p->turn + 1) % p->pauses.n;
        p->looked++;
        const struct pause *one = &p->pauses.all[p->turn];
        if (one->is_on || plan_has_target(env, one->slot))
            continue;
        opened += plan_add_target(env, TARGET_RELOOK, one->slot);
    }
    p->open_us = now + p->open_pause_us;
    p->open_pause_us = p->open_pause_us * 2 < OPEN_MAX_US ? p->open_pause_us * 2 : OPEN_MAX_US;
}

/* Whether one of them may be over: none of its slot is taken here. To look there while a pass is
 * under way costs more with each row that has left. */
static bool may_be_over(const struct pausing *p, const struct plan_env *env)
{
    for (int i = 0; i < p->pauses.n; i++)
        if (!p->pauses.all[i].is_on && !plan_has_target(env, p->pauses.all[i].slot))
            return true;
    return false;
}

void pausing_ask(struct pausing *p, const struct plan_env *env)
{
    int64_t now = plan_mono_us(env);
    struct errand ask = { .kind = ERRAND_PAUSES, .from = p->is_known ? p->change : -1 };
    if (now >= p->ask_us && errands_give(env->fine_errands, &ask, now))
        p->ask_us = now + ASK_US;
}

void pausing_tick(struct pausing *p, const struct plan_env *env)
{
    int64_t now = plan_mono_us(env);
    if (!env->clocks->is_known)
        return;
    pausing_ask(p, env);
    struct errand end = { .kind = ERRAND_END_PAUSES };
    if (p->nending && now >= p->end_us && may_be_over(p, env) &&
        errands_give(env->fine_errands, &end, now))
        p->end_us = now + ASK_US;
    if (p->nending && now >= p->open_us)
        open_resumed(p, env, now);
    agenda_set(env->agenda, &p->wake, p->ask_us > now ? p->ask_us : now + ASK_US);
}

static bool copy(struct pausing *p, struct arena *arena, const struct pauses *from)
{
    struct pause *all = arena_alloc(arena, (size_t)(from->n + 1) * sizeof *all);
    if (!all)
        return false;
    for (int i = 0; i < from->n; i++) {
        all[i] = from->all[i];
        all[i].name = arena_strdup(arena, from->all[i].name);
        if (!all[i].name)
            return false;
    }
    p->pauses = (struct pauses){ .all = all, .n = from->n };
    return true;
}

/* False: out of memory; what was known is known still, and it is asked again. */
static bool take(struct pausing *p, const struct store_pauses *reply)
{
    struct arena *arena = arena_new(ROOM);
    if (!arena || !copy(p, arena, &reply->pauses)) {
        arena_free(arena);
        return false;
    }
    arena_free(p->arena);
    p->arena = arena;
    p->is_known = true;
    p->change = reply->change;
    pauses_sort(&p->pauses);
    p->nending = 0;
    for (int i = 0; i < p->pauses.n; i++)
        p->nending += !p->pauses.all[i].is_on;
    p->looked = 0;
    p->is_emptied = false;
    p->end_us = p->open_us = 0;
    p->open_pause_us = OPEN_US;
    return true;
}

static void asked(struct pausing *p, const struct plan_env *env, const struct store_pauses *reply,
                  bool *changed)
{
    if (p->is_known && reply->change == p->change)
        return;
    bool was_known = p->is_known;
    if (!take(p, reply)) {
        log_error(env->log, "out of memory for the pauses: it is asked again");
        return;
    }
    *changed = true;
    int on = p->pauses.n - p->nending;
    if (p->pauses.n || was_known)
        log_info(env->log, "%d pauses are on, %d were resumed and are ending", on, p->nending);
}

static void told(struct pausing *p, int64_t change, int64_t now)
{
    p->ask_us = change == p->change ? now + PULSE_LATE_US : 0;
}

bool pausing_errand_done(struct pausing *p, const struct plan_env *env, const struct errand_result *result,
                         bool *changed)
{
    *changed = false;
    if (result->errand.kind == ERRAND_END_PAUSES) {
        bool has_ended = !result->rc && result->reply->end_pauses.ended;
        p->ask_us = has_ended ? 0 : p->ask_us;
        return true;
    }
    if (result->errand.kind == ERRAND_FINE_SLOTS && !result->rc)
        told(p, result->reply->fine.pause_change, plan_mono_us(env));
    if (result->errand.kind != ERRAND_PAUSES)
        return false;
    if (result->rc && !p->is_known)
        p->ask_us = 0;
    if (!result->rc)
        asked(p, env, &result->reply->pauses, changed);
    return true;
}

bool pausing_is_emptying(struct pausing *p, const struct plan_env *env)
{
    if (!p->nending || p->is_emptied)
        return false;
    p->is_emptied = p->looked >= p->pauses.n;
    for (int i = 0; p->is_emptied && i < p->pauses.n; i++)
        if (!p->pauses.all[i].is_on && plan_has_target(env, p->pauses.all[i].slot))
            p->is_emptied = false;
    return !p->is_emptied;
}

/* ---- how fast the slot of a pause is emptied ---- */

void pausing_note_page(struct pausing *p, int checks, int64_t now_us)
{
    p->rest_until_us = now_us + (int64_t)checks * REST_US;
}

int64_t pausing_rests_until(const struct pausing *p, int64_t now_us)
{
    return now_us < p->rest_until_us ? p->rest_until_us : 0;
}
