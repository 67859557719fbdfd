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

/* ---- housekeeping ---------------------------------------------------------------------------- */

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
