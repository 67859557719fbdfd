/* store_pg_prune.c - drops old rows: whole days of history, runs and events through the owner's
 * function (0004_days), the passes of slots, pauses that are over, and others by rows. Each call is
 * one step and one transaction. */
#include <stdio.h>

#include "store_pg_ops.h"

/* The parts that drop whole days; the others are rows. */
static const char *const tables[PRUNE_PARTS] = {
    [PRUNE_HISTORY] = "future_job_history", [PRUNE_RUNS] = "future_job_run", [PRUNE_EVENTS] = "event"
};

static bool marks_unread(const struct store_prune *p)
{
    return p->part == PRUNE_EVENTS && p->wish == PRUNE_DROP;
}

static bool prune_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_prune *p = (const struct store_prune *)call;
    const char *table = tables[p->part];
    bool counts = p->wish == PRUNE_COUNT;
    if (p->wish == PRUNE_CLAIM)
        return pg_send(pg, PG_PRUNE_CLAIM, &(struct pg_prune_claim_in){ .turn_s = PRUNE_TURN_S });
    if (p->part == PRUNE_PAUSES && counts)
        return pg_send(pg, PG_PRUNE_PAUSES_COUNT, &(struct pg_prune_pauses_count_in){ .before = p->before });
    if (p->part == PRUNE_PAUSES)
        return pg_send(pg, PG_PRUNE_PAUSES, &(struct pg_prune_pauses_in){ .before = p->before });
    if (p->part == PRUNE_HOURS && counts)
        return pg_send(pg, PG_PRUNE_HOURS_COUNT, &(struct pg_prune_hours_count_in){ .before = p->before });
    if (p->part == PRUNE_HOURS)
        return pg_send(pg, PG_PRUNE_HOURS, &(struct pg_prune_hours_in){ .before = p->before });
    if (p->part == PRUNE_CHANGES && counts)
        return pg_send(pg, PG_PRUNE_CHANGES_COUNT,
                       &(struct pg_prune_changes_count_in){ .before = p->before });
    if (p->part == PRUNE_CHANGES)
        return pg_send(pg, PG_PRUNE_CHANGES, &(struct pg_prune_changes_in){ .before = p->before });
    if (p->part == PRUNE_PASSES && counts)
        return pg_send(pg, PG_PRUNE_PASSES_COUNT, &(struct pg_prune_passes_count_in){ .before = p->before });
    if (p->part == PRUNE_PASSES && p->fine)
        return pg_send(pg, PG_PRUNE_FINE_PASSES, &(struct pg_prune_fine_passes_in){ .before = p->before });
    if (p->part == PRUNE_PASSES)
        return pg_send(pg, PG_PRUNE_PASSES, &(struct pg_prune_passes_in){ .before = p->before });
    if (p->wish == PRUNE_WHO)
        return pg_send(pg, PG_PRUNE_WHO,
                       &(struct pg_prune_who_in){ .day_table = table, .before = p->before });
    if (counts)
        return pg_send(pg, PG_PRUNE_DAYS_COUNT,
                       &(struct pg_prune_days_count_in){ .day_table = table, .before = p->before });
    if (marks_unread(p) && !pg_send(pg, PG_PRUNE_UNREAD, &(struct pg_prune_unread_in){ .before = p->before }))
        return false;
    return pg_send(pg, PG_PRUNE_DAY, &(struct pg_prune_day_in){ .day_table = table, .before = p->before });
}

static int prune_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_prune *p = (struct store_prune *)call;
    const PGresult *r = pg_result(pg, marks_unread(p) ? 1 : 0);
    struct pg_prune_who_out user = { .who = "" };
    struct pg_prune_day_out count = { 0 };      /* the columns are the same for all others */
    bool asks_who = p->wish == PRUNE_WHO && tables[p->part];
    bool good = asks_who ? PQntuples(r) == 0 || pg_row(pg, PG_PRUNE_WHO, r, 0, &user)
                         : pg_row(pg, PG_PRUNE_DAY, r, 0, &count);
    if (!good)
        return unreadable(call, "prune");
    p->by_days = tables[p->part] != NULL;
    p->n = count.n;
    snprintf(p->who, sizeof p->who, "%s", user.who);
    return 0;
}

const struct pg_operation pg_prune = { .send = prune_send, .receive = prune_receive };
