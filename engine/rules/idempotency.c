/* idempotency.c - sha256 over fields that each carry their length, so that no two lists of fields read alike. */
#include "idempotency.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/fingerprint.h"

static void add_field(struct sha256_ctx *sha, const char *text)
{
    char length[24];
    size_t size = strlen(text);
    int n = snprintf(length, sizeof length, "%zu:", size);
    sha256_update(sha, (size_t)n, (const uint8_t *)length);
    sha256_update(sha, size, (const uint8_t *)text);
}

static void add_number(struct sha256_ctx *sha, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    add_field(sha, text);
}

void idempotency_key(const char *entity_name, const char *entity_key, const char *job_exec, int64_t first_check_at,
                     int64_t id, int32_t check_count, char out[IDEMPOTENCY_KEY_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    add_field(&sha, entity_name);
    add_field(&sha, entity_key);
    add_field(&sha, job_exec);
    add_number(&sha, first_check_at);
    add_number(&sha, id);
    add_number(&sha, check_count);
    hex_digest(&sha, out, IDEMPOTENCY_KEY_SIZE);
}

int bucket_of(const char *entity_name, const char *entity_key)
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    add_field(&sha, entity_name);       /* its length parts ("a", "bc") from ("ab", "c") */
    sha256_update(&sha, strlen(entity_key), (const uint8_t *)entity_key);
    uint8_t first;
    sha256_digest(&sha, 1, &first);
    return first & 63;
}
