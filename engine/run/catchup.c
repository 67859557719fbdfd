/* catchup.c - a small state machine: look again, then ask for the next late slot until there is
 * none, then move the mark. */
#include "catchup.h"

#include "../rules/slot.h"

enum { UNSERVED_WAIT_S = 3600, CHEAP_US = 250 * 1000, REST_MAX_US = 300 * 1000 * 1000 };

int64_t catchup_rest_us(int64_t cost_us)
{
    if (cost_us <= CHEAP_US)
        return 0;
    int64_t dear_us = cost_us - CHEAP_US;
    return dear_us < REST_MAX_US / 10 ? dear_us * 10 : REST_MAX_US;
}

void catchup_begin(struct catchup *c, enum target_kind kind, bool sweeps, int64_t before, bool full)
{
    *c = (struct catchup){ .step = kind == TARGET_RESLOT ? CATCHUP_ASK : CATCHUP_RELOOK,
                           .kind = kind, .sweeps = sweeps, .before = before, .full = full };
}

void catchup_tick(struct engine *e, struct catchup *c)
{
    switch (c->step) {
    case CATCHUP_RELOOK:
        engine_give_errand(e, c->narrow ? ERRAND_RELOOK_SETTLED : ERRAND_RELOOK, 0, 0, false);
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
            engine_give_errand(e, ERRAND_LATE_BESIDE, c->from, c->before, false);
        else
            engine_give_errand(e, ERRAND_LATE_SLOT, c->from, c->before, c->full && !c->from);
        break;
    case CATCHUP_MARK:
        engine_give_errand(e, ERRAND_MARK_SWEPT, 0, c->left_at ? c->left_at : c->before, c->full);
        break;
    case CATCHUP_SLOT:
    case CATCHUP_DONE:
        break;
    }
}

/* With servers split by minute, another's slot is left to it for an hour; after that it is
 * nobody's but late. */
static bool is_somebody_elses(const struct engine *e, int64_t slot)
{
    return !slot_is_served(slot, e->o.settings->serve, e->o.settings->nserve) &&
           engine_now(e) - slot < UNSERVED_WAIT_S;
}

static void looked_again(struct engine *e, struct catchup *c, const struct store_relook *r)
{
    c->moved = r->closed > 0;
    c->undone = false;
    for (int i = 0; i < r->n; i++) {
        if (!r->slots[i].has_rows && !r->slots[i].undone)
            continue;
        if (is_somebody_elses(e, r->slots[i].slot))
            continue;
        c->undone = c->undone || r->slots[i].undone;
        if (engine_has_target(e, r->slots[i].slot))
            continue;                   /* it is being run at this moment */
        if (engine_add_target(e, TARGET_RELOOK, r->slots[i].slot))
            c->waiting++;
    }
    c->step = CATCHUP_LOOKED;
}

static void leave(struct catchup *c, int64_t slot)
{
    if (!c->left_at || slot < c->left_at)
        c->left_at = slot;
}

static void late_slot_found(struct engine *e, struct catchup *c, int64_t slot)
{
    if (!slot) {
        c->step = c->passed_over ? CATCHUP_DONE : CATCHUP_MARK;
        return;
    }
    c->from = slot + 1;
    if ((c->kind == TARGET_SWEEP && is_somebody_elses(e, slot)) || engine_has_target(e, slot)) {
        leave(c, slot);
        return;
    }
    if (!engine_add_target(e, c->kind, slot)) {
        leave(c, slot);
        return;
    }
    c->slot = slot;
    c->step = CATCHUP_SLOT;
}

static void pass_over(struct engine *e, struct catchup *c, const char *when, const struct err *err)
{
    const char *what = c->step == CATCHUP_RELOOK ? "slots are not looked at again"
                                                 : "no more late slots are looked for";
    if (engine_gives_up_anew(e, given_up_catchup))
        log_error(e->o.log, "%s%s: %s", what, when, err->text);
    c->step = c->step == CATCHUP_RELOOK ? CATCHUP_LOOKED : CATCHUP_DONE;
    c->passed_over = true;
    c->damaged = 0;
}

