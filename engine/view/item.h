/* item.h - rows of a report as other programs get them over HTTP: with the names of the API, and
 * without columns that are not for them. */
#ifndef PRESCIENT_ITEM_H
#define PRESCIENT_ITEM_H

#include "rows.h"

/* Gives the columns of the rows the names that the API has: entity_name is entity, as in a POST. */
void item_rename(struct store_rows *rows);
/* Leaves a column out; nothing happens where there is none of that name. */
void item_leave_out(struct store_rows *rows, const char *column);
/* The texts of a column are JSON; nothing happens where there is none of that name. */
void item_is_json(struct store_rows *rows, const char *column);
/* Says where a look has ended that has not seen all, as "scanned_to"; NULL: it has seen all, and
 * nothing is said. Takes the reference to the object. Returns it, or NULL when out of memory, also
 * where the object is NULL. */
json_t *item_tell_end(json_t *object, const char *scanned_to);
/* Rows as an array of objects. The caller's to decref; NULL when out of memory. */
json_t *item_array(const struct store_rows *rows);

#endif
