/* token.c - see token.h. */
#include "token.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/hex.h"

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

/* ---- the token ---- */

void token_text(const uint8_t random[TOKEN_RANDOM], char out[TOKEN_TEXT])
{
    memcpy(out, TOKEN_PREFIX, sizeof TOKEN_PREFIX);
    hex_write(random, TOKEN_RANDOM, out + sizeof TOKEN_PREFIX - 1);
}

bool token_is_text(const char *text)
{
    uint8_t random[TOKEN_RANDOM];
    size_t prefix = sizeof TOKEN_PREFIX - 1;
    return !strncmp(text, TOKEN_PREFIX, prefix) && hex_read(text + prefix, random, sizeof random);
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
