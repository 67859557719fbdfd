/* host.c - the functions behind struct prescient_host: log, settings, queries, effects. */
#include "host.h"

#include <libconfig.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/moment.h"
#include "../rules/effect.h"
#include "../rules/idempotency.h"
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
    if (us % 1000000)
        return refuse(h, "setting '%s': found '%.80s', expected whole seconds", name, text);
    return us / 1000000;
}

/* ---- queries ---- */

static int host_query(const struct prescient_host *api, const char *sql, const struct prescient_value *params,
                      int n, const struct prescient_rows **rows)
{
    struct host *h = self(api);
    if (!h->services->business)
        return refuse(h, "no business database is set; expected `business = \"...\"` in the settings");
    return business_query(h->services->business, sql, params, n, h->deadline_us, rows, &h->err) ? -1 : 0;
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
             SLAB_EFFECTS_MAX, SLAB_ANSWER_BYTES);
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

static int host_resolve(const struct prescient_host *api, struct prescient_answer *answer,
                        const char *entity_name, const char *entity_key, const char *job)
{
    return declare(api, answer, "resolve", &(struct effect){
        .kind = EFFECT_RESOLVE, .entity_name = entity_name, .entity_key = entity_key, .job = job });
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

void host_begin(struct host *h, int64_t deadline_us)
{
    h->deadline_us = deadline_us;
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
