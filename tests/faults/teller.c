/* teller.c - a job that tells what it was given and what it saw, in lines of the campaign's
 * journal (README.md), and declares checks. Built by the scenarios that use it (teller.sh).
 *
 * The deed that it writes is its payload, "saw VALUE" when the setting `query` is there (a SELECT
 * of one value with $1, the check's key), and "done", which it always is. A payload "declare N"
 * with N above 0: it declares two checks, KEY.0 and KEY.1, for a second later, which are to
 * "declare N-1"; "sleep N": it takes so many milliseconds. Settings: file = the journal; event =
 * emitted with each answer. */
#include <prescient/job.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096, VALUE_MAX = 64 };

struct teller {
    const struct prescient_host *host;
    const char *query, *event;
    int fd;
};

static int teller_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    const char *file = host->setting(host, "file");
    struct teller *job = calloc(1, sizeof *job);
    if (!job || !file || (job->fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) < 0) {
        free(job);
        snprintf(why, why_size, "cannot write to setting file = %s", file ? file : "(not set)");
        return -1;
    }
    job->host = host;
    job->query = host->setting(host, "query");
    job->event = host->setting(host, "event");
    *state = job;
    return 0;
}

static void teller_close(void *state)
{
    struct teller *job = state;
    close(job->fd);
    free(job);
}

static int see(const struct teller *job, const struct prescient_check *c, char saw[VALUE_MAX])
{
    const struct prescient_rows *rows;
    struct prescient_value key = { c->entity_key, strlen(c->entity_key) };
    if (job->host->query(job->host, job->query, &key, 1, &rows))
        return -1;
    const char *value = rows->rows ? rows->values[0].text : NULL;
    snprintf(saw, VALUE_MAX, "saw %.40s,", value ? value : "nothing");
    return 0;
}

static long long clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* One write with O_APPEND: lines of several workers do not mix. */
static int write_line(const struct teller *job, const struct prescient_check *c, const char *saw)
{
    char line[LINE_MAX_BYTES];
    const char *key = job->host->idempotency_key(job->host, c);
    int n = snprintf(line, sizeof line, "%lld\t%lld\t%d\t%d\t%s\t%s\t%s\t%s\t%lld\t%lld\t%d\t%d\t%s,%sdone\n",
                     clock_us(CLOCK_REALTIME), clock_us(CLOCK_BOOTTIME), (int)getpid(), (int)getppid(),
                     c->entity_name, c->entity_key, c->job, key, (long long)c->first_check_at,
                     (long long)c->slot, (int)c->check_count, (int)c->failure_count,
                     c->payload ? c->payload : "-", saw);
    return n > 0 && n < LINE_MAX_BYTES && write(job->fd, line, (size_t)n) == n ? 0 : -1;
}

/* One is kept and one replaces, so that both ways in are gone. */
static void declare(const struct teller *job, const struct prescient_check *c,
                    struct prescient_answer *answer, int levels)
{
    for (int i = 0; i < 2; i++) {
        char key[256], payload[32];
        snprintf(key, sizeof key, "%s.%d", c->entity_key, i);
        snprintf(payload, sizeof payload, "\"declare %d\"", levels - 1);
        job->host->enqueue(job->host, answer, c->entity_name, key, c->job, c->now + 1, payload,
                           i ? "replace" : "keep");
    }
}

static void teller(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct teller *job = state;
    char saw[VALUE_MAX] = "";
    int n = 0;
    if ((job->query && see(job, check, saw)) || write_line(job, check, saw)) {
        prescient_fail(answer, "cannot see or tell: %.200s", job->host->error(job->host));
        return;
    }
    if (job->event)
        job->host->emit(job->host, answer, job->event, NULL);
    if (check->payload && sscanf(check->payload, "\"declare %d", &n) == 1 && n > 0)
        declare(job, check, answer, n);
    if (check->payload && sscanf(check->payload, "\"sleep %d", &n) == 1)
        usleep((useconds_t)n * 1000);
    prescient_done(answer);
}

PRESCIENT_PLUGIN(.name = "teller", .summary = "tells what it was given and saw; declares checks",
                 .open = teller_open, .close = teller_close, .job_exec = teller);
