/* change.c - see change.h. */
#include "change.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/json_dump.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/field.h"
#include "../rules/outcome.h"
#include "../store/store_slot.h"
#include "../view/item.h"
#include "../view/rows.h"
#include "asked_change.h"
#include "cursor.h"
#include "lists.h"
#include "parameters.h"
#include "route.h"

enum { EXAMPLES = 5 };

struct changing {
    struct desk *desk;
    struct answer *answer;
    struct asking asking;           /* its query is the select */
    struct asked_change asked;
    const char *path, *name;        /* of the route; of a schedule */
    const char *who;                /* "": nobody is known */
    struct lists_page page;         /* what was found; all 0: the check was named */
    int64_t at;                     /* where the found ones go */
    struct asked_time begun_with;   /* what the first call of a select has asked for */
    struct store_rows done;         /* what became of them */
};

/* ---- what goes wrong ---- */

static void refuse(struct changing *c, const struct err *err)
{
    static const char denied[] = "the server's user of the database may not do this: the log of the server "
                                 "has the GRANT";
    static const char detail[] = "the store does not take a value of this change; the log of the server "
                                 "says why";
    bool is_value = err->code == ERR_DATA || err->code == ERR_INPUT;
    if (!err_is_denied(err) && !is_value) {
        desk_failed(c->desk, c->answer, err);
        return;
    }
    desk_tell(c->desk, err);
    enum problem_type type = is_value ? PROBLEM_INVALID : PROBLEM_NOT_ALLOWED;
    json_t *problem = problem_new(type, is_value ? detail : denied);
    if (is_value && problem)
        problem_add(problem, "", detail);
    desk_refuse(c->desk, c->answer, type, problem);
}

static void refuse_member(struct changing *c, const char *pointer, const char *detail)
{
    json_t *problem = problem_new(PROBLEM_INVALID, detail);
    if (problem)
        problem_add(problem, pointer, detail);
    desk_refuse(c->desk, c->answer, PROBLEM_INVALID, problem);
}

/* "state: found ...": the message begins with the member that is at fault. */
static void refuse_select(struct changing *c)
{
    const char *text = c->asking.err.text;
    size_t len = strcspn(text, ":");
    const char *pointer = arena_printf(c->desk->arena, "/select/%.*s", (int)len, text);
    if (c->asking.err.code != ERR_INPUT || !pointer)
        refuse(c, &c->asking.err);
    else
        refuse_member(c, pointer, text);
}

/* ---- the store ---- */

static int ask_store(struct changing *c, const char *report, const char *const *params, int n,
                     struct store_rows *out, struct err *err)
{
    struct store_report call = STORE_REPORT_INIT;
    call.name = report;
    call.params = params;
    call.nparams = n;
    call.arena = c->desk->arena;
    call.role = "prescient_operator";
    int rc = store_do(c->desk->store, &call.call);
    *err = call.call.err;
    *out = call.rows;
    return rc;
}

static const char *digits_of(struct changing *c, int64_t n)
{
    return arena_printf(c->desk->arena, "%" PRId64, n);
}

/* ---- which checks ---- */

/* What was seen of the row: the id of the check; of one that is over, its mark, with which its
 * cursor begins. NULL: unknown. */
static json_t *seen_of(const struct changing *c, int row)
{
    bool is_over = c->asked.kind == CHANGE_RETRY;
    const char *cell = rows_value(&c->page.rows, row, is_over ? "cursor" : "id");
    if (cell && *cell == '[')
        cell++;
    return cell ? json_integer(strtoll(cell, NULL, 10)) : json_null();
}

/* [[entity, key, job, seen], ...] */
static const char *found_checks(const struct changing *c)
{
    json_t *all = json_array();
    const struct store_rows *rows = &c->page.rows;
    int rc = all ? 0 : -1;
    for (int i = 0; rc == 0 && i < rows->rows; i++)
        rc = json_array_append_new(all, json_pack("[s, s, s, o]", rows_value(rows, i, "entity_name"),
                                                  rows_value(rows, i, "entity_key"),
                                                  rows_value(rows, i, "job_exec"), seen_of(c, i)));
    char *text = rc < 0 ? NULL : json_dump_text(all, JSON_COMPACT);
    const char *kept = arena_strdup(c->desk->arena, text);
    free(text);
    json_decref(all);
    return kept;
}

