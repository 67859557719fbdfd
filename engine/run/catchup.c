/* catchup.c - a small state machine: look again, then ask for the next late slot until there is
 * none, then move the mark; in between, checks at times that are no slots are moved to slots. */
#include "catchup.h"

#include <inttypes.h>

#include "../rules/phase.h"
#include "../rules/slot.h"

enum { UNSERVED_WAIT_S = 3600, CHEAP_US = 250 * 1000, REST_MAX_US = 300 * 1000 * 1000 };

int64_t catchup_rest_us(int64_t cost_us)
{
    if (cost_us <= CHEAP_US)
        return 0;
    int64_t costly_us = cost_us - CHEAP_US;
    return costly_us < REST_MAX_US / 10 ? costly_us * 10 : REST_MAX_US;
}

void catchup_begin(struct catchup *c, enum target_kind kind, bool sweeps, int64_t before, bool full)
{
    struct recalling recalling = c->recalling;
    *c = (struct catchup){ .step = kind == TARGET_RESLOT ? CATCHUP_ASK : CATCHUP_RELOOK,
                           .kind = kind, .sweeps = sweeps, .before = before, .full = full,
                           .urgent_from = 1, .recalling = recalling };
}

void catchup_end_before(struct catchup *c, int64_t before)
{
    if (c->before > before)
        c->before = before;
}

/* The answer to a question that was asked before the clock was set back may lie behind the end. */
static struct store_late_slot up_to_the_end(const struct catchup *c, const struct store_late_slot *late)
{
    struct store_late_slot found = *late;
    if (found.slot >= c->before)
        found.slot = 0;
    if (found.until >= c->before)
        found.until = 0;
    if (found.urgent >= c->before)
        found.urgent = 0;
    if (found.urgent_until >= c->before)
        found.urgent_until = 0;
    return found;
}

static bool takes_urgents(const struct catchup *c)
{
    return c->kind == TARGET_SWEEP && !c->urgents_over;
}

static int64_t urgent_from(const struct catchup *c)
{
    return takes_urgents(c) ? c->urgent_from : 0;
}

static bool is_fine(const struct plan_env *env, int64_t slot)
{
    return slot_is_fine(slot, env->clocks->slot_length_s);
}

/* Full slots are taken one at a time, but for what is only put off there, and for urgent checks. */
static bool may_ask_on(const struct plan_env *env, const struct catchup *c)
{
    if (takes_urgents(c))
        return c->nunder_way < CATCHUP_AT_ONCE && !c->found_all && !(c->found_urgents && c->nunder_way);
    for (int i = 0; i < c->nunder_way; i++)
        if (!is_fine(env, c->under_way[i]) && !plan_only_puts_off(env, c->under_way[i]))
            return false;
    return c->nunder_way < CATCHUP_AT_ONCE && !c->found_all;
}

void catchup_tick(const struct plan_env *env, struct catchup *c)
{
    switch (c->step) {
    case CATCHUP_RELOOK:
        plan_give_errand(env, c->narrow ? ERRAND_RELOOK_SETTLED : ERRAND_RELOOK);
        break;
    case CATCHUP_LOOKED:
        if (c->waiting)
            break;
        c->step = c->sweeps ? CATCHUP_ASK : CATCHUP_DONE;
        if (!c->sweeps)
            break;
        /* fall through */
    case CATCHUP_ASK:
        if (c->narrow)
            plan_give(env, (struct errand){ ERRAND_LATE_BESIDE, .from = c->from, .before = c->before });
        else
            plan_give(env, (struct errand){ ERRAND_LATE_SLOT, .from = c->from, .before = c->before,
                                            .urgent_from = urgent_from(c), .full = c->full && !c->from });
        break;
    case CATCHUP_REFILE:
        plan_give(env, (struct errand){ ERRAND_REFILE, .from = c->refile_from, .before = c->before });
        break;
    case CATCHUP_RECALL:
        plan_give(env, (struct errand){ ERRAND_RECALL, .after = c->recalling.after,
                                        .jobs = c->kind == TARGET_RESLOT ? NULL : env->jobs });
        break;
    case CATCHUP_MARK:
        plan_give(env,
                  (struct errand){ ERRAND_MARK_SWEPT, .before = c->skipped_from ? c->skipped_from : c->before,
                                   .full = c->full });
        break;
    case CATCHUP_SLOT:
        if (may_ask_on(env, c))
            c->step = CATCHUP_ASK;
        break;
    case CATCHUP_DONE:
        break;
    }
}

