/* post_batch.h - checks that are asked for together, each of which is answered for itself; and what
 * the forms of POST /v1/checks have in common. */
#ifndef PRESCIENT_HTTP_POST_BATCH_H
#define PRESCIENT_HTTP_POST_BATCH_H

#include "asked_check.h"
#include "desk.h"

struct post_batch {
    struct post_item items[EXCHANGE_MOST];
    struct answer *answers[EXCHANGE_MOST];
    struct post_result results[EXCHANGE_MOST];
    int n;                          /* at least 1, when they are filed */
};

/* Files them in one transaction; if that fails for a value that the database refuses, or for a
 * lock, block by block, and those of such a block each in one of its own. Returns 0: each has its
 * answer. Or an ERR_ that concerns all: none is filed or answered. */
int post_batch_file(struct desk *desk, struct post_batch *b, struct err *err);

/* Reads one check (asked_check.h), and looks whether its job is known. Of a problem the reference
 * is the caller's. Returns 0 or an ERR_. */
int post_read_check(struct desk *desk, const json_t *object, const char *key, const char *pointer,
                    struct asked_check *asked, struct err *err);
struct post_terms post_terms_of(const struct desk *desk, bool all);

/* What was filed, as JSON. */
json_t *post_filed(const struct post_result *result);
/* What is said of POST_OTHER. */
extern const char post_other_detail[];
/* A call that has failed for one. */
void post_refuse_value(struct desk *desk, struct answer *answer, const struct err *err);

#endif
