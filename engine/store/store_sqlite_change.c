/* store_sqlite_change.c - changes that are asked for over HTTP or by a command, each with a row of
 * the audit: checks, pauses, schedules. Each report is one transaction. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/moment.h"
#include "../rules/field.h"
#include "../rules/slot.h"
#include "store_sqlite_calls.h"
#include "store_sqlite_rows.h"

static const char *param(const struct store_report *req, int n)
{
    return n <= req->nparams ? req->params[n - 1] : NULL;
}

/* ---- what failed ---- */

/* The check of a schedule waits for the next occurrence: it starts anew at `at`, so that the next
 * occurrence, which the rule counts from there, is not used up. */
static bool starts_anew(const struct sqlite_store *db, const struct sqlite_pending_row_out *waits,
                        const char *at, int64_t now)
{
    if (!waits->id || !waits->recurs || waits->has_begun || waits->next_check_at <= now)
        return false;
    int64_t slot = slot_for(strtoll(at, NULL, 10), now, db->head.slot_length_s);
    return waits->finds_first || slot < waits->next_check_at;
}

int sqlite_retry_check(struct sqlite_store *db, struct sqlite_enqueue_in *wanted,
                       struct sqlite_filed *filed, struct err *err)
{
    struct sqlite_pending_row_out waits = { 0 };
    struct sqlite_pending_row_in key = { .entity = wanted->entity, .key = wanted->key, .job = wanted->job };
    int64_t rc = sqlite_ask(db, err, STATEMENT_PENDING_ROW, &waits, &key);
    if (rc < 0)
        return (int)rc;
    if (!starts_anew(db, &waits, wanted->at, wanted->now)) {
        wanted->conflict = waits.recurs ? "earlier" : "keep";
        return sqlite_enqueue(db, wanted, filed, err);
    }
    rc = sqlite_run(db, err, STATEMENT_RESCHEDULE, &(struct sqlite_reschedule_in){
        .entity = wanted->entity,
        .key = wanted->key,
        .job = wanted->job,
        .at = wanted->at,
        .now = wanted->now,
    });
    if (rc < 0)
        return (int)rc;
    rc = sqlite_ask(db, err, STATEMENT_PENDING_ROW, &waits, &key);
    *filed = (struct sqlite_filed){ .what = FILED_MOVED, .at = waits.next_check_at };
    return rc < 0 ? (int)rc : 0;
}

/* ---- changes of checks ---- */

enum { OUT_ENTITY, OUT_KEY, OUT_JOB, OUT_OUTCOME, OUT_AT, OUT_COLUMNS };
/* the columns of change_found, and of change_failed */
enum { FOUND_ENTITY, FOUND_KEY, FOUND_ASKED_JOB, FOUND_JOB, FOUND_ID, FOUND_IS_SAME, FOUND_IS_FRESH,
       FOUND_AT, FOUND_LIFE };
enum { FAILED_ENTITY, FAILED_KEY, FAILED_JOB, FAILED_PAYLOAD, FAILED_CONCURRENCY_KEY, FAILED_TENANT,
       FAILED_IS_FAILED, FAILED_LIFE };

struct changing {
    struct sqlite_store *db;
    struct store_report *req;
    const char *change, *who, *reason;
    int64_t now, wanted;            /* in seconds; wanted: of reschedule */
    struct gathering out;
};

static bool is_true(const char *cell)
{
    return cell && *cell == '1';
}

/* `at` 0: it waits no longer, or there is none. */
static void tell(struct changing *c, const char *const *check, const char *job, const char *outcome,
                 int64_t at)
{
    const char **row = sqlite_gather_row(&c->out);
    if (!row)
        return;                         /* sqlite_gathered reports that */
    sqlite_gather_cell(&c->out, &row[OUT_ENTITY], check[FOUND_ENTITY]);
    sqlite_gather_cell(&c->out, &row[OUT_KEY], check[FOUND_KEY]);
    sqlite_gather_cell(&c->out, &row[OUT_JOB], job);
    sqlite_gather_cell(&c->out, &row[OUT_OUTCOME], outcome);
    if (at)
        sqlite_gather_number(&c->out, &row[OUT_AT], at);
}

