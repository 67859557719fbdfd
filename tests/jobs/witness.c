/* witness - writes each run down in a file of its own, beside the store, and then does what the
 * check's payload says. The campaign of faults (tests/faults/) compares that file with what the
 * store says.
 *
 * One line a run, of fields parted by tabs: the kernel's CLOCK_REALTIME and CLOCK_BOOTTIME in
 * microseconds, pid of the worker, pid of its engine, entity, key, job, idempotency key,
 * first_check_at, slot, check_count, failure_count, what it is about to do.
 *
 * The payload is a JSON string, or an array of strings: the n-th run of a check (AGAINs and
 * failures counted) does what the n-th one says, and the last one from then on. A string holds
 * deeds with a comma between them ("sleep 200, again 3"); without a payload it is "done".
 * Settings: file = the file; event = emitted with each answer; ends = a file that gets a line when
 * a run ends: CLOCK_BOOTTIME, pid of the worker, entity, key. */
#include <prescient/job.h>

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct witness {
    const struct prescient_host *host;
    const char *event;              /* setting; NULL: none */
    int fd, ends;                   /* ends: -1: it has no such file */
    pid_t engine;
};

/* ---- deeds ---- */

struct run {
    struct witness *job;
    const struct prescient_check *check;
    struct prescient_answer *answer;
};

static void sleep_ms(struct run *r, long long ms)
{
    (void)r;
    struct timespec left = { ms / 1000, ms % 1000 * 1000000 };
    while (nanosleep(&left, &left))
        ;
}

static void hang(struct run *r, long long n)
{
    (void)r, (void)n;
    for (;;)
        pause();
}

/* Does not hear TERM, and has a child that does not either. */
static void block(struct run *r, long long n)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    fork();
    hang(r, n);
}

static void crash(struct run *r, long long n)
{
    (void)r, (void)n;
    raise(SIGSEGV);
}

static void give_up(struct run *r, long long n)
{
    (void)r, (void)n;
    abort();
}

static void leave(struct run *r, long long code)
{
    (void)r;
    exit((int)code);
}

static void leave_at_once(struct run *r, long long code)
{
    (void)r;
    _exit((int)code);
}

/* Until the limit says no. */
static void eat_memory(struct run *r, long long n)
{
    (void)r, (void)n;
    for (char *p; (p = malloc(1 << 20));)
        memset(p, 1, 1 << 20);
    abort();
}

static void eat_files(struct run *r, long long n)
{
    int opened = 0;
    while (opened < 1000000 && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        opened++;
    if (opened == 1000000)
        prescient_fail(r->answer, "no limit on open files");
    (void)n;
}

/* As many children as asked for, each of which would sleep for ever. */
static void eat_processes(struct run *r, long long n)
{
    for (long long i = 0; i < n; i++)
        if (fork() == 0)
            hang(r, 0);
}

static void talk(struct run *r, long long lines)
{
    for (long long i = 0; i < lines; i++)
        fprintf(i % 2 ? stderr : stdout,
                "%s: line %lld of a job that talks too much, and says nothing that anybody wanted to know\n",
                r->check->entity_key, i);
    fflush(stdout);
}

static void done(struct run *r, long long n) { (void)n; prescient_done(r->answer); }
static void fail(struct run *r, long long n) { prescient_fail(r->answer, "rehearsed failure %lld", n); }
static void again(struct run *r, long long s) { prescient_again(r->answer, r->check->now + s); }
static void again_at(struct run *r, long long at) { prescient_again(r->answer, at); }
static void again_from_slot(struct run *r, long long s) { prescient_again(r->answer, r->check->slot + s); }
static void defer(struct run *r, long long s) { prescient_defer(r->answer, r->check->now + s); }
static void defer_at(struct run *r, long long at) { prescient_defer(r->answer, at); }
static void garbage(struct run *r, long long kind)
{
    r->answer->kind = (int32_t)kind;
    r->answer->at = INT64_MIN;
}
static void bad_text(struct run *r, long long n)
{
    (void)n;
    r->answer->kind = PRESCIENT_FAIL;
    memset(r->answer->text, 0xff, r->answer->text_size);
}
static void silence(struct run *r, long long n) { (void)n; r->answer->kind = PRESCIENT_NO_ANSWER; }

static const struct { const char *word; void (*run)(struct run *r, long long n);
} deeds[] = {
    { "done", done },           { "again", again },
    { "again_at", again_at },   { "again_from_slot", again_from_slot },
    { "defer", defer },         { "defer_at", defer_at },
    { "fail", fail },           { "garbage", garbage },
    { "bad_text", bad_text },   { "silence", silence },
    { "sleep", sleep_ms },      { "hang", hang },
    { "block", block },         { "crash", crash },
    { "abort", give_up },       { "exit", leave },
    { "_exit", leave_at_once }, { "memory", eat_memory },
    { "files", eat_files },     { "processes", eat_processes },
    { "talk", talk },
};

/* "word number": -1 when there is no such deed. */
static int run_deed(struct run *r, const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from))
        from++;
    const char *end = from;
    while (end < to && (isalpha((unsigned char)*end) || *end == '_'))
        end++;
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (strlen(deeds[i].word) == (size_t)(end - from) &&
            !memcmp(deeds[i].word, from, (size_t)(end - from))) {
            deeds[i].run(r, strtoll(end, NULL, 10));
            return 0;
        }
    return -1;
}

