/* host.c - the functions behind struct prescient_host: log, settings, queries, effects. */
#include "host.h"

#include <libconfig.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/answer_object.h"
#include "../rules/delivery.h"
#include "../rules/effect.h"
#include "../rules/fault.h"
#include "../rules/idempotency.h"
#include "../rules/terms.h"
#include "asked.h"
#include "business.h"

struct setting_text {                   /* a number or boolean as text, kept until close */
    struct setting_text *older;
    const config_setting_t *setting;
    const char *text;
};

struct host {
    struct prescient_host api;
    const struct job_settings *job;
    const struct host_services *services;
    int64_t deadline_us;
    struct arena *call;                 /* freed when the next call into the job begins */
    struct arena *life;                 /* freed with the host */
    struct setting_text *texts;
    struct asked asked;
    bool is_open;
    bool is_broken;                     /* the last query of this call failed, and not because of the row */
    int batch_most;                     /* what the job takes at once; 0: any number */
    char spare_key[IDEMPOTENCY_KEY_SIZE];
    struct err err;
};

static struct host *self(const struct prescient_host *api)
{
    return api->impl;
}

static int __attribute__((format(printf, 2, 3))) refuse(struct host *h, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(h->err.text, sizeof h->err.text, fmt, ap);
    va_end(ap);
    h->err.code = ERR_GENERAL;
    return -1;
}

static const char *host_error(const struct prescient_host *api)
{
    return self(api)->err.text;
}

static void host_log(const struct prescient_host *api, int level, const char *text)
{
    struct host *h = self(api);
    char line[4096];
    if (!h->services->log || !text)
        return;
    snprintf(line, sizeof line, "%s: %s", h->job->name, text);
    h->services->log(h->services->log_ctx, level, line);
}

/* ---- settings ---- */

/* The member `part` of a group, or the element of that number in a list or array. */
static const config_setting_t *member(const config_setting_t *s, const char *part)
{
    if (config_setting_is_group(s))
        return config_setting_get_member(s, part);
    char *end;
    unsigned long i = strtoul(part, &end, 10);
    if (!config_setting_is_aggregate(s) || *part < '0' || *part > '9' || *end ||
        i >= (unsigned long)config_setting_length(s))
        return NULL;
    return config_setting_get_elem(s, (unsigned)i);
}

/* "delays.0", "group.member"; "" is the whole group. */
static const config_setting_t *find_setting(struct host *h, const char *name)
{
    const config_setting_t *s = h->job->own;
    if (!h->is_open)
        asked_note(&h->asked, s, name);
    while (s && *name) {
        char part[128];
        size_t len = strcspn(name, ".");
        if (len == 0 || len >= sizeof part)
            return NULL;
        memcpy(part, name, len);
        part[len] = '\0';
        s = member(s, part);
        name += len;
        name += *name == '.';
    }
    return s;
}

static const char *scalar_text(struct arena *a, const config_setting_t *s)
{
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64: return arena_printf(a, "%lld", (long long)config_setting_get_int64(s));
    case CONFIG_TYPE_BOOL:  return config_setting_get_bool(s) ? "true" : "false";
    case CONFIG_TYPE_FLOAT: return arena_printf(a, "%.15g", config_setting_get_float(s));
    default:                return NULL;
    }
}

static const char *host_setting(const struct prescient_host *api, const char *name)
{
    struct host *h = self(api);
    const config_setting_t *s = find_setting(h, name);
    if (!s)
        return NULL;
    if (config_setting_type(s) == CONFIG_TYPE_STRING)
        return config_setting_get_string(s);
    for (struct setting_text *t = h->texts; t; t = t->older)
        if (t->setting == s)
            return t->text;
    const char *text = scalar_text(h->life, s);
    struct setting_text *t = text ? arena_alloc(h->life, sizeof *t) : NULL;
    if (t) {
        *t = (struct setting_text){ h->texts, s, text };
        h->texts = t;
    }
    return text;
}

