/* rounds.c - a slot whose opening row names a heavy tenant has two rounds. The first goes over all
 * buckets without that tenant's checks, notes each bucket and gives its lease back. The last is the
 * pass of every other slot: it reads all that is left, in the order of the slot's index, and
 * finishes. So only one kind of pass finishes, and what comes late is found as ever. */
#include "model.h"

bool is_heavy(const struct model *m, int check)
{
    return m->rules.rounds && check != m->rules.rounds - 1;
}

static unsigned round_bit(int slot, int bucket)
{
    return 1u << ((slot - 1) * BUCKETS + bucket);
}

bool has_first_round(const struct model *m, const struct state *s, const struct request *r, int bucket)
{
    bool runs = r->target == TARGET_SLOT || r->target == TARGET_SWEEP;
    return m->rules.rounds && runs && !(s->db.rounds & round_bit((int)r->slot, bucket));
}

void note_round(struct state *s, int slot, int bucket)
{
    s->db.rounds |= round_bit(slot, bucket) & 0xfff;
}

void forget_rounds(struct state *s, int slot)
{
    for (int b = 0; b < BUCKETS; b++)
        s->db.rounds &= ~round_bit(slot, b) & 0xfff;
}

/* The first round leaves the heavy tenant; with the planted mistake the last one reads nothing
 * else, until its finish finds something behind it. */
bool round_passes_over(const struct model *m, const struct engine *e, int check)
{
    if (!m->rules.rounds || e->unlisted)
        return false;
    if (e->partial)
        return is_heavy(m, check);
    return !m->rules.roundall && !e->reads_rest && !is_heavy(m, check);
}

static bool has_items(const struct engine *e)
{
    return e->item[0].state || e->item[1].state;
}

/* Whoever fills a page is heavy, too: the rest of its checks is left to the last round. */
static void leaves_rest(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    t.engine[engine].exhausted = 1;
    move(m, &t, BY_SYSTEM, "E%d leaves what fills its pages to the last round", engine);
}

/* The whole slot is one lease: there is nobody to wait for, and the last round begins under it. It
 * reads from the beginning, and what is complete is judged anew. */
static void goes_on(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    e->partial = e->unlisted = e->exhausted = e->began = e->cursor = e->skipped = 0;
    e->complete = 1;
    move(m, &t, BY_SYSTEM, "E%d begins the last round of slot %d", engine, e->slot);
}

static void gives_back(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    struct request r = make_request(m, e, REQUEST_FINISH);
    enum finish end = finish_bucket(m, &t, &r);
    if (end == FINISH_BLOCKED)
        return;
    engine_drop_run(e);
    move(m, &t, BY_SYSTEM, "E%d ends the first round of slot %d, bucket %d: %s", engine, r.slot, r.bucket,
         end == FINISH_OVER ? "noted, and the lease given back" : "another engine has the lease");
}

void round_moves(struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    if (!e->exhausted && e->began)
        leaves_rest(m, s, engine);
    if (!e->exhausted || (has_items(e) && m->rules.roundsettled))
        return;
    if (e->whole)
        goes_on(m, s, engine);
    else
        gives_back(m, s, engine);
}
