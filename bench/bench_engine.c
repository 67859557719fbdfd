/* bench_engine.c - starts engines as processes of their own, as users do, and measures their cost.
 * CPU is read after a process has ended and before it is reaped: the kernel then still has its own
 * share, without its children's. Memory is read while they run, or from the rusage of an engine
 * that ends before the first look. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { LOOK_MS = 25 };                  /* how often memory is read */

struct child {
    pid_t pid;                          /* 0: ended */
    int pidfd;
    char output[128];
    int64_t cpu_us, all_cpu_us, peak_kib, worker_peak_kib;
};

/* The engines take their settings from the file alone. */
static void clean_environment(void)
{
    extern char **environ;
    for (char **e = environ; *e;) {
        const char *equals = strchr(*e, '=');
        if (!strncmp(*e, "PRESCIENT_", 10) || !strncmp(*e, "DATABASE_URL=", 13)) {
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - *e : 0), *e);
            unsetenv(name);
            e = environ;
        } else
            e++;
    }
}

static void become_engine(const struct bench *b, const struct bench_engine_run *r, const char *output)
{
    char *argv[16] = { (char *)"prescient", (char *)"--config", (char *)b->settings_file, (char *)"--json" };
    int n = 4;
    for (int i = 0; r->command[i]; i++)
        argv[n++] = (char *)r->command[i];
    argv[n] = NULL;
    int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    clean_environment();
    if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0)
        execv(b->program, argv);
    _exit(127);
}

static int start(struct bench *b, const struct bench_engine_run *r, int number, struct child *c,
                 struct err *err)
{
    *c = (struct child){ .peak_kib = -1, .worker_peak_kib = -1 };
    snprintf(c->output, sizeof c->output, "%s/engine-%d.json", b->dir, number);
    c->pid = fork();
    if (c->pid == 0)
        become_engine(b, r, c->output);
    if (c->pid < 0) {
        c->pid = 0;
        return err_sys(err, ERR_GENERAL, "cannot start an engine");
    }
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    return 0;
}

static void most(int64_t *largest, int64_t more)
{
    if (more > *largest)
        *largest = more;
}

static void look_at(struct child *c)
{
    int workers[256];
    most(&c->peak_kib, bench_peak_kib(c->pid));
    int n = bench_children_of(c->pid, workers, 256);
    for (int i = 0; i < n; i++)
        most(&c->worker_peak_kib, bench_peak_kib(workers[i]));
}

/* Reaps an engine that has ended; false while it runs. */
static bool is_over(struct child *c, int *code)
{
    siginfo_t info = { 0 };
    struct rusage u;
    int status = 0;
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
        return false;
    c->cpu_us = bench_task_cpu_us(c->pid);
    wait4(c->pid, &status, 0, &u);
    c->all_cpu_us = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000LL + u.ru_utime.tv_usec +
                    u.ru_stime.tv_usec;
    if (c->peak_kib < 0)
        /* the largest of the engine, its workers, and us at the fork: an upper bound */
        c->peak_kib = u.ru_maxrss;
    if (c->pidfd >= 0)
        close(c->pidfd);
    c->pid = 0;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

static void wait_for(struct bench *b, struct child *children, int n)
{
    struct pollfd fds[BENCH_ENGINES_MAX + 1] = { { .fd = b->interrupt.fd, .events = POLLIN } };
    int nfds = 1;
    for (int i = 0; i < n; i++)
        if (children[i].pid && children[i].pidfd >= 0)
            fds[nfds++] = (struct pollfd){ .fd = children[i].pidfd, .events = POLLIN };
    poll(fds, (nfds_t)nfds, LOOK_MS);
}

static void signal_all(const struct child *children, int n, int signal_number)
{
    for (int i = 0; i < n; i++)
        if (children[i].pid)
            kill(children[i].pid, signal_number);
}

/* Waits until all have ended; *code is the worst exit code. 1 is no failure: some checks ended with
 * a failure. */
static int wait_all(struct bench *b, struct child *children, int n, const struct bench_engine_run *r,
                    int *code, struct err *err)
{
    int64_t began = clock_mono_us(&clock_system);
    bool signalled = false, interrupted = false;
    for (int running = n; running;) {
        wait_for(b, children, n);
        for (int i = 0; i < n; i++) {
            int one = 0;
            if (!children[i].pid)
                continue;
            if (is_over(&children[i], &one)) {
                running--;
                *code = one > *code ? one : *code;
            } else
                look_at(&children[i]);
        }
        interrupted = interrupted || interrupt_came(&b->interrupt);
        bool stop = interrupted ||
                    (r->stop_after_us && clock_mono_us(&clock_system) - began > r->stop_after_us);
        if (stop && !signalled) {
            signal_all(children, n, SIGTERM);
            signalled = true;
        }
    }
    return interrupted ? err_set(err, ERR_STOPPED, "stopped") : 0;
}

/* How many checks the engine ran, from the totals in its output; -1: there are none. */
static int64_t read_run(const char *file)
{
    json_t *totals = json_load_file(file, JSON_DISABLE_EOF_CHECK, NULL);
    json_t *run = json_object_get(totals, "run");
    int64_t n = run ? json_integer_value(run) : -1;
    json_decref(totals);
    return n;
}

static int add_up(const struct child *children, int n, int code, struct bench_figures *out, int64_t *run,
                  struct err *err)
{
    out->engine_cpu_us = out->worker_cpu_us = *run = 0;
    for (int i = 0; i < n; i++) {
        const struct child *c = &children[i];
        int64_t ran = read_run(c->output);
        if (ran < 0)
            return err_set(err, ERR_GENERAL,
                           "an engine ended with exit code %d and without totals; its messages are above",
                           code);
        *run += ran;
        if (c->cpu_us < 0)
            out->engine_cpu_us = -1;
        if (out->engine_cpu_us >= 0) {
            out->engine_cpu_us += c->cpu_us;
            out->worker_cpu_us += c->all_cpu_us > c->cpu_us ? c->all_cpu_us - c->cpu_us : 0;
        }
        most(&out->engine_peak_kib, c->peak_kib);
        most(&out->worker_peak_kib, c->worker_peak_kib);
    }
    if (out->engine_cpu_us < 0)
        out->worker_cpu_us = -1;
    return 0;
}

int bench_engines(struct bench *b, const struct bench_engine_run *r, struct bench_figures *out, int64_t *run,
                  struct err *err)
{
    struct child children[BENCH_ENGINES_MAX] = { 0 };
    int n = 0, code = 0, rc = 0;
    int64_t began = clock_mono_us(&clock_system);
    for (; n < r->engines && rc == 0; n++)
        rc = start(b, r, n, &children[n], err);
    struct err why = { 0 };
    int waited = wait_all(b, children, rc ? n - 1 : n, r, &code, &why);
    out->whole_us = clock_mono_us(&clock_system) - began;
    if (rc)
        return rc;
    if (waited) {
        *err = why;
        return waited;
    }
    return add_up(children, n, code, out, run, err);
}
