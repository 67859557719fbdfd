/* why_json.h - the answer to "why" as an object for programs, the same from the command and by
 * HTTP: {"entity": ..., "key": ..., "checks": [{"job", "code", "sentence", "at"}], "events":
 * [{"event", "job", "listener", "emitted_at", "code", "sentence"}]}. */
#ifndef PRESCIENT_WHY_JSON_H
#define PRESCIENT_WHY_JSON_H

#include <jansson.h>
#include "why_ask.h"

/* The caller's to decref; NULL: out of memory. */
json_t *why_json(const char *entity, const char *key, const struct why_answer *answer);

#endif
