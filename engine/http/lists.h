/* lists.h - routes that answer with a list: which rows, how many of them, and where the next ones
 * begin. No list counts all its rows, and none looks at more of them than parameters.h says. */
#ifndef PRESCIENT_HTTP_LISTS_H
#define PRESCIENT_HTTP_LISTS_H

#include "desk.h"
#include "parameters.h"

/* {"items": [...], "next": the cursor behind the last of them, or null}; "scanned_to", too, where
 * the look ended before there were enough: the next page goes on there. */
void lists_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

struct lists_page {
    struct store_rows rows;
    const char *place; /* behind which the next page begins; NULL: it is the last */
    const char *scanned_to; /* the moment where the look ended; NULL: it did not */
};
/* A page of the list at `path`, of what `asking` has in its query, limit and after. Returns 0 or an
 * ERR_, in asking->err. */
int lists_read(struct asking *asking, const char *path, struct lists_page *out);

#endif
