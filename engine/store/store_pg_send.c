/* store_pg_send.c - sends statements in a message, and reads the rows that come back. */
#include <inttypes.h>

#include "store_pg.h"

enum { LOCKS_OF_A_WAIT = 4 };

static bool queue_entry(struct pg_store *pg, int statement, bool prepares)
{
    if (pg->nqueue == PG_QUEUE_MAX)
        return false;
    pg->queue[pg->nqueue].statement = statement;
    pg->queue[pg->nqueue].prepares = prepares;
    pg->nqueue++;
    return true;
}

/* On this connection, or earlier in this message. */
static bool is_prepared(const struct pg_store *pg, int statement)
{
    bool is = pg->prepared[statement];
    for (int i = 0; !is && i < pg->nqueue; i++)
        is = pg->queue[i].prepares && pg->queue[i].statement == statement;
    return is;
}

/* `format` is that of the result; 1 is binary. */
static bool queue_params(struct pg_store *pg, int statement, const struct wire_params *p, int format)
{
    const char *sql = pg_sql(pg, statement), *name = pg->names[statement];
    if (!sql)
        return false;
    if (pg->unprepared)
        return queue_entry(pg, statement, false) &&
               PQsendQueryParams(pg->conn, sql, p->n, p->types, p->values, p->lengths, p->formats, format);
    if (!is_prepared(pg, statement) &&
        !(queue_entry(pg, statement, true) && PQsendPrepare(pg->conn, name, sql, p->n, p->types)))
        return false;
    return queue_entry(pg, statement, false) &&
           PQsendQueryPrepared(pg->conn, name, p->n, p->values, p->lengths, p->formats, format);
}

static int in_form(const struct pg_store *pg, int statement, unsigned forms)
{
    unsigned degraded = pg->degraded ? PG_FORM_DEGRADED : 0;
    return statement + sql_form(&pg_statements[statement], forms | degraded);
}

bool pg_queue(struct pg_store *pg, enum pg_statement statement, unsigned forms, const void *in)
{
    const struct sql_statement *s = &pg_statements[statement];
    struct wire_params p;
    return wire_put(&p, pg->arena, s->in, s->nin, in) &&
           queue_params(pg, in_form(pg, (int)statement, forms), &p, 1);
}

/* A statement that is rarely used is planned each time, for the given parameters. */
bool pg_queue_report(struct pg_store *pg, enum pg_statement statement, unsigned forms,
                     const char *const *params)
{
    const struct sql_statement *s = &pg_statements[statement];
    struct wire_params p = { .n = s->nin };
    for (int i = 0; i < p.n; i++) {
        p.types[i] = wire_type(SQL_TEXT);
        p.values[i] = params[i];
    }
    int form = in_form(pg, (int)statement, forms);
    if (s->is_prepared)
        return queue_params(pg, form, &p, 0);
    const char *sql = pg_sql(pg, form);
    return sql && queue_entry(pg, form, false) &&
           PQsendQueryParams(pg->conn, sql, p.n, p.types, p.values, NULL, NULL, 0);
}

static bool send_pins(struct pg_store *pg)
{
    struct pg_pin_lists room;
    struct pg_pin_in in = pg_pins(pg, pg->conn, &room);
    return pg_send(pg, PG_PIN, &in);
}

bool pg_send_path(struct pg_store *pg, bool relaxed)
{
    bool pins = pg->pooled || pg->phase == PG_CHECKING_OWNERS;
    return pg_send_form(pg, PG_PATH, relaxed ? PG_FORM_RELAXED : PG_FORM_PLAIN, NULL) &&
           (!pins || send_pins(pg));
}

bool pg_send_reading(struct pg_store *pg)
{
    int64_t wait_ms = pg->wait_us / 1000;
    const char *limit = arena_printf(pg->arena, "%" PRId64 "ms", wait_ms - wait_ms / 20);
    return pg_send(pg, PG_READING, &(struct pg_reading_in){ .within = limit });
}

bool pg_send_writing(struct pg_store *pg)
{
    int64_t limit_ms = pg->wait_us / 1000 / LOCKS_OF_A_WAIT;
    const char *limit = arena_printf(pg->arena, "%" PRId64 "ms", limit_ms > 0 ? limit_ms : 1);
    return pg_send(pg, PG_WRITING, &(struct pg_writing_in){ .within = limit });
}

static bool is_path(int statement)
{
    return statement == PG_PATH || statement == PG_PATH_RELAXED || statement == PG_PIN;
}

const PGresult *pg_result(const struct pg_store *pg, int n)
{
    for (int i = 0; i < pg->nqueue; i++)
        if (!pg->queue[i].prepares && !is_path(pg->queue[i].statement) && n-- == 0)
            return pg->queue[i].result;
    return NULL;
}

bool pg_read_row(struct pg_store *pg, enum pg_statement statement, const PGresult *r, int row, void *out)
{
    const struct sql_statement *s = &pg_statements[statement];
    return wire_get(r, row, pg->arena, s->out, s->nout, out);
}
