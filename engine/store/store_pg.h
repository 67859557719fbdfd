/* store_pg.h - the inside of the PostgreSQL store, shared by store_pg*.c only.
 *
 *   store_pg.c          the life of a call: begin, step, deadline; opening and closing; pages
 *   store_pg_ops.h      what an operation is to it
 *   store_pg_slot.c     slots and leases: open, renew, release, finish; second looks, the sweep
 *   store_pg_settle.c   the settle: answers to parameters, results to states
 *   store_pg_send.c     statements as they go out in a message, and the rows that come back
 *   store_pg_connect.c  hosts, connecting, checks of server and schema
 *   store_pg_pins.c     settings that must not be as the user's server has them
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
 *   store_pg_prune.c    dropping what is old
 *   store_pg_listen.c   telling and hearing that there are events
 *
 * A call is one message: what an operation queues with pg_queue goes out up to one Sync, and is
 * one transaction. */
#ifndef PRESCIENT_STORE_PG_H
#define PRESCIENT_STORE_PG_H

#include <sys/types.h>

#include "../pg/libpq.h"
#include "../pg/pg_prepared.h"
#include "pg_statements.h"
#include "store_ops.h"
#include "store_pg_wire.h"

enum pg_phase { PG_AWAY, PG_LOOKING_UP, PG_CONNECTING, PG_CHECKING_OWNERS, PG_CHECKING, PG_READY };

/* Path, pins, three statements of a settle, effects, digests made and forgotten: each may need a
 * PREPARE before it. And one more for each digest. */
enum { PG_QUEUE_MAX = 2 * 8 + SETTLE_DIGESTS_MAX };

struct pg_host { char *host, *hostaddr, *port; };       /* NULL: libpq's default */

/* A child process that looks up the addresses of a host name. `pid` is 0 when there is none. */
enum { PG_LOOKUP_ADDRESSES = 8, PG_LOOKUP_TEXT = 512 };
struct pg_lookup {
    pid_t pid;
    int fd;                                 /* readable when pg_lookup_step has something to do */
    size_t used;
    char text[PG_LOOKUP_TEXT];  /* addresses separated by commas, or '!' and the reason for none */
};

struct pg_store {
    struct store head;
    struct arena *kept;                     /* strings of the options; lives as long as the store */
    const char *url, *schema, *schema_owner, *engine;
    int connect_timeout_ms, statement_timeout_ms, silence_ms;
    const char *lock_timeout;               /* "250ms" */
    const char *role;                       /* the role that has the rights which are needed */
    char asker[64];                         /* the user that the server takes us for; "": not asked yet */
    bool has_role;                          /* has the rights of `role` */
    /* The user may read no table: statements that have this form go through the functions that the
     * user may call. */
    bool narrow;
    bool unprepared, relaxed, reads_only;
    bool pooled;                            /* behind a pooler; known once a connection is checked */
    /* a pooler gave us a session without the statements that we had prepared, or with them
     * already */
    bool lost_prepared;
    int32_t wanted_slot_length_s;
    char *sql[PG_STATEMENTS];               /* text with the schema's name, made on first use */
    char names[PG_STATEMENTS][PG_PREPARED_NAME_SIZE];      /* names under which they are prepared */

    struct pg_host *hosts;
    int nhosts, host;                       /* the host in use, or the next one to try */
    /* Time to connect to one host: the usual, and the longer one of each round that follows several
     * without an answer. */
    int host_timeout_ms, host_patience_ms;
    int silent_rounds;                      /* rounds in a row in which no host answered */
    bool heard_host;                        /* a host answered in this round */
    /* libpq's keepalive options: how soon it notices a dead connection */
    struct { const char *keyword, *value; } silence[5];
    PGconn *conn, *side;                    /* side: for blocking work, opened on first use */
    bool side_prepared[PG_STATEMENTS];      /* on that connection */
    PGconn *listening;                      /* hears of events; NULL: nobody wants to */
    enum pg_phase phase;
    PostgresPollingStatusType polling;
    int hosts_tried;
    struct pg_lookup lookup;
    int naddresses, address;                /* of the host being tried; 0: its name was not looked up */
    bool met_silence;                       /* one of them did not answer in its time */
    char passed_over[512];  /* why the last host that was tried for this call was skipped */
    bool met_standby;                       /* a host accepted us but is read-only */
    bool all_denied;                        /* no host that was tried for this call lets us in */
    int64_t host_deadline_us;               /* of the host being tried */
    bool prepared[PG_STATEMENTS];

