/* trouble.c - see trouble.h. Names and notes are other people's text: the log takes control
 * characters out, and lengths are limited here. */
#include "trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/about.h"

/* analyze: -Wno-analyzer-malloc-leak: trouble_release() frees what is noted; gcc loses sight of it
 * where a note goes into an element of an array. */

enum { NOTE_SHOWN = 500 };

static void forget_job(struct trouble *t, int place)
{
    free(t->jobs[place].name);
    free(t->jobs[place].why_broken);
    t->njobs--;
    memmove(&t->jobs[place], &t->jobs[place + 1], (size_t)(t->njobs - place) * sizeof *t->jobs);
}

void trouble_release(struct trouble *t)
{
    while (t->njobs)
        forget_job(t, t->njobs - 1);
    while (t->nhere)
        free(t->here[--t->nhere].name);
}

/* ---- noting ---- */

static struct trouble_job *job_of(struct trouble *t, const char *name)
{
    for (int i = 0; i < t->njobs; i++)
        if (!strcmp(t->jobs[i].name, name))
            return &t->jobs[i];
    char *copy = t->njobs < TROUBLE_JOBS_MAX ? strdup(name) : NULL;
    if (!copy)
        return NULL;
    t->jobs[t->njobs] = (struct trouble_job){ .name = copy, .oldest_at = INT64_MAX };
    return &t->jobs[t->njobs++];
}

static struct trouble_job *note_waiting(struct trouble *t, const char *name, int64_t since)
{
    struct trouble_job *job = job_of(t, name);
    if (!job) {
        t->nothers++;
        return NULL;
    }
    job->nchecks++;
    if (since < job->oldest_at)
        job->oldest_at = since;
    return job;
}

static void note_put_off(struct trouble *t, const struct settlement *s)
{
    struct trouble_job *job = note_waiting(t, s->check->job_exec, s->put_off_at);
    if (job)
        job->nput_off++;
}

/* Those that are tried again within the slot are not over yet. */
static void note_broken(struct trouble *t, const struct settlement *s)
{
    struct trouble_job *job = s->is_attempt ? NULL : note_waiting(t, s->check->job_exec, s->put_off_at);
    if (job && !job->why_broken && s->note)
        job->why_broken = strndup(s->note, utf8_cut(s->note, strlen(s->note), NOTE_SHOWN));
}

/* When a plug-in turns out not to load, the checks at hand are put off, and a replay meets them
 * again in a later slot: those are counted once. */
void trouble_note_left(struct trouble *t, const struct check *c)
{
    int64_t since = c->put_off_at ? c->put_off_at : c->next_check_at;
    struct trouble_job *job = note_waiting(t, c->job_exec, since);
    if (!job)
        return;
    job->is_left = true;
    if (c->put_off_at && job->nput_off > 0) {
        job->nput_off--;
        job->nchecks--;
    }
}

void trouble_note_here(struct trouble *t, const struct check *c)
{
    for (int i = 0; i < t->nhere; i++)
        if (!strcmp(t->here[i].name, c->job_exec))
            return;
    char *name = t->nhere < TROUBLE_JOBS_MAX ? strdup(c->job_exec) : NULL;
    if (name)
        t->here[t->nhere++] = (struct trouble_here){ name, c->next_check_at };
}

static void note_ended(struct trouble *t, const struct settlement *s)
{
    const struct check *c = s->check;
    const char *note = s->note ? s->note : "";
    if (t->nended++ >= TROUBLE_CHECKS_MAX)
        return;
    log_line_about(t->log, LOG_LEVEL_WARN, about_check(c), "check %.*s/%.*s (%.*s) ended as %s%s%.*s",
                   UTF8_SHOWN(c->entity_name), UTF8_SHOWN(c->entity_key), UTF8_SHOWN(c->job_exec),
                   outcome_name(s->outcome), *note ? ": " : "", (int)utf8_cut(note, strlen(note), NOTE_SHOWN),
                   note);
}

bool trouble_note(struct trouble *t, const struct settlement *s)
{
    bool is_unknown = s->outcome == OUTCOME_UNKNOWN_JOB;
    if (s->ends && outcome_is_problem(s->outcome))
        note_ended(t, s);
    else if (is_unknown)
        note_put_off(t, s);
    else if (s->outcome == OUTCOME_JOB_BROKEN)
        note_broken(t, s);
    return is_unknown || s->outcome == OUTCOME_JOB_BROKEN;
}

/* ---- telling ---- */

