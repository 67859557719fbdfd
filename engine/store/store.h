/* store.h - the contract of a store, which keeps checks: how to open one and make a call, and the
 * calls of commands and housekeeping. store_slot.h has the calls that run a slot, store_report.h
 * the reports. store_pg.c and store_sqlite.c implement all of it; callers do not depend on which.
 *
 * A `struct store` is one connection and carries one call at a time. Fill in a request and pass it
 * to store_begin(). Then poll store_fd() for store_wants(), and call store_step(), until it returns
 * true: `call.rc` is 0 or a negative ERR_, and the request's out fields are set. store_do() does
 * all of this and blocks; it is for commands and tests.
 *
 * A call connects first when there is no connection, and checks the server, the settings and the
 * schema then. Every call has a deadline. A call that exceeds it ends with ERR_LOST, and its
 * connection is closed without cancelling: a slow server may still carry out the call.
 *
 * Errors:
 *   ERR_LOST     the database is away, takes no writes, or its answer is unknown: run nothing, back
 *                off, try again
 *   ERR_BUSY     a lock was held for longer than the lock timeout: try again
 *   ERR_FENCED   the lease is no longer ours; nothing was changed
 *   ERR_DATA     the database rejects a value; in a settle: halve the page to find the bad check
 *   ERR_SCHEMA   there is no schema, or this program does not fit it; the message has what to do
 *   ERR_CHANGED  the slot length has changed since this program began
 *   ERR_INPUT    a value from the user is wrong; the message names it
 *
 * Moments and slots are seconds since the Unix epoch, UTC; names that end in _us are microseconds.
 * `now` in a request is virtual time, or 0 for the database's clock (SQLite: the machine's). */
#ifndef PRESCIENT_STORE_H
#define PRESCIENT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../base/arena.h"
#include "../base/clock.h"
#include "../base/err.h"

struct store;
struct log;
struct settings;

struct store_options {
    const char *url;                /* "sqlite:FILE", "postgresql://...", or a libpq keyword string */
    /* PostgreSQL only; NULL is "prescient". Tests and bench have schemas of their own. */
    const char *schema;
    /* the role that may own the schema, besides the user, superusers and the database's owner;
     * NULL: "prescient_owner" */
    const char *schema_owner;
    /* the role that has the rights which this program needs: where one is missing, the message has
     * the GRANT. NULL: "prescient_engine" */
    const char *role;
    /* our name in leases, passes and history, "host/pid"; NULL outside an engine */
    const char *engine;
    int connect_timeout_ms;         /* 0: 10 s */
    int statement_timeout_ms;       /* the deadline of one call; 0: 30 s */
    int lock_timeout_ms;            /* 0: 250 ms */
    /* A server that has not heard from our machine for this long ends our sessions and releases
     * their locks; a client gives up a silent server after the same time. Connecting to one host
     * may take half of it. 0: 30 s */
    int silence_ms;
    /* never use prepared statements: for old versions of PgBouncer in transaction mode */
    bool unprepared;
    /* the length in the settings; a database with another length is ERR_SETTINGS. 0: any */
    int32_t slot_length_s;
    /* A replay: a call may return before its data is on disk; a hello writes it to disk. A crash
     * loses whole calls, the latest ones, never parts of a call. */
    bool relaxed;
    /* Nothing is to be written: the database itself refuses what would. A hello says read_only. */
    bool reads_only;
    const struct clock *clock;      /* NULL: clock_system */
};

/* The options that the settings contain; all others are zero. The strings belong to `s`. */
struct store_options store_options_from(const struct settings *s);

/* Reads the URL, without I/O; copies the strings of `options`. 0, or ERR_INPUT for a bad URL, or
 * ERR_NOMEM. A store must not be used across fork(). */
