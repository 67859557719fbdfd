/* test_slab.c - what goes through the slab arrives, and an answer that is wrong is refused. */
#include "slab_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "../engine/base/utf8.h"
#include "../engine/rules/effect.h"
#include "../include/prescient/job.h"

static void a_check_arrives_as_it_was_put(void)
{
    slabfx_begin(1);
    struct check check = slabfx_check("42", "{\"a\":1}");
    CU_ASSERT_TRUE(slab_put(slabfx.engine, &check, 3, true));
    CU_ASSERT_TRUE(slabfx_put("43", 4, false));
    struct slab_check got;
    slab_get(slabfx.worker, 0, &got);
    CU_ASSERT_EQUAL(got.job, 3);
    CU_ASSERT_TRUE(got.single);
    CU_ASSERT_EQUAL(got.id, 7);
    CU_ASSERT_EQUAL(got.now, 1000);
    CU_ASSERT_EQUAL(got.slot, 960);
    CU_ASSERT_EQUAL(got.first_check_at, 900);
    CU_ASSERT_EQUAL(got.check_count, 2);
    CU_ASSERT_EQUAL(got.failure_count, 1);
    CU_ASSERT_STRING_EQUAL(got.entity_name, "orders");
    CU_ASSERT_STRING_EQUAL(got.entity_key, "42");
    CU_ASSERT_STRING_EQUAL(got.job_name, "job");
    CU_ASSERT_STRING_EQUAL(got.payload, "{\"a\":1}");
    slab_get(slabfx.worker, 1, &got);
    CU_ASSERT_STRING_EQUAL(got.entity_key, "43");
    CU_ASSERT_PTR_NULL(got.payload);
    CU_ASSERT_EQUAL(slab_count(slabfx.engine), 2);
    slabfx_end();
}

/* A worker needs the terms of an event; the rule of a schedule is the engine's. */
static void only_a_delivery_brings_its_terms(void)
{
    slabfx_begin(1);
    struct check check = slabfx_check("42", NULL);
    check.terms = "schedule \"s\" every 300";
    CU_ASSERT_TRUE(slab_put(slabfx.engine, &check, 3, true));
    check.terms = "event \"late\"";
    CU_ASSERT_TRUE(slab_put(slabfx.engine, &check, 3, true));
    struct slab_check got;
    slab_get(slabfx.worker, 0, &got);
    CU_ASSERT_PTR_NULL(got.terms);
    slab_get(slabfx.worker, 1, &got);
    CU_ASSERT_STRING_EQUAL(got.terms, check.terms);
    slabfx_end();
}

static void a_full_slab_takes_no_more_checks(void)
{
    slabfx_begin(1);
    for (int i = 0; i < SLAB_CHECKS_MAX; i++)
        CU_ASSERT_TRUE_FATAL(slabfx_put("42", 0, false));
    CU_ASSERT_FALSE(slabfx_put("42", 0, false));
    CU_ASSERT_EQUAL(slab_count(slabfx.engine), SLAB_CHECKS_MAX);
    slabfx_end();
}

static void a_slab_full_of_bytes_takes_no_more_checks(void)
{
    slabfx_begin(1);
    char *payload = malloc(CHECK_PAYLOAD_MAX + 1);
    memset(payload, ' ', CHECK_PAYLOAD_MAX);
    payload[CHECK_PAYLOAD_MAX] = '\0';
    struct check check = slabfx_check("42", payload);
    int n = 0;
    while (n < 100 && slab_put(slabfx.engine, &check, 0, false))
        n++;
    CU_ASSERT_EQUAL(n, (int)(SLAB_IN_BYTES / (CHECK_PAYLOAD_MAX + 15)));
    CU_ASSERT_EQUAL(slab_count(slabfx.engine), n);
    free(payload);
    slabfx_end();
}

static void nothing_can_be_claimed_before_the_slab_is_open(void)
{
    slabfx_begin(100);
    int from, n, job;
    bool single;
    slabfx_put("42", 0, false);
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 1, 0, &from, &n), SLAB_EMPTY);
    CU_ASSERT_FALSE(slab_peek(slabfx.worker, &job, &single));
    slab_open(slabfx.engine);
    CU_ASSERT_TRUE(slab_peek(slabfx.worker, &job, &single));
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 1, 0, &from, &n), SLAB_CLAIMED);
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 1, 0, &from, &n), SLAB_EMPTY);
    slabfx_end();
}