static const char *named_check(const struct changing *c)
{
    const struct asked_change *a = &c->asked;
    json_t *all = json_pack("[[s, s, s?]]", a->entity, a->key, a->job);
    char *text = all ? json_dump_text(all, JSON_COMPACT) : NULL;
    const char *kept = arena_strdup(c->desk->arena, text);
    free(text);
    json_decref(all);
    return kept;
}

/* "AT PLACE", or "AT+SECONDS PLACE" of a time that was counted from then on. */
static int read_cursor(struct changing *c, struct err *err)
{
    const char *place;
    char *end;
    int rc = cursor_read(c->desk->arena, c->path, c->asked.after, &place, err);
    if (rc < 0)
        return rc;
    c->at = strtoll(place, &end, 10);
    c->begun_with = (struct asked_time){ .at = c->at, .is_after = *end == '+' };
    if (*end == '+')
        c->begun_with.at = strtoll(end, &end, 10);
    c->asking.after = *end == ' ' ? end + 1 : end;
    return 0;
}

/* Where the select goes on, and where its checks go. All calls of one select move their checks to
 * the time that the first of them has found, also one that counts from now on. */
static int read_place(struct changing *c, struct err *err)
{
    int64_t now;
    c->at = c->asked.time.at;
    c->begun_with = c->asked.time;
    if (c->asked.after)
        return read_cursor(c, err);
    if (!c->asked.time.is_after)
        return 0;
    int rc = desk_now(c->desk, &now, err);
    c->at += now;
    return rc;
}

static const char *place_behind(const struct changing *c)
{
    struct arena *a = c->desk->arena;
    const char *span = c->begun_with.is_after ? arena_printf(a, "+%" PRId64, c->begun_with.at) : "";
    const char *place = span ? arena_printf(a, "%" PRId64 "%s %s", c->at, span, c->page.place) : NULL;
    return place ? cursor_write(a, c->path, place) : NULL;
}

/* Of what retry files again, if nothing else is asked for. False: it is refused, as it files no
 * other again. */
static bool select_failed(struct changing *c)
{
    struct query *q = &c->asking.query;
    const char *outcome = query_value(q, "outcome");
    if (c->asked.kind == CHANGE_RETRY && !outcome) {
        outcome = "retryable";
        q->values[q->n++] = (struct query_value){ "outcome", outcome };
    }
    if (c->asked.kind != CHANGE_RETRY || !strcmp(outcome, "retryable"))
        return true;
    for (int o = 0; o < OUTCOME_COUNT; o++)
        if (outcome_is_problem((enum outcome)o) && !strcmp(outcome_name((enum outcome)o), outcome))
            return true;
    const char *detail = arena_printf(c->desk->arena, "outcome: found '%.*s', expected failed, timeout, "
                                      "crashed, bad_answer or unknown_job: retry files nothing else again",
                                      UTF8_SHOWN(outcome));
    refuse_member(c, "/select/outcome", detail ? detail : "outcome: retry files nothing like this again");
    return false;
}

static bool is_same_check(const struct store_rows *rows, int one, int other)
{
    static const char *const names[] = { "entity_key", "entity_name", "job_exec" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(rows_value(rows, one, names[i]), rows_value(rows, other, names[i])) != 0)
            return false;
    return true;
}

/* Deliveries and digests are not changed here. Of a check that has ended several times, the newest
 * end comes first, and is the one that counts. */
static bool is_to_be_changed(const struct changing *c, const struct store_rows *rows, int row, int kept)
{
    if (field_is_of_engines(rows_value(rows, row, "entity_name")))
        return false;
    for (int i = 0; i < kept && c->asked.kind == CHANGE_RETRY; i++)
        if (is_same_check(rows, i, row))
            return false;
    return true;
}

/* So that as many match as there are to be changed. */
static void leave_out_others(const struct changing *c, struct store_rows *rows)
{
    size_t columns = (size_t)rows->columns;
    int kept = 0;
    for (int i = 0; i < rows->rows; i++)
        if (is_to_be_changed(c, rows, i, kept))
            memmove(rows->cells + (size_t)kept++ * columns, rows->cells + (size_t)i * columns,
                    columns * sizeof *rows->cells);
    rows->rows = kept;
}