/* ", which is not in the settings (did you mean 'x'?)" */
static void say_why(const struct trouble *t, const char *name, char *out, size_t size)
{
    if (settings_job(t->settings, name, NULL)) {
        snprintf(out, size, "cannot be run here (the log has the reason)");
        return;
    }
    const char *word = settings_nearest_job(t->settings, name);
    if (word)
        snprintf(out, size, "is not in the settings (did you mean '%.*s'?)", UTF8_SHOWN(word));
    else
        snprintf(out, size, "is not in the settings");
}

/* What becomes of them. */
static void say_what_now(const struct trouble *t, const struct trouble_job *job, char *out, size_t size)
{
    char horizon[MOMENT_TEXT];
    if (job->is_left)
        snprintf(out, size, "They stay in their slots: when the job can be run, give this command again");
    else
        snprintf(out, size,
                 "What waits stays for an engine that has the job, and ends %s after it was due",
                 duration_format_us(t->settings->defaults.horizon_s * 1000000, horizon));
}

static void tell_broken(const struct trouble *t, const struct trouble_job *job)
{
    char since[MOMENT_TEXT];
    log_line_about(t->log, LOG_LEVEL_WARN, (struct log_about){ .job = job->name },
                   "job '%.*s' is broken: %s; %lld %s put off, the oldest since %s. They are late, have not "
                   "failed, and are run once that is mended; prescient doctor says what is missing",
                   UTF8_SHOWN(job->name), job->why_broken, (long long)job->nchecks,
                   job->nchecks == 1 ? "check is" : "checks are", moment_format(job->oldest_at, since));
}

static void tell_job(const struct trouble *t, const struct trouble_job *job)
{
    char why[200], since[MOMENT_TEXT], what_now[200];
    say_why(t, job->name, why, sizeof why);
    say_what_now(t, job, what_now, sizeof what_now);
    log_line_about(t->log, LOG_LEVEL_WARN, (struct log_about){ .job = job->name },
                   "%lld %s for job '%.*s', which %s; the oldest since %s. %s", (long long)job->nchecks,
                   job->nchecks == 1 ? "check waits" : "checks wait", UTF8_SHOWN(job->name), why,
                   moment_format(job->oldest_at, since), what_now);
}

bool trouble_tell_here(struct trouble *t)
{
    char slot[MOMENT_TEXT], why[200], horizon[MOMENT_TEXT];
    for (int i = 0; i < t->nhere; i++) {
        const struct trouble_here *here = &t->here[i];
        say_why(t, here->name, why, sizeof why);
        log_line_about(
            t->log, LOG_LEVEL_WARN, about_job(here->slot, here->name),
            "slot %s has checks of job '%.*s', which %s, and no other engine was seen lately; they wait "
            "for one that has the job, and end %s after they were due",
            moment_format(here->slot, slot), UTF8_SHOWN(here->name), why,
            duration_format_us(t->settings->defaults.horizon_s * 1000000, horizon));
    }
    return t->nhere > 0;
}

/* Which job a cooldown is about. */
static int64_t number_of(const char *name)
{
    uint64_t number = 14695981039346656037U;
    for (const char *c = name; *c; c++)
        number = (number ^ (unsigned char)*c) * 1099511628211U;
    return (int64_t)number;
}

static bool may_tell(struct cooldowns *cooldowns, const char *name, int64_t now_us)
{
    return !cooldowns || cooldown_may_log(cooldowns, cooldown_of(COOLDOWN_JOB, number_of(name)), now_us);
}

static void tell_jobs(struct trouble *t, struct cooldowns *cooldowns, int64_t now_us)
{
    for (int i = 0; i < t->njobs;) {
        if (may_tell(cooldowns, t->jobs[i].name, now_us)) {
            (t->jobs[i].why_broken ? tell_broken : tell_job)(t, &t->jobs[i]);
            forget_job(t, i);
        } else
            i++;
    }
    if (t->nothers && may_tell(cooldowns, "", now_us)) {
        log_warn(t->log,
                 "%lld checks wait for other jobs that cannot be run here; prescient status names them",
                 (long long)t->nothers);
        t->nothers = 0;
    }
}

void trouble_tell(struct trouble *t, struct cooldowns *cooldowns, int64_t now_us)
{
    if (t->nended > TROUBLE_CHECKS_MAX)
        log_warn(t->log,
                 "%lld more checks ended in trouble: prescient history has them, and prescient retry "
                 "enqueues them again",
                 (long long)(t->nended - TROUBLE_CHECKS_MAX));
    t->nended = 0;
    tell_jobs(t, cooldowns, now_us);
}