static void a_batch_is_of_one_job_and_of_none_that_is_single(void)
{
    static const struct {
        int job;
        bool single;
    } puts[] = { { 0, 0 }, { 0, 0 }, { 1, 0 }, { 1, 1 }, { 1, 0 }, { 1, 0 }, { 1, 0 } };
    static const int sizes[] = { 2, 1, 1, 2, 1 };       /* the last by `most` */
    slabfx_begin(100);
    for (size_t i = 0; i < sizeof puts / sizeof *puts; i++)
        slabfx_put("42", puts[i].job, puts[i].single);
    slab_open(slabfx.engine);
    int from, n, at = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 2, 0, &from, &n), SLAB_CLAIMED);
        CU_ASSERT_EQUAL(from, at);
        CU_ASSERT_EQUAL(n, sizes[i]);
        at += n;
        CU_ASSERT_EQUAL(slab_claimed(slabfx.engine), at);
    }
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 2, 0, &from, &n), SLAB_EMPTY);
    slabfx_end();
}

static void nothing_is_started_past_the_trust_window(void)
{
    slabfx_begin(100);
    int from, n;
    slabfx_put("42", 0, false);
    slab_open(slabfx.engine);
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 1, 100, &from, &n), SLAB_UNTRUSTED);
    CU_ASSERT_EQUAL(slab_claimed(slabfx.engine), 0);
    slab_set_trust(slabfx.engine, 101);
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 1, 100, &from, &n), SLAB_CLAIMED);
    slabfx_end();
}

static void what_is_cut_off_cannot_be_claimed(void)
{
    slabfx_begin(100);
    int from, n;
    for (int i = 0; i < 5; i++)
        slabfx_put("42", 0, false);
    slab_open(slabfx.engine);
    CU_ASSERT_EQUAL(slab_end(slabfx.engine), 5);
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 2, 0, &from, &n), SLAB_CLAIMED);
    CU_ASSERT_EQUAL(slab_cut(slabfx.engine), 2);
    CU_ASSERT_EQUAL(slab_cut(slabfx.engine), 2);
    CU_ASSERT_EQUAL(slab_end(slabfx.engine), 2);
    CU_ASSERT_EQUAL(slab_claimed(slabfx.engine), 2);
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 2, 0, &from, &n), SLAB_EMPTY);
    slab_answer(slabfx.worker, 1, PRESCIENT_DONE, 0, 1, 1, NULL);
    slab_answer(slabfx.worker, 2, PRESCIENT_DONE, 0, 1, 1, NULL);
    CU_ASSERT_TRUE(slab_is_answered(slabfx.engine, 1));
    CU_ASSERT_FALSE(slab_is_answered(slabfx.engine, 2));       /* not its to answer */
    slabfx_end();
}

static void a_stop_holds_for_the_checks_that_are_there_and_for_no_later_ones(void)
{
    slabfx_begin(100);
    CU_ASSERT_FALSE(slab_is_stopped(slabfx.worker));
    slabfx_claim_all(1);
    CU_ASSERT_FALSE(slab_is_stopped(slabfx.worker));
    slab_stop(slabfx.engine);
    CU_ASSERT_TRUE(slab_is_stopped(slabfx.worker));
    slab_reset(slabfx.engine, 1000, 100);
    slabfx_claim_all(1);
    CU_ASSERT_FALSE(slab_is_stopped(slabfx.worker));
    slabfx_end();
}

