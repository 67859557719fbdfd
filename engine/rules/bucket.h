/* bucket.h - which of a slot's 64 buckets a check belongs to. */
#ifndef PRESCIENT_BUCKET_H
#define PRESCIENT_BUCKET_H

enum {
    BUCKETS = 64,
    BUCKET_WHOLE_SLOT = -1          /* the bucket of a lease on a slot that is not split */
};

/* 0 to 63: the first byte of sha256(length of entity_name ":" entity_name entity_key) & 63.
 * The same as prescient.bucket_of in SQL. */
int bucket_of(const char *entity_name, const char *entity_key);

#endif
