/* noanswer - answers nothing, neither one by one nor, for every second check, in a batch. */
#include <prescient/job.h>

static void nothing(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    (void)state, (void)check, (void)answer;
}

static void every_second(void *state, const struct prescient_check *checks, int n,
                         struct prescient_answer *answers)
{
    (void)state, (void)checks;
    for (int i = 0; i < n; i += 2)
        prescient_done(&answers[i]);
}

PRESCIENT_PLUGIN(.name = "noanswer", .summary = "answers nothing", .job_exec = nothing,
                 .job_exec_many = every_second);
