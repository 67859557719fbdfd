/* hex.c - see hex.h. */
#include "hex.h"

static const char digits[] = "0123456789abcdef";

void hex_write(const uint8_t *bytes, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

/* -1: it is none. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hex_read(const char *text, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int high = digit_of(text[2 * i]);
        int low = high < 0 ? -1 : digit_of(text[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return !text[2 * len];
}
