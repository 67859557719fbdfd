/* metrics.c - see metrics.h. */
#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/utf8.h"

#define PREFIX "prescient_"

/* What there is no room for, or no name. This pointer is the only one to such a name. */
static const char other[] = "other";

/* Those that have a report's rows are written in this order; the rest is written by others. */
const struct metric metrics_table[] = {
    { "checks_ended", METRIC_COUNTER, NULL, { "job", "outcome" }, "ended",
      "Checks that engines have ended, by how they ended; those that were resolved are not counted." },
    { "runs", METRIC_COUNTER, NULL, { "job", "outcome" }, "run", "Runs of checks, by how they ended." },
    { "run_duration_seconds", METRIC_HISTOGRAM, "seconds", { "job" }, "run", "How long runs took." },
    { "run_lateness_seconds", METRIC_HISTOGRAM, "seconds", { "job" }, "run",
      "How long after their slots runs began." },
    { "checks_waiting", METRIC_GAUGE, NULL, { NULL }, "checks_waiting",
      "Checks that wait, paused ones, too; many are estimated." },
    { "checks_overdue", METRIC_GAUGE, NULL, { "job" }, "checks_overdue",
      "Checks that wait in slots that are over, among the oldest 10000." },
    { "checks_paused", METRIC_GAUGE, NULL, { NULL }, "checks_paused",
      "Checks that wait until they are resumed, up to 10000." },
    { "backlog_age_seconds", METRIC_GAUGE, "seconds", { NULL }, "backlog_age_seconds",
      "How long ago the oldest slot began that still holds checks; 0 if there is none." },
    { "slots_missed", METRIC_COUNTER, NULL, { NULL }, "missed_slot",
      "Slots with checks in which no pass had begun a slot length after their beginning, counted when one "
      "began." },
    { "slot_length_seconds", METRIC_GAUGE, "seconds", { NULL }, "slot_length_seconds",
      "The length of a slot." },
    { "last_pass_timestamp_seconds", METRIC_GAUGE, "seconds", { NULL }, "last_pass_timestamp_seconds",
      "When a slot was last opened or run, of the newest slots." },
    { "engine_last_seen_timestamp_seconds", METRIC_GAUGE, "seconds", { "engine" },
      "engine_last_seen_timestamp_seconds",
      "When an engine last noted that it is there: a daemon every minute, others when they end." },
    { "leases", METRIC_GAUGE, NULL, { "state" }, "leases", "Leases of slots, held or expired, up to 10000." },
    { "deliveries", METRIC_COUNTER, NULL, { "listener", "outcome" }, "delivery",
      "Deliveries of events that are over, by how they ended." },
    { "delivery_backlog", METRIC_GAUGE, NULL, { "listener" }, "delivery_backlog",
      "Deliveries of events that wait; more than 10000 are estimated." },
    { "events_withheld_seconds", METRIC_GAUGE, "seconds", { NULL }, "events_withheld_seconds",
      "How old the transaction is that keeps events from their readers; 0 if none does." },
    { "store_errors", METRIC_COUNTER, NULL, { "class" }, "store_error",
      "Calls of engines that the store did not take, and that they try again." },
    { "store_oldest_transaction_seconds", METRIC_GAUGE, "seconds", { NULL },
      "store_oldest_transaction_seconds",
      "Age of the oldest transaction of the server that writes, or is prepared; 0 if there is none." },
    { "store_dead_rows", METRIC_GAUGE, NULL, { "table" }, "store_dead_rows",
      "Dead rows, by the statistics of the server." },
    { "store_bytes", METRIC_GAUGE, "bytes", { "table" }, "store_bytes",
      "Bytes on disk, with indexes; of SQLite those of the whole file." },
    { "store_up", METRIC_GAUGE, NULL, { NULL }, NULL, "Whether the store could be asked." },
    { "build", METRIC_INFO, NULL, { "version" }, NULL, "The program that has written this." },
    { "http_requests", METRIC_COUNTER, NULL, { "route", "code" }, NULL,
      "Requests that this server has answered since it was started." },
    { "http_request_duration_seconds", METRIC_HISTOGRAM, "seconds", { "route" }, NULL,
      "From the head of a request to its answer." },
};

const int metrics = sizeof metrics_table / sizeof *metrics_table;

const struct metric *metric_named(const char *name)
{
    const struct metric *m = metrics_table;
    while (strcmp(m->name, name) != 0)
        m++;
    return m;
}

/* ---- writing ---- */

