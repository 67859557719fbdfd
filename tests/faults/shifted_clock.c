/* shifted_clock.c - preloaded by clock.sh: the wall clock of a process shows another time than the
 * machine's, and jumps while the process runs.
 *
 * CLOCK_FILE     a file of eight bytes: by how many microseconds the wall clock is ahead. It is
 *                mapped: every process that was started with the same file sees a jump when it
 *                next reads the clock, without a system call.
 *
 * Monotonic clocks, CLOCK_BOOTTIME and timers stay as they are: when a machine's clock is set,
 * these do not move either. A look at the clock takes no lock and no memory, since PostgreSQL does
 * that in signal handlers (libfaketime opens and reads its file there). Who needs to know the
 * machine's time nevertheless asks the kernel: syscall(SYS_clock_gettime, ...). */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "into_workers.h"

static const int64_t *ahead_us;         /* NULL: as the machine */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("CLOCK_FILE");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = fd >= 0 ? mmap(NULL, sizeof *ahead_us, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (map != MAP_FAILED) {
        ahead_us = map;
        return;
    }
    /* A process that goes on with the right time would let a scenario pass that has tried nothing.
     */
    static const char words[] = "shifted_clock: CLOCK_FILE cannot be mapped\n";
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(126);
    _exit(125);
}

static int64_t ahead(void) { return ahead_us ? __atomic_load_n(ahead_us, __ATOMIC_RELAXED) : 0; }

/* The kernel's page for clocks is a secret of the C library's own clock_gettime; a system call is
 * fast enough here. */
int clock_gettime(clockid_t id, struct timespec *out)
{
    if (syscall(SYS_clock_gettime, id, out))
        return -1;
    if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE && id != CLOCK_TAI)
        return 0;
    int64_t us = ahead(), part = out->tv_nsec + us % 1000000 * 1000;
    out->tv_sec += us / 1000000 + (part >= 1000000000) - (part < 0);
    out->tv_nsec = part - (part >= 1000000000) * INT64_C(1000000000) + (part < 0) * INT64_C(1000000000);
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec t;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &t))
        return -1;
    out->tv_sec = t.tv_sec;
    out->tv_usec = t.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec t;
    if (clock_gettime(CLOCK_REALTIME, &t))
        return -1;
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}

int timespec_get(struct timespec *out, int base)
{
    return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, out) ? base : 0;
}

/* A worker sees the same clock as its engine. */
int execve(const char *path, char *const argv[], char *const envp[])
{
    static const char *const names[] = { "LD_PRELOAD", "CLOCK_FILE" };
    return is_worker(argv) ? exec_with(path, argv, envp, names, sizeof names / sizeof *names)
                           : (int)syscall(SYS_execve, path, argv, envp);
}
