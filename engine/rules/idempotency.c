/* idempotency.c - sha256 over fields, each with its length, so that no two lists of fields give the
 * same bytes. */
#include "idempotency.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/fingerprint.h"

static void add_number(struct sha256_ctx *sha, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    fingerprint_add_field(sha, text);
}

/* "FIRST_CHECK_AT/ID" gives the same key as a check without an origin has: so a row that had to get
 * another id keeps its key. */
static void add_origin(struct sha256_ctx *sha, const struct idempotency *of)
{
    char first[ORIGIN_MAX + 1];
    const char *slash = of->origin ? strchr(of->origin, '/') : NULL;
    if (!of->origin) {
        add_number(sha, of->first_check_at);
        add_number(sha, of->id);
    } else if (slash && slash - of->origin <= ORIGIN_MAX) {
        snprintf(first, sizeof first, "%.*s", (int)(slash - of->origin), of->origin);
        fingerprint_add_field(sha, first);
        fingerprint_add_field(sha, slash + 1);
    } else {
        fingerprint_add_field(sha, of->origin);
    }
}

void idempotency_key(const struct idempotency *of, char out[IDEMPOTENCY_KEY_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    fingerprint_add_field(&sha, of->entity_name);
    fingerprint_add_field(&sha, of->entity_key);
    fingerprint_add_field(&sha, of->job_exec);
    add_origin(&sha, of);
    add_number(&sha, of->check_count);
    if (of->payload)
        fingerprint_add_field(&sha, of->payload);
    fingerprint_hex(&sha, out, IDEMPOTENCY_KEY_SIZE);
}

void idempotency_origin_of_effect(const struct declaration *by, char out[IDEMPOTENCY_KEY_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    fingerprint_add_field(&sha, "effect");
    fingerprint_add_field(&sha, by->key);
    add_number(&sha, by->failure_count);
    add_number(&sha, by->place);
    fingerprint_hex(&sha, out, IDEMPOTENCY_KEY_SIZE);
}

void idempotency_origin_anew(const struct idempotency *of, char out[IDEMPOTENCY_KEY_SIZE])
{
    char origin[ORIGIN_MAX + 1];
    struct sha256_ctx sha;
    snprintf(origin, sizeof origin, "%" PRId64 "/%" PRId64, of->first_check_at, of->id);
    sha256_init(&sha);
    sha256_update(&sha, strlen("anew "), (const uint8_t *)"anew ");
    const char *from = of->origin ? of->origin : origin;
    sha256_update(&sha, strlen(from), (const uint8_t *)from);
    fingerprint_hex(&sha, out, IDEMPOTENCY_KEY_SIZE);
}
