/* table.c - rows of cells in columns. Widths are measured first; on a terminal the widest columns
 * of text are narrowed until the line fits, and a line that still does not fit loses columns at
 * its right. */
#include "table.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include "text.h"

#define GAP 2                   /* blanks between columns */
#define SHRUNK_LEAST 8          /* a column of text keeps as much */

static const char *cell_text(const char *cell)
{
    return cell ? cell : "-";
}

static void measure(const struct table_column *columns, int n, const char *const *cells, int rows,
                    int *widths)
{
    for (int c = 0; c < n; c++) {
        widths[c] = columns[0].name ? text_width(columns[c].name) : 0;
        for (int r = 0; r < rows; r++) {
            int w = text_width(cell_text(cells[r * n + c]));
            if (w > widths[c])
                widths[c] = w;
        }
    }
}

static int line_width(const int *widths, int n)
{
    int sum = 0;
    for (int c = 0; c < n; c++)
        sum += widths[c] + (c ? GAP : 0);
    return sum;
}

/* Takes from the widest column that may shrink, one column of the screen at a time, until the line
 * fits. */
static void shrink(const struct table_column *columns, int n, int *widths, int width)
{
    for (int over = line_width(widths, n) - width; over > 0; over--) {
        int widest = -1;
        for (int c = 0; c < n; c++)
            if (columns[c].shrinks && widths[c] > SHRUNK_LEAST && (widest < 0 || widths[c] > widths[widest]))
                widest = c;
        if (widest < 0)
            return;
        widths[widest]--;
    }
}

/* How many columns fit; at least one. */
static int fitting(const int *widths, int n, int width)
{
    while (n > 1 && line_width(widths, n) > width)
        n--;
    return n;
}

static void put_cell(FILE *out, const struct table_column *column, const char *cell, int width, bool last)
{
    int w = text_width(cell);
    int blanks = w < width ? width - w : 0;
    if (column->right)
        fprintf(out, "%*s", blanks, "");
    text_put(out, cell, width);
    if (!column->right && !last)
        fprintf(out, "%*s", blanks, "");
    fputs(last ? "\n" : "  ", out);
}

int table_print(FILE *out, const struct table_column *columns, int n, const char *const *cells, int rows,
                int width)
{
    if (n < 1)
        return 0;
    int *widths = calloc((size_t)n, sizeof *widths);
    if (!widths)
        return -1;
    measure(columns, n, cells, rows, widths);
    int shown = n;
    if (width > 0) {
        shrink(columns, n, widths, width);
        shown = fitting(widths, n, width);
        if (widths[0] > width)
            widths[0] = width;
    }
    for (int c = 0; columns[0].name && c < shown; c++)
        put_cell(out, &columns[c], columns[c].name, widths[c], c == shown - 1);
    for (int r = 0; r < rows && !ferror(out); r++)
        for (int c = 0; c < shown; c++)
            put_cell(out, &columns[c], cell_text(cells[r * n + c]), widths[c], c == shown - 1);
    free(widths);
    return 0;
}

int table_terminal_width(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width > 0 && width < 10000 ? (int)width : 80;
}
