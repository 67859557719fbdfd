/* why.c - see why.h. What is found first in a table of causes is the answer: a cause is a
 * condition on the facts, and the words for it. */
#include "why.h"

#include <inttypes.h>
#include <string.h>

#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/idempotency.h"
#include "../rules/slot.h"
#include "told.h"

const char *why_word(enum why_code code)
{
    static const char *const words[] = {
#define WHY_CODE(name, word) [WHY_##name] = (word),
        WHY_CODES(WHY_CODE)
#undef WHY_CODE
    };
    return words[code];
}

/* ---- words ---- */

/* What there was no memory for. */
static const char *or_nothing(const char *text)
{
    return text ? text : "";
}

/* "2026-03-01T13:15:00Z (in 2 h)" */
static const char *moment_words(struct arena *a, int64_t at, int64_t now, const struct telling *telling)
{
    struct telling t = { 0 };
    if (telling)
        t = *telling;
    t.now = now;
    return or_nothing(told_at(a, &t, at));
}

/* The same, of facts. */
static const char *moment_of(struct arena *a, const struct why_facts *f, int64_t at)
{
    return moment_words(a, at, f->now, f->telling);
}

/* ": their API is down", or nothing. */
static const char *behind_colon(struct arena *a, const char *note)
{
    return note && *note ? or_nothing(arena_printf(a, ": %.*s", UTF8_SHOWN(note))) : "";
}

static const char *by_whom(struct arena *a, const char *word, const char *name)
{
    return name && *name ? or_nothing(arena_printf(a, " %s %.*s", word, UTF8_SHOWN(name))) : "";
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; word && *words; words++)
        if (!strcmp(word, *words))
            return true;
    return false;
}

static bool is_word(const char *word, const char *expected)
{
    return word && !strcmp(word, expected);
}

/* Outcomes of a run that went wrong. */
static const char *const failures[] = { "failed", "timeout", "crashed", "bad_answer", NULL };

/* ---- conditions ---- */

static bool is_due(const struct why_facts *f)
{
    return f->check->next_at <= f->now;
}

static bool is_running(const struct why_facts *f)
{
    return f->running != NULL;
}

static bool is_paused(const struct why_facts *f)
{
    return slot_is_of_pause(f->check->next_at);
}

static bool is_due_and_its_job_unknown(const struct why_facts *f)
{
    return f->job_is == WHY_JOB_UNKNOWN && is_due(f);
}

static bool is_in_a_slot_that_runs(const struct why_facts *f)
{
    return is_due(f) && f->slot && is_word(f->slot->state, "open");
}

static bool is_due_and_its_key_busy(const struct why_facts *f)
{
    return f->place && is_in_a_slot_that_runs(f);
}

/* One whose key is busy is put off by seconds. */
static bool is_soon_and_its_key_busy(const struct why_facts *f)
{
    return f->place && f->check->next_at > f->now && f->check->next_at - f->now <= WHY_SOON_S;
}

static bool is_never_due(const struct why_facts *f)
{
    return f->check->next_at > MOMENT_MAX;
}

static bool is_in_a_slot_that_was_run(const struct why_facts *f)
{
    static const char *const states[] = { "relook", "closed", NULL };
    return is_due(f) && f->slot && is_one_of(f->slot->state, states);
}

static bool was_put_off(const struct why_facts *f)
{
    return f->check->put_off_at != 0;
}

static bool was_put_off_as_unknown(const struct why_facts *f)
{
    return was_put_off(f) && f->job_is == WHY_JOB_UNKNOWN;
}

static bool was_put_off_as_broken(const struct why_facts *f)
{
    return was_put_off(f) && f->run && is_word(f->run->outcome, "job_broken");
}

static bool has_failed(const struct why_facts *f)
{
    return f->check->failure_count > 0 && f->run && is_one_of(f->run->outcome, failures);
}

static bool is_deferred(const struct why_facts *f)
{
    return f->run && is_word(f->run->outcome, "deferred");
}

static bool is_asked_again(const struct why_facts *f)
{
    return f->run && is_word(f->run->outcome, "again");
}

static bool always(const struct why_facts *f)
{
    (void)f;
    return true;
}

