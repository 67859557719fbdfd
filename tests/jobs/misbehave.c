/* misbehave - does what the beginning of the entity key says: "hang", "crash", "exit0", ... ;
 * anything else is DONE. Settings: log = a file that gets one line per run: key, idempotency key,
 * pid, monotonic microseconds. */
#include <prescient/job.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct misbehave {
    const struct prescient_host *host;
    int log;
};

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void hang(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c, (void)a;
    sleep_for_ever();
}

static void crash(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c, (void)a;
    raise(SIGSEGV);
}

static void give_up(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c, (void)a;
    abort();
}

static void exit_zero(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c, (void)a;
    exit(0);
}

static void exit_at_once(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c, (void)a;
    _exit(3);
}

/* "garbage": a kind that does not exist; "garbage_text": no end, and no UTF-8. */
static void garbage(const struct prescient_check *c, struct prescient_answer *a)
{
    bool text = !strncmp(c->entity_key, "garbage_text", 12);
    a->kind = text ? PRESCIENT_FAIL : 77;
    memset(a->text, 0xff, a->text_size);
}

/* Writes over all of the memory that is shared with the engine. */
static void scribble(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (!strstr(line, "prescient-slab") || sscanf(line, "%lx-%lx", &from, &to) != 2)
            continue;
        unsigned seed = 1;
        for (unsigned char *p = (unsigned char *)from; p < (unsigned char *)to; p++)
            *p = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
    }
    if (maps)
        fclose(maps);
    a->kind = PRESCIENT_DONE;
}

static void fork_and_hang(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c, (void)a;
    fork();
    sleep_for_ever();
}

static void block(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c, (void)a;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sleep_for_ever();
}

/* Until the memory limit says no. */
static void eat(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c, (void)a;
    for (;;) {
        char *p = malloc(1 << 20);
        if (!p)
            abort();
        memset(p, 1, 1 << 20);
    }
}

static void chatty(const struct prescient_check *c, struct prescient_answer *a)
{
    for (int i = 0; i < 20000; i++)
        printf("%s: line %d of a job that talks too much\n", c->entity_key, i);
    a->kind = PRESCIENT_DONE;
}

static void close_all(const struct prescient_check *c, struct prescient_answer *a)
{
    (void)c;
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    a->kind = PRESCIENT_DONE;
}

static const struct {
    const char *key;
    void (*run)(const struct prescient_check *c, struct prescient_answer *a);
} deeds[] = {
    { "hang", hang },          { "crash", crash },     { "abort", give_up },     { "exit0", exit_zero },
    { "_exit", exit_at_once }, { "garbage", garbage }, { "scribble", scribble }, { "fork", fork_and_hang },
    { "block", block },        { "eat", eat },         { "chatty", chatty },     { "closefds", close_all },
};

static int misbehave_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    struct misbehave *job = malloc(sizeof *job);
    const char *log = host->setting(host, "log");
    if (!job)
        return -1;
    *job = (struct misbehave){ host, log ? open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1 };
    if (log && job->log < 0) {
        snprintf(why, why_size, "cannot write %s", log);
        free(job);
        return -1;
    }
    *state = job;
    return 0;
}

static void misbehave_close(void *state)
{
    struct misbehave *job = state;
    if (job->log >= 0)
        close(job->log);
    free(job);
}

static void write_log(const struct misbehave *job, const struct prescient_check *check)
{
    char line[2048];
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int n = snprintf(line, sizeof line, "%.1024s %s %d %lld\n", check->entity_key,
                     job->host->idempotency_key(job->host, check), (int)getpid(),
                     (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000);
    if (job->log >= 0 && write(job->log, line, (size_t)n) != n)
        abort();
}

static void misbehave(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    write_log(state, check);
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (!strncmp(check->entity_key, deeds[i].key, strlen(deeds[i].key))) {
            deeds[i].run(check, answer);
            return;
        }
    prescient_done(answer);
}

PRESCIENT_PLUGIN(.name = "misbehave", .summary = "hangs, crashes, scribbles: as the key says",
                 .open = misbehave_open, .close = misbehave_close, .job_exec = misbehave);
