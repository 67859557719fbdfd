/* store_pg_load.c - bulk load: a chunk goes by COPY straight into the table. If some of its checks
 * are pending already, it goes through the SQL API instead. Like every writer it takes its
 * transaction id first, then reads the clock, then picks the slots. Blocks. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rules/idempotency.h"
#include "../rules/slot.h"
#include "store_pg.h"

#define PIECE (64 * 1024)       /* bytes passed to libpq at a time */
#define COLUMNS 10

struct copy { PGconn *conn; char *buffer; size_t used, room; bool broken; };

static char *copy_room(struct copy *c, size_t size)
{
    if (c->used + size > c->room) {
        size_t room = 2 * (c->used + size);
        char *more = realloc(c->buffer, room);
        if (!more) {
            c->broken = true;
            return NULL;
        }
        c->buffer = more;
        c->room = room;
    }
    c->used += size;
    return c->buffer + c->used - size;
}

static void copy_bytes(struct copy *c, const char *bytes, size_t n)
{
    char *p = copy_room(c, 4 + n);
    if (p) {
        wire_put_int4(p, (int32_t)n);
        memcpy(p + 4, bytes, n);
    }
}

static void copy_text(struct copy *c, const char *text)
{
    char null[4];
    wire_put_int4(null, -1);
    if (text)
        copy_bytes(c, text, strlen(text));
    else if (copy_room(c, 4))
        memcpy(c->buffer + c->used - 4, null, 4);
}

static void copy_number(struct copy *c, int64_t v, int size)
{
    char bytes[8];
    if (size == 2)
        wire_put_int2(bytes, (int16_t)v);
    else if (size == 4)
        wire_put_int4(bytes, (int32_t)v);
    else
        wire_put_int8(bytes, v);
    copy_bytes(c, bytes, (size_t)size);
}

static void copy_flush(struct copy *c, size_t least)
{
    if (c->used < least || c->broken)
        return;
    c->broken = PQputCopyData(c->conn, c->buffer, (int)c->used) != 1;
    c->used = 0;
}

static void copy_row(struct copy *c, const struct load_row *row, int64_t slot)
{
    int64_t us = (slot - WIRE_TIMESTAMP_EPOCH_S) * 1000000;
    char *head = copy_room(c, 2);
    if (head)
        wire_put_int2(head, COLUMNS);
    copy_number(c, bucket_of(row->entity_name, row->entity_key), 2);
    copy_text(c, row->entity_name);
    copy_text(c, row->entity_key);
    copy_text(c, row->job_exec);
    copy_number(c, us, 8);
    copy_number(c, us, 8);
    copy_text(c, row->payload);
    copy_number(c, row->priority, 4);
    copy_text(c, row->concurrency_key);
    copy_text(c, row->tenant);
    copy_flush(c, PIECE);
}

static void copy_rows(struct copy *c, const struct load_row *rows, int n, int64_t now, int32_t length_s)
{
    /* then the flags, and the length of the extension: 0 */
    static const char signature[19] = "PGCOPY\n\377\r\n\0";
    char *head = copy_room(c, sizeof signature);
    if (head)
        memcpy(head, signature, sizeof signature);
    for (int i = 0; i < n && !c->broken; i++)
        copy_row(c, &rows[i], slot_for(rows[i].at, now, length_s));
    char *end = copy_room(c, 2);
    if (end)
        wire_put_int2(end, -1);
    copy_flush(c, 0);
}

/* The row that a failure names, counted from 1: by its context "COPY future_job, line 3" or its
 * detail "row 3". 0: none. */
static int named_row(const PGresult *r)
{
    const char *context = PQresultErrorField(r, PG_DIAG_CONTEXT);
    const char *copy = context ? strstr(context, "COPY ") : NULL;
    const char *line = copy ? strstr(copy, ", line ") : NULL;
    if (line)
        return atoi(line + 7);
    const char *detail = PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL);
    return detail && strncmp(detail, "row ", 4) == 0 ? atoi(detail + 4) : 0;
}

/* The index of the row of `n` that a failure names; -1: none. */
static int guilty_row(const PGresult *r, int n)
{
    int at = named_row(r);
    return at >= 1 && at <= n ? at - 1 : -1;
}

