/* settings_listeners.c - listeners = ( { name = "hook"; events = "order.*"; job = "hook"; } ): they
 * are read, refused with their places, and printed. */
#include "settings_listeners.h"

#include <ctype.h>
#include <string.h>

#include "utf8.h"

/* ---- the rows ---- */

#define NAME_MAX_BYTES 64
#define EVENT_MAX_BYTES 1024        /* what the store takes */
#define AT(member) .offset = offsetof(struct listener_settings, member)
#define COUNT(member) .count = offsetof(struct listener_settings, member)

/* It stands in keys of deliveries, and in front of a slash. */
static bool is_listener_name(const char *text)
{
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("_.-", *text))
            return false;
    return true;
}

/* A name, or the beginning of names and a star. What stands for letters elsewhere would be taken
 * for a letter here, and its listener hear nothing. */
static bool is_pattern(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f || strchr("?[]{}", *text) ||
            (*text == '*' && text[1] != '\0'))
            return false;
    return true;
}

static const char expected_patterns[] =
    "names of events, such as \"order.unshipped\" or [\"order.*\", \"*\"]: a star stands at the end, there "
    "is no other pattern (no ?, [ ] or { }), and at most 1024 bytes in each of at most 64";

static const struct setting_row rows[] = {
    { "name", SETTING_TEXT, AT(name), .min = 1, .max = NAME_MAX_BYTES, .accepts = is_listener_name,
      .expected = "letters, digits, \".\", \"_\" and \"-\"" },
    { "events", SETTING_TEXTS, AT(events), COUNT(nevents), .min = 1, .max = EVENT_MAX_BYTES,
      .accepts = is_pattern, .expected = expected_patterns },
    { "except", SETTING_TEXTS, AT(except), COUNT(nexcept), .min = 1, .max = EVENT_MAX_BYTES,
      .or_zero = true, .accepts = is_pattern, .expected = expected_patterns },
    { "job", SETTING_TEXT, AT(job), .min = 1, .max = 1024, .expected = "the name of a job" },
    { "digest", SETTING_TEXT, AT(digest), .min = 1, .max = 256,
      .expected = "a time such as \"15m\", or \"cron 0 8 * * mon-fri\"" },
    { "timezone", SETTING_TEXT, AT(timezone), .min = 1, .max = 63,
      .expected = "the name of a time zone, such as \"Europe/Amsterdam\"" },
    { .name = NULL },
};

