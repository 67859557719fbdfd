/* store_pg_runs.c - adds what the runs of an hour were like, a note of one engine. */
#include "store_pg_ops.h"

/* The columns of the rows, an array each. */
struct columns {
    int64_t *numbers[5];
    const char **texts[6];
};
enum number { HOUR_AT, RUNS, TOOK_US, TOOK_MAX_US, LATE_MAX_US, NUMBERS };
enum text { JOB, ENTITY, TENANT, OUTCOME, TOOK, LATE, TEXTS };

static bool columns_make(struct arena *a, int n, struct columns *out)
{
    size_t room = (size_t)n + 1;
    for (int i = 0; i < NUMBERS; i++)
        if (!(out->numbers[i] = arena_alloc(a, room * sizeof *out->numbers[i])))
            return false;
    for (int i = 0; i < TEXTS; i++)
        if (!(out->texts[i] = arena_alloc(a, room * sizeof *out->texts[i])))
            return false;
    return true;
}

static void columns_set(struct columns *c, int i, const struct run_hour *row)
{
    c->numbers[HOUR_AT][i] = row->hour_at;
    c->numbers[RUNS][i] = row->runs;
    c->numbers[TOOK_US][i] = row->took_us;
    c->numbers[TOOK_MAX_US][i] = row->took_max_us;
    c->numbers[LATE_MAX_US][i] = row->late_max_us;
    c->texts[JOB][i] = row->job;
    c->texts[ENTITY][i] = row->entity;
    c->texts[TENANT][i] = row->tenant;
    c->texts[OUTCOME][i] = row->outcome;
    c->texts[TOOK][i] = row->took;
    c->texts[LATE][i] = row->late;
}

static bool note_runs_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_note_runs *n = (const struct store_note_runs *)call;
    struct columns c;
    if (!columns_make(pg->arena, n->n, &c))
        return false;
    for (int i = 0; i < n->n; i++)
        columns_set(&c, i, &n->rows[i]);
    return pg_send(pg, PG_NOTE_RUNS, &(struct pg_note_runs_in){
        .owner = n->owner,
        .number = n->number,
        .made_us = n->made_us,
        .hours = { n->n, c.numbers[HOUR_AT] },
        .jobs = { n->n, c.texts[JOB] },
        .entities = { n->n, c.texts[ENTITY] },
        .tenants = { n->n, c.texts[TENANT] },
        .outcomes = { n->n, c.texts[OUTCOME] },
        .runs = { n->n, c.numbers[RUNS] },
        .took_us = { n->n, c.numbers[TOOK_US] },
        .took_max_us = { n->n, c.numbers[TOOK_MAX_US] },
        .late_max_us = { n->n, c.numbers[LATE_MAX_US] },
        .took = { n->n, c.texts[TOOK] },
        .late = { n->n, c.texts[LATE] },
    });
}

const struct pg_operation pg_note_runs = { .send = note_runs_send, .receive = nothing_to_receive,
                                           .relaxes = true };
