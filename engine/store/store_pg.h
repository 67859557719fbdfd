/* store_pg.h - the inside of the PostgreSQL store, shared by store_pg*.c only.
 *
 *   store_pg.c          the life of a call: begin, step, deadline; opening and closing; pages
 *   store_pg_ops.h      what an operation is to it
 *   store_pg_slot.c     slots and leases: open, renew, release, finish; second looks, the sweep
 *   store_pg_settle.c   the settle: answers to parameters, results to states
 *   store_pg_send.c     statements as they go out in a message, and the rows that come back
 *   store_pg_connect.c  hosts, connecting, checks of server and schema
 *   store_pg_fail.c     failures to ERR_ codes
 *   store_pg_ask.c      statements that block, for commands
 *   store_pg_owners.c   whose the schema is, before anything in it is touched
 *   store_pg_lookup.c   a host's addresses
 *   store_pg_sql.c      the statements: their text, with the schema in
 *   store_pg_wire.c     values in the binary format
 *   pg_prepared.c       names of prepared statements, poolers; the business database uses it, too
 *   store_pg_report.c   the statements of STORE_REPORT
 *   store_pg_load.c     bulk load by COPY
 *   store_pg_migrate.c  creating and upgrading the schema
 *   store_pg_ids.c      the unique index by slot, on a table of any size
 *   store_pg_prune.c    dropping what is old
 *
 * A call is one message: what an operation queues with pg_queue goes out up to one Sync, and is
 * one transaction. */
#ifndef PRESCIENT_STORE_PG_H
#define PRESCIENT_STORE_PG_H

#include <libpq-fe.h>
#include <sys/types.h>

#include "../pg/pg_prepared.h"
#include "pg_statements.h"
#include "store_ops.h"
#include "store_pg_wire.h"

enum pg_phase { PG_AWAY, PG_LOOKING_UP, PG_CONNECTING, PG_CHECKING_OWNERS, PG_CHECKING, PG_READY };

#define PG_QUEUE_MAX 10 /* path, two statements of a settle, effects; each may have to be prepared first */

struct pg_host { char *host, *hostaddr, *port; };       /* NULL: libpq's own default */

/* A question for the addresses of a name, in a child process. `pid` is 0 when there is none under
 * way. */
enum { PG_LOOKUP_ADDRESSES = 4, PG_LOOKUP_TEXT = 512 };
struct pg_lookup {
    pid_t pid;
    int fd;                                 /* readable when there is something to step for */
    size_t used;
    char text[PG_LOOKUP_TEXT];              /* addresses with commas, or '!' and why not */
};

struct pg_store {
    struct store head;
    struct arena *kept;                     /* strings of the options; as long as the store */
    const char *url, *schema, *schema_owner, *engine;
    int connect_timeout_ms, statement_timeout_ms, silence_ms;
    const char *lock_timeout;               /* "250ms" */
    bool unprepared, relaxed;
    /* a pooler handed us a session that did not know what we had prepared, or knew it already */
    bool lost_prepared;
    int32_t wanted_slot_length_s;
    char *sql[PG_STATEMENTS];               /* with the schema in, once used */
    char names[PG_STATEMENTS][PG_PREPARED_NAME_SIZE];      /* as prepared, from then on */

    struct pg_host *hosts;
    int nhosts, host;                       /* the host in use, or to try next */
    /* what a host has to take us: most often, and when none has said a word for some rounds */
    int host_timeout_ms, host_patience_ms;
    int silent_rounds;                      /* in a row, in which no host said a word */
    bool heard_host;                        /* one of this round did */
    /* how soon a line that died is noticed, for libpq */
    struct { const char *keyword, *value; } silence[5];
    PGconn *conn, *side;                    /* side: for what blocks, opened when first needed */
    enum pg_phase phase;
    PostgresPollingStatusType polling;
    int hosts_tried;
    struct pg_lookup lookup;
    char passed_over[512];                  /* what the last host that did not take us, for this call, said */
    bool met_standby;                       /* one of them let us in, and takes no writes */
    int64_t host_deadline_us;               /* of the host being tried */
    bool prepared[PG_STATEMENTS];

    struct store_call *call;                /* NULL: idle */
    int64_t deadline_us;
    int64_t wait_us;                        /* what the call has from when it is connected */
    int rounds;                             /* how often this call was sent */
    struct arena *arena;                    /* of the call */
    struct { int statement; bool prepares; PGresult *result; } queue[PG_QUEUE_MAX];
    int nqueue, answered;
    bool synced, unflushed;
    /* of the page that this call has read, where some row was locked; else NULL */
    const char **lock_places;
    /* this settle met a row that has the same id: its own gets another one */
    bool renumbers;
    bool heavy_pages;                       /* the last page had payloads above their share */
    /* this call met a page of the table that cannot be read, and goes around it */
    bool careful;
    char damage[256];                       /* what the server said of that page */
};

static inline struct pg_store *pg_store(struct store *st) { return (struct pg_store *)st; }

/* ---- statements ---- */
const char *pg_sql(struct pg_store *pg, int statement);         /* NULL: out of memory */
char *pg_with_schema(const char *sql, const char *schema);      /* malloc()ed */
int pg_schema_known(void);                                      /* the newest migration of this program */

/* ---- calls ---- */
/* Every message begins with the path, on which its statements find operators and functions.
 * `relaxed`: in a replay, the commit does not wait for the disk. */
