/* recurrence_rules.c - a schedule that is on has a check by its rule, and one that is off has none;
 * each occurrence comes once, at a time of its rule, not early and not late. The times are computed
 * here in another way than the engine does. */
#include "recurrence_rules.h"

#include <string.h>

#include "../../engine/rules/slot.h"
#include "phase_rules.h"

/* SLACK_S: what an engine's clock may differ from the database's, and the time of a settle. LONG_S:
 * in slots of this length, what begins in time in a world without faults ends before its slot.
 * BEGIN_S: engines are up so long after the world's beginning. */
enum { SLACK_S = 10, LONG_S = 15, BEGIN_S = 5 };

static int64_t now_of(const struct world *w)
{
    return db_clock_us(w->db) / SECOND_US;
}

static const struct record *record_of(const struct tx *tx, int64_t id)
{
    for (int i = 0; i < tx->nrecords; i++)
        if (tx->records[i].id == id && tx->records[i].kind != RECORD_EVENT && tx->records[i].host >= 0)
            return &tx->records[i];
    return NULL;
}

/* ---- on and off ---- */

static void a_schedule_has_its_check(struct world *w, const struct tx *tx, int key)
{
    const struct schedule *schedule = schedule_of(w->db, key);
    const struct schedule_version *s = schedule->by == tx ? &schedule->will : &schedule->is;
    const struct version *v = tx_sees(tx, &w->db->rows[key]);
    bool recurs = v->exists && v->terms.exists;
    if (s->is_on && !v->exists)
        world_violate(w, "schedule %d is on, and has no check", key);
    else if (s->is_on && (!recurs || v->terms.rule != s->rule))
        world_violate(w, "schedule %d is on, and its check does not have its rule", key);
    else if (!s->is_on && recurs)
        world_violate(w, "schedule %d is off, and its check goes on", key);
}

/* ---- from one occurrence to the next ---- */

struct renewal {
    const struct version *was, *is;
    const struct record *record;
    const struct rule *rule;
    int key;
};

static int64_t bias_s(const struct rule *rule)
{
    return (int64_t)rule->period_s * rule->bias / 10000 + 1;
}

/* A check that ran at its time and was done at once, in a world where nothing fails. */
static bool nothing_was_in_the_way(const struct world *w, const struct renewal *r)
{
    bool at_its_time = r->record->slot == r->was->first_at && !r->was->deferred_at &&
                       !r->record->check_count && !r->record->failure_count;
    bool engines_are_up = r->was->first_at * SECOND_US > w->began_us + BEGIN_S * SECOND_US;
    return w->shape.calm && w->shape.prompt && w->shape.slot_length_s >= LONG_S && at_its_time &&
           engines_are_up;
}

static void a_missed_one_was_missed(struct world *w, const struct renewal *r)
{
    int64_t ends_at = r->was->first_at + w->shape.slot_length_s;
    if (r->record->outcome != OUTCOME_SKIPPED)
        return;
    if (strcmp(r->rule->missed, "skip"))
        world_violate(w, "an occurrence of schedule %d is skipped, and missed is %s", r->key,
                      r->rule->missed);
    else if (ends_at > now_of(w) + 1 && !checker_has_jumped(w))
        world_violate(w, "an occurrence of schedule %d is skipped before its slot has ended", r->key);
    else if (nothing_was_in_the_way(w, r))
        world_violate(w, "an occurrence of schedule %d is skipped, and nothing was in its way", r->key);
}

/* It ran before the occurrence that it waited for. */
static bool was_pulled_forward(const struct renewal *r)
{
    return r->record->slot < r->was->first_at;
}

/* The next one is as near as the rule allows. `every` counts from the run, also from one that was
 * pulled forward. */
