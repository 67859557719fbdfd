/* fuzz_answer.c - any bytes as an answer object. What is taken has effects that pass their own
 * checks, with data that the parser reads, from inside of the text; what is refused has words. Then
 * the document of a check with these bytes for a name and, if they are JSON, for its data. */
#include <jansson.h>

#include "../../engine/base/utf8.h"
#include "../../engine/rules/answer_object.h"
#include "../../engine/rules/delivery.h"
#include "../../engine/rules/field.h"
#include "fuzz.h"

static const int64_t now = 1772370900;

static void check_taken(const struct answer_object *o, const char *text, size_t len)
{
    struct err err;
    MUST(o->kind <= ANSWER_FAIL_FINAL && (o->words != NULL) == (o->kind >= ANSWER_FAIL));
    MUST(o->neffects >= 0 && o->neffects <= ANSWER_EFFECTS_MAX);
    for (int i = 0; i < o->neffects; i++) {
        const char *json = o->effects[i].json;
        MUST(effect_check(&o->effects[i], &err) == 0);
        MUST(!json || (json >= text && json + strlen(json) <= text + len));
    }
}

static void check_document(const char *name, const char *data)
{
    struct err err;
    struct delivery d = { .type = "check", .id = "", .entity_name = name, .entity_key = name, .job = name,
                          .data = field_check_payload("data", data, &err) == 0 ? data : NULL };
    char *json = malloc(delivery_size(&d));
    MUST(json && delivery_write(&d, json) < delivery_size(&d) && !strpbrk(json, "\r\n"));
    json_t *object = json_loads(json, 0, NULL);
    MUST(object && json_object_size(object) == 10);
    json_decref(object);
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct answer_object o;
    struct err err = { 0 };
    MUST(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    check_document(text, text);
    if (answer_object_read(text, size, now, true, &o, &err) == 0) {
        check_taken(&o, text, size);
        answer_object_release(&o);
    } else {
        MUST(err.code == ERR_INPUT && err.text[0] && utf8_is_valid(err.text, strlen(err.text)));
    }
    free(text);
    return 0;
}
