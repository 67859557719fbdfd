/* recurring.c - see recurring.h. */
#include "recurring.h"

#include <inttypes.h>

#include "../base/utf8.h"
#include "../rules/about.h"
#include "../rules/digest.h"
#include "../rules/occurrence.h"
#include "../rules/slot.h"
#include "phases.h"
#include "zones.h"

/* ---- its rule ---- */

struct rule {
    const struct terms *terms;      /* until the next one is read */
    struct recurrence_grid grid;
};

static int read_rule(const struct lane_env *env, const struct check *c, int64_t now_us, struct rule *out,
                     struct err *err)
{
    out->terms = terms_read(env->terms_memo, c->terms, err);
    if (!out->terms)
        return err->code;
    if (out->terms->has_event != check_is_delivery(c))
        return err_set(err, ERR_INPUT, "terms: the words of an event do not begin with event");
    const struct recurrence *r = &out->terms->recurrence;
    out->grid = (struct recurrence_grid){ .slot_length_s = env->clocks->slot_length_s };
    if (out->terms->has_event || !r->is_cron)
        return 0;
    out->grid.zone = zones_find(env->zones, r->zone, now_us, err);
    return out->grid.zone ? 0 : err->code;
}

static void log_unreadable(const struct lane_env *env, const struct check *c, const struct err *err,
                           int64_t now_us)
{
    if (!cooldown_may_log(env->cooldowns, cooldown_of(COOLDOWN_TERMS, 0), now_us))
        return;
    log_line_about(
        env->log, LOG_LEVEL_WARN, about_check(c),
        "check %.*s/%.*s (%.*s): %s; it waits for an engine that can read this, as if its job were "
        "unknown here (so may others: `prescient status` counts them)",
        UTF8_SHOWN(c->entity_name), UTF8_SHOWN(c->entity_key), UTF8_SHOWN(c->job_exec), err->text);
}

/* ---- it comes in ---- */

/* A slot that is read has begun by the database's clock. The engine's may be behind that, or was
 * set back since: then the occurrence of this slot would not have come yet, and its run would look
 * like one that was asked for. */
static int64_t now_of(const struct page *page, const struct check *c)
{
    return page->now > c->next_check_at ? page->now : c->next_check_at;
}

/* A check of a slot that is spread comes up some time after it: what is missed, and when a time
 * after each run is over, is reckoned as if that were its slot's beginning. */
static int64_t now_of_slot(const struct lane_env *env, const struct page *page, const struct check *c)
{
    int64_t at = page->now - phase_of_check_s(env->clocks, c);
    return at > c->next_check_at ? at : c->next_check_at;
}

static bool has_begun(const struct check *c)
{
    return c->check_count || c->failure_count || c->deferred_at;
}

static struct occurrence occurrence_of(const struct rule *rule, const struct check *c)
{
    return (struct occurrence){
        .terms = rule->terms,
        .grid = &rule->grid,
        .first_check_at = c->first_check_at,
        .next_check_at = c->next_check_at,
        .has_begun = has_begun(c),
    };
}

static void renew_at(struct settlement *s, int64_t nominal, int64_t now, int32_t length_s)
{
    s->renews = true;
    s->first_at = nominal;
    s->next_at = occurrence_filed_at(nominal, now, length_s);
}

static void move_on(struct page *page, int index, const struct recurrence_verdict *v, int32_t length_s,
                    int64_t now_us)
{
    const struct check *c = &page->rows.checks[index];
    struct settlement *s = &page->checks[index].settlement;
    renew_at(s, v->nominal, now_of(page, c), length_s);
    s->outcome = OUTCOME_RESLOTTED;
    s->check_count = c->check_count;
    s->failure_count = c->failure_count;
    if (v->passed_over) {
        s->outcome = OUTCOME_SKIPPED;
        s->run_at_us = page->now * 1000000;
        s->note = arena_printf(page->arena, "missed: %" PRId64 " %s not run", v->passed_over,
                               v->passed_over == 1 ? "occurrence is" : "occurrences are");
    }
    page_answer(page, index, now_us);
}

/* ---- a digest ---- */

static void log_nobodys_digest(const struct lane_env *env, const struct check *c, int64_t now_us)
{
    if (!cooldown_may_log(env->cooldowns, cooldown_of(COOLDOWN_TERMS, 0), now_us))
        return;
    log_line_about(
        env->log, LOG_LEVEL_WARN, about_check(c),
        "check %s/%.*s: these settings have no listener \"%.*s\" with a digest and the job \"%.*s\"; "
        "it waits for an engine whose settings have it. If the listener is gone for good: prescient "
        "resolve %s %.*s",
        c->entity_name, UTF8_SHOWN(c->entity_key), UTF8_SHOWN(c->entity_key), UTF8_SHOWN(c->job_exec),
        c->entity_name, UTF8_SHOWN(c->entity_key));
}

