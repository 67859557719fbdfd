/* contract_enqueue.c - the store's contract: checks put in, moved and resolved by applications;
 * what is refused; bulk load. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_contract.h"

/* ---- the slot -------------------------------------------------------------------------------- */

void a_time_rounds_up_to_its_slot(void)
{
    WITH_STORE();
    TEXT_IS("new +1", put("1", SLOT + 1, "keep", BEFORE));
    TEXT_IS("new +1", put("2", SLOT + 899, "keep", BEFORE));
}

void a_time_on_the_boundary_stays(void)
{
    WITH_STORE();
    TEXT_IS("new +0", put("1", SLOT, "keep", SLOT - 1));
    TEXT_IS("new +4", put("2", SLOT + 4 * LENGTH, "keep", NOW));
}

void a_time_in_the_past_goes_to_the_next_slot(void)
{
    WITH_STORE();
    TEXT_IS("new +1", put("1", SLOT - 86400, "keep", NOW));
    TEXT_IS("new +1", put("2", 0, "keep", NOW));
}

void nothing_is_put_into_a_slot_that_has_begun(void)
{
    WITH_STORE();
    TEXT_IS("new +1", put("1", SLOT, "keep", SLOT));        /* begun this very second */
    TEXT_IS("new +1", put("2", NOW, "keep", NOW));
    TEXT_IS("new +1", put("3", SLOT, "keep", SLOT + 899));
}

void without_now_the_clock_of_the_database_counts(void)
{
    WITH_STORE();
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    put("1", 1, "keep", 0);
    int64_t now = hello.now_us / 1000000, at = number("list", "1", "next_check_at");
    CU_ASSERT(at > now && at <= now + LENGTH + 60);
}

/* ---- enqueued again -------------------------------------------------------------------------- */

void keep_leaves_what_is_pending(void)
{
    WITH_STORE();
    put_any("orders", "1", "look", "{\"n\": 1}", "keep", SLOT + 4 * LENGTH, NOW);
    TEXT_IS("kept +4", put_any("orders", "1", "look", "{\"n\": 2}", "keep", SLOT + 2 * LENGTH, NOW));
    /* keep is the default */
    TEXT_IS("kept +4", put_any("orders", "1", "look", NULL, NULL, SLOT + 6 * LENGTH, NOW));
    CU_ASSERT_PTR_NOT_NULL(strstr(value("list", "1", "payload"), "1"));
    IS(1, rows_in("list"));
}

void earlier_only_moves_to_an_earlier_slot(void)
{
    WITH_STORE();
    put("1", SLOT + 4 * LENGTH, "keep", NOW);
    TEXT_IS("kept +4", put("1", SLOT + 5 * LENGTH, "earlier", NOW));
    TEXT_IS("kept +4", put("1", SLOT + 4 * LENGTH, "earlier", NOW));
    TEXT_IS("moved +2", put("1", SLOT + 2 * LENGTH, "earlier", NOW));
    IS(SLOT + 2 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 4 * LENGTH, number("list", "1", "first_check_at"));
}

void replace_starts_a_new_life(void)
{
    WITH_STORE();
    put_any("orders", "1", "look", "{\"n\": 1}", "keep", SLOT + 4 * LENGTH, NOW);
    TEXT_IS("replaced +6", put_any("orders", "1", "look", "{\"n\": 2}", "replace", SLOT + 6 * LENGTH, NOW));
    IS(SLOT + 6 * LENGTH, number("list", "1", "first_check_at"));
    CU_ASSERT_PTR_NOT_NULL(strstr(value("list", "1", "payload"), "2"));
    IS(1, rows_in("list"));
    TEXT_IS("replaced +1", put("1", SLOT, "replace", NOW));
    TEXT_IS("NULL", value("list", "1", "payload"));
}

void keep_beside_a_running_check_is_remembered(void)
{
    WITH_STORE();
    put("1", SLOT, "keep", BEFORE);
    TEXT_IS("NULL", value("list", "1", "again_at"));
    TEXT_IS("kept +3", put("1", SLOT + 3 * LENGTH, "keep", NOW));
    TEXT_IS("kept +3", put("1", SLOT + 2 * LENGTH, "keep", NOW));
    IS(SLOT, number("list", "1", "next_check_at"));
    IS(SLOT + 3 * LENGTH, number("list", "1", "again_at"));
}

void earlier_beside_a_running_check_keeps_the_earlier_wish(void)
{
    WITH_STORE();
    put("1", SLOT, "keep", BEFORE);
    TEXT_IS("kept +3", put("1", SLOT + 3 * LENGTH, "earlier", NOW));
    TEXT_IS("kept +3", put("1", SLOT + 4 * LENGTH, "earlier", NOW));
    TEXT_IS("kept +2", put("1", SLOT + 2 * LENGTH, "earlier", NOW));
    IS(SLOT, number("list", "1", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "1", "again_at"));
}

