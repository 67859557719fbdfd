/* report.c - prints the rows of a report: as a table, or as JSON with --json. */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../view/json_text.h"
#include "table.h"
#include "telling.h"

#define BAR_WIDTH 8

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *report_made(struct app *app, json_t *made)
{
    app->was_short |= !made;
    return made;
}

void report_added(struct app *app, int rc)
{
    app->was_short |= rc != 0;
}

static void object_dump(struct app *app, json_t *object)
{
    /* no C1 control, no reordering on a terminal */
    size_t flags = JSON_COMPACT | (app->terminal ? JSON_ENSURE_ASCII : 0);
    char *text = report_made(app, object) ? json_text(object, flags) : NULL;
    if (text)
        fputs(text, app->out);
    else
        app->was_short = true;
    free(text);
    json_decref(object);
}

void report_print_object(struct app *app, json_t *object)
{
    object_dump(app, object);
    fputc('\n', app->out);
}

void report_print_lines(struct app *app, const struct store_rows *rows)
{
    for (int r = 0; r < rows->rows && !ferror(app->out); r++)
        report_print_object(app, rows_object(rows, r));
}

static void print_json(struct app *app, const struct store_rows *rows)
{
    fputc('[', app->out);
    for (int r = 0; r < rows->rows && !ferror(app->out); r++) {
        fputs(r ? ",\n" : "\n", app->out);
        object_dump(app, rows_object(rows, r));
    }
    fputs(rows->rows ? "\n]\n" : "]\n", app->out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define BAR (-1)                /* in place of a column: the bar of the column before it */

struct pick { int column; const char *label; };         /* label NULL: the column's name */

/* One word of a view's columns, "name" or "name=label"; returns how many picks that is, 0 when
 * there is no such column. */
static int pick_word(struct arena *a, const struct store_rows *rows, const char *word, size_t len,
                     struct pick *out)
{
    char name[64];
    size_t named = strcspn(word, "= ");
    snprintf(name, sizeof name, "%.*s", (int)named, word);
    *out = (struct pick){ .column = rows_column(rows, name) };
    if (named < len)
        out->label = arena_strndup(a, word + named + 1, len - named - 1);
    return out->column >= 0;
}

/* The columns that the view shows; `picked` has room for all of them and a bar. */
static int pick_columns(struct app *app, const struct store_rows *rows, const struct report_view *view,
                        struct pick *picked)
{
    int n = 0;
    for (int c = 0; !view->columns && c < rows->columns; c++)
        picked[n++] = (struct pick){ .column = c };
    for (const char *w = view->columns; w && *w && n < rows->columns; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        n += pick_word(app->arena, rows, w, len, &picked[n]);
        w += len;
    }
    int bar = view->bar && app->terminal ? rows_column(rows, view->bar) : -1;
    for (int i = 0; bar >= 0 && i < n; i++)
        if (picked[i].column == bar) {
            memmove(picked + i + 2, picked + i + 1, sizeof *picked * (size_t)(n - i - 1));
            picked[i + 1] = (struct pick){ .column = BAR };
            return n + 1;
        }
    return n;
}

static const char *bar_draw(struct arena *a, int64_t number, int64_t most)
{
    static const char *const eighths[] = { "",       "\u258f", "\u258e", "\u258d",
                                           "\u258c", "\u258b", "\u258a", "\u2589" };
    int units = most > 0 && number > 0 ? (int)((double)number / (double)most * BAR_WIDTH * 8 + 0.5) : 0;
    if (number > 0 && units == 0)
        units = 1;
    char *bar = arena_alloc(a, BAR_WIDTH * 3 + 8), *b = bar;
    if (!bar)
        return "";
    *b = '\0';
    for (int i = 0; i < units / 8; i++)
        b = stpcpy(b, "\u2588");
    stpcpy(b, eighths[units % 8]);
    return bar;
}

static int64_t largest(const struct store_rows *rows, const char *name)
{
    int64_t most = 0;
    for (int r = 0; r < rows->rows; r++) {
        int64_t number = rows_number(rows, r, name);
        most = number > most ? number : most;
    }
    return most;
}

static const struct table_column *table_columns(struct arena *a, const struct store_rows *rows,
                                                const struct pick *picked, int n)
{
    struct table_column *columns = arena_zalloc(a, sizeof *columns * (size_t)n);
    for (int i = 0; columns && i < n; i++) {
        if (picked[i].column == BAR) {
            columns[i].name = "";
            continue;
        }
        enum cell_kind kind = rows->kinds[picked[i].column];
        const char *name = rows->names[picked[i].column];
        columns[i].name = picked[i].label ? picked[i].label
                                          : arena_strndup(a, name, rows_name_length(name, kind, true));
        columns[i].right = kind == CELL_NUMBER || kind == CELL_DURATION_US;
        columns[i].shrinks = kind == CELL_TEXT || kind == CELL_JSON;
    }
    return columns;
}

/* `most` is what a whole bar stands for. */
static const char *shown_cell(struct app *app, const struct store_rows *rows, const struct report_view *view,
                              int64_t most, int row, int column)
{
    if (column == BAR)
        return bar_draw(app->arena, rows_number(rows, row, view->bar), most);
    bool is_due = view->due && !strcmp(rows->names[column], view->due);
    const char *text = telling_cell(app, rows->kinds[column], rows->cells[row * rows->columns + column],
                                    is_due);
    bool is_estimate = view->estimated && !strcmp(rows->names[column], view->estimated) &&
                       rows_number(rows, row, "is_estimate");
    return is_estimate && text ? arena_printf(app->arena, "~%s", text) : text;
}

static void print_table(struct app *app, const struct store_rows *rows, const struct report_view *view)
{
    struct arena *a = app->arena;
    struct pick *picked = arena_alloc(a, sizeof *picked * (size_t)(rows->columns + 1));
    int n = picked ? pick_columns(app, rows, view, picked) : 0;
    const char **cells = arena_alloc(a, sizeof *cells * (size_t)rows->rows * (size_t)n);
    const struct table_column *columns = table_columns(a, rows, picked, n);
    if (!picked || !cells || !columns)
        return; /* arena_was_short() reports it */
    int64_t most = view->bar ? largest(rows, view->bar) : 0;
    for (int r = 0; r < rows->rows; r++)
        for (int i = 0; i < n; i++)
            cells[r * n + i] = shown_cell(app, rows, view, most, r, picked[i].column);
    report_added(app, table_print(app->out, columns, n, cells, rows->rows,
                                  app->terminal ? table_terminal_width(STDOUT_FILENO) : 0));
}

void report_print(struct app *app, const struct store_rows *rows, const struct report_view *view)
{
    if (app->json)
        print_json(app, rows);
    else if (rows->rows)
        print_table(app, rows, view);
    else if (view->when_empty)
        fprintf(app->out, "%s\n", view->when_empty);
}

void report_print_pairs(struct app *app, const char *const (*pairs)[2], int n)
{
    static const struct table_column columns[] = { { 0 }, { .shrinks = true } };
    report_added(app, table_print(app->out, columns, 2, &pairs[0][0], n,
                                  app->terminal ? table_terminal_width(STDOUT_FILENO) : 0));
}
