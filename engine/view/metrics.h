/* metrics.h - what is measured, as a monitoring system reads it: the text format 0.0.4 of
 * Prometheus, or OpenMetrics 1.0. Pure: the rows of the report `metrics` come in, text goes out. */
#ifndef PRESCIENT_METRICS_H
#define PRESCIENT_METRICS_H

#include "../base/arena.h"
#include "../base/bytes.h"
#include "../rules/histogram.h"
#include "../store/store_report.h"

enum metrics_format { METRICS_TEXT, METRICS_OPEN, METRICS_FORMATS };
enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

/* The most jobs that have series of their own; those that were noted later are job="other". */
enum { METRICS_JOBS = 200 };

struct metric {
    const char *name;               /* between prescient_ and _total or _info */
    enum metric_type type;
    const char *unit;               /* its last part; NULL: none */
    const char *labels[2];          /* NULL: no more */
    const char *what;               /* the rows of the report that it shows; NULL: who writes it knows */
    const char *help;
};

extern const struct metric metrics_table[];
extern const int metrics;

/* The row of that name; it is there. */
const struct metric *metric_named(const char *name);

/* Text at the end of `out`. */
struct metrics_text {
    struct bytes *out;
    enum metrics_format format;
    bool has_failed;                /* there was no memory for all of it */
    char bounds[HISTOGRAM_BOUNDS][24];      /* of histograms, once one was written; all zero before */
};

/* What the store knows, with store_up and build_info. `rows` NULL: it cannot be asked. */
void metrics_of_store(struct metrics_text *t, const struct store_rows *rows, const char *version,
                      struct arena *a);
/* A family of a metric: its head, then samples of its labels (NULL: it has no second one). */
void metrics_begin(struct metrics_text *t, const struct metric *m);
void metrics_sample(struct metrics_text *t, const struct metric *m, const char *first, const char *second,
                    double value);
/* `counts`: below which bound of histogram_bound_us each lay, and above all of them. */
void metrics_histogram(struct metrics_text *t, const struct metric *m, const char *first,
                       const int64_t counts[HISTOGRAM_BOUNDS + 1], double sum_s);
/* Behind all families. */
void metrics_end(struct metrics_text *t);

/* By the header Accept; NULL: there was none. Only who asks for it gets OpenMetrics. */
enum metrics_format metrics_format_wanted(const char *accept);

#endif
