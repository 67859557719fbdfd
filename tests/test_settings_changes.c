/* test_settings_changes.c - what differs between two settings is named, and nothing else. */
#include "settings_fixture.h"

#include <stdio.h>

#include "../engine/base/settings_changes.h"

static void changes_are(const char *before, const char *after, const char *expected)
{
    struct settings was = parsed(before), is = parsed(after);
    struct arena *a = arena_new(4096);
    CU_ASSERT_STRING_EQUAL(settings_changes(&was, &is, a), expected);
    arena_free(a);
    settings_release(&was);
    settings_release(&is);
}

#define JOB "plugin = \"noop\"; settings = { answer = \"done\"; };"

static void the_same_settings_have_no_changes(void)
{
    const char *text = "workers = 2; serve = [0, 30]; plugin_dirs = [\"/a\"]; jobs = { a = { " JOB " }; };";
    changes_are("", "", "");
    changes_are(text, text, "");
    changes_are("", "workers = 0;", "");
    changes_are("jobs = { a = { " JOB " }; };", "jobs = ( { name = \"a\"; " JOB " } );", "");
}

static void settings_of_each_type_are_named(void)
{
    changes_are("workers = 2;", "workers = 3;", "workers");
    changes_are("", "keep = \"7d\"; serve = [15]; page_bytes = \"1MiB\"; prepared = false;",
                "prepared, page_bytes, serve, keep");
    changes_are("plugin_dirs = [\"/a\"];", "plugin_dirs = [\"/a\", \"/b\"];", "plugin_dirs");
    changes_are("engine_name = \"a\";", "", "engine_name");
    changes_are("timeout = \"1s\";", "timeout = \"2s\";", "timeout");
}

/* The password of a URL and the values of a job count, and are not told. */
static void secrets_count(void)
{
    changes_are("store = \"postgresql://me:one@db/shop\";", "store = \"postgresql://me:two@db/shop\";",
                "store");
    changes_are("jobs = { a = { plugin = \"p\"; settings = { token = \"one\"; }; }; };",
                "jobs = { a = { plugin = \"p\"; settings = { token = \"two\"; }; }; };", "jobs (changed: a)");
    static const char one[] =
        "jobs = { a = { plugin = \"p\"; settings = { env = [\"TOKEN=@secret:one\"]; }; }; };";
    changes_are(one, one, "");
    changes_are(one, "jobs = { a = { plugin = \"p\"; settings = { env = [\"TOKEN=@secret:two\"]; }; }; };",
                "jobs (changed: a)");
}

static void jobs_are_new_gone_or_changed(void)
{
    changes_are("jobs = { a = { " JOB " }; b = { " JOB " }; c = { " JOB " }; };",
                "jobs = { a = { " JOB " }; b = { " JOB " timeout = \"1s\"; }; d = { " JOB " }; };",
                "jobs (new: d; gone: c; changed: b)");
    changes_are("workers = 2;", "jobs = { a = { " JOB " }; };", "workers, jobs (new: a)");
}

static void listeners_are_named(void)
{
    changes_are("jobs = { a = { " JOB " }; };",
                "jobs = { a = { " JOB " }; }; listeners = ( { events = \"x.*\"; job = \"a\"; } );",
                "listeners");
}

static void many_are_counted(void)
{
    char text[4000] = "jobs = { ";
    size_t n = strlen(text);
    for (int i = 0; i < 25; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "j%d = { plugin = \"noop\"; }; ", i);
    snprintf(text + n, sizeof text - n, "};");
    changes_are("", text, "jobs (new: j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, j10, j11, j12, j13, j14, j15, "
                          "j16, j17, j18, j19 and 5 more)");
}

static const struct test tests[] = {
    TEST(the_same_settings_have_no_changes),
    TEST(settings_of_each_type_are_named),
    TEST(secrets_count),
    TEST(jobs_are_new_gone_or_changed),
    TEST(listeners_are_named),
    TEST(many_are_counted),
    { NULL, NULL },
};

const struct suite suite_settings_changes = { "settings_changes", settings_fixture_setup,
                                              settings_fixture_teardown, tests };
