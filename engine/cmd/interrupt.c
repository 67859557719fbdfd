/* interrupt.c - see interrupt.h. */
#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include "../base/signals.h"

static const int heard[] = { SIGINT, SIGTERM, 0 };

int interrupt_init(struct interrupt *in, struct err *err)
{
    in->fd = signals_open(heard, err);
    return in->fd < 0 ? in->fd : 0;
}

void interrupt_release(struct interrupt *in)
{
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
}

bool interrupt_wait(const struct interrupt *in, int ms)
{
    struct pollfd p = { .fd = in->fd, .events = POLLIN };
    return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

bool interrupt_came(const struct interrupt *in)
{
    return interrupt_wait(in, 0);
}

bool interrupt_wait_beside(const struct interrupt *in, int fd, int ms)
{
    struct pollfd p[] = { { .fd = in->fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
    return poll(p, 2, ms) > 0 && p[0].revents & POLLIN;
}

bool interrupt_wait_readable(const struct interrupt *in, int fd)
{
    struct pollfd p[] = { { .fd = in->fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
    while (poll(p, 2, -1) < 0 && errno == EINTR)
        ;
    return p[0].revents & POLLIN;
}