int store_new(const struct store_options *options, struct store **out, struct err *err);
void store_free(struct store *st);                      /* closes the connection; NULL is fine */
const char *store_scheme(const struct store *st);       /* "postgresql" or "sqlite" */
int32_t store_slot_length_s(const struct store *st);    /* 0 before the first call has succeeded */
/* Why hosts of the URL were skipped before one accepted the connection; NULL: none was, or this was
 * returned before. Valid until the next call. */
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
    STORE_TAKE_PLACES,
    STORE_RENEW_PLACES,
    STORE_RETURN_PLACES,
    STORE_RELOOK,
    STORE_PULSE,
    STORE_FINE_SLOTS,
    STORE_PAUSES,
    STORE_END_PAUSES,
    STORE_LATE_SLOT,
    STORE_REFILE,
    STORE_RECALL,
    STORE_MARK_SWEPT,
    STORE_KEEP_DAYS,
    STORE_KEEP_DIGESTS,
    STORE_NOTE_LISTENERS,
    STORE_NOTE_LOADS,
    STORE_NOTE_RUNS,
    STORE_NOTE_RUNNING,
    STORE_PRUNE,
    STORE_NOTIFY,
    STORE_REPORT,
    STORE_OPS
};

struct store_call {                 /* the first member of every request */
    enum store_op op;               /* set by the STORE_..._INIT of the request */
    /* The result is useless after this many ms, counted from when the connection is open; never
     * more than the statement timeout. 0: the statement timeout. On SQLite a report waits no longer
     * than that for a lock; other calls ignore it. */
    int within_ms;
    int rc;
    struct err err;
    /* out: how long the database itself worked on the call, without the network. On PostgreSQL set
     * by store_relook, store_late_slot and store_mark_swept, else 0; on SQLite by every call, which
     * includes its waits for locks. */
    int64_t busy_us;
};

/* Starts `call`, which must live until it is done, as must `st`. Returns at once and never waits
 * for the network. A failure to start ends the call: the next store_step returns true. */
void store_begin(struct store *st, struct store_call *call);
/* Continues without waiting; true when the call is done. */
bool store_step(struct store *st);
/* The descriptor to poll, which changes while connecting; -1: call store_step without polling. */
int store_fd(const struct store *st);
short store_wants(const struct store *st);              /* POLLIN, POLLOUT */
/* When to call store_step even without an event, by the monotonic clock; INT64_MAX: no call. */
int64_t store_deadline_us(const struct store *st);
/* Ends the call and closes its connection; whether the call took effect is unknown. */
void store_abandon(struct store *st);
int store_do(struct store *st, struct store_call *call);  /* blocks until done; returns call->rc */

/* ---- hello: the database's clock and state --------------------------------------------------- */

struct store_hello {
    struct store_call call;
    /* out */
    int64_t now_us;                 /* the database's clock */
    int32_t slot_length_s;
    int schema_version;             /* number of the newest migration applied */
    bool read_only;                 /* a standby, or default_transaction_read_only is set */
    char denied[1024];              /* why this user may not write to the file, and what helps; "" */
    char server[64];                /* "PostgreSQL 15.18", "SQLite 3.40.1" */
    int64_t full_look_at;  /* when a sweep last began with a full look, in seconds; 0: never */
    int32_t pace_s;        /* over how many seconds a full slot is spread (phase.h); -1: not known */
    bool pooled;                    /* there is a pooler between us and the server */
    /* the pooler lost prepared statements, so this connection no longer uses them */
    bool lost_prepared;
};
#define STORE_HELLO_INIT { .call.op = STORE_HELLO }

/* ---- housekeeping ---------------------------------------------------------------------------- */

/* Creates history partitions for `days` days ahead, and records when the database continues in
 * another history (after a restore, a switch or a promotion). With days = 0 it builds the lookup
 * index of one past day instead; that may take a while, and a failure does no harm. SQLite has
 * nothing to do here. */
struct store_keep_days {
    struct store_call call;
    int days;
    /* out */
    int made, indexed;
    char noted[512];                /* what was recorded, for the log; "": nothing */
};
#define STORE_KEEP_DAYS_INIT { .call.op = STORE_KEEP_DAYS }

/* One step of dropping old rows from one table: the oldest of those written before `before`, by the
 * real clock. On PostgreSQL a step of history, runs or events is one whole day, but never today or
 * yesterday; all other steps are some thousand rows. ERR_BUSY: the day is in use. Nobody waits for
 * this call for longer than a tenth of a second. */
