/* test_settings_sources.c - where settings come from: files and what they include, variables,
 * flags, and who wins. */
#include "settings_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../engine/base/settings_print.h"
#include "../engine/base/settings_table.h"

/* ---- files and includes ---- */

static void a_named_file_must_be_there(void)
{
    load_refused("nowhere.cfg", NULL, 0, "cannot open nowhere.cfg: No such file or directory");
    mkdir("folder.cfg", 0700);
    load_refused("folder.cfg", NULL, 0, "folder.cfg is a folder: expected a settings file");
}

static void the_file_of_the_working_folder_is_found(void)
{
    write_file("prescient.cfg", "page = 77;");
    struct settings s = loaded(NULL, NULL, 0);
    CU_ASSERT_EQUAL(s.page, 77);
    settings_release(&s);
    unlink("prescient.cfg");
    write_file("a.cfg", "page = 78;");
    s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.page, 78);
    settings_release(&s);
}

static void no_file_at_all_is_fine(void)
{
    if (access("/etc/prescient/prescient.cfg", F_OK) == 0)
        return;
    struct settings s = loaded(NULL, NULL, 0);
    CU_ASSERT_EQUAL(s.page, 2000);
    settings_release(&s);
}

static void an_included_file_is_found_beside_its_includer_or_where_we_work(void)
{
    char absolute[4200];
    mkdir("sub", 0700);
    snprintf(absolute, sizeof absolute,
             "# \"@include\n  @include \"%s/b.cfg\"\nslab = 9; // c\n@include \"sub/d.cfg\"\n",
             settings_fixture_folder());
    write_file("a.cfg", "@include \"sub/c.cfg\" page = 5;");
    write_file("sub/c.cfg", absolute);
    write_file("b.cfg", "workers = 3;");
    write_file("sub/d.cfg", "split_at = 44;\n@include \"e\"");
    write_file("sub/e", "jobs = { a = { plugin = \"p\"; }; };");
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.page, 5);
    CU_ASSERT_EQUAL(s.slab, 9);
    CU_ASSERT_EQUAL(s.workers, 3);
    CU_ASSERT_EQUAL(s.split_at, 44);
    CU_ASSERT_EQUAL(s.njobs, 1);
    settings_release(&s);
}

static void an_error_names_the_included_file_and_its_line(void)
{
    mkdir("sub", 0700);
    write_file("a.cfg", "page = 5;\n@include \"sub/c.cfg\"\nslab = 0;\n");
    write_file("sub/c.cfg", "\n\nworkers = -1;\n");
    load_refused("a.cfg", NULL, 0, "sub/c.cfg:3: workers = -1: expected");
    write_file("sub/c.cfg", "\n\nworkers = 1;\n\n");
    load_refused("a.cfg", NULL, 0, "a.cfg:3: slab = 0: expected");
    write_file("sub/c.cfg", "\nworkers = ;");
    load_refused("a.cfg", NULL, 0, "sub/c.cfg:2: syntax error");
    write_file("sub/c.cfg", "page = 6;");
    load_refused("a.cfg", NULL, 0, "sub/c.cfg:1: duplicate setting name");
    unlink("sub/c.cfg");
    load_refused("a.cfg", NULL, 0, "a.cfg:2: cannot open sub/c.cfg: No such file");
}

static void includes_that_never_end_are_refused(void)
{
    write_file("a.cfg", "@include \"b.cfg\"\n");
    write_file("b.cfg", "@include \"a.cfg\"\n");
    load_refused("a.cfg", NULL, 0, "@include is nested too deep: expected at most 10 levels");
    mkdir("folder.cfg", 0700);
    write_file("a.cfg", "@include \"folder.cfg\"\n");
    load_refused("a.cfg", NULL, 0, "a.cfg:1: folder.cfg is a folder");
}

static void a_file_that_is_too_large_or_no_text_is_refused(void)
{
    write_file("a.cfg", "");
    CU_ASSERT_EQUAL(truncate("a.cfg", 17 << 20), 0);
    load_refused("a.cfg", NULL, 0, "a.cfg: too large: expected a settings file of less than 16777216 bytes");
    FILE *f = fopen("a.cfg", "w");
    fwrite("page = 5;\0page", 1, 14, f);
    fclose(f);
    load_refused("a.cfg", NULL, 0, "a.cfg: a NUL byte at offset 9");
}

