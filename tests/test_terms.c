/* test_terms.c - the line of text that travels with a check: what is read, what is refused and with
 * which words, and that writing reads back. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include "../engine/base/moment.h"
#include "../engine/rules/terms.h"

static void written_as(const char *text, const char *wanted)
{
    struct terms t;
    struct err err = { 0 };
    char out[TERMS_MAX + 1] = "", again[TERMS_MAX + 1] = "";
    if (terms_parse(text, &t, &err) < 0)
        printf("%s: %s\n", text, err.text);
    else if (strcmp(terms_print(&t, out), wanted) != 0)
        printf("%s\n  is written as %s\n", text, out);
    CU_ASSERT_STRING_EQUAL(out, wanted);
    CU_ASSERT_EQUAL(terms_parse(out, &t, NULL), 0);
    CU_ASSERT_STRING_EQUAL(terms_print(&t, again), wanted);
}

static void what_is_read_is_written_in_one_form(void)
{
    static const char *const all[][2] = {
        { "schedule nightly every 300", "schedule \"nightly\" every 300 bias 0.0667 missed run_once" },
        { "  every \"300\"\tbias .0667 missed run_once schedule \"nightly\"  ",
          "schedule \"nightly\" every 300 bias 0.0667 missed run_once" },
        { "schedule a every 00031622400 bias 0.5000000",
          "schedule \"a\" every 31622400 bias 0.5 missed run_once" },
        { "schedule a every 1 bias 0", "schedule \"a\" every 1 bias 0 missed run_once" },
        { "schedule a every 1 bias 0.1 from 1772370900 missed skip",
          "schedule \"a\" every 1 bias 0.1 missed skip from 1772370900" },
        { "schedule a every 1 bias 0.1 from 1772370901 sought 1772370900",
          "schedule \"a\" every 1 bias 0.1 missed run_once sought 1772370900 from 1772370901" },
        { "schedule a every 1 bias 0.0100", "schedule \"a\" every 1 bias 0.01 missed run_once" },
        { "schedule \"say \"\"hi\"\" now\" cron \"  0 9\t* * mon-fri \" zone Europe/Amsterdam missed run_all",
          "schedule \"say \"\"hi\"\" now\" cron \"0 9 * * mon-fri\" zone \"Europe/Amsterdam\" missed "
          "run_all" },
        { "schedule \"\"\"\" cron @Daily", "schedule \"\"\"\" cron \"@Daily\" zone \"UTC\" missed run_once" },
        { "schedule a cron @daily digest a.b-1",
          "schedule \"a\" cron \"@daily\" zone \"UTC\" missed run_once digest \"a.b-1\"" },
        { "digest a schedule a every 900 bias 0",
          "schedule \"a\" every 900 bias 0 missed run_once digest \"a\"" },
        { "payload once schedule a every 900 bias 0",
          "schedule \"a\" every 900 bias 0 missed run_once payload once" },
        { "event late of orders key 42 job look number 1 failures 0 first 0 listener hook at 1",
          "event \"late\" of \"orders\" key \"42\" job \"look\" number 1 failures 0 first 0 listener "
          "\"hook\" at 1" },
        { "at 1772370901000001 listener hook job \"a \"\"b\"\"\" event \" x\ny \" of ü key \"1 from 5\" "
          "number 2147483648 failures 2147483647 first 253402300799",
          "event \" x\ny \" of \"ü\" key \"1 from 5\" job \"a \"\"b\"\"\" number 2147483648 failures "
          "2147483647 first 253402300799 listener \"hook\" at 1772370901000001" },
        { "schedule \"für Köln\" cron @daily zone \"UTC\"",
          "schedule \"für Köln\" cron \"@daily\" zone \"UTC\" missed run_once" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        written_as(all[i][0], all[i][1]);
}

static void refused(const char *text, const char *words)
{
    struct terms t = { .from = 77 };
    struct err err = { 0 };
    CU_ASSERT_EQUAL(terms_parse(text, &t, &err), ERR_INPUT);
    CU_ASSERT_EQUAL(t.from, 77);
    bool told = strstr(err.text, words) && !strncmp(err.text, "terms: ", 7);
    if (!told)
        printf("%s\n  was refused as: %s\n", text, err.text);
    CU_ASSERT_TRUE(told);
}

#define EVENT(rest) "event e of o key k job j number 1 failures 0 " rest

static void errors_name_the_word_and_its_column(void)
{
    static const char *const all[][2] = {
        { "", "neither every nor cron; expected one of them" },
        { "schedule a", "neither every nor cron" },
        { "schedule a every 5 cron @daily", "both every and cron" },
        { "every 5", "every without schedule" },
        { "schedule a cron @daily bias 0.1", "bias without every" },
        { "schedule a every 5 zone UTC", "zone without cron" },
        { "from 5", "from without schedule" },
        { "schedule a every 5 sought 6", "sought without from" },
        { "schedule a every 5 sought x from 7",
          "sought at column 20: \"x\"; expected a whole number of seconds since 1970" },
        { "schedule a evry 5",
          "unknown word \"evry\" at column 12; expected schedule, every, bias, cron, zone, missed, "
          "sought, from, digest or payload, or event, of, key, job, number, failures, first, listener or "
          "at; did you mean every" },
        { "schedule \"ü\" x 5", "unknown word \"x\" at column 14" },
        { "schedule a every 5 every 6", "every at column 20 stands there twice" },
        { "schedule a every", "every at column 12 has no value" },
        { "schedule a every \"5", "the quote at column 18 is never closed" },
        { "schedule \"a\"b\" every 5",
          "nothing may follow the quote that ends before column 13 but a blank" },
        { "schedule \"\" every 5", "schedule at column 1: \"\"; expected a name of 1 to 255 bytes" },
        { "schedule \"a\nb\" every 5", "without control characters" },
        { "schedule \"\xff\" every 5", "expected a name of 1 to 255 bytes of UTF-8" },
        { "schedule a every 0",
          "every at column 12: \"0\"; expected a whole number of seconds, from 1 to 31622400" },
        { "schedule a every -5", "every at column 12: \"-5\"; expected a whole number" },
        { "schedule a every 31622401", "from 1 to 31622400 (366 days)" },
        { "schedule a every 5m", "\"5m\"; expected a whole number of seconds" },
        { "schedule a every 99999999999999999999", "expected a whole number of seconds" },
        { "schedule a every 5 bias 0.51", "bias at column 20: \"0.51\"; expected a fraction from 0 to 0.5" },
        { "schedule a every 5 bias 0.06671", "at most four places" },
        { "schedule a every 5 bias -0.1", "expected a fraction" },
        { "schedule a every 5 bias 0.", "expected a fraction" },
        { "schedule a every 5 bias .", "expected a fraction" },
        { "schedule a every 5 bias 1", "expected a fraction" },
        { "schedule a every 5 bias 0.1x", "expected a fraction" },
        { "schedule a every 5 missed run_twice",
          "missed at column 20: \"run_twice\"; expected run_once, run_all or" },
        { "schedule a every 5 from 0",
          "from at column 20: \"0\"; expected a whole number of seconds since 1970" },
        { "schedule a every 5 from 253402300800", "up to the year 9999" },
        { "schedule a cron \"61 * * * *\"",
          "cron at column 12: \"61 * * * *\": minute: 61 at column 1 is not between 0 and 59" },
        { "schedule a every 5 digest \"\"",
          "digest at column 20: \"\"; expected a name of 1 to 64 bytes" },
        { "digest a", "digest without schedule" },
        { "schedule a every 5 payload twice", "payload at column 20: \"twice\"; expected once" },
        { "payload once", "payload without schedule" },
        { "event e", "event without at" },
        { EVENT("listener l at 5"), "listener without first" },
        { EVENT("first 1 listener l"), "event without at" },
        { EVENT("first 1 at 5"), "at without listener" },
        { EVENT("first 1 listener l at 5 every 5"), "every without schedule" },
        { EVENT("first 1 listener l at 5 schedule s every 5"), "both event and words of a schedule" },
        { EVENT("first -1 listener l at 5"),
          "first at column 46: \"-1\"; expected a whole number of seconds" },
        { EVENT("first 1 listener \"\" at 5"),
          "listener at column 54: \"\"; expected a name of 1 to 64 bytes" },
        { EVENT("first 1 listener l at 253402300800000000"), "of microseconds since 1970" },
        { "event e of o key k job j number 0", "number at column 26: \"0\"; expected a whole number from 1" },
        { "event e of o key k job j number 1 failures 2147483648", "from 0 to 2147483647" },
        { "event e of \"\"", "of at column 9: \"\"; expected 1 to 1024 bytes" },
        { "event \xff", "expected 1 to 1024 bytes of UTF-8" },
        { "schedule a cron @daily zone ../../x",
          "zone at column 24: zone \"../../x\": expected the name of a time" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        refused(all[i][0], all[i][1]);
}

/* Every limit at once. */
static void the_longest_terms_fit(void)
{
    struct terms t = { .recurrence = { .is_cron = true, .missed = RECURRENCE_RUN_ONCE },
                       .sought = MOMENT_MAX, .from = MOMENT_MAX };
    struct recurrence *r = &t.recurrence;
    char out[TERMS_MAX + 1], again[TERMS_MAX + 1];
    memset(r->name, '"', RECURRENCE_NAME_MAX);
    memset(r->cron_text, '0', CRON_TEXT_MAX);
    memcpy(r->cron_text + CRON_TEXT_MAX - 8, " 0 * * *", 8);
    memset(r->zone, 'x', ZONE_NAME_MAX);
    terms_print(&t, out);
    CU_ASSERT_TRUE(strlen(out) < TERMS_MAX);
    CU_ASSERT_EQUAL(terms_parse(out, &t, NULL), 0);
    CU_ASSERT_STRING_EQUAL(terms_print(&t, again), out);
    char text[TERMS_MAX + 2];
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = '\0';
    refused(text, "bytes; expected at most");
    char name[300] = "schedule ";
    memset(name + 9, 'n', 256);
    memcpy(name + 9 + 256, " every 5", 9);
    refused(name, "a name of 1 to 255 bytes");
}

