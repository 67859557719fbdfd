/* follow.c - see follow.h. */
#include "follow.h"

#include <stdio.h>
#include <string.h>

bool follow_wants_feed(const char *accept)
{
    return accept && strstr(accept, "text/event-stream");
}

bool follow_is_wanted(const char *query, const char *accept)
{
    bool waits = !strncmp(query, "wait=", 5) || strstr(query, "&wait=");
    return waits || follow_wants_feed(accept);
}

bool follow_waits(struct follow *f, const struct answer *answer, int64_t now_us, bool is_ending)
{
    if (!answer->wait_ms)
        return false;
    if (!f->since_us)
        f->since_us = now_us;
    return !is_ending && now_us - f->since_us < answer->wait_ms * INT64_C(1000);
}

/* A browser that has lost it asks again after so long. */
static const char begin[] = "retry: 2000\n\n";
/* A line that is no event. */
static const char silent[] = ":\n\n";

const char *follow_part(struct follow *f, const struct answer *answer, int64_t now_us, size_t *len)
{
    const char *part = answer->body;
    if (answer->at)
        snprintf(f->after, sizeof f->after, "%s", answer->at);
    *len = answer->body_len;
    if (!*len && !f->is_feed)
        part = begin;
    else if (!*len && now_us - f->told_us >= FOLLOW_SILENT_US)
        part = silent;
    if (part != answer->body)
        *len = strlen(part);
    f->is_feed = true;
    if (*len)
        f->told_us = now_us;
    return part;
}
