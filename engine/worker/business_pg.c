/* business_pg.c - the business database in PostgreSQL. A query is sent as one message: its limits
 * (read-only, statement_timeout, no JIT compilation), then the query itself, in one implicit
 * transaction that ends with the Sync. The session is not changed, so this works through PgBouncer
 * in transaction mode, and the query of a worker that is killed ends when its check would have
 * timed out. */
#include "business.h"

#include "../base/settings.h"
#include "../base/settings_mask.h"
#include "../pg/libpq.h"
#include "../pg/pg_denied.h"
#include "../pg/pg_handshake.h"
#include "../pg/pg_prepared.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHED = 64, GRACE_MS = 1000 };

static const char limits_sql[] = "SELECT pg_catalog.set_config('transaction_read_only', 'on', true), "
                                 "pg_catalog.set_config('statement_timeout', $1, true), "
                                 "pg_catalog.set_config('jit', 'off', true)";

/* known: our session has prepared it */
struct prepared { char *sql; char name[PG_PREPARED_NAME_SIZE]; bool known; };

/* what was sent: how many replies will come, and which place each prepares, or -1 */
struct message { int replies, preparing[4]; };

struct pg_business {
    struct business base;
    char *url;
    bool unprepared;
    int64_t connect_timeout_us;
    PGconn *conn;
    const char *query;                  /* of the exchange under way */
    PGresult *result;                   /* what `rows` points into */
    struct prepared cache[CACHED];
};

static bool pg_claims(const char *url)
{
    return !strncmp(url, "postgresql://", 13) || !strncmp(url, "postgres://", 11) || strchr(url, '=');
}

static int pg_open_business(const struct business_options *o, struct business **out, struct err *err)
{
    struct pg_business *b = calloc(1, sizeof *b);
    char *url = strdup(o->url);
    if (!b || !url) {
        free(b);
        free(url);
        return err_set(err, ERR_NOMEM, "business database: out of memory");
    }
    b->url = url;
    b->unprepared = o->unprepared;
    b->connect_timeout_us = o->connect_timeout_us;
    *out = &b->base;
    return 0;
}

static void forget_prepared(struct pg_business *b)
{
    for (int i = 0; i < CACHED; i++) {
        free(b->cache[i].sql);
        b->cache[i] = (struct prepared){ 0 };
    }
}

/* libpq is loaded for the first query: before that nothing of it is called, as for NULL. */
static void forget_result(struct pg_business *b)
{
    if (b->result)
        PQclear(b->result);
    b->result = NULL;
}

static void disconnect(struct pg_business *b)
{
    forget_prepared(b);
    if (b->conn)
        PQfinish(b->conn);
    b->conn = NULL;
}

static void pg_close_business(struct business *base)
{
    struct pg_business *b = (struct pg_business *)base;
    forget_result(b);
    disconnect(b);
    free(b->url);
    free(b);
}

/* With libpq's message, on one line. */
static int lost(struct pg_business *b, const char *doing, struct err *err)
{
    const char *message = b->conn ? PQerrorMessage(b->conn) : "out of memory";
    char line[1024];
    if (!*message)
        message = "the connection was lost";
    /* if the URL was malformed, libpq may quote a part of the password as host or port */
    settings_mask_words(message, b->url, line, sizeof line);
    err_set(err, ERR_LOST, "business database: %s: %s", doing, line);
    err_one_line(err);
    return ERR_LOST;
}

/* The same for a connection that was not opened. */
static int kept_out(struct pg_business *b, struct err *err)
{
    char state[6], message[1024], line[1024], grant[512];
    const char *user = b->conn ? PQuser(b->conn) : NULL;
    pg_handshake_failure(b->conn, state, message, sizeof message);
    settings_mask_words(message, b->url, line, sizeof line);
    err_set(err, ERR_LOST, "business database: connect: %s", line);
    err_one_line(err);
    if (!err)
        return ERR_LOST;
    if (!strcmp(state, "42501") && user && pg_denied_grant(message, NULL, user, grant, sizeof grant)) {
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof err->text - used, "; as its owner run: %s", grant);
    }
    memcpy(err->sqlstate, state, sizeof state);
    return ERR_LOST;
}

/* Waits for input until the deadline and GRACE_MS. */
static bool wait_for_input(struct pg_business *b, int64_t deadline_us)
{
    for (;;) {
        int remaining = business_remaining_ms(deadline_us + GRACE_MS * 1000LL);
        struct pollfd p = { .fd = PQsocket(b->conn), .events = POLLIN };
        int n = remaining > 0 ? poll(&p, 1, remaining) : 0;
        if (n >= 0 || errno != EINTR)
            return n > 0;
    }
}

