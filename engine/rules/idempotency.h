/* idempotency.h - the key that every run of the same check number carries, so that a job's own effects can be made once. */
#ifndef PRESCIENT_IDEMPOTENCY_H
#define PRESCIENT_IDEMPOTENCY_H

#include <stdint.h>

#define IDEMPOTENCY_KEY_SIZE 33     /* 32 hexadecimal digits and NUL */

/* sha256 over (entity_name, entity_key, job_exec, first_check_at, id, check_count), each with its length, first 128 bits.
 * Not over the slot, which a retry moves, and not over the id alone, which a failover can hand out twice. */
void idempotency_key(const char *entity_name, const char *entity_key, const char *job_exec, int64_t first_check_at,
                     int64_t id, int32_t check_count, char out[IDEMPOTENCY_KEY_SIZE]);

/* The bucket, 0 to 63, of a check: the first byte of sha256(length of entity_name ":" entity_name entity_key) & 63.
 * The same as prescient.bucket_of in SQL. */
int bucket_of(const char *entity_name, const char *entity_key);

#endif
