/* recurring.h - checks of schedules: whether one that was read is run, and where it goes when its
 * occurrence is over. The rule is in the check's terms; the zone is read here, once an engine. */
#ifndef PRESCIENT_RECURRING_H
#define PRESCIENT_RECURRING_H

#include <stdbool.h>
#include <stdint.h>
#include "../pool/page.h"
#include "lane_env.h"

enum recurring_way {
    RECURRING_RUNS,
    /* no occurrence has come, or it was missed: the check is answered, and moves on unrun; so is a
     * digest, which its settle makes */
    RECURRING_MOVES_ON,
    /* its terms, or the zone that they name, cannot be read here, or it is the digest of a listener
     * that these settings do not have: as if its job were unknown */
    RECURRING_UNREADABLE,
};

/* Of a check with terms that has been read just now. A delivery runs, if its terms can be read. */
enum recurring_way recurring_take_in(const struct lane_env *env, struct page *page, int index,
                                     int64_t now_us);

/* The settlement of a check that recurs moves it out of the slot of a pause. The time of the pause
 * is not missed, whatever the rule says: an occurrence that came while the check waited becomes one
 * that is due where the check goes, and one that has not come waits for its time. */
void recurring_resume(const struct lane_env *env, const struct page *page, struct settlement *s,
                      int64_t now_us);

/* The settlement of a check that recurs would end the check: its occurrence is over, and the check
 * starts anew at the next one. False: that cannot be found here. Then the check moves on as it is,
 * to the next slot; it is never deleted. */
bool recurring_renew(const struct lane_env *env, const struct page *page, struct settlement *s,
                     int64_t now_us);

#endif
