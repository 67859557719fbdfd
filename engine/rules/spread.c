/* spread.c - see spread.h. */
#include "spread.h"

#include <string.h>

#include "../base/err.h"
#include "../base/fingerprint.h"
#include "../base/moment.h"
#include "../base/saturate.h"
#include "slot.h"

int spread_check(int64_t within_us, int32_t slot_length_s, struct err *err)
{
    char given[MOMENT_TEXT], slot[MOMENT_TEXT];
    int64_t least_us = slot_length_s * INT64_C(1000000);
    if (within_us >= least_us && within_us <= SPREAD_WITHIN_MAX_S * 1000000)
        return 0;
    return err_set(err, ERR_INPUT, "within is %s, expected from %s, the length of a slot, to 366 days",
                   duration_format_us(within_us, given), duration_format_us(least_us, slot));
}

static uint64_t six_bytes(const uint8_t *bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < 6; i++)
        n = n << 8 | bytes[i];
    return n;
}

struct spread_hash spread_hash_of(const char *entity_name, const char *entity_key, const char *job_exec)
{
    struct sha256_ctx sha;
    uint8_t bytes[12];
    sha256_init(&sha);
    fingerprint_add_field(&sha, entity_name);
    fingerprint_add_field(&sha, entity_key);
    sha256_update(&sha, strlen(job_exec), (const uint8_t *)job_exec);
    sha256_digest(&sha, sizeof bytes, bytes);
    return (struct spread_hash){ six_bytes(bytes), six_bytes(bytes + 6) };
}

static int64_t checks_in(const struct spread_loads *loads, int64_t slot)
{
    int low = 0, high = loads->n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (loads->of[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low < loads->n && loads->of[low].slot == slot ? loads->of[low].checks : 0;
}

/* Of `slots` slots, the candidate with this number. */
static int64_t place_of(int64_t number, int64_t slots, uint64_t hash)
{
    if (slots <= SPREAD_CANDIDATES)
        return number;
    return (int64_t)((hash + (uint64_t)(number * slots / SPREAD_CANDIDATES)) % (uint64_t)slots);
}

int64_t spread_draw(const struct spread_span *span, const struct spread_loads *loads,
                    const struct spread_hash *hash)
{
    int64_t slots_of[SPREAD_CANDIDATES] = { 0 }, checks[SPREAD_CANDIDATES] = { 0 };
    int64_t most = SPREAD_LEVEL, total = 0;
    int32_t length_s = span->slot_length_s;
    int64_t first = slot_for(span->at, span->now, length_s);
    int64_t end = saturate_add(span->at, span->within_s);
    int64_t last = slot_floor(end < SLOT_PAUSES_FROM ? end : SLOT_PAUSES_FROM - 1, length_s);
    int64_t slots = last > first ? (last - first) / length_s + 1 : 1;
    int n = slots < SPREAD_CANDIDATES ? (int)slots : SPREAD_CANDIDATES;
    int i = 0;
    do {
        slots_of[i] = first + place_of(i, slots, hash->place) * length_s;
        checks[i] = checks_in(loads, slots_of[i]);
        most = checks[i] > most ? checks[i] : most;
    } while (++i < n);
    do
        total += 9 * most - 8 * checks[--i];
    while (i > 0);
    int64_t left = (int64_t)(hash->share % (uint64_t)total);
    int drawn = 0;
    for (; left >= 9 * most - 8 * checks[drawn]; drawn++)
        left -= 9 * most - 8 * checks[drawn];
    return slots_of[drawn];
}
