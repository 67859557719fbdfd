/* pg_prepared.h - names of prepared statements, and the errors of a pooler that loses them. Used by
 * the store (store/store_pg*.c) and the business database (worker/business_pg.c).
 *
 * A pooler that changes sessions between transactions may give us a session in which another
 * worker, another release or another schema has prepared statements. So a name depends on the
 * statement's text: the same name is the same statement everywhere. A statement whose name is
 * missing, or exists already, is sent again unprepared. */
#ifndef PRESCIENT_PG_PREPARED_H
#define PRESCIENT_PG_PREPARED_H

#include <stdbool.h>

#include "../base/err.h"

enum { PG_PREPARED_NAME_SIZE = 64 };    /* PostgreSQL compares 63 bytes of a name */

/* Writes the name, "WHAT_FINGERPRINT". `what` is for readers of pg_prepared_statements; a long one
 * is cut. `more` is all else that the statement depends on, such as the types of its parameters;
 * may be NULL. */
void pg_prepared_name(const char *what, const char *sql, const char *more, char out[PG_PREPARED_NAME_SIZE]);

/* Whether a statement failed because a prepared one is missing, or existed before we prepared
 * it. */
bool pg_is_of_a_pooler(const struct err *err);

#endif