void replace_of_a_running_check_takes_it_out_of_its_slot(void)
{
    WITH_STORE();
    put("1", SLOT, "keep", BEFORE);
    put("1", SLOT + 3 * LENGTH, "keep", NOW);
    TEXT_IS("replaced +2", put("1", SLOT + 2 * LENGTH, "replace", NOW));
    IS(SLOT + 2 * LENGTH, number("list", "1", "next_check_at"));
    TEXT_IS("NULL", value("list", "1", "again_at"));
}

void checks_of_other_jobs_and_rows_do_not_meet(void)
{
    WITH_STORE();
    TEXT_IS("new +1", put_any("orders", "1", "look", NULL, "keep", NOW, NOW));
    TEXT_IS("new +1", put_any("orders", "1", "bill", NULL, "keep", NOW, NOW));
    TEXT_IS("new +1", put_any("invoices", "1", "look", NULL, "keep", NOW, NOW));
    TEXT_IS("new +1", put_any("ordersx", "1", "look", NULL, "keep", NOW, NOW));
    IS(4, rows_in("list"));
}

/* ---- resolve and reschedule ------------------------------------------------------------------ */

void resolve_ends_all_checks_of_a_row(void)
{
    WITH_STORE();
    put_any("orders", "1", "look", NULL, "keep", NOW, NOW);
    put_any("orders", "1", "bill", NULL, "keep", NOW, NOW);
    put_any("orders", "2", "look", NULL, "keep", NOW, NOW);
    TEXT_IS("2", resolve("1"));
    TEXT_IS("0", resolve("1"));
    IS(1, rows_in("list"));
    IS(2, rows_in("history"));
    TEXT_IS("resolved", value("history", "1", "outcome"));
    TEXT_IS("NULL", value("history", "1", "guard"));
    TEXT_IS("0", value("history", "1", "run_count"));
    IS(SLOT + LENGTH, number("history", "1", "slot_at"));
    IS(NOW * 1000000, number("history", "1", "ended_at_us"));
}

void resolve_of_one_job_leaves_the_others(void)
{
    WITH_STORE();
    put_any("orders", "1", "look", NULL, "keep", NOW, NOW);
    put_any("orders", "1", "bill", NULL, "keep", NOW, NOW);
    struct store_rows rows = REPORT("resolve", "orders", "1", "look", NULL);
    TEXT_IS("1", cell(&rows, 0, "resolved"));
    TEXT_IS("bill", value("list", "1", "job_exec"));
}

void resolve_without_a_row_is_refused(void)
{
    WITH_STORE();
    IS(-1, REPORT("resolve", NULL, "1", NULL, NULL).rows);
    IS(ERR_INPUT, fixture_err.code);
    IS(-1, REPORT("resolve", "orders", NULL, NULL, NULL).rows);
    IS(ERR_INPUT, fixture_err.code);
}

void reschedule_starts_a_new_life_with_the_same_payload(void)
{
    WITH_STORE();
    put_with("1", "{\"n\": 1}", 7);
    TEXT_IS("moved +5", reschedule("1", SLOT + 4 * LENGTH + 1, NOW));
    IS(SLOT + 5 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 5 * LENGTH, number("list", "1", "first_check_at"));
    TEXT_IS("7", value("list", "1", "priority"));
    CU_ASSERT_PTR_NOT_NULL(strstr(value("list", "1", "payload"), "1"));
    TEXT_IS("moved +1", reschedule("1", SLOT, NOW));
}

void reschedule_of_nothing_says_not_found(void)
{
    WITH_STORE();
    TEXT_IS("not_found", reschedule("1", SLOT, NOW));
    IS(0, rows_in("list"));
}

/* ---- values ---------------------------------------------------------------------------------- */

static char *letters(int n)
{
    char *text = malloc((size_t)n + 1);
    memset(text, 'x', (size_t)n);
    text[n] = '\0';
    return text;
}

static bool is_refused(const char *entity, const char *key, const char *job, const char *payload)
{
    int before = rows_in("list");
    const char *what = put_any(entity, key, job, payload, "keep", NOW, NOW);
    return strcmp(what, "error -3") == 0 && fixture_err.text[0] && rows_in("list") == before;
}

