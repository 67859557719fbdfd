/* deadline.c - see deadline.h. The kernel sends the signal, so a job can neither block nor miss it;
 * the keeper then ends what the job has started. */
#include "deadline.h"

#include <signal.h>

int deadline_open(struct deadline *d, struct err *err)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
    if (timer_create(CLOCK_BOOTTIME, &event, &d->timer))
        return err_sys(err, ERR_BUSY, "worker: cannot make a timer");
    return 0;
}

void deadline_set(const struct deadline *d, int64_t boot_us)
{
    struct itimerspec at = { .it_value = { .tv_sec = boot_us / 1000000,
                                           .tv_nsec = boot_us % 1000000 * 1000 } };
    timer_settime(d->timer, TIMER_ABSTIME, &at, NULL);
}