static int note(struct changing *c, const char *const *check, const char *job, const char *before,
                const char *after)
{
    struct sqlite_audited in = {
        .who = c->who, .change = c->change, .what = "check", .entity = check[FOUND_ENTITY],
        .key = check[FOUND_KEY], .job = job, .before = before, .after = after, .reason = c->reason,
    };
    return sqlite_note_change(c->db, c->req->arena, &in, &c->req->call.err);
}

static int64_t note_schedules_off(struct changing *c, const char *const *check)
{
    return sqlite_run(c->db, &c->req->call.err, STATEMENT_NOTE_SCHEDULES_OFF,
                      &(struct sqlite_note_schedules_off_in){
        .clock_us = sqlite_clock_us(c->db),
        .who = c->who,
        .done_by = sqlite_user(c->req->arena),
        .entity = check[FOUND_ENTITY],
        .key = check[FOUND_KEY],
        .job = check[FOUND_ASKED_JOB],
        .reason = c->reason,
    });
}

static int64_t resolve(struct changing *c, const char *const *check)
{
    return sqlite_run(c->db, &c->req->call.err, STATEMENT_RESOLVE, &(struct sqlite_resolve_in){
        .entity = check[FOUND_ENTITY],
        .key = check[FOUND_KEY],
        .job = check[FOUND_ASKED_JOB],
        .now = 0,
    });
}

/* Who has cancelled it stands in the history. */
static int64_t note_ends(struct changing *c, int64_t behind)
{
    struct arena *a = c->req->arena;
    bool is_known = c->who && *c->who;
    const char *words = is_known ? arena_printf(a, "cancelled by %s", c->who) : "cancelled";
    if (!words)
        return err_set(&c->req->call.err, ERR_NOMEM, "out of memory");
    return sqlite_run(c->db, &c->req->call.err, STATEMENT_NOTE_ENDS,
                      &(struct sqlite_note_ends_in){ .note = words, .behind = behind });
}

/* All checks that were asked for with it are ended by the first of them; of each there is a row. */
static int end_one(struct changing *c, const char *const *check)
{
    struct sqlite_newest_end_out newest = { 0 };
    if (!is_true(check[FOUND_IS_SAME])) {
        tell(c, check, check[FOUND_JOB], "kept", strtoll(check[FOUND_AT], NULL, 10));
        return 0;
    }
    int64_t rc = check[FOUND_ID] ? note(c, check, check[FOUND_JOB], check[FOUND_LIFE], NULL) : 0;
    if (rc == 0)
        rc = sqlite_ask(c->db, &c->req->call.err, STATEMENT_NEWEST_END, &newest, NULL);
    if (rc >= 0)
        rc = note_schedules_off(c, check);
    if (rc >= 0)
        rc = resolve(c, check);
    if (rc >= 0 && !strcmp(c->change, "cancel"))
        rc = note_ends(c, newest.id);
    tell(c, check, check[FOUND_JOB], check[FOUND_ID] ? "changed" : "not_found", 0);
    return rc < 0 ? (int)rc : 0;
}

static int64_t pull_forward(struct changing *c, const char *const *check)
{
    struct sqlite_filed filed;
    return sqlite_enqueue(c->db, &(struct sqlite_enqueue_in){
        .entity = check[FOUND_ENTITY],
        .key = check[FOUND_KEY],
        .job = check[FOUND_JOB],
        .at = NULL, /* the next second */
        .payload = NULL,
        .conflict = "earlier",
        .priority = NULL,
        .now = c->now,
        .concurrency_key = NULL,
        .tenant = NULL,
        .within_s = 0,
    }, &filed, &c->req->call.err);
}

static int64_t move(struct changing *c, const char *const *check)
{
    char at[24];
    snprintf(at, sizeof at, "%" PRId64, c->wanted);
    return sqlite_run(c->db, &c->req->call.err, STATEMENT_RESCHEDULE, &(struct sqlite_reschedule_in){
        .entity = check[FOUND_ENTITY],
        .key = check[FOUND_KEY],
        .job = check[FOUND_JOB],
        .at = at,
        .now = c->now,
    });
}