/* ---- sentences of checks that wait ---- */

static const char *looked_at(struct arena *a, const struct why_facts *f)
{
    return moment_of(a, f, f->check->next_at);
}

static const char *say_runs(struct arena *a, const struct why_facts *f)
{
    const struct why_running *r = f->running;
    return arena_printf(a, "it runs now%s, in worker %" PRId64 ", since %s", by_whom(a, "on", r->engine),
                        r->worker, moment_of(a, f, r->began_at));
}

static const char *say_paused(struct arena *a, const struct why_facts *f)
{
    const struct why_pause *p = f->pause;
    if (!p)
        return "it is paused, or was and is about to leave: prescient pauses lists who paused what";
    return arena_printf(a, "the %s %.*s is paused since %s%s%s; prescient resume --%s %.*s lets it go on",
                        p->what, UTF8_SHOWN(p->name), moment_of(a, f, p->at),
                        by_whom(a, "by", p->by), behind_colon(a, p->reason), p->what, UTF8_SHOWN(p->name));
}

static const char *unknown_job_words(struct arena *a, const struct why_facts *f)
{
    const char *meant = f->meant ? arena_printf(a, "; did you mean %.*s?", UTF8_SHOWN(f->meant)) : "";
    return or_nothing(arena_printf(a, "no engine has noted the job %.*s%s", UTF8_SHOWN(f->job),
                                   or_nothing(meant)));
}

static const char *say_due_unknown(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "its slot was %s, and %s; give the job to an engine", looked_at(a, f),
                        unknown_job_words(a, f));
}

static const char *say_unknown(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "it was due %s and put off: %s; give the job to an engine, which then finds "
                           "it, else it is looked at %s",
                        moment_of(a, f, f->check->put_off_at), unknown_job_words(a, f),
                        looked_at(a, f));
}

/* What will keep it from running then. */
static const char *ahead_words(struct arena *a, const struct why_facts *f)
{
    const struct why_pause *p = f->pause;
    if (p)
        return or_nothing(arena_printf(a, "; the %s %.*s is paused%s%s, so it will be put aside then",
                                       p->what, UTF8_SHOWN(p->name), by_whom(a, "by", p->by),
                                       behind_colon(a, p->reason)));
    if (f->job_is == WHY_JOB_UNKNOWN)
        return or_nothing(arena_printf(a, "; but %s", unknown_job_words(a, f)));
    if (f->engines && !f->engines->n)
        return "; but no engine has noted itself lately that would run it";
    return "";
}

/* When it is looked at next, and what will keep it from that. */
static const char *next_look(struct arena *a, const struct why_facts *f)
{
    return or_nothing(arena_printf(a, "%s%s", looked_at(a, f), ahead_words(a, f)));
}

static const char *key_words(struct arena *a, const struct why_facts *f)
{
    const char *key = or_nothing(f->check->concurrency_key);
    return or_nothing(arena_printf(a, "checks of its concurrency key %.*s are run%s since %s",
                                   UTF8_SHOWN(key), by_whom(a, "on", f->place->engine),
                                   moment_of(a, f, f->place->taken_at)));
}

static const char *say_due_key_busy(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "its slot was %s, and %s: it waits for its turn, or is one of them",
                        looked_at(a, f), key_words(a, f));
}

static const char *say_key_busy(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "%s, so it may have to wait for its turn; it is looked at %s", key_words(a, f),
                        next_look(a, f));
}

static const char *say_slot_runs(struct arena *a, const struct why_facts *f)
{
    const char *begun = moment_of(a, f, f->slot->opened_at);
    const char *by = by_whom(a, "by", f->slot->engine);
    if (f->pause)
        return arena_printf(a, "its slot %s was begun%s %s; the %s %.*s is paused%s, so it is put aside",
                            looked_at(a, f), by, begun, f->pause->what, UTF8_SHOWN(f->pause->name),
                            by_whom(a, "by", f->pause->by));
    return arena_printf(a, "its slot %s was begun%s %s and is not finished: its turn comes, or it runs "
                           "already; if that engine is gone, another one takes it over",
                        looked_at(a, f), by, begun);
}

