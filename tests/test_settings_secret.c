/* test_settings_secret.c - values that stand in files and variables: which are taken, which are
 * refused and with what words, and that nothing which is shown has them. */
#include "settings_fixture.h"

#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../engine/base/settings_print.h"
#include "../engine/base/settings_secret.h"

#define URL "postgresql://u:hunter2@h/db"

static void write_secret(const char *name, const char *text, mode_t mode)
{
    unlink(name);
    write_file(name, text);
    CU_ASSERT_EQUAL(chmod(name, mode), 0);
}

static int teardown(void)
{
    unlink("key");
    unlink("sub/key");
    unlink("link");
    rmdir("keys");
    unsetenv("SETTINGS_SECRET");
    return settings_fixture_teardown();
}

static char *printed(const struct settings *s, bool secrets)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_EQUAL(settings_print(s, out, SETTINGS_BARE, secrets, NULL), 0);
    fclose(out);
    return text;
}

static bool stands_in(const struct settings *s, bool secrets, const char *words)
{
    char *text = printed(s, secrets);
    bool found = strstr(text, words);
    free(text);
    return found;
}

static const char *own(const struct settings *s, const char *path)
{
    config_setting_t *node = config_setting_lookup((config_setting_t *)s->jobs[0].own, path);
    return node ? config_setting_get_string(node) : NULL;
}

static void a_file_and_a_variable_stand_for_what_they_hold(void)
{
    write_secret("key", URL "\n", 0600);
    setenv("SETTINGS_SECRET", "16", 1);
    write_file("a.cfg", "store = \"@file:key\"; page = \"@env:SETTINGS_SECRET\";\n"
                        "timeout = \"@env:SETTINGS_SECRET\";");
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_STRING_EQUAL(s.store, URL);
    CU_ASSERT_EQUAL(s.page, 16);
    CU_ASSERT_EQUAL(s.defaults.timeout_us, 16000000);
    settings_release(&s);
}

static void only_the_last_line_end_is_dropped(void)
{
    static const struct { const char *text, *value; } cases[] = {
        { "a\n", "a" }, { "a\n\n", "a\n" }, { "a\r\n", "a" }, { " a ", " a " }, { "a\nb", "a\nb" },
    };
    write_file("a.cfg", "jobs = { j = { plugin = \"p\"; settings = { k = \"@file:key\"; }; }; };");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_secret("key", cases[i].text, 0600);
        struct settings s = loaded("a.cfg", NULL, 0);
        CU_ASSERT_STRING_EQUAL(own(&s, "k"), cases[i].value);
        settings_release(&s);
    }
}

static void a_path_is_relative_to_the_file_that_it_stands_in(void)
{
    char absolute[4200];
    mkdir("sub", 0700);
    write_secret("key", "above", 0600);
    write_secret("sub/key", "below", 0600);
    snprintf(absolute, sizeof absolute, "engine_name = \"@file:%s/key\";", settings_fixture_folder());
    write_file("a.cfg", "@include \"sub/c.cfg\"\nschema_owner = \"@file:key\";");
    write_file("sub/c.cfg", "worker_user = \"@file:key\";");
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_STRING_EQUAL(s.worker_user, "below");
    CU_ASSERT_STRING_EQUAL(s.schema_owner, "above");
    settings_release(&s);
    write_file("sub/c.cfg", absolute);
    s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_STRING_EQUAL(s.engine_name, "above");
    settings_release(&s);
}

static void a_flag_and_a_variable_may_refer_too(void)
{
    const struct settings_flag flag = { "--store", "@file:key" };
    write_secret("key", URL, 0600);
    write_file("a.cfg", "");
    struct settings s = loaded("a.cfg", &flag, 1);
    CU_ASSERT_STRING_EQUAL(s.store, URL);
    CU_ASSERT_TRUE(stands_in(&s, false, "store = \"@file:key\""));
    settings_release(&s);
    setenv("PRESCIENT_STORE", "@file:key", 1);
    s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_STRING_EQUAL(s.store, URL);
    settings_release(&s);
    unlink("key");
    load_refused("a.cfg", NULL, 0, "PRESCIENT_STORE: store = \"@file:key\": secret: cannot open ");
    unsetenv("PRESCIENT_STORE");
    load_refused("a.cfg", &flag, 1, "--store: store = \"@file:key\": secret: cannot open ");
}