/* With slots split between servers (`serve`), leave another server's slot to it for one hour; after
 * that any engine may run it. Fine slots are not split. */
static bool is_another_servers(const struct plan_env *env, int64_t slot)
{
    return !is_fine(env, slot) &&
           !slot_is_served(slot, env->settings->serve, env->settings->nserve) &&
           plan_now(env) - slot < UNSERVED_WAIT_S;
}

/* It is spread, and some of its parts have not begun (rules/phase.h). */
static bool has_parts_to_come(const struct plan_env *env, int64_t slot)
{
    if (is_fine(env, slot) || slot_is_of_pause(slot))
        return false;
    return phases_begun(plan_now(env) - slot, env->clocks->pace_s) < PHASES;
}

/* A second look leaves the rows of jobs that are unknown here to the sweep. The sweep does not take
 * a slot that is being looked at, and does not wait for a look at a fine slot. So a sweep's look at
 * one takes all its rows, once other engines have had a slot's time for theirs. */
static enum target_kind kind_of_look(const struct plan_env *env, const struct catchup *c, int64_t slot)
{
    if (env->patient && has_parts_to_come(env, slot))
        return TARGET_SLOT;             /* the catch-up does not wait for these */
    bool is_late = slot + env->clocks->slot_length_s <= c->before;
    return c->sweeps && is_late && is_fine(env, slot) ? c->kind : TARGET_RELOOK;
}

static void looked_again(const struct plan_env *env, struct catchup *c, const struct store_relook *r)
{
    c->moved = r->closed > 0;
    c->unfinished = false;
    for (int i = 0; i < r->n; i++) {
        if (!r->slots[i].has_rows && !r->slots[i].undone)
            continue;
        if (is_another_servers(env, r->slots[i].slot))
            continue;
        c->unfinished = c->unfinished || r->slots[i].undone;
        if (plan_has_target(env, r->slots[i].slot))
            continue;                   /* it is being run at this moment */
        int64_t slot = r->slots[i].slot;
        enum target_kind kind = kind_of_look(env, c, slot);
        bool is_added = plan_add_target(env, kind, slot);
        c->waiting += is_added && kind != TARGET_SLOT && !is_fine(env, slot);
    }
    c->step = CATCHUP_LOOKED;
}

/* The mark of the sweep does not move past it. */
static void skip(struct catchup *c, int64_t slot)
{
    if (!c->skipped_from || slot < c->skipped_from)
        c->skipped_from = slot;
}

static void tell_of_refiled(const struct plan_env *env, struct catchup *c)
{
    const char *what = c->refiled == 1 ? "check was at a time that is" : "checks were at times that are";
    const char *more = c->refile_from ? "; more will be" : "";
    if (c->refiled)
        log_warn(env->log,
                 "%" PRId64 " late %s no slot, as only a plain INSERT files them: moved to the next slot, "
                 "not run%s. File checks by prescient.enqueue(); `prescient runs --outcome reslotted` lists "
                 "those that were moved",
                 c->refiled, what, more);
    c->refiled = 0;
}

static bool may_refile(const struct plan_env *env, const struct catchup *c)
{
    return c->refile_from && (!env->patient || c->refiles < CATCHUP_REFILES);
}

static void choose_step(const struct plan_env *env, struct catchup *c)
{
    bool asks = may_ask_on(env, c), refiles = may_refile(env, c);
    if (asks)
        c->step = refiles && c->is_refiles_turn ? CATCHUP_REFILE : CATCHUP_ASK;
    else if (c->nunder_way)
        c->step = CATCHUP_SLOT;
    else if (refiles)
        c->step = CATCHUP_REFILE;
    else if (c->recalling.wanted && (!env->patient || c->recalls < CATCHUP_RECALLS))
        c->step = CATCHUP_RECALL;
    else {
        tell_of_refiled(env, c);
        c->looked_past = c->looked_past || c->refile_from;
        c->step = c->looked_past ? CATCHUP_DONE : CATCHUP_MARK;
    }
}

static void refiled(const struct plan_env *env, struct catchup *c, const struct store_refile *r)
{
    c->is_refiles_turn = false;
    c->refiles++;
    c->refiled += r->refiled;
    c->refile_from = r->until;
    c->moved = c->moved || r->refiled;
    choose_step(env, c);
}