static const char *say_left_behind(struct arena *a, const struct why_facts *f)
{
    if (f->slot->has_left)
        return arena_printf(a, "its slot %s was run by engines that do not have its job, or could not take "
                               "its row: it was left to others",
                            looked_at(a, f));
    return arena_printf(a, "its slot %s was run without it, as it was committed later, or another "
                           "transaction held its row: a second look or a sweep takes it, and may be at it",
                        looked_at(a, f));
}

static const char *engines_words(struct arena *a, const struct why_facts *f)
{
    const struct why_engines *e = f->engines;
    if (!e || !e->n)
        return "no engine has noted itself lately: see whether one runs (prescient daemon, or prescient run "
               "by cron)";
    return or_nothing(arena_printf(a, "the last that an engine noted of itself was %s%s: see whether one "
                                      "runs, and prescient doctor",
                                   moment_of(a, f, e->seen_at), by_whom(a, "by", e->newest)));
}

static const char *say_slot_late(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "its slot was %s, and no engine has begun it; %s", looked_at(a, f),
                        engines_words(a, f));
}

static const char *run_words(struct arena *a, const struct why_facts *f)
{
    return or_nothing(arena_printf(a, "%s%s", moment_of(a, f, f->run->at),
                                   by_whom(a, "by", f->run->engine)));
}

static const char *say_broken(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "its job was tried %s and can ask about no row%s; mend it: it is tried again %s",
                        run_words(a, f), behind_colon(a, f->run->note), next_look(a, f));
}

static const char *say_held_back(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "it was due %s and put off without a run: the engine could not load its job, the "
                           "job is broken, or was held back after many failures (prescient doctor finds "
                           "which); it is looked at %s",
                        moment_of(a, f, f->check->put_off_at), next_look(a, f));
}

static const char *say_backing_off(struct arena *a, const struct why_facts *f)
{
    int64_t most = f->failures_most;
    const char *of = most ? or_nothing(arena_printf(a, ", of %" PRId64 " that end it", most)) : "";
    return arena_printf(a, "its run %s ended with: %s%s; that was failure %" PRId32 " in a row%s, and it is "
                           "tried again %s",
                        run_words(a, f), f->run->outcome, behind_colon(a, f->run->note),
                        f->check->failure_count, of, next_look(a, f));
}

static const char *say_deferred(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "its job looked %s and could not tell yet%s; it looks again %s", run_words(a, f),
                        behind_colon(a, f->run->note), next_look(a, f));
}

static const char *say_asked_again(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "its job looked %s and wants to look again%s; it does so %s", run_words(a, f),
                        behind_colon(a, f->run->note), next_look(a, f));
}

static const char *say_waits(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "it waits for its slot, %s", next_look(a, f));
}

static const char *say_never_due(struct arena *a, const struct why_facts *f)
{
    (void)f;
    return arena_strdup(a, "it is filed for a time that never comes: prescient reschedule moves it");
}

static const struct cause {
    bool (*is)(const struct why_facts *f);
    enum why_code code;
    const char *(*say)(struct arena *a, const struct why_facts *f);
} waiting_causes[] = {
    { is_running, WHY_RUNS, say_runs },
    { is_paused, WHY_PAUSED, say_paused },
    { is_never_due, WHY_WAITS, say_never_due },
    { is_due_and_its_job_unknown, WHY_UNKNOWN_JOB, say_due_unknown },
    { is_due_and_its_key_busy, WHY_KEY_BUSY, say_due_key_busy },
    { is_in_a_slot_that_runs, WHY_SLOT_RUNS, say_slot_runs },
    { is_in_a_slot_that_was_run, WHY_LEFT_BEHIND, say_left_behind },
    { is_due, WHY_SLOT_LATE, say_slot_late },
    { was_put_off_as_unknown, WHY_UNKNOWN_JOB, say_unknown },
    { was_put_off_as_broken, WHY_JOB_BROKEN, say_broken },
    { is_soon_and_its_key_busy, WHY_KEY_BUSY, say_key_busy },
    { was_put_off, WHY_HELD_BACK, say_held_back },
    { has_failed, WHY_BACKING_OFF, say_backing_off },
    { is_deferred, WHY_DEFERRED, say_deferred },
    { is_asked_again, WHY_ASKED_AGAIN, say_asked_again },
    { always, WHY_WAITS, say_waits },
};

