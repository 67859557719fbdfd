/* follow.c - see follow.h. */
#include "follow.h"

#include <stdio.h>
#include <string.h>

bool follow_wants_feed(const char *accept)
{
    return accept && strstr(accept, "text/event-stream");
}

bool follow_waits(struct follow *f, const struct answer *answer, int64_t now_us, bool is_ending)
{
    if (answer->content != CONTENT_JSON || !answer->wait_ms)
        return false;
    if (!f->since_us)
        f->since_us = now_us;
    f->again_us = FOLLOW_AGAIN_US;
    return !is_ending && now_us - f->since_us < answer->wait_ms * INT64_C(1000);
}

/* A line that is no event. */
static const char silent[] = ":\n\n";

const char *follow_part(struct follow *f, const struct answer *answer, int64_t now_us, size_t *len)
{
    const char *part = answer->body;
    if (answer->at)
        snprintf(f->after, sizeof f->after, "%s", answer->at);
    f->again_us = answer->wait_ms * INT64_C(1000);
    *len = answer->body_len;
    /* A browser that loses it before the first event still knows where it was, by the id; it asks
     * again after two seconds. */
    snprintf(f->begin, sizeof f->begin, "retry: 2000\nid: %s\n\n", f->after);
    if (!*len && !f->is_feed)
        part = f->begin;
    else if (!*len && now_us - f->told_us >= FOLLOW_SILENT_US)
        part = silent;
    if (part != answer->body)
        *len = strlen(part);
    f->is_feed = true;
    if (*len)
        f->told_us = now_us;
    return part;
}
