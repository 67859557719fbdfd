/* checker.c - no check is lost, settled twice, run again without a cause, or started when another
 * engine may have its lease. */
#include "checker.h"

#include <stdlib.h>
#include <string.h>

#include "../../engine/rules/slot.h"
#include "db.h"
#include "host.h"
#include "key_rules.h"
#include "phase_rules.h"
#include "message.h"
#include "recurrence_rules.h"
#include "round_rules.h"

struct cause { int64_t until_us; int host, key; const char *what; };

/* LINGERS_US: the effect of a lost call lasts for its deadline, a back-off, and the rest of the
 * lease. QUEUE_US: a check waits behind slow checks of the same slot. LEFT_US: the pulse of an
 * engine finds what another has left to it. RELOOK_US: so often an engine looks a second time into
 * a slot of which checks remained. PAUSE_US: an engine hears of a pause by its next pulse. */
enum {
    LINGERS_US = 30 * 1000 * 1000,
    KILLS_MAX = 256,
    QUEUE_US = 8 * 1000 * 1000,
    LEFT_US = 2 * 1000 * 1000,
    RELOOK_US = 10 * 1000 * 1000,
    PAUSE_US = 1100 * 1000
};

/* A settled answer: of this check, in this slot, with these counts, once. */
struct settled { int64_t id, slot; int32_t check_count, failure_count; };

struct checker {
    struct run *runs;
    int nruns, runs_room;
    struct cause *causes;
    int ncauses, causes_room;
    struct settled *settled;
    int nsettled, settled_room;
    int64_t begun, ended, replaced;         /* lives of checks */
    int64_t kills_us[KILLS_MAX];            /* when engines were killed */
    int nkills;
    int64_t filed_us[KEYS_MAX];             /* when the commit came that filed the check where it is */
    struct last_runs last_runs;             /* of schedules */
    struct key_rules keys;
    struct round_rules rounds;
    int64_t locked_us;                      /* slots could not be opened until then */
    int64_t jumped_us;                      /* when the database's clock last jumped; 0: never */
    /* until then a failover may have lost leases that their owners still trust */
    int64_t failed_over_us;
};

struct checker_mark {
    int nsettled, nruns;
    int64_t begun, ended, replaced;
    struct run *runs;
};

static void *room_for_one(void *list, int n, int *room, size_t size)
{
    if (n < *room)
        return list;
    *room = *room ? *room * 2 : 64;
    list = realloc(list, (size_t)*room * size);
    if (!list)
        abort();
    return list;
}

void checker_make(struct world *w)
{
    w->checker = calloc(1, sizeof *w->checker);
    if (!w->checker)
        abort();
}

void checker_free(struct world *w)
{
    free(w->checker->runs);
    free(w->checker->causes);
    free(w->checker->settled);
    free(w->checker);
}

/* ---- causes ---- */

void checker_event(struct world *w, int host, int key, int64_t lasts_us, const char *what)
{
    struct checker *c = w->checker;
    c->causes = room_for_one(c->causes, c->ncauses, &c->causes_room, sizeof *c->causes);
    c->causes[c->ncauses++] = (struct cause){ w->now_us + (lasts_us ? lasts_us + LINGERS_US : 0),
                                                          host, key, what };
}

void checker_engine_killed(struct world *w, int host)
{
    struct checker *c = w->checker;
    if (c->nkills < KILLS_MAX)
        c->kills_us[c->nkills++] = w->now_us;
    checker_event(w, host, -1, 0, "an engine was killed");
}

void checker_locked(struct world *w, int64_t until_us)
{
    if (until_us > w->checker->locked_us)
        w->checker->locked_us = until_us;
}

void checker_clock_jumped(struct world *w, int64_t by_us)
{
    w->checker->jumped_us = w->now_us;
    if (by_us > 0)
        w->checker->keys.set_forward_us = w->now_us;
    checker_event(w, -1, -1, 1, "the database's clock jumped");
}

