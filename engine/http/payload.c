/* payload.c - see payload.h. */
#include "payload.h"

#include <stdlib.h>

#include "../base/cleanup.h"
#include "../view/json_text.h"

const char *payload_text(const json_t *value, struct arena *a)
{
    CLEANUP(cleanup_free) char *text = json_text(value, JSON_COMPACT | JSON_ENCODE_ANY);
    return arena_strdup(a, text);
}