/* ---- sentences of checks that are over ---- */

static bool ended_done(const struct why_facts *f)
{
    return is_word(f->over->outcome, "done");
}

static bool ended_resolved(const struct why_facts *f)
{
    return is_word(f->over->outcome, "resolved");
}

/* The note of what `cancel` has ended begins so, in both stores. */
static bool ended_cancelled(const struct why_facts *f)
{
    static const char cancelled[] = "cancelled";
    const char *note = f->over->note;
    return ended_resolved(f) && note && !strncmp(note, cancelled, sizeof cancelled - 1);
}

static bool ended_failed(const struct why_facts *f)
{
    return is_one_of(f->over->outcome, failures);
}

static const char *last_look(struct arena *a, const struct why_facts *f)
{
    const struct why_over *o = f->over;
    int64_t at = o->run_at ? o->run_at : o->ended_at;
    return or_nothing(arena_printf(a, "%s%s", moment_of(a, f, at), by_whom(a, "by", o->engine)));
}

static const char *say_done(struct arena *a, const struct why_facts *f)
{
    int64_t n = f->over->events;
    const char *raised = n < 0 ? "" : "; nothing was raised";
    if (n == 1)
        raised = "; it raised an event";
    if (n > 1)
        raised = or_nothing(arena_printf(a, "; it raised %" PRId64 " events", n));
    return arena_printf(a, "it was looked at %s, which answered: done%s%s", last_look(a, f),
                        behind_colon(a, f->over->note), raised);
}

static const char *say_resolved(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "it was resolved %s%s: what it asked about had come to its end",
                        moment_of(a, f, f->over->ended_at), behind_colon(a, f->over->note));
}

static const char *say_cancelled(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "it was %.*s %s: if it is still wanted, enqueue it again",
                        UTF8_SHOWN(f->over->note), moment_of(a, f, f->over->ended_at));
}

/* What files it once more. */
static const char *again_words(const struct why_facts *f)
{
    if (!strcmp(f->entity, DELIVERY_ENTITY))
        return "prescient deliveries --again sends it once more";
    return "prescient retry files it once more";
}

static const char *say_failed(struct arena *a, const struct why_facts *f)
{
    int64_t n = f->over->failure_count;
    const char *word = n == 1 ? "failure" : "failures";
    return arena_printf(a, "it was given up after %" PRId64 " %s in a row, the last %s: %s%s; %s", n,
                        word, last_look(a, f), f->over->outcome,
                        behind_colon(a, f->over->note), again_words(f));
}

static const char *say_guarded(struct arena *a, const struct why_facts *f)
{
    const struct why_over *o = f->over;
    bool is_unknown = is_word(o->outcome, "unknown_job");
    const char *guard = o->guard ? o->guard : o->outcome;
    return arena_printf(a, "the guard %s ended it %s%s; %s", guard,
                        moment_of(a, f, o->ended_at), behind_colon(a, o->note),
                        is_unknown ? again_words(f) : "if it is still wanted, enqueue it again");
}

static const struct cause over_causes[] = {
    { ended_done, WHY_DONE, say_done },
    { ended_cancelled, WHY_CANCELLED, say_cancelled },
    { ended_resolved, WHY_RESOLVED, say_resolved },
    { ended_failed, WHY_FAILED, say_failed },
    { always, WHY_GUARDED, say_guarded },
};

/* ---- there is none ---- */

static bool was_cut(const struct why_facts *f)
{
    return f->searched_to != 0;
}

static const char *of_what(struct arena *a, const struct why_facts *f)
{
    const char *job = f->job ? arena_printf(a, " of the job %.*s", UTF8_SHOWN(f->job)) : "";
    return arena_printf(a, "no check%s waits for %.*s/%.*s", or_nothing(job), UTF8_SHOWN(f->entity),
                        UTF8_SHOWN(f->key));
}

