/* tallies.h - what an engine has counted since its last note of what is counted for ever
 * (struct tally): the names are few, those of the settings. */
#ifndef PRESCIENT_TALLIES_H
#define PRESCIENT_TALLIES_H

#include "../base/arena.h"
#include "../rules/histogram.h"
#include "../store/store_slot.h"

struct tally_sum {
    const char *what, *outcome;         /* constants */
    char *name;
    int64_t n, took_us, late_us;
    bool has_bounds;                    /* it is of runs */
    int64_t took[HISTOGRAM_BOUNDS + 1], late[HISTOGRAM_BOUNDS + 1];
};

/* All zero: nothing is counted. */
struct tallies { struct tally_sum *all; int n, room; };

void tallies_free(struct tallies *t);

/* The sum of these three, to be added to. More than STORE_TALLIES_MAX - 100 are kept without their
 * names. NULL: there is no memory for it. */
struct tally_sum *tallies_of(struct tallies *t, const char *what, const char *name, const char *outcome);

/* So many of each class took so long, or were so late. */
void tallies_add_classes(int64_t bounds[HISTOGRAM_BOUNDS + 1], const uint32_t classes[HISTOGRAM_CLASSES]);

/* As rows of a note, in the arena. Returns how many; 0, too, where there is no memory. */
int tallies_rows(const struct tallies *t, struct arena *a, const struct tally **out);

#endif
