/* signature.c - nettle's HMAC and base64, in the order of the specification. */
#include "signature.h"

#include <inttypes.h>
#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <string.h>

int signature_read_key(const char *secret, struct signature_key *out)
{
    static const char prefix[] = "whsec_";
    uint8_t bytes[BASE64_DECODE_LENGTH(128)];
    struct base64_decode_ctx ctx;
    if (strncmp(secret, prefix, strlen(prefix)) != 0)
        return -1;
    const char *digits = secret + strlen(prefix);
    size_t n = strlen(digits), len = sizeof bytes;
    if (n > 128)
        return -1;
    base64_decode_init(&ctx);
    if (!base64_decode_update(&ctx, &len, bytes, n, digits) || !base64_decode_final(&ctx))
        return -1;
    if (len < SIGNATURE_SECRET_MIN || len > SIGNATURE_SECRET_MAX)
        return -1;
    memcpy(out->bytes, bytes, len);
    out->len = len;
    explicit_bzero(bytes, sizeof bytes);
    return 0;
}

void signature_write(const struct signature_key *key, const char *id, int64_t timestamp, const void *body,
                     size_t len, char out[SIGNATURE_SIZE])
{
    struct hmac_sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char moment[32];
    int n = snprintf(moment, sizeof moment, ".%" PRId64 ".", timestamp);
    hmac_sha256_set_key(&ctx, key->len, key->bytes);
    hmac_sha256_update(&ctx, strlen(id), (const uint8_t *)id);
    hmac_sha256_update(&ctx, (size_t)n, (const uint8_t *)moment);
    hmac_sha256_update(&ctx, len, body);
    hmac_sha256_digest(&ctx, sizeof digest, digest);
    memcpy(out, "v1,", 3);
    base64_encode_raw(out + 3, sizeof digest, digest);
    out[SIGNATURE_SIZE - 1] = '\0';
}
