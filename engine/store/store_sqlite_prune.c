/* store_sqlite_prune.c - drops old rows, some thousand a call, so that engines and applications can
 * write in between. */
#include "store_sqlite_calls.h"

/* The two statements of a part: one deletes, the other counts. */
#define PRUNE_FUNCTIONS(name, STATEMENT)                                                                     \
    static int64_t drop_##name(struct sqlite_store *db, int64_t before_us, struct err *err)                  \
    {                                                                                                        \
        return sqlite_run(db, err, STATEMENT, &(struct sqlite_##name##_in){ .before_us = before_us });       \
    }                                                                                                        \
    static int64_t count_##name(struct sqlite_store *db, int64_t before_us, struct err *err)                 \
    {                                                                                                        \
        struct sqlite_##name##_count_out row = { 0 };                                                        \
        int rc = sqlite_ask(db, err, STATEMENT##_COUNT, &row,                                                \
                            &(struct sqlite_##name##_count_in){ .before_us = before_us });                   \
        return rc < 0 ? rc : row.n;                                                                          \
    }
PRUNE_FUNCTIONS(prune_history, STATEMENT_PRUNE_HISTORY)
PRUNE_FUNCTIONS(prune_runs, STATEMENT_PRUNE_RUNS)
PRUNE_FUNCTIONS(prune_events, STATEMENT_PRUNE_EVENTS)
PRUNE_FUNCTIONS(prune_passes, STATEMENT_PRUNE_PASSES)
PRUNE_FUNCTIONS(prune_pauses, STATEMENT_PRUNE_PAUSES)
PRUNE_FUNCTIONS(prune_hours, STATEMENT_PRUNE_HOURS)
PRUNE_FUNCTIONS(prune_changes, STATEMENT_PRUNE_CHANGES)
#undef PRUNE_FUNCTIONS

static int64_t mark_unread(struct sqlite_store *db, int64_t before_us, struct err *err)
{
    return sqlite_run(db, err, STATEMENT_PRUNE_UNREAD, &(struct sqlite_prune_unread_in){
        .before_us = before_us,
        .clock_us = sqlite_clock_us(db),
    });
}

static int64_t drop_events(struct sqlite_store *db, int64_t before_us, struct err *err)
{
    int64_t rc = mark_unread(db, before_us, err);
    return rc < 0 ? rc : drop_prune_events(db, before_us, err);
}

static const struct {
    int64_t (*drop)(struct sqlite_store *db, int64_t before_us, struct err *err);
    int64_t (*count)(struct sqlite_store *db, int64_t before_us, struct err *err);
} parts[PRUNE_PARTS] = {
    [PRUNE_HISTORY] = { drop_prune_history, count_prune_history },
    [PRUNE_RUNS] = { drop_prune_runs, count_prune_runs },
    [PRUNE_EVENTS] = { drop_events, count_prune_events },
    [PRUNE_PASSES] = { drop_prune_passes, count_prune_passes },
    [PRUNE_PAUSES] = { drop_prune_pauses, count_prune_pauses },
    [PRUNE_HOURS] = { drop_prune_hours, count_prune_hours },
    [PRUNE_CHANGES] = { drop_prune_changes, count_prune_changes },
};

int sqlite_prune(struct sqlite_store *db, struct store_call *call)
{
    struct store_prune *p = (struct store_prune *)call;
    int64_t n;
    p->by_days = false;
    p->n = 0;
    *p->who = '\0';
    if (p->wish == PRUNE_WHO)           /* no session can hold up one table alone */
        return 0;
    if (p->wish == PRUNE_COUNT)
        n = parts[p->part].count(db, p->before * 1000000, &call->err);
    else if (p->wish == PRUNE_CLAIM)
        n = sqlite_run(db, &call->err, STATEMENT_PRUNE_CLAIM, &(struct sqlite_prune_claim_in){
            .now = sqlite_clock_us(db) / 1000000,
            .turn_s = PRUNE_TURN_S,
        });
    else if (p->part == PRUNE_PASSES && p->fine)
        n = sqlite_run(db, &call->err, STATEMENT_PRUNE_FINE_PASSES,
                       &(struct sqlite_prune_fine_passes_in){ .before_us = p->before * 1000000 });
    else
        n = parts[p->part].drop(db, p->before * 1000000, &call->err);
    if (n < 0)
        return (int)n;
    p->n = n;
    return 0;
}
