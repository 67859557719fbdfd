/* test_listener_line.c - listeners as lines of text, which are compared. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "../engine/base/utf8.h"
#include "../engine/rules/listener_line.h"

static const char *two[] = { "order.*", "ticket.closed" }, *turned[] = { "ticket.closed", "order.*" },
    *thrice[] = { "order.*", "ticket.closed", "order.*" }, *one[] = { "order.*" },
    *other[] = { "ticket.closed" }, *sharp[] = { "\xc3\xbc\nx", "\xff" };

#define EVENTS(patterns) .events = patterns, .nevents = sizeof patterns / sizeof *patterns
#define NOT(patterns) .except = patterns, .nexcept = sizeof patterns / sizeof *patterns
#define HOOK .name = "hook", .job = "tell"

static struct listener_line read_line(const struct listener_settings *l)
{
    static char lines[8][LISTENER_LINE_SIZE];
    static int next;
    struct listener_line line = { .name = "" };
    const char *at = lines[next = (next + 1) % 8];
    listener_line(l, lines[next]);
    CU_ASSERT_TRUE(listener_line_next(&at, &line));
    CU_ASSERT_STRING_EQUAL(at, "");
    CU_ASSERT_EQUAL(line.mark_length, LISTENER_MARK_SIZE - 1);
    return line;
}

static bool are_same(const struct listener_settings *a, const struct listener_settings *b)
{
    struct listener_line of_a = read_line(a), of_b = read_line(b);
    return !memcmp(of_a.mark, of_b.mark, LISTENER_MARK_SIZE - 1);
}

static void words_say_what_is_heard(void)
{
    struct listener_settings l = { HOOK, EVENTS(two) };
    CU_ASSERT_STRING_EQUAL(read_line(&l).words, "job tell: order.*, ticket.closed");
    CU_ASSERT_EQUAL(read_line(&l).name_length, 4);
    struct listener_settings digest = { HOOK, EVENTS(one), NOT(other), .digest = "15m" };
    CU_ASSERT_STRING_EQUAL(read_line(&digest).words, "job tell, each 15m: order.*, but not ticket.closed");
    digest.digest = "cron 0 8 * * mon-fri";
    digest.timezone = "Europe/Berlin";
    CU_ASSERT_STRING_EQUAL(read_line(&digest).words, "job tell, cron 0 8 * * mon-fri Europe/Berlin: order.*, "
                                                     "but not ticket.closed");
}

static void what_decides_nothing_leaves_the_mark(void)
{
    struct listener_settings l = { HOOK, EVENTS(two), NOT(two) };
    struct listener_settings in_turn = { HOOK, EVENTS(turned), NOT(turned), .from = "other.cfg:7" };
    struct listener_settings twice = { HOOK, EVENTS(thrice), NOT(thrice) };
    CU_ASSERT_TRUE(are_same(&l, &in_turn));
    CU_ASSERT_TRUE(are_same(&l, &twice));
    struct listener_settings minutes = { HOOK, EVENTS(one), .digest = "15m" };
    struct listener_settings seconds = { HOOK, EVENTS(one), .digest = "900s" };
    CU_ASSERT_TRUE(are_same(&minutes, &seconds));
}

static void all_that_decides_is_in_the_mark(void)
{
    const struct listener_settings all[] = {
        { HOOK, EVENTS(one) },
        { .name = "hook", .job = "mail", EVENTS(one) },
        { HOOK, EVENTS(two) },
        { HOOK, EVENTS(one), NOT(other) },
        { HOOK, EVENTS(other), NOT(one) },
        { HOOK, EVENTS(one), .digest = "15m" },
        { HOOK, EVENTS(one), .digest = "16m" },
        { HOOK, EVENTS(one), .digest = "cron 0 8 * * *" },
        { HOOK, EVENTS(one), .digest = "cron 0 8 * * *", .timezone = "Europe/Berlin" },
        { HOOK, EVENTS(one), .digest = "no time" },
    };
    const int n = sizeof all / sizeof *all;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            CU_ASSERT_FALSE(are_same(&all[i], &all[j]));
}

/* A database takes only text, and a line has to stay one. */
static void a_line_is_text_whatever_the_settings_have(void)
{
    static const char *many[64];
    char longest[1025], line[LISTENER_LINE_SIZE];
    for (int before = 0; before < 3; before++) {
        memset(longest, 'x', (size_t)before);
        for (int i = before; i + 3 <= 1024; i += 3)
            memcpy(longest + i, "\xe2\x82\xac", 4);
        for (int i = 0; i < 64; i++)
            many[i] = longest;
        struct listener_settings l = { HOOK, EVENTS(many) };
        listener_line(&l, line);
        CU_ASSERT_TRUE(strlen(line) < LISTENER_LINE_SIZE && utf8_is_valid(line, strlen(line)));
        CU_ASSERT_STRING_EQUAL(line + strlen(line) - 3, "...");
    }
    struct listener_settings l = { HOOK, EVENTS(sharp) };
    CU_ASSERT_STRING_EQUAL(read_line(&l).words, "job tell: \xc3\xbc?x, ");
}

/* What engines noted may have been written by somebody else. */
static void lines_that_lack_something_are_read(void)
{
    const char *at = "\n\na 1 w x\nb 2\n\nc\n";
    struct listener_line line;
    CU_ASSERT_TRUE(listener_line_next(&at, &line));
    CU_ASSERT(line.name_length == 1 && line.mark_length == 1 && line.words_length == 3);
    CU_ASSERT_TRUE(listener_line_next(&at, &line));
    CU_ASSERT(line.name_length == 1 && line.mark_length == 1 && line.words_length == 0);
    CU_ASSERT_TRUE(listener_line_next(&at, &line));
    CU_ASSERT(*line.name == 'c' && line.name_length == 1 && line.mark_length == 0 && line.words_length == 0);
    CU_ASSERT_FALSE(listener_line_next(&at, &line));
    CU_ASSERT_FALSE(listener_line_next(&at, &line));
}

static const struct test tests[] = {
    TEST(words_say_what_is_heard),
    TEST(what_decides_nothing_leaves_the_mark),
    TEST(all_that_decides_is_in_the_mark),
    TEST(a_line_is_text_whatever_the_settings_have),
    TEST(lines_that_lack_something_are_read),
    { 0 },
};
const struct suite suite_listener_line = { "listener_line", NULL, NULL, tests };
