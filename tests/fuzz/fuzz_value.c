/* fuzz_value.c - one setting as text, as flags and variables bring it: every row of the table,
 * every type. What is accepted is written in a form that a settings file reads back to the same; a
 * URL's password is never shown. */
#include <stdbool.h>

#include "../../engine/base/settings_table.h"
#include "../../engine/base/settings_load.h"
#include "../../engine/base/settings_mask.h"
#include "../../engine/base/settings_value.h"
#include "fuzz.h"

static const struct setting_row *row_at(unsigned n)
{
    unsigned rows = 0, job_rows = 0;
    while (settings_rows[rows].name)
        rows++;
    while (settings_job_rows[job_rows].name)
        job_rows++;
    n %= rows + job_rows;
    return n < rows ? &settings_rows[n] : &settings_job_rows[n - rows];
}

struct read { union { int64_t number; void *pointer; int list[64]; } field; int count; };

static char *written(const struct setting_row *row, const struct read *value)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool is_set = settings_put_value(row, &value->field, value->count, true, out);
    fclose(out);
    if (is_set)
        return text;
    free(text);
    return NULL;
}

/* NAME = VALUE as a file says it; a setting that must agree with others may be refused for those
 * alone. */
static size_t field_size(enum setting_type type)
{
    static const size_t sizes[] = {
        [SETTING_TEXT] = sizeof(const char *),
        [SETTING_URL] = sizeof(const char *),
        [SETTING_WORD] = sizeof(const char *),
        [SETTING_BOOL] = sizeof(bool),
        [SETTING_INT] = sizeof(int32_t),
        [SETTING_SIZE] = sizeof(int64_t),
        [SETTING_DURATION_US] = sizeof(int64_t),
        [SETTING_DURATION_S] = sizeof(int64_t),
        [SETTING_MINUTES] = sizeof(int[60]),
        [SETTING_TEXTS] = sizeof(const char **),
    };
    return sizes[type];
}

static void read_back(const struct setting_row *row, const char *value)
{
    struct settings s;
    struct err err = { 0 };
    char *file = NULL, *again;
    if (asprintf(&file, "%s = %s;\n", row->name, value) < 0)
        abort();
    if (settings_row(row->name, false) == row && settings_parse(&s, file, "fuzz", &err) == 0) {
        struct read found = { 0 };
        if (row->type == SETTING_MINUTES || row->type == SETTING_TEXTS)
            found.count = *(int *)((char *)&s + row->count);
        memcpy(&found.field, settings_field(row, &s, NULL), field_size(row->type));
        again = written(row, &found);
        MUST(again && !strcmp(again, value));
        free(again);
        settings_release(&s);
    } else {
        MUST(settings_row(row->name, false) != row || strstr(err.text, "expected less than") ||
             strstr(err.text, "expected at most"));
    }
    free(file);
}

static void mask(const char *text)
{
    for (size_t room = 1; room < 64; room += 21) {
        char *shown = malloc(room);
        settings_mask_url(text, shown, room);
        MUST(strlen(shown) < room);
        free(shown);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(1024);
    const struct setting_row *row = row_at(input_u8(&in));
    struct read found = { 0 };
    size_t len;
    const struct setting_value value = { .text = input_bytes(&in, in.left, a, &len) };
    int rc = settings_read_value(row, &value, &found.field, &found.count, a);
    MUST(rc == 0 || rc == ERR_SETTINGS);
    MUST(*settings_found(row, &value, a) && *settings_expected(row, a));
    char *text = rc == 0 ? written(row, &found) : NULL;
    if (text)
        read_back(row, text);
    free(text);
    mask(value.text);
    arena_free(a);
    return 0;
}
