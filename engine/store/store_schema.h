/* store_schema.h - the schema of a kind of store as one script. */
#ifndef PRESCIENT_STORE_SCHEMA_H
#define PRESCIENT_STORE_SCHEMA_H

#include <stdint.h>
#include <stdio.h>
#include "../base/err.h"

struct schema_wish {
    const char *scheme;         /* the kind of store (store_scheme) */
    const char *schema;         /* its name on PostgreSQL, a plain word; NULL: the default */
    int32_t slot_length_s;      /* 0: the default */
};

/* Writes SQL that makes, in one transaction, what `prescient init` makes of an empty store. The
 * store accepts the result as its own: the migrations are noted in it. 0, or ERR_NOMEM. */
int store_schema_write(const struct schema_wish *wish, FILE *out, struct err *err);

#endif
