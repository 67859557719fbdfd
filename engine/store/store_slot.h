/* store_slot.h - what an engine asks of a store to run a slot: leases, pages of checks, settles,
 * the end of a bucket, and the search for slots that are not over. Each request is a call of
 * store.h. */
#ifndef PRESCIENT_STORE_SLOT_H
#define PRESCIENT_STORE_SLOT_H

#include "../rules/bucket.h"
#include "../rules/check.h"
#include "../rules/pass_counts.h"
#include "../rules/pause.h"
#include "../rules/phase.h"
#include "store.h"

#define STORE_OWNER_SIZE 16

/* ---- leases ---------------------------------------------------------------------------------- */

struct lease {
    int64_t slot;
    int32_t bucket;                         /* 0..63, or BUCKET_WHOLE_SLOT */
    unsigned char owner[STORE_OWNER_SIZE];  /* 128 random bits per process start */
    int64_t token;                          /* from a sequence; valid only together with the owner */
    int64_t expires_us;                     /* by the database's clock */
};

/* The transaction and the server that leases were taken in; all 0: unknown. */
struct lease_origin {
    int64_t xid;                    /* the transaction that took them; store_read_page compares with it */
    /* Identifies the server and its tables. On another server, settles may be missing, and
     * transaction ids mean something else. */
    int64_t incarnation;
};

enum slot_state {
    SLOT_OPEN,          /* some bucket has not been run to its end */
    /* all buckets are done; the slot waits for old transactions and a look that finds nothing */
    SLOT_RELOOK,
    SLOT_CLOSED,        /* the last look found nothing */
};

/* Opens a slot, if it is not open, and takes leases on its buckets.
 *
 * Opening counts the slot's rows. Without rows the slot needs no lease: the snapshot is stored at
 * once, and the state is SLOT_RELOOK. Up to `split_at` rows make one lease for the whole slot, more
 * make 64.
 *
 * The call takes at most `want` leases. It takes a lease if it is free or expired, or if it is in
 * `watched` and unchanged, and if the bucket
 *   - is not done, or, with `again`, has rows (of one of `jobs`; NULL: of any job), done or not,
 *     and
 *   - is not in `left_out`: the last look found only rows that must stay.
 *
 * Taking a lease opens a closed slot again. ERR_BUSY opens nothing: with `not_begun` the slot has
 * not begun by the clock that counts, else a lock was held. On PostgreSQL, ERR_LOST while today's
 * history partition is missing. */
struct store_open_slot {
    struct store_call call;
    int64_t slot, now;
    int split_at;
    const unsigned char *owner;             /* STORE_OWNER_SIZE bytes */
    int lease_s;
    int want;                               /* 1..BUCKETS */
    bool again;
    const char *const *jobs;                /* NULL: all jobs */
    int njobs;
    uint64_t left_out;  /* a bit for each bucket of a split slot: take no lease of these */
    bool urgent;        /* of a split slot: only of buckets that have checks with a priority below 0 */
    bool asks_urgent;   /* whether it has any: `has_urgent` */
    /* where it has checks of small tenants: `small_buckets`. With `if_slow` only if some job took a
     * millisecond a run in the hours noted last (run_hour), or none is noted. */
    bool asks_small, if_slow;
    /* leases of others that did not change for the lease time, by our own clock */
    const struct lease *watched;
    int nwatched;
    /* out */
    bool not_begun;                         /* with ERR_BUSY: the slot has not begun */
    enum slot_state state;
    int split;                              /* 1 or 64 */
    bool has_urgent;                        /* it is split, and has checks with a priority below 0 */
    /* a bit for each bucket that holds checks of small tenants beside those of others; bit 0 for a
     * slot that is one lease */
    uint64_t small_buckets;
    /* how many rows the slot had when this call opened it, at most split_at + 1; -1: it was open */
    int64_t rows;
    struct lease taken[BUCKETS];
    int ntaken;
    struct lease_origin origin;             /* of the leases in `taken` */
    struct lease held[BUCKETS];       /* wanted, but held by others or above `want`: watch them */
    int nheld;
    /* the database's clock, also set with ERR_BUSY; 0: unknown */
    int64_t clock_us;
};
#define STORE_OPEN_SLOT_INIT { .call.op = STORE_OPEN_SLOT }

/* Renews leases in one statement. lost[i] is set when leases[i] is no longer ours. */
struct store_renew {
    struct store_call call;
    struct lease *leases;                   /* in and out: expires_us is updated */
    int n;
    int lease_s;
    /* out */
    bool lost[BUCKETS];
};
#define STORE_RENEW_INIT { .call.op = STORE_RENEW }

