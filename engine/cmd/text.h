/* text.h - text of others on its way to a terminal: control characters become visible escapes,
 * widths are those on the screen. */
#ifndef PRESCIENT_TEXT_H
#define PRESCIENT_TEXT_H

#include <stdio.h>

/* Columns that `text` takes on a terminal when text_put writes it. */
int text_width(const char *text);

/* Writes `text` in at most `most` columns (0: all of it) and returns the columns used. Control
 * characters, characters that reorder or hide others, and bytes that are not UTF-8 appear as \n,
 * \x1b, \u202e. What does not fit ends with an ellipsis. */
int text_put(FILE *out, const char *text, int most);

#endif
