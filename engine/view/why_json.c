/* why_json.c - see why_json.h. */
#include "why_json.h"

#include "../base/moment.h"
#include "../rules/slot.h"

/* Adds a member; its value NULL is null. */
static int add(json_t *object, const char *name, const char *text)
{
    return json_object_set_new(object, name, text ? rows_json_text(text) : json_null());
}

/* NULL where there is none. */
static const char *moment_or_null(int64_t at, char out[MOMENT_TEXT])
{
    if (!at || at > MOMENT_MAX)
        return NULL;
    return slot_is_of_pause(at) ? "paused" : moment_format(at, out);
}

static int add_why(json_t *object, const struct why *why)
{
    int rc = add(object, "code", why_word(why->code));
    return rc < 0 ? rc : add(object, "sentence", why->sentence);
}

static json_t *check_json(const struct why_item *item)
{
    char at[MOMENT_TEXT];
    json_t *object = json_object();
    int rc = add(object, "job", item->job);
    rc = rc < 0 ? rc : add_why(object, &item->why);
    rc = rc < 0 ? rc : add(object, "at", moment_or_null(item->at, at));
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *event_json(const struct why_event_item *item)
{
    char at[MOMENT_TEXT];
    json_t *object = json_object();
    int rc = add(object, "event", item->event);
    rc = rc < 0 ? rc : add(object, "job", item->job);
    rc = rc < 0 ? rc : add(object, "listener", item->listener);
    rc = rc < 0 ? rc : add(object, "emitted_at", moment_format_us(item->emitted_at_us, at));
    rc = rc < 0 ? rc : add_why(object, &item->why);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *why_json(const char *entity, const char *key, const struct why_answer *answer)
{
    json_t *checks = json_array(), *events = json_array(), *object = json_object();
    int rc = add(object, "entity", entity);
    rc = rc < 0 ? rc : add(object, "key", key);
    for (int i = 0; i < answer->nitems && rc == 0; i++)
        rc = json_array_append_new(checks, check_json(&answer->items[i]));
    for (int i = 0; i < answer->nevents && rc == 0; i++)
        rc = json_array_append_new(events, event_json(&answer->events[i]));
    rc = rc < 0 ? rc : json_object_set(object, "checks", checks);
    rc = rc < 0 ? rc : json_object_set(object, "events", events);
    json_decref(checks);
    json_decref(events);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}
