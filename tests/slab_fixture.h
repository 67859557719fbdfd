/* slab_fixture.h - a slab as both processes see it, for suites of the slab. */
#ifndef PRESCIENT_SLAB_FIXTURE_H
#define PRESCIENT_SLAB_FIXTURE_H

#include "test.h"

#include "../engine/wire/slab.h"

struct slab_fixture {
    struct slab *engine, *worker;       /* two mappings of the same memory, as in two processes */
    int fd;
    struct arena *arena;
};
extern struct slab_fixture slabfx;

/* A new slab, mapped twice, whose checks may be started until `start_until_us`. */
void slabfx_begin(int64_t start_until_us);
void slabfx_end(void);

/* A check of row `key` of "orders"; payload NULL: none. */
struct check slabfx_check(const char *key, const char *payload);
bool slabfx_put(const char *key, int job, bool single);

/* Opens the slab with `n` checks of job 0 and claims all of them, one by one. */
void slabfx_claim_all(int n);

/* A JSON text of `size` bytes; the caller frees it. */
char *slabfx_json(size_t size);

#endif
