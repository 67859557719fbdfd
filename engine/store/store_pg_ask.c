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