static int host_setting_count(const struct prescient_host *api, const char *name)
{
    const config_setting_t *s = find_setting(self(api), name);
    if (!s)
        return -1;
    return config_setting_is_aggregate(s) ? config_setting_length(s) : 0;
}

static int64_t host_setting_duration(const struct prescient_host *api, const char *name, int64_t default_s)
{
    struct host *h = self(api);
    const char *text = host_setting(api, name);
    int64_t us;
    if (!text && host_setting_count(api, name) < 0)
        return default_s;
    if (!text)
        return refuse(h, "setting '%s' is a list or a group; expected a duration such as \"15m\" or \"24h\"",
                      name);
    if (duration_parse_us(text, &us, &h->err)) {
        err_wrap(&h->err, ERR_SETTINGS, "setting '%s'", name);
        return -1;
    }
    if (!duration_has_unit(text))
        return refuse(h, "setting '%s': found %.20s, expected a unit: %.20ss is seconds, %.20sh hours", name,
                      text, text, text);
    if (us % 1000000)
        return refuse(h, "setting '%s': found '%.80s', expected whole seconds", name, text);
    return us / 1000000;
}

/* ---- queries ---- */

static int host_query(const struct prescient_host *api, const char *sql, const struct prescient_value *params,
                      int n, const struct prescient_rows **rows)
{
    struct host *h = self(api);
    h->is_broken = !h->services->business;
    if (h->is_broken)
        return refuse(h, "no business database is set; expected `business = \"...\"` in the settings");
    int rc = business_query(h->services->business, sql, params, n, h->deadline_us, rows, &h->err);
    h->is_broken = rc < 0 && fault_is_of_job(rc, h->err.sqlstate);
    return rc ? -1 : 0;
}

static int host_broken(const struct prescient_host *api)
{
    return self(api)->is_broken;
}

static const char *host_dialect(const struct prescient_host *api)
{
    const struct business *b = self(api)->services->business;
    return b ? business_dialect(b) : "";
}

static const char *host_idempotency_key(const struct prescient_host *api, const struct prescient_check *check)
{
    struct host *h = self(api);
    const struct slab_check *c = check->impl;
    char *key = arena_alloc(h->call, IDEMPOTENCY_KEY_SIZE);
    if (!key)
        /* without memory: right as long as the job uses one check's key at a time. No key at all
         * would be shared by all checks */
        key = h->spare_key;
    struct idempotency of = {
        .entity_name = c->entity_name,
        .entity_key = c->entity_key,
        .job_exec = c->job_name,
        .origin = c->origin,
        .payload = c->payload,
        .first_check_at = c->first_check_at,
        .id = c->id,
        .check_count = c->check_count,
    };
    idempotency_key(&of, key);
    return key;
}

/* ---- effects ---- */

/* An effect that is refused makes the answer a failure even when the job ignores the error: what it
 * declared is not lost silently. */
static int refuse_effect(struct host *h, struct host_answer *a, const char *what, const char *why)
{
    refuse(h, "%s: %s", what, why);
    if (!a->is_refused) {
        const char *why_not = arena_strdup(h->call, h->err.text);
        a->refusal = why_not ? why_not : "an effect was refused";
    }
    a->is_refused = true;
    return -1;
}

static int declare(const struct prescient_host *api, struct prescient_answer *answer, const char *what,
                   const struct effect *effect)
{
    struct host *h = self(api);
    struct host_answer *a = answer->impl;
    if (!h->services->slab || !a)
        return refuse(h, "%s: only an answer to a check can declare it", what);
    if (a->is_published)
        return refuse(h, "%s: the answer has been handed over already", what);
    struct err err;
    if (effect_check(effect, &err) < 0)
        return refuse_effect(h, a, what, err.text);
    int rc = slab_add_effect(h->services->slab, a->index, effect);
    if (rc == 0)
        return 0;
    if (rc == SLAB_CROWDED) {
        a->is_crowded = true;
        return refuse(h, "%s: the effects of other checks have taken all room", what);
    }
    char why[128];
    snprintf(why, sizeof why, "expected at most %d effects and %u bytes of them for one answer",
             ANSWER_EFFECTS_MAX, SLAB_ANSWER_BYTES);
    return refuse_effect(h, a, what, why);
}

