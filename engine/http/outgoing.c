/* outgoing.c - see outgoing.h. */
#include "outgoing.h"

#include <errno.h>
#include <sys/socket.h>

enum { TURN_MAX = 1024 * 1024 };

static bool is_for_later(int error)
{
    return error == EAGAIN || error == EINTR || error == ENOBUFS || error == ENOMEM;
}

enum outgoing_rc outgoing_write(struct outgoing *o, int fd, size_t *written)
{
    *written = 0;
    while (o->sent < o->bytes.len && *written < TURN_MAX) {
        ssize_t n = send(fd, o->bytes.data + o->sent, o->bytes.len - o->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0)
            return is_for_later(errno) ? OUTGOING_LATER : OUTGOING_GONE;
        o->sent += (size_t)n;
        *written += (size_t)n;
    }
    if (o->sent < o->bytes.len)
        return OUTGOING_LATER;
    bytes_take(&o->bytes, o->bytes.len);
    o->sent = 0;
    return OUTGOING_DONE;
}

void outgoing_free(struct outgoing *o)
{
    bytes_free(&o->bytes);
    o->sent = 0;
}
