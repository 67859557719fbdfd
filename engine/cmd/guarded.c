/* guarded.c - the guard: starts a command in a process group of its own and waits for what ends it.
 * It is in no group that somebody else kills, blocks all signals, and holds nothing but its socket
 * (and `held`). */
#include "guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/moment.h"

enum { SOCK = 3, HELD = 4, FILES = 5 };
enum { ORPHAN_LOOKS = 100, ORPHAN_LOOK_NS = 10 * 1000 * 1000 };
enum { LOOK_US = 1000 * 1000 };     /* a suspended machine's clock jumps, and its waits do not */

static void report(int sock, int what, int value)
{
    struct guarded_report r = { what, value };
    send(sock, &r, sizeof r, MSG_NOSIGNAL);
}

static void close_from(int first)
{
    if (close_range((unsigned)first, ~0U, 0) == 0)
        return;
    long most = sysconf(_SC_OPEN_MAX);          /* a kernel before 5.9 */
    for (int fd = first; fd < (most > 0 && most < 65536 ? most : 65536); fd++)
        close(fd);
}

/* The command's files become 0, 1 and 2, the socket and what is held 3 and 4, whatever numbers they
 * had. */
static int place_files(const struct guarded_command *c, int sock)
{
    int from[FILES] = { c->in, c->out, c->err, sock, c->held };
    if (from[0] < 0)
        from[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int i = 1; i < 3; i++)
        from[i] = from[i] < 0 ? i : from[i];
    for (int i = 0; i < FILES; i++)
        if (from[i] >= 0 && (from[i] = fcntl(from[i], F_DUPFD, FILES)) < 0)
            return -1;
    for (int i = 0; i < FILES; i++)
        if (from[i] < 0 ? close(i) && errno != EBADF : dup2(from[i], i) < 0)
            return -1;
    close_from(FILES);
    fcntl(HELD, F_SETFD, FD_CLOEXEC);           /* it may be none */
    return fcntl(SOCK, F_SETFD, FD_CLOEXEC);
}

/* What was ignored would stay so in the command. */
static void plain_signals(void)
{
    struct sigaction plain = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &plain, NULL);
}

/* ---- the command ---- */

/* The signal of the parent's end is for a guard that was killed itself. It does not reach what the
 * command has started by then: who wants the command is told of the group before there is any. */
static _Noreturn void become_command(const struct guarded_command *c, pid_t guard)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard)
        _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (const char *const *env = c->env; env && *env; env += 2)
        setenv(env[0], env[1], 1);
    report(SOCK, GUARDED_STARTED, (int)getpid());
    execvp(c->argv[0], c->argv);
    report(SOCK, GUARDED_NO_PROGRAM, errno);
    _exit(127);
}

/* ---- the guard ---- */

static bool has_ended(pid_t pid, int *status)
{
    siginfo_t info = { .si_pid = 0 };
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
        return false;
    *status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status;
    return true;
}

