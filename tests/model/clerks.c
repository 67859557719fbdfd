/* clerks.c - transactions that change a schedule and its check, two at a time: an edit, a resolve,
 * which switches the schedule off, and the hourly repair, which files what an active schedule
 * lacks. Each takes two locks, a move each; the clock is read at the beginning. */
#include "model.h"

#include <stddef.h>

static const char *const names[] = { "", "edit", "resolve", "repair" };

static struct clerk *idle_clerk(struct state *s)
{
    for (int i = 0; i < CLERKS; i++)
        if (!s->clerk[i].op)
            return &s->clerk[i];
    return NULL;
}

static bool is_missing(const struct state *s)
{
    return s->db.schedule_on && !s->db.row[0].slot;
}

static void begins(struct model *m, const struct state *s, enum clerk_op op)
{
    struct state t = *s;
    struct clerk *c = idle_clerk(&t);
    if (!c)
        return;
    *c = (struct clerk){ .op = (unsigned)op & 3, .to = (unsigned)next_full(m, s->clock) & 7 };
    if (op == CLERK_REPAIR) {
        move(m, &t, BY_SYSTEM, "the repair finds no check of the schedule, for slot %d", c->to);
        return;
    }
    t.app.txns_left = (s->app.txns_left - 1u) & 3;
    move(m, &t, BY_NEW_TXN, "a transaction begins: %s of the schedule, for slot %d", names[op], c->to);
}

static void may_begin(struct model *m, const struct state *s)
{
    bool repairs = s->clerk[0].op == CLERK_REPAIR || s->clerk[1].op == CLERK_REPAIR;
    if (m->rules.clerks & CLERK_MAY_REPAIR && is_missing(s) && !repairs)
        begins(m, s, CLERK_REPAIR);
    if (!s->app.txns_left)
        return;
    if (m->rules.clerks & CLERK_MAY_EDIT && !s->db.schedule_terms)
        begins(m, s, CLERK_EDIT);
    if (m->rules.clerks & CLERK_MAY_SWITCH_OFF && s->db.schedule_on)
        begins(m, s, CLERK_OFF);
}

/* ---- locks ---- */

static bool locks_schedule_next(const struct model *m, const struct clerk *c)
{
    bool is_first = c->phase == CLERK_BEGUN;
    bool schedule_first = m->rules.order == ORDER_SCHEDULE_FIRST ||
                          (m->rules.order == ORDER_CROSSED && c->op == CLERK_EDIT);
    return is_first == schedule_first;
}

static enum clerk_effect effect_of(const struct state *s, const struct clerk *c)
{
    const struct row *row = &s->db.row[0];
    if (c->op == CLERK_REPAIR)
        return row->slot ? CLERK_LEAVES : CLERK_INSERTS;
    if (!row->slot)
        return CLERK_LEAVES;
    if (c->op == CLERK_OFF)
        return CLERK_DELETES;
    return row->slot <= s->clock ? CLERK_ASKS_AGAIN : CLERK_NEW_LIFE;
}

/* A row that is not there cannot be locked, unless by an INSERT: that waits for others that insert
 * or delete the same key. A row that is inserted and not committed is seen by nobody else. */
static void locks_check(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    struct clerk *c = &t.clerk[i];
    const struct clerk *other = &s->clerk[!i];
    bool needs_lock = c->op == CLERK_REPAIR || s->db.row[0].slot;
    if (needs_lock && other->holds_check)
        return;
    c->effect = (unsigned)effect_of(s, c) & 7;
    c->holds_check = c->effect != CLERK_LEAVES;
    c->phase++;
    move(m, &t, BY_APP, "the %s %s the check", names[c->op], c->holds_check ? "locks" : "need not change");
}

static void locks_schedule(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    struct clerk *c = &t.clerk[i];
    if (s->clerk[!i].holds_schedule)
        return;
    c->holds_schedule = 1;
    c->phase++;
    move(m, &t, BY_APP, "the %s locks the schedule", names[c->op]);
}

/* ---- the end ---- */

static void change_check(struct model *m, struct state *s, const struct clerk *c, unsigned terms)
{
    struct row *row = &s->db.row[0];
    if (c->effect == CLERK_DELETES)
        *row = (struct row){ 0 };
    if (c->effect == CLERK_NEW_LIFE || c->effect == CLERK_INSERTS)
        new_life(m, s, row, c->to, c->to, (int)terms);
    if (c->effect != CLERK_ASKS_AGAIN)
        return;
    row->terms = terms & 1;
    if (!row->again || c->to < row->again)
        row->again = c->to;
}

static void commits(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    const struct clerk c = s->clerk[i];
    unsigned terms = c.op == CLERK_EDIT ? 1 : s->db.schedule_terms;
    bool is_wanted = c.op != CLERK_REPAIR || s->db.schedule_on || !m->rules.asks;
    if (is_wanted)
        change_check(m, &t, &c, terms);
    t.db.schedule_terms = terms & 1;
    if (c.op == CLERK_OFF)
        t.db.schedule_on = 0;
    t.clerk[i] = (struct clerk){ 0 };
    xid_over(&t, XID_CLERK << i);
    static const char *const results[] = { "changes no check", "writes terms and again_at beside the check",
                                         "gives the check a new life", "deletes the check",
                                         "files the check" };
    move(m, &t, BY_APP, "the %s COMMITS: it %s", names[c.op], results[is_wanted ? c.effect : CLERK_LEAVES]);
}

static void rolls_back(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    t.clerk[i] = (struct clerk){ 0 };
    xid_over(&t, XID_CLERK << i);
    move(m, &t, BY_APP, "the %s rolls back", names[s->clerk[i].op]);
}

void clerk_moves(struct model *m, const struct state *s)
{
    if (!m->rules.clerks)
        return;
    may_begin(m, s);
    for (int i = 0; i < CLERKS; i++) {
        const struct clerk *c = &s->clerk[i];
        bool is_ready = c->phase == CLERK_HAS_BOTH ||
                        (c->op == CLERK_REPAIR && !m->rules.asks && c->holds_check);
        if (!c->op)
            continue;
        if (is_ready) {
            commits(m, s, i);
            rolls_back(m, s, i);
        } else if (locks_schedule_next(m, c))
            locks_schedule(m, s, i);
        else
            locks_check(m, s, i);
    }
}
