/* query.c - see query.h. */
#include "query.h"

#include <string.h>

#include "../base/nearest.h"
#include "../base/utf8.h"

/* ---- decoding ---- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that "%XX" at `s` stands for; 0: none, as a zero byte may not stand there. */
static int encoded_byte(const char *s)
{
    int high = digit_of(s[1]);
    int low = high < 0 ? -1 : digit_of(s[2]);
    return low < 0 ? 0 : high * 16 + low;
}

/* Decodes one character at *s, and moves behind it. 0: it cannot be read. */
static int next_byte(const char **s)
{
    const char *at = *s;
    if (*at == '%') {
        int byte = encoded_byte(at);
        *s += byte ? 3 : 0;
        return byte;
    }
    *s += 1;
    return *at == '+' ? ' ' : (unsigned char)*at;
}

/* In place: what is decoded is never longer. */
static int decode(char *text, struct err *err)
{
    size_t len = 0;
    for (const char *from = text; *from;) {
        const char *at = from;
        int byte = next_byte(&from);
        if (!byte)
            return err_set(err, ERR_INPUT,
                           "the query has \"%.3s\", expected %% and two hexadecimal digits that are not 00",
                           at);
        text[len++] = (char)byte;
    }
    text[len] = '\0';
    if (!utf8_is_valid(text, len))
        return err_set(err, ERR_INPUT, "the query, decoded, is not valid UTF-8");
    return 0;
}

/* ---- names ---- */

static int refuse_name(const char *name, const char *const *known, struct err *err)
{
    struct nearest n = { .wanted = name };
    for (; *known; known++)
        nearest_look(&n, *known);
    const char *word = nearest_word(&n);
    if (word)
        return err_set(err, ERR_INPUT, "there is no %.*s in this query; did you mean %s?", UTF8_SHOWN(name),
                       word);
    return err_set(err, ERR_INPUT, "there is no %.*s in this query", UTF8_SHOWN(name));
}

static int check_name(const struct query *q, const char *name, const char *const *known, struct err *err)
{
    if (query_value(q, name))
        return err_set(err, ERR_INPUT, "%.*s stands twice in the query", UTF8_SHOWN(name));
    for (const char *const *k = known; *k; k++)
        if (!strcmp(*k, name))
            return 0;
    return refuse_name(name, known, err);
}

static int read_pair(struct query *q, char *pair, const char *const *known, struct err *err)
{
    char *value = strchr(pair, '=');
    if (value)
        *value++ = '\0';
    else
        value = pair + strlen(pair);
    int rc = decode(pair, err);
    if (rc == 0)
        rc = check_name(q, pair, known, err);
    if (rc == 0)
        rc = decode(value, err);
    if (rc < 0)
        return rc;
    if (q->n == QUERY_MAX)
        return err_set(err, ERR_INPUT, "the query has more than %d names", QUERY_MAX);
    q->values[q->n++] = (struct query_value){ pair, value };
    return 0;
}

int query_read(struct query *q, const char *text, const char *const *known, struct arena *a, struct err *err)
{
    char *rest = arena_strdup(a, text), *pair;
    int rc = 0;
    q->n = 0;
    if (!rest)
        return err_set(err, ERR_NOMEM, "out of memory");
    while (rc == 0 && (pair = strsep(&rest, "&")))
        if (*pair)
            rc = read_pair(q, pair, known, err);
    return rc;
}

/* The name of a pair, which ends before `end`. */
static bool is_named(const char *pair, const char *end, const char *name)
{
    while (pair < end && *pair != '=') {
        int byte = next_byte(&pair);
        if (!byte || byte != (unsigned char)*name++)
            return false;
    }
    return !*name;
}

bool query_names(const char *text, const char *name)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "&");
        if (is_named(text, end, name))
            return true;
    }
    return false;
}

const char *query_value(const struct query *q, const char *name)
{
    for (int i = 0; i < q->n; i++)
        if (!strcmp(q->values[i].name, name))
            return q->values[i].value;
    return NULL;
}