bool checker_has_jumped(const struct world *w)
{
    return w->checker->jumped_us != 0;
}

bool checker_has_lost_rows(const struct world *w)
{
    return w->checker->jumped_us || w->now_us < w->checker->failed_over_us;
}

void checker_limits_change(struct world *w)
{
    key_rules_limits_change(w, &w->checker->keys);
}

static bool has_reason(const struct checker *c, const struct run *first)
{
    for (int i = c->ncauses - 1; i >= 0; i--) {
        const struct cause *cause = &c->causes[i];
        bool same_host = cause->host < 0 || cause->host == first->host;
        bool same_key = cause->key < 0 || cause->key == first->key;
        if (same_host && same_key && cause->until_us >= first->began_us)
            return true;
    }
    return false;
}

/* ---- runs ---- */

static bool same_number(const struct run *a, const struct run *b)
{
    return a->key == b->key && a->id == b->id && a->slot == b->slot && a->check_count == b->check_count &&
           a->failure_count == b->failure_count;
}

/* The last run of the same number before this one; NULL: this is the first. */
static const struct run *run_before(const struct checker *c, const struct run *run)
{
    for (int i = c->nruns - 1; i >= 0; i--)
        if (same_number(&c->runs[i], run))
            return &c->runs[i];
    return NULL;
}

static void second_runs_have_a_reason(struct world *w, const struct run *run, const struct run *before)
{
    const struct checker *c = w->checker;
    if (before && !has_reason(c, before))
        world_violate(w,
                      "check %d (id %lld, count %d, failures %d) is run again on host %d without a "
                      "cause since its run %d on host %d",
                      run->key, (long long)run->id, run->check_count, run->failure_count, run->host,
                      (int)(before - c->runs), before->host);
}

static struct lease_row *lease_over(const struct world *w, const struct run *run)
{
    struct slot_row *slot = db_slot(w->db, run->slot, false);
    bool whole = !slot || slot->split == 1;
    return db_lease(w->db, run->slot, whole ? BUCKET_WHOLE_SLOT : w->db->rows[run->key].bucket, false);
}

/* By the database's own rows: the lease must be the engine's, and its last take or renewal must
 * have been sent within the trust window. */
static void no_run_begins_without_its_lease(struct world *w, const struct run *run)
{
    const struct host *h = &w->hosts[run->host];
    const struct lease_row *lease = lease_over(w, run);
    bool ours = lease && lease->is.exists &&
                !memcmp(lease->is.owner, engine_owner(h->engine), STORE_OWNER_SIZE);
    if (w->now_us < w->checker->failed_over_us)
        return;
    if (!ours && !w->checker->jumped_us)
        world_violate(w, "host %d begins a run of check %d under a lease that it has lost",
                      run->host, run->key);
    else if (ours && host_boot_us(h) >= lease->is.sent_boot_us + h->settings.trust_us)
        world_violate(w,
                      "host %d begins a run of check %d %lld ms after its last good renewal was sent; "
                      "its trust window is %lld ms",
                      run->host, run->key, (long long)(host_boot_us(h) - lease->is.sent_boot_us) / 1000,
                      (long long)h->settings.trust_us / 1000);
}

static void no_run_begins_early(struct world *w, const struct run *run)
{
    db_set_clock(w->db, 0);
    if (run->slot * SECOND_US > w->db->clock_most_us)
        world_violate(w, "check %d of slot %lld is run before the slot begins", run->key,
                      (long long)run->slot);
}

/* The job's place in the settings of that host; -1: it has none. */
static int place_of(const struct host *h, int job)
{
    for (int i = 0; i < h->settings.njobs; i++)
        if (job_of(h->settings.jobs[i].name) == job)
            return i;
    return -1;
}

static int kills_since(const struct checker *c, int64_t from_us)
{
    int n = 0;
    for (int i = 0; i < c->nkills; i++)
        n += c->kills_us[i] > from_us;
    return n;
}

