/* store_pg_ops.h - the operations of the PostgreSQL store. Each is two halves: what goes out in a
 * message, and what its results say. store_pg.c has the table of them, and all that lies between
 * the halves. */
#ifndef PRESCIENT_STORE_PG_OPS_H
#define PRESCIENT_STORE_PG_OPS_H

#include "store_pg.h"

#define PG_SEND_AGAIN 1         /* what `receive` says when its statement is to be sent once more */

struct pg_operation {
    /* queues its statements; false: out of memory */
    bool (*send)(struct pg_store *pg, struct store_call *call);
    /* reads their results; 0, ERR_ or PG_SEND_AGAIN */
    int (*receive)(struct pg_store *pg, struct store_call *call);
    /* in a replay it need not be on disk when it returns */
    bool relaxes;
};

/* store_pg_slot.c */
extern const struct pg_operation pg_open_slot, pg_renew, pg_release, pg_finish, pg_relook, pg_pulse,
    pg_late_slot, pg_mark_swept;

/* store_pg_page.c, store_pg_settle.c, store_pg_prune.c, store_pg_report.c */
extern const struct pg_operation pg_read_page, pg_settle, pg_prune, pg_report;

/* What a `receive` says of results that are not of our making. */
static inline int unreadable(struct store_call *call, const char *what)
{
    return err_set(&call->err, ERR_LOST, "the database's answer to %s cannot be read", what);
}

/* In the order (bucket, priority, id); a lease on one bucket begins with it. */
static inline int32_t bucket_after(const struct lease *lease, const struct page_cursor *after)
{
    return lease->bucket == BUCKET_WHOLE_SLOT ? after->bucket : lease->bucket;
}

#endif
