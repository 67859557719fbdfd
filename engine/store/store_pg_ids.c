/* store_pg_ids.c - makes the index by slot unique: builds a new one beside the old one while
 * applications and engines go on, then replaces the old one. Blocks. A new schema has the unique
 * index already, and so has one that was small when 0009_asked was applied. */
#include "store_pg.h"

#define TRIES 3

/* Rows that share an id get new ids first. Applications that enqueue meanwhile may create more such
 * rows; then it is tried again. */
static int build(struct pg_store *pg, PGconn *conn, struct err *err)
{
    struct pg_part_ids_out row = { 0 };
    int rc = pg_execute(pg, conn, PG_DROP_UNFINISHED_INDEX, err);
    if (rc < 0)
        return rc;
    rc = pg_ask(pg, conn, PG_PART_IDS, NULL, &row, err);
    if (rc < 0)
        return rc;
    return pg_execute(pg, conn, PG_BUILD_UNIQUE_INDEX, err);
}

static int put_in_place(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = pg_execute(pg, conn, PG_PUT_INDEX_IN_PLACE, err);
    if (rc < 0)
        PQclear(PQexec(conn, "ROLLBACK"));
    return rc;
}

static int build_in_place(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < TRIES; i++) {
        rc = build(pg, conn, err);
        if (rc != ERR_DATA)
            break;
    }
    return rc < 0 ? rc : put_in_place(pg, conn, err);
}

int pg_make_ids_unique(struct pg_store *pg, PGconn *conn, struct err *err)
{
    struct pg_ids_are_unique_out unique = { 0 };
    int rc = pg_ask(pg, conn, PG_IDS_ARE_UNIQUE, NULL, &unique, err);
    if (rc < 0)
        return rc;
    if (unique.yes)
        return 0;
    rc = build_in_place(pg, conn, err);
    if (rc < 0)
        return err_wrap(err, rc, "the index future_job_slot could not be made unique; run this again");
    return 0;
}