static void a_job_gets_values_in_lists_and_behind_names(void)
{
    setenv("SETTINGS_SECRET", "s3cr3t", 1);
    write_file("a.cfg",
               "jobs = { j = { plugin = \"p\"; settings = {\n"
               "list = [ \"one\", \"@env:SETTINGS_SECRET\" ];\n"
               "env = [ \"A=@env:SETTINGS_SECRET\", \"B=b\" ];\n"
               "headers = ( \"Authorization: @env:SETTINGS_SECRET\" );\n"
               "group = { k = \"@env:SETTINGS_SECRET\"; };\n"
               "command = [ \"@env:SETTINGS_SECRET\", \"@@file:x\" ];\n"
               "other = \"A=@env:SETTINGS_SECRET\"; }; }; };");
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_STRING_EQUAL(own(&s, "list.[1]"), "s3cr3t");
    CU_ASSERT_STRING_EQUAL(own(&s, "env.[0]"), "A=s3cr3t");
    CU_ASSERT_STRING_EQUAL(own(&s, "env.[1]"), "B=b");
    CU_ASSERT_STRING_EQUAL(own(&s, "headers.[0]"), "Authorization: s3cr3t");
    CU_ASSERT_STRING_EQUAL(own(&s, "group.k"), "s3cr3t");
    CU_ASSERT_STRING_EQUAL(own(&s, "command.[0]"), "@env:SETTINGS_SECRET");
    CU_ASSERT_STRING_EQUAL(own(&s, "command.[1]"), "@@file:x");
    CU_ASSERT_STRING_EQUAL(own(&s, "other"), "A=@env:SETTINGS_SECRET");
    CU_ASSERT_FALSE(stands_in(&s, false, "s3cr3t"));
    CU_ASSERT_TRUE(stands_in(&s, false, "env = [\"A=@env:SETTINGS_SECRET\", \"B=b\"]"));
    const char *secrets[8] = { 0 };
    CU_ASSERT_EQUAL(settings_secret_list(s.jobs[0].own, secrets, 8), 4);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_STRING_EQUAL(secrets[i], "s3cr3t");
    CU_ASSERT_EQUAL(settings_secret_list(s.jobs[0].own, secrets, 1), 4);
    settings_release(&s);
}

static void other_texts_with_an_at_sign_stay(void)
{
    static const struct { const char *text, *value; } cases[] = {
        { "@", "@" }, { "@here", "@here" }, { "@@here", "@@here" }, { "@files:x", "@files:x" },
        { "a@file:x", "a@file:x" }, { "@File:x", "@File:x" }, { "@@file:x", "@file:x" },
        { "@@env:x", "@env:x" }, { "@@@env:x", "@@env:x" }, { "@@secret:x", "@secret:x" },
        { " @env:x", " @env:x" },
    };
    char text[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "engine_name = \"%s\";\n"
                 "jobs = { j = { plugin = \"p\"; settings = { k = \"%s\"; }; }; };", cases[i].text,
                 cases[i].text);
        struct settings s = parsed(text);
        CU_ASSERT_STRING_EQUAL(s.engine_name, cases[i].value);
        CU_ASSERT_STRING_EQUAL(own(&s, "k"), cases[i].value);
        for (int secrets = 0; secrets < 2; secrets++) {
            char *again = printed(&s, secrets);
            struct settings back = parsed(again);
            CU_ASSERT_STRING_EQUAL(back.engine_name, cases[i].value);
            CU_ASSERT_STRING_EQUAL(own(&back, "k"), cases[i].value);
            settings_release(&back);
            free(again);
        }
        settings_release(&s);
    }
}

static void what_a_worker_is_sent_reads_back_as_a_secret(void)
{
    setenv("SETTINGS_SECRET", "@file:/nowhere", 1);     /* a value that looks like a reference */
    struct settings s = parsed("jobs = { j = { plugin = \"p\"; settings = { k = \"@env:SETTINGS_SECRET\";"
                               " env = [ \"A=@env:SETTINGS_SECRET\" ]; }; }; };");
    char *text = printed(&s, true);
    unsetenv("SETTINGS_SECRET");
    struct settings back = parsed(text);
    CU_ASSERT_STRING_EQUAL(own(&back, "k"), "@file:/nowhere");
    CU_ASSERT_STRING_EQUAL(own(&back, "env.[0]"), "A=@file:/nowhere");
    CU_ASSERT_FALSE(stands_in(&back, false, "nowhere"));
    settings_release(&back);
    settings_release(&s);
    free(text);
}

