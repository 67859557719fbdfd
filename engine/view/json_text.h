/* json_text.h - JSON as it is sent and printed: each number has as few digits as it needs. */
#ifndef PRESCIENT_JSON_TEXT_H
#define PRESCIENT_JSON_TEXT_H

#include <jansson.h>

/* As json_dump_text, which writes 0.1 as 0.10000000000000001: what is read back is the same number.
 * The caller frees it; NULL: there is no memory, or no value. */
char *json_text(const json_t *value, size_t flags);

#endif
