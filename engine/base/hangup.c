/* hangup.c - see hangup.h. */
#include "hangup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum {
    LOOK_US = 1000 * 1000,
    SHELL_US = 5 * 1000 * 1000 /* so long after its terminal a shell may be at telling its jobs */
};

/* Whose terminal was hung up has none from then on. That no descriptor is free says nothing. */
static bool terminal_is_there(void)
{
    int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || (errno != ENXIO && errno != EIO);
}

static void look(struct hangup *h, int64_t now_us)
{
    if (!h->has_terminal)
        return;
    h->looked_us = now_us;
    h->has_terminal = terminal_is_there();
    if (!h->has_terminal)
        h->gone_us = now_us;
}

void hangup_init(struct hangup *h, int64_t now_us)
{
    struct sigaction is;
    *h = (struct hangup){ .looked_us = now_us, .has_terminal = terminal_is_there() };
    h->is_ignored = sigaction(SIGHUP, NULL, &is) == 0 && is.sa_handler == SIG_IGN;
}

void hangup_look(struct hangup *h, int64_t now_us)
{
    if (now_us - h->looked_us >= LOOK_US)
        look(h, now_us);
}

enum hangup_means hangup_came(struct hangup *h, bool from_kernel, bool may_renew, int64_t now_us)
{
    look(h, now_us);
    bool is_terminals = from_kernel || (h->gone_us && now_us - h->gone_us < SHELL_US);
    if (may_renew && !is_terminals)
        return HANGUP_RENEWS;
    return h->is_ignored ? HANGUP_NOTHING : HANGUP_ENDS;
}