void names_have_1_to_1024_bytes(void)
{
    WITH_STORE();
    char *most = letters(1024), *more = letters(1025);
    TEXT_IS("new +1", put_any(most, "1", "look", NULL, "keep", NOW, NOW));
    TEXT_IS("new +1", put_any("orders", most, "look", NULL, "keep", NOW, NOW));
    TEXT_IS("new +1", put_any("orders", "1", most, NULL, "keep", NOW, NOW));
    CU_ASSERT(is_refused(more, "1", "look", NULL));
    CU_ASSERT(is_refused("orders", more, "look", NULL));
    CU_ASSERT(is_refused("orders", "1", more, NULL));
    CU_ASSERT(is_refused(most, most, most, NULL));          /* together they do not fit in an index */
    CU_ASSERT(is_refused("", "1", "look", NULL));
    CU_ASSERT(is_refused("orders", "", "look", NULL));
    CU_ASSERT(is_refused("orders", "1", "", NULL));
    CU_ASSERT(is_refused(NULL, "1", "look", NULL));
    free(most);
    free(more);
}

void payloads_have_at_most_64_kib(void)
{
    WITH_STORE();
    char *most = letters(CHECK_PAYLOAD_MAX), *more = letters(CHECK_PAYLOAD_MAX + 1);
    most[0] = most[CHECK_PAYLOAD_MAX - 1] = more[0] = more[CHECK_PAYLOAD_MAX] = '"';
    TEXT_IS("new +1", put_any("orders", "1", "look", most, "keep", NOW, NOW));
    TEXT_IS(most, value("list", "1", "payload"));
    CU_ASSERT(is_refused("orders", "2", "look", more));
    free(most);
    free(more);
}

