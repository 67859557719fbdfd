/* store_sqlite_prune.c - what is old goes, some thousand rows a call, so that engines and
 * applications get their turn. */
#include "store_sqlite_calls.h"

static const struct {
    enum lite_statement drop, count;
} prunes[PRUNE_PARTS] = {
    [PRUNE_HISTORY] = { LITE_prune_history, LITE_prune_history_count },
    [PRUNE_RUNS] = { LITE_prune_runs, LITE_prune_runs_count },
    [PRUNE_EVENTS] = { LITE_prune_events, LITE_prune_events_count },
    [PRUNE_PASSES] = { LITE_prune_passes, LITE_prune_passes_count },
};

int lite_prune(struct lite *db, struct store_call *call)
{
    struct store_prune *p = (struct store_prune *)call;
    p->by_days = false;
    p->n = 0;
    *p->who = '\0';
    if (p->wish == PRUNE_WHO)           /* nobody can be in the way of one table alone */
        return 0;
    if (p->wish == PRUNE_COUNT)
        return lite_number(db, &call->err, &p->n, prunes[p->part].count, "i", p->before * 1000000);
    int64_t n = p->wish == PRUNE_CLAIM
                    ? lite_run(db, &call->err, LITE_prune_claim, "ii", lite_clock_us(db) / 1000000,
                               (int64_t)PRUNE_TURN_S)
                    : lite_run(db, &call->err, prunes[p->part].drop, "i", p->before * 1000000);
    p->n = n > 0 ? n : 0;
    return n < 0 ? (int)n : 0;
}
