/* halving.h - how many things to hand over at once to somebody who takes all of them or none: what
 * was refused comes again in halves, until the guilty one is alone. Pure. */
#ifndef PRESCIENT_HALVING_H
#define PRESCIENT_HALVING_H

#include <stdint.h>

struct halving {
    int most;                       /* handed over at once at most */
    int tries;                      /* so often one that is alone is refused before it is guilty */
    int size;                       /* the next time at most so many */
    int suspects;                   /* the guilty one is among the next so many; 0: none is known of */
    int failures;                   /* in a row */
    int alone;                      /* of them, with the first one alone */
};

enum halving_verdict { HALVING_AGAIN, HALVING_GUILTY };

void halving_init(struct halving *h, int most, int tries);

/* The first `n` were taken, or are left out. */
void halving_done(struct halving *h, int n);

/* The first `n` were refused. HALVING_GUILTY: it was one, for as often as it is tried. */
enum halving_verdict halving_failed(struct halving *h, int n);

/* How long to wait before the next: doubled with each failure in a row. 0: there was none. */
int64_t halving_pause_us(const struct halving *h, int64_t first_us, int64_t most_us);

#endif
