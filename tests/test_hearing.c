/* test_hearing.c - who hears what an answer emits, and what goes out when a delivery has failed. */
#include <jansson.h>
#include <string.h>

#include "../engine/rules/bucket.h"
#include "../engine/rules/terms.h"
#include "../engine/run/hearing.h"
#include "../engine/run/verdict.h"
#include "lane_env_fixture.h"

#define LISTENERS                                                                                            \
    "listeners = ( { name = \"all\"; events = \"*\"; except = \"order.paid\"; job = \"j\"; }, "              \
    "{ name = \"hook\"; events = [\"order.*\", \"delivery.failed\"]; job = \"j\"; } );"
#define EVENT(type)                                                                                          \
    "event \"" type "\" of \"orders\" key \"1\" job \"look\" number 3 failures 0 first 900 "                 \
    "listener \"hook\" at 900000000"
#define E "00112233445566778899aabbccddeeff"

static struct lane_env_fixture x;
static struct arena *arena;

static void begin(const char *text)
{
    lane_env_begin(&x, text);
    arena = arena_new(1024);
}

static void end(void)
{
    arena_free(arena);
    lane_env_end(&x);
}

static const struct check parent = { .id = 7, .first_check_at = 900, .next_check_at = 1800, .check_count = 2,
                                     .failure_count = 1, .entity_name = "orders", .entity_key = "\"4\" 2",
                                     .job_exec = "look" };

static struct check delivery(const char *terms)
{
    return (struct check){ .id = 8, .first_check_at = 901, .next_check_at = 901,
                           .entity_name = DELIVERY_ENTITY, .entity_key = "hook/" E, .job_exec = "j",
                           .origin = E, .terms = terms };
}

static struct settlement answer(const struct check *c, enum outcome outcome, const struct effect *effects,
                                int n)
{
    struct settlement s = { .check = c, .ends = outcome != OUTCOME_DEFERRED, .outcome = outcome, .ran = true,
                            .effects = effects, .neffects = n, .note = "410 \"Gone\"",
                            .failure_count = c->failure_count + 1 };
    CU_ASSERT_TRUE(hearing_add(&x.settings, arena, true, &s));
    return s;
}

static void an_event_has_those_who_hear_it_beside_it(void)
{
    begin(LISTENERS);
    const struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "order.late", .json = "[1]" },
        { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "1" },
        { .kind = EFFECT_EMIT, .event = "order.paid" },
        { .kind = EFFECT_EMIT, .event = "order.late", .json = "[2]" },
    };
    struct settlement s = answer(&parent, OUTCOME_DONE, effects, 4);
    CU_ASSERT_EQUAL_FATAL(s.neffects, 4);
    CU_ASSERT_EQUAL(s.effects[0].nhearers, 2);
    CU_ASSERT_STRING_EQUAL(s.effects[0].hearers[0].listener, "all");
    CU_ASSERT_STRING_EQUAL(s.effects[0].hearers[1].listener, "hook");
    CU_ASSERT_STRING_EQUAL(s.effects[0].hearers[1].job, "j");
    CU_ASSERT_EQUAL(s.effects[1].nhearers, 0);
    CU_ASSERT_EQUAL(s.effects[2].nhearers, 1);
    CU_ASSERT_STRING_EQUAL(s.effects[0].terms, "event \"order.late\" of \"orders\" key \"\"\"4\"\" 2\" job "
                                               "\"look\" number 3 failures 1 first 900");
    CU_ASSERT_STRING_NOT_EQUAL(s.effects[0].origin, s.effects[3].origin);
    char key[64];
    snprintf(key, sizeof key, "hook/%s", s.effects[0].origin);
    CU_ASSERT_EQUAL(s.effects[0].hearers[1].bucket, bucket_of(DELIVERY_ENTITY, key));
    CU_ASSERT_STRING_EQUAL(s.effects[3].json, "[2]");
    end();
}

static void without_a_listener_nothing_is_copied(void)
{
    begin("listeners = ( { events = \"ticket.*\"; job = \"j\"; } );");
    const struct effect effects[] = { { .kind = EFFECT_EMIT, .event = "order.late" } };
    CU_ASSERT_PTR_EQUAL(answer(&parent, OUTCOME_DONE, effects, 1).effects, effects);
    end();
    begin("");
    CU_ASSERT_PTR_EQUAL(answer(&parent, OUTCOME_DONE, effects, 1).effects, effects);
    end();
}

/* The run may be repeated in another slot, and its answer is another event only if the counts are
 * others; two deferrals have the same counts. */
