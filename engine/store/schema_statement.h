/* schema_statement.h - the text of a migration, statement by statement, and what each one makes.
 * For texts of migrations/: a statement begins at the left edge and ends at a line's end. */
#ifndef PRESCIENT_SCHEMA_STATEMENT_H
#define PRESCIENT_SCHEMA_STATEMENT_H

#include <stdbool.h>

enum { SCHEMA_NAME_SIZE = 64 };

struct schema_statement {
    const char *text;               /* from its first word on */
    int length;                     /* with its semicolon */
    /* What it makes, or is a comment on: "FUNCTION", "enqueue", without the schema. Of a column,
     * its table or view. Empty: neither. */
    char kind[SCHEMA_NAME_SIZE], name[SCHEMA_NAME_SIZE];
    bool is_comment, is_unique;     /* is_unique: of an index */
    int name_at;                    /* where the name begins in `text`, with its schema */
};

/* The first statement of `text`, without the comments above it. Returns what comes behind it; NULL:
 * there is none. */
const char *schema_statement_next(const char *text, struct schema_statement *out);

#endif