    struct store_call *call;                /* NULL: idle */
    int64_t deadline_us;
    int64_t wait_us;                        /* how long the call may take once it is connected */
    int rounds;                             /* how often this call was sent */
    struct arena *arena;                    /* of the call */
    struct { int statement; bool prepares; PGresult *result; } queue[PG_QUEUE_MAX];
    int nqueue, answered;
    PGresult *end_failure;  /* the commit's, behind the results of all statements; NULL: none */
    bool synced, unflushed;
    /* places of the locked rows on the page that this call has read; NULL: none */
    const char **lock_places;
    /* a row cannot move because another row there has its id: it gets a new id */
    bool renumbers;
    /* a delivery that is to be filed may be there already: it stays as it is */
    bool met_delivery;
    bool large_rows;  /* the last page had payloads above their share of the bytes */
    /* this call met a corrupt block and uses forms that go around it */
    bool degraded;
    char damage[256];                       /* the server's message about that block */
};

static inline struct pg_store *pg_store(struct store *st) { return (struct pg_store *)st; }

/* ---- statements ---- */
const char *pg_sql(struct pg_store *pg, int statement);         /* NULL: out of memory */
/* the caller frees it; NULL: out of memory */
char *pg_with_schema(const char *sql, const char *schema);

/* ---- calls ---- */
/* Sends the statement `path`, with which every message begins: it sets search_path for the others.
 * The first message of a connection, and each one behind a pooler, goes on with the pins.
 * `relaxed`: in a replay, the commit does not wait for the disk. False: out of memory, or the
 * connection is lost. */
bool pg_send_path(struct pg_store *pg, bool relaxed);
/* Sends the statement `reading`, after the path of a message that only reads. The server ends the
 * query shortly before our own deadline, so that we get its error and no query runs on that nobody
 * waits for. False as above. */
bool pg_send_reading(struct pg_store *pg);
/* Sends the statement `writing`, after the path of a report that writes. The server gives up at the
 * latest at the fourth lock that it waits for. False as above. */
bool pg_send_writing(struct pg_store *pg);
/* Queues a statement with the struct of its parameters, in these forms, and in the degraded form
 * once the call has met a corrupt block. False: out of memory, or the connection is lost. */
bool pg_queue(struct pg_store *pg, enum pg_statement statement, unsigned forms, const void *in);
#define pg_send(pg, statement, ...) pg_send_form(pg, statement, PG_FORM_PLAIN, __VA_ARGS__)
#define pg_send_form(pg, statement, forms, ...)                                                              \
    pg_queue((pg), (statement), (forms), SQL_IN(statement, __VA_ARGS__))
/* The form of a statement for this user, where it has one (see `narrow`). */
static inline unsigned pg_narrow_form(const struct pg_store *pg)
{
    return pg->narrow ? PG_FORM_NARROW : PG_FORM_PLAIN;
}
/* Queues a report in these forms. Its parameters and result are text; `params` has one string for
 * each parameter. */
bool pg_queue_report(struct pg_store *pg, enum pg_statement statement, unsigned forms,
                     const char *const *params);
/* The result of the n-th statement that the operation queued; valid until the call ends. */
const PGresult *pg_result(const struct pg_store *pg, int n);
/* Reads a row of a result into the struct of the statement's columns. Texts stay in the result,
 * arrays are in the call's arena. False: the row cannot be read. */
bool pg_read_row(struct pg_store *pg, enum pg_statement statement, const PGresult *r, int row, void *out);
#define pg_row(pg, statement, r, row, ...)                                                                   \
    pg_read_row((pg), (statement), (r), (row), SQL_OUT(statement, __VA_ARGS__))

/* ---- connection ---- */
int pg_read_url(struct pg_store *pg, struct err *err);
/* Starts to connect to the next host. False: no host can be tried; err has the last reason. */
bool pg_connect_begin(struct pg_store *pg, struct err *err);
int64_t pg_connect_most_us(const struct pg_store *pg);  /* how long all hosts together may take */
/* Continues without waiting: 1 connected, 0 wait, or a negative ERR_. */
int pg_connect_step(struct pg_store *pg, struct err *err);
/* Checks version and encoding, which the server reports when it connects; 0 or ERR_SETTINGS. */
int pg_check_server(struct pg_store *pg, struct err *err);
int pg_check_owners(struct pg_store *pg, const PGresult *r, struct err *err);
/* Checks who owns the schema; blocks. 1: owners are allowed; 0: there is no such schema; or an
 * ERR_. `own`: it must belong to the connection's user, who is to create objects in it. */
int pg_ask_owners(struct pg_store *pg, PGconn *conn, bool own, struct err *err);
int pg_check_schema(struct pg_store *pg, const PGresult *r, struct err *err);
int pg_refuse_unreleased(const struct pg_store *pg, struct err *err);           /* ERR_SCHEMA */
void pg_disconnect(struct pg_store *pg);
/* Whether nothing speaks against it. A connection that the server closed while it was idle is found
 * before anything is sent, so that it is known that the call had no effect. */