static void tell_of_recalled(const struct plan_env *env, const struct catchup *c)
{
    int64_t n = c->recalling.recalled;
    const char *what = n == 1 ? "check that was put off is" : "checks that were put off are";
    const char *why = c->kind == TARGET_RESLOT ? "" : ": their jobs can be run here";
    if (n)
        log_info(env->log, "%" PRId64 " %s filed into the next slot%s", n, what, why);
}

static void recalled(const struct plan_env *env, struct catchup *c, const struct store_recall *r)
{
    c->recalls++;
    c->recalling.after = r->until;
    c->recalling.recalled += r->recalled;
    c->recalling.wanted = r->until.put_off_at && !(r->only_one && r->recalled);
    c->moved = c->moved || c->recalling.wanted;
    if (!c->recalling.wanted) {
        tell_of_recalled(env, c);
        c->recalling = (struct recalling){ 0 };
    }
    choose_step(env, c);
}

/* True: the late slot itself is asked for again when urgent checks are over. */
static bool takes_urgent_first(const struct plan_env *env, struct catchup *c,
                               const struct store_late_slot *late)
{
    int64_t slot = late->urgent;
    bool is_cut = !late->slot && late->until;   /* it found nothing yet, and goes on */
    if (!takes_urgents(c) || is_cut)
        return false;
    if (!slot && late->urgent_until) {
        c->urgent_from = late->urgent_until;
        return true;
    }
    c->found_urgents = !slot;
    if (!slot) {
        c->urgents_over = !c->nunder_way;
        return !c->urgents_over;
    }
    c->urgent_from = slot + 1;
    bool is_left = is_another_servers(env, slot) || is_fine(env, slot) || plan_has_target(env, slot);
    if (!is_left && plan_add_urgent_target(env, slot))
        c->under_way[c->nunder_way++] = slot;
    return true;
}

static void late_slot_found(const struct plan_env *env, struct catchup *c,
                            const struct store_late_slot *answer)
{
    struct store_late_slot found = up_to_the_end(c, answer), *late = &found;
    int64_t slot = late->slot;
    if (takes_urgent_first(env, c, late)) {
        choose_step(env, c);
        return;
    }
    bool is_left = (c->kind == TARGET_SWEEP && is_another_servers(env, slot)) || plan_has_target(env, slot);
    c->found_all = !slot && !late->until;
    if (late->misfiled_at && !c->refile_from && !c->refiles)
        c->refile_from = late->misfiled_at;
    c->is_refiles_turn = true;
    if (slot)
        c->from = slot + 1;
    else if (late->until)
        c->from = late->until;
    if (slot && (is_left || !plan_add_target(env, c->kind, slot)))
        skip(c, slot);
    else if (slot)
        c->under_way[c->nunder_way++] = slot;
    choose_step(env, c);
}

static void look_past(const struct plan_env *env, struct catchup *c, const char *when, const struct err *err)
{
    const char *what = "no more late slots are looked for";
    if (c->step == CATCHUP_RELOOK)
        what = "slots are not looked at again";
    if (c->step == CATCHUP_REFILE)
        what = "late checks at times that are no slots are not moved";
    if (c->step == CATCHUP_RECALL)
        what = "checks that were put off are not looked for";
    if (cooldown_may_log(env->cooldowns, cooldown_of(COOLDOWN_CATCHUP, 0), plan_mono_us(env)))
        log_error(env->log, "%s%s: %s", what, when, err->text);
    c->looked_past = true;
    c->damaged = 0;
    if (c->step == CATCHUP_RELOOK) {
        c->step = CATCHUP_LOOKED;
        return;
    }
    c->found_all = c->found_all || c->step == CATCHUP_ASK;
    c->refile_from = 0;
    c->recalling.wanted = c->recalling.wanted && c->step != CATCHUP_RECALL;
    choose_step(env, c);
}

/* The first time it is asked again as it was: perhaps the line was dead. Then it is asked narrowly;
 * if that times out as well, a daemon goes on without it. Timeouts of the catch-up before count. */
static void was_late(const struct plan_env *env, struct catchup *c, const struct errand_result *result)
{
    enum { TRIES = 2 };
    enum errand_kind kind = result->errand.kind;
    if (!c->unanswered_us)
        c->unanswered_since_us = plan_mono_us(env) - result->took_us;
    c->unanswered_us += result->took_us;
    if (result->late < TRIES)
        return;
    if (kind == ERRAND_RELOOK || kind == ERRAND_LATE_SLOT)
        c->narrow = true;
    else if (env->patient)
        look_past(env, c, " for now", result->err);
}

