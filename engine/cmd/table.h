/* table.h - rows of cells in columns: aligned by display width, cut to the terminal's width,
 * control characters escaped. */
#ifndef PRESCIENT_TABLE_H
#define PRESCIENT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct table_column {
    const char *name;           /* NULL in the first column: no line of names */
    bool right;                 /* numbers */
    bool shrinks;               /* may be cut when the line is too long; a number or a moment may not */
};

/* Prints `rows` lines of `n` cells (cells[row * n + column], NULL shown as "-") below the line of
 * names. `width` is the terminal's, 0 for no limit. Returns 0, or -1 when out of memory. */
int table_print(FILE *out, const struct table_column *columns, int n, const char *const *cells, int rows,
                int width);

/* The width of the terminal at `fd`: its own, else COLUMNS, else 80. */
int table_terminal_width(int fd);

#endif
