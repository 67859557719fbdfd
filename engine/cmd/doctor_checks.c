/* doctor_checks.c - see doctor.h: checks that nobody runs, that are refused for good, or are
 * paused; and schedules without theirs. */
#include <inttypes.h>
#include <string.h>
#include "../base/utf8.h"
#include "../view/rows.h"
#include "app.h"
#include "doctor.h"
#include "put_off.h"
#include "refused.h"
#include "standing_pauses.h"
#include "waiting_jobs.h"

/* Checks that move on from slot to slot and that nobody runs. */
void doctor_put_off(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (put_off_ask(d->app, &rows, &err) < 0) {
        doctor_failed(d, "checks put off", &err, NULL);
        return;
    }
    const char *words = put_off_words(d->app, &rows);
    if (words)
        doctor_finding(d, WARN, "checks put off", words, put_off_advice(d->app, &rows));
    else
        doctor_finding(d, OK, "checks put off", "none", NULL);
}

/* Checks whose slot is still ahead, and whose job nobody seems to have. */
void doctor_waiting_jobs(struct doctor *d)
{
    struct err err = { 0 };
    struct waiting_jobs jobs;
    if (waiting_jobs_ask(d->app, &jobs, &err) < 0) {
        doctor_failed(d, "jobs of checks", &err, NULL);
        return;
    }
    const char *words = waiting_jobs_words(d->app, &jobs);
    if (waiting_jobs_are_amiss(d->app, &jobs))
        doctor_finding(d, WARN, "jobs of checks", words, waiting_jobs_advice());
    else if (jobs.is_asked)
        doctor_finding(d, OK, "jobs of checks", words ? words : "no check waits for a job that nobody has",
                       NULL);
}

/* A receiver that says no for good: nobody tries again, so somebody has to know. */
void doctor_refused(struct doctor *d)
{
    struct err err = { 0 };
    struct refused all = { .n = 0 };
    int64_t now = d->app->now ? d->app->now : d->hello.now_us / 1000000;
    int rc = refused_ask(d->app, now, d->hello.slot_length_s, &all, &err);
    if (rc < 0)
        doctor_failed(d, "refused for good", &err, NULL);
    else if (!all.n && all.has_more)
        doctor_finding(
            d, WARN, "refused for good",
            "nothing among the newest failures of the last day; there are more than were looked at",
            "prescient history --outcome failed --since -1d lists them");
    else if (!all.n)
        doctor_finding(d, OK, "refused for good", "nothing in the last day", NULL);
    const char *least = all.has_more ? "at least " : "";
    for (int i = 0; i < all.n; i++) {
        const struct refused_job *of = &all.jobs[i];
        const char *name = d->app->settings.jobs[of->job].name, *word = doctor_shell_word(d, name);
        doctor_finding(
            d, WARN, "refused for good",
            doctor_text(d,
                        "job %s: %s%" PRId64 " checks and %" PRId64 " deliveries in the last day, the "
                        "newest: %.*s",
                        name, least, of->checks, of->deliveries, UTF8_SHOWN(of->note)),
            of->deliveries
                ? "prescient deliveries --failed lists them; --again ID sends one once more"
                : doctor_text(d, "once that is mended: prescient retry --job %s --since -1d", word));
    }
}

void doctor_pauses(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (standing_pauses_ask(d->app, &rows, &err) < 0) {
        doctor_failed(d, "pauses", &err, NULL);
        return;
    }
    const char *words = standing_pauses_words(d->app, &rows);
    enum level level = standing_pauses_are_old(&rows, d->hello.now_us / 1000000) ? WARN : OK;
    doctor_finding(d, level, "pauses", words ? words : "nothing is paused",
                   "one was forgotten? prescient pauses lists them, prescient resume lets their checks run");
}

/* The line that mends the first. */
static const char *schedule_advice(struct doctor *d, const struct store_rows *rows, int row, bool is_on)
{
    const char *name = doctor_shell_word(d, rows_value(rows, row, "name"));
    if (is_on)
        return doctor_text(d, "prescient schedule off %s && prescient schedule on %s files it anew", name,
                           name);
    return doctor_text(d, "prescient resolve %s %s %s ends it",
                       doctor_shell_word(d, rows_value(rows, row, "entity_name")),
                       doctor_shell_word(d, rows_value(rows, row, "entity_key")),
                       doctor_shell_word(d, rows_value(rows, row, "job_exec")));
}

void doctor_schedules(struct doctor *d)
{
    static const char *const amiss[] = { "off, and their checks wait and are run", "on, and have no check" };
    struct err err = { 0 };
    struct store_rows rows;
    if (app_rows(d->app, "schedules_amiss", NULL, 0, &rows, &err) < 0) {
        doctor_failed(d, "schedules", &err, NULL);
        return;
    }
    for (int r = 0; r < rows.rows; r++) {
        bool is_on = rows_is_true(&rows, r, "is_active");
        const char *more = rows_is_true(&rows, r, "is_at_least") ? " or more" : "";
        doctor_finding(d, WARN, "schedules",
                       doctor_text(d, "%" PRId64 "%s %s; the first is '%s'", rows_number(&rows, r, "n"), more,
                                   amiss[is_on], rows_value(&rows, r, "name")),
                       schedule_advice(d, &rows, r, is_on));
    }
    if (!rows.rows)
        doctor_finding(d, OK, "schedules", "each that is on has its check", NULL);
}
