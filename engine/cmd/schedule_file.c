/* schedule_file.c - reads CSV records or libconfig groups into entries; both are checked by the
 * same rules. */
#include "schedule_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/libconfig_guard.h"
#include "../base/nearest.h"
#include "../base/utf8.h"
#include "../rules/check.h"
#include "../rules/field.h"
#include "../rules/recurrence.h"
#include "../view/schedule_rule.h"
#include "app.h"
#include "csv.h"

const struct schedule_column_row schedule_columns[SCHEDULE_COLUMNS] = {
    [SCHEDULE_NAME] = { "name", "name", true },
    [SCHEDULE_ENTITY] = { "entity_name", "entity_name", true },
    [SCHEDULE_KEY] = { "entity_key", "entity_key", true },
    [SCHEDULE_JOB] = { "job_exec", "job_exec", true },
    [SCHEDULE_EVERY] = { "every", "every_s", false },
    [SCHEDULE_CRON] = { "cron", "cron", false },
    [SCHEDULE_ZONE] = { "timezone", "timezone", false },
    [SCHEDULE_MISSED] = { "missed", "missed", false },
    [SCHEDULE_BIAS] = { "bias", "bias", false },
    [SCHEDULE_PAYLOAD] = { "payload", "payload", false },
    [SCHEDULE_CONCURRENCY_KEY] = { "concurrency_key", "concurrency_key", false },
    [SCHEDULE_TENANT] = { "tenant", "tenant", false },
};

#define EXPECTED_COLUMNS                                                                                     \
    "name, entity_name, entity_key, job_exec, every, cron, timezone, missed, bias, payload, "                \
    "concurrency_key or tenant"

/* The column of that name; SCHEDULE_COLUMNS: there is none, and *hint has the one that was probably
 * meant, or what there is. */
static enum schedule_column column_named(const char *name, char hint[256])
{
    struct nearest n = { .wanted = name };
    int c = 0;
    while (c < SCHEDULE_COLUMNS && strcmp(schedule_columns[c].name, name) != 0)
        nearest_look(&n, schedule_columns[c++].name);
    const char *meant = nearest_word(&n);
    if (c == SCHEDULE_COLUMNS && meant)
        snprintf(hint, 256, "did you mean %s?", meant);
    else if (c == SCHEDULE_COLUMNS)
        snprintf(hint, 256, "expected " EXPECTED_COLUMNS);
    return (enum schedule_column)c;
}

/* ---- entries ---- */

struct schedule_entry *schedule_entries_add(struct schedule_entries *e)
{
    if (e->n == e->room) {
        int room = e->room ? 2 * e->room : 64;
        struct schedule_entry *all = realloc(e->all, (size_t)room * sizeof *all);
        if (!all)
            return NULL;
        e->all = all;
        e->room = room;
    }
    e->all[e->n] = (struct schedule_entry){ 0 };
    return &e->all[e->n++];
}

void schedule_entries_free(struct schedule_entries *e)
{
    free(e->all);
    *e = (struct schedule_entries){ 0 };
}

int schedule_entry_by_name(const void *a, const void *b)
{
    const struct schedule_entry *x = a, *y = b;
    return strcmp(x->v[SCHEDULE_NAME], y->v[SCHEDULE_NAME]);
}

/* Without entries there is no array, and qsort wants one. */
void schedule_entries_sort(struct schedule_entries *e)
{
    if (e->n > 0)
        qsort(e->all, (size_t)e->n, sizeof *e->all, schedule_entry_by_name);
}

int schedule_entry_compare_checks(const struct schedule_entry *a, const struct schedule_entry *b)
{
    int order = 0;
    for (int c = SCHEDULE_ENTITY; order == 0 && c <= SCHEDULE_JOB; c++)
        order = strcmp(a->v[c], b->v[c]);
    return order;
}

static int by_check(const void *a, const void *b)
{
    return schedule_entry_compare_checks(*(const struct schedule_entry *const *)a,
                                         *(const struct schedule_entry *const *)b);
}

/* ---- one entry: its values as they are stored ---- */