bool pg_is_alive(PGconn *conn);
/* Whether we are connected to a pooler: the backend process that answers, `backend_pid`, is not the
 * one that accepted the connection. */
bool pg_is_pooled(const PGconn *conn, int32_t backend_pid);
/* A new connection, the caller's to finish; NULL: err has the reason. */
PGconn *pg_connect_blocking(struct pg_store *pg, struct err *err);
/* The side connection, for blocking work, after a check of the schema; it belongs to `pg`. NULL:
 * err has the reason. */
PGconn *pg_side(struct pg_store *pg, struct err *err);
void pg_side_close(struct pg_store *pg);

/* ---- settings ---- */
/* What the statement `pin` is given on this connection; the lists are in `room`. */
enum { PG_PINS_MAX = 20 };
struct pg_pin_lists { const char *names[PG_PINS_MAX], *settings[PG_PINS_MAX]; };
struct pg_pin_in pg_pins(const struct pg_store *pg, const PGconn *conn, struct pg_pin_lists *room);
/* Runs the script that begins a transaction on a connection that blocks. Behind a pooler, the pins
 * follow it. */
int pg_begin_blocking(struct pg_store *pg, PGconn *conn, enum pg_statement script, struct err *err);

/* ---- names ---- */
/* whether the host is a name, not an address or a path */
bool pg_lookup_wanted(const struct pg_host *host);
bool pg_lookup_begin(struct pg_lookup *l, const char *name);    /* false: errno has the reason */
/* 1: `text` has the addresses; 0: wait; -1: there are none, text + 1 has the reason */
int pg_lookup_step(struct pg_lookup *l);
/* All of it, for one that blocks. False: there is none, or not within that time. */
bool pg_lookup_wait(struct pg_lookup *l, const char *name, int within_ms);
void pg_lookup_end(struct pg_lookup *l);  /* ends the child and closes its pipe, if there are any */

/* ---- failures ---- */
/* Turns a failed statement into an ERR_ code with a reason and a message; returns the code. Of a
 * right that is missing, the message has the GRANT that gives it. */
int pg_fail(const struct pg_store *pg, struct err *err, const PGresult *r, const PGconn *conn);
/* Adds to `message`, with which a server kept us out, what lets us in. */
void pg_add_way_in(const PGconn *conn, const char *state, char *message, size_t size);
bool pg_is_denied(const struct err *err); /* a right is missing */
/* the same for a lost connection */
int pg_lost(struct err *err, const PGconn *conn, const char *what);

/* ---- reports ---- */
/* Checks name and parameters before anything is sent: 0, ERR_NOTFOUND or ERR_INPUT. */
int pg_report_check(const struct store_report *r, struct err *err);
/* Whether there is no other form of it for a user who may not read the tables. */
bool pg_report_has_one_form(const struct store_report *r);

/* ---- blocking ---- */
/* Runs a statement and reads its first row; blocks. It runs in the connection's open transaction,
 * or in one of its own. Texts and arrays in `out` are valid until the store's next call. Returns
 * how many rows there were, or an ERR_. */
int pg_ask_row(struct pg_store *pg, PGconn *conn, enum pg_statement statement, const void *in, void *out,
               struct err *err);
#define pg_ask(pg, conn, statement, in, out, err)                                                            \
    pg_ask_row((pg), (conn), (statement), SQL_IN(statement, in), SQL_OUT(statement, out), (err))
/* The same in one of its forms, but returns the result, even of a failed statement; the caller
 * clears it. NULL: there is no result; err has the reason. */
PGresult *pg_run_statement(struct pg_store *pg, PGconn *conn, enum pg_statement statement, unsigned form,
                           const void *in, struct err *err);
#define pg_run(pg, conn, statement, form, in, err)                                                           \
    pg_run_statement((pg), (conn), (statement), (form), SQL_IN(statement, in), (err))
/* The same on the side connection, prepared, and committed when this returns a result of rows: all
 * in one message, where pg_run_statement waits for three. Not behind a pooler. */
PGresult *pg_run_at_once(struct pg_store *pg, enum pg_statement statement, const void *in, struct err *err);
/* Runs one or several statements without parameters and rows; 0 or an ERR_. */
int pg_execute(struct pg_store *pg, PGconn *conn, enum pg_statement statement, struct err *err);
int pg_execute_text(struct pg_store *pg, PGconn *conn, const char *text, struct err *err);
int pg_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
            struct load_counts *out, int *bad, struct err *err);
int pg_post(struct store *st, const struct post_item *items, int n, const struct post_terms *terms,
                struct post_result *results, struct err *err);
int pg_migrate(struct store *st, const struct migrate_options *options, struct err *err);

#endif
