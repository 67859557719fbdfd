/* asked_change.c - see asked_change.h. */
#include "asked_change.h"

#include <stdlib.h>
#include <string.h>

#include "../rules/field.h"
#include "faults.h"
#include "payload.h"

enum { REASON_MAX = 4096 };

struct reading {
    struct asked_change *out;
    struct faults faults;
    bool is_all;
};

/* Which changes a member is for. */
enum { ENDS = 1 << CHANGE_RESOLVE | 1 << CHANGE_CANCEL,
       CHECKS = ENDS | 1 << CHANGE_RESCHEDULE | 1 << CHANGE_RUN_NOW | 1 << CHANGE_RETRY,
       PAUSES = 1 << CHANGE_PAUSE | 1 << CHANGE_RESUME, RULES = 1 << CHANGE_SCHEDULE,
       DELIVERIES = 1 << CHANGE_DELIVERY, ALL = CHECKS | PAUSES | RULES };

static const char *const words[CHANGE_KINDS] = {
    [CHANGE_RESOLVE] = "resolve", [CHANGE_CANCEL] = "cancel", [CHANGE_RESCHEDULE] = "reschedule",
    [CHANGE_RUN_NOW] = "run-now", [CHANGE_RETRY] = "retry",   [CHANGE_PAUSE] = "pause",
    [CHANGE_RESUME] = "resume",   [CHANGE_SCHEDULE] = NULL,     [CHANGE_DELIVERY] = NULL,
};

const char *change_word(enum change_kind kind)
{
    return words[kind];
}

static bool is_of(const struct reading *r, int kinds)
{
    return kinds >> r->out->kind & 1;
}

/* ---- texts ---- */

/* A number is its digits, as in SQL. */
static const char *text_or_digits(struct faults *f, const char *name, const json_t *value)
{
    if (!json_is_integer(value))
        return faults_text(f, name, value);
    return arena_printf(f->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
}

static void read_name(struct reading *r, const char *name, const json_t *value, const char **out)
{
    struct err err;
    *out = text_or_digits(&r->faults, name, value);
    if (*out)
        faults_check(&r->faults, name, field_check_name(name, *out, &err), &err);
}

/* Deliveries and digests have commands of their own; they can be paused. */
static void read_entity(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = faults_text(&r->faults, name, value);
    r->out->entity = text;
    if (text && is_of(r, CHECKS) && field_is_of_engines(text))
        faults_add(&r->faults, name, "%s: deliveries and digests are not changed here: prescient resolve, "
                   "reschedule and deliveries do that", name);
    else if (text)
        faults_check(&r->faults, name, field_check_name(name, text, &err), &err);
}

static void read_key(struct reading *r, const char *name, const json_t *value)
{
    read_name(r, name, value, &r->out->key);
}

static void read_job(struct reading *r, const char *name, const json_t *value)
{
    read_name(r, name, value, &r->out->job);
}

static void read_tenant(struct reading *r, const char *name, const json_t *value)
{
    read_name(r, name, value, is_of(r, RULES) ? &r->out->rule.tenant : &r->out->tenant);
}

static void read_schedule(struct reading *r, const char *name, const json_t *value)
{
    read_name(r, name, value, &r->out->schedule);
}

static void read_delivery(struct reading *r, const char *name, const json_t *value)
{
    r->out->delivery = faults_text(&r->faults, name, value);
}

static void read_concurrency_key(struct reading *r, const char *name, const json_t *value)
{
    read_name(r, name, value, &r->out->rule.concurrency_key);
}

static void read_reason(struct reading *r, const char *name, const json_t *value)
{
    const char *text = faults_text(&r->faults, name, value);
    if (text && strlen(text) > REASON_MAX)
        faults_add(&r->faults, name, "%s has %zu bytes, expected at most %d", name, strlen(text), REASON_MAX);
    r->out->reason = text;
}

static bool read_truth(struct reading *r, const char *name, const json_t *value)
{
    if (!json_is_boolean(value))
        faults_add(&r->faults, name, "%s: expected true or false", name);
    return json_is_true(value);
}

static void read_reslot(struct reading *r, const char *name, const json_t *value)
{
    r->out->is_reslotted = read_truth(r, name, value);
}

/* ---- times ---- */

static void take_time(struct reading *r, const char *name)
{
    if (r->out->has_time)
        faults_add(&r->faults, name, "%s: check_at and in exclude each other", name);
    r->out->has_time = true;
}

static void read_check_at(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    faults_check(&r->faults, name, asked_time_read(name, value, r->faults.now, &r->out->time, &err), &err);
    take_time(r, name);
}

static void read_in(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    struct asked_time time = { .is_after = true };
    faults_check(&r->faults, name, asked_time_read_span(name, value, &time.at, &err), &err);
    r->out->time = time;
    take_time(r, name);
}

/* ---- selects ---- */

/* What the list reads from its query. */
static const char *const sought[] = { "entity", "key",   "job",     "tenant", "from",
                                      "before", "state", "outcome", "error" };
enum { SOUGHT = sizeof sought / sizeof *sought };

static const char *sought_named(const struct reading *r, const char *name)
{
    bool is_past = !strcmp(name, "outcome") || !strcmp(name, "error");
    bool is_wrong = r->out->kind == CHANGE_RETRY ? !strcmp(name, "state") : is_past;
    for (int i = 0; i < SOUGHT && !is_wrong; i++)
        if (!strcmp(sought[i], name))
            return sought[i];
    return NULL;
}

/* Words and times are checked by the list. */
static void read_select(struct reading *r, const char *name, const json_t *value)
{
    struct query *select = &r->out->select;
    struct faults inner = r->faults;
    const char *member;
    json_t *one;
    r->out->is_select = true;
    if (!json_is_object(value)) {
        faults_add(&r->faults, name, "%s: expected an object: {\"entity\": ..., \"job\": ...}", name);
        return;
    }
    inner.pointer = "/select";
    json_object_foreach((json_t *)value, member, one) {
        const char *known = sought_named(r, member), *text = NULL;
        if (known)
            text = text_or_digits(&inner, member, one);
        else
            faults_refuse_member(&inner, member, sought, SOUGHT, sizeof *sought);
        if (text)
            select->values[select->n++] = (struct query_value){ known, text };
    }
    r->faults.problem = inner.problem;
    r->faults.is_short = inner.is_short;
}

static void read_after(struct reading *r, const char *name, const json_t *value)
{
    r->out->after = json_is_null(value) ? NULL : faults_text(&r->faults, name, value);
}

static void read_limit(struct reading *r, const char *name, const json_t *value)
{
    json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < 1 || n > CHANGE_MOST)
        faults_add(&r->faults, name, "%s: expected a whole number from 1 to %d", name, CHANGE_MOST);
    else
        r->out->limit = n;
}

