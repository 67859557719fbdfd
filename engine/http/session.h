/* session.h - what a browser has in a cookie once somebody has logged in with a token: until when,
 * and a signature (Ed25519) that only the token can make. Every server of the store checks it with
 * the token's public key, and none stores anything. Pure. */
#ifndef PRESCIENT_HTTP_SESSION_H
#define PRESCIENT_HTTP_SESSION_H

#include "token.h"

#define SESSION_COOKIE "prescient_session"

enum {
    SESSION_LASTS_S = 12 * 3600,
    SESSION_TOKEN = 16,             /* bytes of the token's digest, by which it is found */
    SESSION_RANDOM = 16,
    SESSION_SIGNED = SESSION_TOKEN + 8 + SESSION_RANDOM,
    SESSION_BYTES = SESSION_SIGNED + ED25519_SIGNATURE_SIZE,
    SESSION_TEXT = 2 * SESSION_BYTES + 1,
    SESSION_CSRF = 33,
};

/* The token it is of, until when in 8 bytes, random bytes, the signature of all that. */
struct session { uint8_t bytes[SESSION_BYTES]; };

void session_make(const char *token, int64_t until_s, const uint8_t random[SESSION_RANDOM],
                  struct session *out);
void session_text(const struct session *s, char out[SESSION_TEXT]);
/* The session of the header Cookie; false: it has none, or two of them. */
bool session_of_header(const char *cookie, struct session *out);

bool session_is_of(const struct session *s, const uint8_t hash[TOKEN_HASH]);
bool session_is_signed(const struct session *s, const uint8_t key[TOKEN_KEY]);
int64_t session_until_s(const struct session *s);
/* What a page of ours sends with each change, and a page of others cannot know. */
void session_csrf(const struct session *s, char out[SESSION_CSRF]);

#endif
