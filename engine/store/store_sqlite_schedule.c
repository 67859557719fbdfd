/* store_sqlite_schedule.c - the reports that change schedules. The triggers of 0003_schedules file
 * and end their checks. */
#include <stdlib.h>
#include <string.h>

#include "store_sqlite_calls.h"
#include "store_sqlite_rows.h"

static const char *param(const struct store_report *req, int n)
{
    return n <= req->nparams ? req->params[n - 1] : NULL;
}

static int64_t now_param(struct sqlite_store *db, const struct store_report *req, int n)
{
    const char *now = param(req, n);
    return sqlite_now(db, now ? strtoll(now, NULL, 10) : 0);
}

/* A row of one cell: a text, and a moment, 0: none; or a truth, if `text` is NULL. */
static int one_row(struct store_report *req, const char *const names[2], const char *text, int64_t number)
{
    struct gathering g = { .arena = req->arena };
    int columns = names[1] ? 2 : 1;
    sqlite_gather_columns(&g, columns);
    for (int i = 0; !g.failed && i < columns; i++)
        sqlite_gather_name(&g, i, names[i], !text || i > 0);
    const char **row = g.failed ? NULL : sqlite_gather_row(&g);
    if (row && text)
        sqlite_gather_cell(&g, &row[0], text);
    if (row && (!text || number))
        sqlite_gather_number(&g, &row[columns - 1], number);
    return sqlite_gathered(&g, &req->rows, &req->call.err);
}

/* 1: it is there, 0: it is not. The text lives in the report's arena. */
static int state_of(struct sqlite_store *db, struct store_report *req, const char *name,
                    struct sqlite_schedule_state_out *out)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite_query(db, &req->call.err, &row, STATEMENT_SCHEDULE_STATE,
                          &(struct sqlite_schedule_state_in){ .name = name });
    if (rc <= 0)
        return rc;
    rc = sqlite_columns(row, STATEMENT_SCHEDULE_STATE, out);
    out->rule = rc < 0 ? NULL : arena_strdup(req->arena, out->rule);
    sqlite_done(row);
    if (rc < 0)
        return err_set(&req->call.err, rc, "the schedule '%s' cannot be read", name);
    return out->rule ? 1 : err_set(&req->call.err, ERR_NOMEM, "out of memory");
}

static int refuse_missing(struct store_report *req, const char *name)
{
    return err_set(&req->call.err, ERR_INPUT, "there is no schedule '%s'", name);
}

/* The schedule as the audit has it, in the report's arena; all NULL: it is not there. */
static int told(struct sqlite_store *db, struct store_report *req, const char *name,
                struct sqlite_schedule_told_out *out)
{
    sqlite3_stmt *row = NULL;
    *out = (struct sqlite_schedule_told_out){ 0 };
    /* cppcheck-suppress uselessAssignmentPtrArg ; `.name = name` assigns to no parameter */
    int rc = sqlite_query(db, &req->call.err, &row, STATEMENT_SCHEDULE_TOLD,
                          &(struct sqlite_schedule_told_in){ .name = name });
    if (rc <= 0)
        return rc;
    rc = sqlite_columns(row, STATEMENT_SCHEDULE_TOLD, out);
    *out = (struct sqlite_schedule_told_out){
        .entity = arena_strdup(req->arena, out->entity), .key = arena_strdup(req->arena, out->key),
        .job = arena_strdup(req->arena, out->job), .told = arena_strdup(req->arena, out->told),
    };
    sqlite_done(row);
    bool is_whole = out->entity && out->key && out->job && out->told;
    return rc < 0 || is_whole ? rc : err_set(&req->call.err, ERR_NOMEM, "out of memory");
}

static int note(struct sqlite_store *db, struct store_report *req, const char *name,
                const struct sqlite_schedule_told_out *is, struct sqlite_audited change)
{
    change.what = "schedule";
    change.name = name;
    change.entity = is->entity;
    change.key = is->key;
    change.job = is->job;
    return sqlite_note_change(db, req->arena, &change, &req->call.err);
}

