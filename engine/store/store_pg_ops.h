/* store_pg_ops.h - the operations of the PostgreSQL store. Each has two halves: one queues
 * statements for a message, the other reads their results. store_pg.c has the table of operations
 * and does all that happens between the halves. */
#ifndef PRESCIENT_STORE_PG_OPS_H
#define PRESCIENT_STORE_PG_OPS_H

#include "store_pg.h"

#define PG_SEND_AGAIN 1         /* from `receive`: send the operation's statements again */

/* Small tenants are looked for among so many rows of a bucket. */
enum { PG_SMALL_LOOK = 5000 };

struct pg_operation {
    /* queues the statements; false: out of memory */
    bool (*send)(struct pg_store *pg, struct store_call *call);
    /* reads the results; 0, ERR_ or PG_SEND_AGAIN */
    int (*receive)(struct pg_store *pg, struct store_call *call);
    /* in a replay, the commit need not wait for the disk */
    bool relaxes;
};

/* store_pg_slot.c */
extern const struct pg_operation pg_open_slot, pg_renew, pg_release, pg_finish, pg_relook, pg_pulse,
    pg_fine_slots, pg_pauses, pg_end_pauses,
    pg_late_slot, pg_refile, pg_recall, pg_mark_swept, pg_keep_digests, pg_note_listeners,
    pg_note_loads;

/* store_pg_runs.c, store_pg_running.c */
extern const struct pg_operation pg_note_runs, pg_note_running;

/* store_pg_place.c */
extern const struct pg_operation pg_take_places, pg_renew_places, pg_return_places;

/* store_pg_page.c, store_pg_settle.c, store_pg_prune.c, store_pg_report.c */
extern const struct pg_operation pg_read_page, pg_settle, pg_prune, pg_report;

/* store_pg_listen.c */
extern const struct pg_operation pg_notify;
int pg_listen(struct store *st, const char *channel, struct err *err);
int pg_heard_fd(const struct store *st);
bool pg_heard(struct store *st);
void pg_listen_close(struct pg_store *pg);

/* For a `receive` whose results do not have the expected form. */
static inline int unreadable(struct store_call *call, const char *what)
{
    return err_set(&call->err, ERR_LOST, "the database's answer to %s cannot be read", what);
}

/* The `receive` of a statement that returns no rows. */
static inline int nothing_to_receive(struct pg_store *pg, struct store_call *call)
{
    (void)pg;
    (void)call;
    return 0;
}

/* The bucket to read on from: rows are in the order (bucket, priority, id). */
static inline int32_t bucket_after(const struct lease *lease, const struct page_cursor *after)
{
    return lease->bucket == BUCKET_WHOLE_SLOT ? after->bucket : lease->bucket;
}

#endif