static const struct setting_row *row_named(const char *name)
{
    for (const struct setting_row *row = rows; row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    return NULL;
}

/* ---- one listener ---- */

static const char *place_of(const struct settings_loader *l, const config_setting_t *node)
{
    return libconfig_guard_place(&l->guard, (int)config_setting_source_line(node));
}

static bool is_empty_list(const config_setting_t *node)
{
    return config_setting_is_aggregate(node) && config_setting_length(node) == 0;
}

static int read_member(struct settings_loader *l, const config_setting_t *node,
                       struct listener_settings *listener)
{
    const char *name = config_setting_name(node);
    const struct setting_row *row = row_named(name);
    const struct setting_value value = { .node = node };
    struct arena *a = l->impl->arena;
    if (!row)
        return err_set(l->err, ERR_SETTINGS,
                       "%s: unknown setting \"%.*s\" of a listener: expected name, events, except, job, "
                       "digest or timezone",
                       place_of(l, node), UTF8_SHOWN(name));
    if (row->or_zero && is_empty_list(node))
        return 0;
    char *field = (char *)listener + row->offset;
    int rc = settings_read_value(row, &value, field, (int *)((char *)listener + row->count), a);
    if (rc == ERR_NOMEM)
        return settings_loader_nomem(l);
    if (rc == 0 && !*(const char **)field)
        rc = ERR_SETTINGS;              /* "", by which a setting of the top level is unset */
    if (rc < 0)
        return err_set(l->err, rc, "%s: %s = %s of a listener: expected %s", place_of(l, node), name,
                       settings_found(row, &value, a), settings_expected(row, a));
    return 0;
}

static int refuse_unset(struct settings_loader *l, const config_setting_t *node, const char *name)
{
    return err_set(l->err, ERR_SETTINGS, "%s: a listener without %s: expected %s", place_of(l, node), name,
                   settings_expected(row_named(name), l->impl->arena));
}

static int refuse_job(struct settings_loader *l, const config_setting_t *node,
                      const struct listener_settings *listener)
{
    const char *nearest = settings_nearest_job(l->s, listener->job);
    char hint[256] = ": expected a job of these settings";
    if (nearest)
        snprintf(hint, sizeof hint, "; did you mean \"%.*s\"?", UTF8_SHOWN(nearest));
    return err_set(l->err, ERR_SETTINGS, "%s: a listener's job is \"%.*s\", and there is no such job%s",
                   place_of(l, node), UTF8_SHOWN(listener->job), hint);
}

/* Without one it has that of its job. */
static int name_it(struct settings_loader *l, const config_setting_t *node,
                   struct listener_settings *listener)
{
    bool is_good = strlen(listener->job) <= NAME_MAX_BYTES && is_listener_name(listener->job);
    if (listener->name)
        return 0;
    listener->name = listener->job;
    if (is_good)
        return 0;
    return err_set(l->err, ERR_SETTINGS,
                   "%s: a listener without name, whose job is called \"%.*s\": expected a name of %s",
                   place_of(l, node), UTF8_SHOWN(listener->job),
                   settings_expected(row_named("name"), l->impl->arena));
}

/* ---- what can never be heard ---- */

static bool has_star(const char *pattern)
{
    return pattern[strlen(pattern) - 1] == '*';
}

/* Whether all that `events` stands for is excepted. */
static bool covers(const char *except, const char *events)
{
    return has_star(except) ? !strncmp(except, events, strlen(except) - 1) : !strcmp(except, events);
}

static bool is_covered(const struct listener_settings *listener, const char *events)
{
    for (int i = 0; i < listener->nexcept; i++)
        if (covers(listener->except[i], events))
            return true;
    return false;
}

static int refuse_unheard(struct settings_loader *l, const config_setting_t *node,
                          const struct listener_settings *listener)
{
    bool is_left = false;
    for (int i = 0; i < listener->nevents; i++) {
        if (!strcmp(listener->events[i], EVENT_DELIVERY_FAILED "*"))
            return err_set(l->err, ERR_SETTINGS,
                           "%s: a listener's events have \"%s\": expected \"" EVENT_DELIVERY_FAILED
                           "\", which is heard only by its full name",
                           place_of(l, node), listener->events[i]);
        is_left = is_left || !is_covered(listener, listener->events[i]);
    }
    if (is_left)
        return 0;
    return err_set(l->err, ERR_SETTINGS,
                   "%s: a listener's except leaves out all that its events name, and nothing is left to "
                   "hear: expected less in except",
                   place_of(l, node));
}

static int check(struct settings_loader *l, const config_setting_t *node, struct listener_settings *listener)
{
    if (!listener->job)
        return refuse_unset(l, node, "job");
    if (!listener->nevents)
        return refuse_unset(l, node, "events");
    if (!settings_job(l->s, listener->job, NULL))
        return refuse_job(l, node, listener);
    int rc = refuse_unheard(l, node, listener);
    if (rc == 0)
        rc = name_it(l, node, listener);
    if (rc < 0)
        return rc;
    for (int i = 0; i < l->s->nlisteners; i++)
        if (!strcmp(l->s->listeners[i].name, listener->name))
            return err_set(l->err, ERR_SETTINGS,
                           "%s: duplicate listener \"%s\", as at %s: expected each name once",
                           place_of(l, node), listener->name, l->s->listeners[i].from);
    return 0;
}

static int read_listener(struct settings_loader *l, const config_setting_t *node,
                         struct listener_settings *listener)
{
    if (!config_setting_is_group(node))
        return err_set(l->err, ERR_SETTINGS,
                       "%s: listeners: expected a group, { events = \"order.*\"; job = \"NAME\"; }",
                       place_of(l, node));
    listener->from = place_of(l, node);
    for (int i = 0; i < config_setting_length(node); i++) {
        int rc = read_member(l, config_setting_get_elem(node, (unsigned)i), listener);
        if (rc < 0)
            return rc;
    }
    return check(l, node, listener);
}

/* ---- all of them ---- */

int settings_listeners_read(struct settings_loader *l)
{
    const config_setting_t *root = config_root_setting(&l->impl->config);
    const config_setting_t *list = config_setting_get_member(root, "listeners");
    if (!list)
        return 0;
    int n = config_setting_is_list(list) ? config_setting_length(list) : LISTENERS_MAX + 1;
    if (n > LISTENERS_MAX)
        return err_set(l->err, ERR_SETTINGS,
                       "%s: listeners: expected a list of at most %d groups, listeners = ( { events = "
                       "\"order.*\"; job = \"NAME\"; } );",
                       place_of(l, list), LISTENERS_MAX);
    l->s->listeners = arena_zalloc(l->impl->arena, (size_t)(n + 1) * sizeof *l->s->listeners);
    if (!l->s->listeners)
        return settings_loader_nomem(l);
    for (int i = 0; i < n; i++) {
        int rc = read_listener(l, config_setting_get_elem(list, (unsigned)i), &l->s->listeners[i]);
        if (rc < 0)
            return rc;
        l->s->nlisteners++;
    }
    return 0;
}

/* ---- printing ---- */

static void put_member(const struct setting_row *row, const struct listener_settings *listener, FILE *out)
{
    const char *base = (const char *)listener;
    int count = row->count ? *(const int *)(base + row->count) : 0;
    if (row->count && !count)
        return;
    if (!row->count && !*(const char *const *)(base + row->offset))
        return;
    fprintf(out, "        %s = ", row->name);
    settings_put_value(row, base + row->offset, count, false, out);
    fputs(";\n", out);
}

void settings_listeners_put(const struct settings *s, bool placed, FILE *out)
{
    if (!s->nlisteners)
        return;
    fputs("listeners = (\n", out);
    for (int i = 0; i < s->nlisteners; i++) {
        if (placed)
            fprintf(out, "    {    # %s\n", s->listeners[i].from);
        else
            fputs("    {\n", out);
        for (const struct setting_row *row = rows; row->name; row++)
            put_member(row, &s->listeners[i], out);
        fputs(i + 1 < s->nlisteners ? "    },\n" : "    }\n", out);
    }
    fputs(");\n", out);
}
