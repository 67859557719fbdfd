/* token.c - see token.h. */
#include "token.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const token_roles[] = { "read", "enqueue", "operate", NULL };

bool token_role_may(enum token_role role, enum access access)
{
    static const enum token_role least[] = {
        [ACCESS_OPERATE] = ROLE_OPERATE, [ACCESS_ENQUEUE] = ROLE_ENQUEUE, [ACCESS_READ] = ROLE_READ,
        [ACCESS_ANYONE] = ROLE_NONE,
    };
    return role >= least[access];
}

const char *token_role_word(enum token_role role)
{
    return role == ROLE_NONE ? "none" : token_roles[role - ROLE_READ];
}

enum token_role token_role_of(const char *word)
{
    for (enum token_role role = ROLE_READ; role < ROLES; role++)
        if (!strcmp(token_roles[role - ROLE_READ], word))
            return role;
    return ROLE_NONE;
}

bool token_is_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t len = strspn(name, letters);
    return len && len < TOKEN_NAME && !name[len];
}

/* ---- digits ---- */

static const char digits[] = "0123456789abcdef";

void token_to_hex(const uint8_t *bytes, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

/* -1: it is none. */
static int digit_of(char c)
{
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool token_from_hex(const char *text, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int high = digit_of(text[2 * i]);
        int low = high < 0 ? -1 : digit_of(text[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return !text[2 * len];
}

/* ---- the token ---- */

void token_text(const uint8_t random[TOKEN_RANDOM], char out[TOKEN_TEXT])
{
    memcpy(out, TOKEN_PREFIX, sizeof TOKEN_PREFIX);
    token_to_hex(random, TOKEN_RANDOM, out + sizeof TOKEN_PREFIX - 1);
}

bool token_is_text(const char *text)
{
    uint8_t random[TOKEN_RANDOM];
    size_t prefix = sizeof TOKEN_PREFIX - 1;
    return !strncmp(text, TOKEN_PREFIX, prefix) && token_from_hex(text + prefix, random, sizeof random);
}

static void digest(const char *what, const char *token, uint8_t out[SHA256_DIGEST_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, strlen(what), (const uint8_t *)what);
    sha256_update(&sha, strlen(token), (const uint8_t *)token);
    sha256_digest(&sha, SHA256_DIGEST_SIZE, out);
}

void token_hash(const char *token, uint8_t out[TOKEN_HASH])
{
    digest("", token, out);
}

void token_secret(const char *token, uint8_t out[TOKEN_KEY])
{
    digest("prescient session of ", token, out);
}

void token_session_key(const char *token, uint8_t out[TOKEN_KEY])
{
    uint8_t secret[TOKEN_KEY];
    token_secret(token, secret);
    ed25519_sha512_public_key(out, secret);
    explicit_bzero(secret, sizeof secret);
}

bool token_of_header(const char *authorization, char out[TOKEN_TEXT])
{
    static const char scheme[] = "Bearer ";
    size_t len = sizeof scheme - 1;
    if (strncasecmp(authorization, scheme, len) != 0)
        return false;
    const char *token = authorization + len + strspn(authorization + len, " ");
    if (!token_is_text(token))
        return false;
    memcpy(out, token, TOKEN_TEXT);
    return true;
}