/* Four names of a kilobyte, each byte of which is doubled. */
static void the_longest_terms_of_an_event_fit(void)
{
    struct terms t = { .has_event = true, .event = { .check_number = INT32_MAX, .failure_count = INT32_MAX,
                                                     .first_check_at = MOMENT_MAX,
                                                     .emitted_us = MOMENT_MAX * INT64_C(1000000) } };
    char *const names[] = { t.event.type, t.event.entity_name, t.event.entity_key, t.event.job };
    char out[TERMS_MAX + 1], again[TERMS_MAX + 1];
    for (int i = 0; i < 4; i++)
        memset(names[i], '"', CHECK_NAME_MAX);
    memset(t.event.listener, 'l', LISTENER_NAME_MAX);
    terms_print(&t, out);
    CU_ASSERT_TRUE(strlen(out) < TERMS_MAX);
    struct terms read;
    CU_ASSERT_EQUAL(terms_parse(out, &read, NULL), 0);
    CU_ASSERT_TRUE(read.has_event);
    CU_ASSERT_STRING_EQUAL(read.event.entity_key, t.event.entity_key);
    CU_ASSERT_STRING_EQUAL(terms_print(&read, again), out);
    char text[CHECK_NAME_MAX + 9] = "event ";
    memset(text + 6, 'n', CHECK_NAME_MAX + 1);
    refused(text, "expected 1 to 1024 bytes");
}

