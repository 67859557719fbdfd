/* supervisor.c - see supervisor.h. */
#include "supervisor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path, or a name of Linux's own, which is written with a '@' in front. False: it is neither. */
static bool set_address(struct supervisor *s, const char *name)
{
    size_t len = strlen(name);
    bool is_name = (*name == '/' || *name == '@') && name[1] && len < sizeof s->to.sun_path;
    if (!is_name)
        return false;
    s->to = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(s->to.sun_path, name, len);
    s->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (*name == '/'));
    if (*name == '@')
        s->to.sun_path[0] = '\0';
    return true;
}

/* 0: none is set, or it is meant for another process. */
static int64_t watchdog_us(void)
{
    const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (!us || (pid && strtoll(pid, NULL, 10) != getpid()))
        return 0;
    long long number = strtoll(us, NULL, 10);
    return number > 0 ? number : 0;
}

void supervisor_open(struct supervisor *s)
{
    const char *name = getenv("NOTIFY_SOCKET");
    *s = (struct supervisor){ .fd = -1 };
    if (!name || !set_address(s, name))
        return;
    s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    s->watchdog_us = watchdog_us();
    s->owes_ready = true;
}

void supervisor_close(struct supervisor *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* False: nobody wants to know, or it does not go out now. */
static bool tell(const struct supervisor *s, const char *message)
{
    size_t len = strlen(message);
    return s->fd >= 0 && sendto(s->fd, message, len, MSG_NOSIGNAL, (const struct sockaddr *)&s->to,
                                s->to_len) == (ssize_t)len;
}

static void tell_status(struct supervisor *s, int64_t now_us)
{
    enum { EACH_US = 1000 * 1000 };
    char message[SUPERVISOR_STATUS_SIZE + 8];
    if (!*s->status || s->stops || (s->status_us && now_us - s->status_us < EACH_US))
        return;
    snprintf(message, sizeof message, "STATUS=%s", s->status);
    if (!tell(s, message))
        return;
    s->status_us = now_us;
    *s->status = '\0';
}

static void ask_for_time(struct supervisor *s, int64_t now_us)
{
    enum { EACH_US = 10 * 1000 * 1000 };
    if (s->extended_us && now_us - s->extended_us < EACH_US)
        return;
    if (tell(s, "EXTEND_TIMEOUT_USEC=60000000"))
        s->extended_us = now_us;
}

static void tell_reload(struct supervisor *s)
{
    char message[80];
    snprintf(message, sizeof message, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, s->reloads_us);
    if (s->reloads_us && !s->stops && tell(s, message))
        s->reloads_us = 0;
}

void supervisor_reloads(struct supervisor *s, int64_t now_us)
{
    if (!s || s->owes_ready)
        return;
    s->reloads_us = now_us;
    s->owes_ready = true;
    s->is_ready = false;
}

void supervisor_ready(struct supervisor *s)
{
    if (s)
        s->is_ready = true;
}

void supervisor_turn(struct supervisor *s, int64_t now_us)
{
    enum { PART = 4 };
    if (!s || s->fd < 0)
        return;
    tell_reload(s);
    if (s->owes_ready && s->is_ready && !s->reloads_us && !s->stops && tell(s, "READY=1"))
        s->owes_ready = false;
    if (s->owes_ready && !s->is_ready && !s->stops)
        ask_for_time(s, now_us);
    tell_status(s, now_us);
    if (s->watchdog_us && now_us - s->alive_us >= s->watchdog_us / PART && tell(s, "WATCHDOG=1"))
        s->alive_us = now_us;
}

void supervisor_status(struct supervisor *s, const char *fmt, ...)
{
    if (!s)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->status, sizeof s->status, fmt, ap);
    va_end(ap);
}

void supervisor_stops(struct supervisor *s, int64_t within_us)
{
    char message[100];
    if (!s)
        return;
    s->stops = true;
    snprintf(message, sizeof message, "STOPPING=1\nSTATUS=finishing what runs\nEXTEND_TIMEOUT_USEC=%" PRId64,
             within_us);
    tell(s, message);
}
