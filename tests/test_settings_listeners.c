/* test_settings_listeners.c - the listeners of the settings: read, refused, printed. */
#include "settings_fixture.h"

#include <stdlib.h>
#include <string.h>
#include "../engine/base/settings_listeners.h"
#include "../engine/base/settings_print.h"

#define JOBS "jobs = ( { name = \"hook\"; plugin = \"p\"; }, { name = \"a b\"; plugin = \"p\"; } );\n"

static void without_any_nobody_listens(void)
{
    struct settings s = parsed(JOBS);
    CU_ASSERT_EQUAL(s.nlisteners, 0);
    settings_release(&s);
    s = parsed(JOBS "listeners = ( );");
    CU_ASSERT_EQUAL(s.nlisteners, 0);
    settings_release(&s);
}

static void listeners_are_read(void)
{
    struct settings s = parsed(JOBS "listeners = (\n"
                                    "  { events = \"order.*\"; job = \"hook\"; },\n"
                                    "  { name = \"Mail-2.x_y\"; events = [\"a\", \"*\"];\n"
                                    "    except = (\"b.*\"); job = \"a b\"; },\n"
                                    "  { name = \"3\"; events = (\"a\"); except = []; job = \"hook\"; } );");
    CU_ASSERT_EQUAL_FATAL(s.nlisteners, 3);
    const struct listener_settings *l = s.listeners;
    CU_ASSERT_STRING_EQUAL(l[0].name, "hook");
    CU_ASSERT_STRING_EQUAL(l[0].job, "hook");
    CU_ASSERT_PTR_NOT_NULL(strstr(l[0].from, "test.cfg:3"));
    CU_ASSERT_EQUAL_FATAL(l[0].nevents, 1);
    CU_ASSERT_STRING_EQUAL(l[0].events[0], "order.*");
    CU_ASSERT_EQUAL(l[0].nexcept, 0);
    CU_ASSERT_STRING_EQUAL(l[1].name, "Mail-2.x_y");
    CU_ASSERT_STRING_EQUAL(l[1].job, "a b");
    CU_ASSERT_EQUAL_FATAL(l[1].nevents, 2);
    CU_ASSERT_STRING_EQUAL(l[1].events[1], "*");
    CU_ASSERT_EQUAL_FATAL(l[1].nexcept, 1);
    CU_ASSERT_STRING_EQUAL(l[1].except[0], "b.*");
    CU_ASSERT_EQUAL(l[2].nexcept, 0);
    settings_release(&s);
}

