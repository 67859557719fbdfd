/* store_pg_sql.c - the statements of store_pg.sql with the schema's name, made on first use. */
#include <stdio.h>
#include <string.h>

#include "store_pg.h"

/* Replaces "prescient." and "prescient_schema" by the schema's name. */
char *pg_with_schema(const char *sql, const char *schema)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *next;
    for (; (next = strstr(sql, "prescient")); sql = next) {
        fwrite(sql, 1, (size_t)(next - sql), out);
        size_t word = strlen("prescient"), suffix = strlen("_schema");
        if (next[word] == '.' || strncmp(next + word, "_schema", suffix) == 0) {
            fputs(schema, out);
            next += next[word] == '.' ? word : word + suffix;
        } else {
            fwrite(next, 1, word, out);
            next += word;
        }
    }
    fputs(sql, out);
    return fclose(out) == 0 ? text : NULL;
}

const char *pg_sql(struct pg_store *pg, int statement)
{
    const struct sql_statement *s = &pg_statements[statement];
    if (pg->sql[statement])
        return pg->sql[statement];
    pg->sql[statement] = pg_with_schema(s->text, pg->schema);
    if (pg->sql[statement])
        pg_prepared_name(s->name, pg->sql[statement], s->types, pg->names[statement]);
    return pg->sql[statement];
}
