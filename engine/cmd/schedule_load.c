/* schedule_load.c - compares a file with what is there, and writes the difference: what goes is
 * removed first, then what takes over checks of others, in one transaction, then the rest in the
 * order of names, a page a transaction. */
#include "schedule_load.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/json_dump.h"
#include "../view/rows.h"
#include "../view/schedule_rule.h"
#include "app.h"
#include "report.h"
#include "schedule_file.h"
#include "text.h"
#include "unknown_job.h"

#define PAGE_FIRST 100
#define PAGE_LEAST 10
#define PAGE_MOST 1000
#define PAGE_QUICK_US 500000
#define PAGE_SLOW_US 2000000
#define PAGE_BYTES (4u << 20)           /* of payloads */
#define TOLD_MAX 10                     /* schedules whose every slots cannot keep */

typedef const struct schedule_entry *entry;

/* A schedule that is new (was NULL) or differs. */
struct change {
    entry was, is;
    bool is_bound;      /* takes over a check that another change gives up, or gives up such a one */
};

struct load {
    struct app *app;
    bool dry_run;
    struct schedule_entries wanted, stored;     /* each in the order of names */
    entry *by_check;                            /* what is stored, in the order of checks */
    struct change *changes;                     /* in the order of names */
    int n;
    int page;                                   /* entries of the next page */
    int off;                                    /* of the file, and switched off in the store */
    json_t *told;                               /* what was written, one after the other; NULL: text */
    int counts[3];                              /* of what was written, by enum deed */
};

enum deed { ADDED, CHANGED, REMOVED };
static const struct { char sign; const char *word; } deeds[] = {
    [ADDED] = { '+', "added" }, [CHANGED] = { '~', "changed" }, [REMOVED] = { '-', "removed" }
};

int schedule_load_next_page(int entries, int64_t took_us)
{
    if (took_us > PAGE_SLOW_US)
        return entries / 2 > PAGE_LEAST ? entries / 2 : PAGE_LEAST;
    if (took_us > PAGE_QUICK_US)
        return entries;
    return entries * 2 < PAGE_MOST ? entries * 2 : PAGE_MOST;
}

static void load_release(struct load *l)
{
    schedule_entries_free(&l->wanted);
    schedule_entries_free(&l->stored);
    free(l->by_check);
    free(l->changes);
    json_decref(l->told);
}

/* ---- what is there ---- */

static int compare_checks(const void *a, const void *b)
{
    return schedule_entry_compare_checks(*(const entry *)a, *(const entry *)b);
}

static entry find(const struct schedule_entries *in, entry e)
{
    return in->n > 0 ? bsearch(e, in->all, (size_t)in->n, sizeof *in->all, schedule_entry_by_name) : NULL;
}

/* A schedule whose payload cannot be seen would look as if it had none: as a change, or as none. */
static int read_rows(struct app *app, struct store_rows *out, struct err *err)
{
    struct store *st = app_store(app, err);
    struct store_report report = STORE_REPORT_INIT;
    report.name = "schedules";
    report.arena = app->arena;
    report.needs_all = true;
    int rc = st ? store_do(st, &report.call) : err->code;
    if (rc < 0 && st)
        *err = report.call.err;
    *out = report.rows;
    return rc;
}

static int read_stored(struct load *l, struct err *err)
{
    struct store_rows rows;
    int rc = read_rows(l->app, &rows, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < rows.rows; i++) {
        struct schedule_entry *e = schedule_entries_add(&l->stored);
        if (!e)
            return err_set(err, ERR_NOMEM, "out of memory");
        for (int c = 0; c < SCHEDULE_COLUMNS; c++)
            e->v[c] = rows_value(&rows, i, schedule_columns[c].stored);
        const char **bias = &e->v[SCHEDULE_BIAS];       /* as the file's is kept */
        if (*bias && (rc = schedule_read_bias(l->app->arena, *bias, bias, err)) < 0)
            return rc;
        const char *is_active = rows_value(&rows, i, "is_active");
        bool is_off = is_active && strchr("f0", *is_active);
        l->off += is_off && find(&l->wanted, e);
    }
    struct schedule_entries *stored = &l->stored;
    schedule_entries_sort(stored);
    l->by_check = malloc((size_t)(stored->n + 1) * sizeof *l->by_check);
    if (!l->by_check)
        return err_set(err, ERR_NOMEM, "out of memory");
    for (int i = 0; i < stored->n; i++)
        l->by_check[i] = &stored->all[i];
    qsort(l->by_check, (size_t)stored->n, sizeof *l->by_check, compare_checks);
    return 0;
}