/* Asked once more as it was, perhaps it was the line; then narrowly; what is not answered then, is
 * left for the next time. What was late in the catch-up before and in none since counts, too. */
static void was_late(struct engine *e, struct catchup *c, enum errand_kind kind, const struct err *err)
{
    enum { TRIES = 2 };
    if (e->errand_late[kind] < TRIES)
        return;
    if (kind == ERRAND_RELOOK || kind == ERRAND_LATE_SLOT)
        c->narrow = true;
    else if (e->o.patient)
        pass_over(e, c, " for now", err);
}

/* The step stands, and is asked again after the lane's back-off; but what has met a damaged page
 * three times will meet it again, and a daemon has more to do. (A command ends, in words.) */
static void cannot_be_asked(struct engine *e, struct catchup *c, const struct err *err)
{
    enum { TRIES = 3 };
    if (err->reason == ERR_REASON_DAMAGED && e->o.patient && ++c->damaged >= TRIES)
        pass_over(e, c, "", err);
}

static void failed(struct engine *e, struct catchup *c, enum errand_kind kind, const struct err *err,
                   int64_t took_us)
{
    if (!err_is_late(err)) {
        cannot_be_asked(e, c, err);
        return;
    }
    c->unanswered_us += took_us;
    was_late(e, c, kind, err);
}

/* Only now is it known that the store is there, and that something old is in the way. */
static void narrowly_answered(struct engine *e, struct catchup *c)
{
    c->passed_over = true;
    c->cost_us += c->unanswered_us;
    c->unanswered_us = 0;
    if (engine_gives_up_anew(e, given_up_narrow))
        log_warn(e->o.log, "a look for late checks did not end in its time: an old transaction keeps the "
                           "rows that were settled since it began, and"
                           " the look walks over them. Slots that were run since are looked at again when it "
                           "is over (`prescient doctor` tells which it is)");
}

void catchup_errand_done(struct engine *e, struct catchup *c, const struct errand *errand, int rc,
                         const struct lane *lane)
{
    enum errand_kind kind = errand->kind;
    bool looks = kind == ERRAND_RELOOK || kind == ERRAND_RELOOK_SETTLED,
         asks = kind == ERRAND_LATE_SLOT || kind == ERRAND_LATE_BESIDE;
    if (!looks && !asks && kind != ERRAND_MARK_SWEPT)
        return;
    int64_t took_us = engine_mono_us(e) - errand->sent_us;
    if (rc) {
        failed(e, c, kind, &lane->req.call.err, took_us);
        return;
    }
    c->cost_us += took_us;
    c->damaged = 0;
    if (c->narrow && kind != ERRAND_MARK_SWEPT)
        narrowly_answered(e, c);
    if (looks && c->step == CATCHUP_RELOOK)
        looked_again(e, c, &lane->req.relook);
    else if (asks && c->step == CATCHUP_ASK)
        late_slot_found(e, c, lane->req.late.slot);
    else if (kind == ERRAND_MARK_SWEPT && c->step == CATCHUP_MARK) {
        if (c->full)
            engine_noted_full_look(e);
        c->step = CATCHUP_DONE;
    }
}

void catchup_target_over(struct engine *e, struct catchup *c, const struct target *target)
{
    (void)e;
    c->moved = c->moved || target->counts.run || target->counts.unknown_job;
    if (target->kind == TARGET_RELOOK && c->waiting > 0)
        c->waiting--;
    if (c->step != CATCHUP_SLOT || target->slot != c->slot)
        return;
    const struct pass_counts *n = &target->counts;
    if (target->held || target->dropped || n->locked || n->superseded)
        leave(c, target->slot);
    /* where nothing moves there is no hurry to look again */
    c->slots += !n->locked || n->run || n->unknown_job || n->held_back;
    c->step = CATCHUP_ASK;
}
