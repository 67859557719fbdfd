/* db_schedule.c - schedules and their checks, as in migrations/pg/0009_schedules.sql. SQL computes
 * no times: it files the check under the next slot, with the rule and from when on that holds.
 * Locks: the schedule first, then its check. */
#include "../../engine/rules/slot.h"
#include "db.h"

/* ---- rules ---- */

static struct rule draw_cron(struct world *w)
{
    static const char *const missed[] = { "run_once", "run_all", "skip" };
    return (struct rule){ .is_cron = true,
                          .period_s = 60 * (int32_t)world_between(w, 1, 3),
                          .missed = missed[world_random(w) % 3] };
}

static struct rule draw_every(struct world *w)
{
    int32_t length_s = w->shape.slot_length_s;
    return (struct rule){ .period_s = (int32_t)world_between(w, length_s / 2, 4 * length_s),
                          .bias = (int32_t)world_between(w, 0, 2000),
                          .missed = world_chance(w, 500) ? "run_once" : "skip" };
}

void rules_draw(struct db *db)
{
    for (int i = 0; i < RULES && db->w->shape.schedules; i++)
        db->rules[i] = world_chance(db->w, 500) ? draw_cron(db->w) : draw_every(db->w);
}

void terms_write(const struct db *db, int key, const struct check_terms *terms, char out[TERMS_SIZE])
{
    const struct rule *r = &db->rules[terms->rule];
    char rule[64], sought[32] = "", from[32] = "";
    if (r->is_cron)
        snprintf(rule, sizeof rule, "cron \"*/%d * * * *\"", (int)r->period_s / 60);
    else
        snprintf(rule, sizeof rule, "every %d bias 0.%04d", (int)r->period_s, (int)r->bias);
    if (terms->sought)
        snprintf(sought, sizeof sought, " sought %lld", (long long)terms->sought);
    if (terms->from)
        snprintf(from, sizeof from, " from %lld", (long long)terms->from);
    snprintf(out, TERMS_SIZE, "schedule \"s%d\" %s missed %s%s%s", key, rule, r->missed, sought, from);
}

bool finds_first(const struct db *db, const struct version *v)
{
    const struct check_terms *t = &v->terms;
    bool has_begun = v->check_count || v->failure_count || v->deferred_at;
    if (!t->exists || !t->from || has_begun || v->next_at < v->first_at)
        return false;
    return v->first_at == slot_next(t->from, db->w->shape.slot_length_s) || v->first_at == t->sought;
}

void first_is_found(struct check_terms *terms)
{
    terms->from = terms->sought = terms->looks_at = 0;
    terms->is_unfound = false;
}

/* ---- changes ---- */

struct schedule *schedule_of(struct db *db, int key)
{
    return key < db->w->shape.schedules ? &db->schedules[key] : NULL;
}

/* NULL: another transaction holds it. */
static struct schedule_version *lock_schedule(struct tx *tx, struct schedule *s)
{
    if (s->by == tx)
        return &s->will;
    if (s->by)
        return NULL;
    s->by = tx;
    s->will = s->is;
    tx->schedules[tx->nschedules++] = s;
    return &s->will;
}

/* In a slot that has begun the check may be being answered: the rule is written beside it. */
static enum served file_scheduled(struct db *db, struct tx *tx, int key, int rule)
{
    struct version *v = tx_row(tx, &db->rows[key]);
    int64_t now = db_clock_us(db) / SECOND_US, slot = slot_next(now, db->w->shape.slot_length_s);
    struct check_terms terms = { .exists = true, .rule = rule, .from = now, .is_unfound = true };
    if (!v)
        return BLOCKED;
    if (v->exists && v->next_at <= now) {
        terms.is_unfound = v->terms.is_unfound;
        terms.looks_at = slot;
        if (finds_first(db, v) && !db->w->wrong[EDIT_FORGETS_SOUGHT])
            terms.sought = v->first_at;
        v->terms = terms;
        v->again_at = v->again_at && v->again_at < slot ? v->again_at : slot;
        return COMMITS;
    }
    *v = (struct version){ .exists = true, .id = db->next_id++, .first_at = slot, .next_at = slot,
                           .terms = terms };
    return COMMITS;
}

enum served api_schedule(struct db *db, struct tx *tx, int key, int rule)
{
    struct schedule_version *s = lock_schedule(tx, schedule_of(db, key));
    if (!s)
        return BLOCKED;
    if (s->rule == rule)
        return COMMITS;
    s->rule = rule;
    return s->is_on ? file_scheduled(db, tx, key, rule) : COMMITS;
}

enum served api_switch(struct db *db, struct tx *tx, int key, bool on)
{
    struct schedule_version *s = lock_schedule(tx, schedule_of(db, key));
    if (!s)
        return BLOCKED;
    if (s->is_on == on)
        return COMMITS;
    s->is_on = on;
    return on ? file_scheduled(db, tx, key, s->rule) : api_resolve(db, tx, key);
}

enum served schedule_resolved(struct db *db, struct tx *tx, int key)
{
    struct schedule *schedule = schedule_of(db, key);
    if (!schedule)
        return COMMITS;
    if (schedule->by != tx && !schedule->is.is_on)
        return COMMITS;
    struct schedule_version *s = lock_schedule(tx, schedule);
    if (!s)
        return BLOCKED;
    s->is_on = false;
    return COMMITS;
}