/* Those that were moved before would be at one time, and the others at another. False: it is
 * refused. */
static bool goes_on_as_begun(struct changing *c)
{
    static const char detail[] = "the calls before have moved checks to another time; go on with that one, "
                                 "or begin anew without after";
    const struct asked_time *time = &c->asked.time;
    if (time->is_after == c->begun_with.is_after && time->at == c->begun_with.at)
        return true;
    refuse_member(c, time->is_after ? "/in" : "/check_at", detail);
    return false;
}

/* False: it is refused. */
static bool find(struct changing *c)
{
    struct err err;
    int rc = read_place(c, &err);
    if (rc == ERR_INPUT) {
        refuse_member(c, "/after", err.text);
        return false;
    }
    if (rc < 0) {
        refuse(c, &err);
        return false;
    }
    if (!goes_on_as_begun(c))
        return false;
    c->asking.desk = c->desk;
    c->asking.db_role = "prescient_reader";
    c->asking.limit = c->asked.limit;
    c->asking.query = c->asked.select;
    if (!select_failed(c))
        return false;
    rc = lists_read(&c->asking, c->asked.kind == CHANGE_RETRY ? "/v1/history" : "/v1/checks", &c->page);
    if (rc < 0)
        refuse_select(c);
    else
        leave_out_others(c, &c->page.rows);
    return rc == 0;
}

/* What a named check would be found by. */
static void select_named(struct changing *c)
{
    const struct { const char *name, *value; } all[] = {
        { "entity", c->asked.entity }, { "key", c->asked.key }, { "job", c->asked.job },
    };
    struct query *q = &c->asked.select;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value)
            q->values[q->n++] = (struct query_value){ all[i].name, all[i].value };
}

/* ---- what is answered ---- */

static int count(const struct changing *c, const char *outcome)
{
    int n = 0;
    for (int i = 0; i < c->done.rows; i++)
        n += !strcmp(rows_value(&c->done, i, "outcome"), outcome);
    return n;
}

/* Takes the reference to the object. */
static void answer_with(struct changing *c, json_t *object, const char *name, json_t *value)
{
    if (object && json_object_set_new(object, name, value) < 0) {
        json_decref(object);
        object = NULL;
    }
    desk_answer(c->desk, c->answer, 200, object);
}

/* Of a select with where it goes on; of a named check with what became of each. */
static void tell(struct changing *c, int matched)
{
    int changed = count(c, "changed"), not_found = count(c, "not_found");
    const char *next = c->page.place ? place_behind(c) : NULL;
    bool is_short = c->page.place && !next;
    int kept = matched - changed - not_found;
    json_t *object = is_short ? NULL : json_pack("{s:i, s:i, s:i, s:i}", "matched", matched, "changed",
                                                 changed, "kept", kept, "not_found", not_found);
    object = item_tell_end(object, c->page.scanned_to);
    if (c->asked.is_select) {
        answer_with(c, object, "next", next ? json_string(next) : json_null());
        return;
    }
    item_rename(&c->done);
    answer_with(c, object, "checks", item_array(&c->done));
}

static void tell_dry(struct changing *c)
{
    struct store_rows some = c->page.rows;
    const char *next = c->page.place ? place_behind(c) : NULL;
    bool is_short = c->page.place && !next;
    json_t *object = is_short ? NULL : json_pack("{s:i, s:i, s:s?}", "matched", some.rows, "changed", 0,
                                                 "next", next);
    if (some.rows > EXAMPLES)
        some.rows = EXAMPLES;
    object = item_tell_end(object, c->page.scanned_to);
    item_leave_out(&some, "cursor");
    item_rename(&some);
    answer_with(c, object, "examples", item_array(&some));
}

/* ---- checks ---- */

/* As many as were asked for, or as a row without a job has. */
static int matched(const struct changing *c)
{
    if (c->asked.is_select)
        return c->page.rows.rows;
    return c->done.rows;
}

