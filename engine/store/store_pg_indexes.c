/* store_pg_indexes.c - builds what is missing of the indexes on future_job, while applications and
 * engines go on. Blocks. A new schema has them all, and so has one that was small when their
 * migration was applied. */
#include "store_pg.h"

#define TRIES 3

/* An index that is built CONCURRENTLY. */
struct index {
    const char *name;
    bool is_unique;
    enum pg_statement drop_unfinished, build;
    /* what must be done before, and after; NULL: nothing */
    int (*prepare)(struct pg_store *pg, PGconn *conn, struct err *err);
    int (*put_in_place)(struct pg_store *pg, PGconn *conn, struct err *err);
};

/* Rows that share an id get new ids: else the index by slot cannot be unique. */
static int part_ids(struct pg_store *pg, PGconn *conn, struct err *err)
{
    struct pg_part_ids_out row = { 0 };
    return pg_ask(pg, conn, PG_PART_IDS, NULL, &row, err);
}

/* The index by slot is built beside the old one, and then replaces it. */
static int put_unique_in_place(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = pg_execute(pg, conn, PG_PUT_INDEX_IN_PLACE, err);
    if (rc < 0)
        PQclear(PQexec(conn, "ROLLBACK"));
    return rc;
}

static const struct index indexes[] = {
    { "future_job_slot", true, PG_DROP_UNFINISHED_INDEX, PG_BUILD_UNIQUE_INDEX, part_ids,
      put_unique_in_place },
    { "future_job_put_off", false, PG_DROP_UNFINISHED_PUT_OFF, PG_BUILD_PUT_OFF, NULL, NULL },
};

static int build_once(struct pg_store *pg, PGconn *conn, const struct index *index, struct err *err)
{
    int rc = pg_execute(pg, conn, index->drop_unfinished, err);
    if (rc < 0)
        return rc;
    rc = index->prepare ? index->prepare(pg, conn, err) : 0;
    if (rc < 0)
        return rc;
    return pg_execute(pg, conn, index->build, err);
}

/* Applications that enqueue meanwhile may make such rows as were just mended; then it is tried
 * again. */
static int build(struct pg_store *pg, PGconn *conn, const struct index *index, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < TRIES; i++) {
        rc = build_once(pg, conn, index, err);
        if (rc != ERR_DATA)
            break;
    }
    if (rc < 0 || !index->put_in_place)
        return rc;
    return index->put_in_place(pg, conn, err);
}

static int build_missing(struct pg_store *pg, PGconn *conn, const struct index *index, struct err *err)
{
    struct pg_index_is_there_in in = { .name = index->name, .is_unique = index->is_unique };
    struct pg_index_is_there_out there = { 0 };
    int rc = pg_ask(pg, conn, PG_INDEX_IS_THERE, &in, &there, err);
    if (rc < 0 || there.yes)
        return rc;
    rc = build(pg, conn, index, err);
    if (rc < 0)
        return err_wrap(err, rc, "the index %s could not be built; run this again", index->name);
    return 0;
}

int pg_build_indexes(struct pg_store *pg, PGconn *conn, struct err *err)
{
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        int rc = build_missing(pg, conn, &indexes[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