/* What is refused, with the file, the line, the name, what was found and what to do. */
static void what_cannot_be_read_is_refused(void)
{
    static char large[64 * 1024 + 2];
    write_file("a.cfg", "\nstore = \"@file:key\";");
    unlink("key");
    load_refused("a.cfg", NULL, 0, "a.cfg:2: store = \"@file:key\": secret: cannot open ");
    load_refused("a.cfg", NULL, 0, "No such file or directory; write the value there");
    write_secret("key", URL, 0604);
    load_refused("a.cfg", NULL, 0, "may be read by others (mode 0604); expected no read for group");
    write_secret("key", URL, 0620);
    load_refused("a.cfg", NULL, 0, "may be written by others (mode 0620)");
    write_secret("key", "", 0600);
    load_refused("a.cfg", NULL, 0, "key is empty");
    write_secret("key", "\n", 0600);
    load_refused("a.cfg", NULL, 0, "key is empty");
    write_secret("key", "a\xff", 0600);
    load_refused("a.cfg", NULL, 0, "key is no text in UTF-8");
    memset(large, 'a', sizeof large - 1);
    write_secret("key", large, 0600);
    load_refused("a.cfg", NULL, 0, "key is too large: expected at most 65536 bytes");
    unlink("key");
    CU_ASSERT_EQUAL(mkfifo("key", 0600), 0);
    load_refused("a.cfg", NULL, 0, "key is no plain file");
    mkdir("keys", 0700);
    write_file("a.cfg", "store = \"@file:keys\";");
    load_refused("a.cfg", NULL, 0, "keys is ");
    write_file("a.cfg", "store = \"@file:\";");
    load_refused("a.cfg", NULL, 0, "a.cfg:1: store = \"@file:\": expected the path of a file");
    write_file("a.cfg", "jobs = { j = { plugin = \"p\";\n"
                        "settings = { k = [ \"@env:SETTINGS_SECRET\" ]; }; }; };");
    unsetenv("SETTINGS_SECRET");
    load_refused("a.cfg", NULL, 0, "a.cfg:2: jobs.j.settings.k = \"@env:SETTINGS_SECRET\": the variable "
                                   "SETTINGS_SECRET is not in the environment; set it where");
    setenv("SETTINGS_SECRET", "", 1);
    load_refused("a.cfg", NULL, 0, "the variable SETTINGS_SECRET is empty");
    write_file("a.cfg", "store = \"@env:A B\";");
    load_refused("a.cfg", NULL, 0, "expected the name of a variable");
}

static void a_file_of_another_user_is_refused(void)
{
    if (geteuid() != 0)
        return;
    write_file("a.cfg", "store = \"@file:key\";");
    write_secret("key", URL, 0600);
    CU_ASSERT_EQUAL(chown("key", 65534, 65534), 0);
    load_refused("a.cfg", NULL, 0, "key belongs to user 65534; expected root");
    CU_ASSERT_EQUAL(chown("key", 0, 0), 0);
    CU_ASSERT_EQUAL(symlink("key", "link"), 0);
    write_file("a.cfg", "store = \"@file:link\";");
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_STRING_EQUAL(s.store, URL);
    settings_release(&s);
}

static void no_error_has_the_value(void)
{
    static const char *const settings[] = { "page",    "store", "trust",    "schema",       "log_level",
                                            "timeout", "serve", "prepared", "worker_memory" };
    char text[200];
    setenv("SETTINGS_SECRET", "hunter2 hunter3", 1);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct settings s;
        struct err err = { 0 };
        snprintf(text, sizeof text, "%s = \"@env:SETTINGS_SECRET\";", settings[i]);
        CU_ASSERT_EQUAL(settings_parse(&s, text, "test.cfg", &err), ERR_SETTINGS);
        CU_ASSERT_PTR_NULL(strstr(err.text, "hunter"));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "\"@env:SETTINGS_SECRET\": expected"));
    }
    refused("jobs = { j = { plugin = \"p\"; }; };\n"
            "listeners = ( { job = \"j\"; events = \"e\"; name = \"@env:SETTINGS_SECRET\"; } );",
            "test.cfg:2: name = \"@env:SETTINGS_SECRET\" of a listener: expected");
    setenv("SETTINGS_SECRET", "59m", 1);
    refused("trust = \"@env:SETTINGS_SECRET\";",
            "trust = \"@env:SETTINGS_SECRET\" (test.cfg:1): expected less than");
}

