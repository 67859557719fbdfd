/* bench_pg_bare.c - the bare SQL that engines are compared with: prepared statements, binary
 * parameters, a thousand rows a transaction, on one or more connections in one loop. It runs no
 * job, holds no lease and checks no answer. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/rules/bucket.h"
#include "../engine/rules/idempotency.h"
#include "../engine/store/store_pg_wire.h"
#include "bench_pg.h"

enum { CONNECTIONS_MAX = 16, INT8_OID = 20 };

struct row { int64_t id; int16_t bucket; };

struct bare {                           /* one connection and its share of the slot */
    PGconn *conn;
    struct row *rows;
    int n, next;
    char *ids;                          /* an int8[] in binary */
    int64_t done;
    bool reading, over;
};

struct bare_run {
    struct bench *b;
    enum bench_bare what;
    struct bare lines[CONNECTIONS_MAX];
    int nlines;
};

/* ---- binary values ---- */

/* A timestamptz in the binary format. */
static int64_t pg_moment(int64_t at)
{
    int64_t bytes;
    wire_put_int8((char *)&bytes, (at - WIRE_TIMESTAMP_EPOCH_S) * 1000000);
    return bytes;
}

static int put_ids(char *to, const struct row *rows, int n)
{
    wire_put_int4(to, 1);
    wire_put_int4(to + 4, 0);
    wire_put_int4(to + 8, INT8_OID);
    wire_put_int4(to + 12, n);
    wire_put_int4(to + 16, 1);
    for (int i = 0; i < n; i++) {
        wire_put_int4(to + 20 + 12 * i, 8);
        wire_put_int8(to + 24 + 12 * i, rows[i].id);
    }
    return 20 + 12 * n;
}

/* ---- the lines ---- */

static const char *const statements[] = { [BARE_END] = "bare_end",   [BARE_END_RANGE] = "bare_end_range",
                                          [BARE_MOVE] = "bare_move", [BARE_MOVE_RANGE] = "bare_move_range",
                                          [BARE_LOOP] = "bare_loop", [BARE_INSERT] = "bare_insert",
                                          [BARE_ENQUEUE] = "enqueue",
                                          [BARE_ENQUEUE_UNWAITED] = "enqueue",
                                          [BARE_ENQUEUE_BIGINT] = "enqueue_bigint",
                                          [BARE_ENQUEUE_UUID] = "enqueue_uuid",
                                          [BARE_ENQUEUE_INTERVAL] = "enqueue_interval",
                                          [BARE_ENQUEUE_WORDS] = "enqueue_words",
                                          [BARE_ENQUEUE_JSONB] = "enqueue_jsonb",
                                          [BARE_INSERT_UNWAITED] = "bare_insert",
                                          [BARE_PLAIN_UNWAITED] = "plain_insert" };

static int prepare_line(struct bare *l, const char *name, struct err *err)
{
    PGresult *result = PQprepare(l->conn, name, sql_find(sql_bench_pg, name), 0, NULL);
    int rc = PQresultStatus(result) == PGRES_COMMAND_OK ? 0 : bench_pg_fail(l->conn, result, name, err);
    PQclear(result);
    return rc;
}

/* Whether rows of the slot are read before they are ended or moved. */
static bool statement_reads_first(enum bench_bare what)
{
    return what == BARE_END || what == BARE_END_RANGE || what == BARE_MOVE || what == BARE_MOVE_RANGE;
}

static bool is_unwaited(enum bench_bare what)
{
    return what >= BARE_ENQUEUE_UNWAITED;
}

static int wait_for_no_commit(PGconn *conn, struct err *err)
{
    PGresult *result = PQexec(conn, sql_find(sql_bench_pg, "wait_for_no_commit"));
    ExecStatusType status = PQresultStatus(result);
    int rc = status == PGRES_COMMAND_OK ? 0 : bench_pg_fail(conn, result, "wait_for_no_commit", err);
    PQclear(result);
    return rc;
}