/* What a newer engine has written is never deleted here. */
static void what_begins_with_another_word_is_taken_for_that_of_a_schedule(void)
{
    static const struct { const char *terms; bool recurs, is_delivery; } all[] = {
        { NULL, false, false },
        { "schedule a every 5", true, false },
        { "event e", false, true },
        { " \tevent \"e\"", false, true },
        { "events 5", true, false },
        { "event", true, false },
        { "", true, false },
        { "every 5 event e", true, false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct check c = { .terms = all[i].terms };
        CU_ASSERT_EQUAL(check_recurs(&c), all[i].recurs);
        CU_ASSERT_EQUAL(check_is_delivery(&c), all[i].is_delivery);
    }
}

/* Whatever was read before, the memo gives what parsing gives. */
static void a_memo_gives_what_parsing_gives(void)
{
    static const char *const all[] = {
        "schedule \"a\" every 300 bias 0.0667 missed run_once",
        "schedule \"another one\" every 300 bias 0.0667 missed run_once",
        "schedule \"a\" every 301 bias 0.0667 missed run_once",
        "schedule \"a\" every 301 bias 0.0667 missed run_once from 1772370900",
        "schedule \"b\" every 301 bias 0.0667 missed run_once from 1772370900",
        "schedule \"b\" every 301 bias 0.0667 missed run_once payload once",
        "schedule \"\" every 301 bias 0.0667 missed run_once payload once",
        "schedule \"b",
        "schedule \"b\"",
        "schedule \"b\"every 301 bias 0.0667 missed run_once payload once",
        "schedule \"\"\" every 301 bias 0.0667 missed run_once payload once",
        "schedule \"b\"\" every 301 bias 0.0667 missed run_once payload once\" every 5",
        "schedule \"b\1\" every 5",
        "schedule \"c\" every 5",
        "schedule \"b\1\" every 5",
        "schedule \"b\x7f\" every 5",
        "schedule \"\xc3\" every 5",
        "schedule \"für Köln\" every 5",
        "schedule \"c\" every 5",
        "schedule c every 5",
        "schedule \"c\" every 5 every 5",
        "schedule \"d\" every 5 every 5",
        "schedule \"c\" cron \"0 9 * * mon-fri\" zone \"Europe/Amsterdam\" missed run_all",
        "schedule \"d\" cron \"0 9 * * mon-fri\" zone \"Europe/Amsterdam\" missed run_all",
        "event late of orders key 42 job look number 1 failures 0 first 0 listener hook at 1",
        "schedule \"d\" cron \"0 9 * * mon-fri\" zone \"Europe/Amsterdam\" missed run_all",
        "schedule \"e\" every 5",
        "schedule \"e\" every 5 digest \"e\"",
        "schedule \"f\" every 5 digest \"e\"",
    };
    static struct terms_memo memo;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct terms wanted;
        struct err err = { 0 }, of_memo = { 0 };
        char text[TERMS_MAX + 1], memo_text[TERMS_MAX + 1];
        int rc = terms_parse(all[i], &wanted, &err);
        const struct terms *found = terms_read(&memo, all[i], &of_memo);
        CU_ASSERT_EQUAL_FATAL(found != NULL, rc == 0);
        CU_ASSERT_STRING_EQUAL(of_memo.text, err.text);
        if (found)
            CU_ASSERT_STRING_EQUAL(terms_print(found, memo_text), terms_print(&wanted, text));
    }
}