static void the_origin_of_an_event_is_that_of_its_run(void)
{
    begin(LISTENERS);
    const struct effect effects[] = { { .kind = EFFECT_EMIT, .event = "order.late" } };
    struct check later = parent, failed = parent;
    later.next_check_at = 2700;
    failed.failure_count = 2;
    const char *first = answer(&parent, OUTCOME_AGAIN, effects, 1).effects[0].origin;
    CU_ASSERT_STRING_EQUAL(first, answer(&later, OUTCOME_DONE, effects, 1).effects[0].origin);
    CU_ASSERT_STRING_NOT_EQUAL(first, answer(&failed, OUTCOME_DONE, effects, 1).effects[0].origin);
    const char *deferral = answer(&parent, OUTCOME_DEFERRED, effects, 1).effects[0].origin;
    CU_ASSERT_STRING_NOT_EQUAL(first, deferral);
    CU_ASSERT_STRING_NOT_EQUAL(deferral, answer(&later, OUTCOME_DEFERRED, effects, 1).effects[0].origin);
    end();
}

static void deliveries_make_no_deliveries(void)
{
    begin(LISTENERS);
    const struct check c = delivery(EVENT("order.late"));
    const struct effect effects[] = { { .kind = EFFECT_EMIT, .event = "order.sent" } };
    struct settlement s = answer(&c, OUTCOME_DONE, effects, 1);
    CU_ASSERT_EQUAL(s.neffects, 1);
    CU_ASSERT_EQUAL(s.effects[0].nhearers, 0);
    end();
}

static void a_delivery_that_has_failed_for_good_tells_those_who_name_that(void)
{
    static const enum outcome all[] = { OUTCOME_FAILED, OUTCOME_TIMEOUT, OUTCOME_CRASHED, OUTCOME_BAD_ANSWER,
                                        OUTCOME_UNKNOWN_JOB, OUTCOME_DEFERRED_OUT, OUTCOME_MAX_CHECKS,
                                        OUTCOME_BEYOND_HORIZON, OUTCOME_PAST };
    begin(LISTENERS);
    const struct check c = delivery(EVENT("order.late"));
    const struct effect effects[] = { { .kind = EFFECT_EMIT, .event = "order.sent" } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct settlement s = answer(&c, all[i], effects, 1);
        CU_ASSERT_EQUAL_FATAL(s.neffects, 2);
        CU_ASSERT_EQUAL(s.effects[0].nhearers, 0);
        CU_ASSERT_STRING_EQUAL(s.effects[1].event, "delivery.failed");
        CU_ASSERT_EQUAL_FATAL(s.effects[1].nhearers, 1);
        CU_ASSERT_STRING_EQUAL(s.effects[1].hearers[0].listener, "hook");
    }
    struct settlement s = answer(&c, OUTCOME_FAILED, NULL, 0);
    json_t *data = json_loads(s.effects[0].json, 0, NULL);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "listener")), "hook");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "event")), "order.late");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "entity_name")), "orders");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "entity_key")), "1");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "outcome")), "failed");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "note")), "410 \"Gone\"");
    CU_ASSERT_EQUAL(strlen(json_string_value(json_object_get(data, "id"))), 32);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(data, "failure_count")), 1);
    json_decref(data);
    s = (struct settlement){ .check = &c, .ends = true, .outcome = OUTCOME_BAD_ANSWER, .note = "refused" };
    CU_ASSERT_TRUE(hearing_add(&x.settings, arena, false, &s));
    CU_ASSERT_PTR_NOT_NULL(strstr(s.effects[0].json, "\"note\":null"));
    end();
}

static void a_delivery_that_is_tried_again_or_is_of_such_an_event_tells_nobody(void)
{
    begin(LISTENERS);
    const struct check c = delivery(EVENT("order.late")), of_failure = delivery(EVENT("delivery.failed")),
                       unreadable = delivery("event \"delivery.failed\" of");
    struct settlement s = { .check = &c, .outcome = OUTCOME_FAILED };
    CU_ASSERT_TRUE(hearing_add(&x.settings, arena, true, &s));
    CU_ASSERT_EQUAL(s.neffects, 0);
    CU_ASSERT_EQUAL(answer(&c, OUTCOME_DONE, NULL, 0).neffects, 0);
    CU_ASSERT_EQUAL(answer(&of_failure, OUTCOME_FAILED, NULL, 0).neffects, 0);
    CU_ASSERT_EQUAL(answer(&unreadable, OUTCOME_FAILED, NULL, 0).neffects, 0);
    end();
}

