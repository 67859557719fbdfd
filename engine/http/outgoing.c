/* outgoing.c - see outgoing.h. */
#include "outgoing.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { TURN_MAX = 1024 * 1024 };

static bool is_for_later(int error)
{
    return error == EAGAIN || error == EINTR || error == ENOBUFS || error == ENOMEM;
}

void outgoing_share(struct outgoing *o, struct shared_body *body)
{
    o->body = shared_body_share(body);
}

static size_t total(const struct outgoing *o)
{
    return o->bytes.len + (o->body ? o->body->len : 0);
}

/* In one piece, so that a head does not go alone, and its body waits until it has arrived. */
static ssize_t send_rest(struct outgoing *o, int fd)
{
    struct iovec parts[2];
    struct msghdr message = { .msg_iov = parts };
    size_t of_body = 0;
    if (o->sent < o->bytes.len)
        parts[message.msg_iovlen++] = (struct iovec){ o->bytes.data + o->sent, o->bytes.len - o->sent };
    else
        of_body = o->sent - o->bytes.len;
    if (o->body)
        parts[message.msg_iovlen++] = (struct iovec){ o->body->data + of_body, o->body->len - of_body };
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

enum outgoing_rc outgoing_write(struct outgoing *o, int fd, size_t *written)
{
    *written = 0;
    while (o->sent < total(o) && *written < TURN_MAX) {
        ssize_t n = send_rest(o, fd);
        if (n < 0)
            return is_for_later(errno) ? OUTGOING_LATER : OUTGOING_GONE;
        o->sent += (size_t)n;
        *written += (size_t)n;
    }
    if (o->sent < total(o))
        return OUTGOING_LATER;
    bytes_take(&o->bytes, o->bytes.len);
    shared_body_drop(o->body);
    o->body = NULL;
    o->sent = 0;
    return OUTGOING_DONE;
}

void outgoing_free(struct outgoing *o)
{
    bytes_free(&o->bytes);
    shared_body_drop(o->body);
    o->body = NULL;
    o->sent = 0;
}
