/* report.c - rows of the store on their way out. The kind of a column decides how its cells look,
 * for people and in JSON. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/moment.h"
#include "../base/utf8.h"
#include "table.h"

#define BAR_WIDTH 8

/* ---- one cell -------------------------------------------------------------------------------- */

static bool number_read(const char *cell, int64_t *out)
{
    char *end;
    errno = 0;
    long long number = strtoll(cell, &end, 10);
    if (errno || end == cell || *end)
        return false;
    *out = number;
    return true;
}

static bool cell_is_true(const char *cell)
{
    return *cell == 't' || *cell == 'T' || *cell == '1' || *cell == 'y';
}

/* A moment or duration in words; NULL when the cell is no number. */
static const char *words_of_time(enum cell_kind kind, const char *cell, char out[MOMENT_TEXT])
{
    int64_t number;
    if (!number_read(cell, &number))
        return NULL;
    switch (kind) {
    case CELL_MOMENT: return moment_format(number, out);
    case CELL_MOMENT_US: return moment_format_us(number, out);
    case CELL_DURATION_US: return duration_format_us(number, out);
    default: return NULL;
    }
}

const char *report_words(struct arena *a, enum cell_kind kind, const char *cell)
{
    char out[MOMENT_TEXT];
    if (!cell)
        return NULL;
    if (kind == CELL_BOOL)
        return cell_is_true(cell) ? "yes" : "no";
    const char *words = words_of_time(kind, cell, out);
    const char *kept = words ? arena_strdup(a, words) : NULL;
    return kept ? kept : cell;
}

/* Text that is not UTF-8 (SQLite takes any bytes) cannot be a JSON string: its bytes are shown as
 * Latin-1 letters. */
static json_t *json_text(const char *cell)
{
    json_t *string;
    if (utf8_is_valid(cell, strlen(cell)))
        return json_string(cell);
    char *wide = malloc(2 * strlen(cell) + 1), *w = wide;
    if (!wide)
        return NULL;
    for (const unsigned char *s = (const unsigned char *)cell; *s; s++) {
        if (*s >= 0x80) {
            *w++ = (char)(0xc0 | *s >> 6);
            *w++ = (char)(0x80 | (*s & 0x3f));
        } else {
            *w++ = (char)*s;
        }
    }
    string = json_stringn(wide, (size_t)(w - wide));
    free(wide);
    return string;
}

/* What is no JSON is text; NULL when out of memory. jansson may call a want of memory a mistake in
 * the text, so what it refuses is asked twice. */
static json_t *json_parsed(const char *cell, size_t flags)
{
    json_error_t error = { 0 };
    json_t *value = json_loads(cell, flags, &error);
    if (!value)
        value = json_loads(cell, flags, &error);
    return value || json_error_code(&error) == json_error_out_of_memory ? value : json_text(cell);
}

/* NULL when out of memory. */
static json_t *json_cell(enum cell_kind kind, const char *cell)
{
    char out[MOMENT_TEXT];
    int64_t number;
    if (!cell)
        return json_null();
    if (kind == CELL_BOOL)
        return json_boolean(cell_is_true(cell));
    if (kind == CELL_NUMBER || kind == CELL_DURATION_US)
        return number_read(cell, &number) ? json_integer(number) : json_parsed(cell, JSON_DECODE_ANY);
    if (kind == CELL_JSON)
        return json_parsed(cell, JSON_DECODE_ANY | JSON_ALLOW_NUL);
    const char *words = kind == CELL_MOMENT || kind == CELL_MOMENT_US ? words_of_time(kind, cell, out) : NULL;
    return json_text(words ? words : cell);
}

/* ---- rows ------------------------------------------------------------------------------------ */

int report_column(const struct store_rows *rows, const char *name)
{
    for (int c = 0; c < rows->columns; c++)
        if (!strcmp(rows->names[c], name))
            return c;
    return -1;
}

