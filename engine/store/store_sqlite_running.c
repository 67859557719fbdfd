/* store_sqlite_running.c - writes which runs of an engine have been going on for long. */
#include "store_sqlite_calls.h"

static int64_t add(struct sqlite_store *db, const struct store_note_running *n, int i, int64_t clock_us,
                   struct err *err)
{
    const struct running *row = &n->rows[i];
    return sqlite_run(db, err, STATEMENT_NOTE_RUNNING, &(struct sqlite_note_running_in){
        .owner = n->owner,
        .number = i + 1,
        .engine = db->engine,
        .worker = row->worker,
        .entity = row->entity,
        .key = row->key,
        .job = row->job,
        .slot = row->slot,
        .began_us = row->began_us,
        .clock_us = clock_us,
    });
}

/* Those before go, also where none takes their place. */
int sqlite_note_running(struct sqlite_store *db, struct store_call *call)
{
    const struct store_note_running *n = (const struct store_note_running *)call;
    const int64_t day_us = INT64_C(86400) * 1000000;
    int64_t clock_us = sqlite_clock_us(db);
    int64_t rc = sqlite_run(db, &call->err, STATEMENT_DROP_RUNNING, &(struct sqlite_drop_running_in){
        .owner = n->owner,
        .before_us = clock_us - day_us,
    });
    for (int i = 0; i < n->n && rc >= 0; i++)
        rc = add(db, n, i, clock_us, &call->err);
    return rc < 0 ? (int)rc : 0;
}