/* ---- whose files ---- */

static void a_file_that_others_may_write_is_refused(void)
{
    static const mode_t modes[] = { 0664, 0646, 0666 };
    write_file("prescient.cfg", "page = 77;");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        chmod("prescient.cfg", modes[i]);
        load_refused(NULL, NULL, 0, "/prescient.cfg may be written by others");
        load_refused("prescient.cfg", NULL, 0,
                     "expected no write for group and others: chmod go-w; or name another one with --config");
    }
    chmod("prescient.cfg", 0644);
    struct settings s = loaded(NULL, NULL, 0);
    CU_ASSERT_EQUAL(s.page, 77);
    settings_release(&s);
}

static void a_sticky_bit_on_a_file_keeps_nobody_from_writing_it(void)
{
    write_file("prescient.cfg", "page = 77;");
    chmod("prescient.cfg", 01666);
    load_refused(NULL, NULL, 0, "/prescient.cfg may be written by others (mode 1666)");
    chmod("prescient.cfg", 01644);
    struct settings s = loaded(NULL, NULL, 0);
    CU_ASSERT_EQUAL(s.page, 77);
    settings_release(&s);
}

/* /dev/stdin is a link to a link in /proc: what is behind it is judged as any file is. */
static void standard_input_may_be_the_settings_file(void)
{
    int was = dup(STDIN_FILENO);
    write_file("b.cfg", "page = 79;");
    CU_ASSERT_PTR_NOT_NULL_FATAL(freopen("b.cfg", "r", stdin));
    struct settings s = loaded("/dev/stdin", NULL, 0);
    CU_ASSERT_EQUAL(s.page, 79);
    settings_release(&s);
    chmod("b.cfg", 0666);
    load_refused("/dev/stdin", NULL, 0, "may be written by others (mode 0666)");
    dup2(was, STDIN_FILENO);
    close(was);
}

static void an_included_file_that_others_may_write_is_refused_wherever_it_was_found(void)
{
    mkdir("sub", 0700);
    write_file("a.cfg", "@include \"sub/c.cfg\"");
    write_file("sub/c.cfg", "@include \"d.cfg\"");
    write_file("sub/d.cfg", "page = 77;");
    chmod("sub/d.cfg", 0666);
    load_refused("a.cfg", NULL, 0, "sub/c.cfg:1: settings file: ");
    load_refused("a.cfg", NULL, 0, "/sub/d.cfg may be written by others (mode 0666)");
    write_file("sub/c.cfg", "@include \"b.cfg\"");            /* found in the working folder */
    write_file("b.cfg", "page = 78;");
    chmod("b.cfg", 0622);
    load_refused("a.cfg", NULL, 0, "/b.cfg may be written by others (mode 0622)");
    chmod("b.cfg", 0600);
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.page, 78);
    settings_release(&s);
}

/* Whoever may write the folder can move the file away and put another in its place; with the
 * sticky bit only its owner can. */