static void an_answer_arrives_with_its_text_and_effects(void)
{
    slabfx_begin(100);
    slabfx_claim_all(2);
    struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "order.late", .json = "{\"n\":1}" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "43",
          .job = "other",
          .at = 5000,
          .conflict = "replace",
          .priority = -5,
          .concurrency_key = "project 7",
          .tenant = "t\xc3\xa9" },
        { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "44" },
    };
    /* In turns, as in a batch. */
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(slab_add_effect(slabfx.worker, 1, &effects[i]), 0);
        CU_ASSERT_EQUAL(slab_add_effect(slabfx.worker, 0, &effects[2 - i]), 0);
    }
    slab_answer(slabfx.worker, 1, PRESCIENT_AGAIN, 2000, 123456, 789, "n\xc3\xb6");
    struct raw_answer got;
    CU_ASSERT_FALSE(slab_take_answer(slabfx.engine, 0, slabfx.arena, &got));
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 1, slabfx.arena, &got));
    CU_ASSERT_EQUAL(got.kind, PRESCIENT_AGAIN);
    CU_ASSERT_EQUAL(got.at, 2000);
    CU_ASSERT_EQUAL(got.began_us, 123456);
    CU_ASSERT_EQUAL(got.run_us, 789);
    CU_ASSERT_STRING_EQUAL(got.text, "n\xc3\xb6");
    CU_ASSERT_EQUAL_FATAL(got.neffects, 3);
    CU_ASSERT_EQUAL(got.effects[0].kind, EFFECT_EMIT);
    CU_ASSERT_STRING_EQUAL(got.effects[0].event, "order.late");
    CU_ASSERT_STRING_EQUAL(got.effects[0].json, "{\"n\":1}");
    CU_ASSERT_PTR_NULL(got.effects[0].entity_name);
    CU_ASSERT_STRING_EQUAL(got.effects[1].job, "other");
    CU_ASSERT_STRING_EQUAL(got.effects[1].conflict, "replace");
    CU_ASSERT_EQUAL(got.effects[1].at, 5000);
    CU_ASSERT_EQUAL(got.effects[1].priority, -5);
    CU_ASSERT_STRING_EQUAL(got.effects[1].concurrency_key, "project 7");
    CU_ASSERT_STRING_EQUAL(got.effects[1].tenant, "t\xc3\xa9");
    CU_ASSERT(!got.effects[2].concurrency_key && !got.effects[2].tenant);
    CU_ASSERT_STRING_EQUAL(got.effects[2].entity_key, "44");
    CU_ASSERT_PTR_NULL(got.effects[2].job);
    slab_drop_effects(slabfx.worker, 0);
    slab_answer(slabfx.worker, 0, PRESCIENT_FAIL, 0, 1, 1, "");
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 0, slabfx.arena, &got));
    CU_ASSERT_EQUAL(got.neffects, 0);
    CU_ASSERT_PTR_NULL(got.text);
    slabfx_end();
}

static void a_long_text_is_cut_between_characters(void)
{
    slabfx_begin(100);
    slabfx_claim_all(1);
    char text[SLAB_TEXT_MAX + 2];
    memset(text, 'x', sizeof text);
    memcpy(text + SLAB_TEXT_MAX - 1, "\xc3\xb6", 3);
    slab_answer(slabfx.worker, 0, PRESCIENT_FAIL, 0, 1, 1, text);
    struct raw_answer got;
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 0, slabfx.arena, &got));
    CU_ASSERT_EQUAL(got.kind, PRESCIENT_FAIL);
    CU_ASSERT_EQUAL(strlen(got.text), SLAB_TEXT_MAX - 1);
    slabfx_end();
}

static void an_answer_of_an_earlier_generation_is_none(void)
{
    slabfx_begin(100);
    slabfx_claim_all(1);
    slab_answer(slabfx.worker, 0, PRESCIENT_DONE, 0, 1, 1, NULL);
    CU_ASSERT_TRUE(slab_is_answered(slabfx.engine, 0));
    uint32_t before = slab_generation(slabfx.engine);
    slab_reset(slabfx.engine, 1000, 100);
    CU_ASSERT_NOT_EQUAL(slab_generation(slabfx.engine), before);
    slabfx_put("42", 0, false);
    slab_open(slabfx.engine);
    CU_ASSERT_FALSE(slab_is_answered(slabfx.engine, 0));
    struct raw_answer got;
    CU_ASSERT_FALSE(slab_take_answer(slabfx.engine, 0, slabfx.arena, &got));
    slabfx_end();
}

static void an_effect_of_an_earlier_generation_is_no_later_ones(void)
{
    slabfx_begin(100);
    slabfx_claim_all(1);
    struct effect effect = { .kind = EFFECT_EMIT, .event = "e" };
    CU_ASSERT_EQUAL(slab_add_effect(slabfx.worker, 0, &effect), 0);
    slab_reset(slabfx.engine, 1000, 100);
    slabfx_claim_all(1);
    slab_answer(slabfx.worker, 0, PRESCIENT_DONE, 0, 1, 1, NULL);
    struct raw_answer got;
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 0, slabfx.arena, &got));
    CU_ASSERT_EQUAL(got.neffects, 0);
    slabfx_end();
}

