/* session.c - see session.h. */
#include "session.h"

#include <nettle/memops.h>
#include <stdio.h>
#include <string.h>

#include "../base/hex.h"

/* What is signed begins with this, so that no signature stands for anything else. */
static const char purpose[] = "prescient session 1 ";

enum { PURPOSE = sizeof purpose - 1 };

static void message_of(const struct session *s, uint8_t out[PURPOSE + SESSION_SIGNED])
{
    memcpy(out, purpose, PURPOSE);
    memcpy(out + PURPOSE, s->bytes, SESSION_SIGNED);
}

void session_make(const char *token, int64_t until_s, const uint8_t random[SESSION_RANDOM],
                  struct session *out)
{
    uint8_t hash[TOKEN_HASH], key[TOKEN_KEY], secret[TOKEN_KEY], message[PURPOSE + SESSION_SIGNED];
    token_hash(token, hash);
    token_secret(token, secret);
    ed25519_sha512_public_key(key, secret);
    memcpy(out->bytes, hash, SESSION_TOKEN);
    for (int i = 0; i < 8; i++)
        out->bytes[SESSION_TOKEN + i] = (uint8_t)((uint64_t)until_s >> (56 - 8 * i));
    memcpy(out->bytes + SESSION_TOKEN + 8, random, SESSION_RANDOM);
    message_of(out, message);
    ed25519_sha512_sign(key, secret, sizeof message, message, out->bytes + SESSION_SIGNED);
    explicit_bzero(secret, sizeof secret);
}

void session_text(const struct session *s, char out[SESSION_TEXT])
{
    hex_write(s->bytes, sizeof s->bytes, out);
}

bool session_is_of(const struct session *s, const uint8_t hash[TOKEN_HASH])
{
    return memeql_sec(s->bytes, hash, SESSION_TOKEN);
}

bool session_is_signed(const struct session *s, const uint8_t key[TOKEN_KEY])
{
    uint8_t message[PURPOSE + SESSION_SIGNED];
    message_of(s, message);
    return ed25519_sha512_verify(key, sizeof message, message, s->bytes + SESSION_SIGNED);
}

int64_t session_until_s(const struct session *s)
{
    uint64_t until = 0;
    for (int i = 0; i < 8; i++)
        until = until << 8 | s->bytes[SESSION_TOKEN + i];
    return (int64_t)until;
}

void session_csrf(const struct session *s, char out[SESSION_CSRF])
{
    static const char what[] = "prescient csrf ";
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, sizeof what - 1, (const uint8_t *)what);
    sha256_update(&sha, sizeof s->bytes, s->bytes);
    sha256_digest(&sha, sizeof digest, digest);
    hex_write(digest, (SESSION_CSRF - 1) / 2, out);
}

/* ---- the header ---- */

void session_name(const char *host, const char *base_path, char out[SESSION_NAME])
{
    const char *port = host ? strrchr(host, ':') : NULL;
    bool has_port = port && port[1] && !strchr(port, ']');      /* not the end of "[::1]" */
    char *to = out + snprintf(out, SESSION_NAME, SESSION_COOKIE);
    if (has_port)
        to += snprintf(to, 7, "_%.5s", port + 1);
    snprintf(to, (size_t)(out + SESSION_NAME - to), "%s", base_path);
    for (; *to; to++)
        if (*to == '/')             /* a name may not have it */
            *to = '.';
}

/* The value of one "name=value" of `len` bytes, if it is ours. */
static bool take_pair(const char *pair, size_t len, const char *name, struct session *out)
{
    char text[SESSION_TEXT];
    size_t value = strlen(name) + 1;
    if (len != value + SESSION_TEXT - 1 || strncmp(pair, name, value - 1) != 0 || pair[value - 1] != '=')
        return false;
    memcpy(text, pair + value, SESSION_TEXT - 1);
    text[SESSION_TEXT - 1] = '\0';
    return hex_read(text, out->bytes, sizeof out->bytes);
}

int session_of_header(const char *cookie, const char *name, struct session out[SESSION_SEVERAL])
{
    int n = 0;
    for (const char *at = cookie; *at && n < SESSION_SEVERAL; ) {
        at += strspn(at, " ;");
        size_t len = strcspn(at, "; ");
        n += take_pair(at, len, name, &out[n]);
        at += len;
    }
    return n;
}
