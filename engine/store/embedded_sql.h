/* embedded_sql.h - the .sql files as strings; the build makes the tables (embed_sql.awk). */
#ifndef PRESCIENT_EMBEDDED_SQL_H
#define PRESCIENT_EMBEDDED_SQL_H

struct sql_block { const char *name, *text; };  /* the last one's name is NULL */
/* The last one's name is NULL; ordered by version. */
struct sql_migration { int version; const char *name, *text; };

extern const struct sql_migration migrations_pg[], migrations_sqlite[];

/* The text of the block named `name`, or NULL. */
const char *sql_find(const struct sql_block *blocks, const char *name);

#endif
