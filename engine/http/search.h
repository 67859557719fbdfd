/* search.h - rows of the past that have one error: no index leads to them, so that they are looked
 * through here, and no more of them than parameters.h says. */
#ifndef PRESCIENT_HTTP_SEARCH_H
#define PRESCIENT_HTTP_SEARCH_H

#include "parameters.h"

struct lists_page;

struct search {
    struct asking *asking;          /* its limit is how many are to be found */
    const char *report;             /* its rows have a note and a cursor, and begin with their time */
    const struct parameter *parameters;
    const char *error;              /* with ids struck out (struck.h) */
};

/* Sets `out`, whose place is behind the last row that was looked at. Returns 0 or an ERR_, in
 * asking->err. */
int search_error(const struct search *s, struct lists_page *out);

#endif
