/* pg_prepared.h - what prepared statements are called, and how a pooler shows that loses them: for
 * both our ways to a PostgreSQL, the store's (store/store_pg*.c) and the business database's
 * (worker/business_pg.c).
 *
 * A pooler that hands each transaction another session lets us meet what somebody else has
 * prepared there: another worker, another release, another schema. So a name is made of the text,
 * and means the same to whoever meets it; and what fails for want of it, or because it is there
 * already, is sent again unprepared. */
#ifndef PRESCIENT_PG_PREPARED_H
#define PRESCIENT_PG_PREPARED_H

#include <stdbool.h>

#include "../base/err.h"

enum { PG_PREPARED_NAME_SIZE = 64 };    /* PostgreSQL tells names apart by their first 63 bytes */

/* "WHAT_FINGERPRINT": `what` is for people who read pg_prepared_statements, and cut where it is
 * long. `more` is all else that the statement depends on, such as the types of its parameters; may
 * be NULL. */
void pg_prepared_name(const char *what, const char *sql, const char *more, char out[PG_PREPARED_NAME_SIZE]);

/* Whether a statement failed because what we prepared is not there, or is before we have prepared
 * it. */
bool pg_is_of_a_pooler(const struct err *err);

#endif
