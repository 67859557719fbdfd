/* early - hands over each answer of a batch as soon as it is there, the last check first. It writes
 * the keys that it has run into a file, when told to. Keys: "crash" dies, "late" leaves its answer
 * for the end of the call, "twice" hands it over twice and then declares an event, "waits" is put
 * off once the engine stops, and fails when it does not within ten seconds. */
#include <prescient/job.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct early {
    const struct prescient_host *host;
    long pause_us;                  /* setting: how long a check takes */
    int fd;
};

static int early_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    const char *file = host->setting(host, "file"), *pause = host->setting(host, "pause_us");
    struct early *e = calloc(1, sizeof *e);
    if (!e || !PRESCIENT_HAS(host, stopping)) {
        free(e);
        snprintf(why, why_size, "out of memory, or an old engine");
        return -1;
    }
    *e = (struct early){ .host = host, .pause_us = pause ? atol(pause) : 0, .fd = -1 };
    if (file)
        e->fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    *state = e;
    return 0;
}

static void early_close(void *state)
{
    struct early *e = state;
    if (e->fd >= 0)
        close(e->fd);
    free(e);
}

static void wait_for_stop(const struct prescient_host *host, const struct prescient_check *check,
                          struct prescient_answer *answer)
{
    struct timespec pause = { 0, 1000000 };
    for (int i = 0; i < 10000; i++) {
        if (host->stopping(host)) {
            prescient_defer(answer, check->now + 1);
            prescient_note(answer, "put off");
            return;
        }
        nanosleep(&pause, NULL);
    }
    prescient_fail(answer, "the engine did not stop");
}

static void run(const struct early *e, const struct prescient_check *check, struct prescient_answer *answer,
                const char *how)
{
    struct timespec pause = { e->pause_us / 1000000, e->pause_us % 1000000 * 1000 };
    if (e->fd >= 0)
        dprintf(e->fd, "%s %d\n", check->entity_key, (int)getpid());
    if (!strcmp(check->entity_key, "crash"))
        raise(SIGSEGV);
    if (!strcmp(check->entity_key, "waits")) {
        wait_for_stop(e->host, check, answer);
        return;
    }
    if (e->pause_us)
        nanosleep(&pause, NULL);
    prescient_done(answer);
    prescient_note(answer, "%s, %d ms of %d ms", how, (int)e->host->timeout_ms,
                   (int)e->host->batch_timeout_ms);
}

static void one(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    run(state, check, answer, "one");
}

static void try_again(const struct prescient_host *host, struct prescient_answer *answer)
{
    if (host->answered(host, answer) == 0)
        abort();
    host->log(host, PRESCIENT_LOG_WARN, host->error(host));
    if (host->emit(host, answer, "late", NULL) == 0)
        abort();
    host->log(host, PRESCIENT_LOG_WARN, host->error(host));
    prescient_fail(answer, "it is not ours any more");
}

static void many(void *state, const struct prescient_check *checks, int n, struct prescient_answer *answers)
{
    const struct early *e = state;
    struct prescient_answer none = { .size = sizeof none };
    for (int i = n - 1; i >= 0; i--) {
        run(e, &checks[i], &answers[i], "many");
        if (!strcmp(checks[i].entity_key, "late"))
            continue;
        if (e->host->answered(e->host, &answers[i]))
            abort();
        if (!strcmp(checks[i].entity_key, "twice"))
            try_again(e->host, &answers[i]);
    }
    if (e->host->answered(e->host, &none) == 0)
        abort();
}

PRESCIENT_PLUGIN(.name = "early", .summary = "hands over answers early", .open = early_open,
                 .close = early_close, .job_exec = one, .job_exec_many = many);
