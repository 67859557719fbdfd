/* test_metrics.c - what is measured, as text: labels are escaped, jobs are bounded, the two formats
 * differ where they have to. */
#include "../engine/view/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { COLUMNS = 8, ROWS_MAX = 1000 };

static struct arena *arena;
static struct bytes out;
static const char *cells[ROWS_MAX * COLUMNS];
static struct store_rows rows;

static int set_up(void)
{
    static const char *names[COLUMNS] = { "what", "name", "outcome", "n",
                                          "took_us", "took", "late_us", "late" };
    arena = arena_new(0);
    rows = (struct store_rows){ .columns = COLUMNS, .names = names, .cells = cells };
    return arena ? 0 : -1;
}

static int tear_down(void)
{
    bytes_free(&out);
    arena_free(arena);
    return 0;
}

static void begin(void)
{
    rows.rows = 0;
    bytes_take(&out, out.len);
    arena_reset(arena);
}

static const char **next_row(const char *what, const char *name, const char *outcome, const char *n)
{
    const char **row = &cells[rows.rows++ * COLUMNS];
    memset(row, 0, COLUMNS * sizeof *row);
    row[0] = what;
    row[1] = name;
    row[2] = outcome;
    row[3] = n;
    return row;
}

static void has_row(const char *what, const char *name, const char *outcome, const char *n)
{
    next_row(what, name, outcome, n);
}

static void has_runs(const char *job, const char *outcome, const char *n, const char *us, const char *bounds)
{
    const char **row = next_row("run", job, outcome, n);
    row[4] = row[6] = us;
    row[5] = row[7] = bounds;
}

static const char *text_as(enum metrics_format format, const struct store_rows *shown)
{
    struct metrics_text t = { .out = &out, .format = format };
    bytes_take(&out, out.len);
    metrics_of_store(&t, shown, "1.2.3", arena);
    metrics_end(&t);
    CU_ASSERT_FALSE(t.has_failed);
    CU_ASSERT_FATAL(bytes_add(&out, "", 1));
    return out.data;
}

static const char *text(void)
{
    return text_as(METRICS_TEXT, &rows);
}

static bool has(const char *whole, const char *line)
{
    const char *found = strstr(whole, line);
    bool is_there = found && (found == whole || found[-1] == '\n') && found[strlen(line)] == '\n';
    if (!is_there)
        printf("      no line: %s\n", line);
    return is_there;
}

