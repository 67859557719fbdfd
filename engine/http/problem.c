/* problem.c - see problem.h. */
#include "problem.h"

#include <stdio.h>
#include <stdlib.h>

#include "../view/json_text.h"

struct row {
    int status;
    const char *type, *title;
};

#define PROBLEM_ROW(id, status, type, title) [PROBLEM_##id] = { status, PROBLEM_BASE type, title },
static const struct row rows[] = { PROBLEMS(PROBLEM_ROW) };
#undef PROBLEM_ROW

int problem_status(enum problem_type type)
{
    return rows[type].status;
}

uint16_t problem_retry_s(enum problem_type type)
{
    enum { RETRY_S = 1 };
    return type == PROBLEM_AWAY || type == PROBLEM_TOO_MANY ? RETRY_S : 0;
}

const char *problem_title(enum problem_type type)
{
    return rows[type].title;
}

json_t *problem_new(enum problem_type type, const char *detail)
{
    const struct row *row = &rows[type];
    return json_pack("{s:s, s:s, s:i, s:s}", "type", row->type, "title", row->title, "status", row->status,
                     "detail", detail);
}

int problem_add(json_t *problem, const char *pointer, const char *detail)
{
    json_t *errors = json_object_get(problem, "errors");
    if (!errors && json_object_set_new(problem, "errors", errors = json_array()) < 0)
        return -1;
    return json_array_append_new(errors, json_pack("{s:s, s:s}", "pointer", pointer, "detail", detail));
}

char *problem_text(json_t *problem)
{
    char *json = problem ? json_text(problem, JSON_COMPACT) : NULL, *text;
    json_decref(problem);
    int len = json ? asprintf(&text, "%s\n", json) : -1;
    free(json);
    return len < 0 ? NULL : text;
}