static void one_answer_declares_so_many_effects_and_no_more(void)
{
    slabfx_begin(100);
    slabfx_claim_all(1);
    struct effect effect = { .kind = EFFECT_EMIT, .event = "e" };
    for (int i = 0; i < ANSWER_EFFECTS_MAX; i++)
        CU_ASSERT_EQUAL(slab_add_effect(slabfx.worker, 0, &effect), 0);
    CU_ASSERT_EQUAL(slab_add_effect(slabfx.worker, 0, &effect), SLAB_TOO_MUCH);
    slab_answer(slabfx.worker, 0, PRESCIENT_DONE, 0, 1, 1, NULL);
    struct raw_answer got;
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 0, slabfx.arena, &got));
    CU_ASSERT_EQUAL(got.kind, PRESCIENT_DONE);
    CU_ASSERT_EQUAL(got.neffects, ANSWER_EFFECTS_MAX);
    slabfx_end();
}

static void a_worker_whose_room_for_effects_runs_out_ends_its_slab_early(void)
{
    slabfx_begin(100);
    for (int i = 0; i < 100; i++)
        slabfx_put("42", 0, false);
    slab_open(slabfx.engine);
    char *json = slabfx_json(CHECK_PAYLOAD_MAX);
    struct effect effect = { .kind = EFFECT_EMIT, .event = "e", .json = json };
    int from, n, answered = 0;
    while (answered < 100 && slab_claim(slabfx.worker, 1, 0, &from, &n) == SLAB_CLAIMED) {
        CU_ASSERT_EQUAL(slab_add_effect(slabfx.worker, from, &effect), 0);
        slab_answer(slabfx.worker, from, PRESCIENT_DONE, 0, 1, 1, NULL);
        answered++;
    }
    CU_ASSERT_TRUE(answered > 10 && answered < 16);
    CU_ASSERT_EQUAL(slab_cut(slabfx.engine), answered);        /* the rest is the engine's again */
    struct raw_answer got;
    for (int i = 0; i < answered; i++) {
        CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, i, slabfx.arena, &got));
        CU_ASSERT_EQUAL(got.neffects, 1);
    }
    slab_reset(slabfx.engine, 1000, 100);
    slabfx_put("42", 0, false);
    slab_open(slabfx.engine);
    /* the next slab has all its room */
    CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 1, 0, &from, &n), SLAB_CLAIMED);
    free(json);
    slabfx_end();
}

static void effects_of_a_batch_that_do_not_fit_are_refused_as_crowded(void)
{
    slabfx_begin(100);
    slabfx_claim_all(30);
    char *json = slabfx_json(CHECK_PAYLOAD_MAX);
    struct effect effect = { .kind = EFFECT_EMIT, .event = "e", .json = json };
    int rc = 0, i = 0;
    while (rc == 0 && i < 30)
        rc = slab_add_effect(slabfx.worker, i++, &effect);
    CU_ASSERT_EQUAL(rc, SLAB_CROWDED);
    CU_ASSERT_EQUAL(slab_add_effect(slabfx.worker, 29, &effect), SLAB_CROWDED);
    slab_answer(slabfx.worker, 29, PRESCIENT_DONE, 0, 1, 1, "a text still fits");
    struct raw_answer got;
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 29, slabfx.arena, &got));
    CU_ASSERT_EQUAL(got.kind, PRESCIENT_DONE);
    free(json);
    slabfx_end();
}

/* ---- what is wrong with an answer is said ---- */

/* One answer with one effect that the worker did not check. */
static const char *words_for(int kind, int64_t began_us, const char *text, const struct effect *effect)
{
    slab_reset(slabfx.engine, 1000, 100);
    slabfx_claim_all(1);
    if (effect)
        CU_ASSERT_EQUAL(slab_add_effect(slabfx.worker, 0, effect), 0);
    slab_answer(slabfx.worker, 0, kind, 0, began_us, 1, text);
    struct raw_answer got;
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 0, slabfx.arena, &got));
    CU_ASSERT_PTR_NULL(got.effects);
    return got.kind == -1 ? got.text : "not refused";
}