static int note_moved(struct changing *c, const char *const *check, int64_t at)
{
    struct sqlite_change_life_out now = { 0 };
    sqlite3_stmt *row = NULL;
    struct sqlite_change_life_in in = { .entity = check[FOUND_ENTITY], .key = check[FOUND_KEY],
                                        .job = check[FOUND_JOB] };
    int rc = sqlite_query(c->db, &c->req->call.err, &row, STATEMENT_CHANGE_LIFE, &in);
    if (rc > 0)
        rc = sqlite_columns(row, STATEMENT_CHANGE_LIFE, &now);
    const char *life = rc < 0 ? NULL : arena_strdup(c->req->arena, now.life);
    sqlite_done(row);
    if (rc >= 0)
        rc = note(c, check, check[FOUND_JOB], check[FOUND_LIFE], life);
    tell(c, check, check[FOUND_JOB], "changed", at);
    return rc;
}

/* Nothing would change: it is filed there already, and nothing has happened since. */
static bool is_there(const struct changing *c, const char *const *check, int64_t at,
                     const struct sqlite_pending_row_out *waits)
{
    int64_t slot = slot_for(c->wanted, c->now, c->db->head.slot_length_s);
    return at == slot && is_true(check[FOUND_IS_FRESH]) && !waits->finds_first;
}

/* To another time; or to the next second, and then one whose slot has begun is left alone, as it is
 * run anyway. */
static int move_one(struct changing *c, const char *const *check)
{
    bool is_at_once = !strcmp(c->change, "run-now");
    struct sqlite_pending_row_out was = { 0 }, is = { 0 };
    struct sqlite_pending_row_in key = { .entity = check[FOUND_ENTITY], .key = check[FOUND_KEY],
                                         .job = check[FOUND_JOB] };
    if (!check[FOUND_ID]) {
        tell(c, check, check[FOUND_JOB], "not_found", 0);
        return 0;
    }
    int64_t rc = sqlite_ask(c->db, &c->req->call.err, STATEMENT_PENDING_ROW, &was, &key);
    bool is_kept = is_at_once ? was.next_check_at <= c->now : is_there(c, check, was.next_check_at, &was);
    if (rc >= 0 && (is_kept || !is_true(check[FOUND_IS_SAME]))) {
        tell(c, check, check[FOUND_JOB], "kept", was.next_check_at);
        return 0;
    }
    if (rc >= 0)
        rc = is_at_once ? pull_forward(c, check) : move(c, check);
    if (rc >= 0)
        rc = sqlite_ask(c->db, &c->req->call.err, STATEMENT_PENDING_ROW, &is, &key);
    if (rc < 0)
        return (int)rc;
    if (is_at_once && is.next_check_at == was.next_check_at && is.again_at == was.again_at) {
        tell(c, check, check[FOUND_JOB], "kept", is.next_check_at);
        return 0;
    }
    return note_moved(c, check, is.next_check_at);
}

/* It goes back into the next slot, with its payload; one that waits is kept. */
static int retry_one(struct changing *c, const char *const *check)
{
    char at[24];
    struct sqlite_filed filed = { .what = FILED_KEPT };
    const char *job = check[FAILED_JOB];
    if (!is_true(check[FAILED_IS_FAILED])) {
        tell(c, check, job, "kept", 0);
        return 0;
    }
    snprintf(at, sizeof at, "%" PRId64, c->now);
    int rc = sqlite_retry_check(c->db, &(struct sqlite_enqueue_in){
        .entity = check[FAILED_ENTITY],
        .key = check[FAILED_KEY],
        .job = job,
        .at = at,
        .payload = check[FAILED_PAYLOAD],
        .conflict = "keep",
        .priority = NULL,
        .now = c->now,
        .concurrency_key = check[FAILED_CONCURRENCY_KEY],
        .tenant = check[FAILED_TENANT],
        .within_s = 0,
    }, &filed, &c->req->call.err);
    if (rc < 0 || filed.what == FILED_KEPT) {
        tell(c, check, job, "kept", rc < 0 ? 0 : filed.at);
        return rc;
    }
    char moment[MOMENT_TEXT];
    const char *after = arena_printf(c->req->arena, "{\"check_at\":\"%s\"}", moment_format(filed.at, moment));
    tell(c, check, job, "changed", filed.at);
    return note(c, check, job, check[FAILED_LIFE], after);
}

