/* bucket.c - buckets by hash. */
#include "bucket.h"

#include <string.h>

#include "../base/fingerprint.h"

int bucket_of(const char *entity_name, const char *entity_key)
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    fingerprint_add_field(&sha, entity_name);       /* its length parts ("a", "bc") from ("ab", "c") */
    sha256_update(&sha, strlen(entity_key), (const uint8_t *)entity_key);
    uint8_t first;
    sha256_digest(&sha, 1, &first);
    return first & (BUCKETS - 1);
}
