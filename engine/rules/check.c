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

void check_origin_of_effect(const struct check *c, int place, char out[IDEMPOTENCY_KEY_SIZE])
{
    char key[IDEMPOTENCY_KEY_SIZE];
    struct idempotency of = check_identity(c);
    idempotency_key(&of, key);
    idempotency_origin_of_effect(&(struct declaration){ key, c->failure_count, place }, out);
}