static void a_folder_that_others_may_write_is_refused_but_for_a_sticky_one(void)
{
    mkdir("sub", 0700);
    write_file("sub/c.cfg", "page = 77;");
    chmod("sub", 0777);
    load_refused("sub/c.cfg", NULL, 0, "/sub may be written by others (mode 0777)");
    chmod("sub", 01777);
    struct settings s = loaded("sub/c.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.page, 77);
    settings_release(&s);
    chmod("sub", 0700);
}

static void a_link_is_followed_and_what_it_leads_to_is_looked_at(void)
{
    mkdir("sub", 0700);
    write_file("sub/c.cfg", "page = 77;");
    unlink("a.cfg");
    unlink("b.cfg");
    CU_ASSERT_EQUAL_FATAL(symlink("sub/../sub/./c.cfg", "a.cfg") | symlink("a.cfg", "b.cfg"), 0);
    struct settings s = loaded("b.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.page, 77);
    settings_release(&s);
    chmod("sub", 0770);
    load_refused("b.cfg", NULL, 0, "/sub may be written by others (mode 0770)");
    unlink("a.cfg");
    CU_ASSERT_EQUAL_FATAL(symlink("b.cfg", "a.cfg"), 0);
    load_refused("b.cfg", NULL, 0, "too many symbolic links lead there");
    unlink("a.cfg");
    unlink("b.cfg");
    chmod("sub", 0700);
}

static void nobody_elses_file_folder_or_link_is_read(void)
{
    enum { SOMEBODY = 65534 };
    if (geteuid() != 0)
        return;                         /* only root can make it somebody else's */
    write_file("prescient.cfg", "page = 77;");
    CU_ASSERT_EQUAL_FATAL(chown("prescient.cfg", SOMEBODY, SOMEBODY), 0);
    load_refused(NULL, NULL, 0,
                 "/prescient.cfg belongs to user 65534; expected root or the user that runs it, 0; or name "
                 "another one with --config");
    unlink("prescient.cfg");
    mkdir("sub", 0755);
    write_file("sub/c.cfg", "page = 78;");
    unlink("a.cfg");
    CU_ASSERT_EQUAL_FATAL(symlink("sub/c.cfg", "a.cfg"), 0);
    struct settings s = loaded("a.cfg", NULL, 0);
    settings_release(&s);
    CU_ASSERT_EQUAL_FATAL(lchown("a.cfg", SOMEBODY, SOMEBODY), 0);
    load_refused("a.cfg", NULL, 0, "/a.cfg belongs to user 65534");
    CU_ASSERT_EQUAL_FATAL(chown("sub", SOMEBODY, SOMEBODY), 0);
    load_refused("sub/c.cfg", NULL, 0, "/sub belongs to user 65534");
    CU_ASSERT_EQUAL(chown("sub", 0, 0), 0);
    unlink("a.cfg");
}

static void what_a_shell_hands_over_and_a_device_are_read(void)
{
    int ends[2];
    char path[64];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL(write(ends[1], "page = 77;", 10), 10);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct settings s = loaded(path, NULL, 0);
    CU_ASSERT_EQUAL(s.page, 77);
    settings_release(&s);
    close(ends[0]);
    s = loaded("/dev/null", NULL, 0);
    settings_release(&s);
}

/* ---- who wins ---- */

static void flag_beats_variable_beats_file_beats_default(void)
{
    write_file("a.cfg", "page = 10;");
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.page, 10);
    settings_release(&s);
    setenv("PRESCIENT_PAGE", "20", 1);
    s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.page, 20);
    settings_release(&s);
    const struct settings_flag flag = { "page", "30" };
    s = loaded("a.cfg", &flag, 1);
    CU_ASSERT_EQUAL(s.page, 30);
    settings_release(&s);
    settings_fixture_forget_environment();
}

static void a_variable_sets_what_jobs_start_from_but_not_what_they_say(void)
{
    write_file(
        "a.cfg",
        "timeout = \"1s\"; jobs = { a = { plugin = \"p\"; }; b = { plugin = \"p\"; timeout = \"2s\"; }; };");
    setenv("PRESCIENT_TIMEOUT", "3s", 1);
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.defaults.timeout_us, 3000000);
    CU_ASSERT_EQUAL(s.jobs[0].timeout_us, 3000000);
    CU_ASSERT_EQUAL(s.jobs[1].timeout_us, 2000000);
    settings_release(&s);
    settings_fixture_forget_environment();
}