/* Its listener is in its key; what the terms have is not known. */
static void a_delivery_with_unreadable_terms_tells_what_is_known(void)
{
    begin(LISTENERS);
    const struct check c = delivery("event \"order.late\" of");
    struct settlement s = answer(&c, OUTCOME_FAILED, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(s.neffects, 1);
    CU_ASSERT_STRING_EQUAL(s.effects[0].event, "delivery.failed");
    CU_ASSERT_EQUAL(s.effects[0].nhearers, 1);
    json_t *data = json_loads(s.effects[0].json, 0, NULL);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "listener")), "hook");
    CU_ASSERT_EQUAL(strlen(json_string_value(json_object_get(data, "id"))), 32);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "note")), "410 \"Gone\"");
    CU_ASSERT(json_is_null(json_object_get(data, "event")));
    CU_ASSERT(json_is_null(json_object_get(data, "entity_name")));
    CU_ASSERT(json_is_null(json_object_get(data, "entity_key")));
    json_decref(data);
    end();
}

/* ---- in the engine ---- */

static struct page *page_of(const char *terms)
{
    struct page *page = fixture_page(&x, 1);
    if (terms)
        page->rows.checks[0] = delivery(terms);
    page->rows.checks[0].next_check_at = FIXTURE_SLOT;
    return page;
}

static const struct settlement *answered(struct page *page, enum answer_kind kind)
{
    static struct effect effect = { .kind = EFFECT_EMIT, .event = "order.late" };
    struct raw_answer raw = { .at = page->now + 7, .began_us = fixture_now_us, .run_us = 1000,
                              .effects = &effect, .neffects = 1 };
    page_give(page, 0);
    verdict_answered(&x.env, page, 0, kind, &raw, fixture_now_us);
    return &page->checks[0].settlement;
}

static void what_a_check_emits_is_heard_and_a_delivery_has_its_own_limits(void)
{
    begin(LISTENERS " max_failures = 0;");
    struct page *page = page_of(NULL);
    const struct settlement *s = answered(page, ANSWER_FAIL);
    CU_ASSERT(s->ends && s->neffects == 1 && s->effects[0].nhearers == 2);
    page_free(page);
    page = page_of(EVENT("order.late"));
    s = answered(page, ANSWER_FAIL);
    CU_ASSERT(!s->ends && s->neffects == 1 && s->effects[0].nhearers == 0);
    CU_ASSERT(s->next_at >= page->now + 5 && s->next_at <= page->now + 7);
    page_free(page);
    page = page_of(EVENT("order.late"));
    s = answered(page, ANSWER_FAIL_FINAL);
    CU_ASSERT(s->ends && s->neffects == 2 && s->effects[1].nhearers == 1);
    verdict_refused_by_database(&x.env, page, 0, "why");
    CU_ASSERT(!s->ends && s->neffects == 0);
    page_free(page);
    end();
}

/* Its job is in no engine's settings any more. */
static void a_delivery_of_an_unknown_job_tells_it_when_it_is_given_up(void)
{
    begin(LISTENERS);
    struct page *page = page_of(EVENT("order.late"));
    x.target.kind = TARGET_SWEEP;
    x.target.puts_off = true;
    page->checks[0].job = -1;
    page->rows.checks[0].put_off_at = 1;
    page->now = FIXTURE_SLOT + 31 * 86400;
    verdict_take_in(&x.env, page, fixture_now_us);
    const struct settlement *s = &page->checks[0].settlement;
    CU_ASSERT(s->ends && s->outcome == OUTCOME_UNKNOWN_JOB && s->neffects == 1);
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_ANSWERED);
    page_free(page);
    end();
}

static const struct test tests[] = {
    TEST(an_event_has_those_who_hear_it_beside_it),
    TEST(without_a_listener_nothing_is_copied),
    TEST(the_origin_of_an_event_is_that_of_its_run),
    TEST(deliveries_make_no_deliveries),
    TEST(a_delivery_that_has_failed_for_good_tells_those_who_name_that),
    TEST(a_delivery_that_is_tried_again_or_is_of_such_an_event_tells_nobody),
    TEST(a_delivery_with_unreadable_terms_tells_what_is_known),
    TEST(what_a_check_emits_is_heard_and_a_delivery_has_its_own_limits),
    TEST(a_delivery_of_an_unknown_job_tells_it_when_it_is_given_up),
    { NULL, NULL },
};
const struct suite suite_hearing = { "hearing", settings_fixture_setup, settings_fixture_teardown, tests };
