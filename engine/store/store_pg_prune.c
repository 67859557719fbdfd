/* store_pg_prune.c - dropping what is old: whole days of history, runs and events, by the owner's function (0010_days), and passes in chunks. Blocks.
 * Nothing here may hold an application or an engine up: short lock timeouts, tried again, and a transaction a day or chunk. What keeps one table from
 * being pruned does not keep the others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store_pg.h"

#define TRIES 8
#define PAUSE_MS 250

/* $1 is the table, $2 the moment. */
static const char count_days[] = "SELECT count(*) FROM prescient.old_days($1, to_timestamp($2::bigint))";
static const char drop_day[] = "SELECT prescient.drop_old_day($1, to_timestamp($2::bigint))";

/* Whoever has had the oldest of these days, or the table itself, in use for longest. Who is no superuser sees no more of others than this. */
static const char who_uses[] =
    "SELECT format('%s is in use by pid %s (%s, user %s)', d.day, a.pid, coalesce(nullif(a.application_name, ''), a.backend_type), a.usename)"
    "  FROM (SELECT day FROM prescient.old_days($1, to_timestamp($2::bigint)) day LIMIT 1) d,"
    "       pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid"
    " WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()"
    "   AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())"
    "   AND l.relation IN (to_regclass('prescient.' || $1), to_regclass('prescient.' || d.day))"
    " ORDER BY l.relation = to_regclass('prescient.' || d.day) DESC, age(a.backend_xmin) DESC NULLS LAST, a.pid LIMIT 1";

/* The passes of a slot stay until it is closed and holds no row and no lease. In a replay its moment is long past: what counts is when they were written. */
#define OVER \
    "o.bucket = -1 AND o.pass = 0 AND o.closed_at IS NOT NULL AND o.slot_at < to_timestamp($1::bigint) AND o.recorded_at < to_timestamp($1::bigint)" \
    "  AND NOT EXISTS (SELECT FROM prescient.slot_lease l WHERE l.slot_at = o.slot_at)" \
    "  AND NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = o.slot_at)"
static const char count_passes[] =
    "SELECT count(*) FROM prescient.slot_pass o JOIN prescient.slot_pass p ON p.slot_at = o.slot_at WHERE " OVER;
static const char drop_passes[] =
    "WITH gone AS (DELETE FROM prescient.slot_pass WHERE slot_at IN ("
    "  SELECT o.slot_at FROM prescient.slot_pass o WHERE " OVER " ORDER BY o.slot_at LIMIT 200) RETURNING 1) SELECT count(*) FROM gone";

static void pause_a_moment(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = PAUSE_MS * 1000000L }, NULL);
}

/* In words who is in the way, where that can be seen. */
static int in_use(struct pg_store *pg, PGconn *conn, const char *const *params, struct err *err)
{
    struct err asking;
    PGresult *r = pg_run(pg, conn, who_uses, params, 2, &asking);
    if (r && PQntuples(r) > 0)
        err_set(err, ERR_BUSY, "%s, so it stays for now: prune again when that is over; nobody was held up for it", PQgetvalue(r, 0, 0));
    PQclear(r);
    return ERR_BUSY;
}

/* 1: a day was dropped, 0: there is none; negative: ERR_. */
static int drop_oldest(struct pg_store *pg, PGconn *conn, const char *const *params, struct err *err)
{
    PGresult *r = NULL;
    for (int i = 0; i < TRIES && !r; i++) {
        if (i > 0)
            pause_a_moment();
        r = pg_run(pg, conn, drop_day, params, 2, err);
        if (!r && err->code != ERR_BUSY)
            return err->code;
    }
    if (!r)
        return in_use(pg, conn, params, err);
    int dropped = PQntuples(r) > 0 && !PQgetisnull(r, 0, 0);
    PQclear(r);
    return dropped;
}

static int prune_days(struct pg_store *pg, PGconn *conn, const char *table, const char *before, bool dry_run, int64_t *dropped, struct err *err)
{
    const char *const params[] = { table, before };
    if (dry_run) {
        PGresult *r = pg_run(pg, conn, count_days, params, 2, err);
        *dropped = r ? strtoll(PQgetvalue(r, 0, 0), NULL, 10) : 0;
        PQclear(r);
        return r ? 0 : err->code;
    }
    int rc;
    while ((rc = drop_oldest(pg, conn, params, err)) > 0)
        ++*dropped;
    return rc < 0 ? err_wrap(err, rc, "%s", table) : 0;
}

static int prune_passes(struct pg_store *pg, PGconn *conn, const char *before, bool dry_run, int64_t *dropped, struct err *err)
{
    if (dry_run)
        return pg_ask_number(pg, conn, count_passes, before, dropped, err);
    int64_t n;
    int rc;
    do {
        rc = pg_ask_number(pg, conn, drop_passes, before, &n, err);
        *dropped += rc == 0 ? n : 0;
    } while (rc == 0 && n > 0);
    return rc < 0 ? err_wrap(err, rc, "slot_pass") : 0;
}

int pg_prune(struct store *st, int64_t before, bool dry_run, struct prune_counts *out, struct err *err)
{
    struct pg_store *pg = pg_store(st);
    PGconn *conn = pg_side(pg, err);
    if (!conn)
        return err->code;
    const struct { const char *table; int64_t *dropped; } by_day[] = {
        { "future_job_history", &out->history }, { "future_job_run", &out->runs }, { "event", &out->events },
    };
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, before);
    out->by_days = true;
    int first = 0;
    for (int i = 0; i < 4; i++) {
        struct err own;
        int rc = i < 3 ? prune_days(pg, conn, by_day[i].table, text, dry_run, by_day[i].dropped, &own) :
                         prune_passes(pg, conn, text, dry_run, &out->passes, &own);
        if (rc < 0 && first == 0) {
            first = rc;
            *err = own;
        }
        if (PQstatus(conn) != CONNECTION_OK)
            break;
    }
    pg_side_close(pg);
    return first;
}