static void a_name_longer_than_is_allowed_is_refused_beside_a_memo(void)
{
    static struct terms_memo memo;
    char text[400], name[300];
    for (int len = RECURRENCE_NAME_MAX - 1; len <= RECURRENCE_NAME_MAX + 1; len++) {
        memset(name, 'n', sizeof name);
        name[len] = '\0';
        CU_ASSERT_PTR_NOT_NULL(terms_read(&memo, "schedule \"a\" every 5", NULL));
        snprintf(text, sizeof text, "schedule \"%s\" every 5", name);
        const struct terms *found = terms_read(&memo, text, NULL);
        CU_ASSERT_EQUAL(found != NULL, len <= RECURRENCE_NAME_MAX);
        CU_ASSERT(!found || !strcmp(found->recurrence.name, name));
    }
}

static const struct test tests[] = {
    TEST(what_is_read_is_written_in_one_form),
    TEST(errors_name_the_word_and_its_column),
    TEST(the_longest_terms_fit),
    TEST(the_longest_terms_of_an_event_fit),
    TEST(what_begins_with_another_word_is_taken_for_that_of_a_schedule),
    TEST(a_memo_gives_what_parsing_gives),
    TEST(a_name_longer_than_is_allowed_is_refused_beside_a_memo),
    { NULL, NULL },
};

const struct suite suite_terms = { .name = "terms", .tests = tests };
