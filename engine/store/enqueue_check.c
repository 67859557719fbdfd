/* enqueue_check.c - whether a check may be enqueued: each field by its rule; messages use the
 * column's name. */
#include "enqueue_check.h"

#include "../rules/field.h"

int enqueue_check_row(const struct load_row *row, struct err *err)
{
    int rc = field_check_entity("entity_name", row->entity_name, err);
    if (rc < 0)
        return rc;
    rc = field_check_name("entity_key", row->entity_key, err);
    if (rc < 0)
        return rc;
    rc = field_check_job("job_exec", row->job_exec, err);
    if (rc < 0)
        return rc;
    rc = field_check_row(row->entity_name, row->entity_key, row->job_exec, err);
    if (rc < 0)
        return rc;
    rc = field_check_time("check_at", row->at, err);
    if (rc < 0)
        return rc;
    if (row->concurrency_key)
        rc = field_check_name("concurrency_key", row->concurrency_key, err);
    if (rc < 0)
        return rc;
    if (row->tenant)
        rc = field_check_name("tenant", row->tenant, err);
    if (rc < 0)
        return rc;
    return row->payload ? field_check_payload("payload", row->payload, err) : 0;
}
