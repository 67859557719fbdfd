/* store_ops.h - the interface of a backend: one struct of functions. Only store.c and the backends
 * include it. */
#ifndef PRESCIENT_STORE_OPS_H
#define PRESCIENT_STORE_OPS_H

#include "store_post.h"
#include "store_report.h"
#include "store_slot.h"

struct store_ops {
    const char *scheme;                         /* "postgresql", "sqlite" */
    bool (*claims)(const char *url);            /* whether the URL is for this backend */
    int (*open)(const struct store_options *options, struct store **out, struct err *err);
    /* closes `st` and frees it with all it owns */
    void (*close)(struct store *st);
    void (*begin)(struct store *st, struct store_call *call);
    bool (*step)(struct store *st);
    int (*fd)(const struct store *st);
    short (*wants)(const struct store *st);
    int64_t (*deadline_us)(const struct store *st);
    void (*abandon)(struct store *st);
    int (*load)(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
                struct load_counts *out, int *bad, struct err *err);
    int (*post)(struct store *st, const struct post_item *items, int n, const struct post_terms *terms,
                struct post_result *results, struct err *err);
    int (*migrate)(struct store *st, const struct migrate_options *options, struct err *err);
    /* NULL: nobody is told of anything here */
    int (*listen)(struct store *st, const char *channel, struct err *err);
    int (*heard_fd)(const struct store *st);
    bool (*heard)(struct store *st);
};

struct store {                                  /* the first member of every backend's own struct */
    const struct store_ops *ops;
    const struct clock *clock;
    int32_t slot_length_s;                      /* the database's; 0: not known yet */
    const char *passed_over;                    /* see store_passed_over */
};

extern const struct store_ops store_pg_ops, store_sqlite_ops;

#endif
