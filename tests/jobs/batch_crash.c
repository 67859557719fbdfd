/* batch_crash - dies on the key "bad", alone or in a batch; answers DONE otherwise, with the note
 * "one" or "many". */
#include <prescient/job.h>

#include <signal.h>
#include <string.h>

static void die_if_bad(const struct prescient_check *check)
{
    if (!strcmp(check->entity_key, "bad"))
        raise(SIGSEGV);
}

static void one(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    (void)state;
    die_if_bad(check);
    prescient_done(answer);
    prescient_note(answer, "one");
}

static void many(void *state, const struct prescient_check *checks, int n, struct prescient_answer *answers)
{
    (void)state;
    for (int i = 0; i < n; i++) {
        die_if_bad(&checks[i]);
        prescient_done(&answers[i]);
        prescient_note(&answers[i], "many");
    }
}

PRESCIENT_PLUGIN(.name = "batch_crash", .summary = "dies on the key \"bad\"", .job_exec = one,
                 .job_exec_many = many);