static const char *say_not_found(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "%s, and none has ended since %s; the history before that was not searched",
                        of_what(a, f), moment_of(a, f, f->searched_to));
}

static const char *say_never(struct arena *a, const struct why_facts *f)
{
    return arena_printf(a, "%s, and none is in the history that is kept: it was never enqueued, its "
                           "transaction has not committed, or it is older than that",
                        of_what(a, f));
}

static const struct cause no_causes[] = {
    { was_cut, WHY_NOT_FOUND, say_not_found },
    { always, WHY_NEVER_ENQUEUED, say_never },
};

/* The last row of each table is always true. */
static struct why first_of(const struct cause *causes, struct arena *a, const struct why_facts *f)
{
    while (!causes->is(f))
        causes++;
    return (struct why){ causes->code, causes->say(a, f) };
}

struct why why_of(struct arena *a, const struct why_facts *f)
{
    const struct cause *without_one = f->over ? over_causes : no_causes;
    return first_of(f->check ? waiting_causes : without_one, a, f);
}

/* ---- events ---- */

static const struct { const char *state; enum why_code code; const char *words;
} delivery_states[] = {
    { "done", WHY_DELIVERED, "was delivered" },
    { "waiting", WHY_DELIVERY_WAITS, "waits for its delivery" },
    { "paused", WHY_DELIVERY_PAUSED, "waits, as its delivery is paused (prescient pauses)" },
    { "retrying", WHY_DELIVERY_RETRIES, "could not be delivered yet" },
    { "resolved", WHY_DELIVERY_RESOLVED, "is not delivered any more: that was resolved" },
    { "failed", WHY_DELIVERY_FAILED, "was not delivered, and is given up (prescient deliveries --again)" },
};

static const struct undelivered {
    enum why_code code;
    const char *words;
} withheld = { WHY_EVENT_WITHHELD, "is withheld from readers of events until older transactions are over: "
                                   "prescient status names the oldest" },
  heard = { WHY_DELIVERY_UNKNOWN, "was heard, and its delivery is not found: it was pruned, or is older than "
                                  "what is searched" },
  unheard = { WHY_NO_LISTENER, "is delivered to no listener by itself; readers of events, and "
                               "digests, have it" };

static struct why why_of_undelivered(struct arena *a, int64_t now, const struct telling *telling,
                                     const struct why_event *e)
{
    const struct undelivered *as = e->is_readable ? &unheard : &withheld;
    if (e->is_heard)
        as = &heard;
    return (struct why){ as->code, arena_printf(a, "the event %.*s of %s %s", UTF8_SHOWN(e->event),
                                                moment_words(a, e->emitted_at, now, telling), as->words) };
}

static const char *delivery_times(struct arena *a, int64_t now, const struct telling *telling,
                                  const struct why_event *e)
{
    if (e->ended_at)
        return or_nothing(arena_printf(a, " %s", moment_words(a, e->ended_at, now, telling)));
    if (e->next_at && !slot_is_of_pause(e->next_at))
        return or_nothing(arena_printf(a, "; it is tried %s", moment_words(a, e->next_at, now, telling)));
    return "";
}

struct why why_of_event(struct arena *a, int64_t now, const struct telling *telling,
                        const struct why_event *e)
{
    size_t i = 0, last = sizeof delivery_states / sizeof *delivery_states - 1;
    if (!e->listener)
        return why_of_undelivered(a, now, telling, e);
    while (i < last && !is_word(e->state, delivery_states[i].state))
        i++;
    const char *attempts = e->tries == 1 ? "attempt" : "attempts";
    const char *tries = e->tries > 0 ? arena_printf(a, ", %" PRId64 " %s", e->tries, attempts) : "";
    const char *times = delivery_times(a, now, telling, e);
    return (struct why){ delivery_states[i].code,
                         arena_printf(a, "the event %.*s of %s for %.*s %s%s%s%s", UTF8_SHOWN(e->event),
                                      moment_words(a, e->emitted_at, now, telling), UTF8_SHOWN(e->listener),
                                      delivery_states[i].words, or_nothing(times), or_nothing(tries),
                                      behind_colon(a, e->note)) };
}