/* ---- the difference ---- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_same(entry a, entry b)
{
    for (int c = 0; c < SCHEDULE_COLUMNS; c++)
        if (!is_same_text(a->v[c], b->v[c]))
            return false;
    return true;
}

static int change_by_name(const void *a, const void *b)
{
    return schedule_entry_by_name(((const struct change *)a)->is, ((const struct change *)b)->is);
}

/* Two schedules that change places, and longer rings, have no order in which one after the other
 * could be written. */
static void bind(struct load *l, struct change *c)
{
    if (c->was && !schedule_entry_compare_checks(c->was, c->is))
        return;
    entry *holder = bsearch(&c->is, l->by_check, (size_t)l->stored.n, sizeof *l->by_check, compare_checks);
    struct change wanted = { .is = holder ? *holder : NULL };
    struct change *gives = NULL;
    if (holder)
        gives = bsearch(&wanted, l->changes, (size_t)l->n, sizeof *l->changes, change_by_name);
    if (gives)
        c->is_bound = gives->is_bound = true;
}

static int find_changes(struct load *l, struct err *err)
{
    l->changes = calloc((size_t)l->wanted.n + 1, sizeof *l->changes);
    if (!l->changes)
        return err_set(err, ERR_NOMEM, "out of memory");
    for (int i = 0; i < l->wanted.n; i++) {
        entry is = &l->wanted.all[i], was = find(&l->stored, is);
        if (!was || !is_same(was, is))
            l->changes[l->n++] = (struct change){ .was = was, .is = is };
    }
    for (int i = 0; i < l->n; i++)
        bind(l, &l->changes[i]);
    return 0;
}

/* ---- what is printed ---- */

static void print_name(struct app *app, enum deed deed, const char *name)
{
    fprintf(app->out, "%c ", deeds[deed].sign);
    text_put(app->out, name, 0);
}

/* Of a value as the file has it. */
static const char *shown(struct app *app, entry e, int column)
{
    return column == SCHEDULE_BIAS ? schedule_bias_text(app->arena, e->v[column]) : e->v[column];
}

