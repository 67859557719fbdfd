/* hex.h - bytes as hexadecimal digits, and back. Pure. */
#ifndef PRESCIENT_HEX_H
#define PRESCIENT_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes 2 * `len` lower-case digits and a NUL. */
void hex_write(const uint8_t *bytes, size_t len, char *out);

/* Reads them back. False, with `out` in part filled: the text is not 2 * `len` such digits and
 * nothing else. */
bool hex_read(const char *text, uint8_t *out, size_t len);

#endif
