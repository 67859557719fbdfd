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
    const char *only;           /* names with commas between them: no more than these objects; NULL: all */
};

/* Writes SQL that makes, in one transaction, what `prescient init` makes of an empty store. The
 * store accepts the result as its own: the migrations are noted in it. With `only`, SQL that makes
 * those functions, views, triggers and indexes again in a store that has lost them: what is there
 * keeps its rights. 0, ERR_NOMEM, or ERR_INPUT for a name that is none of these. */
int store_schema_write(const struct schema_wish *wish, FILE *out, struct err *err);

/* The newest version that this program makes of that kind of store; 0: there is no such kind. */
int store_schema_newest(const char *scheme);

#endif
