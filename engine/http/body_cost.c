/* body_cost.c - see body_cost.h. Of eight bytes as text, {},{},{}, makes two objects, each of which
 * has a table of its own. */
#include "body_cost.h"

enum {
    /* of jansson, with what malloc adds: an object with its first table, the larger of the two; a
     * value with its name or its place, and its share of a table that grows */
    OPENED = 288,
    VALUE = 96,
    /* the longest string is read into a buffer that doubles, and copied */
    BYTE = 4,
};

static size_t cost_of(char c)
{
    if (c == '{' || c == '[')
        return OPENED;
    return c == ',' || c == ':' ? VALUE : 0;
}

/* Behind the string that begins at `at`. */
static const char *behind_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

size_t body_cost(const char *text, size_t len)
{
    size_t cost = VALUE + BYTE * len;
    for (const char *at = text, *end = text + len; at < end;) {
        cost += cost_of(*at);
        at = *at == '"' ? behind_string(at, end) : at + 1;
    }
    return cost;
}
