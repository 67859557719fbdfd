/* utf8.h - whether bytes are valid text, and where text may be cut. */
#ifndef PRESCIENT_UTF8_H
#define PRESCIENT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `len` bytes are well-formed UTF-8 that every database takes: shortest forms only, no
 * surrogates, nothing past U+10FFFF, and no NUL byte. No bytes at all are valid. */
bool utf8_is_valid(const char *s, size_t len);

/* How many of the first bytes are such text: all `len` of them, or those in front of the first
 * that is not. */
size_t utf8_valid_bytes(const char *s, size_t len);

/* How many of `len` bytes to keep so that no more than `max` remain and no character is cut in
 * two. */
size_t utf8_cut(const char *s, size_t len, size_t max);

/* For "%.*s" in an error: at most 80 bytes of what a user wrote. */
#define UTF8_SHOWN(s) (int)utf8_cut((s), __builtin_strlen(s), 80), (s)

#endif
