/* fuzz_terms.c - any text as terms: what is read is written and reads back as the same, and its
 * rule can be used: the next slot goes forward, and missed ones are judged. */
#include "../../engine/base/utf8.h"
#include "../../engine/rules/terms.h"
#include "fuzz.h"

static struct zone *utc;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return zone_read("UTC", &utc, NULL);
}

static void use(const struct recurrence *r, struct input *in)
{
    static const int32_t lengths[] = { 1, 60, 900, 86400 };
    struct recurrence_grid grid = { utc, lengths[input_u8(in) % 4] };
    int64_t from = 1 + (int64_t)input_number(in, 4), late_s = (int64_t)input_number(in, 3);
    int64_t slot = recurrence_first(r, &grid, from);
    MUST(slot > from && slot % grid.slot_length_s == 0);
    MUST(r->is_cron || slot <= from + r->every_s + grid.slot_length_s);
    struct recurrence_verdict v = recurrence_judge(r, &grid, slot, slot + late_s);
    MUST(v.runs ? v.nominal == slot : v.nominal > slot);
    MUST(v.passed_over >= 0 && v.passed_over <= RECURRENCE_COUNT_MAX && (v.runs || v.passed_over > 0));
    struct recurrence_run run = { slot, slot + late_s, slot + late_s + 5 };
    int64_t next = recurrence_after(r, &grid, &run);
    MUST(next > slot && next % grid.slot_length_s == 0);
    MUST(r->missed == RECURRENCE_RUN_ALL || next > run.began_at);
    MUST(r->is_cron || next >= run.ended_at + r->every_s - recurrence_bias_s(r));
    struct recurrence_run asked_for = { slot, slot / 2, slot / 2 };
    next = recurrence_after(r, &grid, &asked_for);
    MUST(r->is_cron ? next == slot : next > asked_for.began_at && next % grid.slot_length_s == 0);
    MUST(r->is_cron || recurrence_becomes_s(r, grid.slot_length_s) >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(1024);
    struct terms t, again;
    struct err err = { 0 };
    char out[TERMS_MAX + 1], twice[TERMS_MAX + 1];
    struct input numbers = { data, size < 8 ? size : 8 };
    size_t len;
    input_i64(&in);
    const char *text = input_bytes(&in, in.left, a, &len);
    if (terms_parse(text, &t, &err) < 0) {
        MUST(err.code == ERR_INPUT && err.text[0]);
    } else {
        MUST(terms_parse(terms_print(&t, out), &again, NULL) == 0);
        MUST(!strcmp(out, terms_print(&again, twice)));
        MUST(utf8_is_valid(out, strlen(out)));
        if (!t.has_event)
            use(&t.recurrence, &numbers);
    }
    arena_free(a);
    return 0;
}