const char *report_value(const struct store_rows *rows, int row, const char *name)
{
    int c = report_column(rows, name);
    return c < 0 || row >= rows->rows ? NULL : rows->cells[row * rows->columns + c];
}

int64_t report_number(const struct store_rows *rows, int row, const char *name)
{
    const char *cell = report_value(rows, row, name);
    return cell ? strtoll(cell, NULL, 10) : 0;
}

const char *report_take_end(struct arena *a, struct store_rows *rows)
{
    int last = rows->rows - 1;
    if (last < 0 || report_column(rows, "entity_name") < 0 || report_value(rows, last, "entity_name"))
        return NULL;
    rows->rows = last;
    return report_words(a, rows->kinds[0], rows->cells[last * rows->columns]);
}

/* A moment is printed as words, so its name loses the unit: run_at_us is shown as run_at. So do
 * durations in a table. */
static size_t shown_length(const char *name, enum cell_kind kind, bool in_table)
{
    size_t len = strlen(name);
    bool worded = kind == CELL_MOMENT_US || (in_table && kind == CELL_DURATION_US);
    return worded && len > 3 && !strcmp(name + len - 3, "_us") ? len - 3 : len;
}

json_t *report_object(const struct store_rows *rows, int row)
{
    json_t *object = json_object();
    int rc = 0;
    for (int c = 0; object && c < rows->columns; c++) {
        char name[64];
        size_t len = shown_length(rows->names[c], rows->kinds[c], false);
        snprintf(name, sizeof name, "%.*s", (int)len, rows->names[c]);
        rc |= json_object_set_new(object, name,
                                  json_cell(rows->kinds[c], rows->cells[row * rows->columns + c]));
    }
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

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
    if (report_made(app, object) && json_dumpf(object, app->out, flags) && !ferror(app->out))
        app->was_short = true;
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
        report_print_object(app, report_object(rows, r));
}

static void print_json(struct app *app, const struct store_rows *rows)
{
    fputc('[', app->out);
    for (int r = 0; r < rows->rows && !ferror(app->out); r++) {
        fputs(r ? ",\n" : "\n", app->out);
        object_dump(app, report_object(rows, r));
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
    *out = (struct pick){ .column = report_column(rows, name) };
    if (named < len)
        out->label = arena_strndup(a, word + named + 1, len - named - 1);
    return out->column >= 0;
}

/* What the view shows of the rows; `picked` has room for all columns and a bar. */
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
    int bar = view->bar && app->terminal ? report_column(rows, view->bar) : -1;
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
        int64_t number = report_number(rows, r, name);
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
                                          : arena_strndup(a, name, shown_length(name, kind, true));
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
        return bar_draw(app->arena, report_number(rows, row, view->bar), most);
    const char *words = report_words(app->arena, rows->kinds[column],
                                     rows->cells[row * rows->columns + column]);
    bool is_estimate = view->estimated && !strcmp(rows->names[column], view->estimated) &&
                       report_number(rows, row, "is_estimate");
    return is_estimate && words ? arena_printf(app->arena, "~%s", words) : words;
}

static void print_table(struct app *app, const struct store_rows *rows, const struct report_view *view)
{
    struct arena *a = app->arena;
    struct pick *picked = arena_alloc(a, sizeof *picked * (size_t)(rows->columns + 1));
    int n = picked ? pick_columns(app, rows, view, picked) : 0;
    const char **cells = arena_alloc(a, sizeof *cells * (size_t)rows->rows * (size_t)n);
    const struct table_column *columns = table_columns(a, rows, picked, n);
    if (!picked || !cells || !columns)
        return;                         /* the arena remembers */
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

int app_report(struct app *app, const char *name, const char *const *params, int nparams,
               const char *when_empty)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (app_rows(app, name, params, nparams, &rows, &err) < 0)
        return app_fail(app, &err);
    report_print(app, &rows, &(struct report_view){ .when_empty = when_empty });
    return EXIT_WELL;
}
