/* dry - says in its log whether `open` may send, and asks for each check. Key "long": the request
 * has 70,000 bytes and a secret at their end; "none": there is nothing to show. What it may send is
 * its note. */
#include <prescient/job.h>

#include <stdlib.h>
#include <string.h>

struct dry {
    const struct prescient_host *host;
    const char *secret;             /* setting; NULL: none */
};

static int dry_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    struct dry *job = malloc(sizeof *job);
    if (!job || !PRESCIENT_HAS(host, dry)) {
        free(job);
        snprintf(why, why_size, "out of memory, or an old engine");
        return -1;
    }
    *job = (struct dry){ host, host->setting(host, "secret") };
    host->log(host, PRESCIENT_LOG_WARN, host->dry(host, NULL, "no check") ? "opened dry" : "opened");
    *state = job;
    return 0;
}

static void dry_exec(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    enum { LONG = 70000 };
    const struct dry *job = state;
    const struct prescient_host *host = job->host;
    prescient_done(answer);
    if (!host->dry(host, check, NULL)) {
        host->dry(host, check, "nobody wants to see it");
        prescient_note(answer, "sent");
        return;
    }
    char *request = calloc(1, LONG + 64);
    if (!request)
        abort();
    if (!strcmp(check->entity_key, "long"))
        memset(request, 'x', LONG);
    if (strcmp(check->entity_key, "none"))
        snprintf(request + strlen(request), 64, "to %s: %s", check->entity_key,
                 job->secret ? job->secret : "nobody");
    host->dry(host, check, request);
    free(request);
    prescient_note(answer, "not sent");
}

PRESCIENT_PLUGIN(.name = "dry", .summary = "asks whether it may send", .open = dry_open, .close = free,
                 .job_exec = dry_exec, .heeds_dry = 1);