static const struct {
    const char *change;
    enum sqlite_statement finds;
    int (*one)(struct changing *c, const char *const *check);
} changes[] = {
    { "resolve", STATEMENT_CHANGE_FOUND, end_one },     { "cancel", STATEMENT_CHANGE_FOUND, end_one },
    { "reschedule", STATEMENT_CHANGE_FOUND, move_one }, { "run-now", STATEMENT_CHANGE_FOUND, move_one },
    { "retry", STATEMENT_CHANGE_FAILED, retry_one },
};
enum { CHANGES = sizeof changes / sizeof *changes };

static int change_of(const char *name)
{
    for (int i = 0; name && i < CHANGES; i++)
        if (!strcmp(changes[i].change, name))
            return i;
    return -1;
}

/* Deliveries and digests are kept as they are: they have commands of their own. */
static int change_all(struct changing *c, int which, const struct store_rows *found)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < found->rows && !c->out.failed; i++) {
        const char *const *check = found->cells + (size_t)i * (size_t)found->columns;
        if (field_is_of_engines(check[FOUND_ENTITY]))
            tell(c, check, check[FOUND_JOB], "kept", 0);
        else
            rc = changes[which].one(c, check);
    }
    return rc;
}

static int64_t wanted_of(const struct store_report *req, int64_t now)
{
    int64_t s = param(req, 3) ? strtoll(param(req, 3), NULL, 10) : 0;
    bool is_after = param(req, 4) && *param(req, 4) == 't';
    return is_after ? now + s : s;
}

/* What was seen is of one check: with that, and no job, it would be unclear which are meant. */
static int refuse_vague(struct sqlite_store *db, struct store_report *req)
{
    struct sqlite_change_vague_out vague = { 0 };
    int64_t rc = sqlite_ask(db, &req->call.err, STATEMENT_CHANGE_VAGUE, &vague,
                            &(struct sqlite_change_vague_in){ .checks = param(req, 2) });
    if (rc < 0)
        return (int)rc;
    if (vague.n > 0)
        return err_set(&req->call.err, ERR_INPUT, "checks has one without a job and with what was seen, "
                                                  "which is of one check; expected a job, or NULL for both");
    return 0;
}

int sqlite_report_change_checks(struct sqlite_store *db, struct store_report *req)
{
    static const char *const names[OUT_COLUMNS] = { "entity_name", "entity_key", "job_exec", "outcome",
                                                    "next_check_at" };
    const char *const checks[] = { param(req, 2) };
    int which = change_of(param(req, 1));
    struct changing c = { .db = db, .req = req, .change = param(req, 1), .who = param(req, 5),
                          .reason = param(req, 6), .now = sqlite_now(db, 0), .out.arena = req->arena };
    if (which < 0 || !!param(req, 3) != !strcmp(c.change, "reschedule"))
        return err_set(&req->call.err, ERR_INPUT, "change: expected resolve, cancel, reschedule, run-now or "
                                                  "retry, and a time with reschedule alone");
    c.wanted = wanted_of(req, c.now);
    int rc = refuse_vague(db, req);
    if (rc == 0)
        rc = sqlite_select(db, req, changes[which].finds, checks, 1);
    if (rc < 0)
        return rc;
    struct store_rows found = req->rows;
    sqlite_gather_columns(&c.out, OUT_COLUMNS);
    for (int i = 0; !c.out.failed && i < OUT_COLUMNS; i++)
        sqlite_gather_name(&c.out, i, names[i], i == OUT_AT);
    rc = c.out.failed ? 0 : change_all(&c, which, &found);
    if (rc < 0) {
        free(c.out.cells);
        return rc;
    }
    return sqlite_gathered(&c.out, &req->rows, &req->call.err);
}

