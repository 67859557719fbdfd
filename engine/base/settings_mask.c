/* settings_mask.c - passwords out of what is shown. Better too much hidden than too little: a URL may well be malformed. */
#include "settings.h"

#include <ctype.h>
#include <string.h>

static const char *const secrets[] = { "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key" };

struct masked { char *out; size_t size, len; };

static void put(struct masked *m, const char *text, size_t n)
{
    for (size_t i = 0; i < n && m->len + 1 < m->size; i++)
        m->out[m->len++] = text[i];
}

static bool is_secret(const char *key, size_t len)
{
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (strlen(secrets[i]) == len && !strncasecmp(secrets[i], key, len))
            return true;
    return false;
}

/* Where the last '@' before any of `ends` stands; NULL: nowhere. */
static const char *last_at(const char *text, const char *ends)
{
    const char *found = NULL;
    for (size_t i = 0, n = strcspn(text, ends); i < n; i++)
        if (text[i] == '@')
            found = text + i;
    return found;
}

/* USER:PASSWORD@. A '/' that should have been %2F ends the host for libpq, but shows the password all the same. */
static const char *mask_user(struct masked *m, const char *p)
{
    const char *at = last_at(p, "/");
    if (!at)
        at = last_at(p, "?");
    const char *colon = at ? memchr(p, ':', (size_t)(at - p)) : NULL;
    if (!colon)
        return p;
    put(m, p, (size_t)(colon + 1 - p));
    put(m, "***", 3);
    return at;
}

/* ?key=value&key=value */
static void mask_query(struct masked *m, const char *p)
{
    size_t before = strcspn(p, "?");
    put(m, p, before);
    for (p += before; *p;) {
        put(m, p++, 1);                                 /* '?' or '&' */
        size_t key = strcspn(p, "=&"), whole = strcspn(p, "&");
        bool secret = p[key] == '=' && is_secret(p, key);
        put(m, p, secret ? key + 1 : whole);
        if (secret)
            put(m, "***", 3);
        p += whole;
    }
}

static size_t blanks(const char *p)
{
    return strspn(p, " \t\r\n\v\f");
}

/* The length of a value of a keyword string: 'it''s quoted' with \' inside, or up to a blank. */
static size_t value_size(const char *p)
{
    bool quoted = *p == '\'';
    size_t i = quoted;
    while (p[i] && (quoted ? p[i] != '\'' : !isspace((unsigned char)p[i])))
        i += p[i] == '\\' && p[i + 1] ? 2 : 1;
    return i + (quoted && p[i]);
}

/* key = value key='value' */
static void mask_keywords(struct masked *m, const char *p)
{
    while (*p) {
        size_t key = strcspn(p, "= \t\r\n\v\f"), equals = key + blanks(p + key);
        if (p[equals] != '=') {
            size_t step = equals ? equals : 1;
            put(m, p, step);
            p += step;
            continue;
        }
        size_t value = equals + 1 + blanks(p + equals + 1), end = value + value_size(p + value);
        bool secret = is_secret(p, key);
        put(m, p, secret ? value : end);
        if (secret)
            put(m, "***", 3);
        p += end;
    }
}

void settings_mask_url(const char *url, char *out, size_t size)
{
    struct masked m = { .out = out, .size = size };
    const char *scheme = strstr(url, "://");
    if (!strncmp(url, "sqlite:", 7)) {
        put(&m, url, strlen(url));
    } else if (scheme && scheme == url + strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")) {
        put(&m, url, (size_t)(scheme + 3 - url));
        mask_query(&m, mask_user(&m, scheme + 3));
    } else {
        mask_keywords(&m, url);
    }
    if (size)
        out[m.len] = '\0';
}
