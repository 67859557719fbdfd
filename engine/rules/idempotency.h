/* idempotency.h - the key that every run of the same check number carries, so that a job's own
 * effects can be made once. */
#ifndef PRESCIENT_IDEMPOTENCY_H
#define PRESCIENT_IDEMPOTENCY_H

#include <stdint.h>

#define IDEMPOTENCY_KEY_SIZE 33     /* 32 hexadecimal digits and NUL */
#define IDEMPOTENCY_BYTES 16        /* the same digits as bytes */
#define ORIGIN_MAX 64               /* bytes of an origin */
/* The entity of deliveries; their keys are "LISTENER/ORIGIN OF THE EVENT". No application asks for
 * checks of it. */
#define DELIVERY_ENTITY "prescient.event"

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

/* sha256 over the fields, each with its length; the first 128 bits. All runs of a delivery have one
 * key, which follows from its entity_key alone: a receiver that has seen it drops what comes again.
 * Nor may it depend on the data: after a failover the run that emitted the event is repeated, and
 * may emit other ones. */
void idempotency_key(const struct idempotency *of, char out[IDEMPOTENCY_KEY_SIZE]);

/* Which answer declares an effect, and where in it: `key` is that of the run, `failure_count` the
 * check's as it was read, `place` counts its effects from 0. The key alone is not enough: a run
 * after a failure has the same one, but declares another check. The slot must not count: a run that
 * is repeated after a failover happens in a later slot, and so does what it declares. */
struct declaration {
    const char *key;
    int32_t failure_count;
    int place;
    /* of an event only: its name, and of one that a deferral emits the slot of that run. Two
     * deferrals of one check differ in nothing else. */
    const char *event;
    int64_t deferred_slot;          /* 0: it was no deferral */
    uint32_t lead;                  /* idempotency_lead of the check */
};

/* What the origins of a check's effects begin with: two digits of its bucket, then six of its
 * number or of its own origin. Checks are settled bucket by bucket in the order of their numbers,
 * and the keys of deliveries are made of origins: so new ones lie side by side in the index of
 * keys, however many wait. With keys in no order each settle would write all of its blocks. A check
 * has the same bucket in all slots and after a failover. */
uint32_t idempotency_lead(const struct idempotency *of, int bucket);

/* The key under which one reader of events gets one of them, however often: `cursor` is its place,
 * and `emitted_us` its time, as a file that was restored gives a place twice. */
void idempotency_key_of_event(const char *reader, const char *cursor, int64_t emitted_us,
                              char out[IDEMPOTENCY_KEY_SIZE]);

/* The origin of the check, or of the event, that an answer declares: eight digits of its lead, and
 * 24 of a sha256. */
void idempotency_origin_of_effect(const struct declaration *by, char out[IDEMPOTENCY_KEY_SIZE]);

/* The origin of the life that begins where this one ends: the same whoever computes it, and however
 * often. Of an origin that is the digits of a key it is these, with the last eight counted on by
 * one, and after ffffffff from 0: a schedule has a new life at each occurrence, and a sha256 would
 * cost more than half of what an engine does for a check. Of any other origin it is the sha256 of
 * "anew " and it. SQL computes it, too (prescient.origin_anew). */
void idempotency_origin_anew(const struct idempotency *of, char out[IDEMPOTENCY_KEY_SIZE]);
void idempotency_origin_anew_bytes(const struct idempotency *of, uint8_t out[IDEMPOTENCY_BYTES]);

#endif
