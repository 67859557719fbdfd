/* store_pg_runs.c - adds what the runs of an hour were like, and what is counted for ever: a note
 * of one engine. */
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

/* The same of tallies. */
struct tally_columns {
    int64_t *numbers[3];
    const char **texts[5];
};
enum tally_number { TALLY_N, TALLY_TOOK_US, TALLY_LATE_US, TALLY_NUMBERS };
enum tally_text { TALLY_WHAT, TALLY_NAME, TALLY_OUTCOME, TALLY_TOOK, TALLY_LATE, TALLY_TEXTS };

static bool tally_columns_make(struct arena *a, int n, struct tally_columns *out)
{
    size_t room = (size_t)n + 1;
    for (int i = 0; i < TALLY_NUMBERS; i++)
        if (!(out->numbers[i] = arena_alloc(a, room * sizeof *out->numbers[i])))
            return false;
    for (int i = 0; i < TALLY_TEXTS; i++)
        if (!(out->texts[i] = arena_alloc(a, room * sizeof *out->texts[i])))
            return false;
    return true;
}

static void tally_columns_set(struct tally_columns *c, int i, const struct tally *tally)
{
    c->numbers[TALLY_N][i] = tally->n;
    c->numbers[TALLY_TOOK_US][i] = tally->took_us;
    c->numbers[TALLY_LATE_US][i] = tally->late_us;
    c->texts[TALLY_WHAT][i] = tally->what;
    c->texts[TALLY_NAME][i] = tally->name;
    c->texts[TALLY_OUTCOME][i] = tally->outcome;
    c->texts[TALLY_TOOK][i] = tally->took;
    c->texts[TALLY_LATE][i] = tally->late;
}

static bool note_runs_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_note_runs *n = (const struct store_note_runs *)call;
    struct columns c;
    struct tally_columns t;
    if (!columns_make(pg->arena, n->n, &c) || !tally_columns_make(pg->arena, n->ntallies, &t))
        return false;
    for (int i = 0; i < n->ntallies; i++)
        tally_columns_set(&t, i, &n->tallies[i]);
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
        .tally_whats = { n->ntallies, t.texts[TALLY_WHAT] },
        .tally_names = { n->ntallies, t.texts[TALLY_NAME] },
        .tally_outcomes = { n->ntallies, t.texts[TALLY_OUTCOME] },
        .tally_n = { n->ntallies, t.numbers[TALLY_N] },
        .tally_took_us = { n->ntallies, t.numbers[TALLY_TOOK_US] },
        .tally_took = { n->ntallies, t.texts[TALLY_TOOK] },
        .tally_late_us = { n->ntallies, t.numbers[TALLY_LATE_US] },
        .tally_late = { n->ntallies, t.texts[TALLY_LATE] },
    });
}

const struct pg_operation pg_note_runs = { .send = note_runs_send, .receive = nothing_to_receive,
                                           .relaxes = true };
