/* left_out.c - what is built in the place of a plug-in whose library is missing: it is found, and
 * refuses each job that is bound to it. The build defines PLUGIN and MISSING. */
#include <prescient/job.h>

static int left_out_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    (void)host, (void)state;
    snprintf(why, why_size, "the plug-in " PLUGIN " was left out of this build, as it needs " MISSING
             ": install that with its headers, and build again");
    return -1;
}

static void left_out(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    (void)state, (void)check;
    prescient_fail(answer, "left out of this build");
}

PRESCIENT_PLUGIN(.name = PLUGIN, .summary = "left out of this build: needs " MISSING, .open = left_out_open,
                 .job_exec = left_out);
