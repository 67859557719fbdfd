/* filter.h - what list, history, runs, slots and passes have in common: which rows, how many, and
 * printing them. */
#ifndef PRESCIENT_FILTER_H
#define PRESCIENT_FILTER_H

#include "args.h"
#include "command.h"
#include "report.h"

#define FILTER_LIMIT 100            /* rows, when no --limit is given */
/* With a limit a search ends after this: checks read where no index helps, and time for rows of the
 * past. */
#define FILTER_LOOK 10000
#define FILTER_LOOK_MS "1000"

/* The options, for the table of a command; their letters are filter_read's. */
#define FILTER_JOB     { "job", 'j', "NAME", "only of this job" }
#define FILTER_OUTCOME { "outcome", 'o', "WORD", "only with this outcome: failed, timeout, ..." }
#define FILTER_FROM    { "from", 'f', "TIME", "only from this time on" }
#define FILTER_SINCE   { "since", 'f', "TIME", "only from this time on" }
#define FILTER_BEFORE  { "before", 'b', "TIME", "only before this time" }
#define FILTER_LIMITED                                                                                       \
    {                                                                                                        \
        "limit", 'l', "N", "at most N (100); 0: all"                                                         \
    }
#define FILTER_WIDE    { "wide", 'w', NULL, "all columns" }
#define FILTER_EXACT   { "exact", 'x', NULL, "count every check, however many there are" }

struct filter {                     /* values as a report takes them; NULL: not given */
    const char *entity, *key, *job, *outcome, *from, *before;
    int64_t limit;                  /* 0: all */
    bool wide, exact;
};

/* What the options and the operands [ENTITY [KEY]] choose. Returns 0 or an ERR_. */
int filter_read(struct app *app, const struct args *args, struct filter *out, struct err *err);

/* The limit as a report's parameter: one more than wanted, so that filter_print knows whether
 * there are more. */
const char *filter_limit_param(struct app *app, const struct filter *f);

/* The most rows that a search reads, as a report's parameter; NULL, all, without a limit. */
const char *filter_look_param(struct app *app, const struct filter *f);
/* The most time that it takes, for reports that have such a bound. */
const char *filter_look_ms_param(const struct filter *f);

/* Prints rows, or that there are none. */
void filter_print_rows(struct app *app, const struct filter *f, struct store_rows *rows,
                       const struct report_view *view);

/* Says on stderr that there are more than these rows, and by which option they are shown. */
void filter_tell_more(struct app *app, const struct filter *f, const struct store_rows *rows,
                      const struct report_view *view);

/* Runs the report and prints its rows; a line on stderr follows when there are more than the limit,
 * or when a bounded search ended before it had seen all. Returns an exit code. */
int filter_print(struct app *app, const struct filter *f, const char *report, const char *const *params,
                 int nparams, const struct report_view *view);

/* The whole of a command that lists rows of the past: reads the options, runs the report, whose
 * parameters are those of history and runs, and prints it. Returns an exit code. */
int filter_print_past(struct app *app, const struct args *args, const char *report,
                      const struct report_view *view);

#endif
