/* lists.h - routes that answer with a list: which rows, how many of them, and where the next ones
 * begin. No list counts all its rows, and none looks at more of them than parameters.h says. */
#ifndef PRESCIENT_HTTP_LISTS_H
#define PRESCIENT_HTTP_LISTS_H

#include "desk.h"

/* {"items": [...], "next": the cursor behind the last of them, or null}; "scanned_to", too, where
 * the look ended before there were enough: the next page goes on there. */
void lists_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
