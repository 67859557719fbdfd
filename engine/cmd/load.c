/* load.c - enqueues the lines of a CSV file. Lines are checked one by one and collected into a
 * chunk, which is one transaction: after a failure all lines before the chunk are written, and none
 * from its first line on. */
#include "load.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/cleanup.h"
#include "../base/moment.h"
#include "../base/when.h"
#include "../base/utf8.h"
#include "../rules/slot.h"
#include "../store/enqueue_check.h"
#include "app.h"
#include "csv.h"
#include "drawing.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"
#include "telling.h"
#include "unknown_job.h"

#define CHUNK_ROWS 10000
#define CHUNK_BYTES (16u << 20)         /* a chunk of large payloads is closed earlier */
#define BAD_LINES_SHOWN 20

enum column { ENTITY, KEY, JOB, AT, PAYLOAD, PRIORITY, WITHIN, CONCURRENCY_KEY, TENANT, COLUMNS };

static const struct { const char *name, *also; bool required; } columns[COLUMNS] = {
    [ENTITY] = { "entity_name", "entity", true },
    [KEY] = { "entity_key", "key", true },
    [JOB] = { "job_exec", "job", true },
    [AT] = { "check_at", "at", true },
    [PAYLOAD] = { "payload", NULL, false },
    [PRIORITY] = { "priority", NULL, false },
    [WITHIN] = { "within", NULL, false },
    [CONCURRENCY_KEY] = { "concurrency_key", NULL, false },
    [TENANT] = { "tenant", NULL, false },
};

static const struct csv_limits limits = { .field_bytes = 2 * CHECK_PAYLOAD_MAX,
                                          .record_bytes = 4 * CHECK_PAYLOAD_MAX,
                                          .fields = 64 };

struct load {
    struct app *app;
    const struct load_options *o;
    const char *file_name; /* or "stdin" */
    int fd;
    int64_t bytes;                  /* read so far */
    struct interrupt interrupt;
    struct progress progress;
    struct csv *csv;
    int at[COLUMNS];                /* a column's place in the record; -1: not in this file */
    int nfields;                    /* of the header */
    int64_t now;
    struct arena *arena;            /* the strings of the chunk */
    struct load_row rows[CHUNK_ROWS];
    int64_t lines[CHUNK_ROWS];      /* where each row begins */
    int n;
    int64_t resume_line; /* the first line that is not written yet; 0: none was read yet */
    int64_t first_line;  /* the one after the header */
    int64_t begin_line;  /* the first one of this load */
    struct load_counts counts;
    int64_t skipped;
    int64_t past;                   /* of the lines that are written: wanted in a slot that has begun */
    struct unknown_jobs unknown;
    struct drawing drawing;
};

/* ---- reading --------------------------------------------------------------------------------- */

static ssize_t source_read(void *ctx, char *buf, size_t size, struct err *err)
{
    struct load *l = ctx;
    if (interrupt_wait_readable(&l->interrupt, l->fd))
        return err_set(err, ERR_STOPPED, "stopped by a signal");
    ssize_t n = read(l->fd, buf, size);
    if (n < 0)
        return err_sys(err, ERR_INPUT, "%s: cannot be read", l->file_name);
    l->bytes += n;
    return n;
}

