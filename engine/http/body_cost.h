/* body_cost.h - what a text takes of memory when it is parsed, before it is. */
#ifndef PRESCIENT_HTTP_BODY_COST_H
#define PRESCIENT_HTTP_BODY_COST_H

#include <stddef.h>

/* More is refused. It is enough for a body of 8 MiB whose members have 20 bytes each. */
#define BODY_COST_MAX ((size_t)128 << 20)

/* Bytes, at most, that it takes to parse this JSON text. A text that is none is parsed up to its
 * fault, and takes no more. */
size_t body_cost(const char *text, size_t len);

#endif