static void add(struct metrics_text *t, const char *text, size_t len)
{
    t->has_failed = t->has_failed || !bytes_add(t->out, text, len);
}

static void add_text(struct metrics_text *t, const char *text)
{
    add(t, text, strlen(text));
}

/* In OpenMetrics a family is named without what is added to its samples. */
static const char *const suffixes[METRICS_FORMATS][METRIC_INFO + 1] = {
    [METRICS_TEXT] = { [METRIC_COUNTER] = "_total", [METRIC_GAUGE] = "", [METRIC_HISTOGRAM] = "",
                       [METRIC_INFO] = "_info" },
    [METRICS_OPEN] = { [METRIC_COUNTER] = "", [METRIC_GAUGE] = "", [METRIC_HISTOGRAM] = "",
                       [METRIC_INFO] = "" },
};

static const char *const types[METRICS_FORMATS][METRIC_INFO + 1] = {
    [METRICS_TEXT] = { [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge",
                       [METRIC_HISTOGRAM] = "histogram", [METRIC_INFO] = "gauge" },
    [METRICS_OPEN] = { [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge",
                       [METRIC_HISTOGRAM] = "histogram", [METRIC_INFO] = "info" },
};

static void add_head(struct metrics_text *t, const struct metric *m, const char *word, const char *words)
{
    const char *suffix = suffixes[t->format][m->type];
    const char *parts[] = { "# ", word, " ", PREFIX, m->name, suffix, " ", words, "\n" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_text(t, parts[i]);
}

void metrics_begin(struct metrics_text *t, const struct metric *m)
{
    add_head(t, m, "HELP", m->help);
    add_head(t, m, "TYPE", types[t->format][m->type]);
    if (t->format == METRICS_OPEN && m->unit)
        add_head(t, m, "UNIT", m->unit);
}

/* A label's value may hold anything but these three bytes, and is UTF-8. */
static void add_escaped(struct metrics_text *t, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "\\\"\n"), valid = utf8_valid_bytes(text, plain);
        add(t, text, valid);
        text += valid;
        if (valid < plain)
            add_text(t, "?");
        else if (*text == '\n')
            add_text(t, "\\n");
        else if (*text)
            add(t, (const char[]){ '\\', *text }, 2);
        text += *text != '\0';
    }
}

static void add_label(struct metrics_text *t, const char *before, const char *name, const char *value)
{
    add_text(t, before);
    add_text(t, name);
    add_text(t, "=\"");
    add_escaped(t, value);
    add_text(t, "\"");
}

static void add_value(struct metrics_text *t, double value)
{
    char text[40];
    int len = snprintf(text, sizeof text, " %.15g\n", value);
    add(t, text, (size_t)len);
}

/* Counts of histograms are most of the text, and whole numbers are written faster than others. */
static void add_count(struct metrics_text *t, int64_t n)
{
    char text[40];
    int len = snprintf(text, sizeof text, " %" PRId64 "\n", n);
    add(t, text, (size_t)len);
}

/* Name and labels of a sample, without the brace behind them. False: it has no labels. */
static bool add_labels(struct metrics_text *t, const struct metric *m, const char *suffix, const char *first,
                       const char *second)
{
    add_text(t, PREFIX);
    add_text(t, m->name);
    add_text(t, suffix);
    if (first)
        add_label(t, "{", m->labels[0], first);
    if (second)
        add_label(t, first ? "," : "{", m->labels[1], second);
    return first || second;
}

static void add_series(struct metrics_text *t, const struct metric *m, const char *suffix, const char *first,
                       const char *second)
{
    if (add_labels(t, m, suffix, first, second))
        add_text(t, "}");
}

void metrics_sample(struct metrics_text *t, const struct metric *m, const char *first, const char *second,
                    double value)
{
    static const char *const of_sample[] = { [METRIC_COUNTER] = "_total", [METRIC_GAUGE] = "",
                                             [METRIC_INFO] = "_info" };
    add_series(t, m, of_sample[m->type], first, second);
    add_value(t, value);
}

/* The bytes at `at` once more, at the end. */
static void add_again(struct metrics_text *t, size_t at, size_t len)
{
    t->has_failed = t->has_failed || !bytes_reserve(t->out, len);
    if (!t->has_failed)
        add(t, t->out->data + at, len);
}

static const char *text_of_bound(struct metrics_text *t, int i)
{
    char *text = t->bounds[i];
    int64_t us = histogram_bound_us(i);
    if (!*text)
        snprintf(text, sizeof t->bounds[i], "%" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
    return text;
}

/* Its buckets are nearly all of the text, and begin alike. */
void metrics_histogram(struct metrics_text *t, const struct metric *m, const char *first,
                       const int64_t counts[HISTOGRAM_BOUNDS + 1], double sum_s)
{
    size_t at = t->out->len;
    int64_t n = 0;
    add_labels(t, m, "_bucket", first, NULL);
    add_text(t, ",le=\"");
    size_t len = t->out->len - at;
    for (int i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        if (i)
            add_again(t, at, len);
        add_text(t, i < HISTOGRAM_BOUNDS ? text_of_bound(t, i) : "+Inf");
        add_text(t, "\"}");
        n += counts[i];
        add_count(t, n);
    }
    add_series(t, m, "_sum", first, NULL);
    add_value(t, sum_s);
    add_series(t, m, "_count", first, NULL);
    add_count(t, n);
}

void metrics_end(struct metrics_text *t)
{
    if (t->format == METRICS_OPEN)
        add_text(t, "# EOF\n");
}

/* ---- the rows of the report ---- */

/* Its columns, in their order. */
enum column { WHAT, NAME, OUTCOME, N, TOOK_US, TOOK, LATE_US, LATE, COLUMNS };

static const char *cell_of(const struct store_rows *rows, int row, enum column column)
{
    return rows->cells[row * rows->columns + (int)column];
}

/* Jobs that have series of their own, by name. Text that belongs to the report's rows. */
struct names { const char *all[METRICS_JOBS]; int n; };

/* Where it is among them, or belongs. */
static int place_of(const struct names *jobs, const char *job)
{
    int low = 0, high = jobs->n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (strcmp(jobs->all[middle], job) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *name_or_other(const char *name)
{
    return name && *name && strcmp(name, other) != 0 ? name : other;
}

/* The same pointer for the same series. */
static const char *name_of_job(struct names *jobs, const char *job)
{
    job = name_or_other(job);
    int at = place_of(jobs, job);
    if (at < jobs->n && !strcmp(jobs->all[at], job))
        return jobs->all[at];
    if (job == other || jobs->n == METRICS_JOBS)
        return other;
    memmove(jobs->all + at + 1, jobs->all + at, (size_t)(jobs->n - at) * sizeof *jobs->all);
    jobs->all[at] = job;
    jobs->n++;
    return job;
}

static bool has_jobs(const struct metric *m)
{
    return m->labels[0] && !strcmp(m->labels[0], "job");
}

/* What stands for the name of a row; NULL: the metric has no labels. */
static const char *first_label(const struct metric *m, struct names *jobs, const char *name)
{
    if (!m->labels[0])
        return NULL;
    if (has_jobs(m))
        return name_of_job(jobs, name);
    return name_or_other(name);
}

struct sample { const char *first, *second; double n; };

/* Of one metric: both have a second label, or none has. */
static bool are_one(const struct sample *a, const struct sample *b)
{
    return a->first == b->first && (!a->second || !strcmp(a->second, b->second));
}

/* Those of several names may be one now. */
static void add_sample(struct sample *all, int *n, struct sample s)
{
    for (int i = 0; s.first == other && i < *n; i++)
        if (are_one(&all[i], &s)) {
            all[i].n += s.n;
            return;
        }
    all[(*n)++] = s;
}

static bool is_of(const struct store_rows *rows, int row, const struct metric *m)
{
    const char *what = cell_of(rows, row, WHAT);
    return what && !strcmp(what, m->what);
}

static const char *outcome_of(const struct store_rows *rows, int row)
{
    const char *outcome = cell_of(rows, row, OUTCOME);
    return outcome ? outcome : other;
}

static int read_samples(const struct store_rows *rows, const struct metric *m, struct names *jobs,
                        struct sample *out)
{
    int n = 0;
    for (int r = 0; r < rows->rows; r++) {
        const char *value = is_of(rows, r, m) ? cell_of(rows, r, N) : NULL;
        if (!value)
            continue;
        struct sample s = { .first = first_label(m, jobs, cell_of(rows, r, NAME)),
                            .n = strtod(value, NULL) };
        if (m->labels[1])
            s.second = outcome_of(rows, r);
        add_sample(out, &n, s);
    }
    /* what has never happened is known, too */
    if (!n && m->type == METRIC_COUNTER && !m->labels[0])
        out[n++] = (struct sample){ 0 };
    return n;
}

static void write_samples(struct metrics_text *t, const struct store_rows *rows, const struct metric *m,
                          struct names *jobs, struct sample *samples)
{
    int n = read_samples(rows, m, jobs, samples);
    if (n)
        metrics_begin(t, m);
    for (int i = 0; i < n; i++)
        metrics_sample(t, m, samples[i].first, samples[i].second, samples[i].n);
}

struct histogram { const char *job; int64_t counts[HISTOGRAM_BOUNDS + 1]; double sum_us; };
enum { HISTOGRAMS = METRICS_JOBS + 1 };

static struct histogram *histogram_of(struct histogram *all, int *n, const char *job)
{
    for (int i = 0; i < *n; i++)
        if (all[i].job == job)
            return &all[i];
    all[*n] = (struct histogram){ .job = job };
    return &all[(*n)++];
}

/* "0,3,1" */
static void add_counts(struct histogram *h, const char *text)
{
    for (int i = 0; i <= HISTOGRAM_BOUNDS && text && *text; i++) {
        char *end;
        h->counts[i] += strtoll(text, &end, 10);
        text = *end == ',' ? end + 1 : NULL;
    }
}

static double number_of(const char *cell)
{
    return cell ? strtod(cell, NULL) : 0;
}

static void write_histograms(struct metrics_text *t, const struct store_rows *rows, const struct metric *m,
                             struct names *jobs, struct histogram *all)
{
    enum column counts = TOOK, sum = TOOK_US;
    int n = 0;
    if (!strcmp(m->name, "run_lateness_seconds")) {
        counts = LATE;
        sum = LATE_US;
    }
    for (int r = 0; r < rows->rows; r++) {
        if (!is_of(rows, r, m))
            continue;
        struct histogram *h = histogram_of(all, &n, first_label(m, jobs, cell_of(rows, r, NAME)));
        add_counts(h, cell_of(rows, r, counts));
        h->sum_us += number_of(cell_of(rows, r, sum));
    }
    if (n)
        metrics_begin(t, m);
    for (int i = 0; i < n; i++)
        metrics_histogram(t, m, all[i].job, all[i].counts, all[i].sum_us / 1e6);
}

/* The names of jobs that are counted for ever come first, so that none of them loses its series. */
static void name_jobs(const struct store_rows *rows, struct names *jobs)
{
    for (int r = 0; r < rows->rows; r++) {
        const char *what = cell_of(rows, r, WHAT), *name = cell_of(rows, r, NAME);
        if (what && name && (!strcmp(what, "run") || !strcmp(what, "ended")))
            name_of_job(jobs, name);
    }
}

static void write_rows(struct metrics_text *t, const struct store_rows *rows, struct arena *a)
{
    struct names *jobs = arena_alloc(a, sizeof *jobs);
    struct sample *samples = arena_alloc(a, ((size_t)rows->rows + 1) * sizeof *samples);
    struct histogram *histograms = arena_alloc(a, HISTOGRAMS * sizeof *histograms);
    t->has_failed = t->has_failed || !jobs || !samples || !histograms;
    if (t->has_failed)
        return;
    jobs->n = 0;
    name_jobs(rows, jobs);
    for (int i = 0; i < metrics; i++) {
        const struct metric *m = &metrics_table[i];
        if (m->what && m->type == METRIC_HISTOGRAM)
            write_histograms(t, rows, m, jobs, histograms);
        else if (m->what)
            write_samples(t, rows, m, jobs, samples);
    }
}

void metrics_of_store(struct metrics_text *t, const struct store_rows *rows, const char *version,
                      struct arena *a)
{
    const struct metric *up = metric_named("store_up"), *build = metric_named("build");
    if (rows && rows->columns == COLUMNS)
        write_rows(t, rows, a);
    metrics_begin(t, up);
    metrics_sample(t, up, NULL, NULL, rows != NULL);
    metrics_begin(t, build);
    metrics_sample(t, build, *version ? version : "unreleased", NULL, 1);
}

/* ---- which format ---- */

/* "q=0", "q=0.000": not that one. */
static bool is_unwanted(const char *parameters)
{
    const char *end = strchr(parameters, ','), *q = strcasestr(parameters, ";q=0");
    if (!q || (end && q > end))
        return false;
    q += sizeof ";q=0" - 1;
    q += strspn(q, ".0");
    return *q < '1' || *q > '9';
}

enum metrics_format metrics_format_wanted(const char *accept)
{
    static const char open[] = "application/openmetrics-text";
    const char *at = accept ? strcasestr(accept, open) : NULL;
    if (!at || is_unwanted(at))
        return METRICS_TEXT;
    return METRICS_OPEN;
}
