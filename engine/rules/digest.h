/* digest.h - listeners that hear events together, a time at a time. A digest is a check of a
 * schedule that no job is given: the settle that starts it anew takes the events behind its cursor,
 * files one delivery of those that match, and moves the cursor, all in one transaction. Pure. */
#ifndef PRESCIENT_DIGEST_H
#define PRESCIENT_DIGEST_H

#include <stdint.h>
#include <string.h>
#include "../base/err.h"
#include "../base/settings.h"
#include "check.h"
#include "terms.h"

/* The entity of these checks. The key is the listener's name, the job that of its deliveries. */
#define DIGEST_ENTITY "prescient.digest"
/* What the deliveries have as their type. */
#define DIGEST_TYPE "digest"

/* Of one settle: it reads at most so many events, and looks at so many of those that match; their
 * documents have at most so many bytes together. */
enum { DIGEST_READ_MAX = 10000, DIGEST_SHOWN_MAX = 400, DIGEST_BYTES = 48 * 1024 - 128 };

/* The terms of the check of a listener that has a digest; and whether its time can be read, for all
 * listeners. ERR_SETTINGS with the place, what was found, and what was expected. Whether there is
 * such a time zone is not known here. */
int digest_terms(const struct listener_settings *listener, struct terms *out, struct err *err);
int digests_check(const struct settings *settings, struct err *err);

/* The first listener from `from` on that has one; -1: none has. */
int digests_next(const struct settings *settings, int from);

/* Whose digest a check is by these settings; NULL: nobody's. */
const struct listener_settings *digest_listener(const struct settings *settings, const struct check *c);
static inline bool check_is_digest(const struct check *c)
{
    return c->terms && !strcmp(c->entity_name, DIGEST_ENTITY);
}

/* The settle ends it as no settings have had it for the horizon: what has come since is nobody's.
 * Whoever else ends the check of a digest leaves its cursor to the one that is filed next. */
static inline bool digest_is_forgotten(const struct settlement *s)
{
    return s->ends && !s->renews && s->outcome == OUTCOME_UNKNOWN_JOB && check_is_digest(s->check);
}

/* What a delivery says before the documents of its events, which "]}" ends. */
enum { DIGEST_HEAD_SIZE = 128 };
struct digest_counts {
    int64_t matched, shown;
    bool was_pruned;                    /* events may have been dropped before they were read */
};
int digest_head(const struct digest_counts *counts, char out[DIGEST_HEAD_SIZE]);

#endif
