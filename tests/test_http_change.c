/* test_http_change.c - a change that is asked for as an object of JSON: what is read, and what is
 * told of each member that is at fault. */
#include "../engine/http/asked_change.h"

#include <string.h>
#include "test.h"

static struct arena *arena;

static int set_up(void)
{
    arena = arena_new(4096);
    return !arena;
}

static int tear_down(void)
{
    arena_free(arena);
    return 0;
}

/* The object lives until the next one is read. */
static struct asked_change read_as(enum change_kind kind, const char *text)
{
    static json_t *object;
    struct asked_change asked;
    json_decref(object);
    object = json_loads(text, JSON_DECODE_ANY, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    CU_ASSERT_EQUAL_FATAL(asked_change_read(&asked, kind, object, 1772370900, arena), 0);
    return asked;
}

/* "/key /job": where something is at fault. */
static const char *faults(enum change_kind kind, const char *text)
{
    static char out[400];
    struct asked_change asked = read_as(kind, text);
    json_t *one;
    size_t i;
    out[0] = '\0';
    json_array_foreach(json_object_get(asked.problem, "errors"), i, one) {
        const char *pointer = json_string_value(json_object_get(one, "pointer"));
        snprintf(out + strlen(out), sizeof out - strlen(out), " %s", *pointer ? pointer : "-");
    }
    json_decref(asked.problem);
    return *out ? out + 1 : out;
}
#define FAULTS_ARE(expected, kind, text) CU_ASSERT_STRING_EQUAL(faults(kind, text), expected)

static void one_check_is_named(void)
{
    struct asked_change a = read_as(CHANGE_RESOLVE, "{\"entity\": \"orders\", \"key\": 42, "
                                                    "\"job\": \"late\", \"reason\": \"sold out\"}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT_STRING_EQUAL(a.entity, "orders");
    CU_ASSERT_STRING_EQUAL(a.key, "42");
    CU_ASSERT_STRING_EQUAL(a.job, "late");
    CU_ASSERT_STRING_EQUAL(a.reason, "sold out");
    CU_ASSERT(!a.is_select && !a.is_dry);
    FAULTS_ARE("", CHANGE_CANCEL, "{\"entity\": \"orders\", \"key\": \"1\"}");
    FAULTS_ARE("", CHANGE_RETRY, "{\"entity\": \"orders\", \"key\": \"1\"}");
    FAULTS_ARE("/job", CHANGE_RUN_NOW, "{\"entity\": \"orders\", \"key\": \"1\"}");
    FAULTS_ARE("/entity /key", CHANGE_RESOLVE, "{}");
    FAULTS_ARE("/entity", CHANGE_RESOLVE, "{\"entity\": \"prescient.digest\", \"key\": \"1\"}");
    FAULTS_ARE("/entity /key", CHANGE_RESOLVE, "{\"entity\": \"\", \"key\": 1.5}");
    FAULTS_ARE("-", CHANGE_RESOLVE, "[1]");
    FAULTS_ARE("-", CHANGE_RESOLVE, "null");
}

static void a_select_is_what_a_list_would_be_asked(void)
{
    struct asked_change a = read_as(CHANGE_CANCEL, "{\"select\": {\"entity\": \"orders\", \"key\": 7, "
                                                   "\"state\": \"paused\", \"from\": 1772370900}, "
                                                   "\"limit\": 7, "
                                                   "\"after\": \"5c\", \"dry_run\": true}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT(a.is_select && a.is_dry && a.limit == 7 && a.select.n == 4);
    CU_ASSERT_STRING_EQUAL(query_value(&a.select, "key"), "7");
    CU_ASSERT_STRING_EQUAL(query_value(&a.select, "from"), "1772370900");
    CU_ASSERT_STRING_EQUAL(query_value(&a.select, "state"), "paused");
    CU_ASSERT_STRING_EQUAL(a.after, "5c");
    a = read_as(CHANGE_RETRY, "{\"select\": {\"outcome\": \"timeout\"}, \"after\": null}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT(a.limit == CHANGE_MOST && !a.after);
    a = read_as(CHANGE_RETRY, "{\"select\": {\"job\": \"x\", \"error\": \"order #: late\"}}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT_STRING_EQUAL(query_value(&a.select, "error"), "order #: late");
    FAULTS_ARE("/select/error", CHANGE_CANCEL, "{\"select\": {\"error\": \"x\"}}");
    FAULTS_ARE("/select/outcome", CHANGE_CANCEL, "{\"select\": {\"outcome\": \"timeout\"}}");
    FAULTS_ARE("/select/state", CHANGE_RETRY, "{\"select\": {\"state\": \"due\"}}");
    FAULTS_ARE("/select/a~1b /select/job", CHANGE_RETRY, "{\"select\": {\"a/b\": \"x\", \"job\": []}}");
    FAULTS_ARE("/select", CHANGE_RETRY, "{\"select\": 7}");
    FAULTS_ARE("/select", CHANGE_RETRY, "{\"select\": {\"job\": \"x\"}, \"key\": \"1\"}");
    FAULTS_ARE("/after", CHANGE_RETRY, "{\"entity\": \"e\", \"key\": \"1\", \"after\": \"5c\"}");
    FAULTS_ARE("/limit", CHANGE_RETRY, "{\"select\": {\"job\": \"x\"}, \"limit\": 0}");
    FAULTS_ARE("/dry_run", CHANGE_RETRY, "{\"select\": {\"job\": \"x\"}, \"dry_run\": 1}");
}

static void all_that_there_is_has_to_be_said(void)
{
    FAULTS_ARE("/select", CHANGE_CANCEL, "{\"select\": {}}");
    FAULTS_ARE("/select", CHANGE_CANCEL, "{\"select\": {}, \"all\": false}");
    FAULTS_ARE("", CHANGE_CANCEL, "{\"select\": {}, \"all\": true}");
    FAULTS_ARE("/all", CHANGE_CANCEL, "{\"select\": {\"job\": \"x\"}, \"all\": true}");
}

static void times_belong_to_reschedule(void)
{
    struct asked_change a = read_as(CHANGE_RESCHEDULE, "{\"select\": {\"job\": \"x\"}, \"in\": \"3h\"}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT(a.time.at == 10800 && a.time.is_after);
    a = read_as(CHANGE_RESCHEDULE, "{\"select\": {\"job\": \"x\"}, \"check_at\": \"2026-03-01T13:15:00Z\"}");
    CU_ASSERT(!a.problem && a.time.at == 1772370900 && !a.time.is_after);
    FAULTS_ARE("/check_at", CHANGE_RESCHEDULE, "{\"select\": {\"job\": \"x\"}}");
    FAULTS_ARE("/in", CHANGE_RESCHEDULE, "{\"select\": {\"job\": \"x\"}, \"check_at\": 7, \"in\": 7}");
    FAULTS_ARE("/in", CHANGE_RESCHEDULE, "{\"select\": {\"job\": \"x\"}, \"in\": \"soon\"}");
    FAULTS_ARE("/in", CHANGE_RESOLVE, "{\"select\": {\"job\": \"x\"}, \"in\": \"3h\"}");
}

static void one_thing_is_paused(void)
{
    struct asked_change a = read_as(CHANGE_PAUSE, "{\"tenant\": \"acme\", \"reason\": \"why not\"}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT_STRING_EQUAL(a.tenant, "acme");
    a = read_as(CHANGE_RESUME, "{\"entity\": \"prescient.event\", \"reslot\": true}");
    CU_ASSERT(!a.problem && a.is_reslotted);
    FAULTS_ARE("-", CHANGE_PAUSE, "{}");
    FAULTS_ARE("-", CHANGE_PAUSE, "{\"tenant\": \"acme\", \"job\": \"late\"}");
    FAULTS_ARE("/reslot", CHANGE_PAUSE, "{\"tenant\": \"acme\", \"reslot\": true}");
    FAULTS_ARE("/key", CHANGE_PAUSE, "{\"entity\": \"orders\", \"key\": \"1\"}");
}

static void a_schedule_is_all_of_it_or_a_part(void)
{
    struct asked_change a = read_as(CHANGE_SCHEDULE, "{\"entity\": \"shop\", \"key\": 7, \"job\": \"sync\", "
                                                     "\"every\": \"5m\", \"bias\": 0.1, \"payload\": [1]}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT_STRING_EQUAL(a.rule.every, "300");
    CU_ASSERT_STRING_EQUAL(a.rule.bias, "1000");
    CU_ASSERT_STRING_EQUAL(a.rule.payload, "[1]");
    a = read_as(CHANGE_SCHEDULE, "{\"cron\": \"0  6 * * MON-fri\", \"tenant\": \"acme\"}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT_STRING_EQUAL(a.rule.cron, "0 6 * * mon-fri");
    CU_ASSERT_STRING_EQUAL(a.rule.tenant, "acme");
    CU_ASSERT_EQUAL(read_as(CHANGE_SCHEDULE, "{\"is_active\": false, \"reason\": \"x\"}").is_active, 0);
    CU_ASSERT_EQUAL(read_as(CHANGE_SCHEDULE, "{\"every\": 7}").is_active, -1);
    FAULTS_ARE("-", CHANGE_SCHEDULE, "{\"reason\": \"x\"}");
    const char *x = arena_printf(arena, "%01000d", 0);
    FAULTS_ARE("/entity", CHANGE_SCHEDULE,
               arena_printf(arena, "{\"entity\": \"%s\", \"key\": \"%s\", \"job\": \"%s\", "
                            "\"every\": \"5m\"}", x, x, x));
    FAULTS_ARE("/entity", CHANGE_SCHEDULE, "{\"entity\": \"shop\", \"every\": \"5m\"}");
    FAULTS_ARE("/every", CHANGE_SCHEDULE, "{\"entity\": \"shop\", \"key\": 7, \"job\": \"sync\"}");
    FAULTS_ARE("/cron", CHANGE_SCHEDULE, "{\"every\": \"5m\", \"cron\": \"@daily\"}");
    FAULTS_ARE("/timezone", CHANGE_SCHEDULE, "{\"every\": \"5m\", \"timezone\": \"UTC\"}");
    FAULTS_ARE("/bias", CHANGE_SCHEDULE, "{\"cron\": \"@daily\", \"bias\": 0.1}");
    FAULTS_ARE("/missed", CHANGE_SCHEDULE, "{\"every\": \"5m\", \"missed\": \"run_all\"}");
    FAULTS_ARE("/is_active", CHANGE_SCHEDULE, "{\"every\": \"5m\", \"is_active\": true}");
    FAULTS_ARE("/every /cron /timezone /missed /bias", CHANGE_SCHEDULE,
               "{\"every\": \"5 parsecs\", \"cron\": \"99 * * * *\", \"timezone\": \"Moon/Base\", "
               "\"missed\": \"never\", \"bias\": \"some\"}");
}

/* And not as the binary fraction next to it. */
static void a_number_at_fault_is_told_as_it_was_written(void)
{
    struct asked_change a = read_as(CHANGE_SCHEDULE, "{\"every\": \"5m\", \"bias\": 0.6}");
    const json_t *fault = json_array_get(json_object_get(a.problem, "errors"), 0);
    const char *detail = json_string_value(json_object_get(fault, "detail"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(detail);
    CU_ASSERT_PTR_NOT_NULL(strstr(detail, "bias is '0.6', expected a fraction of every"));
    json_decref(a.problem);
}

static void a_delivery_has_a_listener_and_an_event(void)
{
    struct asked_change a = read_as(CHANGE_DELIVERY, "{\"delivery\": \"mail/1\", "
                                                     "\"reason\": \"it is back\"}");
    CU_ASSERT_PTR_NULL_FATAL(a.problem);
    CU_ASSERT_STRING_EQUAL(a.delivery, "mail/1");
    CU_ASSERT_STRING_EQUAL(a.reason, "it is back");
    FAULTS_ARE("/delivery", CHANGE_DELIVERY, "{}");
    FAULTS_ARE("/delivery", CHANGE_DELIVERY, "{\"delivery\": \"mail\"}");
    FAULTS_ARE("/delivery", CHANGE_DELIVERY, "{\"delivery\": 7}");
    FAULTS_ARE("/entity", CHANGE_DELIVERY, "{\"delivery\": \"mail/1\", \"entity\": \"orders\"}");
    FAULTS_ARE("/delivery", CHANGE_PAUSE, "{\"job\": \"look\", \"delivery\": \"mail/1\"}");
}

static const struct test tests[] = {
    TEST(one_check_is_named),
    TEST(a_select_is_what_a_list_would_be_asked),
    TEST(all_that_there_is_has_to_be_said),
    TEST(times_belong_to_reschedule),
    TEST(one_thing_is_paused),
    TEST(a_schedule_is_all_of_it_or_a_part),
    TEST(a_number_at_fault_is_told_as_it_was_written),
    TEST(a_delivery_has_a_listener_and_an_event),

    { NULL, NULL },
};

const struct suite suite_http_change = { "http_change", set_up, tear_down, tests };
