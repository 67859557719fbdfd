/* store_sqlite_runs.c - adds what the runs of an hour were like, and what is counted for ever: a
 * note of one engine. */
#include "store_sqlite_calls.h"

/* Half a day, and a day: see note_runs in store_pg.sql. */
#define COUNTS_US INT64_C(43200000000)
#define KEPT_US INT64_C(86400000000)

static int64_t add(struct sqlite_store *db, struct err *err, const struct run_hour *row)
{
    return sqlite_run(db, err, STATEMENT_NOTE_RUN_HOUR, &(struct sqlite_note_run_hour_in){
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
}

static int64_t add_tally(struct sqlite_store *db, struct err *err, const struct tally *tally, int64_t now_us)
{
    return sqlite_run(db, err, STATEMENT_NOTE_TALLY, &(struct sqlite_note_tally_in){
        .what = tally->what,
        .name = tally->name,
        .outcome = tally->outcome,
        .n = tally->n,
        .took_us = tally->took_us,
        .took = tally->took,
        .late_us = tally->late_us,
        .late = tally->late,
        .clock_us = now_us,
    });
}

int sqlite_note_runs(struct sqlite_store *db, struct store_call *call)
{
    const struct store_note_runs *n = (const struct store_note_runs *)call;
    int64_t now_us = sqlite_clock_us(db), rc;
    rc = sqlite_run(db, &call->err, STATEMENT_FORGET_NOTES,
                    &(struct sqlite_forget_notes_in){ .before_us = now_us - KEPT_US });
    if (rc < 0)
        return (int)rc;
    if (n->made_us <= now_us - COUNTS_US)
        return 0;
    rc = sqlite_run(db, &call->err, STATEMENT_NOTE_RUNS, &(struct sqlite_note_runs_in){
        .owner = n->owner,
        .number = n->number,
        .clock_us = now_us,
    });
    if (rc <= 0)                        /* 0: it was added before */
        return (int)rc;
    for (int i = 0; i < n->n && rc >= 0; i++)
        rc = add(db, &call->err, &n->rows[i]);
    for (int i = 0; i < n->ntallies && rc >= 0; i++)
        rc = add_tally(db, &call->err, &n->tallies[i], now_us);
    return rc < 0 ? (int)rc : 0;
}
