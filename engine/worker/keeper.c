/* keeper.c - one small process in each worker's group that outlives the worker. The kernel kills a
 * worker whose engine has died, or that is late (deadline.h), but not the processes that the worker
 * has started: the parent death signal is not inherited. */
#include "keeper.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wake(int sig)
{
    (void)sig;
}

/* SIGCONT is the signal of the parent's end, because it also wakes a group that was stopped. Other
 * processes may send it, too, so our parent decides: it is the engine as long as that lives, since
 * the engine reaps us. The worker's own end comes, too, where no engine is awake to see to it: its
 * deadline (deadline.h), or whoever has killed it. -1: this kernel cannot tell of it. */
static _Noreturn void keep(pid_t engine, int worker, int sock)
{
    sigset_t all, but_continue;
    struct sigaction on_continue = { .sa_handler = wake };
    struct pollfd end = { .fd = worker, .events = POLLIN };
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    but_continue = all;
    sigdelset(&but_continue, SIGCONT);
    sigaction(SIGCONT, &on_continue, NULL);
    prctl(PR_SET_NAME, "worker keeper");
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    /* the engine notices the end of a worker when its pipe and socket are closed */
    close(sock);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close(fd);
    while (getppid() == engine && ppoll(&end, 1, NULL, &but_continue) <= 0)
        continue;
    kill(0, SIGKILL);
    _exit(0);
}

/* A child of the engine, not ours: jobs that wait for all their children must not wait for it. */
int keeper_start(pid_t engine, int sock, struct err *err)
{
    int worker = (int)syscall(SYS_pidfd_open, getpid(), 0);
    long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        keep(engine, worker, sock);
    if (worker >= 0)
        close(worker);
    if (pid < 0)
        return err_sys(err, ERR_BUSY, "worker: cannot start its keeper");
    return 0;
}
