/* signals.c - see signals.h. */
#include "signals.h"

#include <signal.h>
#include <sys/signalfd.h>

int signals_open(const int *signals, struct err *err)
{
    sigset_t set;
    sigemptyset(&set);
    for (; *signals; signals++)
        sigaddset(&set, *signals);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return err_sys(err, ERR_GENERAL, "sigprocmask");
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? err_sys(err, ERR_GENERAL, "signalfd") : fd;
}