static void change_checks(struct changing *c)
{
    struct err err;
    const struct asked_change *a = &c->asked;
    bool moves = a->kind == CHANGE_RESCHEDULE;
    const char *checks = a->is_select ? found_checks(c) : named_check(c);
    int64_t when = a->is_select ? c->at : a->time.at;
    const char *when_s = moves ? digits_of(c, when) : NULL;
    const char *is_after = moves && !a->is_select && a->time.is_after ? "true" : NULL;
    const char *const params[] = { change_word(a->kind), checks, when_s, is_after, c->who, a->reason };
    if (!checks || (moves && !when_s)) {
        desk_refuse(c->desk, c->answer, PROBLEM_AWAY, NULL);
        return;
    }
    if (ask_store(c, "change_checks", params, sizeof params / sizeof *params, &c->done, &err) < 0)
        refuse(c, &err);
    else
        tell(c, matched(c));
}

static void answer_checks(struct changing *c)
{
    if (c->asked.is_dry && !c->asked.is_select)
        select_named(c);
    if ((c->asked.is_dry || c->asked.is_select) && !find(c))
        return;
    if (c->asked.is_dry)
        tell_dry(c);
    else
        change_checks(c);
}

/* ---- pauses and schedules ---- */

static void answer_pause(struct changing *c)
{
    struct err err;
    const struct asked_change *a = &c->asked;
    const char *const params[] = { change_word(a->kind), a->job, a->entity, a->schedule, a->tenant,
                                   a->is_reslotted ? "true" : NULL, c->who, a->reason };
    struct store_rows rows;
    if (ask_store(c, "change_pause", params, sizeof params / sizeof *params, &rows, &err) < 0)
        refuse(c, &err);
    else
        desk_answer(c->desk, c->answer, 200, rows_object(&rows, 0));
}

static const char *mode_of(const struct asked_change *a)
{
    if (a->is_active >= 0)
        return a->is_active ? "on" : "off";
    return a->entity ? "put" : "set";
}

static int change_schedule(struct changing *c, const char *mode, struct store_rows *rows, struct err *err)
{
    const struct asked_change *a = &c->asked;
    const struct schedule_rule *r = &a->rule;
    const char *const params[] = { mode,     c->name,   a->entity,  a->key,     a->job,
                                   r->every, r->bias,   r->cron,    r->zone,    r->missed,
                                   r->payload, r->concurrency_key, r->tenant, c->who, a->reason };
    return ask_store(c, "change_schedule", params, sizeof params / sizeof *params, rows, err);
}

static void tell_schedule(struct changing *c, struct store_rows *rows)
{
    const char *outcome = rows_value(rows, 0, "outcome");
    bool is_new = outcome && !strcmp(outcome, "new");
    if (outcome && !strcmp(outcome, "not_found")) {
        desk_refuse(c->desk, c->answer, PROBLEM_NOT_FOUND,
                    problem_new(PROBLEM_NOT_FOUND, "there is no schedule of that name"));
        return;
    }
    item_rename(rows);
    desk_answer(c->desk, c->answer, is_new ? 201 : 200, rows_object(rows, 0));
}

static void put_schedule(struct changing *c, const char *mode)
{
    struct err err;
    struct store_rows rows;
    if (change_schedule(c, mode, &rows, &err) < 0)
        refuse(c, &err);
    else
        tell_schedule(c, &rows);
}

static void answer_schedule(struct changing *c)
{
    put_schedule(c, mode_of(&c->asked));
}

/* ---- deliveries ---- */

static const struct { const char *outcome; enum problem_type type; const char *detail; } not_again[] = {
    { "unknown", PROBLEM_NOT_FOUND, "there is no such delivery in the history that is kept" },
    { "pruned", PROBLEM_INVALID, "its event was pruned, and what was sent with it" },
    { "not_kept", PROBLEM_INVALID, "it is a digest, and what it had is kept only of one that has failed" },
};

static void tell_delivery(struct changing *c, struct store_rows *rows)
{
    const char *outcome = rows_value(rows, 0, "outcome");
    for (size_t i = 0; outcome && i < sizeof not_again / sizeof *not_again; i++)
        if (!strcmp(not_again[i].outcome, outcome)) {
            desk_refuse(c->desk, c->answer, not_again[i].type,
                        problem_new(not_again[i].type, not_again[i].detail));
            return;
        }
    item_rename(rows);
    desk_answer(c->desk, c->answer, 200, rows_object(rows, 0));
}

