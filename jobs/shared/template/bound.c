/* bound.c - a timer whose signal looks at the program now and then. libjq asks before each step
 * whether it is to halt, so a handler can end it. */
#include "bound.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TICK_MS = 10,
    /* Of what was left: an array that grows is there twice for a moment, and the stack of libjq may
     * take four times as much: it calls itself for each level of a value, at 48 bytes a level. */
    MEMORY_PART = 8,
};

#define STACK_MOST ((rlim_t)1 << 30) /* and so much is left where there is no limit */

/* In a signal's handler: no allocation, no stdio. -1: not known. */
static int64_t address_space(void)
{
    char text[32];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return -1;
    int64_t pages = 0;
    for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        pages = pages * 10 + (text[i] - '0');
    return pages * sysconf(_SC_PAGESIZE);
}

/* A worker that runs out of memory, or of stack, would be ended, with all checks that it has. */
static int64_t find_most(int64_t bytes)
{
    struct rlimit all, stack;
    if (bytes < 0 || getrlimit(RLIMIT_AS, &all) || getrlimit(RLIMIT_STACK, &stack))
        return -1;
    int64_t left = (int64_t)STACK_MOST;
    if (all.rlim_cur != RLIM_INFINITY)
        left = (int64_t)all.rlim_cur - bytes;
    if (stack.rlim_cur < STACK_MOST && left > (int64_t)stack.rlim_cur)
        left = (int64_t)stack.rlim_cur;
    return left > 0 ? bytes + left / MEMORY_PART : bytes;
}

/* The first thread's stack grows up to the limit that holds when it grows. */
static void raise_stack(void)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= STACK_MOST)
        return;
    stack.rlim_cur = stack.rlim_max < STACK_MOST ? stack.rlim_max : STACK_MOST;
    setrlimit(RLIMIT_STACK, &stack);
}

static bool is_too_large(struct bound *b)
{
    if (b->most_bytes < 0)
        return false;
    int64_t bytes = address_space();
    if (!b->most_bytes)
        b->most_bytes = find_most(bytes);
    return b->most_bytes >= 0 && bytes > b->most_bytes;
}

static void look(int sig, siginfo_t *info, void *context)
{
    struct bound *b = info->si_value.sival_ptr;
    int before = errno;
    (void)sig, (void)context;
    b->left_ms -= TICK_MS * (1 + info->si_overrun);
    if (b->left_ms <= 0)
        b->end = BOUND_TIME;
    else if (is_too_large(b))
        b->end = BOUND_MEMORY;
    if (b->end && !jq_halted(b->jq))
        jq_halt(b->jq, jv_null(), jv_null());
    errno = before;
}

/* The signal comes to this thread, and it has come before a call that stops the timer returns. */
bool bound_begin(struct bound *b, jq_state *jq, int64_t limit_ms)
{
    int64_t first_ms = limit_ms < TICK_MS ? limit_ms : TICK_MS;
    struct sigaction action = { .sa_sigaction = look, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM,
                              .sigev_value.sival_ptr = b };
    struct itimerspec each = { .it_value.tv_nsec = first_ms * 1000000,
                               .it_interval.tv_nsec = TICK_MS * 1000000 };
    *b = (struct bound){ .jq = jq, .left_ms = limit_ms };
    raise_stack();
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    sigemptyset(&action.sa_mask);
    if (timer_create(CLOCK_MONOTONIC, &event, &b->timer))
        return false;
    sigaction(SIGVTALRM, &action, &b->before);
    timer_settime(b->timer, 0, &each, NULL);
    return true;
}

enum bound_end bound_over(struct bound *b)
{
    timer_settime(b->timer, 0, &(struct itimerspec){ .it_value.tv_sec = 0 }, NULL);
    timer_delete(b->timer);
    sigaction(SIGVTALRM, &b->before, NULL);
    return (enum bound_end)b->end;
}