static void a_later_value_that_stood_there_is_shown(void)
{
    const struct settings_flag flag = { "--page", "7" };
    setenv("SETTINGS_SECRET", "16", 1);
    write_file("a.cfg", "page = \"@env:SETTINGS_SECRET\"; jobs = {"
                        " a = { plugin = \"p\"; timeout = \"@env:SETTINGS_SECRET\"; };"
                        " b = { plugin = \"p\"; timeout = \"16s\"; }; };");
    struct settings s = loaded("a.cfg", &flag, 1);
    CU_ASSERT_TRUE(stands_in(&s, false, "page = 7"));
    CU_ASSERT_TRUE(stands_in(&s, false, "timeout = \"@env:SETTINGS_SECRET\""));
    CU_ASSERT_TRUE(stands_in(&s, false, "timeout = \"16s\""));
    settings_release(&s);
}

static void secrets_are_hidden_in_texts(void)
{
    static const char *const secrets[] = { "hunter2", "https://h/secret-path/0123", "abc" };
    static const struct { const char *text, *shown; bool is_cut; } cases[] = {
        { "", "", true }, { "nothing", "nothing", true }, { "hunter2", "***", false },
        { "a hunter2 and hunter2hunter2.", "a *** and ******.", false }, { "hunt", "hunt", false },
        { "hunter", "***", true }, { "a hun", "a hun", true }, { "a hunt", "a ***", true },
        { "found 'https://h/secret-path/01...'", "found '***...'", false },
        { "https://h/", "https://h/", false }, { "abc", "abc", true }, { "hhunter2", "h***", false },
        { "left out]\nunter2 said", "left out]\n*** said", false }, { "hunter", "***", false },
        { "left out]\nt-path/0123", "left out]\nt-path/0123", false },
        { "left out]\nsecret-path/0123", "left out]\n***", false },
        { "the //h/secret-path/ of it", "the *** of it", false }, { "path/0123", "path/0123", false },
        { "hunt ter2", "hunt ter2", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s", cases[i].text);
        settings_secret_hide(text, secrets, 3, cases[i].is_cut);
        CU_ASSERT_STRING_EQUAL(text, cases[i].shown);
        snprintf(text, sizeof text, "%s", cases[i].text);
        settings_secret_hide(text, NULL, 0, cases[i].is_cut);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
}

static void the_end_of_a_text_may_be_the_beginning_of_a_secret(void)
{
    static const char *const secrets[] = { "hunter2", "https://h/secret-path/0123", "hunter2hunter3" };
    static const struct { const char *text; size_t open; } cases[] = {
        { "", 0 }, { "nothing", 0 }, { "h", 1 }, { "a hunter", 6 }, { "a hunter2", 7 }, { "hunter3", 0 },
        { "hunter2hunter3", 0 }, { "hunter2 h", 1 }, { "hunter2hunter", 13 }, { "hhh", 1 },
        { "https://h/secret-path/0123", 0 }, { "https://h/secret-path/012", 25 }, { "xh/secret-path/01", 16 },
        { "/secret-path/0123", 0 }, { "path/01", 0 }, { "http://hh", 1 }, { "hunter2\n", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(settings_secret_open_end(cases[i].text, secrets, 3), cases[i].open);
        CU_ASSERT_EQUAL(settings_secret_open_end(cases[i].text, NULL, 0), 0);
    }
    CU_ASSERT_EQUAL(settings_secret_open_end("a hunter2", secrets, 2), 0);
}

static const struct test tests[] = {
    TEST(a_file_and_a_variable_stand_for_what_they_hold),
    TEST(only_the_last_line_end_is_dropped),
    TEST(a_path_is_relative_to_the_file_that_it_stands_in),
    TEST(a_flag_and_a_variable_may_refer_too),
    TEST(a_job_gets_values_in_lists_and_behind_names),
    TEST(other_texts_with_an_at_sign_stay),
    TEST(what_a_worker_is_sent_reads_back_as_a_secret),
    TEST(what_cannot_be_read_is_refused),
    TEST(a_file_of_another_user_is_refused),
    TEST(no_error_has_the_value),
    TEST(a_later_value_that_stood_there_is_shown),
    TEST(secrets_are_hidden_in_texts),
    TEST(the_end_of_a_text_may_be_the_beginning_of_a_secret),
    { NULL, NULL },
};

const struct suite suite_settings_secret = {
    .name = "settings_secret", .setup = settings_fixture_setup, .teardown = teardown, .tests = tests,
};
