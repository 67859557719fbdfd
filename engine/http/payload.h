/* payload.h - the payload of what was sent, as the text that is stored: a number with a fraction
 * has the fewest digits that are the same number, as people and programs write it. Pure. */
#ifndef PRESCIENT_HTTP_PAYLOAD_H
#define PRESCIENT_HTTP_PAYLOAD_H

#include <jansson.h>
#include "../base/arena.h"

/* NULL: there is no memory. */
const char *payload_text(const json_t *value, struct arena *a);

#endif
