/* round_rules.c - where nothing fails, one engine gives its workers the urgent checks of a split
 * slot before the others. */
#include "round_rules.h"

void round_rules_given(struct round_rules *r, int64_t id, int64_t slot)
{
    r->given[id % GIVEN_MAX].id = id;
    r->given[id % GIVEN_MAX].slot = slot;
}

static bool was_given(const struct round_rules *r, int64_t id, int64_t slot)
{
    return r->given[id % GIVEN_MAX].id == id && r->given[id % GIVEN_MAX].slot == slot;
}

/* Several engines share the buckets, and each has rounds of its own. What is paused or unknown is
 * not run, and what is being changed may come late. */
static bool is_judged(const struct world *w)
{
    const struct shape *s = &w->shape;
    return s->calm && s->hosts == 1 && !s->app_writes && !s->pauses && !s->unknown_job;
}

/* One of a schedule may be moved on without a run, and one with a concurrency key waits for its
 * place: neither keeps others waiting. */
static bool goes_first(const struct row *row, int64_t slot)
{
    const struct version *v = &row->is;
    return v->exists && v->next_at == slot && v->priority < 0 && !v->terms.exists && row->concurrency < 0;
}

void round_rules_run_begins(struct world *w, const struct round_rules *r, const struct run *run,
                            const int64_t filed_us[KEYS_MAX])
{
    const struct slot_row *slot = db_slot(w->db, run->slot, false);
    const struct version *v = &w->db->rows[run->key].is;
    if (!slot || slot->split == 1 || v->priority < 0 || !is_judged(w))
        return;
    for (int i = 0; i < KEYS_MAX; i++) {
        const struct row *row = &w->db->rows[i];
        bool is_late = filed_us[i] >= slot->opened_us;
        if (goes_first(row, run->slot) && !is_late && !was_given(r, row->is.id, run->slot))
            world_violate(w, "check %d is run, and the urgent check %d of its slot was given to no worker",
                          run->key, i);
    }
    world_count(w, TALLY_AFTER_ROUNDS);
}