/* A value that the database rejects comes from the user here. */
static int refused(struct pg_store *pg, struct err *err, const PGresult *r, int n, int *bad)
{
    int rc = pg_fail(pg, err, r, pg->side);
    if (rc != ERR_DATA)
        return rc;
    *bad = guilty_row(r, n);
    return err->code = ERR_INPUT;
}

/* Without a right to the table, checks go through the function that the user may call; it goes by
 * the database's clock. */
static bool is_narrow(const struct pg_store *pg, int64_t now)
{
    return pg->narrow && now == 0;
}

static int begin_load(struct pg_store *pg, int64_t now, struct err *err)
{
    int rc = pg_begin_blocking(pg, pg->side, PG_BEGIN_LOAD, err);
    if (rc < 0 || is_narrow(pg, now))
        return rc;
    return pg_execute(pg, pg->side, PG_LOCK_CHECKS, err);
}

/* The clock, read after the transaction id was taken; virtual time replaces it. And the slot
 * length, as it is to the end of this transaction. */
static int begin_chunk(struct pg_store *pg, int64_t *now, int32_t *slot_length_s, struct err *err)
{
    struct pg_load_clock_out clock = { 0 };
    int rc = begin_load(pg, *now, err);
    if (rc < 0)
        return rc;
    rc = pg_ask(pg, pg->side, PG_LOAD_CLOCK, NULL, &clock, err);
    if (rc < 0)
        return rc;
    if (!*now)
        *now = clock.now;
    *slot_length_s = clock.slot_length_s;
    return 0;
}

static int end_chunk(struct pg_store *pg, int rc, struct err *err)
{
    if (rc < 0) {
        PQclear(pg->side ? PQexec(pg->side, "ROLLBACK") : NULL);
        return rc;
    }
    return pg_execute_text(pg, pg->side, "COMMIT", err);
}

/* As PQexec, but with a deadline. If libpq has no memory for the server's message that it waits for
 * rows, PQexec waits for that message for ever. */
static PGresult *exec_in_time(struct pg_store *pg, const char *sql)
{
    int64_t until_us = clock_mono_us(pg->head.clock) + pg->statement_timeout_ms * INT64_C(1000);
    if (!PQsendQuery(pg->side, sql))
        return NULL;
    while (PQisBusy(pg->side)) {
        struct pollfd p = { .fd = PQsocket(pg->side), .events = POLLIN };
        int64_t left_us = until_us - clock_mono_us(pg->head.clock);
        if (left_us <= 0 || (poll(&p, 1, (int)(left_us / 1000) + 1) > 0 && !PQconsumeInput(pg->side)))
            return NULL;
    }
    return PQgetResult(pg->side);
}

static int begin_copy(struct pg_store *pg, struct err *err)
{
    const char *sql = pg_sql(pg, PG_LOAD_COPY);
    PGresult *r = sql ? exec_in_time(pg, sql) : NULL;
    int rc = 0;
    if (!r) {
        rc = pg_lost(err, pg->side, "no answer from the database to a COPY");
        pg_side_close(pg);              /* the connection is unusable */
    } else if (PQresultStatus(r) != PGRES_COPY_IN) {
        rc = pg_fail(pg, err, r, pg->side);
    }
    PQclear(r);
    return rc;
}

/* The result of the whole COPY; NULL: the connection is lost. */
static PGresult *end_copy(struct pg_store *pg, const struct copy *c)
{
    const char *failure = c->broken ? "out of memory" : NULL;
    if (PQputCopyEnd(pg->side, failure) != 1)
        return NULL;
    PGresult *r = PQgetResult(pg->side), *more;
    while (r && (more = PQgetResult(pg->side)))
        PQclear(more);
    return r;
}

/* 1: some check of the chunk is pending already, and nothing was written. */
static int load_by_copy(struct pg_store *pg, const struct load_row *rows, int n, int64_t now, int *bad,
                        struct err *err)
{
    int32_t slot_length_s = 0;
    int rc = begin_chunk(pg, &now, &slot_length_s, err);
    if (rc == 0)
        rc = begin_copy(pg, err);
    if (rc < 0)
        return end_chunk(pg, rc, err);
    struct copy c = { .conn = pg->side };
    copy_rows(&c, rows, n, now, slot_length_s);
    PGresult *r = end_copy(pg, &c);
    free(c.buffer);
    const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    bool conflicts = state && strcmp(state, "23505") == 0;
    if (PQresultStatus(r) != PGRES_COMMAND_OK)
        rc = refused(pg, err, r, n, bad);
    PQclear(r);
    rc = end_chunk(pg, rc, err);
    return conflicts ? 1 : rc;
}

