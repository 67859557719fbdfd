/* long_runs.c - see long_runs.h. */
#include "long_runs.h"

#include "../base/arena.h"

static int64_t us(int64_t s)
{
    return s * 1000000;
}

static int find(const struct long_runs *l, int64_t now_us, struct pool_run *out, int room)
{
    return l->pool ? pool_long_runs(l->pool, now_us - us(LONG_RUNS_S), out, room) : 0;
}

bool long_runs_are_due(const struct long_runs *l, int64_t now_us)
{
    struct pool_run one;
    if (!l->clocks->is_known || l->clocks->virtual_now || now_us < l->noted_us + us(LONG_RUNS_EVERY_S))
        return false;
    return l->is_noted || find(l, now_us, &one, 1) == 1;
}

/* The names are copied, as the run may be over when the call ends. False: out of memory. */
static bool fill_row(struct arena *a, const struct pool_run *run, int64_t began_us, struct running *row)
{
    const struct check *c = run->check;
    *row = (struct running){
        .worker = run->pid,
        .entity = arena_strdup(a, c->entity_name),
        .key = arena_strdup(a, c->entity_key),
        .job = arena_strdup(a, c->job_exec),
        .slot = c->next_check_at,
        .began_us = began_us,
    };
    return row->entity && row->key && row->job;
}

void long_runs_fill(struct long_runs *l, int64_t now_us, struct store_note_running *out)
{
    struct pool_run runs[STORE_RUNNING_MAX];
    struct arena *a = out->arena = arena_new(0);
    struct running *rows = a ? arena_alloc(a, sizeof *rows * STORE_RUNNING_MAX) : NULL;
    int n = rows ? find(l, now_us, runs, STORE_RUNNING_MAX) : 0;
    int64_t clock_us = clocks_now_us(l->clocks, now_us);
    out->owner = l->owner;
    out->rows = rows;
    l->noted_us = now_us;
    for (int i = 0; i < n; i++)
        out->n += fill_row(a, &runs[i], clock_us - (now_us - runs[i].began_us), &rows[out->n]);
}

void long_runs_noted(struct long_runs *l, const struct store_note_running *call)
{
    l->is_noted = call->n > 0;
}