static void answer_delivery(struct changing *c)
{
    struct err err;
    struct store_rows rows;
    const char *const params[] = { c->asked.delivery, c->who, c->asked.reason };
    if (ask_store(c, "change_delivery", params, sizeof params / sizeof *params, &rows, &err) < 0)
        refuse(c, &err);
    else
        tell_delivery(c, &rows);
}

/* ---- the body ---- */

static void (*const answers_of[CHANGE_KINDS])(struct changing *c) = {
    [CHANGE_RESOLVE] = answer_checks,    [CHANGE_CANCEL] = answer_checks, [CHANGE_RESCHEDULE] = answer_checks,
    [CHANGE_RUN_NOW] = answer_checks,    [CHANGE_RETRY] = answer_checks,  [CHANGE_PAUSE] = answer_pause,
    [CHANGE_RESUME] = answer_pause,      [CHANGE_SCHEDULE] = answer_schedule,
    [CHANGE_DELIVERY] = answer_delivery,
};

static const struct {
    const char *path;
    enum change_kind kind;
} paths[] = {
    { "/v1/resolve", CHANGE_RESOLVE },       { "/v1/cancel", CHANGE_CANCEL },
    { "/v1/reschedule", CHANGE_RESCHEDULE }, { "/v1/run-now", CHANGE_RUN_NOW },
    { "/v1/retry", CHANGE_RETRY },           { "/v1/pause", CHANGE_PAUSE },
    { "/v1/resume", CHANGE_RESUME },         { "/v1/schedules", CHANGE_SCHEDULE },
    { "/v1/deliver-again", CHANGE_DELIVERY },
};

static enum change_kind kind_of(const char *path)
{
    size_t i = 0;
    while (i < sizeof paths / sizeof *paths - 1 && strcmp(paths[i].path, path) != 0)
        i++;
    return paths[i].kind;
}

static void answer_body(struct changing *c, const json_t *body)
{
    if (asked_change_read(&c->asked, kind_of(c->path), body, time(NULL), c->desk->arena) < 0) {
        json_decref(c->asked.problem);
        desk_refuse(c->desk, c->answer, PROBLEM_AWAY, NULL);
    } else if (c->asked.problem) {
        desk_refuse(c->desk, c->answer, PROBLEM_INVALID, c->asked.problem);
    } else {
        answers_of[c->asked.kind](c);
    }
}

/* Of a schedule, its name stands in the query; of DELETE, which has no body, the reason, too. */
static bool read_name(struct changing *c, const struct question *question, bool is_delete)
{
    static const char *const none[] = { NULL }, *const name[] = { "name", NULL },
                      *const both[] = { "name", "reason", NULL };
    struct query query;
    bool is_schedule = kind_of(c->path) == CHANGE_SCHEDULE;
    const char *const *known = is_schedule ? name : none;
    if (!desk_query(c->desk, question, is_delete ? both : known, &query, c->answer))
        return false;
    c->name = query_value(&query, "name");
    c->asked.reason = query_value(&query, "reason");
    if (is_schedule && (!c->name || !*c->name)) {
        desk_refuse(c->desk, c->answer, PROBLEM_BAD_REQUEST,
                    problem_new(PROBLEM_BAD_REQUEST, "the query lacks name, which schedule it is"));
        return false;
    }
    return true;
}

void change_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    const struct route *route = &route_table[questions->route];
    struct changing *c = arena_zalloc(desk->arena, sizeof *c);
    bool is_delete = route->method == HTTP_DELETE;
    (void)n;
    if (!c) {
        desk_refuse(desk, answers, PROBLEM_AWAY, NULL);
        return;
    }
    *c = (struct changing){ .desk = desk, .answer = answers, .path = route->path,
                            .who = questions->who, .asking.role = questions->role };
    if (!read_name(c, questions, is_delete))
        return;
    json_t *body = is_delete ? NULL : desk_body(desk, questions, answers);
    if (is_delete)
        put_schedule(c, "remove");
    else if (body)
        answer_body(c, body);
    json_decref(body);
}
