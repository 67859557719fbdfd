/* flaky - fails two runs of three, by chance that can be computed again: the text "key check_count
 * failure_count slot", hashed, decides what a run answers. Each run is a line in a file of its own,
 * beside the store: entity key, idempotency key, check_count, failure_count, first_check_at, slot,
 * now. tests/attempts_add_up.py computes the same hash.
 *
 * Settings: file = the file; again_after, defer_for: durations. */
#include <fcntl.h>
#include <prescient/job.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct flaky {
    const struct prescient_host *host;
    int64_t again_after_s, defer_for_s;
    int fd;
};

static int flaky_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    const char *file = host->setting(host, "file");
    struct flaky *f = calloc(1, sizeof *f);
    if (!f || !file || (f->fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) < 0) {
        free(f);
        snprintf(why, why_size, "cannot write to setting file = %s", file ? file : "(not set)");
        return -1;
    }
    f->host = host;
    f->again_after_s = host->setting_duration(host, "again_after", 3600);
    f->defer_for_s = host->setting_duration(host, "defer_for", 60);
    *state = f;
    return 0;
}

static void flaky_close(void *state)
{
    struct flaky *f = state;
    close(f->fd);
    free(f);
}

/* FNV-1a, and its high half into the low one. */
static uint64_t hash_of(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

static void flaky_answer(const struct flaky *f, const struct prescient_check *check,
                         struct prescient_answer *answer)
{
    char text[1200];
    snprintf(text, sizeof text, "%s %d %d %lld", check->entity_key, check->check_count, check->failure_count,
             (long long)check->slot);
    uint64_t hash = hash_of(text);
    if (hash % 3 < 2)
        prescient_fail(answer, "failure %d of %s", check->failure_count + 1, check->entity_key);
    else if (hash / 3 % 10 < 6)
        prescient_done(answer);
    else if (hash / 3 % 10 < 8)
        prescient_again(answer, check->now + f->again_after_s);
    else
        prescient_defer(answer, check->now + f->defer_for_s);
}

static void flaky_exec(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct flaky *f = state;
    char line[1400];
    int n = snprintf(line, sizeof line, "%s %s %d %d %lld %lld %lld\n", check->entity_key,
                     f->host->idempotency_key(f->host, check), check->check_count, check->failure_count,
                     (long long)check->first_check_at, (long long)check->slot, (long long)check->now);
    /* one write with O_APPEND: lines of several workers do not mix */
    if (write(f->fd, line, (size_t)n) == n)
        flaky_answer(f, check, answer);
    else
        prescient_fail(answer, "cannot write to the file");
}

PRESCIENT_PLUGIN(.name = "flaky", .summary = "for tests: fails two runs of three", .open = flaky_open,
                 .close = flaky_close, .job_exec = flaky_exec);