/* Each would have been one host, or one folder, that nobody has. */
static void a_list_as_text_has_its_separators_and_no_brackets(void)
{
    static const struct { const char *name, *value, *words; } bad[] = {
        { "PRESCIENT_HTTP_HOSTS", "[\"a.example\",\"b.example\"]", "such as shop.example,www.shop.example" },
        { "PRESCIENT_HTTP_HOSTS", "shop.example:8080", "names of hosts, without a port, such as" },
        { "PRESCIENT_HTTP_HOSTS", "a.example b.example", "names of hosts, without a port, such as" },
        { "PRESCIENT_HTTP_HOSTS", "a.example,", "names of hosts, without a port, such as" },
        { "PRESCIENT_PLUGIN_DIRS", "[\"/a\", \"/b\"]", "expected folders, such as /" },
        { "PRESCIENT_PLUGIN_DIRS", "[/a]", ":/srv/jobs" },
    };
    write_file("a.cfg", "http_hosts = [\"fd00::1\", \"in_house\"];");
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.nhttp_hosts, 2);
    settings_release(&s);
    setenv("PRESCIENT_HTTP_HOSTS", "a.example,b-1.example,::1", 1);
    s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL_FATAL(s.nhttp_hosts, 3);
    CU_ASSERT_STRING_EQUAL(s.http_hosts[1], "b-1.example");
    settings_release(&s);
    unsetenv("PRESCIENT_HTTP_HOSTS");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv(bad[i].name, bad[i].value, 1);
        load_refused("a.cfg", NULL, 0, bad[i].words);
        unsetenv(bad[i].name);
    }
    write_file("a.cfg", "http_hosts = [\"shop.example:8080\"];");
    load_refused("a.cfg", NULL, 0, "names of hosts, without a port");
}

static void lists_and_words_come_from_variables_too(void)
{
    write_file("a.cfg", "serve = [1];");
    setenv("PRESCIENT_SERVE", "0,15,30", 1);
    setenv("PRESCIENT_PLUGIN_DIRS", "/a:/b", 1);
    setenv("PRESCIENT_PREPARED", "no", 1);
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.nserve, 3);
    CU_ASSERT_EQUAL(s.serve[2], 30);
    CU_ASSERT_EQUAL(s.nplugin_dirs, 2);
    CU_ASSERT_STRING_EQUAL(s.plugin_dirs[0], "/a");
    CU_ASSERT_FALSE(s.prepared);
    settings_release(&s);
    setenv("PRESCIENT_SERVE", "0,", 1);
    load_refused("a.cfg", NULL, 0, "PRESCIENT_SERVE: serve = \"0,\": expected minutes");
    setenv("PRESCIENT_SERVE", "[0, 30]", 1);
    load_refused("a.cfg", NULL, 0, "each once, such as 0,30");
    setenv("PRESCIENT_SERVE", "0,,30", 1);
    load_refused("a.cfg", NULL, 0, "expected minutes");
    char many[200] = "0";
    for (int i = 1; i < 70; i++)
        strcat(many, ",1");
    setenv("PRESCIENT_SERVE", many, 1);
    load_refused("a.cfg", NULL, 0, "expected minutes");
    setenv("PRESCIENT_SERVE", "", 1);
    s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.nserve, 1);
    settings_release(&s);
    settings_fixture_forget_environment();
}

static void a_bad_variable_or_flag_is_named(void)
{
    write_file("a.cfg", "");
    setenv("PRESCIENT_PAGE", "many", 1);
    load_refused("a.cfg", NULL, 0, "PRESCIENT_PAGE: page = \"many\": expected a whole number");
    settings_fixture_forget_environment();
    const struct settings_flag flags[] = {
        { "lock-timeout", "1x" }, { "pages", "5" }, { "workers", NULL }, { "plugin", "p" }, { "zzzzzzz", "" },
        { "listeners", "x" }, { "jobs", "x" }, { "--lock-timeout", "1x" }
    };
    load_refused("a.cfg", flags, 1, "--set lock-timeout: lock_timeout = \"1x\": expected a duration");
    load_refused("a.cfg", flags + 1, 1, "--set pages: there is no such setting; did you mean \"page\"?");
    load_refused("a.cfg", flags + 2, 1, "--set workers: workers = \"\": expected");
    load_refused("a.cfg", flags + 3, 1, "--set plugin: there is no such setting");
    load_refused("a.cfg", flags + 4, 1, "--set zzzzzzz: there is no such setting");
    load_refused("a.cfg", flags + 5, 1, "--set listeners: it stands in a settings file only");
    load_refused("a.cfg", flags + 6, 1, "--set jobs: it stands in a settings file only");
    load_refused("a.cfg", flags + 7, 1, "--lock-timeout: lock_timeout = \"1x\": expected a duration");
}

