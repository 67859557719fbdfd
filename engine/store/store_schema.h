/* store_schema.h - the schema of a kind of store as one script. */
#ifndef PRESCIENT_STORE_SCHEMA_H
#define PRESCIENT_STORE_SCHEMA_H

#include <stdio.h>
#include "../base/err.h"

/* Writes SQL that makes, in one transaction, what `prescient init` makes of an empty store of the
 * kind `scheme` (store_scheme), with slots of the default length. The store accepts the result as
 * its own: the migrations are noted in it. `schema` is the name for PostgreSQL, a plain word; NULL:
 * the default. 0, or ERR_NOMEM. */
int store_schema_write(const char *scheme, const char *schema, FILE *out, struct err *err);

#endif
