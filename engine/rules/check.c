/* check.c - the identity of a check, and that of the checks it declares. */
#include "check.h"

#include <stdlib.h>

void check_rows_free(struct check_rows *rows)
{
    if (rows->free_impl)
        rows->free_impl(rows->impl);
    free(rows->checks);
    *rows = (struct check_rows){ 0 };
}

struct idempotency check_identity(const struct check *c)
{
    return (struct idempotency){
        .entity_name = c->entity_name,
        .entity_key = c->entity_key,
        .job_exec = c->job_exec,
        .origin = c->origin,
        .payload = c->payload,
        .first_check_at = c->first_check_at,
        .id = c->id,
        .check_count = c->check_count,
    };
}

static void origin_of(const struct check *c, struct declaration by, char out[IDEMPOTENCY_KEY_SIZE])
{
    char key[IDEMPOTENCY_KEY_SIZE];
    struct idempotency of = check_identity(c);
    idempotency_key(&of, key);
    by.key = key;
    by.failure_count = c->failure_count;
    by.lead = idempotency_lead(&of, c->bucket);
    idempotency_origin_of_effect(&by, out);
}

void check_origin_of_effect(const struct check *c, int place, char out[IDEMPOTENCY_KEY_SIZE])
{
    origin_of(c, (struct declaration){ .place = place }, out);
}

void check_origin_of_event(const struct check *c, const struct emission *e, char out[IDEMPOTENCY_KEY_SIZE])
{
    int64_t deferred_slot = e->is_deferral ? c->next_check_at : 0;
    origin_of(c, (struct declaration){ .place = e->place, .event = e->event, .deferred_slot = deferred_slot },
              out);
}

bool settlement_leaves_run_row(const struct settlement *s, enum keep_runs keep)
{
    return (s->ran || s->outcome == OUTCOME_SKIPPED) && outcome_leaves_run_row(s->outcome, keep);
}
