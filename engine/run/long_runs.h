/* long_runs.h - which runs have been going on for long: an engine notes its own in the store
 * while there are any, for `prescient status --slow`. Of runs that are over in seconds nothing is
 * noted. */
#ifndef PRESCIENT_LONG_RUNS_H
#define PRESCIENT_LONG_RUNS_H

#include <stdbool.h>
#include "../pool/pool.h"
#include "../store/store_slot.h"
#include "clocks.h"

enum { LONG_RUNS_S = 5, LONG_RUNS_EVERY_S = 10 };

/* All zero but for the first three at its beginning. */
struct long_runs {
    const struct pool *pool;            /* NULL: nothing runs */
    const struct clocks *clocks;
    const unsigned char *owner;         /* the engine's */
    int64_t noted_us;                   /* monotonic, when it was done last */
    bool is_noted;                      /* the store has some of ours */
};

/* There are some, and it is time to note them; or none is there any more, and the store has some.
 * By a time that was set nothing is noted. */
bool long_runs_are_due(const struct long_runs *l, int64_t now_us);
/* `out->arena` is the caller's to free. */
void long_runs_fill(struct long_runs *l, int64_t now_us, struct store_note_running *out);
/* The call that was filled has gone well. */
void long_runs_noted(struct long_runs *l, const struct store_note_running *call);

#endif
