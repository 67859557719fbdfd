/* asked_request.c - see asked_request.h. */
#include "asked_request.h"

#include <stdlib.h>

#include "../base/moment.h"
#include "../base/utf8.h"

enum { OUTCOME, CHECK_ID, FILED_AT, MADE_AT, KEPT_UNTIL };     /* columns of the report `request` */

static int64_t number(const struct store_rows *rows, int column)
{
    const char *cell = rows->cells[column];
    return cell ? strtoll(cell, NULL, 10) : 0;
}

static json_t *request_object(const char *uniqid, const struct store_rows *rows)
{
    char at[MOMENT_TEXT], made[MOMENT_TEXT], until[MOMENT_TEXT];
    moment_format(number(rows, FILED_AT), at);
    moment_format(number(rows, MADE_AT), made);
    moment_format(number(rows, KEPT_UNTIL), until);
    return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s}", "uniqid", uniqid, "outcome", rows->cells[OUTCOME],
                     "id", (json_int_t)number(rows, CHECK_ID), "check_at", at, "made_at", made,
                     "kept_until", until);
}

static void refuse(struct desk *desk, struct answer *answer, enum problem_type type, const char *detail)
{
    desk_refuse(desk, answer, type, detail ? problem_new(type, detail) : NULL);
}

static void look_up(struct desk *desk, const char *uniqid, struct answer *answer)
{
    struct store_rows rows;
    struct err err;
    if (desk_rows(desk, "request", &uniqid, 1, &rows, &err) < 0) {
        desk_failed(desk, answer, &err);
        return;
    }
    if (rows.rows) {
        desk_answer(desk, answer, 200, request_object(uniqid, &rows));
        return;
    }
    const char *detail = arena_printf(desk->arena, "no request with the uniqid '%.*s' was taken, or it is no "
                                                   "longer remembered", UTF8_SHOWN(uniqid));
    refuse(desk, answer, PROBLEM_NOT_FOUND, detail);
}

void asked_request_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    static const char *const known[] = { "uniqid", NULL };
    struct query query;
    (void)n;
    if (!desk_query(desk, questions, known, &query, answers))
        return;
    const char *uniqid = query_value(&query, "uniqid");
    if (uniqid && *uniqid)
        look_up(desk, uniqid, answers);
    else
        refuse(desk, answers, PROBLEM_BAD_REQUEST, "the query lacks uniqid: GET /v1/requests?uniqid=...");
}