/* ---- pauses and schedules ---- */

int sqlite_report_change_pause(struct sqlite_store *db, struct store_report *req)
{
    bool pauses = param(req, 1) && !strcmp(param(req, 1), "pause");
    const char *const params[] = { param(req, 2), param(req, 3), param(req, 4), param(req, 5),
                                   pauses ? param(req, 8) : param(req, 6) };
    struct store_report as = *req;
    as.params = params;
    as.nparams = sizeof params / sizeof *params;
    int rc = pauses ? sqlite_pause_for(db, &as, param(req, 7), false)
                    : sqlite_resume_for(db, &as, param(req, 7), param(req, 8));
    req->rows = as.rows;
    req->call.err = as.call.err;
    return rc;
}

/* The parameters of schedule_put, where :now has no value, and then who and why. */
enum { AS_MODE, AS_NAME, AS_NOW = 11, AS_WHO = 14, AS_REASON, AS_ALL };

/* Of a report that tells by a truth whether it has done something. */
static int tell_done(struct store_report *req, const char *done, const char *not_done)
{
    return sqlite_outcome_row(req, is_true(req->rows.cells[0]) ? done : not_done, 0);
}

static int remove_schedule(struct sqlite_store *db, struct store_report *as, const char *const *all)
{
    as->params = &all[AS_NAME];
    as->nparams = 1;
    int rc = sqlite_schedule_remove_for(db, as, all[AS_WHO], all[AS_REASON]);
    return rc < 0 ? rc : tell_done(as, "removed", "not_found");
}

static int switch_schedule(struct sqlite_store *db, struct store_report *as, const char *const *all)
{
    const char *is_active = strcmp(all[AS_MODE], "on") ? "false" : "true";
    const char *const params[] = { all[AS_NAME], is_active, all[AS_REASON] };
    as->params = params;
    as->nparams = sizeof params / sizeof *params;
    int rc = sqlite_schedule_switch_for(db, as, all[AS_WHO]);
    return rc < 0 ? rc : tell_done(as, "changed", "kept");
}

/* 1: it is there. */
static int has_schedule(struct sqlite_store *db, const char *wanted, struct err *err)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite_query(db, err, &row, STATEMENT_SCHEDULE_TOLD,
                          &(struct sqlite_schedule_told_in){ .name = wanted });
    sqlite_done(row);
    return rc;
}

static int put_schedule(struct sqlite_store *db, struct store_report *as, const char *const *all)
{
    as->params = all;
    as->nparams = AS_WHO;
    return sqlite_schedule_put_for(db, as, all[AS_WHO], all[AS_REASON]);
}

static const struct {
    const char *mode;
    int (*change)(struct sqlite_store *db, struct store_report *as, const char *const *all);
} modes[] = {
    { "put", put_schedule },   { "set", put_schedule },       { "on", switch_schedule },
    { "off", switch_schedule }, { "remove", remove_schedule },
};

int sqlite_report_change_schedule(struct sqlite_store *db, struct store_report *req)
{
    const char *all[AS_ALL] = { 0 };
    struct store_report as = *req;
    for (int i = 0; i < req->nparams && i < AS_ALL - 1; i++)
        all[i < AS_NOW ? i : i + 1] = req->params[i];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!all[AS_MODE] || strcmp(modes[i].mode, all[AS_MODE]) != 0)
            continue;
        bool needs_one = modes[i].change == switch_schedule || !strcmp(modes[i].mode, "set");
        int rc = needs_one ? has_schedule(db, all[AS_NAME], &as.call.err) : 1;
        if (rc > 0)
            rc = modes[i].change(db, &as, all);
        else if (rc == 0)
            rc = sqlite_outcome_row(&as, "not_found", 0);
        req->rows = as.rows;
        req->call.err = as.call.err;
        return rc;
    }
    return err_set(&req->call.err, ERR_INPUT, "mode: expected put, set, on, off or remove");
}

/* ---- deliveries ---- */

