/* idempotency.h - the key that every run of the same check number carries, so that a job's own
 * effects can be made once. */
#ifndef PRESCIENT_IDEMPOTENCY_H
#define PRESCIENT_IDEMPOTENCY_H

#include <stdint.h>

#define IDEMPOTENCY_KEY_SIZE 33     /* 32 hexadecimal digits and NUL */
#define ORIGIN_MAX 64               /* bytes of an origin */

/* What a key is made of. Not the slot, which a retry moves. `origin` identifies where this life of
 * the check comes from: NULL for one that an application has filed, which (first_check_at, id)
 * identify; else a text that a repeated settle computes again, though it draws other ids then. The
 * payload distinguishes two checks that got the same id, one before a failover and one after it. */
struct idempotency {
    const char *entity_name, *entity_key, *job_exec;
    /* NULL, "FIRST_CHECK_AT/ID" (both numbers), or the digits of a key; at most ORIGIN_MAX bytes */
    const char *origin;
    const char *payload;            /* NULL: none */
    int64_t first_check_at, id;
    int32_t check_count;
};

/* sha256 over the fields, each with its length; the first 128 bits. */
void idempotency_key(const struct idempotency *of, char out[IDEMPOTENCY_KEY_SIZE]);

/* Which answer declares an effect, and where in it: `key` is that of the run, `failure_count` the
 * check's as it was read, `place` counts its effects from 0. The key alone is not enough: a run
 * after a failure has the same one, but declares another check. The slot must not count: a run that
 * is repeated after a failover happens in a later slot, and so does what it declares. */
struct declaration { const char *key; int32_t failure_count; int place; };

/* The origin of the check that an answer declares. */
void idempotency_origin_of_effect(const struct declaration *by, char out[IDEMPOTENCY_KEY_SIZE]);

/* The origin of the life that begins where this one ends. */
void idempotency_origin_anew(const struct idempotency *of, char out[IDEMPOTENCY_KEY_SIZE]);

#endif
