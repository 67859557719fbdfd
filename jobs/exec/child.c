/* child.c - the worker's side of a command and its guard: pipes, start, and end. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void child_close(struct child *c, int which)
{
    if (c->fd[which] >= 0)
        close(c->fd[which]);
    c->fd[which] = -1;
}

static void close_files(int *fd, int n)
{
    for (int i = 0; i < n; i++) {
        if (fd[i] >= 0)
            close(fd[i]);
        fd[i] = -1;
    }
}

/* One end for us, the other for the child. */
static int open_pipe(int *read_end, int *write_end)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

static int open_files(struct child *c, int theirs[CHILD_FILES], int err)
{
    int ends[2];
    if (open_pipe(&theirs[CHILD_IN], &c->fd[CHILD_IN]) || open_pipe(&c->fd[CHILD_OUT], &theirs[CHILD_OUT]) ||
        (err == CHILD_ERR_APART && open_pipe(&c->fd[CHILD_ERR], &theirs[CHILD_ERR])) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    c->fd[CHILD_GUARD] = ends[0];
    theirs[CHILD_GUARD] = ends[1];
    for (int i = CHILD_IN; i <= CHILD_ERR; i++)
        if (c->fd[i] >= 0 && fcntl(c->fd[i], F_SETFL, O_NONBLOCK))
            return -1;
    return 0;
}

static int start(struct child *c, const struct command *command, char *const envp[], int err,
                 const int theirs[CHILD_FILES])
{
    int err_file = err >= 0 ? err : theirs[CHILD_ERR];
    struct guard_files files = { theirs[CHILD_IN], theirs[CHILD_OUT], err_file, theirs[CHILD_GUARD] };
    if (err == CHILD_ERR_WITH_OUT)
        files.err = files.out;
    c->guard = fork();
    if (c->guard == 0) {
        close(c->fd[CHILD_GUARD]);
        guard_run(command, envp, &files);
    }
    return c->guard < 0 ? -1 : 0;
}

int child_start(struct child *c, const struct command *command, char *const envp[], int err)
{
    int theirs[CHILD_FILES] = { -1, -1, -1, -1 };
    *c = CHILD_NONE;
    int rc = open_files(c, theirs, err);
    if (rc == 0)
        rc = start(c, command, envp, err, theirs);
    int why = errno;
    close_files(theirs, CHILD_FILES);
    if (rc)
        close_files(c->fd, CHILD_FILES);
    errno = why;
    return rc;
}

int child_report(const struct child *c, struct guard_report *report)
{
    return recv(c->fd[CHILD_GUARD], report, sizeof *report, 0) == sizeof *report ? 0 : -1;
}

int child_judge(const struct guard_report *report, const struct command *command, int *status, char *why,
                size_t why_size)
{
    const char *words = strerror(report->value);
    switch (report->what) {
    case GUARD_ENDED:
        *status = report->value;
        return 0;
    case GUARD_NO_FOLDER:
        snprintf(why, why_size, "cannot enter 'dir' %s: %s", command->dir, words);
        break;
    case GUARD_NO_PROGRAM:
        snprintf(why, why_size, "cannot execute %s: %s%s", command->path, words,
                 report->value == ENOEXEC ? " (a script begins with a line such as #!/bin/sh)" : "");
        break;
    default:
        snprintf(why, why_size, "cannot start %s: %s", command->path, words);
    }
    return -1;
}

void child_end(struct child *c)
{
    close_files(c->fd, CHILD_FILES);
    while (c->guard > 0 && waitpid(c->guard, NULL, 0) < 0 && errno == EINTR)
        ;
    c->guard = -1;
}

static sigset_t sigpipe_alone(void)
{
    sigset_t alone;
    sigemptyset(&alone);
    sigaddset(&alone, SIGPIPE);
    return alone;
}

void child_hold_sigpipe(sigset_t *before)
{
    sigset_t alone = sigpipe_alone();
    sigprocmask(SIG_BLOCK, &alone, before);
}

void child_release_sigpipe(const sigset_t *before)
{
    const struct timespec none = { 0 };
    sigset_t alone = sigpipe_alone();
    while (sigtimedwait(&alone, NULL, &none) == SIGPIPE)
        ;
    sigprocmask(SIG_SETMASK, before, NULL);
}