struct load_columns {
    const char **entities, **keys, **jobs, **payloads, **concurrency_keys, **tenants;
    int64_t *at;
    int32_t *priorities;
};

static bool load_columns_fill(struct load_columns *c, struct arena *a, const struct load_row *rows, int n)
{
    size_t room = (size_t)n;
    c->entities = arena_alloc(a, 6 * room * sizeof *c->entities);
    c->at = arena_alloc(a, room * sizeof *c->at);
    c->priorities = arena_alloc(a, room * sizeof *c->priorities);
    if (!c->entities || !c->at || !c->priorities)
        return false;
    c->keys = c->entities + room;
    c->jobs = c->entities + 2 * room;
    c->payloads = c->entities + 3 * room;
    c->concurrency_keys = c->entities + 4 * room;
    c->tenants = c->entities + 5 * room;
    for (int i = 0; i < n; i++) {
        c->entities[i] = rows[i].entity_name;
        c->keys[i] = rows[i].entity_key;
        c->jobs[i] = rows[i].job_exec;
        c->payloads[i] = rows[i].payload;
        c->concurrency_keys[i] = rows[i].concurrency_key;
        c->tenants[i] = rows[i].tenant;
        c->at[i] = rows[i].at;
        c->priorities[i] = rows[i].priority;
    }
    return true;
}

/* What became of each row; a row that the database rejects is reported by its index. */
static int file_checks(struct pg_store *pg, const struct load_row *rows, int n, const char *conflict,
                       int64_t now, struct load_counts *out, int *bad, struct err *err)
{
    struct load_columns c;
    arena_reset(pg->arena);
    if (!load_columns_fill(&c, pg->arena, rows, n))
        return err_set(err, ERR_NOMEM, "store: out of memory");
    struct pg_load_checks_in in = {
        .entities = { n, c.entities },
        .keys = { n, c.keys },
        .jobs = { n, c.jobs },
        .at = { n, c.at },
        .payloads = { n, c.payloads },
        .conflict = conflict,
        .priorities = { n, c.priorities },
        .now = now,
        .concurrency_keys = { n, c.concurrency_keys },
        .tenants = { n, c.tenants },
    };
    struct pg_load_checks_out row = { 0 };
    unsigned form = is_narrow(pg, now) ? PG_FORM_NARROW : PG_FORM_PLAIN;
    PGresult *r = pg_run(pg, pg->side, PG_LOAD_CHECKS, form, &in, err);
    int rc = r ? 0 : err->code;
    if (r && PQresultStatus(r) != PGRES_TUPLES_OK)
        rc = refused(pg, err, r, n, bad);
    else if (r && !pg_row(pg, PG_LOAD_CHECKS, r, 0, &row))
        rc = err_set(err, ERR_LOST, "the database's answer to a load cannot be read");
    else if (r)
        *out = (struct load_counts){ row.added, row.kept, row.moved, row.replaced };
    PQclear(r);
    return rc;
}

static int load_by_call(struct pg_store *pg, const struct load_row *rows, int n, const char *conflict,
                        int64_t now, struct load_counts *out, int *bad, struct err *err)
{
    int rc = begin_load(pg, now, err);
    if (rc == 0)
        rc = file_checks(pg, rows, n, conflict, now, out, bad, err);
    return end_chunk(pg, rc, err);
}

int pg_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
            struct load_counts *out, int *bad, struct err *err)
{
    struct pg_store *pg = pg_store(st);
    if (!pg_side(pg, err))
        return err->code;
    int rc = is_narrow(pg, now) ? 1 : load_by_copy(pg, rows, n, now, bad, err);
    if (rc == 0)
        out->added = n;
    else if (rc > 0)
        rc = load_by_call(pg, rows, n, conflict, now, out, bad, err);
    if (rc < 0)
        *out = (struct load_counts){ 0 };
    if (rc == ERR_LOST)
        pg_side_close(pg);
    return rc;
}
