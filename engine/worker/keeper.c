/* keeper.c - one small process in each worker's group that outlasts the worker. The kernel kills a
 * worker whose engine has died, but nobody that the worker has started: that wish is not
 * inherited. */
#include "keeper.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SIGCONT tells of the parent's end, because it also wakes a group that was stopped. Others may
 * send it, too, or stop us with the rest of the group: whose child we are is what counts. It is
 * the engine's pid as long as it lives, since it reaps us. */
static _Noreturn void keep(pid_t engine, int sock)
{
    sigset_t all, told;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&told);
    sigaddset(&told, SIGCONT);
    prctl(PR_SET_NAME, "worker keeper");
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    /* the ends of pipes and sockets tell the engine that the worker is gone */
    close(sock);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close(fd);
    while (getppid() == engine)
        sigwaitinfo(&told, NULL);
    kill(0, SIGKILL);
    _exit(0);
}

/* A child of the engine, not of ours: jobs that wait for all their children must not wait for this
 * one. */
int keeper_start(pid_t engine, int sock, struct err *err)
{
    long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0)
        return err_sys(err, ERR_BUSY, "worker: cannot start its keeper");
    if (pid == 0)
        keep(engine, sock);
    return 0;
}
