/* hearing.c - see hearing.h. */
#include "hearing.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/json_dump.h"
#include "../rules/bucket.h"
#include "../rules/listener.h"
#include "../rules/terms.h"

enum { ENTITY_KEY_SIZE = LISTENER_NAME_MAX + 1 + IDEMPOTENCY_KEY_SIZE };

/* ---- an event and its listeners ---- */

static int count_hearers(const struct settings *settings, const char *event)
{
    int n = 0;
    for (int i = listeners_next(settings, 0, event); i >= 0; i = listeners_next(settings, i + 1, event))
        n++;
    return n;
}

static struct hearer hearer_of(const struct listener_settings *listener, const char *origin)
{
    char key[ENTITY_KEY_SIZE];
    snprintf(key, sizeof key, "%s/%s", listener->name, origin);
    return (struct hearer){ listener->name, listener->job, bucket_of(DELIVERY_ENTITY, key) };
}

static const char *terms_of(struct arena *a, const struct check *c, const char *event)
{
    /* Not in the arena: a page has thousands of events, and what is printed is a few words each. */
    struct terms terms = { .has_event = true };
    char out[TERMS_MAX + 1];
    struct terms_event *e = &terms.event;
    snprintf(e->type, sizeof e->type, "%s", event);
    snprintf(e->entity_name, sizeof e->entity_name, "%s", c->entity_name);
    snprintf(e->entity_key, sizeof e->entity_key, "%s", c->entity_key);
    snprintf(e->job, sizeof e->job, "%s", c->job_exec);
    e->check_number = c->check_count + INT64_C(1);
    e->failure_count = c->failure_count;
    e->first_check_at = c->first_check_at < 0 ? 0 : c->first_check_at;
    return arena_strdup(a, terms_print(&terms, out));
}

static bool add_hearers(const struct settings *settings, struct arena *a, const struct settlement *s,
                        int place, struct effect *e)
{
    char origin[IDEMPOTENCY_KEY_SIZE];
    int n = count_hearers(settings, e->event);
    if (!n)
        return true;
    bool is_deferral = s->outcome == OUTCOME_DEFERRED;
    check_origin_of_event(s->check, &(struct emission){ e->event, place, is_deferral }, origin);
    struct hearer *hearers = arena_alloc(a, (size_t)n * sizeof *hearers);
    e->origin = arena_strdup(a, origin);
    e->terms = terms_of(a, s->check, e->event);
    if (!hearers || !e->origin || !e->terms)
        return false;
    int i = -1;
    for (e->nhearers = 0; e->nhearers < n; e->nhearers++) {
        i = listeners_next(settings, i + 1, e->event);
        hearers[e->nhearers] = hearer_of(&settings->listeners[i], origin);
    }
    e->hearers = hearers;
    return true;
}

/* ---- a delivery that has failed for good ---- */

static bool has_failed(const struct settlement *s)
{
    return s->ends && s->outcome != OUTCOME_DONE && s->outcome != OUTCOME_RESOLVED;
}

static const char *if_any(const char *text)
{
    return *text ? text : NULL;
}

static char *json_of(const struct check *c, const struct terms_event *e, const struct settlement *s,
                     const char *note)
{
    char id[IDEMPOTENCY_KEY_SIZE];
    struct idempotency of = check_identity(c);
    idempotency_key(&of, id);
    json_t *data = json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s, s:s?, s:I}", "listener", e->listener, "id",
                             id, "event", if_any(e->type), "entity_name", if_any(e->entity_name),
                             "entity_key", if_any(e->entity_key), "outcome", outcome_name(s->outcome), "note",
                             note, "failure_count", (json_int_t)s->failure_count);
    char *text = data ? json_dump_text(data, JSON_COMPACT) : NULL;
    json_decref(data);
    return text;
}

/* What is known of an event without its terms: which listener was to get it. */
static void read_key(const struct check *c, struct terms_event *e)
{
    *e = (struct terms_event){ 0 };
    snprintf(e->listener, sizeof e->listener, "%.*s", (int)strcspn(c->entity_key, "/"), c->entity_key);
}

/* Whether it is a delivery of the very event that tells of a failure: that one's tells nobody, also
 * where the rest of its terms cannot be read. */
static bool is_of_failure(const char *terms, const struct terms_event *e)
{
    static const char begin[] = "event \"" EVENT_DELIVERY_FAILED "\" ";
    return *e->type ? !strcmp(e->type, EVENT_DELIVERY_FAILED) : !strncmp(terms, begin, sizeof begin - 1);
}

/* The effect that tells it: *n is 1. */
static bool failure_to_tell(struct arena *a, bool is_note_good, const struct settlement *s,
                            struct effect *out, int *n)
{
    struct err err;
    struct terms *terms = arena_alloc(a, sizeof *terms);
    if (!terms)
        return false;
    if (terms_parse(s->check->terms, terms, &err) < 0 || !terms->has_event)
        read_key(s->check, &terms->event);
    if (is_of_failure(s->check->terms, &terms->event))
        return true;
    char *json = json_of(s->check, &terms->event, s, is_note_good ? s->note : NULL);
    const char *kept = json ? arena_strdup(a, json) : NULL;
    free(json);
    *out = (struct effect){ .kind = EFFECT_EMIT, .event = EVENT_DELIVERY_FAILED, .json = kept };
    *n = 1;
    return true;
}

static bool add_failure(const struct settings *settings, struct arena *a, bool is_note_good,
                        struct settlement *s)
{
    struct effect *all = arena_alloc(a, (size_t)(s->neffects + 1) * sizeof *all);
    int n = 0;
    if (!all || !failure_to_tell(a, is_note_good, s, &all[s->neffects], &n))
        return false;
    if (n && !add_hearers(settings, a, s, s->neffects, &all[s->neffects]))
        return false;
    if (s->neffects)
        memcpy(all, s->effects, (size_t)s->neffects * sizeof *all);
    s->effects = all;
    s->neffects += n;
    return true;
}

/* ---- of one answer ---- */

static bool is_heard(const struct settings *settings, const struct settlement *s)
{
    for (int i = 0; i < s->neffects; i++)
        if (s->effects[i].kind == EFFECT_EMIT && listeners_next(settings, 0, s->effects[i].event) >= 0)
            return true;
    return false;
}

bool hearing_add(const struct settings *settings, struct arena *arena, bool is_note_good,
                 struct settlement *s)
{
    if (check_is_delivery(s->check))
        return !has_failed(s) || add_failure(settings, arena, is_note_good, s);
    if (!settings->nlisteners || !is_heard(settings, s))
        return true;
    struct effect *all = arena_alloc(arena, (size_t)s->neffects * sizeof *all);
    if (!all)
        return false;
    memcpy(all, s->effects, (size_t)s->neffects * sizeof *all);
    for (int i = 0; i < s->neffects; i++)
        if (all[i].kind == EFFECT_EMIT && !add_hearers(settings, arena, s, i, &all[i]))
            return false;
    s->effects = all;
    return true;
}