/* The step stands, and is asked again after the lane's back-off. A question that has met a corrupt
 * block three times will meet it again, and a daemon has more to do. (A command ends.) */
static void cannot_be_asked(const struct plan_env *env, struct catchup *c, const struct err *err)
{
    if (err->reason != ERR_REASON_DAMAGED || !env->patient)
        return;
    if (++c->damaged >= COOLDOWN_TRIES)
        look_past(env, c, "", err);
}

/* Only now is it known that the store is reachable and that old rows are in the way; or that it was
 * away, as when no commit came through, if writes were lost as well. */
static void narrowly_answered(const struct plan_env *env, struct catchup *c)
{
    bool was_away = c->unanswered_us && env->health->write_failed_us >= c->unanswered_since_us;
    c->looked_past = true;
    c->cost_us += was_away ? 0 : c->unanswered_us;
    c->unanswered_us = 0;
    if (was_away)
        return;
    if (cooldown_may_log(env->cooldowns, cooldown_of(COOLDOWN_NARROW_LOOK, 0), plan_mono_us(env)))
        log_warn(env->log, "a look for late checks timed out: an old transaction keeps the rows that were "
                           "settled since it began, and the look scans them. Slots that were run since are "
                           "looked at again when it has ended (`prescient doctor` names it)");
}

void catchup_errand_done(const struct plan_env *env, struct catchup *c, const struct errand_result *result)
{
    enum errand_kind kind = result->errand.kind;
    bool looks = kind == ERRAND_RELOOK || kind == ERRAND_RELOOK_SETTLED;
    bool asks = kind == ERRAND_LATE_SLOT || kind == ERRAND_LATE_BESIDE;
    bool refiles = kind == ERRAND_REFILE, recalls = kind == ERRAND_RECALL;
    if (!looks && !asks && !refiles && !recalls && kind != ERRAND_MARK_SWEPT)
        return;
    if (result->rc && err_is_late(result->err))
        was_late(env, c, result);
    else if (result->rc)
        cannot_be_asked(env, c, result->err);
    if (result->rc)
        return;
    c->cost_us += result->reply->call.busy_us;
    c->damaged = 0;
    if (c->narrow && (looks || asks))
        narrowly_answered(env, c);
    if (looks && c->step == CATCHUP_RELOOK)
        looked_again(env, c, &result->reply->relook);
    else if (asks && c->step == CATCHUP_ASK)
        late_slot_found(env, c, &result->reply->late);
    else if (refiles && c->step == CATCHUP_REFILE)
        refiled(env, c, &result->reply->refile);
    else if (recalls && c->step == CATCHUP_RECALL)
        recalled(env, c, &result->reply->recall);
    else if (kind == ERRAND_MARK_SWEPT && c->step == CATCHUP_MARK) {
        if (c->full)
            clocks_note_full_look(env->clocks, plan_mono_us(env));
        c->step = CATCHUP_DONE;
    }
}

static bool take_out(struct catchup *c, int64_t slot)
{
    for (int i = 0; i < c->nunder_way; i++)
        if (c->under_way[i] == slot) {
            c->under_way[i] = c->under_way[--c->nunder_way];
            return true;
        }
    return false;
}

void catchup_target_over(const struct plan_env *env, struct catchup *c, const struct target *target)
{
    const struct pass_counts *n = &target->counts;
    c->moved = c->moved || n->run || n->unknown_job;
    if (target->kind == TARGET_RELOOK && c->waiting > 0 && !is_fine(env, target->slot))
        c->waiting--;
    if (!take_out(c, target->slot))
        return;
    if (target->only_urgent) {          /* the sweep comes to the slot again */
        if (c->step == CATCHUP_SLOT)
            choose_step(env, c);
        return;
    }
    if (target->held_by_others || target->unopened || n->locked || n->superseded)
        skip(c, target->slot);
    /* where nothing moves there is no hurry to look again, but for who may have died */
    bool is_others = target->held_by_others || n->locked;
    c->slots += !is_others || n->run || n->unknown_job || n->held_back;
    c->unfinished = c->unfinished || target->held_by_others;
    if (c->step == CATCHUP_SLOT)
        choose_step(env, c);
}
