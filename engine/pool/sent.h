/* sent.h - the settings as a worker is sent them. */
#ifndef PRESCIENT_SENT_H
#define PRESCIENT_SENT_H

#include <stddef.h>
#include "../base/err.h"
#include "../base/settings.h"

/* The settings as text, with the business database in place of the store. The caller frees *text,
 * also after a failure. */
int sent_print(const struct settings *s, char **text, size_t *len, struct err *err);

/* Sends the text over a worker's socket, in parts; `slab_fd` goes with the first. */
int sent_send(int sock, const char *text, size_t len, int slab_fd, struct err *err);

#endif
