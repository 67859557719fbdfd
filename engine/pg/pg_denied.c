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

static const struct { const char *words, *right; bool is_in_schema; } kinds[] = {
    { "table ", "SELECT ON", true },
    { "view ", "SELECT ON", true },
    { "materialized view ", "SELECT ON", true },
    { "foreign table ", "SELECT ON", true },
    { "sequence ", "SELECT ON SEQUENCE", true },
    { "schema ", "USAGE ON SCHEMA", false },
    { "function ", "EXECUTE ON FUNCTION", true },
    { "procedure ", "EXECUTE ON PROCEDURE", true },
    { "type ", "USAGE ON TYPE", true },
    { "language ", "USAGE ON LANGUAGE", false },
    { "foreign server ", "USAGE ON FOREIGN SERVER", false },
    { "database ", "CONNECT ON DATABASE", false },
};

/* ---- which object it is ---- */

static bool is_letter(char c)
{
    return c == '_' || (c & 0x80) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool continues(char c)
{
    return is_letter(c) || c == '$' || (c >= '0' && c <= '9');
}

/* The name at *at, without quotes and in small letters where it had none. False: there is none, and
 * *at is behind what is there instead, a text in quotes or one character. */
static bool next_name(const char **at, char *out, size_t size)
{
    const char *p = *at;
    size_t n = 0;
    bool quotes = *p == '"';
    if (*p == '\'') {
        for (p++; *p && *p != '\''; p++)
            ;
        *at = p + (*p != '\0');
        return false;
    }
    if (!quotes && !is_letter(*p)) {
        *at = p + 1;
        return false;
    }
    for (p += quotes; quotes ? *p && (*p != '"' || p[1] == '"') : continues(*p); p++) {
        char c = *p;
        if (quotes && c == '"')
            p++;
        else if (!quotes && c >= 'A' && c <= 'Z')
            c = (char)(c + 'a' - 'A');
        if (n + 1 < size)
            out[n++] = c;
    }
    out[n] = '\0';
    *at = p + (quotes && *p);
    return true;
}

/* The schema that `query` has in front of the name, "" where it has none. False: the name is not in
 * it, or in several ways. Of a name that is a table's and a column's prefix, the longer form is the
 * table: sales.orders, orders.id. */
static bool find_schema(const char *query, const char *name, char *schema, size_t size)
{
    char word[NAME_ROOM], before[NAME_ROOM] = "";
    bool is_there = false;
    *schema = '\0';
    for (const char *at = query; *at;) {
        bool is_behind_dot = at > query && at[-1] == '.';
        if (!next_name(&at, word, sizeof word)) {
            if (at[-1] != '.')
                *before = '\0';
            continue;
        }
        if (!strcmp(word, name)) {
            is_there = true;
            if (is_behind_dot && *before && *schema && strcmp(schema, before) != 0)
                return false;
            if (is_behind_dot && *before)
                snprintf(schema, size, "%s", before);
        }
        memcpy(before, word, sizeof word);
    }
    return is_there;
}

/* The server writes the name as it is; that of a database it may put in quotes. */
static bool take_name(const char *words, const char *query, char *out, size_t size)
{
    size_t len = strcspn(words, "\n");
    char name[NAME_ROOM], schema[NAME_ROOM] = "";
    if (len > 1 && words[0] == '"' && words[len - 1] == '"') {
        words++;
        len -= 2;
    }
    if (len == 0 || len >= sizeof name)
        return false;
    memcpy(name, words, len);
    name[len] = '\0';
    if (query && !find_schema(query, name, schema, sizeof schema))
        return false;
    size_t n = *schema ? pg_denied_quote(schema, out, size) : 0;
    if (n && n + 1 < size)
        out[n++] = '.';
    return pg_denied_quote(name, out + n, size - n) > 0;
}

bool pg_denied_grant(const char *message, const char *query, const char *user, char *out, size_t size)
{
    static const char denied[] = "permission denied for ";
    char object[4 * NAME_ROOM + 7], role[2 * NAME_ROOM + 3];
    const char *words = strstr(message, denied);
    if (!words || !pg_denied_quote(user, role, sizeof role))
        return false;
    words += strlen(denied);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i].words);
        const char *named_in = kinds[i].is_in_schema ? query : NULL;
        if (strncmp(words, kinds[i].words, len) != 0 ||
            !take_name(words + len, named_in, object, sizeof object))
            continue;
        int n = snprintf(out, size, "GRANT %s %s TO %s", kinds[i].right, object, role);
        return n > 0 && (size_t)n < size;
    }
    return false;
}
