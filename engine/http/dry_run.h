/* dry_run.h - whether a change is only tried: seen by the process that speaks HTTP, which reads no
 * JSON, so that those that only read answer it, and no check that is to be filed waits behind the
 * counting of others. Pure. */
#ifndef PRESCIENT_HTTP_DRY_RUN_H
#define PRESCIENT_HTTP_DRY_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the body, an object of JSON, has the member "dry_run": true. It may be wrong where a
 * parser refuses the body, and where the name is written with escapes: then it is false, and the
 * process that writes answers it just as well. */
bool dry_run_is_asked(const char *body, size_t len);

#endif
