/* item.c - see item.h. */
#include "item.h"

#include <string.h>

static const struct {
    const char *column, *name;
} names[] = {
    { "entity_name", "entity" },     { "entity_key", "key" }, { "job_exec", "job" },
    { "next_check_at", "check_at" }, { "slot_at", "slot" },
};

static const char *name_of(const char *column)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].column, column))
            return names[i].name;
    return column;
}

void item_rename(struct store_rows *rows)
{
    for (int c = 0; c < rows->columns; c++)
        rows->names[c] = name_of(rows->names[c]);
}

void item_leave_out(struct store_rows *rows, const char *column)
{
    int left = rows_column(rows, column), cells = 0;
    if (left < 0)
        return;
    for (int i = 0; i < rows->rows * rows->columns; i++)
        if (i % rows->columns != left)
            rows->cells[cells++] = rows->cells[i];
    rows->columns--;
    for (int c = left; c < rows->columns; c++) {
        rows->names[c] = rows->names[c + 1];
        rows->kinds[c] = rows->kinds[c + 1];
    }
}

void item_is_json(struct store_rows *rows, const char *column)
{
    int c = rows_column(rows, column);
    if (c >= 0)
        rows->kinds[c] = CELL_JSON;
}

json_t *item_tell_end(json_t *object, const char *scanned_to)
{
    if (!object || !scanned_to || json_object_set_new(object, "scanned_to", json_string(scanned_to)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *item_array(const struct store_rows *rows)
{
    json_t *array = json_array();
    for (int row = 0; array && row < rows->rows; row++) {
        if (json_array_append_new(array, rows_object(rows, row)) == 0)
            continue;
        json_decref(array);
        return NULL;
    }
    return array;
}
