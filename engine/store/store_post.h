/* store_post.h - checks that are asked for over HTTP, each request once: a part of the store's
 * contract. */
#ifndef PRESCIENT_STORE_POST_H
#define PRESCIENT_STORE_POST_H

#include "store.h"

enum { POST_CONTENT_SIZE = 65 };    /* SHA-256 in hexadecimal digits, and a NUL */

struct post_item {
    const char *uniqid;             /* NULL: none, and a repeat files a check again */
    char content[POST_CONTENT_SIZE];        /* a digest of all that was asked for */
    struct load_row row;            /* checked (enqueue_check_row); `at` may be seconds from now on */
    bool is_after;                  /* it is: counted from the store's clock */
    int64_t within_s;               /* 0: at that slot */
    const char *conflict;           /* "keep", "earlier", "replace" */
};

enum post_state {
    POST_FILED,
    POST_REPEATED,                  /* filed before: the same answer as then */
    POST_OTHER,                     /* something else was asked for under this uniqid; nothing is done */
};

struct post_result {
    enum post_state state;
    const char *outcome;            /* "new", "kept", "moved" or "replaced"; static */
    int64_t check_id;
    int64_t filed_at;               /* its slot */
};

/* The static word that is equal to it; NULL: there is none. */
const char *post_outcome_word(const char *word);

struct post_terms {
    bool all;                       /* or none of them, if one is POST_OTHER */
    int64_t keep_s;                 /* so long a uniqid is remembered, at least */
};

/* Files them in one transaction; blocks. Two of one uniqid are one request and its repeat, also
 * where another server has the other. Returns 0, or an ERR_: then nothing is filed, and after
 * ERR_INPUT the results say which is POST_OTHER. */
int store_post(struct store *st, const struct post_item *items, int n, const struct post_terms *terms,
               struct post_result *results, struct err *err);
/* For the stores: ERR_INPUT if `all` is asked for, and one is POST_OTHER. */
int post_check_all(const struct post_result *results, int n, bool all, struct err *err);

#endif
