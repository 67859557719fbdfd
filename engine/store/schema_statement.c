/* schema_statement.c - see schema_statement.h. */
#include "schema_statement.h"

#include <stddef.h>
#include <string.h>

static bool begins(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

static const char *line_end(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end : text + strlen(text);
}

static bool ends_with(const char *line, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - line) >= n && memcmp(end - n, word, n) == 0;
}

static int dollars_in(const char *line, const char *end)
{
    int n = 0;
    for (const char *at = line; (at = strstr(at, "$$")) && at < end; at += 2)
        n++;
    return n;
}

/* The end of the line with the semicolon. One between $$ and $$ belongs to the body of a function,
 * and so does one in a trigger of SQLite until its END. */
static const char *statement_end(const char *text)
{
    bool is_trigger = begins(text, "CREATE TRIGGER"), in_trigger = false;
    int dollars = 0;
    for (const char *line = text; *line;) {
        const char *end = line_end(line);
        dollars += dollars_in(line, end);
        in_trigger = in_trigger || (is_trigger && ends_with(line, end, "BEGIN"));
        bool is_over = !in_trigger || begins(line, "END;");
        if (is_over && dollars % 2 == 0 && ends_with(line, end, ";"))
            return end;
        line = *end ? end + 1 : end;
    }
    return NULL;
}

/* Copies the word at *at, in letters of names, and moves behind it and the blanks that follow. */
static void take_word(const char **at, char out[SCHEMA_NAME_SIZE])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    size_t n = strspn(*at, letters);
    size_t kept = n < SCHEMA_NAME_SIZE ? n : SCHEMA_NAME_SIZE - 1;
    memcpy(out, *at, kept);
    out[kept] = '\0';
    *at += n + strspn(*at + n, " ");
}

static void read_head(struct schema_statement *s)
{
    static const char create[] = "CREATE ", comment[] = "COMMENT ON ", unique[] = "UNIQUE ",
                      schema[] = "prescient.";
    const char *at = s->text;
    s->is_comment = begins(at, comment);
    if (!s->is_comment && !begins(at, create))
        return;
    at += s->is_comment ? strlen(comment) : strlen(create);
    s->is_unique = begins(at, unique);
    at += s->is_unique ? strlen(unique) : 0;
    take_word(&at, s->kind);
    s->name_at = (int)(at - s->text);
    at += begins(at, schema) ? strlen(schema) : 0;
    take_word(&at, s->name);
}

const char *schema_statement_next(const char *text, struct schema_statement *out)
{
    while (*text == '\n' || begins(text, "--"))
        text = *line_end(text) ? line_end(text) + 1 : line_end(text);
    const char *end = statement_end(text);
    if (!end)
        return NULL;
    *out = (struct schema_statement){ .text = text, .length = (int)(end - text) };
    read_head(out);
    return *end ? end + 1 : end;
}