static int check_names(const struct schedule_entry *e, struct err *err)
{
    static int (*const checks[])(const char *, const char *, struct err *) = {
        [SCHEDULE_NAME] = field_check_name,
        [SCHEDULE_ENTITY] = field_check_entity,
        [SCHEDULE_KEY] = field_check_name,
        [SCHEDULE_JOB] = field_check_job,
    };
    for (int c = SCHEDULE_NAME; c <= SCHEDULE_JOB; c++) {
        if (!e->v[c])
            return err_set(err, ERR_INPUT, "%s is missing", schedule_columns[c].name);
        int rc = checks[c](schedule_columns[c].name, e->v[c], err);
        if (rc < 0)
            return rc;
    }
    const char *name = e->v[SCHEDULE_NAME];
    if (strlen(name) > RECURRENCE_NAME_MAX)
        return err_set(err, ERR_INPUT, "name has %zu bytes, expected at most %d", strlen(name),
                       RECURRENCE_NAME_MAX);
    for (const unsigned char *p = (const unsigned char *)name; *p; p++)
        if (*p < ' ' || *p == 0x7f)
            return err_set(err, ERR_INPUT, "name has a control character, expected none");
    const char *key = e->v[SCHEDULE_CONCURRENCY_KEY];
    int rc = key ? field_check_name("concurrency_key", key, err) : 0;
    if (rc == 0 && e->v[SCHEDULE_TENANT])
        rc = field_check_name("tenant", e->v[SCHEDULE_TENANT], err);
    if (rc < 0 || !e->v[SCHEDULE_PAYLOAD])
        return rc;
    return field_check_payload("payload", e->v[SCHEDULE_PAYLOAD], err);
}

static int check_every(struct app *app, struct schedule_entry *e, struct err *err)
{
    if (e->v[SCHEDULE_ZONE])
        return err_set(err, ERR_INPUT, "a timezone belongs to cron; every counts from the end of a run");
    int rc = schedule_read_every(app->arena, e->v[SCHEDULE_EVERY], &e->v[SCHEDULE_EVERY], err);
    if (rc < 0)
        return rc;
    if (e->v[SCHEDULE_BIAS])
        return schedule_read_bias(app->arena, e->v[SCHEDULE_BIAS], &e->v[SCHEDULE_BIAS], err);
    e->v[SCHEDULE_BIAS] = arena_printf(app->arena, "%d", RECURRENCE_BIAS_DEFAULT);
    return 0;
}

static int check_cron(struct app *app, struct schedule_entry *e, struct err *err)
{
    if (e->v[SCHEDULE_BIAS])
        return err_set(err, ERR_INPUT, "a bias belongs to every; cron has the times themselves");
    if (!e->v[SCHEDULE_ZONE])
        e->v[SCHEDULE_ZONE] = "UTC";
    return schedule_read_cron(app->arena, e->v[SCHEDULE_CRON], e->v[SCHEDULE_ZONE], &e->v[SCHEDULE_CRON],
                              err);
}

static int check_entry(struct app *app, struct schedule_entry *e, struct err *err)
{
    if (!e->v[SCHEDULE_MISSED])
        e->v[SCHEDULE_MISSED] = recurrence_missed_word(RECURRENCE_RUN_ONCE);
    int rc = check_names(e, err);
    if (rc < 0)
        return rc;
    if (!e->v[SCHEDULE_EVERY] == !e->v[SCHEDULE_CRON])
        return err_set(err, ERR_INPUT, "expected either every or cron, and only one of them");
    rc = schedule_check_missed(e->v[SCHEDULE_MISSED], e->v[SCHEDULE_EVERY] != NULL, err);
    if (rc < 0)
        return rc;
    return e->v[SCHEDULE_EVERY] ? check_every(app, e, err) : check_cron(app, e, err);
}

/* ---- CSV ---- */

static const struct csv_limits limits = { .field_bytes = 2 * CHECK_PAYLOAD_MAX,
                                          .record_bytes = 4 * CHECK_PAYLOAD_MAX,
                                          .fields = 64 };

static ssize_t read_bytes(void *ctx, char *buf, size_t size, struct err *err)
{
    ssize_t n = read(*(int *)ctx, buf, size);
    return n >= 0 ? n : err_sys(err, ERR_INPUT, "cannot be read");
}

static int read_header(const struct csv_record *r, int at[SCHEDULE_COLUMNS], struct err *err)
{
    char hint[256];
    for (int c = 0; c < SCHEDULE_COLUMNS; c++)
        at[c] = -1;
    for (int i = 0; i < r->n; i++) {
        enum schedule_column c = column_named(r->fields[i], hint);
        if (c == SCHEDULE_COLUMNS)
            return err_set(err, ERR_INPUT, "line %" PRId64 ": unknown column \"%.*s\"; %s", r->line,
                           UTF8_SHOWN(r->fields[i]), hint);
        if (at[c] >= 0)
            return err_set(err, ERR_INPUT, "line %" PRId64 ": column %s is there twice", r->line,
                           schedule_columns[c].name);
        at[c] = i;
    }
    for (int c = 0; c < SCHEDULE_COLUMNS; c++)
        if (schedule_columns[c].required && at[c] < 0)
            return err_set(err, ERR_INPUT, "line %" PRId64 ": column %s is missing", r->line,
                           schedule_columns[c].name);
    return r->n;
}