static int open_lines(struct bare_run *r, int n, struct err *err)
{
    for (int i = 0; i < n; i++) {
        struct bare *l = &r->lines[i];
        l->conn = bench_pg_connect(r->b, err);
        if (!l->conn)
            return err->code;
        r->nlines++;
        l->ids = malloc(20 + 12 * BENCH_BATCH);
        if (!l->ids)
            return err_set(err, ERR_NOMEM, "out of memory");
        int rc = is_unwaited(r->what) ? wait_for_no_commit(l->conn, err) : 0;
        if (rc < 0)
            return rc;
        rc = prepare_line(l, statements[r->what], err);
        if (rc < 0)
            return rc;
        if (!statement_reads_first(r->what))
            continue;
        rc = prepare_line(l, "bare_read", err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void close_lines(struct bare_run *r)
{
    for (int i = 0; i < r->nlines; i++) {
        PQfinish(r->lines[i].conn);
        free(r->lines[i].rows);
        free(r->lines[i].ids);
    }
}

static int send_read(struct bare_run *r, struct bare *l)
{
    int64_t slot = pg_moment(r->b->slot);
    int share = BUCKETS / r->nlines, number = (int)(l - r->lines);
    int16_t first = (int16_t)htons((uint16_t)(share * number));
    int16_t last = (int16_t)htons(
        (uint16_t)(number == r->nlines - 1 ? BUCKETS - 1 : share * (number + 1) - 1));
    const char *values[] = { (char *)&slot, (char *)&first, (char *)&last };
    l->reading = true;
    return PQsendQueryPrepared(l->conn, "bare_read", 3, values, (int[]){ 8, 2, 2 }, (int[]){ 1, 1, 1 }, 1);
}

/* The next thousand, all of one bucket. */
static int send_batch(struct bare_run *r, struct bare *l)
{
    int n = 1;
    while (n < BENCH_BATCH && l->next + n < l->n && l->rows[l->next + n].bucket == l->rows[l->next].bucket)
        n++;
    int64_t slot = pg_moment(r->b->slot), to = pg_moment(r->b->slot + 20000LL * r->b->slot_length_s);
    int16_t bucket = (int16_t)htons((uint16_t)l->rows[l->next].bucket);
    int size = put_ids(l->ids, l->rows + l->next, n);
    const char *values[] = { (char *)&slot, (char *)&bucket, l->ids, (char *)&to };
    l->next += n;
    return PQsendQueryPrepared(l->conn, statements[r->what], 4, values, (int[]){ 8, 2, size, 8 },
                               (int[]){ 1, 1, 1, 1 }, 1);
}

/* Sends the connection's next statement; false: nothing remains, or it cannot be sent. */
static bool send_next(struct bare_run *r, struct bare *l)
{
    if (r->what == BARE_LOOP)
        return PQsendQueryPrepared(l->conn, "bare_loop", 0, NULL, NULL, NULL, 1);
    return l->next < l->n && send_batch(r, l);
}

static int take_rows(struct bare *l, const PGresult *result, struct err *err)
{
    l->n = PQntuples(result);
    l->rows = malloc(((size_t)l->n + 1) * sizeof *l->rows);
    if (!l->rows)
        return err_set(err, ERR_NOMEM, "out of memory for %d rows", l->n);
    for (int i = 0; i < l->n; i++) {
        uint16_t bucket;
        memcpy(&bucket, PQgetvalue(result, i, 1), 2);
        l->rows[i] = (struct row){ wire_int8(PQgetvalue(result, i, 0)), (int16_t)ntohs(bucket) };
    }
    return 0;
}

/* A result is complete: reads it, and sends the next statement. */
static int answered(struct bare_run *r, struct bare *l, struct err *err)
{
    PGresult *result = PQgetResult(l->conn), *more;
    ExecStatusType status = PQresultStatus(result);
    int rc = 0, touched = 0;
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        rc = bench_pg_fail(l->conn, result, statements[r->what], err);
    else if (l->reading)
        rc = take_rows(l, result, err);
    else
        l->done += touched = atoi(PQcmdTuples(result));
    bool was_reading = l->reading;
    l->reading = false;
    PQclear(result);
    while ((more = PQgetResult(l->conn)))
        PQclear(more);
    if (rc)
        return rc;
    l->over = (r->what == BARE_LOOP && !was_reading && touched == 0) || !send_next(r, l);
    return 0;
}

static int drive(struct bare_run *r, struct err *err)
{
    for (;;) {
        struct pollfd fds[CONNECTIONS_MAX + 1] = { { .fd = r->b->interrupt.fd, .events = POLLIN } };
        struct bare *of[CONNECTIONS_MAX + 1];
        int n = 1;
        for (int i = 0; i < r->nlines; i++)
            if (!r->lines[i].over) {
                of[n] = &r->lines[i];
                fds[n++] = (struct pollfd){ .fd = PQsocket(r->lines[i].conn), .events = POLLIN };
            }
        if (n == 1)
            return 0;
        if (poll(fds, (nfds_t)n, -1) < 0 && errno != EINTR)
            return err_sys(err, ERR_GENERAL, "poll");
        if (fds[0].revents)
            return err_set(err, ERR_STOPPED, "stopped");
        for (int i = 1; i < n; i++) {
            if (!fds[i].revents)
                continue;
            if (!PQconsumeInput(of[i]->conn))
                return bench_pg_fail(of[i]->conn, NULL, statements[r->what], err);
            int rc = PQisBusy(of[i]->conn) ? 0 : answered(r, of[i], err);
            if (rc)
                return rc;
        }
    }
}

static int run_lines(struct bare_run *r, struct bench_figures *out, struct err *err)
{
    int64_t began = clock_mono_us(&clock_system), cpu = bench_self_cpu_us();
    for (int i = 0; i < r->nlines; i++)
        if (!(r->what == BARE_LOOP ? send_next(r, &r->lines[i]) : send_read(r, &r->lines[i])))
            return bench_pg_fail(r->lines[i].conn, NULL, statements[r->what], err);
    int rc = drive(r, err);
    out->us = clock_mono_us(&clock_system) - began;
    out->client_cpu_us = bench_self_cpu_us() - cpu;
    out->checks = 0;
    for (int i = 0; i < r->nlines; i++)
        out->checks += r->lines[i].done;
    return rc;
}

/* ---- enqueue ---- */

/* A key is the letters and a number of so many digits; a time without text is sent in binary. */
static const struct single { const char *letters; int digits; const char *at; } singles[] = {
    [BARE_INSERT] = { "s", 1, NULL },
    [BARE_ENQUEUE] = { "s", 1, NULL },
    [BARE_ENQUEUE_UNWAITED] = { "s", 1, NULL },
    [BARE_ENQUEUE_BIGINT] = { "", 1, "2040-01-01 00:00:00+00" },
    [BARE_ENQUEUE_UUID] = { "a0eebc99-9c0b-4ef8-bb6d-", 12, "2040-01-01 00:00:00+00" },
    [BARE_ENQUEUE_INTERVAL] = { "", 1, "3 hours" },
    [BARE_ENQUEUE_WORDS] = { "s", 1, "+3 hours" },
    [BARE_ENQUEUE_JSONB] = { "s", 1, "2040-01-01 00:00:00+00" },
    [BARE_INSERT_UNWAITED] = { "s", 1, NULL },
    [BARE_PLAIN_UNWAITED] = { "s", 1, NULL }
};

static int run_single(struct bare_run *r, int64_t i, struct err *err)
{
    PGconn *conn = r->lines[0].conn;
    const struct single *as = &singles[r->what];
    int64_t at = pg_moment(r->b->slot + 20000LL * r->b->slot_length_s);
    char key[48];
    snprintf(key, sizeof key, "%s%0*" PRId64, as->letters, as->digits, i);
    const char *values[] = { key, as->at ? as->at : (char *)&at };
    PGresult *result = PQexecPrepared(conn, statements[r->what], 2, values, (int[]){ 0, 8 },
                                      (int[]){ 0, as->at ? 0 : 1 }, 1);
    ExecStatusType status = PQresultStatus(result);
    int rc = 0;
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        rc = bench_pg_fail(conn, result, statements[r->what], err);
    PQclear(result);
    return rc;
}

static int run_singles(struct bare_run *r, struct bench_figures *out, struct err *err)
{
    int64_t began = clock_mono_us(&clock_system), cpu = bench_self_cpu_us();
    for (int64_t i = 0; i < r->b->o.singles; i++) {
        int rc = run_single(r, i, err);
        if (rc < 0)
            return rc;
    }
    out->us = clock_mono_us(&clock_system) - began;
    out->client_cpu_us = bench_self_cpu_us() - cpu;
    out->checks = r->b->o.singles;
    return 0;
}

static char *put_field(char *to, const void *bytes, int len)
{
    wire_put_int4(to, len);
    memcpy(to + 4, bytes, (size_t)len);
    return to + 4 + len;
}

static char *put_row(char *to, int64_t i, int64_t at)
{
    char key[24];
    int len = snprintf(key, sizeof key, "%" PRId64, i);
    uint16_t fields = htons(6), bucket = htons((uint16_t)bucket_of("orders", key));
    memcpy(to, &fields, 2);
    to = put_field(to + 2, &bucket, 2);
    to = put_field(to, "orders", 6);
    to = put_field(to, key, len);
    to = put_field(to, "bench_end", 9);
    to = put_field(to, &at, 8);
    return put_field(to, &at, 8);
}

/* After a failure the connection is of no use: the caller closes it. */
static int copy_rows(PGconn *conn, int64_t from, int64_t to, int64_t when, struct err *err)
{
    static const char head[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
    char buffer[64 * 1024], *at = buffer;
    memcpy(at, head, 19);
    at += 19;
    for (int64_t i = from; i < to; i++) {
        at = put_row(at, i, when);
        if (at - buffer <= (ptrdiff_t)sizeof buffer - 256)
            continue;
        if (PQputCopyData(conn, buffer, (int)(at - buffer)) != 1)
            return bench_pg_fail(conn, NULL, "bare_copy", err);
        at = buffer;
    }
    memset(at, 0xff, 2);
    if (PQputCopyData(conn, buffer, (int)(at + 2 - buffer)) != 1 || PQputCopyEnd(conn, NULL) != 1)
        return bench_pg_fail(conn, NULL, "bare_copy", err);
    return 0;
}

static int check_result(PGconn *conn, PGresult *result, ExecStatusType expected, struct err *err)
{
    int rc = 0;
    if (PQresultStatus(result) != expected)
        rc = bench_pg_fail(conn, result, "bare_copy", err);
    PQclear(result);
    return rc;
}

static int copy_chunk(struct bare_run *r, PGconn *conn, int64_t from, int64_t to, struct err *err)
{
    int64_t when = pg_moment(r->b->slot + 20000LL * r->b->slot_length_s);
    PGresult *result = PQexec(conn, sql_find(sql_bench_pg, "bare_copy"));
    int rc = check_result(conn, result, PGRES_COPY_IN, err);
    if (rc < 0)
        return rc;
    rc = copy_rows(conn, from, to, when, err);
    if (rc < 0)
        return rc;
    while ((result = PQgetResult(conn))) {
        rc = check_result(conn, result, PGRES_COMMAND_OK, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void finish_connection(PGconn **conn)
{
    PQfinish(*conn);
}

static int run_copy(struct bare_run *r, struct bench_figures *out, struct err *err)
{
    int64_t began = clock_mono_us(&clock_system), cpu = bench_self_cpu_us(), n = r->b->o.checks;
    CLEANUP(finish_connection) PGconn *conn = bench_pg_connect(r->b, err);
    if (!conn)
        return err->code;
    for (int64_t i = 0; i < n; i += BENCH_CHUNK) {
        int rc = copy_chunk(r, conn, i, i + BENCH_CHUNK < n ? i + BENCH_CHUNK : n, err);
        if (rc < 0)
            return rc;
    }
    out->us = clock_mono_us(&clock_system) - began;
    out->client_cpu_us = bench_self_cpu_us() - cpu;
    out->checks = n;
    return 0;
}

int bench_pg_bare(struct bench *b, enum bench_bare what, int connections, struct bench_figures *out,
                  struct err *err)
{
    CLEANUP(close_lines) struct bare_run r = { .b = b, .what = what };
    if (what == BARE_COPY)
        return run_copy(&r, out, err);
    int rc = open_lines(&r, connections, err);
    if (rc < 0)
        return rc;
    if (what == BARE_INSERT || what == BARE_ENQUEUE || is_unwaited(what))
        return run_singles(&r, out, err);
    return run_lines(&r, out, err);
}
