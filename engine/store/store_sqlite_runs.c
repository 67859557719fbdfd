/* store_sqlite_runs.c - writes what the runs of an hour were like: the rows of one engine. */
#include "store_sqlite_calls.h"

int sqlite_note_runs(struct sqlite_store *db, struct store_call *call)
{
    const struct store_note_runs *n = (const struct store_note_runs *)call;
    for (int i = 0; i < n->n; i++) {
        const struct run_hour *row = &n->rows[i];
        int64_t rc = sqlite_run(db, &call->err, STATEMENT_NOTE_RUN_HOUR, &(struct sqlite_note_run_hour_in){
            .owner = n->owner,
            .hour_at = row->hour_at,
            .job = row->job,
            .entity = row->entity,
            .tenant = row->tenant,
            .outcome = row->outcome,
            .runs = row->runs,
            .took_us = row->took_us,
            .took_max_us = row->took_max_us,
            .late_max_us = row->late_max_us,
            .took = row->took,
            .late = row->late,
        });
        if (rc < 0)
            return (int)rc;
    }
    return 0;
}