static int read_record(struct app *app, const struct csv_record *r, const int at[SCHEDULE_COLUMNS],
                       int nfields, struct schedule_entry *e, struct err *err)
{
    if (r->n != nfields)
        return err_set(err, ERR_INPUT, "found %d fields, expected %d as in the header", r->n, nfields);
    for (int c = 0; c < SCHEDULE_COLUMNS; c++)
        if (at[c] >= 0 && *r->fields[at[c]])
            e->v[c] = arena_strdup(app->arena, r->fields[at[c]]);
    return check_entry(app, e, err);
}

/* 1, or 0 at the end. */
static int next_record(struct csv *csv, struct csv_record *r, struct err *err)
{
    int rc = csv_next(csv, r, err);
    return rc == ERR_DATA ? err_wrap(err, ERR_INPUT, "line %" PRId64, r->line) : rc;
}

static int read_csv(struct app *app, struct csv *csv, struct schedule_entries *out, struct err *err)
{
    struct csv_record r;
    int at[SCHEDULE_COLUMNS];
    int rc = next_record(csv, &r, err);
    if (rc == 0)
        return err_set(err, ERR_INPUT, "the file is empty: expected a line with the names of its columns");
    if (rc < 0)
        return rc;
    int nfields = read_header(&r, at, err);
    if (nfields < 0)
        return nfields;
    for (rc = next_record(csv, &r, err); rc > 0; rc = next_record(csv, &r, err)) {
        struct schedule_entry *e = schedule_entries_add(out);
        if (e)
            e->place = arena_printf(app->arena, "line %" PRId64, r.line);
        if (!e || !e->place)
            return err_set(err, ERR_NOMEM, "out of memory");
        rc = read_record(app, &r, at, nfields, e, err);
        if (rc < 0)
            return err_wrap(err, rc, "%s", e->place);
    }
    return rc;
}

static int read_csv_file(struct app *app, int fd, const char *name, struct schedule_entries *out,
                         struct err *err)
{
    struct csv *csv = csv_new(read_bytes, &fd, &limits);
    int rc = csv ? read_csv(app, csv, out, err) : err_set(err, ERR_NOMEM, "out of memory");
    csv_free(csv);
    return rc < 0 ? err_wrap(err, rc, "%s", name) : 0;
}

/* ---- libconfig: schedules = ( { name = "..."; ... }, ... ); ---- */

/* Texts stand as they are; so may the numbers of a key or a bias. */
static const char *text_of(struct arena *a, const config_setting_t *node)
{
    switch (config_setting_type(node)) {
    case CONFIG_TYPE_STRING: return arena_strdup(a, config_setting_get_string(node));
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64: return arena_printf(a, "%lld", config_setting_get_int64(node));
    case CONFIG_TYPE_FLOAT: return arena_printf(a, "%.15g", config_setting_get_float(node));
    default: return NULL;
    }
}

static int read_member(struct app *app, const config_setting_t *node, struct schedule_entry *e,
                       struct err *err)
{
    char hint[256];
    const char *name = config_setting_name(node);
    enum schedule_column c = column_named(name, hint);
    if (c == SCHEDULE_COLUMNS)
        return err_set(err, ERR_INPUT, "unknown setting \"%.*s\"; %s", UTF8_SHOWN(name), hint);
    e->v[c] = text_of(app->arena, node);
    if (!e->v[c])
        return err_set(err, ERR_INPUT, "%s: expected a text in quotes", name);
    return 0;
}

static int read_group(struct app *app, const struct libconfig_guard *g, const config_setting_t *node,
                      struct schedule_entries *out, struct err *err)
{
    struct schedule_entry *e = schedule_entries_add(out);
    if (e)
        e->place = libconfig_guard_place(g, (int)config_setting_source_line(node));
    if (!e || !e->place)
        return err_set(err, ERR_NOMEM, "out of memory");
    if (!config_setting_is_group(node))
        return err_set(err, ERR_INPUT, "%s: expected a group, { name = \"...\"; ... }", e->place);
    for (int i = 0; i < config_setting_length(node); i++) {
        const config_setting_t *member = config_setting_get_elem(node, (unsigned)i);
        int rc = read_member(app, member, e, err);
        if (rc < 0)
            return err_wrap(err, rc, "%s",
                            libconfig_guard_place(g, (int)config_setting_source_line(member)));
    }
    int rc = check_entry(app, e, err);
    return rc < 0 ? err_wrap(err, rc, "%s", e->place) : 0;
}

