/* shared_body.h - the body of an answer that several clients get, and that is kept for others: it
 * is there once, for as long as somebody has it. */
#ifndef PRESCIENT_HTTP_SHARED_BODY_H
#define PRESCIENT_HTTP_SHARED_BODY_H

#include <stddef.h>

struct shared_body {
    int owners;
    size_t len;
    char data[];
};

/* A copy of the bytes, which the caller owns. NULL: there is no memory. */
struct shared_body *shared_body_new(const char *data, size_t len);
/* The caller owns it, too. Returns it. */
struct shared_body *shared_body_share(struct shared_body *b);
/* The caller owns it no more; NULL is fine. The last one frees it. */
void shared_body_drop(struct shared_body *b);

#endif