void payloads_are_valid_json(void)
{
    WITH_STORE();
    static const char *const good[] = { "{}",   "[1, 2, {\"a\": null}]", "\"text\"", "12.5e3",
                                        "true", "{\"k\": \"\\u20ac\"}" };
    static const char *const bad[] = { "", "{", "{'a': 1}", "nope", "{\"a\": 1} x", "[1,]", "{\"a\"}" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        TEXT_IS(i ? "replaced +1" : "new +1", put_any("orders", "1", "look", good[i], "replace", NOW, NOW));
        TEXT_IS(good[i], value("list", "1", "payload"));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT(is_refused("orders", "2", "look", bad[i]));
}

/* The library by which engines and jobs read JSON takes less than a database does: a check with
 * such a payload would fail each time it is run. */
static const char *schedule_with(const char *payload)
{
    struct store_rows rows = REPORT("schedule_put", "put", "nightly", "orders", "3", "look", "300", NULL,
                                    NULL, NULL, NULL, payload, text_of(NOW));
    return rows.rows == 1 ? cell(&rows, 0, "outcome") : "refused";
}

void payloads_that_jobs_cannot_read_are_refused(void)
{
    WITH_STORE();
    static const char *const good[] = {
        "\"\\ud83d\\ude00\"",
        "\"\\\\u0000\"",
        "\"\\\\ud800\"",
        "\"1e999 99999999999999999999\"",
        "9223372036854775807",
        "-9223372036854775808",
        "[1.7e308, 123456789012345678901.5]",
        "{\"\\uD7FF\": \"\\uE000\"}",
        "\"\\\\\\\\ud800\"",
    };
    static const char *const bad[] = {
        "\"\\u0000\"",
        "{\"a\\u0000\": 1}",
        "\"\\\\\\u0000\"",
        "1e999",
        "{\"n\": [-1e400]}",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\ud800\"",
        "\"\\uD83Dx\\uDE00\"",
        "9223372036854775808",
        "[-9223372036854775809]",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        TEXT_IS(i ? "replaced +1" : "new +1", put_any("orders", "1", "look", good[i], "replace", NOW, NOW));
        TEXT_IS(good[i], value("list", "1", "payload"));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT(is_refused("orders", "2", "look", bad[i]));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        TEXT_IS(i ? "changed" : "new", schedule_with(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEXT_IS("refused", schedule_with(bad[i]));
}

void quotes_newlines_and_letters_of_all_kinds_come_back_as_they_were(void)
{
    WITH_STORE();
    static const char *const keys[] = { "it's",
                                        "\"quoted\"",
                                        "back\\slash",
                                        "two\nlines\ttab\r",
                                        "%s %n $1 ?1 :now",
                                        "\xc3\xbc\xe2\x82\xac\xf0\x9f\x90\x98",
                                        "'; DROP TABLE prescient_future_job; --",
                                        " blank ",
                                        "\x01\x7f",
                                        "\xef\xbf\xbf" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        TEXT_IS("new +1", put(keys[i], NOW, "keep", NOW));
        TEXT_IS(keys[i], value("list", keys[i], "entity_key"));
    }
    struct store_rows rows = REPORT("list", NULL);
    IS((int64_t)(sizeof keys / sizeof *keys), rows.rows);
}

void text_that_is_not_utf8_is_refused(void)
{
    WITH_STORE();
    static const char *const bad[] = {
        "\xff", "a\x80", "\xc3", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3\xa9\xa9"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char payload[32];
        snprintf(payload, sizeof payload, "\"%s\"", bad[i]);
        CU_ASSERT(is_refused(bad[i], "1", "look", NULL));
        CU_ASSERT(is_refused("orders", bad[i], "look", NULL));
        CU_ASSERT(is_refused("orders", "1", bad[i], NULL));
        CU_ASSERT(is_refused("orders", "1", "look", payload));
    }
}

void times_lie_between_1970_and_9999(void)
{
    WITH_STORE();
    TEXT_IS("error -3", put("1", -1, "keep", NOW));
    TEXT_IS("error -3", put("1", INT64_C(253402300800), "keep", NOW));
    /* its slot begins in the year 10000 */
    TEXT_IS("error -3", put("1", INT64_C(253402300799), "keep", NOW));
    IS(0, rows_in("list"));
}

void an_unknown_word_for_the_conflict_is_refused(void)
{
    WITH_STORE();
    TEXT_IS("error -3", put("1", NOW, "sometimes", NOW));
    put("1", NOW, "keep", NOW);
    TEXT_IS("error -3", put("1", NOW, "sometimes", NOW));
}

void an_id_is_never_used_again(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    int64_t first = scene.answers[0].check->id;
    scene_end(&scene);
    TEXT_IS("1", resolve("1"));
    put("1", SLOT, "keep", BEFORE);
    struct check_rows page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    int64_t second = page.checks[0].id;
    CU_ASSERT(second > first);
    check_rows_free(&page);
    put("1", SLOT, "replace", BEFORE);
    page = read_page(&scene.lease, 10);
    CU_ASSERT(page.checks[0].id > second);
    check_rows_free(&page);
}

/* ---- load ------------------------------------------------------------------------------------ */

#define ROW(key, when) { .entity_name = "orders", .entity_key = key, .job_exec = "look", .at = when }

void a_load_counts_what_it_did(void)
{
    WITH_STORE();
    struct load_counts counts;
    int bad;
    struct load_row first[] = { ROW("1", NOW), ROW("2", NOW), ROW("3", SLOT + 5 * LENGTH), ROW("1", NOW) };
    IS(0, store_load(fixture_store(), first, 4, "keep", NOW, &counts, &bad, &fixture_err));
    IS(3, counts.added);
    IS(1, counts.kept);
    struct load_row second[] = { ROW("3", SLOT + 2 * LENGTH), ROW("2", SLOT + 2 * LENGTH), ROW("4", NOW) };
    IS(0, store_load(fixture_store(), second, 3, "earlier", NOW, &counts, &bad, &fixture_err));
    IS(1, counts.moved);
    IS(1, counts.kept);
    IS(1, counts.added);
    IS(0, store_load(fixture_store(), second, 2, "replace", NOW, &counts, &bad, &fixture_err));
    IS(2, counts.replaced);
    IS(4, rows_in("list"));
    IS(SLOT + 2 * LENGTH, number("list", "2", "next_check_at"));
}

void a_load_keeps_payload_priority_and_rounding(void)
{
    WITH_STORE();
    struct load_counts counts;
    int bad;
    struct load_row row = ROW("\xe2\x82\xac 1", SLOT + 1);
    row.payload = "{\"tab\": \"a\\tb\", \"nl\": \"\\n\"}";
    row.priority = -3;
    IS(0, store_load(fixture_store(), &row, 1, "keep", BEFORE, &counts, &bad, &fixture_err));
    IS(1, counts.added);
    TEXT_IS(row.payload, value("list", row.entity_key, "payload"));
    TEXT_IS("-3", value("list", row.entity_key, "priority"));
    IS(SLOT + LENGTH, number("list", row.entity_key, "next_check_at"));
}

void a_bad_row_leaves_nothing_of_its_chunk(void)
{
    WITH_STORE();
    struct load_counts counts;
    struct load_row rows[] = { ROW("1", NOW), ROW("2", NOW), ROW("3", NOW), ROW("4", NOW) };
    static const char *const payloads[] = { "{", "\"\xff\"" };
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        int bad = -1;
        rows[2].payload = payloads[i];
        IS(ERR_INPUT, store_load(fixture_store(), rows, 4, "keep", NOW, &counts, &bad, &fixture_err));
        IS(2, bad);
        IS(0, rows_in("list"));
        IS(0, counts.added);
    }
}

void a_load_of_nothing_does_nothing(void)
{
    WITH_STORE();
    struct load_counts counts;
    int bad;
    IS(0, store_load(fixture_store(), NULL, 0, "keep", NOW, &counts, &bad, &fixture_err));
    IS(0, counts.added + counts.kept + counts.moved + counts.replaced);
}
