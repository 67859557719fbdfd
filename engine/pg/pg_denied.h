/* pg_denied.h - what to do about a right that PostgreSQL says is lacking, in the words of SQL. */
#ifndef PRESCIENT_PG_DENIED_H
#define PRESCIENT_PG_DENIED_H

#include <stdbool.h>
#include <stddef.h>

/* For the server's message "permission denied for table orders": "GRANT SELECT ON orders TO user",
 * the right to read or use it. The server leaves out the schema, which may not be that of the
 * owner's search path: the name is as `query` has it (NULL: there was none). False when the message
 * is not of that kind, or not in English; and where the query does not have the name, or has it in
 * several schemas, as it is not known then which object that is. */
bool pg_denied_grant(const char *message, const char *query, const char *user, char *out, size_t size);

/* A name as SQL has it: in quotes where it needs them. Returns its length, or 0 when `size` bytes
 * do not hold it. */
size_t pg_denied_quote(const char *name, char *out, size_t size);

#endif
