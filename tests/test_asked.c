/* test_asked.c - settings that a plug-in has asked for, and those that it does not have. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "../engine/worker/asked.h"

static const char settings[] = "own = { table = \"orders\"; delays = [1, 2]; inner = { one = 1; two = 2; };"
                               " list = ( { a = 1; } ); };";

/* Asks for `names`, a blank between two, and looks. "": nothing unknown was found. */
static const char *found(const char *names, bool only_misspelt)
{
    static char why[200];
    char name[64];
    config_t config;
    struct asked asked = { 0 };
    *why = '\0';
    config_init(&config);
    CU_ASSERT_EQUAL_FATAL(config_read_string(&config, settings), CONFIG_TRUE);
    const config_setting_t *own = config_lookup(&config, "own");
    for (int n = 0; sscanf(names, " %63s%n", name, &n) == 1; names += n)
        asked_note(&asked, own, name);
    asked_finds_unknown(&asked, own, only_misspelt, why, sizeof why);
    asked_release(&asked);
    config_destroy(&config);
    return why;
}
#define FOUND(words, names, only) CU_ASSERT_STRING_EQUAL(found(names, only), words)

static void what_was_asked_for_is_known_and_so_are_its_elements(void)
{
    FOUND("", "table delays inner list", false);
    FOUND("", "table delays.0 inner.one inner.two list.0.a other", false);
    FOUND("", "list delays delays.7 inner table table.x", false);
}

static void what_was_not_asked_for_is_unknown_and_the_nearest_is_suggested(void)
{
    FOUND("there is no setting 'table'; did you mean 'tabel'?", "tabel delays inner list", false);
    FOUND("there is no setting 'table'; its plug-in asks for list, inner, delays", "delays inner list",
          false);
    FOUND("there is no setting 'table'; its plug-in asks for none", "", false);
    FOUND("there is no setting 'inner.two'; did you mean 'inner.twp'?",
          "table delays inner.one inner.twp list", false);
}

static void an_open_that_failed_is_given_a_name_only_where_one_is_near(void)
{
    FOUND("there is no setting 'table'; did you mean 'tabel'?", "tabel", true);
    FOUND("", "something_else", true);
}

static void names_of_any_length_do_no_harm(void)
{
    char name[2000];
    struct asked asked = { 0 };
    config_t config;
    char why[20];
    config_init(&config);
    CU_ASSERT_EQUAL_FATAL(config_read_string(&config, settings), CONFIG_TRUE);
    const config_setting_t *own = config_lookup(&config, "own");
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    name[1500] = '.';
    asked_note(&asked, own, name);
    asked_note(&asked, own, "");
    asked_note(&asked, own, ".");
    asked_note(&asked, NULL, "a.b.c");
    CU_ASSERT_TRUE(asked_finds_unknown(&asked, own, false, why, sizeof why));
    CU_ASSERT_EQUAL(strlen(why), sizeof why - 1);
    CU_ASSERT_FALSE(asked_finds_unknown(&asked, NULL, false, why, sizeof why));
    asked_release(&asked);
    config_destroy(&config);
}

static const struct test tests[] = {
    TEST(what_was_asked_for_is_known_and_so_are_its_elements),
    TEST(what_was_not_asked_for_is_unknown_and_the_nearest_is_suggested),
    TEST(an_open_that_failed_is_given_a_name_only_where_one_is_near),
    TEST(names_of_any_length_do_no_harm),
    { 0 }
};

const struct suite suite_asked = { .name = "asked", .tests = tests };