static int connect_server(struct pg_business *b, int64_t deadline_us, struct err *err)
{
    /* what comes before dbname is a default that the URL may override; what follows is not */
    static const char *const names[] = { "application_name",    "keepalives_idle",
                                         "keepalives_interval", "keepalives_count",
                                         "tcp_user_timeout",    "dbname",
                                         "client_encoding",     NULL };
    const char *const values[] = { "prescient worker", "30", "10", "3", "30000", b->url, "UTF8", NULL };
    int64_t until_us = b->connect_timeout_us ? business_now_us() + b->connect_timeout_us : deadline_us;
    if (until_us > deadline_us)
        until_us = deadline_us;
    if (libpq_load(err) < 0)
        return err_wrap(err, ERR_LOST, "business database");
    b->conn = PQconnectStartParams(names, values, 1);
    if (!b->conn || PQstatus(b->conn) == CONNECTION_BAD)
        return kept_out(b, err);
    pg_handshake_drop_notices(b->conn);
    pg_handshake_begin(b->conn);
    PostgresPollingStatusType polling = PGRES_POLLING_WRITING;
    while (polling != PGRES_POLLING_OK) {
        int remaining_ms = business_remaining_ms(until_us);
        if (!remaining_ms)
            return err_set(err, ERR_LOST, "business database: connect: no answer in time");
        polling = pg_handshake_step(b->conn, polling, remaining_ms);
        if (polling == PGRES_POLLING_FAILED)
            return kept_out(b, err);
    }
    pg_handshake_over(b->conn);
    return PQenterPipelineMode(b->conn) ? 0 : lost(b, "pipeline mode", err);
}

/* The place of this text among the prepared ones, or -1: unprepared, or no room. */
static int place_of(struct pg_business *b, const char *sql)
{
    if (b->unprepared)
        return -1;
    for (int i = 0; i < CACHED; i++) {
        if (b->cache[i].sql && !strcmp(b->cache[i].sql, sql))
            return i;
        if (!b->cache[i].sql) {
            pg_prepared_name("prescient", sql, NULL, b->cache[i].name);
            b->cache[i].sql = strdup(sql);
            return b->cache[i].sql ? i : -1;
        }
    }
    return -1;
}

static void expect_reply(struct message *m, int preparing)
{
    m->preparing[m->replies++] = preparing;
}

/* One statement of the message, prepared first where its place is not known yet. */
static bool send_statement(struct pg_business *b, int place, const char *sql,
                           const struct prescient_value *params, int n, struct message *m)
{
    const char **values = arena_alloc(b->base.arena, ((size_t)n + 1) * sizeof *values);
    if (!values)
        return false;
    for (int i = 0; i < n; i++)
        values[i] = params[i].text;
    if (place < 0) {
        expect_reply(m, -1);
        return PQsendQueryParams(b->conn, sql, n, NULL, values, NULL, NULL, 0);
    }
    const char *name = b->cache[place].name;
    if (!b->cache[place].known) {
        if (!PQsendPrepare(b->conn, name, sql, 0, NULL))
            return false;
        expect_reply(m, place);
    }
    expect_reply(m, -1);
    return PQsendQueryPrepared(b->conn, name, n, values, NULL, NULL, 0);
}

/* Waits for the next result; NULL with *is_lost when it does not come. */
static PGresult *next_result(struct pg_business *b, int64_t deadline_us, bool *is_lost)
{
    while (PQisBusy(b->conn)) {
        if (!wait_for_input(b, deadline_us) || !PQconsumeInput(b->conn)) {
            *is_lost = true;
            return NULL;
        }
    }
    return PQgetResult(b->conn);
}

static int code_of(const char *state)
{
    if (!strcmp(state, "57014"))
        return ERR_BUSY;                /* canceled by statement_timeout */
    if (!strncmp(state, "08", 2) || !strncmp(state, "57P", 3) || !*state)
        return ERR_LOST;
    return ERR_GENERAL;
}

/* Adds the server's own hint, which often has the column that was meant, or the GRANT that a user
 * lacks. */
static void advise(const struct pg_business *b, const PGresult *r, const char *state, const char *message,
                   struct err *err)
{
    char grant[512];
    const char *hint = PQresultErrorField(r, PG_DIAG_MESSAGE_HINT), *user = PQuser(b->conn);
    size_t used = strlen(err->text);
    if (!strcmp(state, "42501") && user && pg_denied_grant(message, b->query, user, grant, sizeof grant))
        snprintf(err->text + used, sizeof err->text - used, "; as its owner run: %s", grant);
    else if (hint)
        snprintf(err->text + used, sizeof err->text - used, "; %s", hint);
}

static int refused(const struct pg_business *b, const PGresult *r, struct err *err)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    if (!state)
        state = "";
    if (!message)
        message = PQresultErrorMessage(r);
    int code = code_of(state);
    err_set(err, code, "business database: %s%s%s", message, *state ? ", SQLSTATE " : "", state);
    advise(b, r, state, message, err);
    err_one_line(err);
    snprintf(err->sqlstate, sizeof err->sqlstate, "%s", state);
    return code;
}

/* Reads all replies up to the Sync. The last one before it is the query's own and becomes
 * b->result. The first error counts: those after it only report that their statement was
 * skipped. */
