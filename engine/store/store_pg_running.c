/* store_pg_running.c - writes which runs of an engine have been going on for long. */
#include "store_pg_ops.h"

/* Those before go, also where none takes their place. */
static bool drop_send(struct pg_store *pg, const struct store_note_running *n)
{
    return pg_send(pg, PG_DROP_RUNNING, &(struct pg_drop_running_in){ .owner = n->owner });
}

static bool note_running_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_note_running *n = (const struct store_note_running *)call;
    const char *entities[STORE_RUNNING_MAX], *keys[STORE_RUNNING_MAX], *jobs[STORE_RUNNING_MAX];
    int64_t slots[STORE_RUNNING_MAX], began_us[STORE_RUNNING_MAX];
    int32_t workers[STORE_RUNNING_MAX];
    if (!drop_send(pg, n))
        return false;
    for (int i = 0; i < n->n; i++) {
        entities[i] = n->rows[i].entity;
        keys[i] = n->rows[i].key;
        jobs[i] = n->rows[i].job;
        slots[i] = n->rows[i].slot;
        began_us[i] = n->rows[i].began_us;
        workers[i] = n->rows[i].worker;
    }
    return pg_send(pg, PG_NOTE_RUNNING, &(struct pg_note_running_in){
        .owner = n->owner,
        .engine = pg->engine,
        .workers = { n->n, workers },
        .entities = { n->n, entities },
        .keys = { n->n, keys },
        .jobs = { n->n, jobs },
        .slots = { n->n, slots },
        .began_us = { n->n, began_us },
    });
}

const struct pg_operation pg_note_running = { .send = note_running_send, .receive = nothing_to_receive };
