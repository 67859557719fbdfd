/* struck.h - an error with its ids struck out, so that "order 42: timeout" and "order 43: timeout"
 * are one: what the dashboard groups failures by (pages/groups.js), and what a query has as error.
 * Pure. */
#ifndef PRESCIENT_HTTP_STRUCK_H
#define PRESCIENT_HTTP_STRUCK_H

#include "../base/arena.h"

/* The text with each UUID, each hexadecimal word of eight digits or more that has a decimal one,
 * and each number as one "#". In the arena; NULL: there is no memory. */
const char *struck_text(struct arena *a, const char *text);

/* Of something that is over: its note, or why it ended. All may be NULL or "". */
const char *struck_error(struct arena *a, const char *note, const char *guard, const char *outcome);

#endif
