/* store.h - where checks are kept: the contract that store_pg and store_sqlite implement. Nothing
 * above knows which it is.
 *
 * A `struct store` is one connection. It carries one call at a time: fill in a request,
 * store_begin() it, wait on store_fd() for store_wants(), and store_step() until it says the call
 * is done; then `call.rc` holds 0 or a negative ERR_ and the request's out fields are set.
 * store_do() does all that and blocks, for commands and tests. A call connects first when there is
 * no connection (and checks server, settings and schema then), so nobody above ever connects.
 * Every call has a deadline of its own; a call that passes it ends with ERR_LOST and its
 * connection is closed, never cancelled: what a server that is only slow has been told, it may
 * still do.
 *
 * What the failures mean: ERR_LOST the database is away, cannot take writes, or its answer is
 * unknown: back off, run nothing, try again ERR_BUSY a lock was held for longer than the lock
 * timeout: try again ERR_FENCED the lease is not ours any more: nothing was changed ERR_DATA the
 * database refuses a value; in a settle: halve the page down to the guilty check ERR_SCHEMA no
 * schema, or one that this program does not fit; the words say what to do ERR_CHANGED the slot
 * length is not what it was when this program began ERR_INPUT a value of the user is wrong; the
 * words name it
 *
 * All moments and slots are seconds since the Unix epoch, UTC; names ending in _us are
 * microseconds. `now` in a request is 0 for the database's clock (SQLite: the machine's), else the
 * virtual time that counts instead. */
#ifndef PRESCIENT_STORE_H
#define PRESCIENT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../base/arena.h"
#include "../base/clock.h"
#include "../base/err.h"
#include "../rules/bucket.h"
#include "../rules/check.h"
#include "../rules/pass_counts.h"

#define STORE_OWNER_SIZE 16

struct store;
struct log;
struct settings;

struct store_options {
    const char *url;                /* "sqlite:FILE", "postgresql://...", or a libpq keyword string */
    /* PostgreSQL: "prescient" unless a test or bench brings its own; NULL is "prescient" */
    const char *schema;
    /* whose it may be, beside the user's own, a superuser's and the database's owner's; NULL:
     * "prescient_owner" */
    const char *schema_owner;
    /* who we are in leases, passes and history: "host/pid"; NULL outside an engine */
    const char *engine;
    int connect_timeout_ms;         /* 0: 10 s */
    int statement_timeout_ms;       /* the deadline of one call; 0: 30 s */
    int lock_timeout_ms;            /* 0: 250 ms */
    /* a server that has not heard of our machine for so long gives our sessions, and their locks,
     * up, as we give up one that we do not hear of; a host has half of it to take us. 0: 30 s */
    int silence_ms;
    /* no prepared statements from the beginning, for an old PgBouncer in transaction mode */
    bool unprepared;
    /* what the settings say; 0: whatever the database says. A difference is ERR_SETTINGS */
    int32_t slot_length_s;
    /* a replay: a call need not be on disk when it returns, a hello makes it so. After a crash the
     * last moments are missing as a whole; nothing is half there */
    bool relaxed;
    const struct clock *clock;      /* NULL: clock_system */
};

/* What the settings decide of them; the strings belong to the settings. All else is zero. */
struct store_options store_options_from(const struct settings *s);

/* No I/O: only the URL is read (ERR_INPUT). The strings of `options` are copied. Never carried
 * across fork(). */
int store_new(const struct store_options *options, struct store **out, struct err *err);
void store_free(struct store *st);                      /* closes; NULL is fine */
const char *store_scheme(const struct store *st);       /* "postgresql" or "sqlite" */
int32_t store_slot_length_s(const struct store *st);    /* 0 before the first call has succeeded */
/* Why another of several hosts was passed over on the way to the one that took us; told once,
 * NULL: nothing to tell. Lives until the next call. */
const char *store_passed_over(struct store *st);