static int open_file(struct load *l, struct err *err)
{
    struct stat st;
    l->file_name = "stdin";
    l->fd = STDIN_FILENO;
    if (strcmp(l->o->file, "-") != 0) {
        l->file_name = l->o->file;
        l->fd = open(l->o->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (l->fd < 0)
            return err_sys(err, ERR_INPUT, "%s", l->o->file);
    }
    int64_t total = fstat(l->fd, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
    progress_init(&l->progress, l->file_name, total, !l->app->quiet);
    l->csv = csv_new(source_read, l, &limits);
    return l->csv ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

static enum column column_named(const char *name)
{
    enum column c = 0;
    name += strspn(name, " ");
    size_t len = strcspn(name, " ");
    for (; c < COLUMNS; c++) {
        const char *names[] = { columns[c].name, columns[c].also };
        for (int i = 0; i < 2; i++)
            if (names[i] && strlen(names[i]) == len && !strncasecmp(names[i], name, len))
                return c;
    }
    return c;
}

static int read_header(struct load *l, struct err *err)
{
    struct csv_record header;
    int rc = csv_next(l->csv, &header, err);
    if (rc == ERR_DATA)
        return err_wrap(err, ERR_INPUT, "%s:%" PRId64, l->file_name, header.line);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(err, ERR_INPUT, "%s: empty, expected a first line with the names of the columns",
                       l->file_name);
    for (int c = 0; c < COLUMNS; c++)
        l->at[c] = -1;
    for (int i = 0; i < header.n; i++) {
        enum column c = column_named(header.fields[i]);
        if (c == COLUMNS)
            return err_set(err, ERR_INPUT,
                           "%s:%" PRId64 ": found column '%.*s', expected entity_name, entity_key, job_exec, "
                           "check_at, payload, priority, within, concurrency_key or tenant",
                           l->file_name, header.line, UTF8_SHOWN(header.fields[i]));
        if (l->at[c] >= 0)
            return err_set(err, ERR_INPUT, "%s:%" PRId64 ": duplicate column %s", l->file_name, header.line,
                           columns[c].name);
        l->at[c] = i;
    }
    for (int c = 0; c < COLUMNS; c++)
        if (columns[c].required && l->at[c] < 0)
            return err_set(err, ERR_INPUT, "%s:%" PRId64 ": column %s is missing", l->file_name, header.line,
                           columns[c].name);
    l->nfields = header.n;
    l->first_line = csv_line(l->csv);
    return 0;
}

static int skip_to_start(struct load *l, struct err *err)
{
    if (l->o->start_line && l->o->start_line < l->first_line)
        return err_set(err, ERR_INPUT,
                       "--start-line: found %" PRId64 ", expected %" PRId64
                       " or more: the header is before it",
                       l->o->start_line, l->first_line);
    return csv_skip_to(l->csv, l->o->start_line, err);
}

/* ---- one line -------------------------------------------------------------------------------- */

/* The row of a record, with its strings in the arena of the chunk. ERR_INPUT for a bad record. */
static int row_make(struct load *l, const struct csv_record *record, struct load_row *out, struct err *err)
{
    const char *text[COLUMNS] = { 0 };
    if (record->n != l->nfields)
        return err_set(err, ERR_INPUT, "found %d fields, expected %d as in the header", record->n,
                       l->nfields);
    for (int c = 0; c < COLUMNS; c++) {
        if (l->at[c] >= 0) {
            text[c] = arena_strdup(l->arena, record->fields[l->at[c]]);
            if (!text[c])
                return err_set(err, ERR_NOMEM, "out of memory");
        }
    }
    *out = (struct load_row){ .entity_name = text[ENTITY], .entity_key = text[KEY], .job_exec = text[JOB] };
    if (text[PAYLOAD] && *text[PAYLOAD])
        out->payload = text[PAYLOAD];
    if (text[CONCURRENCY_KEY] && *text[CONCURRENCY_KEY])
        out->concurrency_key = text[CONCURRENCY_KEY];
    if (text[TENANT] && *text[TENANT])
        out->tenant = text[TENANT];
    if (when_parse(text[AT], &(struct when){ l->now, l->app->zone, false }, &out->at, err) < 0)
        return err_wrap(err, ERR_INPUT, "check_at");
    int64_t priority = 0;
    if (text[PRIORITY] && *text[PRIORITY]) {
        int rc = args_read_number("priority", text[PRIORITY], ENQUEUE_PRIORITY_MIN, ENQUEUE_PRIORITY_MAX,
                                  &priority, err);
        if (rc < 0)
            return rc;
    }
    out->priority = (int32_t)priority;
    int rc = enqueue_check_row(out, err);
    if (rc < 0 || !text[WITHIN] || !*text[WITHIN])
        return rc;
    return drawing_draw(&l->drawing, l->app, text[WITHIN], l->now, out, err);
}

/* With --skip-bad a bad line is printed and counted; else its error is returned. */
static int skip_bad_line(struct load *l, int64_t line, struct err *err)
{
    if (!l->o->skip_bad)
        return err_wrap(err, ERR_INPUT, "%s:%" PRId64, l->file_name, line);
    progress_clear(&l->progress);
    if (l->skipped < BAD_LINES_SHOWN)
        app_remark(l->app, "%s:%" PRId64 ": %s; skipped", l->file_name, line, err->text);
    else if (l->skipped == BAD_LINES_SHOWN)
        app_remark(l->app, "further bad lines are skipped silently");
    l->skipped++;
    return 0;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

struct flush { struct load *l; int bad; };

static int flush_once(void *ctx, struct err *err)
{
    struct flush *f = ctx;
    struct load *l = f->l;
    struct load_counts counts = { 0 };
    f->bad = -1;
    int rc = store_load(l->app->store, l->rows, l->n, l->o->conflict, l->app->now, &counts, &f->bad, err);
    if (rc < 0)
        return rc;
    l->counts.added += counts.added;
    l->counts.kept += counts.kept;
    l->counts.moved += counts.moved;
    l->counts.replaced += counts.replaced;
    return 0;
}

static void row_remove(struct load *l, int i)
{
    l->n--;
    memmove(l->rows + i, l->rows + i + 1, sizeof *l->rows * (size_t)(l->n - i));
    memmove(l->lines + i, l->lines + i + 1, sizeof *l->lines * (size_t)(l->n - i));
}

static void count_past(struct load *l)
{
    int32_t length_s = store_slot_length_s(l->app->store);
    for (int i = 0; i < l->n; i++)
        l->past += slot_has_passed(l->rows[i].at, l->now, length_s);
}

/* Writes the chunk. A row that only the database refuses is treated like a bad line, and the rest
 * is sent again. */
static int flush(struct load *l, struct err *err)
{
    struct flush f = { .l = l };
    while (l->n > 0) {
        int rc = app_insist(l->app, flush_once, &f, err);
        if (rc >= 0)
            break;
        bool is_one_row = (rc == ERR_DATA || rc == ERR_INPUT) && f.bad >= 0 && f.bad < l->n;
        if (!is_one_row)
            return rc;
        rc = skip_bad_line(l, l->lines[f.bad], err);
        if (rc < 0)
            return rc;
        row_remove(l, f.bad);
    }
    count_past(l);
    for (int i = 0; i < l->n; i++)
        unknown_jobs_note(&l->unknown, l->app, l->rows[i].job_exec);
    l->n = 0;
    l->resume_line = csv_line(l->csv);
    arena_reset(l->arena);
    return 0;
}

static void show(struct load *l)
{
    char detail[64];
    snprintf(detail, sizeof detail, "%" PRId64 " checks",
             l->counts.added + l->counts.kept + l->counts.moved + l->counts.replaced + l->n);
    progress_show(&l->progress, l->bytes, detail);
}

static int load_line(struct load *l, const struct csv_record *record, struct err *err)
{
    int rc = row_make(l, record, &l->rows[l->n], err);
    if (rc == ERR_INPUT)
        return skip_bad_line(l, record->line, err);
    if (rc < 0)
        return rc;
    l->lines[l->n++] = record->line;
    return 0;
}

static int load_lines(struct load *l, struct err *err)
{
    struct csv_record record;
    l->begin_line = l->resume_line = csv_line(l->csv);
    for (;;) {
        int rc = csv_next(l->csv, &record, err);
        if (rc == 0)
            return flush(l, err);
        if (rc == ERR_DATA)
            rc = skip_bad_line(l, record.line, err);
        else if (rc > 0)
            rc = load_line(l, &record, err);
        if (rc < 0)
            return rc;
        if (l->n < CHUNK_ROWS && arena_used(l->arena) < CHUNK_BYTES)
            continue;
        rc = flush(l, err);
        if (rc < 0)
            return rc;
        show(l);
        if (interrupt_came(&l->interrupt))
            return err_set(err, ERR_STOPPED, "stopped by a signal");
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The slot that a check got whose time had passed when the load began. */
static const char *next_slot(const struct load *l)
{
    return telling_moment(l->app, slot_next(l->now, store_slot_length_s(l->app->store)));
}

static void print_json(struct load *l)
{
    const struct load_counts *c = &l->counts;
    report_print_object(l->app, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "added", (json_int_t)c->added,
                                          "kept", (json_int_t)c->kept, "moved", (json_int_t)c->moved,
                                          "replaced", (json_int_t)c->replaced, "skipped",
                                          (json_int_t)l->skipped, "past", (json_int_t)l->past));
}

/* A time that has passed is no mistake, but in bulk it often is one: what an import of old rows
 * wants is a replay. */
static void print_counts(struct load *l)
{
    const struct load_counts *c = &l->counts;
    if (l->app->json) {
        print_json(l);
        return;
    }
    fprintf(l->app->out,
            "%" PRId64 " added, %" PRId64 " kept, %" PRId64 " moved, %" PRId64 " replaced, %" PRId64
            " skipped\n",
            c->added, c->kept, c->moved, c->replaced, l->skipped);
    if (l->past)
        fprintf(l->app->out,
                "%" PRId64 " of them wanted before now: filed under the next slot, %s, unless they were "
                "kept; to look as of then, see --now and prescient replay\n",
                l->past, next_slot(l));
}

static int load_failed(struct load *l, struct err *err)
{
    int code = app_fail(l->app, err);
    if (!l->resume_line)
        return code;
    print_counts(l);
    fflush(l->app->out);
    bool is_refused = err->code != ERR_LOST || err_is_denied(err);
    if (is_refused && l->resume_line == l->begin_line) {
        fputs("prescient enqueue: nothing was written\n", stderr);
        return code;
    }
    if (!is_refused)
        fprintf(stderr,
                "prescient enqueue: it is not known whether lines from %" PRId64
                " on were written; when they are loaded again, checks that are pending are %s\n",
                l->resume_line, strcmp(l->o->conflict, "replace") == 0 ? "replaced" : "kept");
    fprintf(stderr,
            "prescient enqueue: all lines before line %" PRId64
            " are written; continue with --start-line %" PRId64 "\n",
            l->resume_line, l->resume_line);
    return code;
}

static int load_run(struct load *l, struct err *err)
{
    int rc = interrupt_init(&l->interrupt, err);
    if (rc < 0)
        return rc;
    rc = open_file(l, err);
    if (rc < 0)
        return rc;
    rc = read_header(l, err);
    if (rc < 0)
        return rc;
    rc = skip_to_start(l, err);
    if (rc < 0)
        return rc;
    if (!app_store(l->app, err))
        return err->code;
    rc = app_now(l->app, &l->now, err);
    if (rc < 0)
        return rc;
    return load_lines(l, err);
}

static void load_freep(struct load **load)
{
    struct load *l = *load;
    if (!l)
        return;
    progress_clear(&l->progress);
    csv_free(l->csv);
    if (l->fd > STDIN_FILENO)
        close(l->fd);
    interrupt_release(&l->interrupt);
    arena_free(l->arena);
    free(l);
}

int load_csv(struct app *app, const struct load_options *options)
{
    struct err err = { 0 };
    CLEANUP(load_freep) struct load *l = calloc(1, sizeof *l);
    if (l)
        *l = (struct load){
            .app = app, .o = options, .fd = -1, .interrupt.fd = -1, .arena = arena_new(1 << 20)
        };
    if (!l || !l->arena) {
        err_set(&err, ERR_NOMEM, "out of memory");
        return app_fail(app, &err);
    }
    int rc = load_run(l, &err);
    progress_clear(&l->progress);
    unknown_jobs_tell(&l->unknown, app);
    if (rc < 0)
        return load_failed(l, &err);
    print_counts(l);
    return l->skipped ? EXIT_TROUBLE : EXIT_WELL;
}
