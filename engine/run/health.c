/* health.c - what follows from the settles that the store took, and from those that it did not. */
#include "health.h"

enum {
    DEGRADED_FROM = 5,
    HOPELESS_FROM = 12,
    LATELY_US = 5 * 1000 * 1000,
    RECENTLY_US = 1000 * 1000
};

void health_write_failed(struct health *h, int64_t now_us)
{
    h->writes_failed = true;
    h->write_failed_us = now_us;
}

void health_settled(struct health *h, int64_t now_us)
{
    h->settled_us = now_us;
    h->unwritable = 0;
    h->is_degraded = false;
}

void health_unwritable(struct health *h)
{
    h->unwritable++;
    h->is_degraded = h->unwritable >= DEGRADED_FROM;
}

bool health_is_hopeless(const struct health *h)
{
    return !h->settled_us && h->unwritable >= HOPELESS_FROM;
}

bool health_wants_pause(const struct health *h, int64_t now_us)
{
    return now_us - h->settled_us > RECENTLY_US;
}

bool health_met_lock_lately(const struct health *h, int64_t now_us)
{
    return h->lock_met_us && now_us - h->lock_met_us < LATELY_US;
}

int64_t health_trust_until_us(const struct health *h, int64_t sent_boot_us, int64_t trust_us)
{
    return sent_boot_us < h->refused_boot_us ? 0 : sent_boot_us + trust_us;
}
