/* store_pg_sql.c - the statements of store_pg.sql with the schema's name, made on first use. */
#include <stdio.h>
#include <string.h>

#include "store_pg.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The entities of deliveries and digests are called prescient.event and prescient.digest in every
 * schema: these names in quotes, but no table of one. Messages say "entity is ...". */
static bool is_entity(const char *sql, const char *word)
{
    static const char *const names[] = { "prescient.event", "prescient.digest" };
    if (word - sql < 3)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *end = word + strlen(names[i]);
        bool is_quoted = (word[-1] == '\'' || word[-1] == '"') && begins(word, names[i]) &&
                         *end == word[-1] && !begins(end + 1, "::");
        bool is_told = begins(word - 3, "is ") && begins(word, names[i]);
        if (is_quoted || is_told)
            return true;
    }
    return false;
}

/* Replaces "prescient." and "prescient_schema" by the schema's name. */
char *pg_with_schema(const char *sql, const char *schema)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *next, *all = sql;
    for (; (next = strstr(sql, "prescient")); sql = next) {
        fwrite(sql, 1, (size_t)(next - sql), out);
        size_t word = strlen("prescient"), suffix = strlen("_schema");
        bool is_schema = next[word] == '.' && !is_entity(all, next);
        if (is_schema || begins(next + word, "_schema")) {
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
