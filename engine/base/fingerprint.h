/* fingerprint.h - SHA-256 as hexadecimal digits: short names for texts, and checksums. */
#ifndef PRESCIENT_FINGERPRINT_H
#define PRESCIENT_FINGERPRINT_H

#include <nettle/sha2.h>
#include <stddef.h>

#define FINGERPRINT_SIZE 33                             /* with the NUL */
#define CHECKSUM_SIZE (2 * SHA256_DIGEST_SIZE + 1)      /* with the NUL */

/* A short name for a text that no other text has: the first half of the SHA-256 of both texts;
 * `more` may be NULL. */
void fingerprint(const char *text, const char *more, char out[FINGERPRINT_SIZE]);

/* The whole SHA-256 of a text, as sha256sum prints it. */
void fingerprint_checksum(const char *text, char out[CHECKSUM_SIZE]);

/* Adds a text with its length in front, so that no two lists of fields read alike. */
void fingerprint_add_field(struct sha256_ctx *sha, const char *text);

/* Ends `sha` and writes as many of its digits as fit into `size` bytes with a NUL: whole bytes of
 * it, so `size` is odd. */
void fingerprint_hex(struct sha256_ctx *sha, char *out, size_t size);

#endif
