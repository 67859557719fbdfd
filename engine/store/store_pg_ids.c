/* store_pg_ids.c - the index by slot becomes unique: built beside the old one while applications
 * and engines go on, then put in its place. Blocks. A schema that is new, or small when 0009_asked
 * came to it, has it already. */
#include <string.h>

#include "store_pg.h"

#define TRIES 3

static int is_unique(struct pg_store *pg, PGconn *conn, int64_t *unique, struct err *err)
{
    return pg_ask_number(pg, conn,
                         "SELECT coalesce((SELECT x.indisunique::integer FROM pg_index x WHERE x.indexrelid "
                         "= to_regclass('prescient.future_job_slot')), 1)",
                         NULL, unique, err);
}

/* Rows that share an id are parted first, else the index cannot be built. Whoever enqueues
 * meanwhile may make new ones: then it is tried again. */
static int build(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int64_t parted;
    int rc = pg_execute(pg, conn, "DROP INDEX CONCURRENTLY IF EXISTS prescient.future_job_slot_unique", err);
    rc = rc < 0 ? rc : pg_ask_number(pg, conn, "SELECT prescient.part_ids()", NULL, &parted, err);
    return rc < 0 ? rc
                  : pg_execute(pg, conn,
                               "CREATE UNIQUE INDEX CONCURRENTLY future_job_slot_unique"
                               " ON prescient.future_job (next_check_at, bucket, priority, id)",
                               err);
}

static int put_in_place(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = pg_execute(
        pg, conn,
        PG_BEGIN "; SET LOCAL lock_timeout = '3s'; LOCK TABLE prescient.future_job IN ACCESS EXCLUSIVE MODE;"
                 "DROP INDEX prescient.future_job_slot; ALTER INDEX prescient.future_job_slot_unique RENAME "
                 "TO future_job_slot; COMMIT",
        err);
    if (rc < 0)
        PQclear(PQexec(conn, "ROLLBACK"));
    return rc;
}

int pg_make_ids_unique(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int64_t unique;
    int rc = is_unique(pg, conn, &unique, err);
    if (rc < 0 || unique)
        return rc;
    for (int i = 0; i < TRIES; i++) {
        rc = build(pg, conn, err);
        if (rc != ERR_DATA)
            break;
    }
    rc = rc < 0 ? rc : put_in_place(pg, conn, err);
    return rc < 0 ? err_wrap(err, rc, "the index future_job_slot could not be made unique; run this again")
                  : 0;
}
