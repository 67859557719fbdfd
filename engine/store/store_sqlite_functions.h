/* store_sqlite_functions.h - SQL functions of the engine's own connections to SQLite. Statements of
 * applications, and the schema, do not have them. */
#ifndef PRESCIENT_STORE_SQLITE_FUNCTIONS_H
#define PRESCIENT_STORE_SQLITE_FUNCTIONS_H

#include <sqlite3.h>

/* prescient_bucket_of(entity_name, entity_key): see bucket_of(). NULL: one of them is NULL.
 * prescient_add_up(classes): an aggregate of what run_hour has in `took` and `late`, JSON as
 * {"104": 3}; other text fails the statement. An SQLite code. */
int sqlite_functions_register(sqlite3 *db);

#endif
