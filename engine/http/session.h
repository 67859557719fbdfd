/* session.h - what a browser has in a cookie once somebody has logged in with a token: until when,
 * and a signature (Ed25519) that only the token can make. Every server of the store checks it with
 * the token's public key, and none stores anything. Pure. */
#ifndef PRESCIENT_HTTP_SESSION_H
#define PRESCIENT_HTTP_SESSION_H

#include "token.h"

#define SESSION_COOKIE "prescient_session"          /* its name begins so */

enum {
    SESSION_LASTS_S = 12 * 3600,
    SESSION_TOKEN = 16,             /* bytes of the token's digest, by which it is found */
    SESSION_RANDOM = 16,
    SESSION_SIGNED = SESSION_TOKEN + 8 + SESSION_RANDOM,
    SESSION_BYTES = SESSION_SIGNED + ED25519_SIGNATURE_SIZE,
    SESSION_TEXT = 2 * SESSION_BYTES + 1,
    SESSION_CSRF = 33,
    SESSION_NAME = sizeof SESSION_COOKIE + 6 + 200,             /* of the cookie, with a NUL */
    SESSION_SEVERAL = 4,            /* so many of one header are looked at */
};

/* The token it is of, until when in 8 bytes, random bytes, the signature of all that. */
struct session { uint8_t bytes[SESSION_BYTES]; };

void session_make(const char *token, int64_t until_s, const uint8_t random[SESSION_RANDOM],
                  struct session *out);
void session_text(const struct session *s, char out[SESSION_TEXT]);

/* The cookie's name. Cookies know no ports, and those of "/" are sent to "/shop", too: so the name
 * has the port of the header Host (NULL: there is none) and what paths begin with. It is the same
 * for all servers behind one proxy. */
void session_name(const char *host, const char *base_path, char out[SESSION_NAME]);
/* The sessions that the header Cookie has under this name, in its order; returns how many. There
 * may be more than one: those of other domains and paths. */
int session_of_header(const char *cookie, const char *name, struct session out[SESSION_SEVERAL]);

bool session_is_of(const struct session *s, const uint8_t hash[TOKEN_HASH]);
bool session_is_signed(const struct session *s, const uint8_t key[TOKEN_KEY]);
int64_t session_until_s(const struct session *s);
/* What a page of ours sends with each change, and a page of others cannot know. */
void session_csrf(const struct session *s, char out[SESSION_CSRF]);

#endif
