/* asked_tokens.c - see asked_tokens.h. */
#include "asked_tokens.h"

#include "../view/rows.h"

enum { NAME, ROLE, HASH = 3, SESSION_KEY };     /* columns of the report `token_keys` */

static json_t *token_row(const struct store_rows *rows, int row)
{
    const char *const *cells = &rows->cells[row * rows->columns];
    return json_pack("[s, s, b, s, s]", cells[NAME], cells[ROLE], rows_is_true(rows, row, "is_in_force"),
                     cells[HASH], cells[SESSION_KEY]);
}

void asked_tokens_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct store_rows rows;
    struct store_hello hello;
    struct err err;
    (void)questions, (void)n;
    if (desk_rows(desk, "token_keys", NULL, 0, &rows, &err) < 0 || desk_hello(desk, &hello, &err) < 0) {
        desk_failed(desk, answers, &err);
        return;
    }
    json_t *list = json_array();
    for (int i = 0; list && i < rows.rows; i++)
        if (json_array_append_new(list, token_row(&rows, i)) < 0) {
            json_decref(list);
            list = NULL;            /* a part of it would refuse the others */
        }
    desk_answer(desk, answers, 200, json_pack("{s:o, s:b}", "tokens", list, "read_only", hello.read_only));
}
