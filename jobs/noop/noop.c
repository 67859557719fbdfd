/* noop - answers every check the same way without looking at anything: for measuring the engine
 * itself. Settings: answer = "done" | "again" | "defer" | "fail" | "fail_final"; again_after, for
 * "again" and "defer"; event, emitted with each answer. */
#include <prescient/job.h>

#include <stdlib.h>
#include <string.h>

struct noop {
    const struct prescient_host *host;
    const char *event;              /* NULL: none */
    int kind;
    int64_t after_s;
};

static const struct { const char *name; int kind;
} answers[] = {
    { "done", PRESCIENT_DONE },
    { "again", PRESCIENT_AGAIN },
    { "defer", PRESCIENT_DEFER },
    { "fail", PRESCIENT_FAIL },
    { "fail_final", PRESCIENT_FAIL_FINAL },
    { "broken", PRESCIENT_BROKEN },
};

static int kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (!strcmp(name, answers[i].name))
            return answers[i].kind;
    return PRESCIENT_NO_ANSWER;
}

static int noop_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    const char *name = host->setting(host, "answer");
    int kind = name ? kind_named(name) : PRESCIENT_DONE;
    int64_t after_s = host->setting_duration(host, "again_after", 3600);
    if (kind == PRESCIENT_NO_ANSWER) {
        snprintf(why, why_size,
                 "setting 'answer': found '%.80s', expected done, again, defer, fail, fail_final or "
                 "broken", name);
        return -1;
    }
    if (after_s < 0) {
        snprintf(why, why_size, "%s", host->error(host));
        return -1;
    }
    struct noop *job = malloc(sizeof *job);
    if (!job) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    *job = (struct noop){ host, host->setting(host, "event"), kind, after_s };
    *state = job;
    return 0;
}

static void noop_exec(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    const struct noop *job = state;
    answer->kind = job->kind;
    answer->at = check->now + job->after_s;
    if (job->event)
        job->host->emit(job->host, answer, job->event, NULL);
}

static void noop_exec_many(void *state, const struct prescient_check *checks, int n,
                           struct prescient_answer *out)
{
    for (int i = 0; i < n; i++)
        noop_exec(state, &checks[i], &out[i]);
}

PRESCIENT_PLUGIN(.name = "noop", .summary = "answers every check the same way: for measuring",
                 .open = noop_open, .close = free, .job_exec = noop_exec, .job_exec_many = noop_exec_many,
                 .heeds_dry = 1);
