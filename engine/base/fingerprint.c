/* fingerprint.c - names of texts by their SHA-256: the same text has the same name everywhere. */
#include "fingerprint.h"

#include <string.h>

#include "hex.h"

/* Not snprintf, which would take a third of a key's time. */
void fingerprint_add_field(struct sha256_ctx *sha, const char *text)
{
    uint8_t length[24], *p = length + sizeof length;
    size_t size = strlen(text), left = size;
    *--p = ':';
    do {
        *--p = (uint8_t)('0' + left % 10);
        left /= 10;
    } while (left);
    sha256_update(sha, (size_t)(length + sizeof length - p), p);
    sha256_update(sha, size, (const uint8_t *)text);
}

void fingerprint_hex(struct sha256_ctx *sha, char *out, size_t size)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    size_t n = (size - 1) / 2;
    sha256_digest(sha, n, digest);
    hex_write(digest, n, out);
}

void fingerprint(const char *text, const char *more, char out[FINGERPRINT_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    /* with the NUL, so that ("a", "bc") is not ("ab", "c") */
    sha256_update(&sha, strlen(text) + 1, (const uint8_t *)text);
    if (more)
        sha256_update(&sha, strlen(more) + 1, (const uint8_t *)more);
    fingerprint_hex(&sha, out, FINGERPRINT_SIZE);
}

void fingerprint_checksum(const char *text, char out[CHECKSUM_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, strlen(text), (const uint8_t *)text);
    fingerprint_hex(&sha, out, CHECKSUM_SIZE);
}