/* The leader is not reaped yet: its number is that of its group and of no other process. */
static void end_group(pid_t leader)
{
    kill(-leader, SIGKILL);
    kill(leader, SIGKILL);              /* it may have gone into another group */
    while (waitpid(leader, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void await_child(int64_t until_us)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    int64_t left_us = until_us - clock_boot_us(&clock_system);
    struct timespec left = { .tv_sec = left_us / 1000000, .tv_nsec = left_us % 1000000 * 1000 };
    if (left_us > 0)
        sigtimedwait(&child, NULL, &left);
}

/* One that is stopped is woken, so that it may end by itself, too. */
static void end_politely(pid_t leader, int64_t grace_us)
{
    int status;
    int64_t until_us = clock_boot_us(&clock_system) + grace_us;
    kill(-leader, SIGTERM);
    kill(-leader, SIGCONT);
    while (!has_ended(leader, &status) && clock_boot_us(&clock_system) < until_us)
        await_child(until_us);
    end_group(leader);
}

/* A new time until which it is trusted, or the wish that it ends, or nobody wants it any more. */
static bool is_wanted(int64_t *trust_until_us)
{
    int64_t until_us;
    ssize_t n = recv(SOCK, &until_us, sizeof until_us, MSG_DONTWAIT);
    if (n == sizeof until_us)
        *trust_until_us = until_us;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* The wait hears the socket and, as the only signal, SIGCHLD. */
static int what_ends(const struct guarded_command *c, pid_t leader, int *status)
{
    sigset_t others;
    int64_t trust_until_us = c->trust_until_us;
    int64_t limit_us = clock_boot_us(&clock_system) + c->timeout_us;
    struct pollfd fd = { .fd = SOCK, .events = POLLIN | POLLRDHUP };
    sigfillset(&others);
    sigdelset(&others, SIGCHLD);
    while (!has_ended(leader, status)) {
        int64_t now_us = clock_boot_us(&clock_system);
        if (now_us >= limit_us)
            return GUARDED_LATE;
        if (now_us >= trust_until_us)
            return GUARDED_UNTRUSTED;
        int64_t left_us = (limit_us < trust_until_us ? limit_us : trust_until_us) - now_us;
        left_us = left_us < LOOK_US ? left_us : LOOK_US;
        struct timespec left = { .tv_sec = left_us / 1000000, .tv_nsec = left_us % 1000000 * 1000 };
        if (ppoll(&fd, 1, &left, &others) > 0 && !is_wanted(&trust_until_us))
            return GUARDED_STOPPED;
    }
    return GUARDED_ENDED;
}

static void heard_child(int sig)
{
    (void)sig;
}

static _Noreturn void guard_run(const struct guarded_command *c, int sock)
{
    sigset_t all;
    int status = 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    plain_signals();
    setsid();
    prctl(PR_SET_NAME, "prescient guard");
    if (place_files(c, sock)) {
        report(sock, GUARDED_NO_PROCESS, errno);
        _exit(1);
    }
    pid_t guard = getpid(), leader = fork();
    if (leader == 0)
        become_command(c, guard);
    if (leader < 0) {
        report(SOCK, GUARDED_NO_PROCESS, errno);
        _exit(1);
    }
    setpgid(leader, leader);            /* both do: from now on there is such a group */
    for (int fd = 0; fd < SOCK; fd++)
        close(fd);
    sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = heard_child }, NULL);
    int what = what_ends(c, leader, &status);
    if (what == GUARDED_ENDED)
        end_group(leader);
    else
        end_politely(leader, c->grace_us);
    report(SOCK, what, what == GUARDED_ENDED ? status : 0);
    _exit(0);
}

/* ---- who wants the command ---- */

static int try_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EACCES;
    return eaccess(path, X_OK) < 0 ? errno : 0;
}

/* What the first line of a script names behind `#!`, as the kernel reads it: "" for none, and where
 * we may not look. */
