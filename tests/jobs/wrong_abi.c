/* wrong_abi - built for an ABI that does not exist: must be refused. */
#include <prescient/job.h>

static void done(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    (void)state, (void)check;
    prescient_done(answer);
}

__attribute__((visibility("default"))) const struct prescient_plugin prescient_plugin = {
    .abi = PRESCIENT_ABI + 41, .size = sizeof(struct prescient_plugin), .name = "wrong_abi", .job_exec = done,
};