static void flags_may_be_spelled_with_dashes(void)
{
    write_file("a.cfg", "business = \"sqlite:x\"; prepared = false;");
    const struct settings_flag flags[] = { { "lock-timeout", "1s" },
                                           { "--worker_files", "99" },
                                           { "prepared", NULL },
                                           { "business", "" },
                                           { "serve", "" } };
    struct settings s = loaded("a.cfg", flags, 5);
    CU_ASSERT_EQUAL(s.lock_timeout_us, 1000000);
    CU_ASSERT_EQUAL(s.worker_files, 99);
    CU_ASSERT_TRUE(s.prepared);
    CU_ASSERT_PTR_NULL(s.business);
    settings_release(&s);
}

static void store_is(const char *file, const char *url)
{
    struct settings s = loaded(file, NULL, 0);
    CU_ASSERT_STRING_EQUAL(s.store, url);
    settings_release(&s);
}

static void database_url_is_the_store_when_it_is_postgresql(void)
{
    write_file("a.cfg", "store = \"sqlite:file.db\";");
    write_file("b.cfg", "");
    setenv("DATABASE_URL", "mysql://u@h/db", 1);
    store_is("a.cfg", "sqlite:file.db");
    setenv("DATABASE_URL", "postgres://u@h/db", 1);
    store_is("a.cfg", "postgres://u@h/db");
    setenv("DATABASE_URL", "postgresql://u@h/db", 1);
    setenv("PGHOST", "elsewhere", 1);
    store_is("b.cfg", "postgresql://u@h/db");
    setenv("PRESCIENT_STORE", "sqlite:mine.db", 1);
    store_is("a.cfg", "sqlite:mine.db");
    settings_fixture_forget_environment();
}

/* "DATABASE_URL, not a.cfg:1" */
static void store_comes_from(const char *expected, struct settings_flag *flags, int n)
{
    struct settings s;
    struct err err = { 0 };
    char found[200] = "";
    CU_ASSERT_EQUAL_FATAL(settings_load(&s, "a.cfg", flags, n, &err), 0);
    if (s.store_from)
        snprintf(found, sizeof found, "%s, not %s", s.store_from, s.store_instead_of);
    CU_ASSERT_STRING_EQUAL(found, expected);
    settings_release(&s);
}

/* Hosts set it for all programs: a reader of the file has to see why its store is not
 * used. */
static void a_variable_that_wins_over_the_file_is_noted(void)
{
    struct settings_flag flag = { "store", "sqlite:flag.db" };
    write_file("a.cfg", "store = \"sqlite:file.db\";");
    store_comes_from("", NULL, 0);
    setenv("DATABASE_URL", "mysql://u@h/db", 1);
    store_comes_from("", NULL, 0);
    setenv("DATABASE_URL", "postgresql://u@h/db", 1);
    store_comes_from("DATABASE_URL, not a.cfg:1", NULL, 0);
    store_comes_from("", &flag, 1);
    setenv("PRESCIENT_STORE", "sqlite:mine.db", 1);
    store_comes_from("PRESCIENT_STORE, not DATABASE_URL", NULL, 0);
    write_file("a.cfg", "");
    unsetenv("PRESCIENT_STORE");
    store_comes_from("", NULL, 0);
    settings_fixture_forget_environment();
}

static void pg_variables_are_the_store_when_nothing_else_is(void)
{
    write_file("a.cfg", "store = \"sqlite:file.db\";");
    write_file("b.cfg", "page = 5;");
    static const char *const names[] = { "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE" };
    for (int i = 0; i < 5; i++) {
        setenv(names[i], "x", 1);
        store_is("b.cfg", "postgresql://");
        store_is("a.cfg", "sqlite:file.db");
        unsetenv(names[i]);
    }
    setenv("PGUSER", "x", 1);
    setenv("PGHOST", "", 1);
    store_is("b.cfg", "sqlite:prescient.db");
    settings_fixture_forget_environment();
}

