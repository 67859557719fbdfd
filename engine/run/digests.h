/* digests.h - the checks of digests that the settings ask for: what the store is to file. */
#ifndef PRESCIENT_DIGESTS_H
#define PRESCIENT_DIGESTS_H

#include "errand.h"

/* One whose time zone cannot be read now is left out, which the log says; so is all when memory is
 * short. The next call has them. `out->arena` is the caller's to free. */
void digests_fill(const struct errand_env *env, int64_t now_us, struct store_keep_digests *out);

#endif
