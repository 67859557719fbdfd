/* spawn.c - a worker's fork and exec, and its end as the kernel reports it. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../wire/message.h"

extern char **environ;

enum { ENVIRONMENT_MAX = 64 };

/* The variables that a worker gets of our environment: none that could hold a secret, but PG* where
 * the business database is named by them. */
static bool is_passed_on(const char *variable, bool pg_environment)
{
    static const char *const names[] = { "HOME=",         "LANG=",          "LC_ALL=",       "TZ=",
                                         "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "LSAN_OPTIONS=", "GCOV_PREFIX=" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(variable, names[i], strlen(names[i])))
            return true;
    return pg_environment && !strncmp(variable, "PG", 2);
}

/* In the child, after fork: only async-signal-safe calls. Never returns. */
static void become_worker(const char *program, char *const argv[], char *const envp[], int sock, int output)
{
    setpgid(0, 0);
    struct sigaction plain = { .sa_handler = SIG_DFL };
    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &plain, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR);
    /* `sock` may be one of 0 to 2 if ours were closed: first all three get higher numbers */
    int s = fcntl(sock, F_DUPFD, 10), o = fcntl(output, F_DUPFD, 10), n = fcntl(null, F_DUPFD, 10);
    if (s < 0 || o < 0 || n < 0 || dup2(n, 0) < 0 || dup2(o, 1) < 0 || dup2(o, 2) < 0 ||
        dup2(s, WORKER_SOCK) < 0)
        _exit(71);
    close_range(WORKER_SOCK + 1, ~0U, 0);
    execve(program, argv, envp);
    _exit(71);
}

static int start(const char *program, bool pg_environment, int sock, int output, pid_t *pid, struct err *err)
{
    char *argv[] = { (char *)"prescient", (char *)"worker", NULL };
    char *envp[ENVIRONMENT_MAX + 2];
    int n = 0;
    envp[n++] = (char *)"PATH=/usr/local/bin:/usr/bin:/bin";
    for (char **e = environ; *e && n < ENVIRONMENT_MAX; e++)
        if (is_passed_on(*e, pg_environment))
            envp[n++] = *e;
    envp[n] = NULL;
    *pid = fork();
    if (*pid < 0)
        return err_sys(err, ERR_BUSY, "cannot start a worker: fork");
    if (*pid == 0)
        become_worker(program, argv, envp, sock, output);
    setpgid(*pid, *pid);                /* both do, so that a kill of the group reaches it from now on */
    return 0;
}

static int system_start(void *ctx, const char *program, bool pg_environment, struct child *out,
                        struct err *err)
{
    (void)ctx;
    int pair[2] = { -1, -1 }, pipes[2] = { -1, -1 };
    int rc = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        rc = err_sys(err, ERR_BUSY, "cannot start a worker: socketpair");
    else if (pipe2(pipes, O_CLOEXEC))
        rc = err_sys(err, ERR_BUSY, "cannot start a worker: pipe");
    else if (fcntl(pair[0], F_SETFL, O_NONBLOCK) || fcntl(pipes[0], F_SETFL, O_NONBLOCK))
        rc = err_sys(err, ERR_GENERAL, "cannot start a worker: fcntl");
    else
        rc = start(program, pg_environment, pair[1], pipes[1], &out->pid, err);
    if (pair[1] >= 0)
        close(pair[1]);
    if (pipes[1] >= 0)
        close(pipes[1]);
    out->sock = pair[0];
    out->output = pipes[0];
    if (rc)
        spawn_close(out);
    return rc;
}

void spawn_close(struct child *child)
{
    if (child->sock >= 0)
        close(child->sock);
    if (child->output >= 0)
        close(child->output);
    child->sock = child->output = -1;
}

static void system_signal(void *ctx, pid_t pid, int sig)
{
    (void)ctx;
    kill(-pid, sig);
    kill(pid, sig);                     /* a job may have left its process group */
}

static pid_t ended(idtype_t which, pid_t pid)
{
    siginfo_t info = { 0 };
    return waitid(which, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ? 0 : info.si_pid;
}

static bool system_has_ended(void *ctx, pid_t pid)
{
    (void)ctx;
    return ended(P_PID, pid) != 0;
}

static pid_t system_any_ended(void *ctx)
{
    (void)ctx;
    return ended(P_ALL, 0);
}

static int system_bury(void *ctx, pid_t pid)
{
    (void)ctx;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

const struct spawner spawner_system = {
    .start = system_start,
    .signal = system_signal,
    .has_ended = system_has_ended,
    .any_ended = system_any_ended,
    .bury = system_bury,
};
