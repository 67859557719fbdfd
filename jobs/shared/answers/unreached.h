/* unreached.h - the answer of a job that has one server for all checks, and cannot reach it. */
#ifndef PRESCIENT_JOBS_UNREACHED_H
#define PRESCIENT_JOBS_UNREACHED_H

#include <prescient/job.h>

/* Once it is tried again soon: a server may be starting. From then on no check would fare better:
 * the job is broken, so that the engine keeps its checks, up to the horizon, and runs them as soon
 * as one has got through. */
static inline void answer_unreached(const struct prescient_check *check, struct prescient_answer *answer,
                                    const char *server, const char *why)
{
    if (check->failure_count > 0)
        prescient_broken(answer, "%s: %s", server, why);
    else
        prescient_fail(answer, "%s: %s", server, why);
}

#endif
