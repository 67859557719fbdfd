/* pg_denied.h - what to do about a right that PostgreSQL says is lacking, in the words of SQL. */
#ifndef PRESCIENT_PG_DENIED_H
#define PRESCIENT_PG_DENIED_H

#include <stdbool.h>
#include <stddef.h>

/* For the server's message "permission denied for table orders": "GRANT SELECT ON orders TO user",
 * the right to read or use it. False when the message is not of that kind, or not in English. */
bool pg_denied_grant(const char *message, const char *user, char *out, size_t size);

/* A name as SQL has it: in quotes where it needs them. Returns its length, or 0 when `size` bytes
 * do not hold it. */
size_t pg_denied_quote(const char *name, char *out, size_t size);

#endif
