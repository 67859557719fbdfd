/* follow.h - a client that waits for events: its question is asked again and again, until there is
 * something to tell, or for as long as it stays (server-sent events, a feed). Pure. */
#ifndef PRESCIENT_HTTP_FOLLOW_H
#define PRESCIENT_HTTP_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include "../rules/event_cursor.h"
#include "exchange.h"

enum {
    FOLLOW_MOST = 64,                   /* clients that wait at once: each is a question a second */
    FOLLOW_WAIT_MAX_S = 60,             /* for one answer */
};
/* Who waits for one answer is asked about again after this time. */
#define FOLLOW_AGAIN_US (INT64_C(1) * 1000 * 1000)
/* A feed that has nothing to tell says so after this time, which keeps proxies from closing it. */
#define FOLLOW_SILENT_US (INT64_C(15) * 1000 * 1000)

struct follow {                         /* all zero: the request waits for nothing */
    int64_t since_us;                   /* when it was asked first; 0: it waits for no answer */
    bool is_feed;                       /* its answer has begun, and goes on */
    bool is_resting;                    /* until it is asked again */
    int64_t told_us;                    /* when a feed was told something last */
    int64_t again_us;                   /* after so long it is asked again */
    char after[EVENT_CURSOR_SIZE];      /* of a feed: behind this event is asked next */
    char begin[EVENT_CURSOR_SIZE + 32]; /* what it begins with */
};

static inline bool follow_is_on(const struct follow *f)
{
    return f->since_us || f->is_feed;
}

bool follow_wants_feed(const char *accept);

/* The answer says that there is nothing yet. True: it is asked again, and not answered by now. */
bool follow_waits(struct follow *f, const struct answer *answer, int64_t now_us, bool is_ending);

/* A part of a feed has come. Returns what is sent of it, of `*len` bytes; none of them: nothing, it
 * is asked again. */
const char *follow_part(struct follow *f, const struct answer *answer, int64_t now_us, size_t *len);

#endif
