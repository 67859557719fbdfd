/* interrupt.c - signals by way of a descriptor: no handler, no shared variable. */
#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int interrupt_init(struct interrupt *in, struct err *err)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    in->fd = -1;
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return err_sys(err, ERR_GENERAL, "sigprocmask");
    in->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return in->fd < 0 ? err_sys(err, ERR_GENERAL, "signalfd") : 0;
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