bool pg_send_path(struct pg_store *pg, bool relaxed);
/* Behind the path, in front of what only reads: the server gives up a twentieth before we do, so
 * that we hear of it, and no question is left that nobody waits for. */
bool pg_send_reading(struct pg_store *pg);
/* Queues a statement in these forms, and in its careful form where that is wanted, with the struct
 * of its parameters. False when out of memory or the connection is gone. */
bool pg_queue(struct pg_store *pg, enum pg_statement statement, unsigned forms, const void *in);
#define pg_send(pg, statement, ...) pg_send_form(pg, statement, PG_FORM_PLAIN, __VA_ARGS__)
#define pg_send_form(pg, statement, forms, ...)                                                              \
    pg_queue((pg), (statement), (forms), SQL_IN(statement, __VA_ARGS__))
/* A report: parameters and result are text. `params` has as many as the statement. */
bool pg_queue_report(struct pg_store *pg, enum pg_statement statement, const char *const *params);
/* The result of the n-th statement queued by the operation. */
const PGresult *pg_result(const struct pg_store *pg, int n);
/* A row of a result as the struct of the statement's columns; arrays go to the call's arena. False
 * when it cannot be read. */
bool pg_read_row(struct pg_store *pg, enum pg_statement statement, const PGresult *r, int row, void *out);
#define pg_row(pg, statement, r, row, ...)                                                                   \
    pg_read_row((pg), (statement), (r), (row), SQL_OUT(statement, __VA_ARGS__))

/* ---- connection ---- */
int pg_read_url(struct pg_store *pg, struct err *err);
/* Begins with the next host. False when connecting has failed for this call: err says why. */
bool pg_connect_begin(struct pg_store *pg, struct err *err);
int64_t pg_connect_most_us(const struct pg_store *pg);                  /* what all hosts together may take */
/* Goes on; 1 connected, 0 wait, negative ERR_. */
int pg_connect_step(struct pg_store *pg, struct err *err);
/* version, encoding: known at connect */
int pg_check_server(struct pg_store *pg, struct err *err);
int pg_check_owners(struct pg_store *pg, const PGresult *r, struct err *err);
/* The same, blocking. 1: good; 0: there is no such schema. `own`: to make things in it, it must
 * belong to the user of the connection. */
int pg_ask_owners(struct pg_store *pg, PGconn *conn, bool own, struct err *err);
int pg_check_schema(struct pg_store *pg, const PGresult *r, struct err *err);
void pg_disconnect(struct pg_store *pg);
/* Whether it is a pooler that we are connected to: the session which `backend_pid` names is not
 * the one that answered the connection. */
bool pg_is_pooled(const PGconn *conn, int32_t backend_pid);
/* a new connection; NULL: err says why */
PGconn *pg_connect_blocking(struct pg_store *pg, struct err *err);
/* The side connection with its schema checked, ready for blocking use; NULL: err says why. */
PGconn *pg_side(struct pg_store *pg, struct err *err);
void pg_side_close(struct pg_store *pg);

/* ---- names ---- */
bool pg_lookup_wanted(const struct pg_host *host);              /* neither an address nor a path */
bool pg_lookup_begin(struct pg_lookup *l, const char *name);    /* false: errno says why */
/* 1: the addresses are in `text`; 0: wait; -1: there are none, text + 1 says why */
int pg_lookup_step(struct pg_lookup *l);
void pg_lookup_end(struct pg_lookup *l);                        /* whatever there was */

/* ---- failures ---- */
/* code and words of a failed statement */
int pg_fail(struct err *err, const PGresult *r, const PGconn *conn);
int pg_lost(struct err *err, const PGconn *conn, const char *what);     /* the connection itself */

/* ---- reports ---- */
/* before anything is sent: name and parameters */
int pg_report_check(const struct store_report *r, struct err *err);

/* ---- blocking ---- */
/* Runs a statement and reads its first row; texts and arrays in there last until the next call of
 * the store. In a transaction of its own when there is none. Returns how many rows there were, or
 * ERR_. */
int pg_ask_row(struct pg_store *pg, PGconn *conn, enum pg_statement statement, const void *in, void *out,
               struct err *err);
#define pg_ask(pg, conn, statement, in, out, err)                                                            \
    pg_ask_row((pg), (conn), (statement), SQL_IN(statement, in), SQL_OUT(statement, out), (err))
/* The same, as the result itself, also that of a failure; the caller's. NULL: there is none, err
 * says why. */
PGresult *pg_run_statement(struct pg_store *pg, PGconn *conn, enum pg_statement statement, const void *in,
                           struct err *err);
#define pg_run(pg, conn, statement, in, err)                                                                 \
    pg_run_statement((pg), (conn), (statement), SQL_IN(statement, in), (err))
/* Commands: a statement without parameters and rows, or several. */
int pg_execute(struct pg_store *pg, PGconn *conn, enum pg_statement statement, struct err *err);
int pg_execute_text(struct pg_store *pg, PGconn *conn, const char *text, struct err *err);
int pg_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
            struct load_counts *out, int *bad, struct err *err);
int pg_migrate(struct store *st, const struct migrate_options *options, struct err *err);
/* The index by slot, where it is not unique yet: a table of any size is written to meanwhile. */
int pg_make_ids_unique(struct pg_store *pg, PGconn *conn, struct err *err);

#endif