/* Releases leases of buckets that are not finished. Leases that are no longer ours are skipped.
 * With `counts` all are of one slot: what was run under them is added to its opening row. */
struct store_release {
    struct store_call call;
    const struct lease *leases;
    int n;
    const struct pass_counts *counts;       /* NULL: none */
};
#define STORE_RELEASE_INIT { .call.op = STORE_RELEASE }

/* ---- checks ---------------------------------------------------------------------------------- */

struct page_cursor { int32_t bucket, priority; int64_t id; };      /* the last row read */
#define PAGE_START { .bucket = INT32_MIN, .priority = INT32_MIN, .id = INT64_MIN }

/* Which rows a read brings. A tenant is small in a bucket (or in a slot that is one lease) if it
 * has a sixteenth of its rows at most, or four; of a bucket with very many rows the first ones are
 * looked at. A check of no tenant is its entity's. A read of small tenants is of any job. */
enum read_what { READ_ALL, READ_URGENT /* a priority below 0 */, READ_SMALL /* of small tenants */ };

/* Reads rows of a leased (slot, bucket) that come after `after`, in the order (bucket, priority,
 * id): at most `want` rows and about `max_bytes` bytes, but at least one row; of a split slot one
 * bucket. No rows: there are none after `after`. It is a plain read that begins after the lease was
 * committed, and it does not check the lease.
 *
 * PostgreSQL skips and counts rows on corrupt blocks (`ndamaged`). In SQLite a corrupt block fails
 * the whole read: rows beside it could be run, but not deleted, because SQLite may merge blocks as
 * it deletes.
 *
 * `is_complete`: all transactions older than the origin's were over when this read began. A client
 * that files a check begins its transaction before it reads the clock, and the lease was taken
 * after the slot had begun. So no row that this read missed can be filed here, now or later. */
struct store_read_page {
    struct store_call call;
    struct lease lease;
    struct page_cursor after;
    int want;
    size_t max_bytes;
    const char *const *jobs;        /* only rows of these; NULL: of all jobs */
    int njobs;
    enum read_what what;
    /* PHASES; of a slot that is one lease, and READ_ALL, it may be less: only rows of the first
     * parts of the slot (phase.h), and urgent ones. */
    int parts;
    struct lease_origin origin;     /* of the lease */
    /* out */
    struct check_rows page;         /* the caller frees it; empty after a failure */
    bool has_more;                  /* a limit cut the page */
    bool is_complete;               /* see above; always false for an empty page */
    /* rows skipped: unreadable, or with values that a check cannot have (a constraint was
     * disabled) */
    int ndamaged;
    int64_t damaged_id;             /* the first of them */
    char damage[256];               /* the database's message about the unreadable ones; "": none */
};
#define STORE_READ_PAGE_INIT { .call.op = STORE_READ_PAGE, .after = PAGE_START, .parts = PHASES }

/* ---- settle ---------------------------------------------------------------------------------- */

/* Writes answers down in one transaction. All are of one lease, and the caller has sorted them by
 * id. No id is SETTLE_IDS_SPAN or more above the first one: PostgreSQL finds rows by how far they
 * are from it, as doubles.
 *
 * A check that ends is deleted and gets a history row. If the application has set `again_at`
 * meanwhile, the check is archived and starts again at that time, with a new id. A check that moves
 * gets a run row if it ran (`keep_runs`). Effects are written in the same transaction, but only
 * those of rows that were changed.
 *
 * At most SETTLE_DIGESTS_MAX are digests: each reads thousands of events and is a statement of its
 * own, and all of them together have the time of one call.
 *
 * A row is changed only if its id, next_check_at, check_count and failure_count are as they were
 * read. If the lease is no longer ours, nothing is changed (ERR_FENCED). With `skip_locked`, rows
 * locked by others are skipped, and each unchanged row gets the state SUPERSEDED or LOCKED. */

enum { SETTLE_DIGESTS_MAX = 32 };
#define SETTLE_IDS_SPAN (INT64_C(1) << 53)

struct store_settle {
    struct store_call call;
    struct lease lease;
    int64_t now;
    struct settlement *settlements;     /* in and out: each gets its state */
    int n;
    bool skip_locked;
    enum keep_runs keep_runs;
    /* out */
    int touched;
};
#define STORE_SETTLE_INIT { .call.op = STORE_SETTLE }

/* ---- the end of a bucket --------------------------------------------------------------------- */

