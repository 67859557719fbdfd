/* fuzz_guest.c - any bytes as the headers Authorization, Cookie, Origin and Host, and as the list
 * of tokens: what is taken for a token or a session is one, and nobody is let in who has none of
 * the list. */
#include "../../engine/base/hex.h"
#include "../../engine/http/browser.h"
#include "fuzz.h"

static const char known[] = "prescient_00000000000000000000000000000001";

static void look_at_token(const char *header)
{
    char token[TOKEN_TEXT];
    if (!token_of_header(header, token))
        return;
    MUST(token_is_text(token) && strlen(token) == TOKEN_TEXT - 1 && strstr(header, token));
}

static void look_at_session(const char *header)
{
    struct session all[SESSION_SEVERAL], again[SESSION_SEVERAL];
    char text[SESSION_TEXT], cookie[sizeof SESSION_COOKIE + SESSION_TEXT];
    int n = session_of_header(header, SESSION_COOKIE, all);
    for (int i = 0; i < n; i++) {
        session_text(&all[i], text);
        MUST(strstr(header, text));
        snprintf(cookie, sizeof cookie, SESSION_COOKIE "=%s", text);
        MUST(session_of_header(cookie, SESSION_COOKIE, again) == 1);
        MUST(!memcmp(&all[i], again, sizeof *again));
    }
}

/* A list that has only our token; and one that is made of the bytes. */
static void look_at_gate(const char *header)
{
    static struct gate g;
    uint8_t hash[TOKEN_HASH], key[TOKEN_KEY];
    char list[400], hash_text[TOKEN_DIGITS], key_text[TOKEN_DIGITS];
    struct gate_visit visit = { .came_us = 1 };
    struct err err;
    token_hash(known, hash);
    token_session_key(known, key);
    hex_write(hash, sizeof hash, hash_text);
    hex_write(key, sizeof key, key_text);
    int n = snprintf(list, sizeof list, "{\"tokens\":[[\"shop\",\"read\",true,\"%s\",\"%s\"]]}", hash_text,
                     key_text);
    MUST(gate_take(&g, list, (size_t)n, 1, &err) == 0);
    enum gate_rc rc = gate_judge(&g, &(struct gate_asks){ .authorization = header }, 2, 1, &visit);
    MUST(rc != GATE_LETS_IN || strstr(header, known));
    rc = gate_judge(&g, &(struct gate_asks){ .cookie = header, .cookie_name = SESSION_COOKIE }, 2, 1, &visit);
    MUST(rc != GATE_LETS_IN || visit.guest.by == BY_SESSION);
    gate_take(&g, header, strlen(header), 2, &err);
    MUST(g.n <= GATE_TOKENS && g.is_closed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    char *host = strchr(text, '\n');
    look_at_token(text);
    look_at_session(text);
    look_at_gate(text);
    if (host) {
        *host++ = '\0';
        char name[SESSION_NAME];
        session_name(host, text, name);
        MUST(!strncmp(name, SESSION_COOKIE, strlen(SESSION_COOKIE)) && !strchr(name, '/'));
        MUST(!browser_is_ours(text, host) || strchr(text, ':'));
    }
    free(text);
    return 0;
}
