/* pulse.c - the pulse: each second an engine asks in one statement, which writes nothing, for the
 * first fine slot in (low, now] that holds rows. `low` is in the engine's memory. It moves up so
 * that no writer can file below it any more. */
#include "model.h"

void pulse_begins_anew(const struct model *m, struct engine *e, int clock)
{
    e->low = e->pulse = e->pulse_at = e->pulse_older = 0;
    if (m->rules.pulse)
        e->low = (unsigned)full_slot_of(m, clock) & 7;
}

static bool has_rows_for(const struct model *m, const struct state *s, int engine, int slot)
{
    for (int k = 0; k < CHECKS; k++)
        if (s->db.row[k].slot == (unsigned)slot && takes_part(m, engine, k))
            return true;
    return false;
}

/* Slots that have an opening row are on the re-look list; with what an engine has left there, the
 * pulse comes sooner than a look, and finds nothing else. The second that runs is left to engines
 * that have its jobs. */
static bool is_listed(const struct model *m, const struct state *s, int engine, int slot)
{
    bool opened = s->db.pass[slot].state != PASS_NONE;
    bool yields = slot == (int)s->clock && !has_rows_for(m, s, engine, slot);
    return is_fine(m, slot) && slot_has_rows(&s->db, slot) && !yields && !(m->rules.unopened && opened);
}

/* The first slot with rows after `low`, up to `until`; 0: none. The statement returns the first 16;
 * here the list has one place. */
static int first_listed(const struct model *m, const struct state *s, int engine, int low, int until)
{
    for (int slot = low + 1; slot <= until && slot <= m->rules.slots; slot++)
        if (is_listed(m, s, engine, slot))
            return slot;
    return 0;
}

bool pulse_finds(const struct model *m, const struct state *s, int engine, int slot)
{
    return m->rules.pulse && slot == first_listed(m, s, engine, s->engine[engine].low, s->clock);
}

/* ---- how `low` moves up ---- */

enum { WAITS = 1, LOOKS = 2 };
enum { SNAPSHOT_FIRST, TIME_FIRST, STAMP_AT_ONCE };

/* Nothing is noted as long as `low` could move past full slots only. */
static bool can_move(const struct model *m, const struct state *s, int low)
{
    for (int slot = low + 1; slot <= s->clock; slot++)
        if (is_fine(m, slot))
            return true;
    return false;
}

static void takes_time(struct engine *e, const struct state *s)
{
    e->pulse |= PULSE_HAS_TIME;
    e->pulse_at = s->clock;
}

/* What the next id is above, that is all that run. A snapshot's xmax is the id after the last one
 * that is over: a transaction with that id runs already, and compares as not older. */
static unsigned older_than_noted(const struct model *m, const struct state *s)
{
    unsigned running = (unsigned)running_xids(s, &m->rules) & ALL_XIDS;
    bool is_newest = !m->rules.nextid && !s->app.passed;
    return is_newest ? running & ~(unsigned)XID_APP : running;
}

static void takes_snapshot(const struct model *m, struct engine *e, const struct state *s)
{
    e->pulse |= PULSE_HAS_SNAPSHOT;
    e->pulse_older = older_than_noted(m, s) & ALL_XIDS;
}

/* statement_timestamp() is from before the snapshot of its statement; the two are one move unless a
 * scenario takes them apart. */
static void notes(struct model *m, const struct state *s, int engine)
{
    static const char *const has[] = { "", "its time", "its snapshot", "its time and its snapshot" };
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    int order = m->rules.stamp;
    bool is_first = !e->pulse;
    if (order == STAMP_AT_ONCE || (order == TIME_FIRST) == is_first)
        takes_time(e, s);
    if (order == STAMP_AT_ONCE || (order == SNAPSHOT_FIRST) == is_first)
        takes_snapshot(m, e, s);
    move(m, &t, BY_SYSTEM, "E%d's pulse has %s (slot %d)", engine, has[e->pulse], s->clock);
}

/* A later pulse: the transactions that the earlier one saw are over, and nothing is found up to the
 * time of that one. (The engine also waits for that second to be over, since its statement looks at
 * a few rows only; here all are seen. A `low` that moves later finds no less.) */
static void moves_low(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    if (m->rules.low & WAITS && e->pulse_older)
        return;
    if (m->rules.low & LOOKS && first_listed(m, s, engine, e->low, e->pulse_at))
        return;
    e->low = e->pulse_at;
    e->pulse = e->pulse_at = e->pulse_older = 0;
    move(m, &t, BY_SYSTEM, "E%d's next pulse finds nothing up to slot %d: it begins there from now on",
         engine, e->low);
}

void pulse_moves(struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    if (!m->rules.pulse || e->mode != AWAKE)
        return;
    if (s->clock < e->low || (e->pulse_at && s->clock < e->pulse_at)) {
        struct state t = *s;
        pulse_begins_anew(m, &t.engine[engine], s->clock);
        move(m, &t, BY_SYSTEM, "E%d's pulse finds the clock set back, and begins at the slot that runs",
             engine);
    } else if (e->pulse == PULSE_HAS_BOTH)
        moves_low(m, s, engine);
    else if (e->pulse || can_move(m, s, e->low))
        notes(m, s, engine);
}

/* ---- the promise ---- */

static bool has_engine(const struct model *m, const struct state *s, int check)
{
    for (int i = 0; i < ENGINES; i++)
        if (s->engine[i].mode == AWAKE && takes_part(m, i, check))
            return true;
    return false;
}

bool is_prompt(const struct model *m, const struct state *s)
{
    for (int k = 0; k < CHECKS; k++) {
        int slot = s->db.row[k].slot;
        bool is_due = is_fine(m, slot) && slot > full_slot_of(m, s->clock) && slot <= s->clock;
        if (in_sight(&s->db.row[k], &m->rules) && is_due && !is_locked(s, k) && has_engine(m, s, k))
            return false;
    }
    return true;
}
