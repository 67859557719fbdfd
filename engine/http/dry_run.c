/* dry_run.c - see dry_run.h. Goes through the text once, byte by byte. */
#include "dry_run.h"

#include <string.h>

struct text {
    const char *at, *end;
};

static bool starts(const struct text *t, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(t->end - t->at) >= len && !memcmp(t->at, word, len);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct text *t)
{
    while (t->at < t->end && is_blank(*t->at))
        t->at++;
}

/* Behind the text that begins here with a quote. */
static void skip_string(struct text *t)
{
    for (t->at++; t->at < t->end && *t->at != '"'; t->at++)
        t->at += *t->at == '\\';
    t->at = t->at < t->end ? t->at + 1 : t->end;
}

/* What stands behind a name: a value is followed by no colon. */
static bool is_true_member(struct text t)
{
    skip_blanks(&t);
    if (!starts(&t, ":"))
        return false;
    t.at++;
    skip_blanks(&t);
    return starts(&t, "true");
}

bool dry_run_is_asked(const char *body, size_t len)
{
    static const char name[] = "\"dry_run\"";
    struct text t = { body, body + len };
    int depth = 0;
    while (t.at < t.end) {
        bool is_name = depth == 1 && starts(&t, name);
        if (*t.at == '"') {
            skip_string(&t);
        } else {
            depth += (*t.at == '{' || *t.at == '[') - (*t.at == '}' || *t.at == ']');
            t.at++;
        }
        if (is_name && is_true_member(t))
            return true;
    }
    return false;
}