/* It needs no run: the settle does all of it. False: nobody's here, or out of memory. */
static bool answer_digest(const struct lane_env *env, struct page *page, int index, int64_t now_us)
{
    struct settlement *s = &page->checks[index].settlement;
    const struct listener_settings *listener = digest_listener(env->settings, s->check);
    if (!listener) {
        log_nobodys_digest(env, s->check, now_us);
        return false;
    }
    struct digest *digest = arena_alloc(page->arena, sizeof *digest);
    s->outcome = OUTCOME_DONE;
    s->ran = true;
    s->run_at_us = page->now * 1000000;
    if (!digest || !recurring_renew(env, page, s, now_us)) {
        *s = (struct settlement){ .check = s->check };
        return false;
    }
    *digest = (struct digest){ .listener = listener, .files = true };
    s->digest = digest;
    page_answer(page, index, now_us);
    return true;
}

enum recurring_way recurring_take_in(const struct lane_env *env, struct page *page, int index, int64_t now_us)
{
    const struct check *c = &page->rows.checks[index];
    struct rule rule;
    struct err err;
    if (read_rule(env, c, now_us, &rule, &err) < 0) {
        log_unreadable(env, c, &err, now_us);
        return RECURRING_UNREADABLE;
    }
    if (check_is_delivery(c))
        return RECURRING_RUNS;
    if (*rule.terms->digest)
        return answer_digest(env, page, index, now_us) ? RECURRING_MOVES_ON : RECURRING_UNREADABLE;
    struct occurrence o = occurrence_of(&rule, c);
    struct recurrence_verdict v = occurrence_judge(&o, now_of_slot(env, page, c));
    if (v.runs)
        return RECURRING_RUNS;
    if (!v.nominal)
        return RECURRING_UNREADABLE;        /* it has no further occurrence: nothing here is to be done */
    move_on(page, index, &v, rule.grid.slot_length_s, now_us);
    return RECURRING_MOVES_ON;
}

/* One that has begun goes on as it is, and so does one that `earlier` has pulled forward. */
void recurring_resume(const struct lane_env *env, const struct page *page, struct settlement *s,
                      int64_t now_us)
{
    const struct check *c = s->check;
    struct rule rule;
    struct err err;
    if (has_begun(c) || c->first_check_at > page->now || read_rule(env, c, now_us, &rule, &err) < 0)
        return;
    struct occurrence o = occurrence_of(&rule, c);
    int64_t nominal = occurrence_nominal(&o);
    if (nominal < s->next_at)
        nominal = s->next_at;
    renew_at(s, nominal, page->now, rule.grid.slot_length_s);
}

/* ---- its occurrence is over ---- */

/* How long after its slot `every` counts from. */
static int32_t counted_phase_s(const struct lane_env *env, const struct rule *rule, const struct check *c)
{
    return rule->terms->recurrence.is_cron ? 0 : phase_of_check_s(env->clocks, c);
}

static int64_t next_of(const struct rule *rule, const struct page *page, const struct settlement *s,
                       int32_t phase_s)
{
    struct occurrence o = occurrence_of(rule, s->check);
    int64_t began_at = now_of(page, s->check);
    /* a digest takes no time, so nothing is added up from one to the next */
    if (*rule->terms->digest)
        began_at = slot_floor(began_at, rule->grid.slot_length_s);
    int64_t ended_at = began_at;
    int64_t ended_us = s->run_at_us + s->run_us;
    if (s->ran && !*rule->terms->digest && ended_us > began_at * 1000000)
        ended_at = (ended_us + 999999) / 1000000;
    return occurrence_after(&o, began_at - phase_s, ended_at - phase_s);
}

/* What comes up later in a slot that has begun is filed then, as if it were that late now. */
static int64_t filed_from(int64_t nominal, int64_t now, int32_t phase_s)
{
    int64_t before = nominal + phase_s - 1;
    return nominal <= now && before > now ? before : now;
}

bool recurring_renew(const struct lane_env *env, const struct page *page, struct settlement *s,
                     int64_t now_us)
{
    struct rule rule;
    struct err err;
    int64_t nominal = 0, now = now_of(page, s->check);
    int32_t phase_s = 0;
    if (read_rule(env, s->check, now_us, &rule, &err) == 0) {
        phase_s = counted_phase_s(env, &rule, s->check);
        nominal = next_of(&rule, page, s, phase_s);
    }
    if (!nominal) {
        s->ends = false;
        s->next_at = slot_next(now, env->clocks->slot_length_s);
        return false;
    }
    renew_at(s, nominal, filed_from(nominal, now, phase_s), rule.grid.slot_length_s);
    s->ends = s->outcome != OUTCOME_DONE;
    return true;
}
