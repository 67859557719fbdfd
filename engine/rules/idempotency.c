/* idempotency.c - sha256 over fields, each with its length, so that no two lists of fields give the
 * same bytes. */
#include "idempotency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/fingerprint.h"
#include "../base/hex.h"

#define LEAD_DIGITS 8
#define NUMBER_BITS 24
#define COUNTED_BYTES 4

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
    if (!strcmp(of->entity_name, DELIVERY_ENTITY)) {
        fingerprint_add_field(&sha, "delivery");
        fingerprint_add_field(&sha, of->entity_key);
        fingerprint_hex(&sha, out, IDEMPOTENCY_KEY_SIZE);
        return;
    }
    fingerprint_add_field(&sha, of->entity_name);
    fingerprint_add_field(&sha, of->entity_key);
    fingerprint_add_field(&sha, of->job_exec);
    add_origin(&sha, of);
    add_number(&sha, of->check_count);
    if (of->payload)
        fingerprint_add_field(&sha, of->payload);
    fingerprint_hex(&sha, out, IDEMPOTENCY_KEY_SIZE);
}

void idempotency_key_of_event(const char *reader, const char *cursor, int64_t emitted_us,
                              char out[IDEMPOTENCY_KEY_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    fingerprint_add_field(&sha, "consumer");
    fingerprint_add_field(&sha, reader);
    fingerprint_add_field(&sha, cursor);
    add_number(&sha, emitted_us);
    fingerprint_hex(&sha, out, IDEMPOTENCY_KEY_SIZE);
}

static uint32_t number_of(const struct idempotency *of)
{
    char first[LEAD_DIGITS + 1];
    const char *slash = of->origin ? strchr(of->origin, '/') : NULL;
    if (!of->origin)
        return (uint32_t)of->id;
    if (slash)
        return (uint32_t)strtoull(slash + 1, NULL, 10);
    snprintf(first, sizeof first, "%s", of->origin);
    return (uint32_t)strtoul(first, NULL, 16);
}

uint32_t idempotency_lead(const struct idempotency *of, int bucket)
{
    return (uint32_t)bucket << NUMBER_BITS | (number_of(of) & ((UINT32_C(1) << NUMBER_BITS) - 1));
}

void idempotency_origin_of_effect(const struct declaration *by, char out[IDEMPOTENCY_KEY_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    fingerprint_add_field(&sha, "effect");
    fingerprint_add_field(&sha, by->key);
    add_number(&sha, by->failure_count);
    add_number(&sha, by->place);
    if (by->deferred_slot)
        add_number(&sha, by->deferred_slot);
    if (by->event)
        fingerprint_add_field(&sha, by->event);
    fingerprint_hex(&sha, out, IDEMPOTENCY_KEY_SIZE);
    for (int i = 0; i < LEAD_DIGITS; i++)
        out[i] = "0123456789abcdef"[by->lead >> 4 * (LEAD_DIGITS - 1 - i) & 15];
}

/* For one that is no key: a text of other lives must not come out. */
static void digest_anew(const struct idempotency *of, uint8_t out[IDEMPOTENCY_BYTES])
{
    struct sha256_ctx sha;
    char first[ORIGIN_MAX + 1];
    const char *origin = of->origin;
    if (!origin) {
        snprintf(first, sizeof first, "%" PRId64 "/%" PRId64, of->first_check_at, of->id);
        origin = first;
    }
    sha256_init(&sha);
    sha256_update(&sha, strlen("anew "), (const uint8_t *)"anew ");
    sha256_update(&sha, strlen(origin), (const uint8_t *)origin);
    sha256_digest(&sha, IDEMPOTENCY_BYTES, out);
}

static void count_on(uint8_t origin[IDEMPOTENCY_BYTES])
{
    for (int i = IDEMPOTENCY_BYTES - 1; i >= IDEMPOTENCY_BYTES - COUNTED_BYTES; i--)
        if (++origin[i])
            return;
}

void idempotency_origin_anew_bytes(const struct idempotency *of, uint8_t out[IDEMPOTENCY_BYTES])
{
    if (of->origin && hex_read(of->origin, out, IDEMPOTENCY_BYTES))
        count_on(out);
    else
        digest_anew(of, out);
}

void idempotency_origin_anew(const struct idempotency *of, char out[IDEMPOTENCY_KEY_SIZE])
{
    uint8_t origin[IDEMPOTENCY_BYTES];
    idempotency_origin_anew_bytes(of, origin);
    hex_write(origin, IDEMPOTENCY_BYTES, out);
}
