/* command.c - the worker's side of a command: pipes, its guard, and what comes out of it. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

enum { READ_BYTES = 65536 };

struct run {
    struct child child;
    const char *input;
    size_t left;
    struct excerpt *output;
    struct capture *captured;
};

/* ---- what goes in and what comes out ---- */

/* A command may read as much of it as it likes. */
static void feed(struct run *r)
{
    ssize_t n = r->left ? write(r->child.fd[CHILD_IN], r->input, r->left) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        r->input += n;
        r->left -= (size_t)n;
    }
    if (n < 0 || r->left == 0)
        child_close(&r->child, CHILD_IN);
}

static void take(struct run *r, int which, const char *bytes, size_t len)
{
    struct capture *to = r->captured;
    if (which == CHILD_ERR || !to) {
        excerpt_add(r->output, bytes, len);
        return;
    }
    if (to->total < to->room) {
        size_t room = to->room - to->total;
        memcpy(to->bytes + to->total, bytes, room < len ? room : len);
    }
    to->total += len;
}

/* Reads once. Returns how many bytes came; 0: none just now, or none any more. */
static size_t drain(struct run *r, int which)
{
    char bytes[READ_BYTES];
    int fd = r->child.fd[which];
    ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0) {
        child_close(&r->child, which);
        return 0;
    }
    take(r, which, bytes, (size_t)n);
    return (size_t)n;
}

/* The command has ended: all that it wrote is in the pipe, which holds no more than its size. What
 * is written behind that is another process's. */
static void drain_rest(struct run *r, int which)
{
    int fd = r->child.fd[which], size = fd < 0 ? 0 : fcntl(fd, F_GETPIPE_SZ);
    for (size_t left = size > 0 ? (size_t)size : 0; left;) {
        size_t n = drain(r, which);
        if (n == 0)
            return;
        left -= n < left ? n : left;
    }
}

/* Returns when the guard has reported, or is gone. */
static int attend(struct run *r, struct guard_report *report)
{
    static const int watched[] = { CHILD_GUARD, CHILD_OUT, CHILD_ERR, CHILD_IN };
    for (;;) {
        struct pollfd fds[4];
        for (int i = 0; i < 4; i++)
            fds[i] = (struct pollfd){ .fd = r->child.fd[watched[i]], .events = i < 3 ? POLLIN : POLLOUT };
        if (poll(fds, 4, -1) < 0)
            continue;
        if (fds[1].revents)
            drain(r, CHILD_OUT);
        if (fds[2].revents)
            drain(r, CHILD_ERR);
        if (fds[3].revents)
            feed(r);
        if (fds[0].revents)
            return child_report(&r->child, report);
    }
}

/* ---- the run ---- */

static enum command_end run(struct run *r, const struct command *c, char *const envp[], int *status,
                            char *why, size_t why_size)
{
    struct guard_report report = { .value = 0 };
    if (child_start(&r->child, c, envp, r->captured ? CHILD_ERR_APART : CHILD_ERR_WITH_OUT)) {
        snprintf(why, why_size, "cannot start %s: %s", c->path, strerror(errno));
        return COMMAND_NOT_STARTED;
    }
    int rc = attend(r, &report);
    drain_rest(r, CHILD_OUT);
    drain_rest(r, CHILD_ERR);
    child_end(&r->child);
    if (rc == 0)
        return child_judge(&report, c, status, why, why_size) ? COMMAND_NOT_STARTED : COMMAND_ENDED;
    snprintf(why, why_size, "the guard of %s was killed", c->path);
    return COMMAND_NOT_STARTED;
}

enum command_end command_run(const struct command *c, char *const envp[], const char *input, size_t input_len,
                             struct excerpt *output, struct capture *captured, int *status, char *why,
                             size_t why_size)
{
    struct run r = { .input = input, .left = input_len, .output = output, .captured = captured };
    sigset_t before;
    child_hold_sigpipe(&before);
    enum command_end end = run(&r, c, envp, status, why, why_size);
    child_release_sigpipe(&before);
    return end;
}