/* Finishes a leased (slot, bucket): if no row comes after `after`, the last one read, writes the
 * pass's row with its counts and releases the lease (`finished`). Rows of `unknown_jobs` do not
 * count. If there are others, it changes nothing, and the caller reads on.
 *
 * With `leave` it finishes even if rows remain: locked rows, or a stop, or because only rows of
 * `jobs` were read. In that case the pass's row has names of other jobs that have rows there, too.
 * With `skip_scan` as well it does not look for rows at all, because some cannot be read. With
 * `complete` it does not look either, unless the server is no longer the one of `origin`: all rows
 * that can ever be filed there were read and settled.
 *
 * Rows filed before `after` meanwhile are found by store_relook: the pass's row stores a
 * transaction id above those of all transactions that the reads may have missed. */
struct store_finish {
    struct store_call call;
    struct lease lease;
    int64_t now;
    bool leave, skip_scan, complete;
    struct lease_origin origin;
    struct page_cursor after;
    const char *const *unknown_jobs;        /* jobs that this engine does not have */
    int nunknown_jobs;
    const char *const *jobs;                /* only rows of these were read; NULL: all were */
    int njobs;
    struct pass_counts counts;
    /* out */
    bool finished;
};
#define STORE_FINISH_INIT { .call.op = STORE_FINISH, .after = PAGE_START }

/* ---- slots that are not over ----------------------------------------------------------------- */

/* One look at all slots that are not closed.
 *   - It closes a slot whose buckets are all done if its reads missed nothing, or if all old
 *     transactions are over and this look finds no row.
 *   - It removes expired leases on closed slots, which no engine would take over.
 *   - It returns the oldest slots that need work: rows to run, or a bucket not finished. */
struct relook_slot {
    int64_t slot;
    bool has_rows;                  /* run it again: store_open_slot with `again` */
    bool undone;                    /* a bucket was not finished: its engine died */
};
struct store_relook {
    struct store_call call;
    int64_t now;
    struct relook_slot *slots;      /* room for `want` */
    int want;
    bool settled_only;  /* do not look for rows in slots whose old transactions are not all over */
    /* out */
    int n;
    int closed;
};
#define STORE_RELOOK_INIT { .call.op = STORE_RELOOK }

/* A cheap question for each second between two such looks; it writes nothing and reads no check. It
 * returns how many transactions that the looks may have missed are still running. The next look can
 * find something only when one of them ends or `newest` grows. SQLite's writers are serial, so
 * there is never one to wait for. */
struct store_pulse {
    struct store_call call;
    /* out */
    int64_t newest;                 /* an id above all theirs; 0: no open slot waits for any */
    int running;                    /* how many of them are not over */
    int64_t oldest;                 /* the oldest of them; 0: none is running */
};
#define STORE_PULSE_INIT { .call.op = STORE_PULSE }

/* A cheap question for each second; it writes nothing. The first fine slots (rules/slot.h) that
 * have work for an engine with these jobs, in order:
 *   - Those in (low, now] that hold rows and that no engine has opened; `now` is the database's
 *     clock from before the look. The second that runs is listed only when one of a few of its rows
 *     is of these jobs: until it is over it belongs to engines that have its jobs.
 *   - Those of the last slot length that an engine has run and left rows of these jobs in, because
 *     it lacks them.
 * On PostgreSQL, transactions with an id below `xmin` were over at that look, and ids from
 * `next_xid` on were not given out yet. In SQLite these are 0: it has no ids. With them
 * comes the number of the last change to pauses (struct store_pauses). */
enum { FINE_SLOTS_MAX = 16 };
struct store_fine_slots {
    struct store_call call;
    int64_t low;
    const char *const *jobs;        /* NULL: all, and nothing was left */
    int njobs;
    /* out */
    int64_t slots[FINE_SLOTS_MAX];
    int n;
    int64_t clock_us;
    int64_t xmin, next_xid, incarnation;    /* of the server, as in struct lease_origin */
    int64_t pause_change;
};
#define STORE_FINE_SLOTS_INIT { .call.op = STORE_FINE_SLOTS }

/* What is paused, and what was resumed and still has checks in its slot. Nothing is read when
 * `known` is the number of the last change to pauses. Writes nothing. */
struct store_pauses {
    struct store_call call;
    int64_t known;                  /* -1: none is known yet */
    /* out */
    int64_t change;                 /* the number of the last change */
    struct pauses pauses;           /* in no order; empty when `change` is `known` */
    struct arena *arena;            /* they live here; the caller frees it, NULL too */
};
#define STORE_PAUSES_INIT { .call.op = STORE_PAUSES, .known = -1 }

/* Ends pauses that were resumed and whose slot is empty, and closed or was never opened. ERR_BUSY:
 * a transaction that pauses or resumes is open. */