static void read_dry_run(struct reading *r, const char *name, const json_t *value)
{
    r->out->is_dry = read_truth(r, name, value);
}

static void read_all(struct reading *r, const char *name, const json_t *value)
{
    r->is_all = read_truth(r, name, value);
}

/* ---- schedules ---- */

static void read_every(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    struct arena *a = r->faults.arena;
    const char *text = text_or_digits(&r->faults, name, value);
    if (text && json_is_integer(value))
        text = arena_printf(a, "%ss", text);
    if (text)
        faults_check(&r->faults, name, schedule_read_every(a, text, &r->out->rule.every, &err), &err);
}

static void read_bias(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    char text[40];
    if (!json_is_number(value)) {
        faults_add(&r->faults, name, "%s: expected a number: a fraction of every from 0 to 0.5", name);
        return;
    }
    snprintf(text, sizeof text, "%.15g", json_number_value(value));
    faults_check(&r->faults, name, schedule_read_bias(r->faults.arena, text, &r->out->rule.bias, &err), &err);
}

static void read_cron(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = faults_text(&r->faults, name, value);
    if (!text)
        return;
    int rc = schedule_read_cron(r->faults.arena, text, NULL, &r->out->rule.cron, &err);
    faults_check(&r->faults, name, rc, &err);
}

static void read_timezone(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = faults_text(&r->faults, name, value), *none;
    r->out->rule.zone = text;
    if (text)
        faults_check(&r->faults, name, schedule_read_cron(r->faults.arena, NULL, text, &none, &err), &err);
}

static void read_missed(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = faults_text(&r->faults, name, value);
    r->out->rule.missed = text;
    if (text)
        faults_check(&r->faults, name, schedule_check_missed(text, false, &err), &err);
}

static void read_payload(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *kept = json_is_null(value) ? NULL : payload_text(value, r->faults.arena);
    r->faults.is_short = r->faults.is_short || (!json_is_null(value) && !kept);
    r->out->rule.payload = kept;
    if (kept)
        faults_check(&r->faults, name, field_check_payload(name, kept, &err), &err);
}

static void read_is_active(struct reading *r, const char *name, const json_t *value)
{
    r->out->is_active = read_truth(r, name, value);
}

/* ---- what is there, and what is missing ---- */

static const struct member {
    const char *name;
    int kinds;
    void (*read)(struct reading *r, const char *name, const json_t *value);
} members[] = {
    { "entity", ALL, read_entity },
    { "key", CHECKS | RULES, read_key },
    { "job", ALL, read_job },
    { "tenant", PAUSES | RULES, read_tenant },
    { "schedule", PAUSES, read_schedule },
    { "reason", ALL | DELIVERIES, read_reason },
    { "delivery", DELIVERIES, read_delivery },
    { "check_at", 1 << CHANGE_RESCHEDULE, read_check_at },
    { "in", 1 << CHANGE_RESCHEDULE, read_in },
    { "select", CHECKS, read_select },
    { "after", CHECKS, read_after },
    { "limit", CHECKS, read_limit },
    { "dry_run", CHECKS, read_dry_run },
    { "all", CHECKS, read_all },
    { "reslot", 1 << CHANGE_RESUME, read_reslot },
    { "every", RULES, read_every },
    { "cron", RULES, read_cron },
    { "timezone", RULES, read_timezone },
    { "missed", RULES, read_missed },
    { "bias", RULES, read_bias },
    { "payload", RULES, read_payload },
    { "concurrency_key", RULES, read_concurrency_key },
    { "is_active", RULES, read_is_active },
};
enum { MEMBERS = sizeof members / sizeof *members };

