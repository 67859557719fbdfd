/* refuses - a job whose open() fails, with words in Latin-1. */
#include <prescient/job.h>
#include <stdio.h>

static int refuse(const struct prescient_host *host, void **state, char *why, size_t size)
{
    (void)host, (void)state;
    snprintf(why, size, "kein Schl\xfcssel");
    return -1;
}

static void nothing(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    (void)state, (void)check, (void)answer;
}

PRESCIENT_PLUGIN(.name = "refuses", .summary = "is never opened", .open = refuse, .job_exec = nothing);
