/* store_pg_prune.c - dropping what is old: whole partitions of the history, and chunks of runs, passes and events. Blocks.
 * Nothing here may hold an application or an engine up: short lock timeouts, tried again, and a transaction a chunk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store_pg.h"

#define TRIES 20
#define PAUSE_MS 250

/* Days that ended before $1, attached or left over from a prune that was interrupted. */
static const char *const old_days =
    "SELECT c.relname, i.inhrelid IS NOT NULL, coalesce((to_json(i)->>'inhdetachpending')::boolean, false)"
    "  FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
    " WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'prescient.future_job_history'::regclass)"
    "   AND c.relkind = 'r' AND c.relname ~ '^future_job_history_p[0-9]{8}$'"
    "   AND to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= prescient.utc_day(to_timestamp($1::bigint))"
    " ORDER BY c.relname";

/* What goes in chunks: how many there are, and the deletion of the next ones. */
static const struct { const char *count, *chunk; } chunked[] = {
    { "SELECT count(*) FROM prescient.future_job_run WHERE run_at < to_timestamp($1::bigint)",
      "WITH gone AS (DELETE FROM prescient.future_job_run WHERE ctid = ANY (ARRAY("
      "  SELECT ctid FROM prescient.future_job_run WHERE run_at < to_timestamp($1::bigint) LIMIT 20000)) RETURNING 1) SELECT count(*) FROM gone" },
    /* The passes of a slot stay until it is closed and holds no row and no lease. */
    { "SELECT count(*) FROM prescient.slot_pass p WHERE p.slot_at < to_timestamp($1::bigint) AND EXISTS ("
      "  SELECT FROM prescient.slot_pass o WHERE o.slot_at = p.slot_at AND o.bucket = -1 AND o.pass = 0 AND o.closed_at IS NOT NULL)"
      "  AND NOT EXISTS (SELECT FROM prescient.slot_lease l WHERE l.slot_at = p.slot_at)"
      "  AND NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = p.slot_at)",
      "WITH gone AS (DELETE FROM prescient.slot_pass WHERE slot_at IN ("
      "  SELECT o.slot_at FROM prescient.slot_pass o WHERE o.slot_at < to_timestamp($1::bigint) AND o.bucket = -1 AND o.pass = 0"
      "     AND o.closed_at IS NOT NULL AND NOT EXISTS (SELECT FROM prescient.slot_lease l WHERE l.slot_at = o.slot_at)"
      "     AND NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = o.slot_at)"
      "   ORDER BY o.slot_at LIMIT 200) RETURNING 1) SELECT count(*) FROM gone" },
    { "SELECT count(*) FROM prescient.event WHERE emitted_at < to_timestamp($1::bigint)",
      "WITH gone AS (DELETE FROM prescient.event WHERE ctid = ANY (ARRAY("
      "  SELECT ctid FROM prescient.event WHERE emitted_at < to_timestamp($1::bigint) LIMIT 20000)) RETURNING 1) SELECT count(*) FROM gone" },
};

static void pause_a_moment(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = PAUSE_MS * 1000000L }, NULL);
}

/* DDL that gives up its place in the lock queue soon and comes again. */
static int persist_in_session(struct pg_store *pg, PGconn *conn, const char *sql, struct err *err)
{
    int rc = ERR_BUSY;
    for (int i = 0; i < TRIES && rc == ERR_BUSY; i++) {
        if (i > 0)
            pause_a_moment();
        rc = pg_execute(pg, conn, sql, err);
    }
    return rc;
}

/* Behind a pooler each statement may meet another session, and what is set in one stays there for others. So no session is touched: a DETACH that
 * has to wait is one in a transaction, which makes others wait behind it, and therefore does so for moments only. */
static int persist_in_transactions(struct pg_store *pg, PGconn *conn, const char *sql, struct err *err)
{
    int rc = ERR_BUSY;
    for (int i = 0; i < TRIES && rc == ERR_BUSY; i++) {
        if (i > 0)
            pause_a_moment();
        rc = pg_execute(pg, conn, PG_BEGIN "; SET LOCAL lock_timeout = '100ms'", err);
        rc = rc < 0 ? rc : pg_execute(pg, conn, sql, err);
        if (rc < 0)
            PQclear(PQexec(conn, "ROLLBACK"));
        else
            rc = pg_execute(pg, conn, "COMMIT", err);
    }
    return rc;
}

static int drop_day(struct pg_store *pg, PGconn *conn, const char *day, bool attached, bool pending, bool pooled, struct err *err)
{
    char sql[256];
    int rc = 0;
    int (*persist)(struct pg_store *, PGconn *, const char *, struct err *) = pooled ? persist_in_transactions : persist_in_session;
    const char *how = pending ? " FINALIZE" : PQserverVersion(conn) >= 140000 && !pooled ? " CONCURRENTLY" : "";
    snprintf(sql, sizeof sql, "ALTER TABLE prescient.future_job_history DETACH PARTITION prescient.%s%s", day, how);
    if (attached)
        rc = persist(pg, conn, sql, err);
    snprintf(sql, sizeof sql, "DROP TABLE prescient.%s", day);
    rc = rc < 0 ? rc : persist(pg, conn, sql, err);
    return rc < 0 ? err_wrap(err, rc, "history partition %s", day) : 0;
}

static int drop_days(struct pg_store *pg, PGconn *conn, const char *before, bool dry_run, bool pooled, int64_t *dropped, struct err *err)
{
    PGresult *r = pg_run(pg, conn, old_days, &before, 1, err);
    int rc = r ? 0 : err->code;
    for (int i = 0; r && rc == 0 && i < PQntuples(r); i++) {
        bool attached = *PQgetvalue(r, i, 1) == 't', pending = *PQgetvalue(r, i, 2) == 't';
        rc = dry_run ? 0 : drop_day(pg, conn, PQgetvalue(r, i, 0), attached, pending, pooled, err);
        *dropped += rc == 0;
    }
    PQclear(r);
    return rc;
}

static int drop_chunks(struct pg_store *pg, PGconn *conn, int which, const char *before, bool dry_run, int64_t *dropped, struct err *err)
{
    if (dry_run)
        return pg_ask_number(pg, conn, chunked[which].count, before, dropped, err);
    int64_t n;
    int rc;
    do {
        rc = pg_ask_number(pg, conn, chunked[which].chunk, before, &n, err);
        *dropped += rc == 0 ? n : 0;
    } while (rc == 0 && n > 0);
    return rc;
}

int pg_prune(struct store *st, int64_t before, bool dry_run, struct prune_counts *out, struct err *err)
{
    struct pg_store *pg = pg_store(st);
    PGconn *conn = pg_side(pg, err);
    if (!conn)
        return err->code;
    char text[24];
    int64_t *const counts[] = { &out->runs, &out->passes, &out->events };
    int64_t backend_pid;
    snprintf(text, sizeof text, "%" PRId64, before);
    int rc = pg_ask_number(pg, conn, "SELECT pg_backend_pid()", NULL, &backend_pid, err);
    bool pooled = rc == 0 && pg_is_pooled(conn, (int32_t)backend_pid);
    if (rc == 0 && !pooled)
        rc = pg_execute(pg, conn, "SET lock_timeout = '2s'", err);      /* a session's: DETACH CONCURRENTLY stands in no transaction block */
    rc = rc < 0 ? rc : drop_days(pg, conn, text, dry_run, pooled, &out->history, err);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = drop_chunks(pg, conn, i, text, dry_run, counts[i], err);
    pg_side_close(pg);
    return rc;
}