enum prune_part {
    PRUNE_HISTORY, PRUNE_RUNS, PRUNE_EVENTS, PRUNE_PASSES, PRUNE_PAUSES, PRUNE_HOURS, PRUNE_CHANGES,
    PRUNE_PARTS
};
enum prune_wish {
    PRUNE_DROP,
    PRUNE_COUNT,                    /* count all rows or days that would be dropped; drop nothing */
    PRUNE_WHO,                      /* find out which session uses the day that is to be dropped */
    PRUNE_CLAIM,                    /* ask whether it is our turn: one engine an hour gets it */
};
/* A little less than an hour, so that a cron job that starts each hour is never too early. */
enum { PRUNE_TURN_S = 3500 };
struct store_prune {
    struct store_call call;
    enum prune_part part;
    enum prune_wish wish;
    int64_t before;
    bool fine;                      /* PRUNE_PASSES: those of fine slots alone */
    /* out */
    int64_t n;                      /* days or rows; PRUNE_CLAIM: 1 when it is our turn, else 0 */
    bool by_days;
    char who[256];                  /* PRUNE_WHO: the session; "": none is visible */
};
#define STORE_PRUNE_INIT { .call.op = STORE_PRUNE }

/* ---- being told of events ---- */

/* Tells all who listen on the channel that there are events, without saying which. SQLite has
 * nobody to tell. */
struct store_notify {
    struct store_call call;
    const char *channel;
};
#define STORE_NOTIFY_INIT { .call.op = STORE_NOTIFY }

/* Listens from now on, on a connection of its own; blocks. Once it listens, again does nothing. */
int store_listen(struct store *st, const char *channel, struct err *err);
/* Readable when store_heard has something to look at. -1: nobody is told here (SQLite), or the
 * connection was lost: listen again, and look at the events now and then. */
int store_heard_fd(const struct store *st);
/* Somebody may have told us since the last call; also when the connection is lost. */
bool store_heard(struct store *st);

/* ---- bulk load ------------------------------------------------------------------------------- */

struct load_row {                   /* the strings are the caller's */
    const char *entity_name, *entity_key, *job_exec, *payload;      /* payload NULL: none */
    int64_t at;                     /* the wanted time, not yet rounded to a slot */
    int32_t priority;
    const char *concurrency_key, *tenant;       /* NULL: none */
};
struct load_counts { int64_t added, kept, moved, replaced; };

/* Enqueues one chunk in one transaction; blocks. `conflict` is "keep", "earlier" or "replace". The
 * caller has checked the rows (enqueue_check_row). Returns 0 or an ERR_; after an error nothing was
 * enqueued, and *bad is the index of the row that caused it, or -1 when that is unknown. */
int store_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
               struct load_counts *out, int *bad, struct err *err);

/* ---- schema ---------------------------------------------------------------------------------- */

struct migrate_options {
    /* The length for a new schema, 0: the default. If an existing schema has another length, that
     * is ERR_SETTINGS ... */
    int32_t slot_length_s;
    /* ... or, when this is set, pending checks move to slots of the new length */
    bool change_slot_length;
    bool dry_run;                   /* only report what would be applied */
    /* this is a copy put back: what events come now lies behind all cursors of before */
    bool restored;
    /* called for each migration; may be NULL */
    void (*applied)(void *ctx, int version, const char *name);
    /* called for each other repair, for instance of a restored database; may be NULL */
    void (*noted)(void *ctx, const char *words);
    void *ctx;
};

/* Creates or upgrades the schema: applies the missing migrations in order, to an empty store in one
 * transaction, else one transaction each. Several processes may do so at once. Blocks. Returns how
 * many were applied (`dry_run`: would be),
 * or an ERR_. */
int store_migrate(struct store *st, const struct migrate_options *options, struct err *err);

/* Drops old data: history, run log and events from before `before`, and the passes of slots and
 * the pauses that are over. On PostgreSQL it drops and counts whole days (`by_days`), but never
 * today or yesterday; on SQLite rows. Blocks. A failure in one table does not stop the others. *out
 * has what was dropped, even after an error. Returns 0 or the first error. */
struct prune_counts { int64_t history, runs, passes, events, pauses, hours, changes; bool by_days; };
int store_prune(struct store *st, int64_t before, bool dry_run, struct prune_counts *out, struct err *err);

#endif