struct store_end_pauses {
    struct store_call call;
    /* out */
    int ended;
};
#define STORE_END_PAUSES_INIT { .call.op = STORE_END_PAUSES }

/* The first slot in [from, before) that holds rows; 0: none. from = 0: from the sweep's low-water
 * mark.
 *
 * `full` looks once in each bucket and also finds rows that were inserted below the mark by hand.
 * `beside_opened` (without `full`) finds the first slot that no engine has opened; rows in opened
 * slots are the task of store_relook.
 *
 * On PostgreSQL a plain INSERT can file a check at a time that is no slot. The look passes over
 * such rows, and `misfiled_at` is the second of the first: store_refile moves them. A look passes
 * over a bounded number, and without a slot then goes on from `until`.
 *
 * On PostgreSQL a long transaction keeps dead rows, and a look reads all of them, at about a second
 * a million. `settled_only` and `beside_opened` avoid the places where they are. SQLite has no dead
 * rows and ignores both. */
struct store_late_slot {
    struct store_call call;
    int64_t from, before;
    bool full, beside_opened;
    int64_t urgent_from;            /* 0: none is looked for; with beside_opened neither */
    /* out */
    int64_t slot;
    /* the first slot behind that one, and in [urgent_from, before), that holds checks with a
     * priority below 0; 0: none, up to urgent_until, if that is not 0 */
    int64_t urgent, urgent_until;
    int64_t misfiled_at;            /* 0: none was seen */
    int64_t until;                  /* 0: the look was complete */
};
#define STORE_LATE_SLOT_INIT { .call.op = STORE_LATE_SLOT }

/* Moves checks in [from, before) that are at times that are no slots to the next slot, unrun: at
 * most `most`, so that nothing else waits for long. Rows that are locked stay. SQLite has none: its
 * times are whole seconds. */
struct store_refile {
    struct store_call call;
    int64_t from, before;           /* from: store_late_slot's misfiled_at, or `until` of the call before */
    int most;
    /* out */
    int64_t refiled;
    int64_t until;                  /* go on from there; 0: none are left */
};
#define STORE_REFILE_INIT { .call.op = STORE_REFILE }

/* Files checks that were put off unrun into the next slot, where they wait for a later one: those
 * of these jobs, which could not be run anywhere when they were due. They stay late since then.
 * Looks at some thousand of all that were put off, behind the place where the call before ended. */
struct recall_place { int64_t put_off_at, id; };
struct store_recall {
    struct store_call call;
    const char *const *jobs;        /* NULL: all */
    int njobs;
    int64_t now;
    bool only_one;                  /* moves one check at most */
    struct recall_place after;      /* all 0: from the first on */
    /* out */
    int64_t recalled;
    struct recall_place until;      /* go on from there; put_off_at 0: none are left */
};
#define STORE_RECALL_INIT { .call.op = STORE_RECALL }

/* Moves the sweep's low-water mark up to `slot`, before which no slot holds rows. On PostgreSQL a
 * running transaction may still file a check there. The slot is only noted then; a later call makes
 * it the mark once those transactions are over and no row has come in. */
struct store_mark_swept {
    struct store_call call;
    int64_t slot;
    /* The sweep began with a full look: store when, by the database's clock, and file the checks
     * that active schedules lack. */
    bool full;
    /* out: how many these were */
    int64_t filed;
    /* On PostgreSQL: checks that are not due yet, in a bucket that is not their key's. They are
     * filed in that one, at the same time, or end as doubles of a check that is there. Only the
     * next thousand are looked at, and more where some were wrong. */
    int64_t refiled, doubles;
    char one_refiled[512];          /* one of them, for people; "": none */
};
#define STORE_MARK_SWEPT_INIT { .call.op = STORE_MARK_SWEPT }

/* The check of a listener's digest, as the settings have it: its entity is DIGEST_ENTITY, its key
 * the listener's name. */
struct digest_check {
    const char *listener, *job, *terms;
    int32_t bucket;
    int64_t first_at;               /* its first time */
};

/* Files those that are missing. A listener that has no cursor gets one behind the last event that
 * may be read: a new digest begins now. One that has a cursor reads on there, whoever has ended its
 * check: only the report `resolve`, and the settle that ends it as nobody's, forget it. A check
 * whose job or terms are others keeps what it was waiting for if that comes sooner; one that is due
 * stays as it is. */
struct store_keep_digests {
    struct store_call call;
    const struct digest_check *checks;
    int n;
    int64_t now;                    /* virtual; 0: the store's clock */
    struct arena *arena;            /* the caller's: what `checks` lives in */
    /* out: how many it has filed or changed */
    int64_t filed;
};
#define STORE_KEEP_DIGESTS_INIT { .call.op = STORE_KEEP_DIGESTS }

