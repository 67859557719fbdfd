/* guard.c - starts a command in a process group of its own and waits for the first of two things:
 * its end, or that of the process that wants it. Then nothing of the group is left.
 *
 * Neither is left to the worker: one that is killed cannot do it. The guard is in no group that
 * somebody else kills, blocks all signals, and holds nothing but its socket. */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_MS = 300 };            /* from TERM to KILL */

static void report(int sock, int what, int value)
{
    struct guard_report r = { what, value };
    send(sock, &r, sizeof r, MSG_NOSIGNAL);
}

static void close_all_from(int first)
{
    if (close_range((unsigned)first, ~0U, 0) == 0)
        return;
    long most = sysconf(_SC_OPEN_MAX);          /* a kernel before 5.9 */
    for (int fd = first; fd < (most > 0 && most < 65536 ? most : 65536); fd++)
        close(fd);
}

/* The command's files become 0, 1 and 2, and the socket 3, whatever numbers they had. */
static int place_files(const struct guard_files *f)
{
    enum { ABOVE = 4 };
    int from[] = { f->in, f->out, f->err, f->sock };
    for (int i = 0; i < 4; i++)
        if ((from[i] = fcntl(from[i], F_DUPFD, ABOVE)) < 0)
            return -1;
    for (int i = 0; i < 4; i++)
        if (dup2(from[i], i) < 0)
            return -1;
    close_all_from(4);
    return fcntl(3, F_SETFD, FD_CLOEXEC);
}

/* Whatever other plug-ins have made of them: ignored ones would stay so in the command, and one
 * whose SIGCHLD is ignored has no children to wait for. */
static void plain_signals(void)
{
    struct sigaction plain = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &plain, NULL);
}

/* ---- the command ---- */

/* The signal of the parent's end is for a guard that was killed itself. */
static _Noreturn void become_command(const struct command *c, char *const envp[], pid_t guard)
{
    int sock = 3;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard)
        _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (c->dir && chdir(c->dir)) {
        report(sock, GUARD_NO_FOLDER, errno);
        _exit(127);
    }
    execve(c->path, c->argv, envp);
    report(sock, GUARD_NO_PROGRAM, errno);
    _exit(127);
}

/* ---- the guard ---- */

/* The leader is not reaped yet: its number is that of its group and of no other process. */
static void end_group(pid_t leader)
{
    kill(-leader, SIGKILL);
    kill(leader, SIGKILL);              /* it may have gone into another group */
    while (waitpid(leader, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int has_ended(pid_t pid, int *status)
{
    siginfo_t info = { .si_pid = 0 };
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
        return 0;
    *status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status;
    return 1;
}

/* Nobody wants it any more. One that is stopped is woken, so that it may end by itself, too. */
static void end_politely(pid_t leader, const sigset_t *child)
{
    struct timespec grace = { .tv_nsec = GRACE_MS * 1000000L };
    int status;
    kill(-leader, SIGTERM);
    kill(-leader, SIGCONT);
    if (!has_ended(leader, &status))
        sigtimedwait(child, NULL, &grace);
    end_group(leader);
}

static _Noreturn void watch(pid_t leader, int sock)
{
    int status;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    struct pollfd fds[] = { { .fd = sock, .events = POLLIN | POLLRDHUP },
                            { .fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN } };
    while (!has_ended(leader, &status)) {
        struct signalfd_siginfo info;
        poll(fds, 2, fds[1].fd < 0 ? 50 : -1);
        if (fds[0].revents) {
            end_politely(leader, &child);
            _exit(0);
        }
        if (read(fds[1].fd, &info, sizeof info) < 0)
            continue;
    }
    end_group(leader);
    report(sock, GUARD_ENDED, status);
    _exit(0);
}

_Noreturn void guard_run(const struct command *c, char *const envp[], const struct guard_files *files)
{
    sigset_t all;
    int sock = 3;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    plain_signals();
    setsid();
    prctl(PR_SET_NAME, "exec guard");
    if (place_files(files)) {
        report(files->sock, GUARD_NO_PROCESS, errno);
        _exit(1);
    }
    pid_t guard = getpid(), leader = fork();
    if (leader == 0)
        become_command(c, envp, guard);
    if (leader < 0) {
        report(sock, GUARD_NO_PROCESS, errno);
        _exit(1);
    }
    setpgid(leader, leader);            /* both do: from now on there is such a group */
    for (int fd = 0; fd < sock; fd++)
        close(fd);
    watch(leader, sock);
}
