/* token.h - tokens: what they look like, what is stored of them, and what each may do. The store
 * keeps a digest, by which one is recognized, and a public key; whoever reads both can neither make
 * the token nor a session of it. Pure. */
#ifndef PRESCIENT_HTTP_TOKEN_H
#define PRESCIENT_HTTP_TOKEN_H

#include <nettle/eddsa.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdint.h>

#define TOKEN_PREFIX "prescient_"

enum {
    TOKEN_RANDOM = 16,                                          /* random bytes */
    TOKEN_TEXT = sizeof TOKEN_PREFIX + 2 * TOKEN_RANDOM,        /* as it is sent, with a NUL */
    TOKEN_NAME = 64,                                            /* of its name, with a NUL */
    TOKEN_HASH = SHA256_DIGEST_SIZE,
    TOKEN_KEY = ED25519_KEY_SIZE,
    TOKEN_DIGITS = 2 * TOKEN_HASH + 1,                          /* of either as text */
};

/* Each may do what those before it may. */
enum token_role { ROLE_NONE, ROLE_READ, ROLE_ENQUEUE, ROLE_OPERATE, ROLES };

/* The least that somebody needs who asks. What says nothing is for `operate` alone. */
enum access { ACCESS_OPERATE, ACCESS_ENQUEUE, ACCESS_READ, ACCESS_ANYONE };

bool token_role_may(enum token_role role, enum access access);

extern const char *const token_roles[];         /* those that a token may have; ends with NULL */
const char *token_role_word(enum token_role role);
/* ROLE_NONE: it is none. */
enum token_role token_role_of(const char *word);

bool token_is_name(const char *name);

/* The token of these random bytes. */
void token_text(const uint8_t random[TOKEN_RANDOM], char out[TOKEN_TEXT]);
/* Whether it looks like one. */
bool token_is_text(const char *text);

/* What the store keeps of it. */
void token_hash(const char *token, uint8_t out[TOKEN_HASH]);
void token_session_key(const char *token, uint8_t out[TOKEN_KEY]);
/* The secret that belongs to that key: nobody without the token has it. */
void token_secret(const char *token, uint8_t out[TOKEN_KEY]);

/* The token of the header Authorization; false: it is no bearer token of ours. */
bool token_of_header(const char *authorization, char out[TOKEN_TEXT]);

#endif