static void an_answer_that_is_garbage_is_refused_with_words(void)
{
    char *big = slabfx_json(CHECK_PAYLOAD_MAX + 1), name[CHECK_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    const struct {
        int kind;
        int64_t began_us;
        const char *text;
        struct effect effect;
        bool has_effect;
        const char *words;
    } cases[] = {
        { 77, 1, NULL, { 0 }, false, "kind is 77" },
        { -1, 1, NULL, { 0 }, false, "kind is -1" },
        { PRESCIENT_DONE, -1, NULL, { 0 }, false, "it began at -1" },
        { PRESCIENT_DONE, INT64_MAX, NULL, { 0 }, false, "it began at" },
        { PRESCIENT_DONE, 1, "\xff", { 0 }, false, "text is not valid UTF-8" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_EMIT, .event = "" },
          true,
          "event name: empty, expected 1 to 1024 bytes" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_EMIT },
          true,
          "event name: empty, expected 1 to 1024 bytes" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_EMIT, .event = name },
          true,
          "event name: found 1025 bytes" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_EMIT, .event = "\xc3" },
          true,
          "event name: found bytes that are not UTF-8" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_EMIT, .event = "e", .json = "{" },
          true,
          "json: found '{', expected JSON: " },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_EMIT, .event = "e", .json = "\"\xff\"" },
          true,
          "json: found bytes that are not UTF-8, expected JSON" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_EMIT, .event = "e", .json = big },
          true,
          "outside of the slab" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = (enum effect_kind)9, .event = "e" },
          true,
          "kind: found 9, expected emit, enqueue or resolve" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_RESOLVE, .entity_name = "orders" },
          true,
          "entity key: empty, expected 1 to 1024 bytes" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_ENQUEUE, .entity_name = "o", .entity_key = "1", .conflict = "keep" },
          true,
          "job: empty, expected 1 to 1024 bytes" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_ENQUEUE, .entity_name = "o", .entity_key = "1", .job = "j" },
          true,
          "conflict: found '', expected keep" },
        { PRESCIENT_DONE,
          1,
          NULL,
          { .kind = EFFECT_ENQUEUE,
            .entity_name = "o",
            .entity_key = "1",
            .job = "j",
            .conflict = "keep",
            .at = INT64_MAX },
          true,
          "seconds since 1970, expected a time from 1970 to 9999" },
    };
    slabfx_begin(100);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words = words_for(cases[i].kind, cases[i].began_us, cases[i].text,
                                      cases[i].has_effect ? &cases[i].effect : NULL);
        CU_ASSERT_PTR_NOT_NULL(strstr(words, cases[i].words));
        if (!strstr(words, cases[i].words))
            fprintf(stderr, "case %zu: found '%s', expected '%s'\n", i, words, cases[i].words);
    }
    free(big);
    slabfx_end();
}

/* The parser shows where it stopped, and cuts what it shows at a byte. */
static void what_is_wrong_with_json_is_said_in_text_even_where_the_parser_cuts_a_character(void)
{
    static const char json[] = "\"\xc3\xa4\xef\xbb\xbf"
                               "0/~;\xef\xbb\xa4\\u\xef\xbb\xbf\xef\xbb]\xbf\xc3\xa4";
    slabfx_begin(100);
    const struct effect effect = { .kind = EFFECT_EMIT, .event = "e", .json = json };
    const char *words = words_for(PRESCIENT_DONE, 1, NULL, &effect);
    CU_ASSERT_PTR_NOT_NULL(strstr(words, "json: found bytes that are not UTF-8"));
    CU_ASSERT_TRUE(utf8_is_valid(words, strlen(words)));
    struct err err = { 0 };
    CU_ASSERT_EQUAL(effect_check(&effect, &err), ERR_INPUT);
    CU_ASSERT_TRUE(utf8_is_valid(err.text, strlen(err.text)));
    slabfx_end();
}

static const struct test tests[] = {
    TEST(a_check_arrives_as_it_was_put),
    TEST(only_a_delivery_brings_its_terms),
    TEST(a_full_slab_takes_no_more_checks),
    TEST(a_slab_full_of_bytes_takes_no_more_checks),
    TEST(nothing_can_be_claimed_before_the_slab_is_open),
    TEST(a_batch_is_of_one_job_and_of_none_that_is_single),
    TEST(nothing_is_started_past_the_trust_window),
    TEST(what_is_cut_off_cannot_be_claimed),
    TEST(a_stop_holds_for_the_checks_that_are_there_and_for_no_later_ones),
    TEST(an_answer_arrives_with_its_text_and_effects),
    TEST(a_long_text_is_cut_between_characters),
    TEST(an_answer_of_an_earlier_generation_is_none),
    TEST(an_effect_of_an_earlier_generation_is_no_later_ones),
    TEST(one_answer_declares_so_many_effects_and_no_more),
    TEST(a_worker_whose_room_for_effects_runs_out_ends_its_slab_early),
    TEST(effects_of_a_batch_that_do_not_fit_are_refused_as_crowded),
    TEST(an_answer_that_is_garbage_is_refused_with_words),
    TEST(what_is_wrong_with_json_is_said_in_text_even_where_the_parser_cuts_a_character),
    { 0 },
};

const struct suite suite_slab = { "slab", NULL, NULL, tests };