/* ---- calls ----------------------------------------------------------------------------------- */

enum store_op {
    STORE_HELLO,
    STORE_OPEN_SLOT,
    STORE_RENEW,
    STORE_READ_PAGE,
    STORE_SETTLE,
    STORE_FINISH,
    STORE_RELEASE,
    STORE_RELOOK,
    STORE_PULSE,
    STORE_LATE_SLOT,
    STORE_MARK_SWEPT,
    STORE_KEEP_DAYS,
    STORE_PRUNE,
    STORE_REPORT,
    STORE_OPS
};

struct store_call {                 /* the first member of every request */
    enum store_op op;               /* set by the STORE_..._INIT of the request */
    /* an answer that comes later is of no use; 0: the statement timeout, which is never exceeded.
     * From when it is connected; SQLite, which has no line that could die, knows the statement
     * timeout only */
    int within_ms;
    int rc;
    struct err err;
    /* out: how long the database itself was at it, without the line; 0: it did not tell. A
     * store_relook and a store_late_slot on PostgreSQL tell it. */
    int64_t busy_us;
};

/* Starts `call`; both live until it is done. Returns at once, never waits for the network; a
 * failure shows as a call that is done (the next store_step says so). One call at a time. */
void store_begin(struct store *st, struct store_call *call);
/* goes on as far as it can; true when the call is done */
bool store_step(struct store *st);
/* what to poll; changes while connecting; -1: just step */
int store_fd(const struct store *st);
short store_wants(const struct store *st);              /* POLLIN, POLLOUT */
/* monotonic; step then even without an event; INT64_MAX when idle */
int64_t store_deadline_us(const struct store *st);
/* closes the connection under a call; its effect is unknown */
void store_abandon(struct store *st);
int store_do(struct store *st, struct store_call *call);        /* begin, wait, done; returns call->rc */

/* ---- hello: is it there, and what does it say ------------------------------------------------ */

struct store_hello {
    struct store_call call;
    /* out */
    int64_t now_us;                 /* the database's clock */
    int32_t slot_length_s;
    int schema_version;             /* number of the newest migration applied */
    bool read_only;                 /* a standby, or default_transaction_read_only */
    char server[64];                /* "PostgreSQL 15.18", "SQLite 3.40.1" */
    int64_t full_look_at;           /* when a sweep last began with a full look; 0: never */
    bool pooled;                    /* a pooler stands between us and the server */
    /* and prepared statements do not go through it, so that there were none any more from then
     * on */
    bool lost_prepared;
};
#define STORE_HELLO_INIT { .call.op = STORE_HELLO }

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

/* Keeps history partitions `days` ahead, and notes where the database goes on in another history
 * (restored, switched, promoted); with days = 0 gives one that is over its lookup index instead,
 * which may take a while and may fail without harm. SQLite: nothing to do. */
struct store_keep_days {
    struct store_call call;
    int days;
    /* out */
    int made, indexed;
    char noted[512];                /* in words; "": nothing */
};
#define STORE_KEEP_DAYS_INIT { .call.op = STORE_KEEP_DAYS }

/* One step of housekeeping in one table: of what was written before `before` by the real clock,
 * the oldest goes. On PostgreSQL that is a whole day of history, runs or events, and never one of
 * today and yesterday, else some thousand rows. ERR_BUSY: what is to go is in use; nobody was kept
 * waiting for longer than a tenth of a second. */
enum prune_part { PRUNE_HISTORY, PRUNE_RUNS, PRUNE_EVENTS, PRUNE_PASSES, PRUNE_PARTS };
enum prune_wish {
    PRUNE_DROP,
    PRUNE_COUNT,                    /* all that would go; drops nothing */
    PRUNE_WHO,                      /* who uses what is to go */
    PRUNE_CLAIM,                    /* whether it is our turn: of all engines one has it, once in an hour */
};
/* nearly an hour: a cron that comes each hour is not to find that it comes a moment early */
enum { PRUNE_TURN_S = 3500 };
struct store_prune {
    struct store_call call;
    enum prune_part part;
    enum prune_wish wish;
    int64_t before;
    /* out */
    int64_t n;                      /* days or rows; with PRUNE_CLAIM 1: it is ours */
    bool by_days;
    char who[256];                  /* "": nobody that can be seen */
};
#define STORE_PRUNE_INIT { .call.op = STORE_PRUNE }

