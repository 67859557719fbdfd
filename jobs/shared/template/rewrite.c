/* rewrite.c - one pass over the text, with a stack of what is open. What is no jq passes if its
 * brackets match: jq itself says what is wrong with it. */
#include "rewrite.h"

#include <prescient/job.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_BYTES = 80 }; /* of an interpolation, in the words about it */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

struct opened {
    char kind;
    const char *at;
    bool is_read; /* its strings are looked for, and do not come out */
};                /* '"', '(', '[', '{'; 'i' for \( */

struct scan {
    const char *text, *at, *mark;
    enum rewrite_form form;
    struct opened opened[REWRITE_DEPTH];
    int depth;
    FILE *out;
    char *why;
    size_t why_size;
};

static int __attribute__((format(printf, 3, 4)))
refuse(const struct scan *s, const char *at, const char *fmt, ...)
{
    va_list ap;
    int line = 1;
    for (const char *p = s->text; p < at; p++)
        line += *p == '\n';
    int n = snprintf(s->why, s->why_size, "line %d: ", line);
    va_start(ap, fmt);
    if ((size_t)n < s->why_size)
        vsnprintf(s->why + n, s->why_size - (size_t)n, fmt, ap);
    va_end(ap);
    return -1;
}

static char top(const struct scan *s)
{
    return s->depth ? s->opened[s->depth - 1].kind : '\0';
}

/* Copies n bytes, and goes on behind them. */
static int copy(struct scan *s, size_t n)
{
    fwrite(s->at, 1, n, s->out);
    s->at += n;
    return 0;
}

/* ---- strings that a program only looks for ---- */

/* The last byte before `at` that is no blank. */
static const char *back(const struct scan *s, const char *at)
{
    while (at > s->text && strchr(" \t\r\n", at[-1]))
        at--;
    return at > s->text ? at - 1 : "";
}

/* What is in its parentheses, up to a ';'. */
static bool is_of_reader(const struct scan *s, const char *paren)
{
    static const char *const names[] = {
        "test",     "match",    "capture", "scan",    "split",    "splits",     "sub",
        "gsub",     "index",    "rindex",  "indices", "IN",       "startswith", "endswith",
        "ltrimstr", "rtrimstr", "trimstr", "has",     "contains", "inside",     "error",
    };
    const char *last = back(s, paren), *from = last + (*last != '\0');
    size_t n = 0;
    while (*last && from > s->text && strchr(LETTERS DIGITS, from[-1]))
        from--, n++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (n == strlen(names[i]) && !strncmp(names[i], from, n))
            return true;
    return false;
}

/* What stands behind the string that begins here; "" when it has interpolations. */
static const char *behind(const char *quote)
{
    const char *p = quote + 1;
    while (*p && *p != '"' && strncmp(p, "\\(", 2) != 0)
        p += *p == '\\' && p[1] ? 2 : 1;
    if (*p != '"')
        return "";
    p++;
    return p + strspn(p, " \t\r\n");
}

static bool is_read_string(const struct scan *s)
{
    const char *last = back(s, s->at), *next = behind(s->at);
    bool is_compared = *last == '=' && last > s->text && strchr("=!", last[-1]);
    bool is_member = (s->at > s->text && s->at[-1] == '.') || (top(s) == '{' && *next == ':');
    return is_compared || is_member || !strncmp(next, "==", 2) || !strncmp(next, "!=", 2) ||
           (s->depth && s->opened[s->depth - 1].is_read);
}

static bool is_read(const struct scan *s, char kind)
{
    if (kind == '"')
        return is_read_string(s);
    if (kind == '[')
        return s->at > s->text && strchr(LETTERS DIGITS ".])?\"", s->at[-1]);
    return kind == '(' && is_of_reader(s, s->at);
}

/* ---- what is open ---- */

static int open_one(struct scan *s, char kind, size_t n)
{
    if (s->depth == REWRITE_DEPTH)
        return refuse(s, s->at, "more than %d brackets and strings in each other", REWRITE_DEPTH);
    struct opened one = { kind, s->at, s->mark && is_read(s, kind) };
    s->opened[s->depth++] = one;
    return copy(s, n);
}

/* ---- strings ---- */

/* The whole of a REWRITE_TEXT is a string, which no quote ends. */
static bool is_in_text(const struct scan *s)
{
    return s->form == REWRITE_TEXT && s->depth == 1;
}

static int in_string(struct scan *s)
{
    if (s->at[0] == '\\' && s->at[1] == '(') {
        int rc = open_one(s, 'i', 2);
        fputc('(', s->out);
        return rc;
    }
    if (is_in_text(s) && strchr("\"\\", *s->at)) {
        fputc('\\', s->out);
        return copy(s, 1);
    }
    if (*s->at == '\\' && s->at[1])
        return copy(s, 2);
    if (*s->at == '"')
        s->depth--;
    else if (s->mark && strchr("&<>", *s->at) && !s->opened[s->depth - 1].is_read)
        fputs(s->mark, s->out);
    return copy(s, 1);
}