static void place_is(const struct settings *s, const char *name, const char *job, const char *expected)
{
    const struct setting_row *row = *name ? settings_row(name, job != NULL) : NULL;
    CU_ASSERT_STRING_EQUAL(settings_place(s, row, job), expected);
}

static void each_value_says_where_it_comes_from(void)
{
    struct settings_flag flags[] = { { "--store", "sqlite:flag.db" }, { "workers", "3" } };
    struct settings s;
    struct err err = { 0 };
    write_file("a.cfg", "page = 77;\nstore = \"sqlite:file.db\"; max_checks = 5;\n"
                        "jobs = { look = { plugin = \"noop\";\n timeout = \"5s\";\n"
                        "settings = { x = 1; }; }; };");
    setenv("PRESCIENT_SLAB", "9", 1);
    CU_ASSERT_EQUAL_FATAL(settings_load(&s, "a.cfg", flags, 2, &err), 0);
    place_is(&s, "page", NULL, "a.cfg:1");
    place_is(&s, "store", NULL, "--store");
    place_is(&s, "workers", NULL, "--set workers");
    place_is(&s, "slab", NULL, "PRESCIENT_SLAB");
    place_is(&s, "schema", NULL, "default");
    place_is(&s, "timeout", NULL, "default");
    place_is(&s, "plugin", "look", "a.cfg:3");
    place_is(&s, "timeout", "look", "a.cfg:4");
    place_is(&s, "max_checks", "look", "a.cfg:2");
    place_is(&s, "batch", "look", "default");
    place_is(&s, "", "look", "a.cfg:5");
    settings_release(&s);
    settings_fixture_forget_environment();
}

static void passwords_do_not_show_in_errors(void)
{
    struct settings s;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(settings_parse(&s, "store = \"postgresql://u:hunter2@h/db\\x01\";", "t", &err),
                    ERR_SETTINGS);
    CU_ASSERT_PTR_NULL(strstr(err.text, "hunter2"));
    says(&err, "store", "postgresql://u:***@h/db");
}

static const struct test tests[] = {
    TEST(a_named_file_must_be_there),
    TEST(the_file_of_the_working_folder_is_found),
    TEST(no_file_at_all_is_fine),
    TEST(an_included_file_is_found_beside_its_includer_or_where_we_work),
    TEST(an_error_names_the_included_file_and_its_line),
    TEST(includes_that_never_end_are_refused),
    TEST(a_file_that_is_too_large_or_no_text_is_refused),
    TEST(a_file_that_others_may_write_is_refused),
    TEST(a_sticky_bit_on_a_file_keeps_nobody_from_writing_it),
    TEST(standard_input_may_be_the_settings_file),
    TEST(an_included_file_that_others_may_write_is_refused_wherever_it_was_found),
    TEST(a_folder_that_others_may_write_is_refused_but_for_a_sticky_one),
    TEST(a_link_is_followed_and_what_it_leads_to_is_looked_at),
    TEST(nobody_elses_file_folder_or_link_is_read),
    TEST(what_a_shell_hands_over_and_a_device_are_read),
    TEST(flag_beats_variable_beats_file_beats_default),
    TEST(a_variable_sets_what_jobs_start_from_but_not_what_they_say),
    TEST(lists_and_words_come_from_variables_too),
    TEST(a_list_as_text_has_its_separators_and_no_brackets),
    TEST(a_bad_variable_or_flag_is_named),
    TEST(flags_may_be_spelled_with_dashes),
    TEST(database_url_is_the_store_when_it_is_postgresql),
    TEST(a_variable_that_wins_over_the_file_is_noted),
    TEST(pg_variables_are_the_store_when_nothing_else_is),
    TEST(each_value_says_where_it_comes_from),
    TEST(passwords_do_not_show_in_errors),
    { NULL, NULL },
};

const struct suite suite_settings_sources = { .name = "settings_sources",
                                              .setup = settings_fixture_setup,
                                              .teardown = settings_fixture_teardown,
                                              .tests = tests };