static int64_t write_put(struct sqlite_store *db, struct store_report *req, bool sets)
{
    struct sqlite_schedule_put_in in = {
        .name = param(req, 2),
        .entity = param(req, 3),
        .key = param(req, 4),
        .job = param(req, 5),
        .every = param(req, 6),
        .bias = param(req, 7),
        .cron = param(req, 8),
        .timezone = param(req, 9),
        .missed = param(req, 10),
        .payload = param(req, 11),
        .now = now_param(db, req, 12),
        .concurrency_key = param(req, 13),
        .tenant = param(req, 14),
    };
    struct sqlite_schedule_set_in set = {
        .name = in.name,
        .entity = in.entity,
        .key = in.key,
        .job = in.job,
        .every = in.every,
        .bias = in.bias,
        .cron = in.cron,
        .timezone = in.timezone,
        .missed = in.missed,
        .payload = in.payload,
        .now = in.now,
        .concurrency_key = in.concurrency_key,
        .tenant = in.tenant,
    };
    if (sets)
        return sqlite_run(db, &req->call.err, STATEMENT_SCHEDULE_SET, &set);
    return sqlite_run(db, &req->call.err, STATEMENT_SCHEDULE_PUT, &in);
}

/* What it was is told by `old`, whose texts are NULL if it was not there. */
static int note_put(struct sqlite_store *db, struct store_report *req, const char *name,
                    const struct sqlite_schedule_told_out *old, const char *who, const char *reason)
{
    struct sqlite_schedule_told_out is;
    int rc = told(db, req, name, &is);
    struct sqlite_audited in = { .change = "schedule-put", .who = who, .reason = reason,
                                        .before = old->told, .after = is.told };
    return rc < 0 ? rc : note(db, req, name, &is, in);
}

int sqlite_schedule_put_for(struct sqlite_store *db, struct store_report *req, const char *who,
                            const char *reason)
{
    static const char *const names[2] = { "outcome", "next_check_at" };
    struct sqlite_schedule_state_out old = { 0 }, new = { 0 };
    struct sqlite_schedule_told_out was = { 0 };
    const char *given = param(req, 1), *mode = given ? given : "", *name = param(req, 2);
    int was_there = state_of(db, req, name, &old);
    if (was_there < 0)
        return was_there;
    if (was_there && !strcmp(mode, "add"))
        return err_set(&req->call.err, ERR_INPUT, "there is a schedule '%s' already", name);
    if (!was_there && !strcmp(mode, "set"))
        return refuse_missing(req, name);
    int rc = told(db, req, name, &was);
    if (rc >= 0)
        rc = (int)write_put(db, req, !strcmp(mode, "set"));
    if (rc < 0)
        return rc;
    rc = state_of(db, req, name, &new);
    if (rc < 0)
        return rc;
    if (!rc)
        return refuse_missing(req, name);
    if (was_there && !strcmp(old.rule, new.rule))
        return one_row(req, names, "kept", 0);
    rc = note_put(db, req, name, &was, who, reason);
    if (rc < 0)
        return rc;
    if (!was_there)
        return one_row(req, names, "new", new.next_check_at);
    return one_row(req, names, "changed", new.is_active ? new.next_check_at : 0);
}

int sqlite_report_schedule_put(struct sqlite_store *db, struct store_report *req)
{
    return sqlite_schedule_put_for(db, req, NULL, NULL);
}

int sqlite_schedule_switch_for(struct sqlite_store *db, struct store_report *req, const char *who)
{
    static const char *const names[2] = { "is_changed", NULL };
    struct sqlite_schedule_state_out old = { 0 };
    const char *name = param(req, 1), *active = param(req, 2);
    bool is_on = active && *active == 't';
    int rc = state_of(db, req, name, &old);
    if (rc <= 0)
        return rc < 0 ? rc : refuse_missing(req, name);
    if (old.is_active == is_on)
        return one_row(req, names, NULL, 0);
    struct sqlite_schedule_switch_in in = {
        .name = name,
        .active = is_on,
        .why = param(req, 3),
        .now = now_param(db, req, 4),
    };
    static const char *const words[] = { "schedule-off", "schedule-on" };
    static const char *const active_is[] = { "{\"is_active\":false}", "{\"is_active\":true}" };
    struct sqlite_schedule_told_out is;
    rc = (int)sqlite_run(db, &req->call.err, STATEMENT_SCHEDULE_SWITCH, &in);
    if (rc >= 0)
        rc = told(db, req, name, &is);
    if (rc >= 0)
        rc = note(db, req, name, &is, (struct sqlite_audited){
            .change = words[is_on],
            .before = active_is[!is_on],
            .after = active_is[is_on],
            .who = who,
            .reason = in.why,
        });
    return rc < 0 ? rc : one_row(req, names, NULL, 1);
}

