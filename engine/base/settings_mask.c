/* settings_mask.c - hides passwords. Better too much hidden than too little: a URL may well be
 * malformed. */
#include "settings_mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const secrets[] = { "password", "sslpassword", "oauth_client_secret", "scram_client_key",
                                       "scram_server_key" };

/* Other keywords of libpq: such a word begins a new setting, even after a password with blanks and
 * without quotes. */
static const char *const harmless[] = {
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "service",
    "passfile",
    "application_name",
    "fallback_application_name",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbsrvname",
    "load_balance_hosts",
    "options",
    "replication",
    "require_auth",
    "requirepeer",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "sslcert",
    "sslcompression",
    "sslcrl",
    "sslcrldir",
    "sslkey",
    "sslmode",
    "sslnegotiation",
    "sslrootcert",
    "sslsni",
    "target_session_attrs",
    "tcp_user_timeout",
};

struct masked { char *out; size_t size, len; };

static void put(struct masked *m, const char *text, size_t n)
{
    /* clang's analyzer takes snprintf's copy of a piece for shorter than it is */
    for (size_t i = 0; i < n && m->len + 1 < m->size; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
        m->out[m->len++] = text[i];
}

static bool is_one_of(const char *const *words, size_t n, const char *key, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == len && !strncasecmp(words[i], key, len))
            return true;
    return false;
}

static bool is_secret(const char *key, size_t len)
{
    return is_one_of(secrets, sizeof secrets / sizeof *secrets, key, len);
}
static bool is_harmless(const char *key, size_t len)
{
    return is_one_of(harmless, sizeof harmless / sizeof *harmless, key, len);
}

static void hide(struct masked *m) { put(m, "***", 3); }

/* Where the last '@' before any of `ends` stands; NULL: nowhere. */
static const char *last_at(const char *text, const char *ends)
{
    const char *found = NULL;
    for (size_t i = 0, n = strcspn(text, ends); i < n; i++)
        if (text[i] == '@')
            found = text + i;
    return found;
}

/* USER:PASSWORD@. A '/' that should have been %2F ends the host for libpq, but shows the password
 * all the same. */
static const char *mask_user(struct masked *m, const char *p)
{
    const char *at = last_at(p, "/");
    if (!at)
        at = last_at(p, "?");
    const char *colon = at ? memchr(p, ':', (size_t)(at - p)) : NULL;
    if (!colon)
        return p;
    put(m, p, (size_t)(colon + 1 - p));
    hide(m);
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
            hide(m);
        p += whole;
    }
}

static size_t blanks(const char *p)
{
    return strspn(p, " \t\r\n\v\f");
}

static bool ends_value(char c, bool quoted)
{
    return quoted ? c == '\'' : isspace((unsigned char)c);
}

/* The length of a value of a keyword string: 'it''s quoted' with \' inside, or up to a blank. */
static size_t value_size(const char *p)
{
    bool quoted = *p == '\'';
    size_t i = quoted;
    while (p[i] && !ends_value(p[i], quoted)) {
        if (p[i] == '\\' && p[i + 1])
            i++;
        i++;
    }
    return i + (quoted && p[i]);
}

/* Signs of a URL in what should be a plain word. */
static bool is_odd(const char *p, size_t n)
{
    return memchr(p, ':', n) || memchr(p, '@', n) || memchr(p, '/', n);
}

/* One word, `key = value` or key='value'; its length. Behind a secret everything is taken for its
 * rest until a known word comes. */
static size_t mask_word(struct masked *m, const char *p, bool *doubtful)
{
    size_t key = strcspn(p, "= \t\r\n\v\f"), equals = key + blanks(p + key);
    if (p[equals] != '=') {
        if (*doubtful || is_odd(p, key))
            hide(m);
        else
            put(m, p, key);
        return key;
    }
    size_t value = equals + 1 + blanks(p + equals + 1), end = value + value_size(p + value);
    bool secret = is_secret(p, key), known = is_harmless(p, key);
    if (!secret && !known && (*doubtful || is_odd(p, key))) {
        hide(m);
        return end;
    }
    put(m, p, secret ? value : end);
    if (secret)
        hide(m);
    *doubtful = secret || (*doubtful && !known);
    return end;
}

/* key = value key='value' */
static void mask_keywords(struct masked *m, const char *p)
{
    bool doubtful = false;
    while (*p) {
        size_t gap = blanks(p);
        put(m, p, gap);
        p += gap;
        p += *p ? mask_word(m, p, &doubtful) : 0;
    }
}

void settings_mask_url(const char *url, char *out, size_t size)
{
    struct masked m = { .out = out, .size = size };
    const char *scheme = strstr(url, "://");
    if (!strncmp(url, "sqlite:", 7)) {
        put(&m, url, strlen(url));
    } else if (scheme &&
               scheme ==
                   url + strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")) {
        put(&m, url, (size_t)(scheme + 3 - url));
        mask_query(&m, mask_user(&m, scheme + 3));
    } else {
        mask_keywords(&m, url);
    }
    if (size)
        out[m.len] = '\0';
}

/* Where the next piece in double quotes begins, behind its quote; *len is its length, up to the
 * end when it is never closed. */
static const char *next_quoted(const char *words, size_t *len)
{
    const char *quote = strchr(words, '"');
    *len = quote ? strcspn(quote + 1, "\"") : 0;
    return quote ? quote + 1 : NULL;
}

static void put_piece(struct masked *m, const char *piece, size_t len, const char *url, const char *shown)
{
    bool of_url = memmem(url, strlen(url), piece, len), is_shown = memmem(shown, strlen(shown), piece, len);
    if (of_url && !is_shown)
        hide(m);
    else
        put(m, piece, len);
}

/* What stands between two copies of the URL. */
static void mask_pieces(struct masked *m, const char *words, const char *url, const char *shown)
{
    const char *piece;
    for (size_t len; (piece = next_quoted(words, &len)); words = piece + len + (piece[len] == '"')) {
        put(m, words, (size_t)(piece - words));
        put_piece(m, piece, len, url, shown);
        put(m, "\"", piece[len] == '"');
    }
    put(m, words, strlen(words));
}

void settings_mask_words(const char *words, const char *url, char *out, size_t size)
{
    char shown[4097], part[4097];
    struct masked m = { .out = out, .size = size };
    settings_mask_url(url, shown, sizeof shown);
    for (const char *whole; *url && (whole = strstr(words, url)); words = whole + strlen(url)) {
        snprintf(part, sizeof part, "%.*s", (int)(whole - words), words);
        mask_pieces(&m, part, url, shown);
        put(&m, shown, strlen(shown));
    }
    mask_pieces(&m, words, url, shown);
    if (size)
        out[m.len] = '\0';
}