static int host_emit(const struct prescient_host *api, struct prescient_answer *answer, const char *event,
                     const char *json)
{
    return declare(api, answer, "emit",
                   &(struct effect){ .kind = EFFECT_EMIT, .event = event, .json = json });
}

static int host_enqueue(const struct prescient_host *api, struct prescient_answer *answer,
                        const char *entity_name, const char *entity_key, const char *job, int64_t at,
                        const char *json, const char *conflict)
{
    return declare(api, answer, "enqueue",
                   &(struct effect){ .kind = EFFECT_ENQUEUE,
                                     .entity_name = entity_name,
                                     .entity_key = entity_key,
                                     .job = job,
                                     .at = at,
                                     .json = json,
                                     .conflict = conflict ? conflict : "keep" });
}

/* A plug-in of before gives a shorter one: its later members are not asked for. */
static int host_enqueue_check(const struct prescient_host *api, struct prescient_answer *answer,
                              const struct prescient_new_check *asked)
{
    struct prescient_new_check wanted = { 0 };
    memcpy(&wanted, asked, asked->size < sizeof wanted ? asked->size : sizeof wanted);
    return declare(api, answer, "enqueue",
                   &(struct effect){ .kind = EFFECT_ENQUEUE,
                                     .entity_name = wanted.entity_name,
                                     .entity_key = wanted.entity_key,
                                     .job = wanted.job,
                                     .at = wanted.at,
                                     .json = wanted.json,
                                     .conflict = wanted.conflict ? wanted.conflict : "keep",
                                     .priority = wanted.priority,
                                     .concurrency_key = wanted.concurrency_key,
                                     .tenant = wanted.tenant });
}

static int host_resolve(const struct prescient_host *api, struct prescient_answer *answer,
                        const char *entity_name, const char *entity_key, const char *job)
{
    return declare(api, answer, "resolve", &(struct effect){
        .kind = EFFECT_RESOLVE, .entity_name = entity_name, .entity_key = entity_key, .job = job });
}

/* ---- JSON for other programs, and from them ---- */

/* Of a check. */
static struct delivery document_of(const struct prescient_host *api, const struct prescient_check *check)
{
    const struct slab_check *c = check->impl;
    return (struct delivery){
        .type = "check",
        .id = host_idempotency_key(api, check),
        .timestamp = c->now,
        .entity_name = c->entity_name,
        .entity_key = c->entity_key,
        .job = c->job_name,
        .check_number = c->check_count + INT64_C(1),
        .failure_count = c->failure_count,
        .first_check_at = c->first_check_at,
        .data = c->payload,
    };
}

/* Of the event that a delivery brings: it is about the check that emitted it. What it points to is
 * in `e`. */
static void make_event(struct delivery *d, const struct terms_event *e)
{
    d->type = e->type;
    d->timestamp = e->emitted_us / 1000000;
    d->entity_name = e->entity_name;
    d->entity_key = e->entity_key;
    d->job = e->job;
    d->check_number = e->check_number;
    d->failure_count = e->failure_count;
    d->first_check_at = e->first_check_at;
}

/* NULL: out of memory. It lives as long as the call. */
static const struct delivery *delivery_of(const struct prescient_host *api,
                                          const struct prescient_check *check)
{
    struct host *h = self(api);
    const struct slab_check *c = check->impl;
    struct delivery *d = arena_alloc(h->call, sizeof *d);
    struct terms *terms = c->terms ? arena_alloc(h->call, sizeof *terms) : NULL;
    struct err err;
    if (!d || (c->terms && !terms)) {
        refuse(h, "out of memory for the document of a check");
        return NULL;
    }
    *d = document_of(api, check);
    if (terms && terms_parse(c->terms, terms, &err) == 0 && terms->has_event)
        make_event(d, &terms->event);
    return d;
}