int sqlite_report_schedule_switch(struct sqlite_store *db, struct store_report *req)
{
    return sqlite_schedule_switch_for(db, req, NULL);
}

int sqlite_schedule_remove_for(struct sqlite_store *db, struct store_report *req, const char *who,
                               const char *reason)
{
    static const char *const names[2] = { "is_removed", NULL };
    struct sqlite_schedule_told_out old;
    const char *name = param(req, 1);
    int rc = told(db, req, name, &old);
    if (rc < 0)
        return rc;
    rc = (int)sqlite_run(db, &req->call.err, STATEMENT_SCHEDULE_REMOVE,
                         &(struct sqlite_schedule_remove_in){ .name = name });
    if (rc >= 0 && old.told)
        rc = note(db, req, name, &old, (struct sqlite_audited){
            .change = "schedule-remove", .who = who, .reason = reason, .before = old.told,
        });
    return rc < 0 ? rc : one_row(req, names, NULL, old.told != NULL);
}

int sqlite_report_schedule_remove(struct sqlite_store *db, struct store_report *req)
{
    return sqlite_schedule_remove_for(db, req, NULL, NULL);
}

/* Each that will be put has a row with what it was; those that have not changed lose it again. */
static int64_t note_many(struct sqlite_store *db, struct store_report *req, const char *entries)
{
    return sqlite_run(db, &req->call.err, STATEMENT_NOTE_PUTS, &(struct sqlite_note_puts_in){
        .clock_us = sqlite_clock_us(db),
        .done_by = sqlite_user(req->arena),
        .entries = entries,
    });
}

static int64_t note_what_became(struct sqlite_store *db, struct store_report *req, int64_t behind,
                                int64_t now)
{
    struct err *err = &req->call.err;
    int64_t rc = sqlite_run(db, err, STATEMENT_NOTE_PUTS_AFTER,
                            &(struct sqlite_note_puts_after_in){ .behind = behind });
    return rc < 0 ? rc : sqlite_run(db, err, STATEMENT_DROP_PUTS_KEPT, &(struct sqlite_drop_puts_kept_in){
        .behind = behind,
        .now = now,
    });
}

int sqlite_report_schedule_put_many(struct sqlite_store *db, struct store_report *req)
{
    static const char *const names[2] = { "n", NULL };
    const char *entries = param(req, 1);
    int64_t now = now_param(db, req, 2);
    struct sqlite_newest_change_out newest = { 0 };
    int64_t rc = sqlite_ask(db, &req->call.err, STATEMENT_NEWEST_CHANGE, &newest, NULL);
    if (rc >= 0)
        rc = note_many(db, req, entries);
    if (rc >= 0)
        rc = sqlite_run(db, &req->call.err, STATEMENT_SCHEDULES_END_GIVEN_UP,
                        &(struct sqlite_schedules_end_given_up_in){ .entries = entries, .now = now });
    if (rc < 0)
        return (int)rc;
    rc = sqlite_run(db, &req->call.err, STATEMENT_SCHEDULES_GIVE_UP,
                    &(struct sqlite_schedules_give_up_in){ .entries = entries });
    if (rc < 0)
        return (int)rc;
    int64_t put = sqlite_run(db, &req->call.err, STATEMENT_SCHEDULES_PUT,
                             &(struct sqlite_schedules_put_in){ .entries = entries, .now = now });
    rc = put < 0 ? put : note_what_became(db, req, newest.id, now);
    return rc < 0 ? (int)rc : one_row(req, names, NULL, put);
}

int sqlite_report_schedule_remove_many(struct sqlite_store *db, struct store_report *req)
{
    static const char *const names[2] = { "n", NULL };
    int64_t rc = sqlite_run(db, &req->call.err, STATEMENT_NOTE_REMOVES, &(struct sqlite_note_removes_in){
        .clock_us = sqlite_clock_us(db),
        .done_by = sqlite_user(req->arena),
        .names = param(req, 1),
    });
    if (rc >= 0)
        rc = sqlite_run(db, &req->call.err, STATEMENT_SCHEDULES_REMOVE,
                        &(struct sqlite_schedules_remove_in){ .names = param(req, 1) });
    return rc < 0 ? (int)rc : one_row(req, names, NULL, rc);
}
