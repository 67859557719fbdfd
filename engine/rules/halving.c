/* halving.c - see halving.h. */
#include "halving.h"

void halving_init(struct halving *h, int most, int tries)
{
    *h = (struct halving){ .most = most, .tries = tries, .size = most };
}

static int half_of(int n)
{
    return n > 1 ? n / 2 : 1;
}

void halving_done(struct halving *h, int n)
{
    h->failures = h->alone = 0;
    h->suspects = h->suspects > n ? h->suspects - n : 0;
    h->size = h->suspects ? half_of(h->suspects) : h->most;
}

enum halving_verdict halving_failed(struct halving *h, int n)
{
    h->failures++;
    h->suspects = n;
    h->size = half_of(n);
    if (n > 1)
        return HALVING_AGAIN;
    return ++h->alone >= h->tries ? HALVING_GUILTY : HALVING_AGAIN;
}

int64_t halving_pause_us(const struct halving *h, int64_t first_us, int64_t most_us)
{
    int64_t pause_us = h->failures ? first_us : 0;
    for (int i = 1; i < h->failures && pause_us < most_us; i++)
        pause_us *= 2;
    return pause_us < most_us ? pause_us : most_us;
}
