/* sharing.h - answers that several readers get: of the last seconds, or one that is under way. Only
 * who says so gets one (Cache-Control: max-age=5, as the dashboard does): who sends no such header
 * reads what it has just written, by whatever way. No I/O, no clock. */
#ifndef PRESCIENT_HTTP_SHARING_H
#define PRESCIENT_HTTP_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "exchange.h"
#include "shared_body.h"

enum {
    SHARING_ANSWERS = 128,                      /* that are kept */
    SHARING_BYTES = 8 * 1024 * 1024,            /* of all of them; the oldest give way */
    SHARING_ONE = 1024 * 1024,                  /* of one; a larger one is not kept */
    SHARING_MAX_S = 30,                         /* none is older */
    SHARING_ETAG = 36,
};

/* Answers to the same question, of readers who may do the same, are the same. */
struct sharing_question {
    uint32_t route, role;
    const char *query;
};

struct shared_answer {
    uint32_t route, role;
    char *query;                                /* NULL: this place is free */
    struct shared_body *body;
    uint16_t content;
    int64_t asked_us;                           /* when its question went to the store */
    char etag[SHARING_ETAG];
};

struct sharing {
    struct shared_answer all[SHARING_ANSWERS];
    size_t bytes;
};

/* How old an answer may be, by the header, in seconds, at most SHARING_MAX_S; 0: as new as can be.
 * -1: the reader does not say, or there is no header. */
int sharing_max_age_s(const char *cache_control);
/* Payloads are for some readers only, and are asked for anew by each, in whatever way the query
 * spells that. */
bool sharing_may(const char *query);

/* One that was asked for at `since_us` or later. NULL: there is none. */
const struct shared_answer *sharing_find(const struct sharing *s, const struct sharing_question *q,
                                         int64_t since_us);
/* Keeps an answer whose body is shared, in the place of an older one; no memory for it: it is not
 * kept. */
void sharing_keep(struct sharing *s, const struct sharing_question *q, const struct answer *answer,
                  const char *etag, int64_t asked_us);
/* Something was changed: all are old. */
void sharing_forget(struct sharing *s);

/* "\"...\"", of the bytes of a body. */
void sharing_etag(const char *body, size_t len, char out[SHARING_ETAG]);
/* Whether a reader that sends this If-None-Match has it. NULL: it has sent none. */
bool sharing_is_known(const char *etag, const char *if_none_match);

#endif
