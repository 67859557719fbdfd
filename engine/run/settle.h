/* settle.h - a lane's settles: which page, which of its answers, and what became of each. */
#ifndef PRESCIENT_SETTLE_H
#define PRESCIENT_SETTLE_H

#include "engine.h"

struct page *settle_page_due(const struct lane *lane, int64_t now_us);  /* NULL: none */
/* what is left to settle there is likely to fail again */
struct page *settle_page_apart_due(const struct lane *lane, int64_t now_us);
int64_t settle_next_us(const struct lane *lane);                        /* when one will be due, monotonic */
/* Whether a settle is sent around rows that others hold at once: its page met one before, or any
 * did a moment ago (0: none did). */
bool settle_goes_around(bool page_met, int64_t engine_met_us, int64_t now_us);
void settle_begin(struct lane *lane, struct page *page);
/* true: nothing can be written just now, so the lane has to pause */
bool settle_ended(struct lane *lane, int rc);

#endif
