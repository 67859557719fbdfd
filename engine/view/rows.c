/* rows.c - what a cell of a report looks like, by the kind of its column: as text for people, as a
 * value in JSON. */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../base/cleanup.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/slot.h"

/* ---- one cell -------------------------------------------------------------------------------- */

static bool cell_number(const char *cell, int64_t *out)
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

/* A plain INSERT may file a check for a time behind all years. */
static const char *slot_text(int64_t at, char out[MOMENT_TEXT])
{
    if (at > MOMENT_MAX)
        return "never";
    return slot_is_of_pause(at) ? "paused" : moment_format(at, out);
}

/* A moment or duration as text; NULL when the cell is no number. */
static const char *cell_time(enum cell_kind kind, const char *cell, char out[MOMENT_TEXT])
{
    int64_t number;
    if (kind == CELL_MOMENT && !strcmp(cell, "Infinity"))
        return "never";
    if (!cell_number(cell, &number))
        return NULL;
    switch (kind) {
    case CELL_MOMENT: return slot_text(number, out);
    case CELL_MOMENT_US: return moment_format_us(number, out);
    case CELL_DURATION_US: return duration_format_us(number, out);
    default: return NULL;
    }
}

const char *rows_text(struct arena *a, enum cell_kind kind, const char *cell)
{
    char out[MOMENT_TEXT];
    if (!cell)
        return NULL;
    if (kind == CELL_BOOL)
        return cell_is_true(cell) ? "yes" : "no";
    const char *text = arena_strdup(a, cell_time(kind, cell, out));
    return text ? text : cell;
}

json_t *rows_json_text(const char *cell)
{
    if (utf8_is_valid(cell, strlen(cell)))
        return json_string(cell);
    CLEANUP(cleanup_free) char *wide = malloc(2 * strlen(cell) + 1);
    char *end = wide;
    if (!wide)
        return NULL;
    for (const unsigned char *s = (const unsigned char *)cell; *s; s++) {
        if (*s >= 0x80) {
            *end++ = (char)(0xc0 | *s >> 6);
            *end++ = (char)(0x80 | (*s & 0x3f));
        } else {
            *end++ = (char)*s;
        }
    }
    return json_stringn(wide, (size_t)(end - wide));
}

/* A cell that is no JSON becomes a string. jansson may report a lack of memory as a mistake in the
 * text, so a text that it refuses is parsed a second time. NULL when out of memory. */
static json_t *cell_json_parsed(const char *cell, size_t flags)
{
    json_error_t error = { 0 };
    json_t *value = json_loads(cell, flags, &error);
    if (!value)
        value = json_loads(cell, flags, &error);
    if (!value && json_error_code(&error) != json_error_out_of_memory)
        value = rows_json_text(cell);
    return value;
}

/* NULL when out of memory. */
static json_t *cell_json(enum cell_kind kind, const char *cell)
{
    char out[MOMENT_TEXT];
    const char *time = NULL;
    int64_t number;
    if (!cell)
        return json_null();
    switch (kind) {
    case CELL_BOOL: return json_boolean(cell_is_true(cell));
    case CELL_NUMBER:
    case CELL_DURATION_US:
        if (cell_number(cell, &number))
            return json_integer(number);
        return cell_json_parsed(cell, JSON_DECODE_ANY);
    case CELL_JSON: return cell_json_parsed(cell, JSON_DECODE_ANY | JSON_ALLOW_NUL);
    case CELL_MOMENT:
    case CELL_MOMENT_US: time = cell_time(kind, cell, out); break;
    case CELL_TEXT: break;
    }
    return rows_json_text(time ? time : cell);
}

/* ---- rows ------------------------------------------------------------------------------------ */

int rows_column(const struct store_rows *rows, const char *name)
{
    for (int c = 0; c < rows->columns; c++)
        if (!strcmp(rows->names[c], name))
            return c;
    return -1;
}

const char *rows_value(const struct store_rows *rows, int row, const char *name)
{
    int c = rows_column(rows, name);
    return c < 0 || row >= rows->rows ? NULL : rows->cells[row * rows->columns + c];
}

int64_t rows_number(const struct store_rows *rows, int row, const char *name)
{
    const char *cell = rows_value(rows, row, name);
    return cell ? strtoll(cell, NULL, 10) : 0;
}

bool rows_is_true(const struct store_rows *rows, int row, const char *name)
{
    const char *cell = rows_value(rows, row, name);
    return cell && cell_is_true(cell);
}

/* What is NULL in no row that is one: of the audit, where the entity may be; of the events of one
 * row; of slots. */
static int column_of_end(const struct store_rows *rows)
{
    static const char *const never_null[] = { "change", "entity_name", "event", "is_estimate" };
    int column = -1;
    for (size_t i = 0; column < 0 && i < sizeof never_null / sizeof *never_null; i++)
        column = rows_column(rows, never_null[i]);
    return column;
}

static const char *drop_end(struct store_rows *rows, int column)
{
    int last = rows->rows - 1;
    if (last < 0 || column < 0 || rows->cells[last * rows->columns + column])
        return NULL;
    rows->rows = last;
    return rows->cells[last * rows->columns];
}

const char *rows_drop_end(struct store_rows *rows)
{
    return drop_end(rows, column_of_end(rows));
}

static const char *text_of_end(struct arena *a, const struct store_rows *rows, const char *cell)
{
    return cell ? rows_text(a, rows->kinds[0], cell) : NULL;
}

const char *rows_take_end(struct arena *a, struct store_rows *rows)
{
    return text_of_end(a, rows, rows_drop_end(rows));
}

const char *rows_take_end_at(struct arena *a, struct store_rows *rows, const char *column)
{
    return text_of_end(a, rows, drop_end(rows, rows_column(rows, column)));
}

void rows_reverse(struct store_rows *rows)
{
    for (int first = 0, last = rows->rows - 1; first < last; first++, last--)
        for (int c = 0; c < rows->columns; c++) {
            const char **one = &rows->cells[first * rows->columns + c];
            const char **other = &rows->cells[last * rows->columns + c];
            const char *kept = *one;
            *one = *other;
            *other = kept;
        }
}

size_t rows_name_length(const char *name, enum cell_kind kind, bool as_text)
{
    size_t length = strlen(name);
    bool is_time = kind == CELL_MOMENT_US || (as_text && kind == CELL_DURATION_US);
    if (is_time && length > 3 && !strcmp(name + length - 3, "_us"))
        length -= 3;
    return length;
}

json_t *rows_object(const struct store_rows *rows, int row)
{
    json_t *object = json_object();
    for (int c = 0; object && c < rows->columns; c++) {
        char name[64];
        int length = (int)rows_name_length(rows->names[c], rows->kinds[c], false);
        snprintf(name, sizeof name, "%.*s", length, rows->names[c]);
        json_t *value = cell_json(rows->kinds[c], rows->cells[row * rows->columns + c]);
        if (json_object_set_new(object, name, value) == 0)
            continue;
        json_decref(object);
        return NULL;
    }
    return object;
}