static int read_replies(struct pg_business *b, const struct message *m, int64_t deadline_us, struct err *err)
{
    int rc = 0, reply = 0;
    for (;;) {
        bool is_lost = false;
        PGresult *r = next_result(b, deadline_us, &is_lost);
        if (is_lost || PQstatus(b->conn) == CONNECTION_BAD) {
            PQclear(r);
            if (business_remaining_ms(deadline_us))
                return lost(b, "query", err);
            return err_set(err, ERR_BUSY, "business database: query: out of time");
        }
        if (!r) {                       /* the end of one reply */
            if (++reply > m->replies)
                return lost(b, "query: one reply too many", err);
            continue;
        }
        ExecStatusType status = PQresultStatus(r);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(r);
            return rc;
        }
        if (!rc && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
            rc = refused(b, r, err);
        if (status == PGRES_COMMAND_OK && reply < m->replies && m->preparing[reply] >= 0)
            b->cache[m->preparing[reply]].known = true;
        if (!rc && reply == m->replies - 1)
            b->result = r;
        else
            PQclear(r);
    }
}

static int exchange(struct pg_business *b, const char *sql, const struct prescient_value *params, int n,
                    int64_t deadline_us, struct err *err)
{
    char ms[16];
    int remaining = business_remaining_ms(deadline_us);
    snprintf(ms, sizeof ms, "%d", remaining > 0 ? remaining : 1);       /* 0 would be no limit */
    struct prescient_value limit = { ms, strlen(ms) };
    b->query = sql;
    int limits = place_of(b, limits_sql), place = place_of(b, sql);
    struct message m = { 0 };
    if (!send_statement(b, limits, limits_sql, &limit, 1, &m) ||
        !send_statement(b, place, sql, params, n, &m) || !PQpipelineSync(b->conn))
        return lost(b, "send", err);
    return read_replies(b, &m, deadline_us, err);
}

static int take_rows(struct pg_business *b, struct err *err)
{
    struct arena *a = b->base.arena;
    int rows = PQntuples(b->result), columns = PQnfields(b->result);
    const char **names = arena_alloc(a, ((size_t)columns + 1) * sizeof *names);
    struct prescient_value *values = arena_alloc(a, ((size_t)rows * (size_t)columns + 1) * sizeof *values);
    if (!names || !values)
        return err_set(err, ERR_NOMEM, "business database: out of memory for %d rows", rows);
    for (int c = 0; c < columns; c++)
        names[c] = PQfname(b->result, c);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            if (PQgetisnull(b->result, r, c))
                values[(size_t)r * (size_t)columns + (size_t)c] = (struct prescient_value){ NULL, 0 };
            else
                values[(size_t)r * (size_t)columns + (size_t)c] = (struct prescient_value){
                    PQgetvalue(b->result, r, c), (size_t)PQgetlength(b->result, r, c)
                };
    b->base.rows = (struct prescient_rows){
        .size = sizeof b->base.rows, .rows = rows, .columns = columns, .names = names, .values = values
    };
    return 0;
}

/* One try, on the connection that is there or on a new one. */
static int ask(struct pg_business *b, const char *sql, const struct prescient_value *params, int n,
               int64_t deadline_us, struct err *err)
{
    int rc = b->conn ? 0 : connect_server(b, deadline_us, err);
    if (rc < 0)
        return rc;
    rc = exchange(b, sql, params, n, deadline_us, err);
    if (rc < 0)
        return rc;
    return take_rows(b, err);
}

/* Whether another try on a new connection can help: the old one was lost, or a table changed under
 * a prepared statement. */
static bool is_worth_another(const struct err *err)
{
    return err->code == ERR_LOST || !strcmp(err->sqlstate, "0A000");
}

static int pg_query(struct business *base, const char *sql, const struct prescient_value *params, int n,
                    int64_t deadline_us, struct err *err)
{
    struct pg_business *b = (struct pg_business *)base;
    struct err why;
    int rc = ERR_LOST;
    forget_result(b);
    /* one may find that an old connection is lost, one a pooler without prepared statements */
    for (int attempt = 0; attempt < 3; attempt++) {
        err_clear(&why);
        bool is_new = !b->conn;
        rc = ask(b, sql, params, n, deadline_us, &why);
        if (rc == 0)
            return 0;
        bool unprepares = !b->unprepared && pg_is_of_a_pooler(&why);
        if (unprepares)
            b->unprepared = true;       /* from now on nothing is prepared */
        bool again = (unprepares || (!is_new && is_worth_another(&why))) &&
                     business_remaining_ms(deadline_us);
        if (rc == ERR_LOST || again || PQstatus(b->conn) == CONNECTION_BAD ||
            PQtransactionStatus(b->conn) != PQTRANS_IDLE)
            disconnect(b);
        if (!again)
            break;
    }
    if (err)
        *err = why;
    return rc;
}

const struct business_ops business_pg_ops = {
    .dialect = "postgresql",
    .claims = pg_claims,
    .open = pg_open_business,
    .close = pg_close_business,
    .query = pg_query,
};
