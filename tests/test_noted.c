/* test_noted.c - what an engine notes of itself. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/base/cleanup.h"
#include "../engine/base/settings_load.h"
#include "../engine/base/utf8.h"
#include "../engine/rules/listener_line.h"
#include "../engine/run/noted.h"

static struct settings settings;

static struct store_note_listeners fill(void)
{
    struct store_note_listeners n = STORE_NOTE_LISTENERS_INIT;
    struct clocks clocks = { .is_known = true, .offset_us = 1000 };
    struct totals totals = { .began_us = 42, .last_slot = 900, .last_pass_us = 901 };
    noted_fill(&(struct errand_env){ .settings = &settings, .clocks = &clocks }, &totals, &n);
    return n;
}

static void parse(const char *listeners)
{
    char text[32768];
    struct err err;
    snprintf(text, sizeof text, "engine_name = \"shop1\"; jobs = { tell = { plugin = \"noop\"; }; };"
             "listeners = ( %s );", listeners);
    CU_ASSERT_EQUAL_FATAL(settings_parse(&settings, text, "test", &err), 0);
}

static void lines_stand_in_the_order_of_names(void)
{
    static const char *const names[] = { "a", "b", "c.d" };
    struct listener_line line;
    parse("{ name = \"c.d\"; events = \"*\"; job = \"tell\"; }, "
          "{ name = \"a\"; events = \"*\"; job = \"tell\"; }, "
          "{ name = \"b\"; events = \"*\"; job = \"tell\"; }");
    struct store_note_listeners n = fill();
    CU_ASSERT_STRING_EQUAL(n.engine, "shop1");
    CU_ASSERT_STRING_EQUAL(n.file, "");
    const char *at = n.listeners;
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(listener_line_next(&at, &line));
        CU_ASSERT_EQUAL_FATAL(line.name_length, (int)strlen(names[i]));
        CU_ASSERT_FALSE(memcmp(line.name, names[i], strlen(names[i])));
    }
    CU_ASSERT_STRING_EQUAL(at, "\n");
    arena_free(n.arena);
    settings_release(&settings);
    parse("");
    n = fill();
    CU_ASSERT_STRING_EQUAL(n.listeners, "");
    arena_free(n.arena);
    settings_release(&settings);
}

static void the_names_of_jobs_are_a_line_each_if_they_have_room(void)
{
    struct err err;
    CLEANUP(cleanup_free) char *many = malloc(1024 * 1024);
    char *end = stpcpy(many, "jobs = { ");
    CU_ASSERT_EQUAL_FATAL(settings_parse(&settings, "jobs = { tell = { plugin = \"noop\"; }; "
                                         "look = { plugin = \"noop\"; }; };", "test", &err), 0);
    struct store_note_listeners n = fill();
    CU_ASSERT_STRING_EQUAL(n.jobs, "tell\nlook\n");
    arena_free(n.arena);
    settings_release(&settings);
    for (int i = 0; i < 3000; i++)
        end += sprintf(end, "job_with_quite_a_long_name_%04d = { plugin = \"noop\"; }; ", i);
    strcpy(end, "};");
    CU_ASSERT_EQUAL_FATAL(settings_parse(&settings, many, "test", &err), 0);
    n = fill();
    CU_ASSERT_PTR_NULL(n.jobs);
    CU_ASSERT_PTR_NOT_NULL(n.listeners);
    arena_free(n.arena);
    settings_release(&settings);
}

/* The table has room for 65,792 bytes. */
static void the_most_listeners_have_room(void)
{
    static char all[32768];
    size_t at = 0;
    for (int i = 0; i < 256; i++)
        at += (size_t)snprintf(all + at, sizeof all - at,
                               "%s{ name = \"l%062d\"; events = \"*\"; job = \"tell\"; }",
                               i ? "," : "", i);
    parse(all);
    struct store_note_listeners n = fill();
    CU_ASSERT_TRUE(strlen(n.listeners) <= 65792);
    int lines = 0;
    struct listener_line line;
    for (const char *next = n.listeners; listener_line_next(&next, &line); lines++)
        CU_ASSERT_EQUAL(line.name_length, 63);
    CU_ASSERT_EQUAL(lines, 256);
    arena_free(n.arena);
    settings_release(&settings);
}

/* A path may be long, and need not be text. */
static void the_end_of_a_path_is_noted_as_text(void)
{
    char path[600];
    parse("");
    memset(path, 'x', sizeof path);
    strcpy(path + 590, "/\xff\xc3\xbc.cfg");
    settings.file = path;
    settings.engine_name = NULL;
    struct store_note_listeners n = fill();
    CU_ASSERT_EQUAL(strlen(n.file), 256);
    CU_ASSERT_TRUE(utf8_is_valid(n.file, strlen(n.file)));
    CU_ASSERT_STRING_EQUAL(strrchr(n.file, '/'), "/?\xc3\xbc.cfg");
    CU_ASSERT_TRUE(strlen(n.engine) > 0);           /* the host */
    arena_free(n.arena);
    settings_release(&settings);
}

static void what_cron_starts_is_noted_for_two_slots(void)
{
    CU_ASSERT_EQUAL(noted_command_s(1), 1800);
    CU_ASSERT_EQUAL(noted_command_s(900), 1800);
    CU_ASSERT_EQUAL(noted_command_s(901), 1802);
    CU_ASSERT_EQUAL(noted_command_s(86400), 172800);
}

static void it_says_what_it_is_and_serves(void)
{
    parse("");
    settings.serve[0] = 0;
    settings.serve[1] = 30;
    settings.nserve = 2;
    struct store_note_listeners n = fill();
    CU_ASSERT_STRING_EQUAL(n.serves, "0, 30");
    CU_ASSERT_EQUAL(n.started_us, 1042);
    CU_ASSERT_EQUAL(n.last_slot, 900);
    CU_ASSERT_EQUAL(n.last_pass_us, 901);
    CU_ASSERT_EQUAL(n.pid, getpid());
    CU_ASSERT(*n.version && *n.host);
    arena_free(n.arena);
    settings.nserve = 0;
    n = fill();
    CU_ASSERT_STRING_EQUAL(n.serves, "");
    arena_free(n.arena);
    settings_release(&settings);
}

static const struct test tests[] = {
    TEST(it_says_what_it_is_and_serves),
    TEST(the_names_of_jobs_are_a_line_each_if_they_have_room),
    TEST(what_cron_starts_is_noted_for_two_slots),
    TEST(lines_stand_in_the_order_of_names),
    TEST(the_most_listeners_have_room),
    TEST(the_end_of_a_path_is_noted_as_text),
    { 0 },
};
const struct suite suite_noted = { "noted", NULL, NULL, tests };
