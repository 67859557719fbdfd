/* clock.c - the clocks of the kernel. */
#include "clock.h"

#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t system_mono(void *ctx) { (void)ctx; return read_us(CLOCK_MONOTONIC); }
static int64_t system_boot(void *ctx) { (void)ctx; return read_us(CLOCK_BOOTTIME); }
static int64_t system_wall(void *ctx) { (void)ctx; return read_us(CLOCK_REALTIME); }

const struct clock clock_system = { .mono_us = system_mono, .boot_us = system_boot, .wall_us = system_wall };
