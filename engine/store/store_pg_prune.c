/* store_pg_prune.c - what is old goes: whole days of history, runs and events, by the owner's
 * function (0010_days), and the passes of slots that are over. One step a call, and a transaction
 * of its own. */
#include <stdio.h>

#include "store_pg_ops.h"

static const char *const tables[] = {
    [PRUNE_HISTORY] = "future_job_history", [PRUNE_RUNS] = "future_job_run", [PRUNE_EVENTS] = "event"
};

static bool prune_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_prune *p = (const struct store_prune *)call;
    if (p->wish == PRUNE_CLAIM)
        return pg_send(pg, PG_PRUNE_CLAIM, PRUNE_TURN_S);
    if (p->part == PRUNE_PASSES)
        return pg_send(pg, p->wish == PRUNE_COUNT ? PG_PRUNE_PASSES_COUNT : PG_PRUNE_PASSES, p->before);
    if (p->wish == PRUNE_WHO)
        return pg_send(pg, PG_PRUNE_WHO, tables[p->part], p->before);
    return pg_send(pg, p->wish == PRUNE_COUNT ? PG_PRUNE_DAYS_COUNT : PG_PRUNE_DAY, tables[p->part],
                   p->before);
}

static int prune_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_prune *p = (struct store_prune *)call;
    const PGresult *r = pg_result(pg, 0);
    const char *who = NULL;
    p->by_days = p->part != PRUNE_PASSES;
    p->n = 0;
    *p->who = '\0';
    if (p->wish != PRUNE_WHO || p->part == PRUNE_PASSES)
        return wire_get(r, 0, pg->arena, "l", &p->n) ? 0 : unreadable(call, "prune");
    if (PQntuples(r) > 0 && !wire_get(r, 0, pg->arena, "t", &who))
        return unreadable(call, "prune");
    snprintf(p->who, sizeof p->who, "%s", who ? who : "");
    return 0;
}

const struct pg_operation pg_prune = { prune_send, prune_receive };
