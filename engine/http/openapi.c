/* openapi.c - see openapi.h. */
#include "openapi.h"

#include <string.h>

const char *openapi_text(struct arena *a, const char *base_path)
{
    return arena_printf(a, "%s%s%s", openapi_before, base_path ? base_path : "/", openapi_behind);
}

void openapi_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    static const char *const known[] = { NULL };
    struct query query;
    (void)n;
    if (!desk_query(desk, questions, known, &query, answers))
        return;
    const char *text = openapi_text(desk->arena, desk->settings->base_path);
    if (!text) {
        desk_refuse(desk, answers, PROBLEM_AWAY, NULL);
        return;
    }
    *answers = (struct answer){ .status = 200, .content = CONTENT_JSON, .body = text,
                                .body_len = (uint32_t)strlen(text) };
}
