/* settle.h - answers of a page into one settle, and what became of each back into the page. A page
 * that the database refuses is halved down to the guilty check. Rows that another transaction holds
 * are tried again for a while and then left, visible, for a later pass; so is a check one of whose
 * effects waits for such a row, and one whose answer needs a corrupt block. */
#ifndef PRESCIENT_SETTLE_H
#define PRESCIENT_SETTLE_H

#include "../pool/page.h"
#include "../store/store_slot.h"
#include "lane_env.h"
#include "leased_bucket.h"

/* What a lane needs for its settles. All zero but for the limit at its beginning. */
struct settler {
    struct page *page;              /* of the settle under way; NULL: none is */
    struct settlement *batch;       /* of it */
    int *index;                     /* where in the page each came from */
    int room;
    /* at most so many at once: halved when one is refused, doubled again when they are written */
    int limit;
};

void settler_release(struct settler *s);

/* The first page of the list whose answers are to be written now, or NULL. `last`: among those that
 * wait for a row that was locked or unwritable, which are likely to fail again. */
struct page *settle_due(struct page *pages, int64_t settle_after_us, int64_t now_us, bool last);
/* When answers of the page are to be settled may have changed: sets its alarm. */
void settle_set_alarm(const struct lane_env *env, struct page *page);

/* Fills the request from what is answered in the page. */
void settle_fill(struct settler *s, const struct lane_env *env, struct page *page, int64_t now_us,
                 struct store_settle *request);
/* Takes in what became of it. `is_crowded`: pages that wait take the place of others. True when
 * nothing can be written just now, so that the lane has to pause. */
bool settle_ended(struct settler *s, const struct lane_env *env, const struct store_settle *request, int rc,
                  bool is_crowded, int64_t now_us);

#endif
