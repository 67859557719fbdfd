/* prescient status - the state of everything on one screen. */
#include <inttypes.h>
#include <string.h>
#include "../base/moment.h"
#include "../base/utf8.h"
#include "app.h"
#include "failing_jobs.h"
#include "filter.h"
#include "put_off.h"
#include "report.h"
#include "runs_by.h"
#include "seen_engines.h"
#include "slow_runs.h"
#include "standing_pauses.h"
#include "telling.h"
#include "waiting_jobs.h"
#include "withheld.h"

static int status_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "by", 'y', "PART", "what runs were like by PART, job, entity or tenant, those that took most first" },
    { "slow", 's', "DURATION", "runs that have been going on for so long; 5s or more" },
    { "since", 'f', "TIME", "with --by: from the hour of TIME on (the last day)" },
    { "limit", 'l', "N", "with --by or --slow: at most N (100); 0: all" },
    FILTER_WIDE,
    { 0 }
};

static const struct option_words values[] = { { "by", runs_by_parts }, { 0 } };

const struct command cmd_status = {
    .name = "status", .group = COMMAND_LOOKING,
    .args = "",
    .help = "show what waits, what is late, and which engines run",
    .more = "With --by: how many runs ended how, how long they took (half of them up to p50, 95 of 100 up to "
            "p95),\nand how late they began. Engines write it down once a minute, so the last one may be "
            "missing.",
    .examples = "prescient status\nprescient status --by job --since -6h\nprescient status --slow 30s",
    .options = options, .words = values,
    .main = status_main,
    .role = "prescient_reader", .only_reads = true,
};

#define PUT_OFF "put_off"           /* reports of their own */
#define UNKNOWN_JOBS "unknown_jobs"
#define PAUSES "pauses"
#define LAST_PASS "last_pass"
#define LAST_DAY "last_day"
#define FAILING_JOBS "failing_jobs"     /* a line each */

static const struct line { const char *label, *column;
} lines[] = {
    { "now", "now_at" },
    { "slot length", "slot_length_s" },
    { "schema version", "schema_version" },
    { "checks waiting", "pending" },
    { "due now", "due" },
    { "overdue", "overdue" },
    { "oldest overdue", "oldest_overdue_at" },
    { "put off", PUT_OFF },
    { "unknown jobs", UNKNOWN_JOBS },
    { "paused", PAUSES },
    { "never due", "never_due" },
    { "next checks", "next_slot_at" },
    { "last pass", LAST_PASS },
    { "failed in a day", LAST_DAY },
    { "leases", "leases" },
    { "slots not closed", "unclosed_slots" },
    { "oldest of them", "oldest_unclosed_at" },
    { "oldest transaction", "oldest_transaction_us" },
    { "prepared ones", "prepared_transactions" },
    { "events withheld", "events_withheld" },
    { "history", "history_rows" },
};

/* Counts that end at a bound, and the columns that have whether they did. */
static const struct bound { const char *column, *flag; } bounds[] = {
    { "pending", "is_pending_at_least" },
    { "due", "is_due_at_least" },
    { "overdue", "is_overdue_at_least" },
    { "unclosed_slots", "is_unclosed_at_least" },
};

/* What follows the value: that it is an estimate, or only a lower bound. */
static const char *remark(const struct store_rows *rows, const char *column)
{
    const char *estimate = rows_value(rows, 0, "is_estimate");
    if (!strcmp(column, "pending") && estimate && strchr("tT1", *estimate))
        return " (estimate)";
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (!strcmp(column, bounds[i].column) && rows_number(rows, 0, bounds[i].flag))
            return " or more";
    return "";
}

/* Its age is visible to some roles only; how many transactions have begun since, to all. */
static const char *oldest_transaction(struct app *app, const struct store_rows *rows)
{
    const char *since = rows_value(rows, 0, "transactions_since"),
               *us = rows_value(rows, 0, "oldest_transaction_us");
    if (!since)
        return NULL;
    const char *age = "its age is not visible to this role";
    if (us)
        age = rows_text(app->arena, CELL_DURATION_US, us);
    return arena_printf(app->arena, "%s, %s transactions ago", age, since);
}

/* By whom, and what ends it. */
static const char *events_withheld(struct app *app, const struct store_rows *rows)
{
    const char *words = withheld_words(app->arena, rows, "");
    const char *advice = rows_value(rows, 0, "withheld_advice");
    if (!words)
        return rows_value(rows, 0, "events_withheld");
    return arena_printf(app->arena, "%s; %s", words, advice ? advice : "");
}

static const char *line_value(struct app *app, const struct store_rows *rows, const char *column)
{
    if (!strcmp(column, "oldest_transaction_us"))
        return oldest_transaction(app, rows);
    if (!strcmp(column, "events_withheld"))
        return events_withheld(app, rows);
    char text[MOMENT_TEXT];
    int c = rows_column(rows, column);
    const char *cell = c < 0 ? NULL : rows->cells[c];
    if (!cell)
        return NULL;
    if (!strcmp(column, "slot_length_s"))
        return arena_strdup(app->arena, duration_format_us(rows_number(rows, 0, column) * 1000000, text));
    return arena_printf(app->arena, "%s%s", telling_cell(app, rows->kinds[c], cell, false),
                        remark(rows, column));
}

