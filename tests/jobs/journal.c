/* journal - writes each run down in a file of its own, beside the store: what was really run, by
 * whom, and when. One line a run: key, idempotency key, pid, CLOCK_BOOTTIME in ms. Then it is
 * done, and emits an event when told to. */
#include <fcntl.h>
#include <prescient/job.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct journal {
    const struct prescient_host *host;
    const char *event;              /* setting: emitted with each answer; NULL: none */
    long pause_us;                  /* setting: how long a check takes */
    const char *hold;               /* setting: a file; while it is there, no check ends. NULL: none */
    long hold_after;                /* setting: checks of this worker that `hold` leaves alone */
    /* With a number in that file it holds while the journal, whoever writes to it, has so many
     * bytes. */
    long runs;                      /* of this worker */
    int fd;
};

static int journal_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    const char *file = host->setting(host, "file"), *pause = host->setting(host, "pause_us");
    const char *hold_after = host->setting(host, "hold_after");
    struct journal *j = calloc(1, sizeof *j);
    if (!j || !file || (j->fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) < 0) {
        free(j);
        snprintf(why, why_size, "cannot write to setting file = %s", file ? file : "(not set)");
        return -1;
    }
    j->host = host;
    j->event = host->setting(host, "event");
    j->pause_us = pause ? atol(pause) : 0;
    j->hold = host->setting(host, "hold");
    j->hold_after = hold_after ? atol(hold_after) : 0;
    *state = j;
    return 0;
}

static void journal_close(void *state)
{
    struct journal *j = state;
    close(j->fd);
    free(j);
}

static bool is_held(const struct journal *j)
{
    FILE *file = j->hold ? fopen(j->hold, "re") : NULL;
    long long bytes = 0;
    struct stat journal;
    if (!file)
        return false;
    bool has_number = fscanf(file, "%lld", &bytes) == 1;
    fclose(file);
    if (has_number)
        return fstat(j->fd, &journal) == 0 && journal.st_size >= bytes;
    return j->runs > j->hold_after;
}

/* A minute at most: the test that holds it may be gone. */
static void wait_while_held(const struct journal *j)
{
    const struct timespec nap = { 0, 10000000 };
    for (int i = 0; i < 6000 && is_held(j); i++)
        nanosleep(&nap, NULL);
}

static void journal_exec(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct journal *j = state;
    struct timespec now, pause = { j->pause_us / 1000000, j->pause_us % 1000000 * 1000 };
    char line[1200];
    clock_gettime(CLOCK_BOOTTIME, &now);
    int n = snprintf(line, sizeof line, "%s %s %d %lld\n", check->entity_key,
                     j->host->idempotency_key(j->host, check), (int)getpid(),
                     (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    /* one write with O_APPEND: lines of several workers do not mix */
    if (write(j->fd, line, (size_t)n) != n) {
        prescient_fail(answer, "cannot write to the journal");
        return;
    }
    if (j->pause_us)
        nanosleep(&pause, NULL);
    j->runs++;
    wait_while_held(j);
    if (j->event)
        j->host->emit(j->host, answer, j->event, NULL);
    prescient_done(answer);
}

PRESCIENT_PLUGIN(.name = "journal", .summary = "writes each run down in a file", .open = journal_open,
                 .close = journal_close, .job_exec = journal_exec);
