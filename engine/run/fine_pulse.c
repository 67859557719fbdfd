/* fine_pulse.c - see fine_pulse.h. */
#include "fine_pulse.h"

#include "../rules/slot.h"

/* A little after the second: those who file at its end are mostly committed by then. */
enum { SECOND_US = 1000 * 1000, AFTER_US = 10 * 1000 };

static int64_t next_second_us(const struct plan_env *env)
{
    int64_t into = plan_now_us(env) % SECOND_US;
    return plan_mono_us(env) + SECOND_US - into + AFTER_US;
}

void fine_pulse_tick(const struct plan_env *env, struct fine_pulse *p, struct errands *errands)
{
    int64_t now = plan_mono_us(env);
    if (env->clocks->virtual_now || env->clocks->slot_length_s <= 1 || now < p->next_us)
        return;
    if (!p->low)
        p->low = slot_floor(plan_now(env), env->clocks->slot_length_s);
    if (errands_give(errands, &(struct errand){ ERRAND_FINE_SLOTS, .from = p->low, .jobs = env->jobs }, now))
        p->next_us = next_second_us(env);
}

static void begin_anew(struct fine_pulse *p, int64_t now, int32_t length_s)
{
    p->low = slot_floor(now, length_s);
    p->has_noted = false;
}

/* Nobody knows who writes, but for how long one may: seconds are looked at until a slot later. What
 * is committed after that is the sweep's. */
static void move_without_ids(struct fine_pulse *p, int64_t now, int32_t length_s)
{
    int64_t before = slot_floor(now, length_s) - length_s;
    p->low = p->low > before ? p->low : before;
}

/* Of the second that runs, an answer may keep back what is of other engines' jobs. */
static bool may_move(const struct fine_pulse *p, const struct store_fine_slots *answer)
{
    bool is_empty_there = !answer->n || answer->slots[0] > p->noted_at;
    bool shows_all_there = answer->clock_us / SECOND_US > p->noted_at;
    return p->has_noted && answer->xmin >= p->noted_next && is_empty_there && shows_all_there;
}

void fine_pulse_note(struct fine_pulse *p, const struct store_fine_slots *answer, int32_t length_s)
{
    int64_t now = answer->clock_us / SECOND_US;
    bool is_elsewhere = p->asked_at && answer->incarnation != p->incarnation;
    bool was_set_back = now < p->low || (p->has_noted && now < p->noted_at);
    if (is_elsewhere || was_set_back)
        begin_anew(p, now, length_s);
    if (!answer->incarnation)
        move_without_ids(p, now, length_s);
    else if (may_move(p, answer)) {
        p->low = p->noted_at;
        p->has_noted = false;
    }
    if (!p->has_noted) {
        p->has_noted = true;
        p->noted_at = now;
        p->noted_next = answer->next_xid;
    }
    p->incarnation = answer->incarnation;
    p->asked_at = now;
    p->was_cut = answer->n == FINE_SLOTS_MAX;
}

void fine_pulse_errand_done(const struct plan_env *env, struct fine_pulse *p,
                            const struct errand_result *result)
{
    if (result->errand.kind != ERRAND_FINE_SLOTS || result->rc)
        return;
    const struct store_fine_slots *answer = &result->reply->fine;
    clocks_compare(env->clocks, answer->clock_us, result->took_us, plan_mono_us(env));
    fine_pulse_note(p, answer, env->clocks->slot_length_s);
    for (int i = 0; i < answer->n; i++)
        if (!plan_has_target(env, answer->slots[i]))
            plan_add_target(env, TARGET_SLOT, answer->slots[i]);
}

bool fine_pulse_has_seen(const struct fine_pulse *p, int64_t moment)
{
    return p->asked_at >= moment && !p->was_cut;
}
