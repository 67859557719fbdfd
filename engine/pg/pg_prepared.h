/* pg_prepared.h - the names of prepared statements, and the errors of a pooler that loses them: for
 * the store (store/store_pg*.c) and for the business database (worker/business_pg.c).
 *
 * A pooler that gives each transaction another session may give one in which another worker,
 * another release or another schema has prepared statements. So a name is made of the statement's
 * text, and the same name is the same statement everywhere; and a statement that fails because its
 * name is missing, or is there already, is sent again unprepared. */
#ifndef PRESCIENT_PG_PREPARED_H
#define PRESCIENT_PG_PREPARED_H

#include <stdbool.h>

#include "../base/err.h"

enum { PG_PREPARED_NAME_SIZE = 64 };    /* PostgreSQL compares the first 63 bytes of a name */

/* "WHAT_FINGERPRINT": `what` is for people who read pg_prepared_statements, and cut where it is
 * long. `more` is all else that the statement depends on, such as the types of its parameters; may
 * be NULL. */
void pg_prepared_name(const char *what, const char *sql, const char *more, char out[PG_PREPARED_NAME_SIZE]);

/* Whether a statement failed because a prepared one is missing, or was there before we prepared
 * it. */
bool pg_is_of_a_pooler(const struct err *err);

#endif
