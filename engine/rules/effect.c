/* effect.c - the fields that each kind of effect must have. */
#include "effect.h"

#include <string.h>

#include "digest.h"
#include "field.h"

static int check_target(const struct effect *e, bool needs_job, struct err *err)
{
    int rc = needs_job ? field_check_entity("entity name", e->entity_name, err)
                       : field_check_name("entity name", e->entity_name, err);
    if (rc < 0)
        return rc;
    rc = field_check_name("entity key", e->entity_key, err);
    if (rc < 0)
        return rc;
    if (needs_job)
        return field_check_job("job", e->job, err);
    return e->job ? field_check_name("job", e->job, err) : 0;
}

static int check_enqueue(const struct effect *e, struct err *err)
{
    int rc = check_target(e, true, err);
    if (rc < 0)
        return rc;
    rc = field_check_conflict(e->conflict, err);
    if (rc < 0)
        return rc;
    if (e->concurrency_key)
        rc = field_check_name("concurrency key", e->concurrency_key, err);
    if (rc == 0 && e->tenant)
        rc = field_check_name("tenant", e->tenant, err);
    if (rc < 0)
        return rc;
    return field_check_time("time", e->at, err);
}

/* Its check would be filed anew, and in between nobody would hear of what its listener hears. */
static int check_resolve(const struct effect *e, struct err *err)
{
    int rc = check_target(e, false, err);
    if (rc < 0 || strcmp(e->entity_name, DIGEST_ENTITY) != 0)
        return rc;
    return err_set(err, ERR_INPUT,
                   "entity name: found " DIGEST_ENTITY
                   ", which stands for digests: no job ends one, `prescient resolve` does");
}

static int check_kind(const struct effect *e, struct err *err)
{
    switch (e->kind) {
    case EFFECT_EMIT: return field_check_name("event name", e->event, err);
    case EFFECT_ENQUEUE: return check_enqueue(e, err);
    case EFFECT_RESOLVE: return check_resolve(e, err);
    }
    return err_set(err, ERR_INPUT, "kind: found %d, expected emit, enqueue or resolve", (int)e->kind);
}

const char *effect_tenant(const struct check *check, const struct effect *effect)
{
    return effect->kind == EFFECT_ENQUEUE && effect->tenant ? effect->tenant : check->tenant;
}

int effect_check(const struct effect *e, struct err *err)
{
    int rc = check_kind(e, err);
    if (rc < 0)
        return rc;
    return e->json ? field_check_json("json", e->json, err) : 0;
}