/* ---- reports and everything that is one named statement -------------------------------------- */

/* Runs the statement `name` of the store's .sql file with text parameters and returns its rows as
 * text. Both stores have the same names, parameters and columns. A column named *_at holds a
 * moment in seconds, *_us microseconds, both as decimal text; the faces turn them into words. Used
 * by list, show, history, runs, slots, status, events, enqueue, resolve, ... */
enum cell_kind {
    CELL_TEXT,
    CELL_NUMBER,
    CELL_MOMENT,
    CELL_MOMENT_US,
    CELL_DURATION_US,
    CELL_JSON,
    CELL_BOOL
};

struct store_rows {                 /* lives in the request's arena */
    int rows, columns;
    const char **names;
    enum cell_kind *kinds;          /* by the column's name (see store_cell_kind) and type */
    const char **cells;             /* cells[row * columns + column]; NULL is NULL */
};
struct store_report {
    struct store_call call;
    /* "list", "history", ... (ERR_NOTFOUND when there is no such statement) */
    const char *name;
    const char *const *params;      /* NULL is SQL NULL */
    int nparams;
    struct arena *arena;            /* the caller's; the rows live in it */
    /* out */
    struct store_rows rows;
};
#define STORE_REPORT_INIT { .call.op = STORE_REPORT }

/* What a column of this name holds: *_at, *_us (duration), at_us ending "_at_us" (moment),
 * payload/data/json, is_*, else text or number. */
enum cell_kind store_cell_kind(const char *column, bool is_number);

/* ---- bulk load ------------------------------------------------------------------------------- */

struct load_row {                   /* not owned */
    const char *entity_name, *entity_key, *job_exec, *payload;      /* payload NULL: none */
    int64_t at;                     /* the wanted time, not rounded */
    int32_t priority;
};
struct load_counts { int64_t added, kept, moved, replaced; };

/* Enqueues one chunk in one transaction; blocks. conflict: "keep", "earlier", "replace". On
 * failure nothing of the chunk is there; *bad is the index of the guilty row where it is known,
 * else -1. Rows are expected to be checked already (enqueue_check_row). */
int store_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
               struct load_counts *out, int *bad, struct err *err);

/* ---- schema ---------------------------------------------------------------------------------- */

struct migrate_options {
    /* of a new schema; 0: the default. On an existing one a difference is ERR_SETTINGS ... */
    int32_t slot_length_s;
    bool change_slot_length;        /* ... unless this is set: then what is pending is reslotted */
    bool dry_run;                   /* say what would be applied */
    void (*applied)(void *ctx, int version, const char *name);     /* called per migration; may be NULL */
    /* what else was put right: a database that was restored; may be NULL */
    void (*noted)(void *ctx, const char *words);
    void *ctx;
};

/* Creates or upgrades the schema: applies what is missing, in order, a transaction each; several
 * processes may try at once. Blocks. Returns how many were applied (or would be). */
int store_migrate(struct store *st, const struct migrate_options *options, struct err *err);

/* Drops history, run log and events older than `before`, whole days of them on PostgreSQL
 * (`by_days`: that is what is counted then) and never today's and yesterday's; else rows; and the
 * passes of slots that are over. Blocks. What keeps one of them from being dropped does not keep
 * the others: *out says what went, also with an error. */
struct prune_counts { int64_t history, runs, passes, events; bool by_days; };
int store_prune(struct store *st, int64_t before, bool dry_run, struct prune_counts *out, struct err *err);

#endif
