/* pg_denied.c - from the server's words to the GRANT that mends them. */
#include "pg_denied.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 2 * 64 + 3 };        /* a name of 63 bytes, all of them quotes */

/* Key words that cannot be a name without quotes, in order. */
static const char *const reserved[] = {
    "all",       "analyse",    "analyze",    "and",          "any",          "array",        "as",
    "asc",       "asymmetric", "authorization", "binary",    "both",         "case",         "cast",
    "check",     "collate",    "collation",  "column",       "concurrently", "constraint",   "create",
    "cross",     "current_catalog", "current_date", "current_role", "current_schema", "current_time",
    "current_timestamp", "current_user", "default", "deferrable", "desc",    "distinct",     "do",
    "else",      "end",        "except",     "false",        "fetch",        "for",          "foreign",
    "freeze",    "from",       "full",       "grant",        "group",        "having",       "ilike",
    "in",        "initially",  "inner",      "intersect",    "into",         "is",           "isnull",
    "join",      "lateral",    "leading",    "left",         "like",         "limit",        "localtime",
    "localtimestamp", "natural", "not",      "notnull",      "null",         "offset",       "on",
    "only",      "or",         "order",      "outer",        "overlaps",     "placing",      "primary",
    "references", "returning", "right",      "select",       "session_user", "similar",      "some",
    "symmetric", "system_user", "table",     "tablesample",  "then",         "to",           "trailing",
    "true",      "union",      "unique",     "user",         "using",        "variadic",     "verbose",
    "when",      "where",      "window",     "with",
};

static int compare(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

static bool needs_quotes(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_",
                      rest[] = "abcdefghijklmnopqrstuvwxyz_0123456789$";
    return !*name || !strchr(letters, *name) || name[strspn(name, rest)] ||
           bsearch(name, reserved, sizeof reserved / sizeof *reserved, sizeof *reserved, compare);
}

size_t pg_denied_quote(const char *name, char *out, size_t size)
{
    size_t n = 0;
    bool quotes = needs_quotes(name);
    if (strlen(name) * 2 + 3 > size)
        return 0;
    if (quotes)
        out[n++] = '"';
    for (; *name; out[n++] = *name++)
        if (*name == '"')
            out[n++] = '"';
    if (quotes)
        out[n++] = '"';
    out[n] = '\0';
    return n;
}

static const struct { const char *words, *right; } kinds[] = {
    { "table ", "SELECT ON" },
    { "view ", "SELECT ON" },
    { "materialized view ", "SELECT ON" },
    { "foreign table ", "SELECT ON" },
    { "sequence ", "SELECT ON SEQUENCE" },
    { "schema ", "USAGE ON SCHEMA" },
    { "function ", "EXECUTE ON FUNCTION" },
    { "procedure ", "EXECUTE ON PROCEDURE" },
    { "type ", "USAGE ON TYPE" },
    { "language ", "USAGE ON LANGUAGE" },
    { "foreign server ", "USAGE ON FOREIGN SERVER" },
    { "database ", "CONNECT ON DATABASE" },
};

/* The server writes the name as it is; that of a database it may put in quotes. */
static bool take_name(const char *words, char *out, size_t size)
{
    size_t len = strcspn(words, "\n");
    char name[NAME_ROOM];
    if (len > 1 && words[0] == '"' && words[len - 1] == '"') {
        words++;
        len -= 2;
    }
    if (len == 0 || len >= sizeof name)
        return false;
    memcpy(name, words, len);
    name[len] = '\0';
    return pg_denied_quote(name, out, size) > 0;
}

bool pg_denied_grant(const char *message, const char *user, char *out, size_t size)
{
    static const char denied[] = "permission denied for ";
    char object[2 * NAME_ROOM + 3], role[2 * NAME_ROOM + 3];
    const char *words = strstr(message, denied);
    if (!words || !pg_denied_quote(user, role, sizeof role))
        return false;
    words += strlen(denied);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i].words);
        if (strncmp(words, kinds[i].words, len) != 0 || !take_name(words + len, object, sizeof object))
            continue;
        int n = snprintf(out, size, "GRANT %s %s TO %s", kinds[i].right, object, role);
        return n > 0 && (size_t)n < size;
    }
    return false;
}
