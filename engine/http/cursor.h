/* cursor.h - where the next page of a list begins, as clients keep it: opaque to them, and refused
 * when it is mistyped, cut, or of another list. It is no secret and no right. Pure. */
#ifndef PRESCIENT_HTTP_CURSOR_H
#define PRESCIENT_HTTP_CURSOR_H

#include "../base/arena.h"
#include "../base/err.h"

/* The place `at`, as the report of the list names it. Lives in the arena; NULL: no memory. */
const char *cursor_write(struct arena *a, const char *list, const char *at);

/* Back again. Returns 0, ERR_INPUT, or ERR_NOMEM. */
int cursor_read(struct arena *a, const char *list, const char *cursor, const char **at, struct err *err);

#endif