static const struct member *member_named(const struct reading *r, const char *name)
{
    for (int i = 0; i < MEMBERS; i++)
        if (!strcmp(members[i].name, name) && is_of(r, members[i].kinds))
            return &members[i];
    return NULL;
}

static void check_row(struct reading *r)
{
    const struct asked_change *c = r->out;
    if (!c->entity)
        faults_add(&r->faults, "entity", "entity is missing, or select");
    if (!c->key)
        faults_add(&r->faults, "key", "key is missing");
    if (!c->job && is_of(r, CHECKS & ~ENDS & ~(1 << CHANGE_RETRY)))
        faults_add(&r->faults, "job", "job is missing");
    if (c->after)
        faults_add(&r->faults, "after", "after: expected it beside select alone");
}

/* A select without a word would be everything, which is rarely meant. */
static void check_select(struct reading *r)
{
    const struct asked_change *c = r->out;
    if (c->entity || c->key || c->job)
        faults_add(&r->faults, "select", "select: expected it, or entity, key and job");
    if (!c->select.n && !r->is_all)
        faults_add(&r->faults, "select", "select: it is empty, and would be all that there is: say so by "
                   "\"all\": true");
    if (c->select.n && r->is_all)
        faults_add(&r->faults, "all", "all: expected it beside an empty select alone");
}

static void check_paused(struct reading *r)
{
    const struct asked_change *c = r->out;
    if (!!c->entity + !!c->job + !!c->tenant + !!c->schedule != 1)
        faults_add(&r->faults, "", "expected one of job, entity, tenant and schedule");
}

/* With its row it is all of a schedule; without, it is a part of one that is there. */
static void check_rule(struct reading *r)
{
    const struct schedule_rule *rule = &r->out->rule;
    bool has_row = r->out->entity || r->out->key || r->out->job;
    bool has_rule = rule->every || rule->cron || rule->zone || rule->missed || rule->bias || rule->payload ||
                    rule->concurrency_key || rule->tenant;
    struct err err;
    if (has_row && !(r->out->entity && r->out->key && r->out->job))
        faults_add(&r->faults, "entity", "expected entity, key and job, or none of them");
    faults_check_row(&r->faults, r->out->entity, r->out->key, r->out->job);
    if (has_row && !rule->every && !rule->cron)
        faults_add(&r->faults, "every", "every is missing, or cron");
    if (rule->every && rule->cron)
        faults_add(&r->faults, "cron", "every and cron are two rules, expected one of them");
    if (rule->every && rule->zone)
        faults_add(&r->faults, "timezone", "a timezone belongs to cron; every counts from the end of a run");
    if (rule->bias && rule->cron)
        faults_add(&r->faults, "bias", "a bias belongs to every; cron has the times themselves");
    if (rule->every && rule->missed)
        faults_check(&r->faults, "missed", schedule_check_missed(rule->missed, true, &err), &err);
    if (r->out->is_active >= 0 && (has_row || has_rule))
        faults_add(&r->faults, "is_active", "is_active: expected it alone, or with a reason");
    if (r->out->is_active < 0 && !has_row && !has_rule)
        faults_add(&r->faults, "", "expected entity, key, job and a rule, or what is to be changed");
}

/* The name of a listener has no "/". */
static void check_delivery(struct reading *r)
{
    const char *of = r->out->delivery;
    if (!of)
        faults_add(&r->faults, "delivery", "delivery is missing");
    else if (!strchr(of, '/'))
        faults_add(&r->faults, "delivery", "delivery: expected LISTENER/EVENT, as GET /v1/deliveries has it");
}

static void check_whole(struct reading *r)
{
    if (is_of(r, DELIVERIES))
        check_delivery(r);
    else if (is_of(r, RULES))
        check_rule(r);
    else if (is_of(r, PAUSES))
        check_paused(r);
    else if (r->out->is_select)
        check_select(r);
    else
        check_row(r);
    if (r->out->kind == CHANGE_RESCHEDULE && !r->out->has_time)
        faults_add(&r->faults, "check_at", "check_at is missing, or in");
}

int asked_change_read(struct asked_change *out, enum change_kind kind, const json_t *object,
                      int64_t now, struct arena *a)
{
    struct reading r = { .out = out, .faults = { .arena = a, .pointer = "", .now = now } };
    const char *name;
    json_t *value;
    *out = (struct asked_change){ .kind = kind, .limit = CHANGE_MOST, .is_active = -1 };
    if (!json_is_object(object))
        faults_add(&r.faults, "", "expected an object: {\"entity\": ..., \"key\": ...}");
    json_object_foreach((json_t *)object, name, value) {
        const struct member *member = member_named(&r, name);
        if (member)
            member->read(&r, name, value);
        else
            faults_refuse_member(&r.faults, name, members, MEMBERS, sizeof *members);
    }
    if (!r.faults.problem)
        check_whole(&r);
    out->problem = r.faults.problem;
    return r.faults.is_short ? ERR_NOMEM : 0;
}