/* Where some hosts cannot run the job, the others find what was left to them at their next pulse: a
 * daemon within two seconds. One that cron calls comes with the next slot, or the one after that if
 * it is killed. Full slots are shared, and a daemon that can run the job has found its part. */
static int64_t left_to_others_us(const struct world *w, const struct run *run, int kills)
{
    bool all = true, knows_all = true, pulses = false;
    bool fine = slot_is_fine(run->slot, w->shape.slot_length_s);
    for (int i = 0; i < w->shape.hosts; i++) {
        const struct host *h = &w->hosts[i];
        int place = place_of(h, w->db->rows[run->key].job);
        bool can = place >= 0 && h->usable[place];
        knows_all &= place >= 0;
        all &= can;
        pulses |= can && h->kind == HOST_DAEMON;
    }
    if (all || (pulses && !fine))
        return 0;
    int calls = knows_all ? 0 : 1;
    if (!pulses)
        calls = 1 + kills;
    return LEFT_US + calls * w->shape.slot_length_s * SECOND_US;
}

/* A dead engine delays its checks by its lease and by the interval at which others look. The engine
 * that takes over may die, too. A lock delays an opening until it is released, and no longer. */
static int64_t explained_us(const struct world *w, int64_t slot_us, int kills)
{
    const struct checker *c = w->checker;
    return QUEUE_US + (c->locked_us > slot_us ? c->locked_us - slot_us : 0) +
           kills * (w->shape.lease_us * 5 / 4);
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t last_kill_us(const struct checker *c)
{
    return c->nkills ? c->kills_us[c->nkills - 1] : 0;
}

/* What has run, and whose answer was dropped, is found again by the next second look. */
static void no_run_begins_late(struct world *w, const struct run *run, const struct run *before)
{
    const struct checker *c = w->checker;
    int64_t slot_us = run->slot * SECOND_US - w->db->clock_offset_us;
    int64_t since_us = later(slot_us, c->filed_us[run->key]);
    if (!w->shape.prompt || slot_us < w->began_us + 5 * SECOND_US)
        return;                         /* its slot began before the engines did */
    int kills = kills_since(c, slot_us - w->shape.lease_us);
    int64_t most_us = explained_us(w, slot_us, kills) + left_to_others_us(w, run, kills) +
                      phase_rules_may_wait_us(w, run->slot);
    if (before) {
        since_us = later(since_us, before->began_us);
        most_us += RELOOK_US;
    }
    if (w->db->rows[run->key].concurrency >= 0) {
        int64_t idle_us = key_rules_idle_since_us(&c->keys, &w->db->rows[run->key]);
        since_us = later(since_us, later(idle_us, last_kill_us(c)));
        most_us += key_rules_may_wait_us(w, c->nkills > 0);
    }
    int64_t late_us = w->now_us - since_us;
    if (late_us > most_us)
        world_violate(w, "check %d begins %lld ms after its slot, its commit and its last run; at most "
                      "%lld ms are explained", run->key, (long long)late_us / 1000,
                      (long long)most_us / 1000);
}

/* A pause takes effect within a second, and the time that an answer takes. */
static void no_paused_check_is_run(struct world *w, const struct run *run)
{
    const struct row *row = &w->db->rows[run->key];
    for (int i = 0; i < w->db->npauses && w->shape.prompt; i++) {
        const struct pause_row *p = &w->db->pauses[i];
        bool is_its = p->job >= 0 ? p->job == row->job : p->key == run->key && row->is.terms.exists;
        if (is_its && p->is.state == PAUSED && w->now_us > p->since_us + PAUSE_US)
            world_violate(w, "check %d is run %lld ms after it was paused", run->key,
                          (long long)(w->now_us - p->since_us) / 1000);
    }
}

int checker_run_begins(struct world *w, const struct run *run)
{
    struct checker *c = w->checker;
    if (run->key >= 0) {
        const struct run *before = run_before(c, run);
        second_runs_have_a_reason(w, run, before);
        no_run_begins_without_its_lease(w, run);
        no_run_begins_early(w, run);
        no_run_begins_late(w, run, before);
        no_paused_check_is_run(w, run);
        recurrence_rules_run_begins(w, &c->last_runs, run);
        round_rules_run_begins(w, &c->rounds, run, c->filed_us);
        if (!c->jumped_us)
            phase_rules_run_begins(w, run);
    }
    c->runs = room_for_one(c->runs, c->nruns, &c->runs_room, sizeof *c->runs);
    c->runs[c->nruns] = *run;
    if (run->key >= 0)
        key_rules_run_begins(w, &c->keys, run, c->nruns);
    world_count(w, TALLY_RUNS);
    return c->nruns++;
}

void checker_given(struct world *w, int64_t id, int64_t slot)
{
    round_rules_given(&w->checker->rounds, id, slot);
}

void checker_run_ends(struct world *w, int number)
{
    key_rules_run_ends(w, &w->checker->keys, number);
}

void checker_run_is_left(struct world *w, int number)
{
    key_rules_run_is_left(&w->checker->keys, number);
}

void checker_run_has_until(struct world *w, int number, int64_t boot_us)
{
    checker_run(w, number)->deadline_boot_us = boot_us;
    key_rules_run_has_until(&w->checker->keys, number, boot_us);
}

struct run *checker_run(struct world *w, int number)
{
    return &w->checker->runs[number];
}

void checker_worker_ends(struct world *w, const struct host *h, int nclaimed, int64_t progress_us)
{
    const struct settings *s = &h->settings;
    int64_t took_us = w->now_us - progress_us,
            most_us = nclaimed > 1 ? s->defaults.batch_timeout_us : s->defaults.timeout_us;
    bool was_frozen = h->frozen || h->thawed_us >= progress_us;
    if (nclaimed && took_us > most_us + s->kill_grace_us + SECOND_US && !was_frozen)
        world_violate(w, "host %d: a worker ran for %lld ms on %d checks whose timeout is %lld ms",
                      h->number, (long long)took_us / 1000, nclaimed, (long long)most_us / 1000);
}

/* ---- settles ---- */

#define BIT(outcome) (1u << (outcome))

static const unsigned outcomes_of[ACTS] = {
    [ACT_DONE] = BIT(OUTCOME_DONE),
    [ACT_SLOW] = BIT(OUTCOME_DONE),
    [ACT_CLOSE] = BIT(OUTCOME_DONE),
    [ACT_BABBLE] = BIT(OUTCOME_DONE),
    [ACT_CHATTER] = BIT(OUTCOME_DONE),
    [ACT_LIE] = BIT(OUTCOME_DONE),
    [ACT_AGAIN] = BIT(OUTCOME_AGAIN) | BIT(OUTCOME_PAST) | BIT(OUTCOME_BEYOND_HORIZON) |
                  BIT(OUTCOME_MAX_CHECKS),
    [ACT_DEFER] = BIT(OUTCOME_DEFERRED) | BIT(OUTCOME_DEFERRED_OUT),
    [ACT_FAIL] = BIT(OUTCOME_FAILED),
    [ACT_SILENT] = BIT(OUTCOME_FAILED),
    [ACT_GARBAGE] = BIT(OUTCOME_BAD_ANSWER),
};

static bool is_of(const struct run *run, const struct record *r)
{
    return run->key == r->key && run->id == r->id && run->slot == r->slot &&
           run->check_count == r->check_count && run->failure_count == r->failure_count &&
           run->host == r->host;
}

/* An answer without a run number comes from the engine: the run gave no answer, or the database
 * refused it. */
static bool is_explained(const struct run *run, const struct record *r)
{
    if (r->outcome == OUTCOME_BAD_ANSWER)
        return true;
    return (r->outcome == OUTCOME_CRASHED || r->outcome == OUTCOME_TIMEOUT) && !run->answered;
}

static void an_answer_is_that_of_its_run(struct world *w, const struct record *r)
{
    struct checker *c = w->checker;
    if (r->run >= 0 && r->run < c->nruns) {
        struct run *run = &c->runs[r->run];
        if (!is_of(run, r))
            world_violate(w, "check %d is settled by the answer of run %d, a run of check %d", r->key,
                          r->run, run->key);
        else if (!(outcomes_of[run->act] & BIT(r->outcome)))
            world_violate(w, "check %d ends as %s, but run %d did not answer that", r->key,
                          outcome_name(r->outcome), r->run);
        run->settled = true;
        return;
    }
    for (int i = c->nruns - 1; i >= 0; i--)
        if (is_of(&c->runs[i], r) && is_explained(&c->runs[i], r))
            return;
    world_violate(w, "check %d is settled as %s without such a run", r->key, outcome_name(r->outcome));
}

/* After the clock was set back, an application may move a deferred check into its earlier slot. */
static void a_number_is_settled_once(struct world *w, const struct record *r)
{
    struct checker *c = w->checker;
    struct settled now = { r->id, r->slot, r->check_count, r->failure_count };
    for (int i = 0; i < c->nsettled && !c->jumped_us; i++)
        if (c->settled[i].id == now.id && c->settled[i].slot == now.slot &&
            c->settled[i].check_count == now.check_count && c->settled[i].failure_count == now.failure_count)
            world_violate(w, "check %d (id %lld, count %d) is settled twice in its slot", r->key,
                          (long long)r->id, r->check_count);
    c->settled = room_for_one(c->settled, c->nsettled, &c->settled_room, sizeof *c->settled);
    c->settled[c->nsettled++] = now;
}

static void an_event_is_written_once(struct world *w, const struct record *r)
{
    struct checker *c = w->checker;
    if (r->run < 0 || r->run >= c->nruns)
        world_violate(w, "an event of check %d belongs to no run", r->key);
    else if (++c->runs[r->run].emitted > c->runs[r->run].effects)
        world_violate(w, "run %d of check %d declared %d events, and %d were written", r->run, r->key,
                      c->runs[r->run].effects, c->runs[r->run].emitted);
}

/* A check ends when all attempts of max_failures + 1 slots have failed, and not before. */
static void failures_end_a_check_in_time(struct world *w, const struct record *r)
{
    int32_t most = w->shape.attempts * (w->settings->defaults.max_failures + 1);
    bool is_over = r->kind == RECORD_HISTORY;
    if (outcome_is_problem(r->outcome) && (r->failure_count + 1 >= most) != is_over)
        world_violate(w, "check %d has failed %d times, of %d that end it, and %s", r->key,
                      r->failure_count + 1, most, is_over ? "is over" : "goes on");
}

static void check_records(struct world *w, const struct tx *tx)
{
    for (int i = 0; i < tx->nrecords && !w->over; i++) {
        const struct record *r = &tx->records[i];
        if (r->kind == RECORD_EVENT) {
            an_event_is_written_once(w, r);
            continue;
        }
        if (!r->ran)
            continue;
        failures_end_a_check_in_time(w, r);
        a_number_is_settled_once(w, r);
        an_answer_is_that_of_its_run(w, r);
    }
}

/* ---- lives ---- */

static int histories_of(const struct tx *tx, int64_t id)
{
    int n = 0;
    for (int i = 0; i < tx->nrecords; i++)
        n += tx->records[i].kind == RECORD_HISTORY && tx->records[i].id == id;
    return n;
}

/* Lives of this key that began and ended in the same transaction: one effect files the check,
 * another resolves it. */
static int short_lives(const struct tx *tx, const struct row *row)
{
    int n = 0;
    for (int i = 0; i < tx->nrecords; i++) {
        const struct record *r = &tx->records[i];
        n += r->kind == RECORD_HISTORY && r->key == row->key && !(row->is.exists && r->id == row->is.id);
    }
    return n;
}

/* A filed check must get a look: its slot has not begun for this transaction, or gets a second
 * look, or is above the sweep's mark. */
static void a_filed_check_gets_a_look(struct world *w, const struct tx *tx, const struct row *row)
{
    int64_t at = row->will.next_at;
    const struct slot_row *slot = db_slot(w->db, at, false);
    bool opened = slot && slot->exists;
    if (row->is.exists && row->is.next_at == at)
        return;
    if (slot_is_of_pause(at)) {
        const struct pause_row *pause = pause_of_slot(w->db, at);
        if (!pause || pause->is.state != PAUSED)
            world_violate(w, "check %d is moved to a pause that is not on", row->key);
        return;
    }
    if (opened && slot->xid < tx->xid)
        world_violate(
            w, "check %d is filed into slot %lld by a transaction that began after the slot was opened",
            row->key, (long long)at);
    else if (opened && slot->closed)
        world_violate(w, "check %d is filed into slot %lld, which was closed", row->key, (long long)at);
    else if (!opened && at < w->db->mark)
        world_violate(
            w, "check %d is filed into slot %lld, which is not opened and below the sweep's mark",
            row->key, (long long)at);
}

/* How the transaction's settle moves the check on; NULL: it does not. */
static const struct record *move_of(const struct tx *tx, int64_t id)
{
    for (int i = 0; i < tx->nrecords; i++) {
        const struct record *r = &tx->records[i];
        if (r->id == id && (r->kind == RECORD_RUN || r->kind == RECORD_PUT_OFF))
            return r;
    }
    return NULL;
}

/* A reslot, which an operator asks for, does not make a check late, nor does a pause; and one whose
 * key is busy waits for its turn. */
static bool makes_late(enum outcome outcome)
{
    return outcome != OUTCOME_RESLOTTED && outcome != OUTCOME_RESUMED && outcome != OUTCOME_BUSY;
}

/* A settle that moves a check on without a run leaves it visibly late, since it was due. What is
 * paused is not late. */
static void what_was_not_run_stays_late(struct world *w, const struct tx *tx, const struct row *row)
{
    const struct version *was = &row->is, *is = &row->will;
    const struct record *move = move_of(tx, was->id);
    int64_t late_since = was->put_off_at;
    if (!move)
        return;
    if (move->kind == RECORD_RUN || move->outcome == OUTCOME_PAUSED)
        late_since = 0;
    else if (!late_since && makes_late(move->outcome))
        late_since = was->next_at;
    if (is->put_off_at != late_since)
        world_violate(w, "check %d moves on from slot %lld, and is late since %lld, expected %lld", row->key,
                      (long long)was->next_at, (long long)is->put_off_at, (long long)late_since);
}

/* What may be filed under a second between two slots: what is asked for at once, also while it
 * runs, the next attempt of a run that failed, what waits for its key, what has run there, and a
 * missed occurrence that is made up for. */
static bool may_be_fine(const struct world *w, const struct tx *tx, const struct row *row)
{
    const struct version *was = &row->is, *is = &row->will;
    int32_t length_s = w->shape.slot_length_s;
    bool goes_on = was->exists && was->id == is->id;
    bool has_failed = goes_on && is->failure_count == was->failure_count + 1;
    bool was_asked_for = was->exists && was->again_at % length_s;
    const struct record *move = move_of(tx, was->id);
    bool is_resumed = move && move->outcome == OUTCOME_RESUMED;
    bool is_deferred = goes_on && move && move->outcome == OUTCOME_DEFERRED;
    bool is_busy = goes_on && move && move->outcome == OUTCOME_BUSY;
    bool has_run_there = goes_on && was->next_at % length_s && !(move && move->kind == RECORD_PUT_OFF);
    bool has_passed = is->first_at * SECOND_US <= db_clock_us(w->db) || w->checker->jumped_us;
    bool was_missed = is->terms.exists && tx->host >= 0 && has_passed;
    bool is_put_off = is_resumed || is_deferred || is_busy;
    bool moves_by_seconds = is_put_off || has_failed || has_run_there;
    return moves_by_seconds || tx->asks_at_once || was_asked_for || was_missed;
}

/* An attempt is not made after the end of the slot that runs. Without attempts, or where the job is
 * unknown, a check that fails in a fine slot backs off by seconds. */
static void a_check_is_filed_under_a_slot(struct world *w, const struct tx *tx, const struct row *row)
{
    const struct version *was = &row->is, *is = &row->will;
    int32_t length_s = w->shape.slot_length_s;
    bool goes_on = was->exists && was->id == is->id;
    if (!is->exists || is->next_at % length_s == 0 || (goes_on && is->next_at == was->next_at))
        return;
    const struct record *move = goes_on ? move_of(tx, was->id) : NULL;
    bool has_run = move && move->kind == RECORD_RUN && w->shape.attempts > 1;
    bool is_attempt = has_run && is->failure_count == was->failure_count + 1;
    int64_t end = slot_next(db_clock_us(w->db) / SECOND_US, length_s);
    if (!may_be_fine(w, tx, row))
        world_violate(w, "check %d is filed at %lld, which is no slot", row->key, (long long)is->next_at);
    else if (is_attempt && !was->again_at && is->next_at > end && !w->checker->jumped_us)
        world_violate(w, "the next attempt of check %d is at %lld, after the end of its slot, %lld", row->key,
                      (long long)is->next_at, (long long)end);
}

/* A row that leaves its slot is the acknowledgement. One that stays would take its answer twice. */
static void an_answered_check_leaves_its_slot(struct world *w, const struct tx *tx, const struct row *row)
{
    if (move_of(tx, row->is.id) && row->will.next_at == row->is.next_at)
        world_violate(w, "check %d is answered, and stays in slot %lld", row->key,
                      (long long)row->is.next_at);
}

static bool is_settled(const struct tx *tx, int64_t id)
{
    for (int i = 0; i < tx->nrecords; i++) {
        const struct record *r = &tx->records[i];
        if (r->id == id && r->host >= 0 && r->kind != RECORD_EVENT)
            return true;
    }
    return false;
}

/* The slot that was asked for while the check ran may have begun, or be the one that it leaves:
 * then the next one of its kind takes its place. An effect may have filed it elsewhere since. And
 * by a clock that was set back meanwhile it has not begun, though it had for the settle. */
static void what_was_asked_for_is_kept(struct world *w, const struct tx *tx, const struct row *row)
{
    const struct version *was = &row->is;
    int64_t most = was->again_at, begun = db_clock_us(w->db) / SECOND_US;
    int32_t length_s = w->shape.slot_length_s;
    if (!was->again_at || !row->will.exists || tx->files || !is_settled(tx, was->id) || w->checker->jumped_us)
        return;
    begun = begun > was->next_at ? begun : was->next_at;
    if (most <= begun)
        most = most % length_s ? slot_fine_next(begun, length_s) : slot_next(begun, length_s);
    if (row->will.next_at > most)
        world_violate(w, "check %d was asked for at %lld while it ran, and moves on to %lld", row->key,
                      (long long)was->again_at, (long long)row->will.next_at);
}

static void check_row(struct world *w, const struct tx *tx, const struct row *row)
{
    struct checker *c = w->checker;
    const struct version *was = &row->is, *is = &row->will;
    bool goes_on = was->exists && is->exists && was->id == is->id;
    int histories = was->exists ? histories_of(tx, was->id) : 0, between = short_lives(tx, row);
    c->begun += between;
    c->ended += between;
    if (is->exists && !goes_on)
        c->begun++;
    if (!goes_on || is->next_at != was->next_at)
        c->filed_us[row->key] = w->now_us;
    if (goes_on) {
        what_was_not_run_stays_late(w, tx, row);
        an_answered_check_leaves_its_slot(w, tx, row);
    }
    if (was->exists)
        what_was_asked_for_is_kept(w, tx, row);
    if (goes_on && histories)
        world_violate(w, "check %d goes on and has a row of history", row->key);
    if (was->exists && !goes_on) {
        c->ended += histories;
        c->replaced += !histories;
        if (histories > 1 || (!histories && !is->exists && !between))
            world_violate(w, "check %d (id %lld) ended with %d rows of history", row->key, (long long)was->id,
                          histories);
    }
    a_check_is_filed_under_a_slot(w, tx, row);
    if (is->exists && !c->jumped_us)
        a_filed_check_gets_a_look(w, tx, row);
}

static void a_lease_is_given_back_by_its_owner(struct world *w, const struct tx *tx)
{
    for (int i = 0; i < tx->nleases; i++) {
        const struct lease_row *l = tx->leases[i];
        if (l->is.exists && !l->will.exists && (l->is.host != tx->host || l->is.start != tx->start))
            world_violate(w, "host %d gives back a lease of host %d", tx->host, l->is.host);
    }
}

/* Nothing is written under the lease of another engine. */
static void a_settle_holds_its_lease(struct world *w, const struct tx *tx)
{
    for (int i = 0; i < tx->nrecords; i++) {
        const struct record *r = &tx->records[i];
        if (!r->ran || r->host < 0 || r->kind == RECORD_EVENT || !tx->shared)
            continue;
        if (tx->shared->is.host != r->host || !tx->shared->is.exists)
            world_violate(w, "host %d settles check %d under a lease that host %d holds", r->host, r->key,
                          tx->shared->is.host);
        return;
    }
}

void checker_commit(struct world *w, const struct tx *tx)
{
    for (int i = 0; i < tx->nrows; i++)
        check_row(w, tx, tx->rows[i]);
    recurrence_rules_commit(w, &w->checker->last_runs, tx);
    key_rules_commit(w, &w->checker->keys, tx);
    check_records(w, tx);
    a_lease_is_given_back_by_its_owner(w, tx);
    a_settle_holds_its_lease(w, tx);
}

/* ---- failover ---- */

struct checker_mark *checker_remember(const struct world *w)
{
    const struct checker *c = w->checker;
    struct checker_mark *m = calloc(1, sizeof *m);
    if (m)
        m->runs = calloc((size_t)c->nruns + 1, sizeof *m->runs);
    if (!m || !m->runs)
        abort();
    m->nsettled = c->nsettled;
    m->nruns = c->nruns;
    m->begun = c->begun;
    m->ended = c->ended;
    m->replaced = c->replaced;
    if (c->nruns)
        memcpy(m->runs, c->runs, (size_t)c->nruns * sizeof *m->runs);
    return m;
}

void checker_forget(struct checker_mark *m)
{
    free(m->runs);
    free(m);
}

void checker_was_failed_over(struct world *w, const struct checker_mark *m)
{
    struct checker *c = w->checker;
    c->nsettled = m->nsettled;
    c->begun = m->begun;
    c->ended = m->ended;
    c->replaced = m->replaced;
    for (int i = 0; i < c->nruns; i++) {
        c->runs[i].settled = i < m->nruns && m->runs[i].settled;
        c->runs[i].emitted = i < m->nruns ? m->runs[i].emitted : 0;
    }
    c->failed_over_us = w->now_us + LEASE_MOST_S * SECOND_US;
    checker_event(w, -1, -1, 1, "a failover lost the last commits");
}

/* ---- the end ---- */

void checker_at_the_end(struct world *w)
{
    const struct checker *c = w->checker;
    for (int i = 0; i < w->db->nleases; i++)
        if (w->db->leases[i]->is.exists)
            world_violate(w, "a lease of host %d remains although every engine has stopped",
                          w->db->leases[i]->is.host);
    if (c->begun != c->ended + c->replaced)
        world_violate(w, "%lld checks began, %lld ended, %lld were replaced", (long long)c->begun,
                      (long long)c->ended, (long long)c->replaced);
    for (int i = 0; i < c->nruns; i++)
        if (c->runs[i].settled && c->runs[i].emitted != c->runs[i].effects)
            world_violate(w, "run %d of check %d declared %d events, %d were written", i, c->runs[i].key,
                          c->runs[i].effects, c->runs[i].emitted);
}