static void bad_listeners_are_refused_with_their_places(void)
{
    static const struct { const char *text, *words;
    } all[] = {
        { "listeners = 5;", "test.cfg:2: listeners: expected a list of at most 256 groups" },
        { "listeners = { a = { }; };", "test.cfg:2: listeners: expected a list" },
        { "listeners = (\n 5 );", "test.cfg:3: listeners: expected a group, { events = " },
        { "listeners = ( { events = \"*\"; } );", "a listener without job: expected the name of a job" },
        { "listeners = ( { job = \"hook\"; } );", "a listener without events: expected names of events" },
        { "listeners = ( { job = \"hook\";\n event = \"*\"; } );",
          "test.cfg:3: unknown setting \"event\" of a listener: expected name, events, except, "
          "job, digest or timezone" },
        { "listeners = (\n { events = \"*\"; job = \"hok\"; } );",
          "test.cfg:3: a listener's job is \"hok\", and there is no such job; did you mean \"hook\"?" },
        { "listeners = ( { events = \"*\"; job = \"something else\"; } );",
          "there is no such job: expected a job of these settings" },
        { "listeners = ( { events = \"*\"; job = \"a b\"; } );",
          "a listener without name, whose job is called \"a b\": expected a name of letters, digits" },
        { "listeners = ( { events = \"*\"; job = \"hook\"; },\n { events = \"a\"; job = \"hook\"; } );",
          "test.cfg:3: duplicate listener \"hook\", as at test.cfg:2: expected each name once" },
        { "listeners = ( { name = \"a/b\"; events = \"*\"; job = \"hook\"; } );",
          "name = \"a/b\" of a listener: expected letters, digits" },
        { "listeners = ( { events = \"order.*.late\"; job = \"hook\"; } );",
          "events = \"order.*.late\" of a listener: expected names of events" },
        { "listeners = ( { events = [\"a\",\n \"**\"]; job = \"hook\"; } );",
          "events = an array of a listener" },
        { "listeners = ( { events = \"\"; job = \"hook\"; } );", "events = \"\" of a listener: expected" },
        { "listeners = ( { events = []; job = \"hook\"; } );", "events = an array of a listener: expected" },
        { "listeners = ( { events = 5; job = \"hook\"; } );", "events = 5 of a listener: expected" },
        { "listeners = ( { events = \"a\\x01\"; job = \"hook\"; } );", "events = " },
        { "listeners = ( { events = \"*\"; except = \"a*b\"; job = \"hook\"; } );",
          "except = \"a*b\" of a listener: expected" },
        { "listeners = ( { events = \"*\"; job = 5; } );",
          "job = 5 of a listener: expected the name of a job" },
        { "listeners = ( { events = \"?\"; job = \"hook\"; } );",
          "events = \"?\" of a listener: expected names of events" },
        { "listeners = ( { events = \"order.?\"; job = \"hook\"; } );",
          "a star stands at the end, there is no other pattern (no ?, [ ] or { })" },
        { "listeners = ( { events = \"order.[ab]\"; job = \"hook\"; } );", "events = \"order.[ab]\" of a" },
        { "listeners = ( { events = \"order.{a,b}\"; job = \"hook\"; } );", "events = \"order.{a,b}\" of a" },
        { "listeners = ( { events = \"*\";\n except = \"b?\"; job = \"hook\"; } );",
          "test.cfg:3: except = \"b?\" of a listener: expected" },
        { "listeners = ( {\n name = \"\"; events = \"*\"; job = \"hook\"; } );",
          "test.cfg:3: name = \"\" of a listener: expected letters, digits" },
        { "listeners = ( { events = \"*\"; job = \"\"; } );",
          "job = \"\" of a listener: expected the name of a job" },
        { "listeners = ( { events = \"*\"; digest = \"\"; job = \"hook\"; } );",
          "digest = \"\" of a listener: expected a time" },
        { "listeners = ( { events = \"*\"; timezone = \"\"; job = \"hook\"; } );",
          "timezone = \"\" of a listener: expected the name of a time zone" },
        { "listeners = (\n { events = [\"order.*\", \"delivery.failed*\"]; job = \"hook\"; } );",
          "test.cfg:3: a listener's events have \"delivery.failed*\": expected \"delivery.failed\", which is "
          "heard only by its full name" },
        { "listeners = (\n { events = \"*\"; except = \"*\"; job = \"hook\"; } );",
          "test.cfg:3: a listener's except leaves out all that its events name, and nothing is left to hear: "
          "expected less in except" },
        { "listeners = ( { events = [\"order.late\", \"ticket.*\"];\n"
          "except = [\"a\", \"order.*\", \"tick*\"]; job = \"hook\"; } );", "nothing is left to hear" },
        { "listeners = ( { events = \"a\"; except = [\"a\"]; job = \"hook\"; } );",
          "nothing is left to hear" },
        { "listener = ( );", "unknown setting \"listener\"; did you mean \"listeners\"?" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", JOBS, all[i].text);
        refused(text, all[i].words);
    }
}

/* Each leaves something. */
static void what_excepts_a_part_is_taken(void)
{
    static const char *const all[] = {
        "events = \"*\"; except = \"order.*\";",
        "events = \"order.*\"; except = \"order.late\";",
        "events = \"order.*\"; except = \"order.late*\";",
        "events = [\"order.*\", \"a\"]; except = \"order.*\";",
        "events = \"order.late\"; except = \"order.later\";",
        "events = \"delivery.failed\"; except = \"order.*\";",
        "events = \"delivery.*\";",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[512];
        snprintf(text, sizeof text, JOBS "listeners = ( { %s job = \"hook\"; } );", all[i]);
        struct settings s = parsed(text);
        CU_ASSERT_EQUAL(s.nlisteners, 1);
        settings_release(&s);
    }
}

static char *listeners(int n, const char *events)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fputs(JOBS "listeners = (", f);
    for (int i = 0; i < n; i++)
        fprintf(f, "%s { name = \"n%d\"; events = \"%s\"; job = \"hook\"; }", i ? "," : "", i, events);
    fputs(" );", f);
    fclose(f);
    return text;
}

static void their_number_and_the_length_of_a_pattern_are_bounded(void)
{
    char *text = listeners(LISTENERS_MAX, "*");
    struct settings s = parsed(text);
    CU_ASSERT_EQUAL(s.nlisteners, LISTENERS_MAX);
    settings_release(&s);
    free(text);
    text = listeners(LISTENERS_MAX + 1, "*");
    refused(text, "expected a list of at most 256 groups");
    free(text);
    char events[1026];
    memset(events, 'e', sizeof events - 1);
    events[1025] = '\0';
    text = listeners(1, events);
    refused(text, "of a listener: expected names of events");
    free(text);
    text = listeners(1, events + 1);
    s = parsed(text);
    CU_ASSERT_EQUAL(s.nlisteners, 1);
    settings_release(&s);
    free(text);
}

static char *printed(const struct settings *s)
{
    char *text;
    size_t size;
    struct err err;
    FILE *f = open_memstream(&text, &size);
    CU_ASSERT_EQUAL(settings_print(s, f, SETTINGS_BARE, false, &err), 0);
    fclose(f);
    return text;
}

static void what_is_printed_reads_back(void)
{
    struct settings s = parsed(JOBS "listeners = ( { events = \"order.*\"; job = \"hook\"; },\n"
                                    "{ name = \"m\"; events = [\"a\\\"\", \"*\"]; except = \"b\"; "
                                    "digest = \"cron @daily\"; timezone = \"UTC\"; "
                                    "job = \"a b\"; } );");
    char *text = printed(&s);
    struct settings again = parsed(text);
    char *text_again = printed(&again);
    CU_ASSERT_STRING_EQUAL(text, text_again);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "        events = [\"a\\\"\", \"*\"];\n        except = [\"b\"];\n"));
    CU_ASSERT_EQUAL(again.nlisteners, 2);
    settings_release(&s);
    settings_release(&again);
    free(text);
    free(text_again);
}

static const struct test tests[] = {
    TEST(without_any_nobody_listens),
    TEST(listeners_are_read),
    TEST(bad_listeners_are_refused_with_their_places),
    TEST(what_excepts_a_part_is_taken),
    TEST(their_number_and_the_length_of_a_pattern_are_bounded),
    TEST(what_is_printed_reads_back),
    { NULL, NULL },
};

const struct suite suite_settings_listeners = { .name = "settings_listeners", .tests = tests };