static int count(const char *whole, const char *part)
{
    int n = 0;
    for (const char *at = whole; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

static void a_counter_ends_in_total_in_both_formats(void)
{
    begin();
    has_row("ended", "look", "done", "7");
    CU_ASSERT(has(text(), "# TYPE prescient_checks_ended_total counter"));
    CU_ASSERT(has(text(), "prescient_checks_ended_total{job=\"look\",outcome=\"done\"} 7"));
    const char *open = text_as(METRICS_OPEN, &rows);
    CU_ASSERT(has(open, "# TYPE prescient_checks_ended counter"));
    CU_ASSERT(has(open, "prescient_checks_ended_total{job=\"look\",outcome=\"done\"} 7"));
}

static void openmetrics_has_units_an_info_and_an_end(void)
{
    begin();
    has_row("backlog_age_seconds", NULL, NULL, "1.5");
    const char *open = text_as(METRICS_OPEN, &rows);
    CU_ASSERT(has(open, "# UNIT prescient_backlog_age_seconds seconds"));
    CU_ASSERT(has(open, "prescient_backlog_age_seconds 1.5"));
    CU_ASSERT(has(open, "# TYPE prescient_build info"));
    CU_ASSERT(has(open, "prescient_build_info{version=\"1.2.3\"} 1"));
    CU_ASSERT_STRING_EQUAL(open + strlen(open) - strlen("# EOF\n"), "# EOF\n");
    const char *plain = text();
    CU_ASSERT(has(plain, "# TYPE prescient_build_info gauge"));
    CU_ASSERT_PTR_NULL(strstr(plain, "# UNIT"));
    CU_ASSERT_PTR_NULL(strstr(plain, "# EOF"));
}

static void labels_are_escaped(void)
{
    begin();
    has_row("checks_overdue", "a\"b\\c\nd", NULL, "1");
    CU_ASSERT(has(text(), "prescient_checks_overdue{job=\"a\\\"b\\\\c\\nd\"} 1"));
}

static void what_is_no_utf_8_in_a_label_is_replaced(void)
{
    begin();
    has_row("checks_overdue", "a\xff\xfe" "b\xe2\x82\xac\xff", NULL, "1");
    CU_ASSERT(has(text(), "prescient_checks_overdue{job=\"a??b\xe2\x82\xac?\"} 1"));
}

static void a_histogram_is_cumulative_and_sums_outcomes(void)
{
    begin();
    has_runs("look", "done", "3", "2500", "1,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
    has_runs("look", "failed", "2", "9000000000", "1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1");
    const char *plain = text();
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_bucket{job=\"look\",le=\"0.001024\"} 2"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_bucket{job=\"look\",le=\"0.002048\"} 4"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_bucket{job=\"look\",le=\"4294.967296\"} 4"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_bucket{job=\"look\",le=\"+Inf\"} 5"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_sum{job=\"look\"} 9000.0025"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_count{job=\"look\"} 5"));
    CU_ASSERT(has(plain, "prescient_run_lateness_seconds_count{job=\"look\"} 5"));
    CU_ASSERT(has(plain, "prescient_runs_total{job=\"look\",outcome=\"failed\"} 2"));
}

static void the_job_after_the_two_hundredth_is_other(void)
{
    enum { MORE = 3 };
    static char names[METRICS_JOBS + MORE][20];
    begin();
    for (int i = 0; i < METRICS_JOBS + MORE; i++) {
        snprintf(names[i], sizeof names[i], "job%d", i);
        has_row("ended", names[i], "done", "2");
    }
    has_row("ended", names[METRICS_JOBS], "failed", "5");
    has_row("ended", "", "unknown_job", "1");
    has_row("checks_overdue", "job1", NULL, "4");
    has_row("checks_overdue", "never seen", NULL, "9");
    const char *plain = text();
    CU_ASSERT_EQUAL(count(plain, "prescient_checks_ended_total{"), METRICS_JOBS + 3);
    CU_ASSERT(has(plain, "prescient_checks_ended_total{job=\"job199\",outcome=\"done\"} 2"));
    CU_ASSERT(has(plain, "prescient_checks_ended_total{job=\"other\",outcome=\"done\"} 6"));
    CU_ASSERT(has(plain, "prescient_checks_ended_total{job=\"other\",outcome=\"failed\"} 5"));
    CU_ASSERT(has(plain, "prescient_checks_ended_total{job=\"other\",outcome=\"unknown_job\"} 1"));
    CU_ASSERT(has(plain, "prescient_checks_overdue{job=\"job1\"} 4"));
    CU_ASSERT(has(plain, "prescient_checks_overdue{job=\"other\"} 9"));
}

/* Each series stands there once, or a monitoring system refuses all of them. */
static void what_is_called_other_is_one_with_what_has_no_name(void)
{
    begin();
    has_runs("other", "done", "3", "1000", "3");
    has_runs("", "done", "2", "1000", "2");
    has_row("delivery_backlog", "other", NULL, "4");
    has_row("delivery_backlog", NULL, NULL, "1");
    const char *plain = text();
    CU_ASSERT(has(plain, "prescient_runs_total{job=\"other\",outcome=\"done\"} 5"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_count{job=\"other\"} 5"));
    CU_ASSERT(has(plain, "prescient_delivery_backlog{listener=\"other\"} 5"));
    CU_ASSERT_EQUAL(count(plain, "{job=\"other\",outcome"), 1);
    CU_ASSERT_EQUAL(count(plain, "_count{"), 2);
}

static void each_job_has_its_own_histogram_whatever_their_order(void)
{
    static const char *const jobs[] = { "m", "z", "a", "m2", "a", "z" };
    begin();
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        has_runs(jobs[i], i < 4 ? "done" : "failed", "1", "1000", "1");
    const char *plain = text();
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_bucket{job=\"a\",le=\"+Inf\"} 2"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_bucket{job=\"m\",le=\"0.001024\"} 1"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_bucket{job=\"m2\",le=\"4294.967296\"} 1"));
    CU_ASSERT(has(plain, "prescient_run_duration_seconds_bucket{job=\"z\",le=\"1.048576\"} 2"));
    CU_ASSERT_EQUAL(count(plain, "prescient_run_duration_seconds_bucket{"), 4 * (HISTOGRAM_BOUNDS + 1));
}

/* A job that is overdue now takes no name from one that was counted, whose counter would fall. */
static void jobs_that_are_counted_keep_their_names_whatever_is_overdue(void)
{
    begin();
    has_row("checks_overdue", "new", NULL, "9");
    for (int i = 0; i < METRICS_JOBS; i++) {
        char *name = arena_printf(arena, "job%d", i);
        has_row("ended", name, "done", "2");
    }
    CU_ASSERT(has(text(), "prescient_checks_ended_total{job=\"job199\",outcome=\"done\"} 2"));
    CU_ASSERT(has(text(), "prescient_checks_overdue{job=\"other\"} 9"));
}

static void a_store_that_is_away_has_no_gauges(void)
{
    begin();
    const char *plain = text_as(METRICS_TEXT, NULL);
    CU_ASSERT(has(plain, "prescient_store_up 0"));
    CU_ASSERT(has(plain, "prescient_build_info{version=\"1.2.3\"} 1"));
    CU_ASSERT_EQUAL(count(plain, "# TYPE "), 2);
}

static void what_is_not_known_has_no_line_and_what_never_happened_is_nothing(void)
{
    begin();
    has_row("events_withheld_seconds", NULL, NULL, NULL);
    const char *plain = text();
    CU_ASSERT_PTR_NULL(strstr(plain, "prescient_events_withheld_seconds"));
    CU_ASSERT(has(plain, "prescient_slots_missed_total 0"));
    CU_ASSERT(has(plain, "prescient_store_up 1"));
}

static void large_numbers_are_written_whole(void)
{
    begin();
    has_row("checks_waiting", NULL, NULL, "123456789012345");
    has_row("last_pass_timestamp_seconds", NULL, NULL, "1772370900.25");
    CU_ASSERT(has(text(), "prescient_checks_waiting 123456789012345"));
    CU_ASSERT(has(text(), "prescient_last_pass_timestamp_seconds 1772370900.25"));
    has_runs("look", "done", "1", "1", "9007199254740993");
    CU_ASSERT(has(text(), "prescient_run_duration_seconds_count{job=\"look\"} 9007199254740993"));
}

static void who_does_not_ask_for_openmetrics_gets_text(void)
{
    CU_ASSERT_EQUAL(metrics_format_wanted(NULL), METRICS_TEXT);
    CU_ASSERT_EQUAL(metrics_format_wanted("*/*"), METRICS_TEXT);
    CU_ASSERT_EQUAL(metrics_format_wanted("text/plain;version=0.0.4"), METRICS_TEXT);
    CU_ASSERT_EQUAL(metrics_format_wanted("application/openmetrics-text;q=0, */*"), METRICS_TEXT);
    CU_ASSERT_EQUAL(metrics_format_wanted("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
                    METRICS_OPEN);
    CU_ASSERT_EQUAL(metrics_format_wanted("text/plain;q=0, Application/OpenMetrics-Text; q=0.5"),
                    METRICS_OPEN);
}

static void names_and_units_are_as_prometheus_wants_them(void)
{
    for (int i = 0; i < metrics; i++) {
        const struct metric *m = &metrics_table[i];
        size_t len = strlen(m->name), unit_len = m->unit ? strlen(m->unit) : 0;
        CU_ASSERT_PTR_EQUAL(metric_named(m->name), m);
        CU_ASSERT_EQUAL(strspn(m->name, "abcdefghijklmnopqrstuvwxyz_"), len);
        CU_ASSERT_STRING_EQUAL(m->name + len - unit_len, m->unit ? m->unit : "");
        CU_ASSERT(*m->help && m->help[strlen(m->help) - 1] == '.' && !strpbrk(m->help, "\\\n"));
    }
}

static const struct test tests[] = {
    TEST(a_counter_ends_in_total_in_both_formats),
    TEST(openmetrics_has_units_an_info_and_an_end),
    TEST(labels_are_escaped),
    TEST(what_is_no_utf_8_in_a_label_is_replaced),
    TEST(a_histogram_is_cumulative_and_sums_outcomes),
    TEST(the_job_after_the_two_hundredth_is_other),
    TEST(what_is_called_other_is_one_with_what_has_no_name),
    TEST(each_job_has_its_own_histogram_whatever_their_order),
    TEST(jobs_that_are_counted_keep_their_names_whatever_is_overdue),
    TEST(a_store_that_is_away_has_no_gauges),
    TEST(what_is_not_known_has_no_line_and_what_never_happened_is_nothing),
    TEST(large_numbers_are_written_whole),
    TEST(who_does_not_ask_for_openmetrics_gets_text),
    TEST(names_and_units_are_as_prometheus_wants_them),
    { NULL, NULL },
};

const struct suite suite_metrics = { .name = "metrics", .tests = tests, .setup = set_up,
                                     .teardown = tear_down };