/* The program of an interpolation, as a string of jq: `fits` bytes of it, none of half a letter. */
static void write_name(struct scan *s, const char *from, const char *to)
{
    char cut[NAMED_BYTES + 1], quoted[NAMED_BYTES * 6 + 3];
    size_t n = (size_t)(to - from);
    if (n > NAMED_BYTES)
        for (n = NAMED_BYTES; n && ((unsigned char)from[n] & 0xc0) == 0x80; n--)
            ;
    memcpy(cut, from, n);
    cut[n] = '\0';
    prescient_json_string(quoted, sizeof quoted, cut);
    fputs(quoted, s->out);
}

static int end_interpolation(struct scan *s)
{
    fputs(")|__given(", s->out);
    write_name(s, s->opened[s->depth - 1].at + 2, s->at);
    fputs("))", s->out);
    s->depth--;
    s->at++;
    return 0;
}

/* ---- programs ---- */

static int close_one(struct scan *s)
{
    static const char opening[] = "([{i", closing[] = ")]})";
    const char *expected = top(s) ? strchr(opening, top(s)) : NULL;
    if (!expected)
        return refuse(s, s->at, "found '%c', which closes nothing", *s->at);
    char wanted = closing[expected - opening];
    if (*s->at != wanted)
        return refuse(s, s->at, "found '%c', expected '%c'", *s->at, wanted);
    if (top(s) == 'i')
        return end_interpolation(s);
    s->depth--;
    return copy(s, 1);
}

static bool is_refused_name(const char *name, size_t n)
{
    static const char *const names[] = {
        "import",        "include",         "input",
        "inputs",        "input_filename",  "input_line_number",
        "env",           "debug",           "stderr",
        "halt",          "halt_error",      "ENV",
        "modulemeta",    "get_search_list", "get_prog_origin",
        "get_jq_origin",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && !strncmp(names[i], name, n))
            return true;
    return n >= 2 && !strncmp(name, "__", 2);
}

/* "{ env: 1 }": a name that only names a member. */
static bool is_key(const struct scan *s, const char *after)
{
    after += strspn(after, " \t\r\n");
    return top(s) == '{' && after[0] == ':' && after[1] != ':';
}

/* A name, a number, a field or a variable. */
static int word(struct scan *s)
{
    size_t n = strspn(s->at, LETTERS DIGITS);
    bool is_field = s->at > s->text && s->at[-1] == '.';
    bool is_variable = *back(s, s->at) == '$';
    bool is_refused = is_refused_name(s->at, n);
    if (is_variable)
        is_refused = (n == 3 && !strncmp(s->at, "ENV", 3)) || (n >= 2 && !strncmp(s->at, "__", 2));
    else if (is_field || is_key(s, s->at + n))
        is_refused = false;
    if (is_refused)
        return refuse(s, s->at, "%s%.*s may not be used in templates", is_variable ? "$" : "", (int)n, s->at);
    return copy(s, n);
}

static int in_program(struct scan *s)
{
    char c = *s->at;
    if (c == '#') {
        s->at += strcspn(s->at, "\n");
        return 0;
    }
    if (c == ';' && s->depth)
        s->opened[s->depth - 1].is_read = false;
    if (strchr("\"([{", c))
        return open_one(s, c, 1);
    if (strchr(")]}", c))
        return close_one(s);
    return strchr(LETTERS DIGITS, c) ? word(s) : copy(s, 1);
}

static int rewrite(struct scan *s)
{
    int rc = 0;
    while (!rc && *s->at)
        rc = top(s) == '"' ? in_string(s) : in_program(s);
    if (!rc && s->form == REWRITE_TEXT && s->depth == 1)
        s->depth--;
    if (rc || !s->depth)
        return rc;
    const struct opened *last = &s->opened[s->depth - 1];
    return refuse(s, last->at, "what begins with %.20s has no end", last->at);
}

bool rewrite_is_fixed(const char *text)
{
    return !strstr(text, "\\(");
}

char *rewrite_template(const char *text, enum rewrite_form form, const char *mark, char *why, size_t why_size)
{
    char *program = NULL;
    size_t size = 0;
    struct scan s = { .text = text,
                      .at = text,
                      .mark = mark,
                      .form = form,
                      .why = why,
                      .why_size = why_size,
                      .out = open_memstream(&program, &size) };
    int rc = s.out ? 0 : refuse(&s, text, "out of memory");
    if (!rc && form == REWRITE_TEXT) {
        s.opened[s.depth++] = (struct opened){ '"', text, false };
        fputc('"', s.out);
    }
    if (!rc)
        rc = rewrite(&s);
    if (!rc && form == REWRITE_TEXT)
        fputc('"', s.out);
    if (s.out && fclose(s.out) && !rc)
        rc = refuse(&s, text, "out of memory");
    if (!rc)
        return program;
    free(program);
    return NULL;
}
