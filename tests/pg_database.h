/* pg_database.h - a database of a test's own on the server of the run (test_pg_url). */
#ifndef PRESCIENT_PG_DATABASE_H
#define PRESCIENT_PG_DATABASE_H

#include <stdbool.h>
#include <stddef.h>

struct pg_database { char name[64], url[512]; };

/* Makes it, as WHAT_PID: a copy of the run's template, which has the schema, or else empty. False:
 * why not was printed. */
bool pg_database_make(struct pg_database *db, const char *what);

/* For PQsetNoticeProcessor: notices are not printed. */
void pg_drop_notice(void *arg, const char *words);

/* Removes it, on a server that outlives the run. */
void pg_database_drop(const struct pg_database *db);

#endif
