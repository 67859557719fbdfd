/* store_slot.h - what an engine asks of a store to run a slot: leases, pages of checks, settles,
 * the end of a bucket, and the search for slots that are not over. Each request is a call (store.h).
 */
#ifndef PRESCIENT_STORE_SLOT_H
#define PRESCIENT_STORE_SLOT_H

#include "../rules/bucket.h"
#include "../rules/check.h"
#include "../rules/pass_counts.h"
#include "store.h"

#define STORE_OWNER_SIZE 16

/* ---- leases ---------------------------------------------------------------------------------- */

struct lease {
    int64_t slot;
    int32_t bucket;                         /* 0..63, or BUCKET_WHOLE_SLOT */
    unsigned char owner[STORE_OWNER_SIZE];  /* 128 random bits per process start */
    int64_t token;                          /* from a sequence; always compared together with the owner */
    int64_t expires_us;                     /* by the database's clock */
};

/* Where and when leases were taken; all 0: unknown. */
struct lease_origin {
    int64_t xid;                    /* of the transaction that took them, for store_read_page */
    /* of the server and its tables: another one may have lost what was settled on this one, and its
     * ids are others */
    int64_t incarnation;
};

enum slot_state {
    SLOT_OPEN,          /* some bucket was not run to its end yet */
    SLOT_RELOOK,        /* all buckets are done; it waits for old transactions and an empty look */
    SLOT_CLOSED,        /* looked at for the last time */
};

/* Opens a slot, if it is not open yet, and takes leases on what is left of it to run. Opening
 * counts the slot's rows: none stores the snapshot at once (state SLOT_RELOOK, nothing to take),
 * up to `split_at` makes one lease of the whole slot, more makes 64. Takes at most `want` leases
 * of those that are free or expired, or that stand in `watched` unchanged, and that
 *   - have not been done yet, or
 *   - with `again`: hold rows (of one of `jobs`, or of any job when `jobs` is NULL), done or not;
 *   and whose bit in `left_out` is not set: what they hold was just looked at, and has to stay. A
 *   closed slot of which a lease is taken is open again. ERR_BUSY with `not_begun` when the slot
 *   has not begun by the clock that counts, without it when a lock was held: nothing was opened.
 *   Takes nothing on PostgreSQL while a partition of today is missing (ERR_LOST, in words). */
struct store_open_slot {
    struct store_call call;
    int64_t slot, now;
    int split_at;
    const unsigned char *owner;             /* STORE_OWNER_SIZE bytes */
    int lease_s;
    int want;                               /* 1..BUCKETS */
    bool again;
    const char *const *jobs;                /* NULL: any */
    int njobs;
    uint64_t left_out;                      /* a bit for each bucket of a split slot */
    /* leases of others, watched unchanged for the lease time on our own clock */
    const struct lease *watched;
    int nwatched;
    /* out */
    bool not_begun;                         /* only with ERR_BUSY: not a lock, but too early */
    enum slot_state state;
    int split;                              /* 1 or 64 */
    /* counted when this call opened the slot (at most split_at + 1); else -1 */
    int64_t rows;
    struct lease taken[BUCKETS];
    int ntaken;
    struct lease_origin origin;             /* of those taken */
    struct lease held[BUCKETS];       /* wanted, but held by others, or more than `want`: to be watched */
    int nheld;
    /* what the database's clock showed, also with ERR_BUSY; 0: not told */
    int64_t clock_us;
};
#define STORE_OPEN_SLOT_INIT { .call.op = STORE_OPEN_SLOT }

/* Renews leases, all in one statement. lost[i] is set where the lease was not ours any more. */
struct store_renew {
    struct store_call call;
    struct lease *leases;                   /* in and out: expires_us moves on */
    int n;
    int lease_s;
    /* out */
    bool lost[BUCKETS];
};
#define STORE_RENEW_INIT { .call.op = STORE_RENEW }

/* Gives leases back without having finished them. Those that are not ours any more are left alone.
 */
struct store_release {
    struct store_call call;
    const struct lease *leases;
    int n;
};
#define STORE_RELEASE_INIT { .call.op = STORE_RELEASE }

/* ---- checks ---------------------------------------------------------------------------------- */

struct page_cursor { int32_t bucket, priority; int64_t id; };      /* the last row read */
#define PAGE_START { .bucket = INT32_MIN, .priority = INT32_MIN, .id = INT64_MIN }

/* Reads the rows of a leased (slot, bucket) after `after`, in order (bucket, priority, id): at
 * most `want` rows and about `max_bytes` of them, at least one; for a split slot of one bucket.
 * Plain read, begun after the lease's commit; it does not look at the lease. n = 0 says there are
 * no more after `after`. On PostgreSQL rows on a page that cannot be read are left out and counted
 * (`ndamaged`). In SQLite such a page fails the whole read: the rows beside it could be run, but
 * not deleted, since that may mean to merge their page with it. `is_complete` says that every
 * transaction older than the origin's was over when this read began. Who files a check has his
 * transaction before he reads the clock, and the lease's came after the slot had begun: so nothing
 * that this read does not see, and no later one, will ever be filed here. */
