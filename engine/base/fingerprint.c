/* fingerprint.c - a short name for a text: the first half of its SHA-256. What a text is called by then means the same to whoever meets the name. */
#include "fingerprint.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

void fingerprint(const char *text, const char *more, char out[FINGERPRINT_SIZE])
{
    struct sha256_ctx sha;
    uint8_t digest[(FINGERPRINT_SIZE - 1) / 2];
    sha256_init(&sha);
    sha256_update(&sha, strlen(text) + 1, (const uint8_t *)text);       /* with the NUL, so that ("a", "bc") is not ("ab", "c") */
    if (more)
        sha256_update(&sha, strlen(more) + 1, (const uint8_t *)more);
    sha256_digest(&sha, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