static void the_next_one_is_near(struct world *w, const struct renewal *r)
{
    int64_t now = now_of(w), from = now;
    if (from < r->was->first_at && (r->rule->is_cron || !was_pulled_forward(r)))
        from = r->was->first_at;
    int64_t most = from + r->rule->period_s + bias_s(r->rule) + w->shape.slot_length_s + SLACK_S;
    if (r->is->first_at > most && !checker_has_jumped(w))
        world_violate(w, "the next occurrence of schedule %d, which recurs each %d s, is %lld s ahead",
                      r->key, (int)r->rule->period_s, (long long)(r->is->first_at - now));
}

/* A run that was asked for takes no time of a cron text away. */
static void no_time_was_used_up(struct world *w, const struct renewal *r)
{
    bool is_a_time = r->rule->is_cron && r->was->first_at % r->rule->period_s == 0;
    if (!is_a_time || !r->record->ran || r->was->first_at <= now_of(w) + SLACK_S || checker_has_jumped(w))
        return;
    if (r->is->first_at != r->was->first_at)
        world_violate(w, "schedule %d ran before its time, %lld, and goes on to %lld", r->key,
                      (long long)r->was->first_at, (long long)r->is->first_at);
}

static void the_next_one_is_a_time_of_its_rule(struct world *w, const struct renewal *r)
{
    int64_t next = r->is->first_at, length_s = w->shape.slot_length_s, period_s = r->rule->period_s;
    bool was_one = r->was->first_at % period_s == 0 && r->record->ran && !was_pulled_forward(r) &&
                   r->was->terms.from < r->was->first_at;
    bool is_all = !strcmp(r->rule->missed, "run_all");
    if (next <= r->was->first_at && !was_pulled_forward(r))
        world_violate(w, "schedule %d goes on from the occurrence of %lld to that of %lld", r->key,
                      (long long)r->was->first_at, (long long)next);
    else if (next % length_s || r->is->next_at < next)
        world_violate(w, "the occurrence of %lld of schedule %d is filed at %lld", (long long)next, r->key,
                      (long long)r->is->next_at);
    else if (r->rule->is_cron && next % period_s)
        world_violate(w, "%lld is no time of schedule %d, which recurs each %lld s", (long long)next, r->key,
                      (long long)period_s);
    else if (r->rule->is_cron && was_one && (is_all || nothing_was_in_the_way(w, r)) &&
             next != r->was->first_at + period_s)
        world_violate(w, "schedule %d passes over occurrences between %lld and %lld", r->key,
                      (long long)r->was->first_at, (long long)next);
}

/* The rule that the engine has read holds from `from` on. Only what was asked for while the check
 * ran may lie before it, or what a clock that was set back has come to. */
static void no_time_is_from_before_its_rule(struct world *w, const struct row *row, const struct renewal *r)
{
    int64_t from = r->was->terms.from;
    bool was_read = row->read.exists && row->read.from == from && row->read.rule == r->was->terms.rule;
    bool is_asked_for = r->was->again_at == r->is->first_at || r->record->outcome == OUTCOME_RESUMED;
    if (was_read && !row->is_reread && !is_asked_for && r->is->first_at <= from && !checker_has_jumped(w))
        world_violate(w, "schedule %d goes on to %lld, and its rule holds from %lld on", r->key,
                      (long long)r->is->first_at, (long long)from);
}

static void note_run(struct world *w, struct last_runs *last, const struct renewal *r)
{
    bool counts_from_its_end = r->record->ran && r->record->run >= 0 && !r->rule->is_cron;
    last->run[r->key].id = counts_from_its_end ? r->is->id : 0;
    if (!counts_from_its_end)
        return;
    last->run[r->key].began_us = checker_run(w, r->record->run)->began_us;
    last->run[r->key].least_us = (r->rule->period_s - bias_s(r->rule)) * SECOND_US;
    last->run[r->key].phase_us = phase_rules_s(w, r->key, r->record->slot) * SECOND_US;
}

