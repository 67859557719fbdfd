/* bytes.h - bytes that come in at the end and are taken from the beginning: what was read from a
 * socket, what is still to be written to one. All zero: none. */
#ifndef PRESCIENT_BYTES_H
#define PRESCIENT_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct bytes {
    char *data;                     /* owned; NULL: nothing was ever put there */
    size_t len, room;
};

/* Each adds at the end. False: there is no memory, and nothing was added. */
bool bytes_add(struct bytes *b, const void *data, size_t len);
bool bytes_add_text(struct bytes *b, const char *text);
bool bytes_printf(struct bytes *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Room for so many more bytes at `data + len`; whoever writes them adds to `len`. NULL: there is no
 * memory. */
char *bytes_reserve(struct bytes *b, size_t more);

/* Takes the first ones away. What has become large, and is empty or small then, gives its memory
 * back. */
void bytes_take(struct bytes *b, size_t len);

void bytes_free(struct bytes *b);   /* it is empty then, and may be used again */

#endif
