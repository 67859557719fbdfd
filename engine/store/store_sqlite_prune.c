/* store_sqlite_prune.c - what is old goes, some thousand rows a call, so that engines and
 * applications get their turn. */
#include "store_sqlite_calls.h"

static const struct {
    enum sqlite_statement drop, count;
} prunes[PRUNE_PARTS] = {
    [PRUNE_HISTORY] = { STATEMENT_prune_history, STATEMENT_prune_history_count },
    [PRUNE_RUNS] = { STATEMENT_prune_runs, STATEMENT_prune_runs_count },
    [PRUNE_EVENTS] = { STATEMENT_prune_events, STATEMENT_prune_events_count },
    [PRUNE_PASSES] = { STATEMENT_prune_passes, STATEMENT_prune_passes_count },
};

int sqlite_prune(struct sqlite_store *db, struct store_call *call)
{
    struct store_prune *p = (struct store_prune *)call;
    p->by_days = false;
    p->n = 0;
    *p->who = '\0';
    if (p->wish == PRUNE_WHO)           /* nobody can be in the way of one table alone */
        return 0;
    if (p->wish == PRUNE_COUNT)
        return sqlite_number(db, &call->err, &p->n, prunes[p->part].count, "i", p->before * 1000000);
    int64_t n = p->wish == PRUNE_CLAIM
                    ? sqlite_run(db, &call->err, STATEMENT_prune_claim, "ii", sqlite_clock_us(db) / 1000000,
                                 (int64_t)PRUNE_TURN_S)
                    : sqlite_run(db, &call->err, prunes[p->part].drop, "i", p->before * 1000000);
    p->n = n > 0 ? n : 0;
    return n < 0 ? (int)n : 0;
}