static int read_groups(struct app *app, const struct libconfig_guard *g, const config_t *config,
                       const char *name, struct schedule_entries *out, struct err *err)
{
    const config_setting_t *root = config_root_setting(config), *list = NULL;
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *node = config_setting_get_elem(root, (unsigned)i);
        const char *place = libconfig_guard_place(g, (int)config_setting_source_line(node));
        if (strcmp(config_setting_name(node), "schedules") != 0 || !config_setting_is_list(node))
            return err_set(err, ERR_INPUT,
                           "%s: found \"%s\", expected schedules = ( { name = \"...\"; ... }, ... );", place,
                           config_setting_name(node));
        list = node;
    }
    if (!list)
        return err_set(err, ERR_INPUT,
                       "%s: no schedules, expected schedules = ( { name = \"...\"; ... }, ... ); "
                       "schedules = ( ); removes all",
                       name);
    for (int i = 0; i < config_setting_length(list); i++) {
        int rc = read_group(app, g, config_setting_get_elem(list, (unsigned)i), out, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The whole of it, with a NUL behind it; NULL: out of memory, or the error of a read. */
static char *read_all(int fd, size_t *size, struct err *err)
{
    size_t room = 64 * 1024;
    char *text = malloc(room);
    err_set(err, ERR_NOMEM, "out of memory");
    for (*size = 0; text;) {
        ssize_t n = read_bytes(&fd, text + *size, room - *size - 1, err);
        if (n < 0)
            break;
        *size += (size_t)n;
        text[*size] = '\0';
        if (n == 0)
            return text;
        if (*size + 1 < room)
            continue;
        char *more = realloc(text, room *= 2);
        if (!more)
            break;
        text = more;
    }
    free(text);
    return NULL;
}

static void free_text(char **text) { free(*text); }

static int read_libconfig_file(struct app *app, int fd, const char *name, struct schedule_entries *out,
                               struct err *err)
{
    CLEANUP(libconfig_guard_release) struct libconfig_guard guard = { 0 };
    CLEANUP(config_destroy) config_t config;
    config_init(&config);
    size_t size = 0;
    CLEANUP(free_text) char *text = read_all(fd, &size, err);
    if (!text)
        return err_wrap(err, err->code, "%s", name);
    if (strlen(text) != size)
        return err_set(err, ERR_INPUT, "%s: found a zero byte, expected text", name);
    int rc = libconfig_guard_read_text(&guard, app->arena, text, name, err);
    if (rc == 0)
        rc = libconfig_guard_parse(&guard, &config, err);
    if (rc == ERR_SETTINGS)
        return err->code = ERR_INPUT;
    return rc < 0 ? rc : read_groups(app, &guard, &config, name, out, err);
}

/* ---- a file ---- */

enum { CSV, LIBCONFIG, FORMATS };
const char *const schedule_file_formats[] = { [CSV] = "csv", [LIBCONFIG] = "libconfig", [FORMATS] = NULL };
static int (*const readers[FORMATS])(struct app *app, int fd, const char *name, struct schedule_entries *out,
                                     struct err *err) = {
    [CSV] = read_csv_file, [LIBCONFIG] = read_libconfig_file,
};

static int format_of(const char *file, const char *format)
{
    const char *dot = strrchr(file, '.');
    if (format)
        return !strcmp(format, schedule_file_formats[LIBCONFIG]) ? LIBCONFIG : CSV;
    return dot && (!strcmp(dot, ".cfg") || !strcmp(dot, ".conf")) ? LIBCONFIG : CSV;
}

static void free_pointers(const struct schedule_entry ***p) { free(*p); }

static int refuse_twins(struct schedule_entries *out, struct err *err)
{
    CLEANUP(free_pointers) const struct schedule_entry **sorted = NULL;
    sorted = malloc((size_t)(out->n + 1) * sizeof *sorted);
    if (!sorted)
        return err_set(err, ERR_NOMEM, "out of memory");
    for (int i = 0; i < out->n; i++)
        sorted[i] = &out->all[i];
    for (int i = 1; i < out->n; i++)
        if (!schedule_entry_by_name(&out->all[i - 1], &out->all[i]))
            return err_set(err, ERR_INPUT, "%s and %s have the same name", out->all[i - 1].place,
                           out->all[i].place);
    qsort(sorted, (size_t)out->n, sizeof *sorted, by_check);
    for (int i = 1; i < out->n; i++)
        if (!by_check(&sorted[i - 1], &sorted[i]))
            return err_set(err, ERR_INPUT, "%s and %s are of the same check, and a check has one schedule",
                           sorted[i - 1]->place, sorted[i]->place);
    return 0;
}

int schedule_file_read(struct app *app, const char *file, const char *format, struct schedule_entries *out,
                       struct err *err)
{
    bool is_stdin = !strcmp(file, "-");
    const char *name = is_stdin ? "stdin" : file;
    int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_sys(err, ERR_INPUT, "%s", file);
    int rc = readers[format_of(file, format)](app, fd, name, out, err);
    if (!is_stdin)
        close(fd);
    if (rc < 0)
        return rc;
    schedule_entries_sort(out);
    rc = refuse_twins(out, err);
    return rc < 0 ? err_wrap(err, rc, "%s", name) : 0;
}
