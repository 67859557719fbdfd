/* message.c - one packet out, one packet in, perhaps with a descriptor. The other end may be
 * hostile: sizes are bounded, and descriptors that were not asked for are closed. */
#include "message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Room for one descriptor is rounded up to room for two by the alignment, and either may arrive. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static void put_fd(struct msghdr *msg, union control *control, int fd)
{
    memset(control, 0, sizeof *control);
    msg->msg_control = control->bytes;
    msg->msg_controllen = sizeof control->bytes;
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
}

static int failed(int error, const char *verb, struct err *err)
{
    errno = error;
    if (error == EAGAIN || error == ENOBUFS)
        return err_sys(err, ERR_BUSY, "wire: %s", verb);
    if (error == EPIPE || error == ECONNRESET || error == ENOTCONN)
        return err_sys(err, ERR_LOST, "wire: %s", verb);
    return err_sys(err, ERR_GENERAL, "wire: %s", verb);
}

int message_send(int sock, enum message_kind kind, const void *body, size_t len, int fd, struct err *err)
{
    if (len >= MESSAGE_MAX)
        return err_set(err, ERR_GENERAL, "wire: message '%c' has %zu bytes, expected at most %d", (char)kind,
                       len, MESSAGE_MAX - 1);
    char first = (char)kind;
    struct iovec parts[2] = { { &first, 1 }, { (void *)body, len } };
    struct msghdr msg = { .msg_iov = parts, .msg_iovlen = len ? 2 : 1 };
    union control control;
    if (fd >= 0)
        put_fd(&msg, &control, fd);
    ssize_t n;
    do
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? failed(errno, "send", err) : 0;
}

/* The first descriptor of the packet, if the caller wants one; all others are closed. */
static void take_fds(struct msghdr *msg, int *fd)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int got;
            memcpy(&got, CMSG_DATA(c) + i * sizeof got, sizeof got);
            if (fd && *fd < 0)
                *fd = got;
            else
                close(got);
        }
    }
}

int message_receive(int sock, enum message_kind *kind, char *body, int *fd, struct err *err)
{
    char first = 0;
    struct iovec parts[2] = { { &first, 1 }, { body, MESSAGE_MAX - 1 } };
    union control control;
    struct msghdr msg = { .msg_iov = parts,
                          .msg_iovlen = 2,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof control.bytes };
    if (fd)
        *fd = -1;
    ssize_t n;
    do
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return failed(errno, "receive", err);
    take_fds(&msg, fd);
    if (n > 0 && !(msg.msg_flags & MSG_TRUNC)) {
        body[n - 1] = '\0';
        *kind = (enum message_kind)(unsigned char)first;
        return (int)n - 1;
    }
    if (fd && *fd >= 0) {               /* after a failure the caller does not look at it */
        close(*fd);
        *fd = -1;
    }
    if (n == 0)
        return err_set(err, ERR_LOST, "wire: the other end has closed");
    return err_set(err, ERR_GENERAL, "wire: a packet of more than %d bytes", MESSAGE_MAX);
}