static int64_t deliver_again(struct sqlite_store *db, struct store_report *req,
                             const struct sqlite_delivery_sought_out *found, int64_t now, int64_t *slot)
{
    *slot = slot_fine_next(now, db->head.slot_length_s);
    return sqlite_run(db, &req->call.err, STATEMENT_EFFECT_DELIVER, &(struct sqlite_effect_deliver_in){
        .listener = found->listener,
        .job = found->job,
        .slot = *slot,
        .data = found->data,
        .origin = found->origin,
        .terms = found->terms,
        .emitted_us = found->emitted_us,
        .tenant = found->tenant,
    });
}

static int64_t digest_again(struct sqlite_store *db, struct store_report *req,
                            const struct sqlite_delivery_sought_out *found, int64_t now, int64_t *slot)
{
    *slot = slot_fine_next(now, db->head.slot_length_s);
    return sqlite_run(db, &req->call.err, STATEMENT_DIGEST_FILE_AGAIN, &(struct sqlite_digest_file_again_in){
        .delivery = param(req, 1),
        .listener = found->listener,
        .job = found->job,
        .slot = *slot,
        .data = found->told,
        .emitted_us = found->told_us,
    });
}

int sqlite_deliver_again(struct sqlite_store *db, struct store_report *req)
{
    struct sqlite_delivery_sought_out found = { 0 };
    struct sqlite_delivery_sought_in in = { .delivery = param(req, 1) };
    sqlite3_stmt *row = NULL;
    int rc = sqlite_query(db, &req->call.err, &row, STATEMENT_DELIVERY_SOUGHT, &in);
    if (rc > 0)
        rc = sqlite_columns(row, STATEMENT_DELIVERY_SOUGHT, &found);
    if (rc < 0) {
        sqlite_done(row);
        return rc;
    }
    const char *outcome = "again", *given = param(req, 2);
    int64_t now = sqlite_now(db, given ? strtoll(given, NULL, 10) : 0);
    int64_t slot = found.waits_at, filed = 0;
    if (found.waits_at)
        outcome = "waits";
    else if (!found.job)
        outcome = "unknown";
    else if (found.is_digest && found.told)
        filed = digest_again(db, req, &found, now, &slot);
    else if (found.is_digest)
        outcome = "not_kept";
    else if (!found.terms)
        outcome = "pruned";
    else
        filed = deliver_again(db, req, &found, now, &slot);
    sqlite_done(row);
    return filed < 0 ? (int)filed : sqlite_outcome_row(req, outcome, slot);
}

static int note_delivery(struct sqlite_store *db, struct store_report *req, const char *filed_at)
{
    struct sqlite_delivery_told_out told = { 0 };
    struct sqlite_delivery_told_in in = { .delivery = param(req, 1) };
    sqlite3_stmt *row = NULL;
    char moment[MOMENT_TEXT];
    struct err *err = &req->call.err;
    int rc = sqlite_query(db, err, &row, STATEMENT_DELIVERY_TOLD, &in);
    if (rc > 0)
        rc = sqlite_columns(row, STATEMENT_DELIVERY_TOLD, &told);
    struct arena *a = req->arena;
    struct sqlite_audited change = {
        .who = param(req, 2), .change = "deliver-again", .what = "delivery",
        .entity = arena_strdup(a, told.entity), .key = arena_strdup(a, told.key),
        .job = arena_strdup(a, told.job), .name = in.delivery, .reason = param(req, 3),
        .after = arena_printf(a, "{\"check_at\":\"%s\"}",
                              moment_format(strtoll(filed_at, NULL, 10), moment)),
    };
    sqlite_done(row);
    return rc < 0 ? rc : sqlite_note_change(db, a, &change, err);
}

int sqlite_report_change_delivery(struct sqlite_store *db, struct store_report *req)
{
    const char *const params[] = { param(req, 1) };
    struct store_report as = *req;
    as.params = params;
    as.nparams = 1;
    int rc = sqlite_deliver_again(db, &as);
    req->rows = as.rows;
    req->call.err = as.call.err;
    if (rc < 0 || strcmp(req->rows.cells[0], "again") != 0)
        return rc;
    return note_delivery(db, req, req->rows.cells[1]);
}
