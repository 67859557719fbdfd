/* occurrence.c - see occurrence.h. */
#include "occurrence.h"

#include "../base/saturate.h"
#include "slot.h"

static int64_t first_of(const struct occurrence *o)
{
    return recurrence_first(&o->terms->recurrence, o->grid, o->terms->from);
}

static bool is_sought(const struct occurrence *o)
{
    return o->first_check_at == o->terms->sought;
}

/* A check that was moved elsewhere since (`reschedule`) runs there. */
static bool is_to_be_found(const struct occurrence *o)
{
    int64_t from = o->terms->from;
    return from && (is_sought(o) || o->first_check_at == slot_next(from, o->grid->slot_length_s));
}

/* What the rule before had not found is none. But an engine may have found it before the edit, and
 * begun it. */
static bool is_of_the_rule_before(const struct occurrence *o)
{
    return o->first_check_at <= o->terms->from && (o->has_begun || !is_sought(o));
}

int64_t occurrence_nominal(const struct occurrence *o)
{
    return is_to_be_found(o) ? first_of(o) : o->first_check_at;
}

/* Missed, and nothing of it is made up for. */
static bool is_dropped(const struct occurrence *o, int64_t now)
{
    bool is_over = saturate_add(o->first_check_at, o->grid->slot_length_s) <= now;
    return is_over && o->terms->recurrence.missed == RECURRENCE_SKIP;
}

struct recurrence_verdict occurrence_judge(const struct occurrence *o, int64_t now)
{
    bool is_before = is_of_the_rule_before(o);
    bool was_asked_for = o->next_check_at < o->first_check_at;
    int64_t nominal = is_before ? first_of(o) : occurrence_nominal(o);
    struct recurrence_verdict v = { .runs = true, .nominal = o->first_check_at };
    if (o->has_begun || was_asked_for || (is_before && !is_dropped(o, now)))
        return v;
    v = (struct recurrence_verdict){ .nominal = nominal };
    if (nominal && nominal <= o->next_check_at)
        v = recurrence_judge(&o->terms->recurrence, o->grid, nominal, now);
    v.passed_over += is_before;
    return v;
}

int64_t occurrence_after(const struct occurrence *o, int64_t began_at, int64_t ended_at)
{
    const struct recurrence *r = &o->terms->recurrence;
    bool is_before = is_of_the_rule_before(o);
    struct recurrence_run run = { occurrence_nominal(o), began_at, ended_at };
    if (is_before) {
        run.nominal = o->terms->from;
        run.began_at = began_at > run.nominal ? began_at : run.nominal;
    }
    int64_t next = recurrence_after(r, o->grid, &run);
    int64_t first = is_before && r->is_cron ? first_of(o) : next;
    return next < first ? first : next;
}

int64_t occurrence_filed_at(int64_t nominal, int64_t now, int32_t slot_length_s)
{
    return nominal > now ? nominal : slot_fine_next(now, slot_length_s);
}

static void start_anew(struct occurrence *o, int64_t nominal, int64_t now)
{
    o->first_check_at = nominal;
    o->next_check_at = occurrence_filed_at(nominal, now, o->grid->slot_length_s);
    o->has_begun = false;
}

/* To the slot that was asked for, or when that has begun, to the next one. */
static void bring_forward(struct occurrence *o, int64_t again_at, int64_t now)
{
    int64_t filed = again_at > now ? again_at : slot_next(now, o->grid->slot_length_s);
    if (!again_at || filed >= o->next_check_at)
        return;
    o->next_check_at = filed;
    o->first_check_at = again_at < o->first_check_at ? again_at : o->first_check_at;
}

/* A check that moves on unrun goes to an occurrence that runs: each other time is run. */
int occurrence_ahead(struct occurrence o, int64_t again_at, int64_t now, int64_t *out, int most)
{
    int n = 0;
    for (int looks = 0; n < most && looks <= 2 * most; looks++) {
        now = now > o.next_check_at ? now : o.next_check_at;
        struct recurrence_verdict v = occurrence_judge(&o, now);
        if (v.runs) {
            out[n++] = now;
            v.nominal = occurrence_after(&o, now, saturate_add(now, 1));
        }
        if (!v.nominal)
            break;
        start_anew(&o, v.nominal, now);
        bring_forward(&o, again_at, now);
        again_at = again_at > o.next_check_at ? again_at : 0;
    }
    return n;
}
