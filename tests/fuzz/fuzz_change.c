/* fuzz_change.c - any bytes as the body of a change: the first chooses which. What is let pass is
 * whole; all else is told with its place. */
#include "../../engine/base/utf8.h"
#include "../../engine/http/asked_change.h"
#include "../../engine/http/problem.h"
#include "fuzz.h"

static void look_at_problem(json_t *problem)
{
    json_t *error, *errors = json_object_get(problem, "errors");
    char *text = problem_text(json_incref(problem));
    size_t i;
    MUST(text && utf8_is_valid(text, strlen(text)));
    MUST(json_array_size(errors) > 0);
    json_array_foreach(errors, i, error) {
        const char *pointer = json_string_value(json_object_get(error, "pointer"));
        MUST(pointer && (!*pointer || *pointer == '/'));
        MUST(*json_string_value(json_object_get(error, "detail")));
    }
    free(text);
}

static void look_at_change(const struct asked_change *c)
{
    bool is_of_checks = c->kind <= CHANGE_RETRY;
    MUST(c->limit >= 1 && c->limit <= CHANGE_MOST);
    MUST(c->select.n <= QUERY_MAX);
    if (is_of_checks)
        MUST(c->is_select || (c->entity && c->key));
    MUST(c->has_time == (c->kind == CHANGE_RESCHEDULE));
    MUST(!c->reason || strlen(c->reason) <= 4096);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct asked_change asked;
    if (!size)
        return 0;
    json_t *body = json_loadb((const char *)data + 1, size - 1, JSON_REJECT_DUPLICATES, NULL);
    if (!body)
        return 0;
    struct arena *a = arena_new(1024);
    MUST(asked_change_read(&asked, (enum change_kind)(data[0] % CHANGE_KINDS), body, FUZZ_NOW, a) == 0);
    if (asked.problem)
        look_at_problem(asked.problem);
    else
        look_at_change(&asked);
    json_decref(asked.problem);
    json_decref(body);
    arena_free(a);
    return 0;
}
