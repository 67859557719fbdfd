/* delivery_id.c - see delivery_id.h. */
#include "delivery_id.h"

#include "../rules/field.h"
#include "../rules/idempotency.h"
#include "rows.h"

void delivery_ids(struct arena *a, struct store_rows *rows)
{
    int id = rows_column(rows, "id"), of = rows_column(rows, "delivery");
    for (int r = 0; id >= 0 && of >= 0 && r < rows->rows; r++) {
        const char **cells = rows->cells + (size_t)r * (size_t)rows->columns;
        char key[IDEMPOTENCY_KEY_SIZE];
        if (!cells[of])
            continue;
        idempotency_key(&(struct idempotency){ .entity_name = DELIVERY_ENTITY, .entity_key = cells[of] },
                        key);
        cells[id] = arena_strdup(a, key);
    }
}