/* Notes which listeners and jobs an engine has, in place of what it has noted before, and drops
 * notes that have counted for nothing for a day. By the store's clock, as engines are compared by
 * what they have now. */
struct store_note_listeners {
    struct store_call call;
    const char *engine, *command, *file;    /* whose: all three together; at most 255, 16, 256 bytes */
    const char *listeners;                  /* a line each, rules/listener_line.h */
    const char *jobs;                       /* their names, a line each; NULL: too many to be noted */
    int64_t counts_s;                       /* the note stands for an engine for so long */
    const char *version, *host;             /* at most 64, 255 bytes */
    int32_t pid;
    int64_t started_us;                     /* since when it has its settings; 0: that is not known */
    const char *serves;                     /* minutes of the hour whose slots it runs; "": all */
    int64_t last_slot, last_pass_us;        /* of the last pass that it was in; 0: none */
    struct arena *arena;                    /* the caller's: what these live in */
    /* out */
    int64_t dropped;                        /* how many old notes went */
    int64_t others;                         /* notes that stand for other engines now */
};
#define STORE_NOTE_LISTENERS_INIT                                                                            \
    {                                                                                                        \
        .call.op = STORE_NOTE_LISTENERS, .version = "", .serves = ""                                         \
    }

/* Counts the checks of the next 1,000 slots for those who draw a slot (rules/spread.h), if a minute
 * is over since any engine did, and a check with `within` was ever asked for. By the store's
 * clock. */
struct store_note_loads {
    struct store_call call;
    /* out: slots that hold checks; -1: it was not to be done now */
    int64_t slots;
};
#define STORE_NOTE_LOADS_INIT { .call.op = STORE_NOTE_LOADS }

/* Runs of an hour, job, entity, tenant and outcome. */
struct run_hour {
    int64_t hour_at;                        /* in which they began */
    const char *job, *entity, *outcome;     /* entity "": those for which the engine had no room */
    const char *tenant;                     /* "": none, or there was no room for it */
    int64_t runs;
    int64_t took_us, took_max_us;           /* all of them together, and the longest */
    int64_t late_max_us;                    /* from the slot to the start */
    /* how many were of which class (rules/histogram.h), as JSON: {"104":3} */
    const char *took, *late;
};

/* What is counted for ever: no prune takes it back. */
struct tally {
    const char *what;                       /* run, ended, delivery, missed_slot, store_error */
    /* the job, the listener, or the class of an error; "": none, or there was no room for it */
    const char *name;
    const char *outcome;                    /* "": it has none */
    int64_t n;
    /* of runs: how long all took, and how late they began, together; and how many lay below which
     * bound (histogram_bound): "0,3,1"; else "" */
    int64_t took_us, late_us;
    const char *took, *late;
};

/* Adds such rows to those of all engines, once: a note that was added before (its number is not
 * above that of the last one of this owner) changes nothing. So who does not know whether it was
 * added sends it again as it was, and takes the next number only after an answer. What was made
 * half a day ago, by the store's clock, is not added: the store does not remember it for ever. */
struct store_note_runs {
    struct store_call call;
    const unsigned char *owner;             /* of the engine, STORE_OWNER_SIZE bytes */
    int64_t number;                         /* from 1 */
    int64_t made_us;                        /* by the store's clock; the same when it is sent again */
    const struct run_hour *rows;            /* no two of one hour, job, entity, tenant and outcome */
    int n;                                  /* at most STORE_RUN_HOURS_MAX */
    const struct tally *tallies;            /* no two of one what, name and outcome */
    int ntallies;                           /* at most STORE_TALLIES_MAX */
};
enum { STORE_RUN_HOURS_MAX = 500, STORE_TALLIES_MAX = 1500 };
#define STORE_NOTE_RUNS_INIT { .call.op = STORE_NOTE_RUNS }

/* A run that is going on. */
struct running {
    int32_t worker;                         /* the process */
    const char *entity, *key, *job;
    int64_t slot, began_us;                 /* by the store's clock */
};

/* Writes which runs of this engine have been going on for long, in place of those that it has
 * written before. */
struct store_note_running {
    struct store_call call;
    const unsigned char *owner;             /* of the engine, STORE_OWNER_SIZE bytes */
    const struct running *rows;
    int n;                                  /* at most STORE_RUNNING_MAX; 0: none goes on any more */
    struct arena *arena;                    /* the caller's: what these live in */
};
enum { STORE_RUNNING_MAX = 100 };
#define STORE_NOTE_RUNNING_INIT { .call.op = STORE_NOTE_RUNNING }

#endif
