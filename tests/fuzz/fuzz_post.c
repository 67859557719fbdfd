/* fuzz_post.c - any bytes as the body of a request for a check, with and without the header for its
 * uniqid. What is let pass is a row that the store takes; all else is told with its place. */
#include "../../engine/base/utf8.h"
#include "../../engine/http/asked_check.h"
#include "../../engine/store/enqueue_check.h"
#include "fuzz.h"

static void look_at_problem(json_t *problem)
{
    json_t *errors = json_object_get(problem, "errors");
    char *text = problem_text(json_incref(problem));
    size_t i;
    json_t *error;
    MUST(text && utf8_is_valid(text, strlen(text)));
    json_array_foreach(errors, i, error) {
        const char *pointer = json_string_value(json_object_get(error, "pointer"));
        MUST(pointer && (!*pointer || *pointer == '/'));
        MUST(*json_string_value(json_object_get(error, "detail")));
    }
    free(text);
}

static void look_at_item(const struct post_item *item)
{
    struct err err;
    struct load_row row = item->row;
    MUST(row.entity_name && row.entity_key && row.job_exec && item->conflict);
    MUST(strlen(item->content) == POST_CONTENT_SIZE - 1);
    MUST(item->within_s >= 0);
    if (item->is_after)
        row.at = 900;
    MUST(enqueue_check_row(&row, &err) == 0);
}

static void read_body(const json_t *body, const char *header)
{
    struct arena *a = arena_new(1024);
    struct asked_check asked;
    MUST(asked_check_read(&asked, body, header, "", FUZZ_NOW, a) == 0);
    if (asked.problem)
        look_at_problem(asked.problem);
    else
        look_at_item(&asked.item);
    json_decref(asked.problem);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *body = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!body)
        return 0;
    read_body(body, NULL);
    read_body(body, "\"u-1\"");
    json_decref(body);
    return 0;
}