/* What an application asked for meanwhile, or an effect of the same settle, is not the rule's. */
static void check_renewal(struct world *w, struct last_runs *last, const struct tx *tx, const struct row *row)
{
    const struct version *was = &row->is, *is = &row->will;
    const struct record *record = was->exists && was->terms.exists ? record_of(tx, was->id) : NULL;
    struct renewal r = { was, is, record, &w->db->rules[was->terms.rule], row->key };
    if (!record || !is->exists)
        return;
    bool is_over = record->kind == RECORD_HISTORY || record->outcome == OUTCOME_DONE ||
                   record->outcome == OUTCOME_SKIPPED;
    if (is->id == was->id && is_over)
        world_violate(w, "an occurrence of schedule %d is over, and the next one has its id", row->key);
    if (is->id != was->id)
        no_time_is_from_before_its_rule(w, row, &r);
    bool is_asked_for = was->again_at || tx->files || record->outcome == OUTCOME_RESUMED;
    if (is->id == was->id || is_asked_for)
        return;
    a_missed_one_was_missed(w, &r);
    the_next_one_is_a_time_of_its_rule(w, &r);
    no_time_was_used_up(w, &r);
    the_next_one_is_near(w, &r);
    note_run(w, last, &r);
}

void recurrence_rules_commit(struct world *w, struct last_runs *last, const struct tx *tx)
{
    for (int i = 0; i < tx->nrows; i++) {
        if (!schedule_of(w->db, tx->rows[i]->key))
            continue;
        a_schedule_has_its_check(w, tx, tx->rows[i]->key);
        check_renewal(w, last, tx, tx->rows[i]);
    }
    for (int i = 0; i < tx->nschedules; i++)
        a_schedule_has_its_check(w, tx, (int)(tx->schedules[i] - w->db->schedules));
}

/* ---- not before its first ---- */

/* SQL files a check where an engine looks for its first occurrence. Unless somebody has asked for a
 * run there, it runs only if a time of the rule lies between. With `every` that may be any. */
static void what_is_unfound_runs_at_a_time_of_its_rule(struct world *w, const struct run *run)
{
    const struct row *row = &w->db->rows[run->key];
    const struct check_terms *t = &row->read;
    bool has_begun = run->check_count || run->failure_count || row->is.deferred_at;
    if (!t->exists || !t->is_unfound || has_begun || row->is.id != run->id)
        return;
    const struct rule *rule = &w->db->rules[t->rule];
    int64_t last = rule->is_cron ? run->slot - run->slot % rule->period_s : run->slot;
    if (last <= t->from)
        world_violate(w, "schedule %d runs in the slot of %lld, and has no time between %lld and that",
                      run->key, (long long)run->slot, (long long)t->from);
}

/* ---- not early ---- */

/* With the pace its part of the slot is gone, too: once, a check comes sooner by that. */
static int64_t least_us(const struct world *w, const struct last_run *last)
{
    bool pace_has_ended = w->shape.pace_ends_us && w->now_us >= w->shape.pace_ends_us;
    return pace_has_ended ? last->least_us - last->phase_us : last->least_us;
}

/* `every` counts from the end of the last run, here from its beginning. One that was pulled forward
 * is early on purpose. */
void recurrence_rules_run_begins(struct world *w, const struct last_runs *last, const struct run *run)
{
    const struct version *v = &w->db->rows[run->key].is;
    if (schedule_of(w->db, run->key))
        what_is_unfound_runs_at_a_time_of_its_rule(w, run);
    if (!schedule_of(w->db, run->key) || !w->shape.prompt || last->run[run->key].id != run->id)
        return;
    int64_t early_us = last->run[run->key].began_us + least_us(w, &last->run[run->key]) - w->now_us;
    if (early_us > 100 * MS_US && v->next_at >= v->first_at)
        world_violate(w, "schedule %d runs %lld ms earlier than its period and bias allow", run->key,
                      (long long)early_us / 1000);
}
