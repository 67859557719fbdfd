/* shutdown.c - the first reason to end is the one that counts, and the earliest time. */
#include "shutdown.h"

#include <stdarg.h>
#include <stdio.h>

void shutdown_begin(struct shutdown *s, int64_t until_us)
{
    if (s->stopping && s->until_us <= until_us)
        return;
    s->stopping = true;
    s->until_us = until_us;
}

void shutdown_end(struct shutdown *s, int rc, const char *fmt, ...)
{
    if (s->ended)
        return;
    s->ended = true;
    s->rc = rc;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->err.text, sizeof s->err.text, fmt, ap);
    va_end(ap);
    s->err.code = rc;
}