struct found {
    struct store_rows status, put_off, pauses, failing;
    struct seen_engines engines;
    struct waiting_jobs waiting_jobs;
    /* that look reads more of the table than the others, and may fail without them */
    const char *why_not;
};

static int look_at_jobs(struct app *app, struct found *f, struct err *err)
{
    int rc = failing_jobs_ask(app, rows_number(&f->status, 0, "now_at"), &f->failing, err);
    if (rc < 0)
        return rc;
    return seen_engines_ask(app, &f->engines, err);
}

static int look(struct app *app, struct found *f, struct err *err)
{
    const char *params[] = { app_now_param(app) };
    int rc = app_rows(app, "status", params, 1, &f->status, err);
    if (rc < 0)
        return rc;
    rc = put_off_ask(app, &f->put_off, err);
    if (rc < 0)
        return rc;
    rc = standing_pauses_ask(app, &f->pauses, err);
    if (rc < 0)
        return rc;
    rc = look_at_jobs(app, f, err);
    if (rc < 0)
        return rc;
    if (waiting_jobs_ask(app, &f->waiting_jobs, err) < 0)
        f->why_not = arena_printf(app->arena, "not known: %s", err->text);
    return 0;
}

static const char *words_of(struct app *app, const struct found *f, const char *column)
{
    if (!strcmp(column, PUT_OFF))
        return put_off_words(app, &f->put_off);
    if (!strcmp(column, UNKNOWN_JOBS))
        return f->why_not ? f->why_not : waiting_jobs_words(app, &f->waiting_jobs);
    if (!strcmp(column, PAUSES))
        return standing_pauses_words(app, &f->pauses);
    if (!strcmp(column, LAST_PASS))
        return seen_engines_last_pass(app, &f->engines);
    if (!strcmp(column, LAST_DAY))
        return seen_engines_day(app, &f->engines);
    return line_value(app, &f->status, column);
}

static void print_json(struct app *app, const struct found *f)
{
    json_t *object = report_made(app, rows_object(&f->status, 0));
    json_t *jobs = f->why_not ? json_null() : waiting_jobs_json(app, &f->waiting_jobs);
    report_added(app, json_object_set_new(object, PUT_OFF, put_off_json(app, &f->put_off)));
    report_added(app, json_object_set_new(object, UNKNOWN_JOBS, jobs));
    report_added(app, json_object_set_new(object, UNKNOWN_JOBS "_is_part",
                                          json_boolean(f->waiting_jobs.is_part)));
    report_added(app, json_object_set_new(object, PAUSES, standing_pauses_json(app, &f->pauses)));
    report_added(app, json_object_set_new(object, "engines", seen_engines_json(app, &f->engines)));
    report_added(app, json_object_set_new(object, "lately", seen_engines_lately_json(app, &f->engines)));
    report_added(app, json_object_set_new(object, FAILING_JOBS, failing_jobs_json(app, &f->failing)));
    report_print_object(app, object);
}

static void print_lines(struct app *app, const struct found *f)
{
    enum { LINES = sizeof lines / sizeof *lines };
    const char *pairs[LINES + SEEN_ENGINES_NAMED + 2 + FAILING_JOBS_MAX][2];
    int n = 0, engines = seen_engines_lines(&f->engines);
    for (; n < LINES; n++) {
        pairs[n][0] = lines[n].label;
        pairs[n][1] = words_of(app, f, lines[n].column);
    }
    for (int r = 0; r < engines || (r == 0 && !engines); r++, n++) {
        pairs[n][0] = "engine";
        pairs[n][1] = engines ? seen_engines_words(app, &f->engines, r) : NULL;
    }
    for (int r = 0; r < f->failing.rows && r < FAILING_JOBS_MAX; r++, n++) {
        pairs[n][0] = "failing job";
        pairs[n][1] = failing_jobs_words(app, &f->failing, r);
    }
    report_print_pairs(app, (const char *const(*)[2])pairs, n);
}

static int status_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct found found = { 0 };
    const char *needs_by = args_last(args, "flw") ? args_name(args, args_last(args, "flw")) : NULL;
    if (args_has(args, 'y') && args_has(args, 's'))
        return app_usage(app, "--by and --slow: expected one of them");
    if (args_has(args, 'y'))
        return runs_by_main(app, args);
    if (args_has(args, 's') && !args_has(args, 'f'))
        return slow_runs_main(app, args);
    if (needs_by)
        return app_usage(app, arena_printf(app->arena, "--%s goes with --by", needs_by));
    if (look(app, &found, &err) < 0)
        return app_fail(app, &err);
    if (app->json) {
        print_json(app, &found);
        return EXIT_WELL;
    }
    print_lines(app, &found);
    return EXIT_WELL;
}
