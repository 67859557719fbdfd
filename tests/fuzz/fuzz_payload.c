/* fuzz_payload.c - any bytes as the JSON of a check or of an effect. What our checks let pass,
 * SQLite's constraint takes, too: a payload that only the database refuses would cost the page
 * that it is settled with a second try. */
#include <sqlite3.h>

#include "../../engine/base/utf8.h"
#include "../../engine/rules/effect.h"
#include "../../engine/store/enqueue_check.h"
#include "fuzz.h"

static sqlite3_stmt *constraint;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static sqlite3 *db;
    (void)argc, (void)argv;
    MUST(sqlite3_open(":memory:", &db) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(db, "SELECT json_valid(?1) AND instr(?1, char(0)) = 0", -1, &constraint, NULL) ==
         SQLITE_OK);
    return 0;
}

static bool database_takes(const char *json)
{
    MUST(sqlite3_bind_text(constraint, 1, json, -1, SQLITE_STATIC) == SQLITE_OK);
    MUST(sqlite3_step(constraint) == SQLITE_ROW);
    bool takes = sqlite3_column_int(constraint, 0) == 1;
    sqlite3_reset(constraint);
    return takes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(1024);
    struct err err = { 0 };
    size_t len;
    char *json = input_bytes(&in, in.left, a, &len);
    const struct load_row row = {
        .entity_name = "orders", .entity_key = "42", .job_exec = "late", .payload = json, .at = 900
    };
    const struct effect effect = { .kind = EFFECT_EMIT, .event = "late", .json = json };
    int rc = enqueue_check_row(&row, &err);
    struct err wrong = { 0 };
    int effect_rc = effect_check(&effect, &wrong);
    MUST(rc == 0 || (rc == ERR_INPUT && err.text[0]));
    MUST(effect_rc == 0 || utf8_is_valid(wrong.text, strlen(wrong.text)));
    if (rc == 0 || effect_rc == 0)
        MUST(utf8_is_valid(json, strlen(json)) && database_takes(json));
    arena_free(a);
    return 0;
}