/* ---- the payload ---- */

/* What the n-th run is to do: text between quotes, without escapes. */
static void step_of(const char *payload, int n, const char **from, const char **to)
{
    static const char always[] = "done";
    *from = always;
    *to = always + strlen(always);
    for (const char *open = payload ? strchr(payload, '"') : NULL; open && n >= 0; n--) {
        const char *close = strchr(open + 1, '"');
        if (!close)
            return;
        *from = open + 1;
        *to = close;
        open = strchr(close + 1, '"');
    }
}

static void run_step(struct run *r, const char *from, const char *to)
{
    while (from < to) {
        const char *comma = memchr(from, ',', (size_t)(to - from));
        const char *end = comma ? comma : to;
        if (run_deed(r, from, end)) {
            prescient_fail(r->answer, "the payload says '%.*s', which is no deed", (int)(end - from), from);
            return;
        }
        from = comma ? comma + 1 : to;
    }
}

/* ---- the line ---- */

/* Asked of the kernel, past a library that shows this process another clock
 * (tests/faults/shifted_clock.c): all witnesses count by the machine's. */
static int64_t clock_us(clockid_t id)
{
    struct timespec t;
    syscall(SYS_clock_gettime, id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* A field as it is, but for control characters and backslashes: \x09. */
static size_t add_text(char *line, size_t at, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '\\')
            at += (size_t)sprintf(line + at, "\\x%02x", c);
        else
            line[at++] = (char)c;
    }
    line[at++] = '\t';
    return at;
}

static int write_line(const struct witness *job, const struct prescient_check *c, const char *from,
                      const char *to)
{
    char line[4 * 4096];                /* names have at most 2600 bytes, each at most four in here */
    size_t n = (size_t)sprintf(line, "%lld\t%lld\t%d\t%d\t", (long long)clock_us(CLOCK_REALTIME),
                               (long long)clock_us(CLOCK_BOOTTIME), (int)getpid(), (int)job->engine);
    size_t most = (size_t)(to - from) < 200 ? (size_t)(to - from) : 200;
    n = add_text(line, n, c->entity_name, strlen(c->entity_name));
    n = add_text(line, n, c->entity_key, strlen(c->entity_key));
    n = add_text(line, n, c->job, strlen(c->job));
    n += (size_t)sprintf(line + n, "%s\t%lld\t%lld\t%d\t%d\t", job->host->idempotency_key(job->host, c),
                         (long long)c->first_check_at, (long long)c->slot, c->check_count, c->failure_count);
    n = add_text(line, n, from, most);
    line[n - 1] = '\n';
    /* one write with O_APPEND: lines of several workers do not mix */
    return write(job->fd, line, n) == (ssize_t)n ? 0 : -1;
}

static int write_end(const struct witness *job, const struct prescient_check *c)
{
    char line[4 * 4096];
    size_t n = (size_t)sprintf(line, "%lld\t%d\t", (long long)clock_us(CLOCK_BOOTTIME), (int)getpid());
    n = add_text(line, n, c->entity_name, strlen(c->entity_name));
    n = add_text(line, n, c->entity_key, strlen(c->entity_key));
    line[n - 1] = '\n';
    return write(job->ends, line, n) == (ssize_t)n ? 0 : -1;
}

/* ---- the plug-in ---- */

static int open_to_append(const char *file)
{
    return open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

static int witness_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    const char *file = host->setting(host, "file"), *ends = host->setting(host, "ends");
    struct witness *job = calloc(1, sizeof *job);
    if (!job || !file || (job->fd = open_to_append(file)) < 0) {
        free(job);
        snprintf(why, why_size, "cannot write to setting file = %s", file ? file : "(not set)");
        return -1;
    }
    job->ends = ends ? open_to_append(ends) : -1;
    if (ends && job->ends < 0) {
        close(job->fd);
        free(job);
        snprintf(why, why_size, "cannot write to setting ends = %s", ends);
        return -1;
    }
    job->host = host;
    job->event = host->setting(host, "event");
    job->engine = getppid();
    *state = job;
    return 0;
}

static void witness_close(void *state)
{
    struct witness *job = state;
    close(job->fd);
    if (job->ends >= 0)
        close(job->ends);
    free(job);
}

static void witness(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct witness *job = state;
    struct run run = { job, check, answer };
    const char *from, *to;
    long long n = (long long)check->check_count + check->failure_count;
    step_of(check->payload, n > INT_MAX ? INT_MAX : (int)n, &from, &to);
    if (write_line(job, check, from, to)) {
        prescient_fail(answer, "cannot write to the journal");
        return;
    }
    if (job->event)
        job->host->emit(job->host, answer, job->event, NULL);
    run_step(&run, from, to);
    if (job->ends >= 0 && write_end(job, check))
        prescient_fail(answer, "cannot write to the file of ends");
}

static void witness_many(void *state, const struct prescient_check *checks, int n,
                         struct prescient_answer *answers)
{
    for (int i = 0; i < n; i++)
        witness(state, &checks[i], &answers[i]);
}

PRESCIENT_PLUGIN(.name = "witness",
                 .summary = "writes each run down in a file, then does what the payload says",
                 .open = witness_open, .close = witness_close, .job_exec = witness,
                 .job_exec_many = witness_many);
