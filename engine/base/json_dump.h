/* json_dump.h - JSON as text. */
#ifndef PRESCIENT_JSON_DUMP_H
#define PRESCIENT_JSON_DUMP_H

#include <jansson.h>

/* As json_dumps, which may leave out the quote behind a name when there is no memory for it, and
 * say that all is well. To be freed by free(). NULL: there is no memory, or no text. */
char *json_dump_text(const json_t *value, size_t flags);

#endif
