/* signature.h - Standard Webhooks signatures: HMAC-SHA256 over "ID.TIMESTAMP.BODY", in base64.
 * https://www.standardwebhooks.com */
#ifndef PRESCIENT_WEBHOOK_SIGNATURE_H
#define PRESCIENT_WEBHOOK_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

enum {
    SIGNATURE_SECRET_MIN = 16, SIGNATURE_SECRET_MAX = 64,       /* bytes of a key */
    SIGNATURE_SIZE = 3 + 44 + 1,                                /* "v1,", 44 digits and NUL */
};

struct signature_key { uint8_t bytes[SIGNATURE_SECRET_MAX]; size_t len; };

/* Reads "whsec_" and a key in base64. 0, or -1: it is none. */
int signature_read_key(const char *secret, struct signature_key *out);

/* Writes "v1," and the signature. */
void signature_write(const struct signature_key *key, const char *id, int64_t timestamp, const void *body,
                     size_t len, char out[SIGNATURE_SIZE]);

#endif
