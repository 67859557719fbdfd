/* rehearse - pretends to work: some checks fail, some hang, the rest are done. For load tests.
 * Which ones is decided by the key alone, so that a check does the same at every look and in every
 * run. */
#include <prescient/job.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct rehearse {
    unsigned failing, slow;         /* of a million */
    int64_t slow_for_s;
};

/* "0.1" percent as parts of a million; -1 when it is no share. */
static long read_share(const struct prescient_host *host, const char *name)
{
    const char *text = host->setting(host, name);
    char *end;
    double percent = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(percent >= 0 && percent <= 100)))
        return -1;
    return (long)(percent * 10000 + 0.5);
}

static int rehearse_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    static const char *const shares[] = { "failing", "slow" };
    long found[2];
    for (int i = 0; i < 2; i++) {
        found[i] = read_share(host, shares[i]);
        if (found[i] < 0) {
            snprintf(why, why_size, "setting '%s': found '%.80s', expected a share from 0 to 100 (percent)",
                     shares[i], host->setting(host, shares[i]));
            return -1;
        }
    }
    int64_t slow_for_s = host->setting_duration(host, "slow_for", 60);
    if (slow_for_s < 0) {
        snprintf(why, why_size, "%s", host->error(host));
        return -1;
    }
    struct rehearse *job = malloc(sizeof *job);
    if (!job) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    *job = (struct rehearse){ (unsigned)found[0], (unsigned)found[1], slow_for_s };
    *state = job;
    return 0;
}

/* FNV-1a, and its bits mixed once more: keys are often numbers in a row. */
static unsigned lot_of(const struct prescient_check *check)
{
    uint64_t h = 14695981039346656037u;
    for (const char *texts[] = { check->entity_name, "\n", check->entity_key, NULL }, **t = texts; *t; t++)
        for (const char *c = *t; *c; c++)
            h = (h ^ (unsigned char)*c) * 1099511628211u;
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return (unsigned)((h >> 33) % 1000000);
}

static void rehearse_exec(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    const struct rehearse *job = state;
    unsigned lot = lot_of(check);
    if (lot < job->failing) {
        prescient_fail(answer, "rehearsed to fail");
        return;
    }
    if (lot < job->failing + job->slow) {
        struct timespec left = { .tv_sec = job->slow_for_s };
        while (nanosleep(&left, &left))
            ;
    }
    prescient_done(answer);
}

PRESCIENT_PLUGIN(.name = "rehearse",
                 .summary = "pretends to work: some checks fail, some hang; for load tests",
                 .open = rehearse_open, .close = free, .job_exec = rehearse_exec,
                 .heeds_dry = 1);
