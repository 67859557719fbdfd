/* exchange.h - what goes between the process that speaks HTTP (the front) and those that ask the
 * store (the backends): questions, and the answers to them, in one message each. Both are the same
 * program; all the same nothing is believed about a length. No I/O. */
#ifndef PRESCIENT_HTTP_EXCHANGE_H
#define PRESCIENT_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../base/bytes.h"

enum {
    /* questions of one message; a message of answers has as many */
    EXCHANGE_MOST = 1000,
    /* bytes of one message */
    EXCHANGE_BYTES_MAX = 72 * 1024 * 1024,
};

struct shared_body;

struct question {
    uint32_t route;                 /* its index in route_table */
    const char *query;              /* as sent */
    /* the header Idempotency-Key, or of a GET Last-Event-ID; NULL: none */
    const char *key;
    const char *accept;             /* the header Accept; NULL: none */
    /* the name of the token by which it is asked, and its role (enum token_role); "": no token is
     * needed, and who asks may do all */
    const char *who;
    uint32_t role;
    const char *body;               /* of `body_len` bytes; not ended by a NUL */
    uint32_t body_len;
    uint32_t line;                  /* of a body of lines, the number of the first; else 0 */
};

enum content {
    CONTENT_JSON, CONTENT_PROBLEM, CONTENT_NDJSON, CONTENT_TEXT, CONTENT_METRICS, CONTENT_OPENMETRICS,
    CONTENT_FEED,
    CONTENT_HTML, CONTENT_CSS, CONTENT_SCRIPT, CONTENT_SVG,     /* of the front's own pages */
    CONTENTS
};

struct answer {
    uint16_t status;
    uint16_t content;               /* enum content */
    uint16_t retry_after_s;         /* 0: the header Retry-After is not sent */
    const char *body;               /* of `body_len` bytes */
    uint32_t body_len;
    /* There is nothing to tell yet: it may be asked again until so long after it came; 0: this is
     * the answer. Of CONTENT_FEED: when it is asked again. */
    uint32_t wait_ms;
    /* The same bytes, which others get, too; NULL: they are copied. It does not go between the
     * processes. */
    struct shared_body *shared;
    const char *at;                 /* of CONTENT_FEED: the event behind which it goes on; else NULL */
};

/* A message is its length in 4 bytes, and that many bytes more: questions or answers one after the
 * other. Begin it at the end of `to`, put each, end it. False: there is no memory for it, or it has
 * become too long; the owner takes what was put away again. */
bool exchange_begin(struct bytes *to);
bool exchange_put_question(struct bytes *to, const struct question *q);
bool exchange_put_answer(struct bytes *to, const struct answer *a);
bool exchange_end(struct bytes *to, size_t begin);

/* The first message of `from`, if it is complete: its contents, without its length. False: more
 * has to come; *bad: this is none. */
struct exchange { const char *data; size_t len; };
bool exchange_whole(const struct bytes *from, struct exchange *message, bool *bad);
void exchange_take(struct bytes *from, const struct exchange *message);

/* The next one of a message; its texts stand in the message. False: there is no other, or it cannot
 * be read. */
bool exchange_next_question(struct exchange *message, struct question *q);
bool exchange_next_answer(struct exchange *message, struct answer *a);

#endif