/* "~ NAME: every 300 -> 600, missed run_once -> skip" */
static void print_change(struct app *app, const struct change *change)
{
    print_name(app, change->was ? CHANGED : ADDED, change->is->v[SCHEDULE_NAME]);
    int n = 0;
    for (int c = SCHEDULE_ENTITY; change->was && c < SCHEDULE_COLUMNS; c++) {
        if (is_same_text(change->was->v[c], change->is->v[c]))
            continue;
        const char *was = shown(app, change->was, c), *is = shown(app, change->is, c);
        fprintf(app->out, "%s %s ", n++ ? "," : ":", schedule_columns[c].name);
        text_put(app->out, was ? was : "none", 0);
        fputs(" -> ", app->out);
        text_put(app->out, is ? is : "none", 0);
    }
    fputc('\n', app->out);
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

/* {"every": {"was": "300", "is": "600"}}: what differs, in the words of the file. */
static json_t *fields_of(struct app *app, const struct change *change)
{
    json_t *fields = report_made(app, json_object());
    for (int c = SCHEDULE_ENTITY; c < SCHEDULE_COLUMNS; c++) {
        if (is_same_text(change->was->v[c], change->is->v[c]))
            continue;
        json_t *field = json_pack("{s:o, s:o}", "was", text_or_null(shown(app, change->was, c)), "is",
                                  text_or_null(shown(app, change->is, c)));
        report_added(app, json_object_set_new(fields, schedule_columns[c].name, field));
    }
    return fields;
}

/* `change` NULL: it was removed. */
static void tell_written(struct load *l, const char *name, const struct change *change)
{
    enum deed deed = REMOVED;
    if (change)
        deed = change->was ? CHANGED : ADDED;
    l->counts[deed]++;
    if (l->told) {
        json_t *row = report_made(l->app, json_pack("{s:s, s:s}", "name", name, "change", deeds[deed].word));
        if (deed == CHANGED)
            report_added(l->app, json_object_set_new(row, "fields", fields_of(l->app, change)));
        report_added(l->app, json_array_append_new(l->told, row));
    } else if (change) {
        print_change(l->app, change);
    } else {
        print_name(l->app, REMOVED, name);
        fputc('\n', l->app->out);
    }
}

/* What was written before an error is told with it, as it is in text. */
static void tell_all_written(struct load *l, bool is_complete)
{
    if (!l->told)
        return;
    json_t *all = json_pack("{s:b, s:b, s:i, s:i, s:i, s:i, s:i, s:O}", "is_dry_run", l->dry_run,
                            "is_complete", is_complete, "added", l->counts[ADDED], "changed",
                            l->counts[CHANGED], "removed", l->counts[REMOVED], "kept", l->wanted.n - l->n,
                            "off", l->off, "changes", l->told);
    report_print_object(l->app, all);
}

/* Each `every` that is new, and that slots cannot keep. */
static void tell_becomes(struct load *l)
{
    int told = 0;
    for (int i = 0; i < l->n; i++) {
        entry was = l->changes[i].was, is = l->changes[i].is;
        bool is_new = !was || !is_same_text(was->v[SCHEDULE_EVERY], is->v[SCHEDULE_EVERY]) ||
                      !is_same_text(was->v[SCHEDULE_BIAS], is->v[SCHEDULE_BIAS]);
        const char *words = schedule_becomes(l->app->arena, store_slot_length_s(l->app->store),
                                             is->v[SCHEDULE_EVERY], is->v[SCHEDULE_BIAS]);
        if (is_new && words && told++ < TOLD_MAX)
            app_remark(l->app, "%s: %s", is->place, words);
    }
    if (told > TOLD_MAX)
        app_remark(l->app, "%d more have an every that becomes another one in slots", told - TOLD_MAX);
}

/* Jobs that the settings lack; a dry load says so, too, and files nothing. */
static void tell_jobs(struct load *l)
{
    struct unknown_jobs unknown = { 0 };
    for (int i = 0; i < l->n; i++)
        unknown_jobs_note(&unknown, l->app, l->changes[i].is->v[SCHEDULE_JOB]);
    if (!l->dry_run)
        unknown_jobs_tell(&unknown, l->app);
    for (int i = 0; l->dry_run && i < unknown.n; i++)
        unknown_job_remark(l->app, unknown.all[i].name);
}

/* What the file has and stays as it is: when that is all there is, and what is off. */
static void tell_kept(struct load *l)
{
    if (l->n == 0 && l->stored.n == l->wanted.n)
        app_remark(l->app, "nothing to change: what is there equals the file (schedules: %d)", l->wanted.n);
    if (l->off)
        app_remark(l->app, "of the file, %d stay switched off; prescient schedule on NAME switches one on",
                   l->off);
}

/* ---- writing ---- */

static void decref(json_t **json) { json_decref(*json); }
static void free_text(char **text) { free(*text); }

/* Reports that take JSON and the clock. */
struct call {
    struct app *app;
    const char *report, *json;
};

static int call_once(void *ctx, struct err *err)
{
    struct call *call = ctx;
    struct store_rows rows;
    const char *params[] = { call->json, app_now_param(call->app) };
    int rc = app_rows(call->app, call->report, params, 2, &rows, err);
    return rc < 0 ? rc : 0;
}

/* Written twice it is the same, so a lost connection is no reason to give up. */
static int write_json(struct load *l, const char *report, json_t *json, struct err *err)
{
    CLEANUP(free_text) char *text = json_dump_text(json, JSON_COMPACT);
    if (!text)
        return err_set(err, ERR_NOMEM, "out of memory");
    int64_t began_us = clock_mono_us(&clock_system);
    int rc = app_insist(l->app, call_once, &(struct call){ l->app, report, text }, err);
    l->page = schedule_load_next_page(l->page, clock_mono_us(&clock_system) - began_us);
    return rc;
}

static bool add_entry(json_t *array, entry e)
{
    json_t *object = json_object();
    bool is_whole = object;
    for (int c = 0; is_whole && c < SCHEDULE_COLUMNS; c++)
        if (e->v[c])
            is_whole = !json_object_set_new(object, schedule_columns[c].stored, json_string(e->v[c]));
    return !json_array_append_new(array, object) && is_whole;
}

static int put(struct load *l, const struct change *const *page, int n, struct err *err)
{
    CLEANUP(decref) json_t *array = json_array();
    bool is_whole = array;
    for (int i = 0; is_whole && i < n; i++)
        is_whole = add_entry(array, page[i]->is);
    if (!is_whole)
        return err_set(err, ERR_NOMEM, "out of memory");
    return write_json(l, "schedule_put_many", array, err);
}

/* The store refuses a page without a word on which of its entries is wrong: so each by itself. */
static int put_each(struct load *l, const struct change *const *page, int n, struct err *err)
{
    for (int i = 0; i < n; i++) {
        int rc = put(l, &page[i], 1, err);
        if (rc < 0)
            return err_wrap(err, rc, "%s, schedule '%s'; all before it are written", page[i]->is->place,
                            page[i]->is->v[SCHEDULE_NAME]);
        tell_written(l, page[i]->is->v[SCHEDULE_NAME], page[i]);
    }
    return 0;
}

static int put_page(struct load *l, const struct change *const *page, int n, struct err *err)
{
    int rc = l->dry_run || n == 0 ? 0 : put(l, page, n, err);
    if (rc < 0 && page[0]->is_bound && n > 1)
        return err_wrap(err, rc, "%s and %d more, which take over each other's checks", page[0]->is->place,
                        n - 1);
    if (rc < 0 && rc != ERR_LOST && rc != ERR_STOPPED)
        return put_each(l, page, n, err);
    if (rc < 0)
        return err_wrap(err, rc, "%s, schedule '%s', and those behind it", page[0]->is->place,
                        page[0]->is->v[SCHEDULE_NAME]);
    for (int i = 0; i < n; i++)
        tell_written(l, page[i]->is->v[SCHEDULE_NAME], page[i]);
    return 0;
}

static size_t payload_bytes(const struct change *c)
{
    const char *payload = c->is->v[SCHEDULE_PAYLOAD];
    return payload ? strlen(payload) : 0;
}

/* Those that are bound in one page, however many; or the others. */
static int put_changes(struct load *l, bool bound, const struct change **page, struct err *err)
{
    size_t bytes = 0;
    int n = 0;
    for (int i = 0; i < l->n; i++) {
        const struct change *c = &l->changes[i];
        if (c->is_bound != bound)
            continue;
        page[n++] = c;
        bytes += payload_bytes(c);
        bool is_full = n >= l->page || bytes > PAGE_BYTES;
        if (bound || !is_full)
            continue;
        int rc = put_page(l, page, n, err);
        if (rc < 0)
            return rc;
        bytes = 0;
        n = 0;
    }
    return put_page(l, page, n, err);
}

static int put_all(struct load *l, struct err *err)
{
    const struct change **page = malloc(((size_t)l->n + 1) * sizeof *page);
    if (!page)
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = put_changes(l, true, page, err);
    if (rc == 0)
        rc = put_changes(l, false, page, err);
    free(page);
    return rc;
}

static int remove_page(struct load *l, json_t *names, struct err *err)
{
    bool is_written = !l->dry_run && json_array_size(names);
    int rc = is_written ? write_json(l, "schedule_remove_many", names, err) : 0;
    if (rc < 0)
        return err_wrap(err, rc, "removing '%s' and those behind it",
                        json_string_value(json_array_get(names, 0)));
    for (size_t i = 0; i < json_array_size(names); i++)
        tell_written(l, json_string_value(json_array_get(names, i)), NULL);
    json_array_clear(names);
    return 0;
}

/* What goes is removed before what comes: its check may pass to another name. */
static int remove_others(struct load *l, struct err *err)
{
    CLEANUP(decref) json_t *names = json_array();
    for (int i = 0; i < l->stored.n; i++) {
        entry e = &l->stored.all[i];
        if (find(&l->wanted, e))
            continue;
        if (!names || json_array_append_new(names, json_string(e->v[SCHEDULE_NAME])))
            return err_set(err, ERR_NOMEM, "out of memory");
        int rc = json_array_size(names) >= (size_t)l->page ? remove_page(l, names, err) : 0;
        if (rc < 0)
            return rc;
    }
    return remove_page(l, names, err);
}

static int write_all(struct load *l, struct err *err)
{
    int rc = remove_others(l, err);
    if (rc == 0)
        rc = put_all(l, err);
    tell_all_written(l, rc == 0);
    return rc;
}

int schedule_load(struct app *app, const struct schedule_load *what, struct err *err)
{
    CLEANUP(load_release) struct load l = { .app = app, .dry_run = what->dry_run, .page = PAGE_FIRST };
    int rc = schedule_file_read(app, what->file, what->format, &l.wanted, err);
    if (rc < 0)
        return rc;
    rc = read_stored(&l, err);
    if (rc < 0)
        return rc;
    rc = find_changes(&l, err);
    if (rc < 0)
        return rc;
    if (app->json)
        l.told = report_made(app, json_array());
    tell_becomes(&l);
    tell_jobs(&l);
    tell_kept(&l);
    return write_all(&l, err);
}
