/* pause.c - a pause has a slot of its own, to which checks that come up are moved unrun. A settle
 * that moves checks there locks the pause and asks whether it is on. Who resumes sets it to ending,
 * behind those locks. Then engines pass over its slot and delete the pause when it is empty. */
#include "model.h"

int slot_after_pause(const struct model *m, int check, int clock)
{
    int slot = next_full(m, clock) + check % (m->rules.fine + 1);
    return slot <= m->rules.slots ? slot : m->rules.slots + 1;
}

static bool moves_to_pause(const struct request *r)
{
    return r->item[0].to == PAUSE_SLOT || r->item[1].to == PAUSE_SLOT;
}

/* A pause that is locked by a transaction that resumes counts as over: the settle of a page does
 * not wait for an application. */
bool ask_for_pause(const struct model *m, const struct state *s, struct request *r)
{
    if (!moves_to_pause(r))
        return true;
    bool is_locked_by_resume = s->resuming && m->rules.pauselock;
    if (is_locked_by_resume && !m->rules.nowait)
        return false;
    r->found_pause_on = s->db.pause == PAUSE_ON && !is_locked_by_resume;
    r->locks_pause = r->found_pause_on && m->rules.pauselock;
    return true;
}

static bool is_pause_shared(const struct state *s)
{
    bool shared = false;
    for (int i = 0; i < ENGINES; i++)
        shared = shared || s->engine[i].call.locks_pause;
    for (int j = 0; j < STRAYS; j++)
        shared = shared || s->stray[j].locks_pause;
    return shared;
}

/* ---- engines ---- */

/* The pulse says so. Checks that no worker has started are taken back. */
void hears_of_pause(struct model *m, const struct state *s, int engine)
{
    static const char *const what[] = { "there is none", "it is on", "it is ending" };
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    if (e->pause == s->db.pause || e->mode != AWAKE)
        return;
    e->pause = s->db.pause;
    for (int k = 0; k < CHECKS; k++)
        if (e->pause == PAUSE_ON && e->item[k].state == ITEM_WAITING) {
            e->item[k].state = ITEM_ANSWERED;
            e->item[k].put_off = 1;
            e->item[k].to = PAUSE_SLOT;
        }
    move(m, &t, BY_SYSTEM, "E%d hears of the pause: %s", engine, what[e->pause]);
}

/* ---- who pauses and resumes ---- */

static void pauses(struct model *m, const struct state *s)
{
    struct state t = *s;
    t.was_paused = 1;
    t.db.pause = PAUSE_ON;
    move(m, &t, BY_NEW_TXN, "all checks are PAUSED");
}

static void begins_to_resume(struct model *m, const struct state *s)
{
    struct state t = *s;
    t.resuming = 1;
    move(m, &t, BY_NEW_TXN, "a transaction that resumes has changed the pause, and has not committed");
}

static void ends_resuming(struct model *m, const struct state *s, bool commits)
{
    struct state t = *s;
    t.resuming = 0;
    if (commits)
        t.db.pause = m->rules.ending ? PAUSE_ENDING : PAUSE_NONE;
    const char *what = m->rules.ending ? "COMMITS: the pause is ending" : "COMMITS: the pause is deleted";
    move(m, &t, BY_APP, "the transaction that resumes %s", commits ? what : "rolls back");
}

/* Nothing comes in any more, so a look that finds nothing is the last one. As long as the slot is
 * not closed, an engine may have to finish it: nobody opens the slot of a pause that has gone. */
static void deletes_pause(struct model *m, const struct state *s)
{
    struct state t = *s;
    if (m->rules.pauseclosed && s->db.pass[PAUSE_SLOT].state == PASS_OPEN)
        return;
    t.db.pause = PAUSE_NONE;
    move(m, &t, BY_SYSTEM, "the pause is deleted: its slot is empty");
}

void pause_moves(struct model *m, const struct state *s)
{
    if (!m->rules.pause)
        return;
    if (!s->was_paused)
        pauses(m, s);
    if (s->db.pause == PAUSE_ON && !s->resuming && !is_pause_shared(s))
        begins_to_resume(m, s);
    if (s->resuming) {
        ends_resuming(m, s, true);
        ends_resuming(m, s, false);
    }
    if (s->db.pause == PAUSE_ENDING && !slot_has_rows(&s->db, PAUSE_SLOT))
        deletes_pause(m, s);
}