static const char *host_document(const struct prescient_host *api, const struct prescient_check *check)
{
    struct host *h = self(api);
    const struct slab_check *c = check->impl;
    if (c->terms && check->payload && check->payload != c->payload)
        return check->payload;          /* it is that already */
    const struct delivery *d = delivery_of(api, check);
    if (!d)
        return NULL;
    char *json = arena_alloc(h->call, delivery_size(d));
    if (json)
        delivery_write(d, json);
    else
        refuse(h, "out of memory for the document of a check");
    return json;
}

static const char *host_field(const struct prescient_host *api, const struct prescient_check *check,
                              const char *name)
{
    struct host *h = self(api);
    const struct delivery *d = delivery_of(api, check);
    char room[DELIVERY_FIELD_SIZE];
    const char *text = d ? delivery_field(d, name, room) : NULL;
    if (text == room && !(text = arena_strdup(h->call, room)))
        refuse(h, "out of memory for a field of a check");
    return text;
}

static void put_words(struct prescient_answer *answer, const struct answer_object *o)
{
    const char *note = o->note ? o->note : "";
    if (!answer->text || !answer->text_size)
        return;
    if (o->words && *note)
        snprintf(answer->text, answer->text_size, "%s\n%s", o->words, note);
    else if (o->words || *note)
        snprintf(answer->text, answer->text_size, "%s", o->words ? o->words : note);
}

static void take_object(struct host *h, struct prescient_answer *answer, const struct answer_object *o)
{
    static const int kinds[] = { [ANSWER_DONE] = PRESCIENT_DONE,    [ANSWER_AGAIN] = PRESCIENT_AGAIN,
                                 [ANSWER_DEFER] = PRESCIENT_DEFER,  [ANSWER_FAIL] = PRESCIENT_FAIL,
                                 [ANSWER_FAIL_FINAL] = PRESCIENT_FAIL_FINAL };
    answer->kind = kinds[o->kind];
    answer->at = o->at;
    put_words(answer, o);
    /* one that finds no room is noted where the answer is published */
    for (int i = 0; i < o->neffects; i++)
        declare(&h->api, answer, "answer", &o->effects[i]);
}

static int host_answer_json(const struct prescient_host *api, const struct prescient_check *check,
                            struct prescient_answer *answer, const char *json, size_t len, unsigned flags)
{
    struct host *h = self(api);
    struct answer_object o;
    char *text = arena_alloc(h->call, len + 1);
    if (!text)
        return refuse(h, "out of memory for an answer of %zu bytes", len);
    memcpy(text, json, len);
    text[len] = '\0';
    if (answer_object_read(text, len, check->now, !(flags & PRESCIENT_NO_EFFECTS), &o, &h->err) < 0)
        return -1;
    if (o.id && strcmp(o.id, host_idempotency_key(api, check)) != 0) {
        refuse(h, "id: found '%.*s', expected %s", UTF8_SHOWN(o.id), host_idempotency_key(api, check));
        answer_object_release(&o);
        return -1;
    }
    take_object(h, answer, &o);
    answer_object_release(&o);
    return 0;
}

static int host_json_member(const struct prescient_host *api, const char *json, size_t len,
                            const char *name, const char **text)
{
    struct host *h = self(api);
    char *copy = arena_alloc(h->call, len + 1), *found;
    *text = NULL;
    if (!copy)
        return refuse(h, "out of memory for JSON of %zu bytes", len);
    memcpy(copy, json, len);
    copy[len] = '\0';
    if (answer_object_member(copy, len, name, &found, &h->err) < 0)
        return -1;
    *text = found ? arena_strdup(h->call, found) : NULL;
    bool is_lost = found && !*text;
    free(found);
    return is_lost ? refuse(h, "out of memory for a member of JSON") : 0;
}

static void host_take_batch_most(const struct prescient_host *api, int n)
{
    self(api)->batch_most = n;
}

static int host_stopping(const struct prescient_host *api)
{
    const struct slab *slab = self(api)->services->slab;
    return slab && slab_is_stopped(slab);
}