static void read_interpreter(const char *path, char out[GUARDED_INTERPRETER_SIZE])
{
    char line[GUARDED_INTERPRETER_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pread(fd, line, sizeof line - 1, 0);
    if (fd >= 0)
        close(fd);
    *out = '\0';
    if (n < 2 || line[0] != '#' || line[1] != '!')
        return;
    line[n] = '\0';
    const char *name = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(name, " \t\n");
    if (name[length] || n < (ssize_t)sizeof line - 1)   /* else it may go on behind what was read */
        snprintf(out, GUARDED_INTERPRETER_SIZE, "%.*s", (int)length, name);
}

/* The interpreter may be a script, too, a few times. One that is missing is named in `at_fault`. */
static int try_program(const char *path, char at_fault[GUARDED_INTERPRETER_SIZE])
{
    char interpreter[GUARDED_INTERPRETER_SIZE], next[GUARDED_INTERPRETER_SIZE];
    int why = try_file(path);
    if (why)
        return why;
    read_interpreter(path, interpreter);
    for (int depth = 0; *interpreter; depth++) {
        why = depth < 8 ? try_file(interpreter) : ELOOP;
        if (why) {
            snprintf(at_fault, GUARDED_INTERPRETER_SIZE, "%s", interpreter);
            return why;
        }
        read_interpreter(interpreter, next);
        memcpy(interpreter, next, sizeof interpreter);
    }
    return 0;
}

/* In the order of execvp: one that may not be executed is left for the next of that name. */
static int try_folders(const char *folders, const char *name, char at_fault[GUARDED_INTERPRETER_SIZE])
{
    char path[PATH_MAX];
    int why = ENOENT;
    for (bool is_last = false; !is_last; folders++) {
        int length = (int)strcspn(folders, ":");
        int n = snprintf(path, sizeof path, "%.*s%s%s", length, folders, length ? "/" : "./", name);
        int found = n < (int)sizeof path ? try_program(path, at_fault) : ENAMETOOLONG;
        if (found == 0)
            return 0;
        if (found == EACCES)
            why = EACCES;
        folders += length;
        is_last = !*folders;
    }
    return why;
}

int guarded_look_for(const char *program, char at_fault[GUARDED_INTERPRETER_SIZE])
{
    const char *folders = getenv("PATH");
    *at_fault = '\0';
    if (!*program)
        return ENOENT;
    if (strchr(program, '/'))
        return try_program(program, at_fault);
    return try_folders(folders ? folders : "/bin:/usr/bin", program, at_fault);
}

int guarded_check(const char *program, struct err *err)
{
    char interpreter[GUARDED_INTERPRETER_SIZE];
    int why = guarded_look_for(program, interpreter);
    if (why && *interpreter)
        return err_set(err, ERR_INPUT, "the command '%.200s' cannot be executed: its first line names %s: %s",
                       program, interpreter, strerror(why));
    if (why)
        return err_set(err, ERR_INPUT, "the command '%.200s' cannot be executed: %s", program, strerror(why));
    return 0;
}

int guarded_start(struct guarded *g, const struct guarded_command *c, struct err *err)
{
    int socks[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return err_sys(err, ERR_GENERAL, "socketpair");
    g->guard = fork();
    if (g->guard == 0) {
        close(socks[0]);
        guard_run(c, socks[1]);
    }
    close(socks[1]);
    g->sock = socks[0];
    g->leader = 0;
    if (g->guard > 0)
        return 0;
    close(socks[0]);
    return err_sys(err, ERR_GENERAL, "fork");
}

void guarded_trust(struct guarded *g, int64_t until_us)
{
    send(g->sock, &until_us, sizeof until_us, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void guarded_stop(struct guarded *g)
{
    shutdown(g->sock, SHUT_WR);
}

/* False: nothing has been reported yet. The guard's end is a report. */
static bool hear(struct guarded *g, int flags, struct guarded_report *r)
{
    ssize_t n;
    while ((n = recv(g->sock, r, sizeof *r, flags)) < 0 && errno == EINTR)
        ;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n != sizeof *r)
        *r = (struct guarded_report){ .what = GUARDED_LOST };
    if (r->what == GUARDED_STARTED)
        g->leader = r->value;
    return true;
}

bool guarded_is_over(struct guarded *g)
{
    struct guarded_report r;
    while (hear(g, MSG_DONTWAIT | MSG_PEEK, &r)) {
        if (r.what != GUARDED_STARTED)
            return true;
        hear(g, MSG_DONTWAIT, &r);
    }
    return false;
}

/* The guard is not reaped yet, so its number is that of the session in which the group is, and of
 * no other: a leader that is elsewhere is another process, which has got the number since. The
 * group is empty when all in it are reaped, which is up to whoever has inherited them. */
static void end_orphans(const struct guarded *g)
{
    if (g->leader <= 0)
        return;
    pid_t session = getsid(g->leader);
    if (session >= 0 && session != g->guard)
        return;
    for (int i = 0; i < ORPHAN_LOOKS && kill(-g->leader, SIGKILL) == 0; i++)
        nanosleep(&(struct timespec){ .tv_nsec = ORPHAN_LOOK_NS }, NULL);
}

struct guarded_report guarded_end(struct guarded *g)
{
    struct guarded_report r = { .what = GUARDED_LOST };
    do
        hear(g, 0, &r);
    while (r.what == GUARDED_STARTED);
    if (r.what == GUARDED_LOST)
        end_orphans(g);
    close(g->sock);
    while (waitpid(g->guard, NULL, 0) < 0 && errno == EINTR)
        ;
    return r;
}

bool guarded_went_well(const struct guarded_report *r)
{
    return r->what == GUARDED_ENDED && r->value == 0;
}

const char *guarded_words(const struct guarded_report *r, int64_t timeout_us, char *out, size_t size)
{
    char limit[MOMENT_TEXT];
    const char *words = strerror(r->value);
    switch ((enum guarded_what)r->what) {
    case GUARDED_ENDED:
        if (WIFSIGNALED(r->value))
            snprintf(out, size, "was killed by SIG%s", sigabbrev_np(WTERMSIG(r->value)));
        else
            snprintf(out, size, "ended with exit status %d", WEXITSTATUS(r->value));
        break;
    case GUARDED_LATE:
        snprintf(out, size, "was ended at its time limit, %s", duration_format_us(timeout_us, limit));
        break;
    case GUARDED_STOPPED:
        snprintf(out, size, "was ended, as we were");
        break;
    case GUARDED_UNTRUSTED:
        snprintf(out, size, "was ended, as the lease could not be renewed");
        break;
    case GUARDED_NO_PROGRAM:
        snprintf(out, size, "cannot be executed: %s%s", words,
                 r->value == ENOEXEC ? " (a script begins with a line such as #!/bin/sh)" : "");
        break;
    case GUARDED_NO_PROCESS:
        snprintf(out, size, "cannot be started: %s", words);
        break;
    case GUARDED_STARTED:
    case GUARDED_LOST:
        snprintf(out, size, "was ended: its guard was killed");
    }
    return out;
}