struct store_read_page {
    struct store_call call;
    struct lease lease;
    struct page_cursor after;
    int want;
    size_t max_bytes;
    struct lease_origin origin;     /* of the lease */
    /* out */
    struct check_rows page;         /* the caller's, to free; empty after a failure */
    bool has_more;                  /* the page was cut by its bounds */
    bool is_complete;               /* false for an empty page: nothing is known */
    /* rows left out: they cannot be read, or no check can be like that (constraints that somebody
     * has switched off) */
    int ndamaged;
    int64_t damaged_id;             /* the id of the first of them */
    char damage[256];               /* what the database says of those that cannot be read; "": all can */
};
#define STORE_READ_PAGE_INIT { .call.op = STORE_READ_PAGE, .after = PAGE_START }

/* ---- settle ---------------------------------------------------------------------------------- */

/* Writes the answers of (part of) a page down, in one transaction, sorted by id by the caller; all
 * of one lease. A check that ends is deleted and its history row inserted, or, when `again_at` was
 * written beside it meanwhile, archived and started anew there with a new id. A check that moves
 * leaves a run row if it ran (`keep_runs`). Effects of the rows really touched go into the same
 * transaction. Touches each row only where id, next_check_at, check_count and failure_count are as
 * read, and nothing at all when the lease is not ours (ERR_FENCED). With skip_locked, rows that
 * others hold are left out, and each untouched row is told apart (SUPERSEDED or LOCKED). */

struct store_settle {
    struct store_call call;
    struct lease lease;
    int64_t now;
    struct settlement *settlements;     /* in and out */
    int n;
    bool skip_locked;
    enum keep_runs keep_runs;
    /* out */
    int touched;
};
#define STORE_SETTLE_INIT { .call.op = STORE_SETTLE }

/* ---- the end of a bucket --------------------------------------------------------------------- */

/* Looks whether the leased (slot, bucket) holds rows after `after`, the last one read. When there
 * is none, but for those of the jobs in `left`: writes the pass's row with its counts and gives
 * the lease back (`finished`). Otherwise changes nothing, and the caller reads on. With `leave` it
 * finishes whatever is left (rows that stay locked, a stop); with `blind`, too, it does not even
 * look at it, since there are rows that cannot be read. Rows that came in before `after` meanwhile
 * are left to the second look (store_relook): the pass's row keeps a transaction id that is above
 * all whom the reads may have missed. With `complete`, which says that all that will ever be filed
 * there was read and settled, there is nothing to look for, unless the server is not the one of
 * `origin` any more. */
struct store_finish {
    struct store_call call;
    struct lease lease;
    int64_t now;
    bool leave, blind, complete;
    struct lease_origin origin;
    struct page_cursor after;
    const char *const *left;        /* jobs unknown here */
    int nleft;
    struct pass_counts counts;
    /* out */
    bool finished;
};
#define STORE_FINISH_INIT { .call.op = STORE_FINISH, .after = PAGE_START }

/* ---- slots that are not over ----------------------------------------------------------------- */

/* One look at all slots that are not closed: closes those that are done and complete, and those
 * that are done, whose old transactions have all ended and that this look finds empty; removes
 * expired leases on closed slots, which nobody would take over; returns the oldest of those in
 * which there is something to do: rows to run, or a bucket that was never finished. */
struct relook_slot {
    int64_t slot;
    bool has_rows;                  /* run it again: open_slot with `again` */
    bool undone;                    /* some bucket was never finished: its engine died */
};
struct store_relook {
    struct store_call call;
    int64_t now;
    struct relook_slot *slots;      /* room for `want` */
    int want;
    bool settled_only;              /* looks for no rows in slots whose old transactions have not all ended */
    /* out */
    int n;
    int closed;
};
#define STORE_RELOOK_INIT { .call.op = STORE_RELOOK }

/* What may be asked each second between two such looks, since it writes nothing and looks at no
 * check: how far it is with the transactions that the looks so far may have missed. When one of
 * them ends, or `newest` has grown, the next look may find something; before that it cannot. In
 * SQLite writers are serial, and nothing is ever waited for. */
struct store_pulse {
    struct store_call call;
    /* out */
    int64_t newest;                 /* they have smaller ids; 0: no open slot waits for any */
    int running;                    /* how many of them are not over */
    int64_t oldest;                 /* the first of those; 0: none is running */
};
#define STORE_PULSE_INIT { .call.op = STORE_PULSE }

/* The first slot in [from, before) that holds rows; 0 when there is none. from = 0: from the
 * low-water mark of the sweep. `full`: the look at the left edge, one per bucket, that also finds
 * what was put below the mark by hand. `beside_opened` (and not `full`): the first that no engine
 * has opened. What is in the others is the second look's.
 *
 * On PostgreSQL an old transaction keeps what was settled since it began, and a look walks over
 * all of that: a second or so a million. `settled_only` and `beside_opened` keep away from where
 * it lies. SQLite has none, and heeds neither. */
struct store_late_slot {
    struct store_call call;
    int64_t from, before;
    bool full, beside_opened;
    /* out */
    int64_t slot;
};
#define STORE_LATE_SLOT_INIT { .call.op = STORE_LATE_SLOT }

/* Moves the low-water mark of the sweep up: no slot before `slot` holds rows. Where a transaction
 * that runs may still file a check there (PostgreSQL), the slot is only noted, and becomes the
 * mark by a later call, once all those are over and nothing has come in. */
struct store_mark_swept {
    struct store_call call;
    int64_t slot;
    /* the sweep began with a full look: that is noted, by the database's clock */
    bool full;
};
#define STORE_MARK_SWEPT_INIT { .call.op = STORE_MARK_SWEPT }

#endif