static int host_answered(const struct prescient_host *api, struct prescient_answer *answer)
{
    struct host *h = self(api);
    const struct host_answer *a = answer->impl;
    if (!h->services->answered || !a)
        return refuse(h, "answered: only an answer to a check can be handed over");
    if (a->is_published)
        return refuse(h, "answered: the answer has been handed over already");
    if (!h->services->answered(h->services->answered_ctx, answer))
        return refuse(h, "answered: the answer belongs to no call that is under way");
    return 0;
}

static int host_dry(const struct prescient_host *api, const struct prescient_check *check,
                    const char *request)
{
    const struct host_services *services = self(api)->services;
    bool tells = services->is_dry && check && request && services->requested;
    if (tells)
        services->requested(services->requested_ctx, request);
    return services->is_dry;
}

static void host_hide(const struct prescient_host *api, char *text)
{
    const struct host_services *services = self(api)->services;
    if (services->hide && text)
        services->hide(services->hide_ctx, text);
}

/* ---- life ---- */

/* Room for the texts of all numbers of the group, so that reading one never fails: a job would
 * believe that the setting is not set. */
static size_t room_for_texts(const config_setting_t *s)
{
    enum { TEXT_ROOM = sizeof(struct setting_text) + 96 };
    size_t room = TEXT_ROOM;
    for (int i = 0; s && config_setting_is_aggregate(s) && i < config_setting_length(s); i++)
        room += room_for_texts(config_setting_get_elem(s, (unsigned)i));
    return room;
}

int host_new(const struct job_settings *job, const struct host_services *services, struct host **out,
             struct err *err)
{
    struct host *h = calloc(1, sizeof *h);
    if (!h || !(h->call = arena_new(4096)) || !(h->life = arena_new(room_for_texts(job->own)))) {
        host_free(h);
        return err_set(err, ERR_NOMEM, "job %s: out of memory", job->name);
    }
    h->job = job;
    h->services = services;
    h->api = (struct prescient_host){
        .size = sizeof h->api,
        .abi = PRESCIENT_ABI,
        .impl = h,
        .job = job->name,
        .error = host_error,
        .log = host_log,
        .setting = host_setting,
        .setting_count = host_setting_count,
        .setting_duration = host_setting_duration,
        .query = host_query,
        .dialect = host_dialect,
        .idempotency_key = host_idempotency_key,
        .emit = host_emit,
        .enqueue = host_enqueue,
        .resolve = host_resolve,
        .document = host_document,
        .field = host_field,
        .answer_json = host_answer_json,
        .answered = host_answered,
        .timeout_ms = job->timeout_us / 1000,
        .batch_timeout_ms = job->batch_timeout_us / 1000,
        .json_member = host_json_member,
        .batch_most = host_take_batch_most,
        .stopping = host_stopping,
        .dry = host_dry,
        .hide = host_hide,
        .broken = host_broken,
        .enqueue_check = host_enqueue_check,
    };
    *out = h;
    return 0;
}

void host_free(struct host *h)
{
    if (!h)
        return;
    asked_release(&h->asked);
    arena_free(h->call);
    arena_free(h->life);
    free(h);
}

const struct prescient_host *host_api(const struct host *h)
{
    return &h->api;
}

int host_batch_most(const struct host *h, int n)
{
    return h->batch_most > 0 && h->batch_most < n ? h->batch_most : n;
}

void host_begin(struct host *h, int64_t deadline_us)
{
    h->deadline_us = deadline_us;
    h->is_broken = false;
    if (arena_used(h->call))
        arena_reset(h->call);
}

int host_end_open(struct host *h, bool only_misspelt, struct err *err)
{
    char why[400];
    h->is_open = true;
    bool found = asked_finds_unknown(&h->asked, h->job->own, only_misspelt, why, sizeof why);
    asked_release(&h->asked);
    return found ? err_set(err, ERR_SETTINGS, "%s", why) : 0;
}

bool host_had_no_answer(const struct host *h)
{
    return h->err.code == ERR_LOST || h->err.code == ERR_BUSY;
}
