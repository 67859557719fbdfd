/* shown.c - which names say that their value is a secret is told by their words: a receiver may
 * call it what it likes. Secrets of the settings go first: of one that is hidden in part by a name
 * the rest would not be known any more. */
#include "shown.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Where the word of a name that begins at `at` ends: api-key, api_key, apiKey, key2. */
static size_t word_end(const char *name, size_t at, size_t len)
{
    size_t end = at;
    while (end < len && isalpha((unsigned char)name[end])) {
        bool is_hump = end > at && isupper((unsigned char)name[end]) && islower((unsigned char)name[end - 1]);
        if (is_hump)
            break;
        end++;
    }
    return end;
}

static bool is_among(const char *word, size_t len, const char *const *all)
{
    for (; *all; all++)
        if (strlen(*all) == len && !strncasecmp(word, *all, len))
            return true;
    return false;
}

/* Also of words that nobody has set apart: apikey, authtoken. */
static bool ends_with_one(const char *word, size_t len, const char *const *all)
{
    for (; *all; all++) {
        size_t n = strlen(*all);
        if (n <= len && !strncasecmp(word + len - n, *all, n))
            return true;
    }
    return false;
}

static bool holds_one(const char *word, size_t len, const char *const *all)
{
    for (size_t end = 1; end <= len; end++)
        if (ends_with_one(word, end, all))
            return true;
    return false;
}

/* Some words are part of others that name no secret: zipcode, keyboard, author. */
static bool is_secret_word(const char *word, size_t len)
{
    static const char *const whole[] = { "authorization", "authentication", "code", "authcode", "sig", NULL };
    static const char *const ends[] = { "auth", "key", "keys", "pass", NULL };
    static const char *const anywhere[] = { "apikey", "cookie", "credential", "passcode", "passphrase",
                                            "passwd", "password", "secret", "session", "signature",
                                            "token", NULL };
    return is_among(word, len, whole) || ends_with_one(word, len, ends) || holds_one(word, len, anywhere);
}

static bool is_idempotency_key(const char *name, size_t len)
{
    static const char plain[] = "Idempotency-Key";
    return len == strlen(plain) && !strncasecmp(name, plain, len);
}

bool shown_is_secret_name(const char *name, size_t len)
{
    if (is_idempotency_key(name, len))
        return false;
    for (size_t at = 0, end; at < len; at = end) {
        end = word_end(name, at, len);
        if (end > at && is_secret_word(name + at, end - at))
            return true;
        end += end == at;
    }
    return false;
}

/* ---- secrets of the settings ---- */

void shown_hide(const struct prescient_host *host, char *text)
{
    if (PRESCIENT_HAS(host, hide))
        host->hide(host, text);
}

/* To be freed; NULL: out of memory. */
static char *without_secrets(const struct prescient_host *host, const char *text)
{
    char *copy = strdup(text);
    if (copy)
        shown_hide(host, copy);
    return copy;
}

/* What is filled into such a URL leaves pieces of the secret that are too short to be known. */
static bool is_url_secret(const struct prescient_host *host)
{
    const char *url = host->setting(host, "url");
    char *hidden = without_secrets(host, url ? url : "");
    bool is = !hidden || !strcmp(hidden, "***");
    free(hidden);
    return is;
}

/* ---- parts of a request ---- */

/* From the question mark on. */
static void put_query(FILE *out, const char *query)
{
    while (*query) {
        size_t whole = 1 + strcspn(query + 1, "&#"), name = strcspn(query + 1, "=&#");
        bool has_value = name + 1 < whole;
        if (has_value && shown_is_secret_name(query + 1, name))
            fprintf(out, "%.*s=***", (int)(name + 1), query);
        else
            fprintf(out, "%.*s", (int)whole, query);
        query += whole;
    }
}

static void put_url(FILE *out, const char *url, bool hides_path)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t before = (size_t)(host - url) + strcspn(host, "/?#");
    size_t path = strcspn(url + before, "?#");
    if (hides_path) {
        fprintf(out, "%.*s/***", (int)before, url);
        return;
    }
    fprintf(out, "%.*s", (int)(before + path), url);
    put_query(out, url + before + path);
}

/* "Name: value"; as libcurl takes it, "Name;" has no value, and "Name:" is not sent. */
static void put_header(FILE *out, const char *line)
{
    size_t name = strcspn(line, ":;");
    bool is_empty = line[name] != ':';
    const char *value = line + name + !is_empty;
    value += strspn(value, " \t");
    if (is_empty)
        value = "";
    else if (!*value)
        return;
    if (*value && shown_is_secret_name(line, name))
        value = "***";
    fprintf(out, "%.*s: %s\n", (int)name, line, value);
}

/* 0, or -1: out of memory. */
static int put_head(FILE *out, const struct prescient_host *host, const struct flight *f,
                    const struct flight_request *request, bool hides_path)
{
    char *url = without_secrets(host, is_url_secret(host) ? "***" : request->url);
    if (!url)
        return -1;
    fprintf(out, "%s ", request->method);
    if (strcmp(url, "***") != 0)
        put_url(out, url, hides_path);
    else
        fputs(url, out);
    fputc('\n', out);
    free(url);
    for (const struct curl_slist *h = f->headers; h; h = h->next) {
        char *line = without_secrets(host, h->data);
        if (!line)
            return -1;
        put_header(out, line);
        free(line);
    }
    return 0;
}

/* Whole: who is shown it gets a string, which a NUL would end. */
static void put_body(FILE *out, const char *body, size_t len)
{
    const char *end = body + len;
    for (const char *nul; (nul = memchr(body, '\0', (size_t)(end - body))); body = nul + 1) {
        fwrite(body, 1, (size_t)(nul - body), out);
        fputs("\\x00", out);
    }
    fwrite(body, 1, (size_t)(end - body), out);
}

char *shown_request(const struct prescient_host *host, const struct flight *f,
                    const struct flight_request *request, bool hides_path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    bool is_whole = !put_head(out, host, f, request, hides_path);
    if (request->body) {
        fputc('\n', out);
        put_body(out, request->body, request->body_len);
        fputc('\n', out);
    }
    is_whole = is_whole && !ferror(out);
    if (fclose(out) || !is_whole) {
        free(text);
        return NULL;
    }
    return text;
}
