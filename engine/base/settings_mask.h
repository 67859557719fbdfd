/* settings_mask.h - hides passwords in what is shown. */
#ifndef PRESCIENT_SETTINGS_MASK_H
#define PRESCIENT_SETTINGS_MASK_H

#include <stddef.h>

/* A URL with its password replaced by "***", into `out`; for logs and `config --print`. */
void settings_mask_url(const char *url, char *out, size_t size);

/* A message of another program about a URL, say libpq's, in which all that it quotes of the URL is
 * hidden but for what settings_mask_url shows. */
void settings_mask_words(const char *words, const char *url, char *out, size_t size);

#endif
