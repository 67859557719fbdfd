/* store_pg_ask.c - statements that block, for commands, on a connection of the caller. */
#include <stdlib.h>

#include "store_pg.h"

static bool is_good(const PGresult *r)
{
    ExecStatusType status = PQresultStatus(r);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static PGresult *execute(PGconn *conn, const char *sql, const struct wire_params *p)
{
    return PQexecParams(conn, sql, p->n, p->types, p->values, p->lengths, p->formats, 1);
}

/* A transaction of its own, which begins with the path as every message does. Only the statement's
 * result is returned. NULL: it did not begin; err has the reason. */
static PGresult *execute_alone(struct pg_store *pg, PGconn *conn, const char *sql,
                               const struct wire_params *p, struct err *err)
{
    if (pg_begin_blocking(pg, conn, PG_BEGIN, err) < 0)
        return NULL;
    PGresult *r = execute(conn, sql, p);
    PGresult *end = PQexec(conn, "COMMIT");
    if (is_good(r) && PQresultStatus(end) != PGRES_COMMAND_OK) {
        PQclear(r);
        return end;
    }
    PQclear(end);
    return r;
}

/* Texts in `row` are part of the result, which is cleared: copies them to the store's memory. */
static bool keep_texts(struct pg_store *pg, const struct sql_statement *s, void *row)
{
    for (int i = 0; i < s->nout; i++) {
        const char **text = (void *)((char *)row + s->out[i].offset);
        if (s->out[i].type != SQL_TEXT || !*text)
            continue;
        *text = arena_strdup(pg->arena, *text);
        if (!*text)
            return false;
    }
    return true;
}

static int first_row(struct pg_store *pg, enum pg_statement statement, const PGresult *r, void *out,
                     struct err *err)
{
    const struct sql_statement *s = &pg_statements[statement];
    int n = PQntuples(r);
    if (n == 0 || s->nout == 0)
        return n;
    if (!pg_read_row(pg, statement, r, 0, out))
        return err_set(err, ERR_LOST, "the database's answer to %s cannot be read", s->name);
    return keep_texts(pg, s, out) ? n : err_set(err, ERR_NOMEM, "store: out of memory");
}

PGresult *pg_run_statement(struct pg_store *pg, PGconn *conn, enum pg_statement statement, unsigned form,
                           const void *in, struct err *err)
{
    const struct sql_statement *s = &pg_statements[statement];
    const char *sql = pg_sql(pg, (int)statement + sql_form(s, form));
    struct wire_params p;
    if (!sql || !wire_put(&p, pg->arena, s->in, s->nin, in)) {
        err_set(err, ERR_NOMEM, "store: out of memory");
        return NULL;
    }
    bool is_alone = PQtransactionStatus(conn) == PQTRANS_IDLE;
    PGresult *r = is_alone ? execute_alone(pg, conn, sql, &p, err) : execute(conn, sql, &p);
    if (!r && !is_alone)
        pg_fail(pg, err, r, conn);
    return r;
}

/* ---- all in one message ---- */

static int prepare_one(struct pg_store *pg, enum pg_statement statement, struct err *err)
{
    const struct sql_statement *s = &pg_statements[statement];
    const char *sql = pg_sql(pg, (int)statement);
    Oid types[WIRE_PARAMS_MAX];
    if (!sql)
        return err_set(err, ERR_NOMEM, "store: out of memory");
    for (int i = 0; i < s->nin; i++)
        types[i] = wire_type(s->in[i].type);
    PGresult *r = PQprepare(pg->side, pg->names[statement], sql, s->nin, types);
    int rc = is_good(r) ? 0 : pg_fail(pg, err, r, pg->side);
    PQclear(r);
    return rc;
}

/* Once for each connection, and on the path: names are looked up here. What has failed half is
 * prepared on another connection. */
static int prepare(struct pg_store *pg, enum pg_statement statement, struct err *err)
{
    if (pg->side_prepared[statement])
        return 0;
    int rc = pg_begin_blocking(pg, pg->side, PG_BEGIN, err);
    if (rc == 0 && !pg->side_prepared[PG_PATH])
        rc = prepare_one(pg, PG_PATH, err);
    if (rc == 0)
        rc = prepare_one(pg, statement, err);
    if (rc == 0)
        rc = pg_execute_text(pg, pg->side, "COMMIT", err);
    if (rc == 0)
        pg->side_prepared[PG_PATH] = pg->side_prepared[statement] = true;
    else
        pg_side_close(pg);
    return rc;
}

static bool send_prepared(struct pg_store *pg, enum pg_statement statement, const struct wire_params *p)
{
    return PQsendQueryPrepared(pg->side, pg->names[statement], p->n, p->values, p->lengths, p->formats, 1);
}

/* The first failure of a message, or the last result; NULL: the connection was lost before its end,
 * where the commit is. */
static PGresult *read_message(PGconn *conn)
{
    enum { STATEMENTS = 2, MOST = 2 * STATEMENTS + 3 };     /* each is followed by a NULL; the end */
    PGresult *kept = NULL;
    for (int i = 0; i < MOST; i++) {
        PGresult *r = PQgetResult(conn);
        if (r && PQresultStatus(r) == PGRES_PIPELINE_SYNC) {
            PQclear(r);
            return kept;
        }
        if (!r || (kept && !is_good(kept))) {
            PQclear(r);
            continue;
        }
        PQclear(kept);
        kept = r;
    }
    PQclear(kept);
    return NULL;
}

static PGresult *converse(struct pg_store *pg, enum pg_statement statement, const struct wire_params *p)
{
    static const struct wire_params none;
    PGconn *conn = pg->side;
    bool is_sent = PQenterPipelineMode(conn) && send_prepared(pg, PG_PATH, &none) &&
                   send_prepared(pg, statement, p) && PQpipelineSync(conn);
    PGresult *r = is_sent ? read_message(conn) : NULL;
    if (r && PQexitPipelineMode(conn))
        return r;
    PQclear(r);
    return NULL;
}

PGresult *pg_run_at_once(struct pg_store *pg, enum pg_statement statement, const void *in, struct err *err)
{
    const struct sql_statement *s = &pg_statements[statement];
    struct wire_params p;
    if (!wire_put(&p, pg->arena, s->in, s->nin, in)) {
        err_set(err, ERR_NOMEM, "store: out of memory");
        return NULL;
    }
    if (prepare(pg, statement, err) < 0)
        return NULL;
    PGresult *r = converse(pg, statement, &p);
    if (!r)
        pg_lost(err, pg->side, "the connection to the database was lost");
    return r;
}

int pg_ask_row(struct pg_store *pg, PGconn *conn, enum pg_statement statement, const void *in, void *out,
               struct err *err)
{
    PGresult *r = pg_run_statement(pg, conn, statement, PG_FORM_PLAIN, in, err);
    if (!r)
        return err->code;
    int rc = is_good(r) ? first_row(pg, statement, r, out, err) : pg_fail(pg, err, r, conn);
    PQclear(r);
    return rc;
}

int pg_begin_blocking(struct pg_store *pg, PGconn *conn, enum pg_statement script, struct err *err)
{
    struct pg_pin_lists room;
    struct pg_pin_in in = pg_pins(pg, conn, &room);
    struct pg_pin_out row = { 0 };
    int rc = pg_execute(pg, conn, script, err);
    if (rc < 0 || !pg->pooled)
        return rc;
    rc = pg_ask(pg, conn, PG_PIN, &in, &row, err);
    if (rc < 0)
        PQclear(PQexec(conn, "ROLLBACK"));
    return rc < 0 ? rc : 0;
}

int pg_execute(struct pg_store *pg, PGconn *conn, enum pg_statement statement, struct err *err)
{
    return pg_execute_text(pg, conn, pg_statements[statement].text, err);
}

int pg_execute_text(struct pg_store *pg, PGconn *conn, const char *text, struct err *err)
{
    char *sql = pg_with_schema(text, pg->schema);
    if (!sql)
        return err_set(err, ERR_NOMEM, "store: out of memory");
    PGresult *r = PQexec(conn, sql);
    free(sql);
    int rc = is_good(r) ? 0 : pg_fail(pg, err, r, conn);
    PQclear(r);
    return rc;
}
