/* test_plugin.c - which shared objects are loaded as jobs, and with which words others are refused. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engine/run/plugin.h"

static char dir[PATH_MAX], other[PATH_MAX];     /* two folders for plug-ins, emptied by each test that uses them */
static struct err err;

static int run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *fmt, ...)
{
    char command[8 * PATH_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int setup(void)
{
    snprintf(dir, sizeof dir, "%s/plugins", test_tmp_dir());
    snprintf(other, sizeof other, "%s/more-plugins", test_tmp_dir());
    return run("mkdir -p -m 755 '%s' '%s'", dir, other);
}

static int teardown(void)
{
    return run("rm -rf '%s' '%s'", dir, other);
}

/* Copies a test job into one of the folders. */
static void bring(const char *job, const char *where, const char *as)
{
    CU_ASSERT_EQUAL_FATAL(run("install -m 644 '%s/tests/jobs/%s.so' '%s/%s.so'", test_build_dir(), job, where, as), 0);
}

static void clean(void)
{
    run("chmod 755 '%s' '%s'; rm -rf '%s'/* '%s'/*", dir, other, dir, other);
}

static int load(const char *name, struct plugin *out)
{
    const char *const dirs[] = { dir, other };
    err_clear(&err);
    return plugin_load(dirs, 2, name, out, &err);
}

static bool says(const char *words)
{
    if (strstr(err.text, words))
        return true;
    fprintf(stderr, "found '%s', expected '%s'\n", err.text, words);
    return false;
}

static void a_plugin_built_outside_of_the_tree_loads_and_answers(void)
{
    static const char source[] =
        "#include <prescient/job.h>\n"
        "static void exec(void *s, const struct prescient_check *c, struct prescient_answer *a)\n"
        "{ (void)s; prescient_again(a, c->now + 60); prescient_note(a, \"looked at %s\", c->entity_key); }\n"
        "PRESCIENT_PLUGIN(.name = \"outside\", .summary = \"built here\", .job_exec = exec);\n";
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/outside.c", dir);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(source, f);
    fclose(f);
    CU_ASSERT_EQUAL_FATAL(run("${CC:-cc} -Wall -Wextra -Werror -shared -fPIC -Iinclude -o '%s/outside.so' '%s' && chmod 755 '%s/outside.so'", dir, path, dir), 0);
    struct plugin p;
    CU_ASSERT_EQUAL_FATAL(load("outside", &p), 0);
    CU_ASSERT_STRING_EQUAL(p.api.name, "outside");
    CU_ASSERT_STRING_EQUAL(p.api.summary, "built here");
    CU_ASSERT_PTR_NULL(p.api.job_exec_many);
    char text[64] = "";
    struct prescient_check check = { .size = sizeof check, .entity_key = "42", .now = 1000 };
    struct prescient_answer answer = { .size = sizeof answer, .text = text, .text_size = sizeof text };
    p.api.job_exec(NULL, &check, &answer);
    CU_ASSERT_EQUAL(answer.kind, PRESCIENT_AGAIN);
    CU_ASSERT_EQUAL(answer.at, 1060);
    CU_ASSERT_STRING_EQUAL(text, "looked at 42");
    clean();
}

static void a_plugin_of_the_first_release_still_loads(void)
{
    struct plugin p;
    bring("old_abi", dir, "old_abi");
    CU_ASSERT_EQUAL_FATAL(load("old_abi", &p), 0);
    char text[64] = "";
    struct prescient_answer answer = { .size = sizeof answer, .text = text, .text_size = sizeof text };
    p.api.job_exec(NULL, NULL, &answer);
    CU_ASSERT_EQUAL(answer.kind, PRESCIENT_DONE);
    CU_ASSERT_STRING_EQUAL(text, "old");
    clean();
}

static void the_first_folder_that_has_it_counts(void)
{
    const char *const dirs[] = { "/nonexistent", dir, other };
    char path[PATH_MAX], expected[PATH_MAX + 32];
    bring("noanswer", other, "job");
    CU_ASSERT_EQUAL(plugin_find(dirs, 3, "job", path, &err), 0);
    snprintf(expected, sizeof expected, "%s/job.so", other);
    CU_ASSERT_STRING_EQUAL(path, expected);
    bring("old_abi", dir, "job");
    CU_ASSERT_EQUAL(plugin_find(dirs, 3, "job.so", path, &err), 0);
    snprintf(expected, sizeof expected, "%s/job.so", dir);
    CU_ASSERT_STRING_EQUAL(path, expected);
    clean();
}

static void two_plugins_loaded_one_after_the_other_are_two(void)
{
    struct plugin a, b;
    bring("noanswer", dir, "a");
    bring("batch_crash", dir, "b");
    CU_ASSERT_EQUAL_FATAL(load("a", &a), 0);
    CU_ASSERT_EQUAL_FATAL(load("b", &b), 0);
    CU_ASSERT_STRING_EQUAL(a.api.name, "noanswer");
    CU_ASSERT_STRING_EQUAL(b.api.name, "batch_crash");
    clean();
}

static void a_missing_file_is_told_with_the_folders_looked_into(void)
{
    struct plugin p;
    CU_ASSERT_EQUAL(load("nowhere", &p), ERR_NOTFOUND);
    CU_ASSERT_TRUE(says("nowhere.so"));
    CU_ASSERT_TRUE(says(dir));
    CU_ASSERT_TRUE(says(other));
    CU_ASSERT_EQUAL(plugin_load(NULL, 0, "nowhere", &p, &err), ERR_NOTFOUND);
    CU_ASSERT_TRUE(says("no plugin_dirs are set"));
}

static void a_name_is_never_a_path(void)
{
    static const char *const names[] = { "", ".so", ".hidden", "../escape", "/etc/passwd", "a/b" };
    struct plugin p;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CU_ASSERT_EQUAL(load(names[i], &p), ERR_SETTINGS);
        CU_ASSERT_TRUE(says("expected a file name"));
    }
}

static void another_abi_is_refused_with_both_numbers(void)
{
    struct plugin p;
    bring("wrong_abi", dir, "wrong_abi");
    CU_ASSERT_EQUAL(load("wrong_abi", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("wrong_abi.so was built for ABI 42"));
    CU_ASSERT_TRUE(says("expected 1"));
    clean();
}

static void a_library_that_is_no_plugin_is_refused(void)
{
    struct plugin p;
    bring("no_symbol", dir, "no_symbol");
    CU_ASSERT_EQUAL(load("no_symbol", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("exports no symbol prescient_plugin"));
    bring("no_exec", dir, "no_exec");
    CU_ASSERT_EQUAL(load("no_exec", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("no job_exec"));
    CU_ASSERT_EQUAL(run("echo nonsense > '%s/text.so'", dir), 0);
    CU_ASSERT_EQUAL(load("text", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("text.so cannot be loaded"));
    clean();
}

static void a_file_that_others_may_write_is_refused(void)
{
    static const char *const modes[] = { "664", "646", "777" };
    struct plugin p;
    bring("noanswer", dir, "job");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        run("chmod %s '%s/job.so'", modes[i], dir);
        CU_ASSERT_EQUAL(load("job", &p), ERR_SETTINGS);
        CU_ASSERT_TRUE(says("job.so may be written by others"));
        CU_ASSERT_TRUE(says(modes[i]));
    }
    clean();
}

static void a_folder_that_others_may_write_is_refused(void)
{
    struct plugin p;
    char path[PATH_MAX];
    const char *const dirs[] = { dir };
    bring("noanswer", dir, "job");
    run("chmod 1777 '%s'", dir);                /* the sticky bit lets others add files all the same */
    CU_ASSERT_EQUAL(load("job", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("plugins may be written by others (mode 1777)"));
    CU_ASSERT_EQUAL(plugin_find(dirs, 1, "job", path, &err), ERR_SETTINGS);
    clean();
}

static void somebody_elses_file_is_refused(void)
{
    struct plugin p;
    if (geteuid() != 0)                         /* only root can give files away */
        return;
    bring("noanswer", dir, "job");
    run("chown 12345 '%s/job.so'", dir);
    CU_ASSERT_EQUAL(load("job", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("belongs to user 12345"));
    clean();
}

static void symbolic_links_are_not_followed(void)
{
    struct plugin p;
    const char *const dirs[] = { other };
    bring("noanswer", dir, "real");
    run("ln -s '%s/real.so' '%s/link.so'", dir, dir);
    CU_ASSERT_EQUAL(load("link", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("link.so is a symbolic link"));
    run("rmdir '%s' && ln -s '%s' '%s'", other, dir, other);
    CU_ASSERT_EQUAL(plugin_load(dirs, 1, "real", &p, &err), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("symbolic link"));
    run("rm '%s' && mkdir -m 755 '%s'", other, other);
    clean();
}

static void what_is_no_regular_file_is_refused_without_hanging(void)
{
    struct plugin p;
    run("mkfifo -m 644 '%s/fifo.so' && mkdir '%s/folder.so'", dir, dir);
    CU_ASSERT_EQUAL(load("fifo", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("fifo.so is not a regular file"));
    CU_ASSERT_EQUAL(load("folder", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("folder.so is not a regular file"));
    clean();
}

static const struct test tests[] = {
    TEST(a_plugin_built_outside_of_the_tree_loads_and_answers),
    TEST(a_plugin_of_the_first_release_still_loads),
    TEST(the_first_folder_that_has_it_counts),
    TEST(two_plugins_loaded_one_after_the_other_are_two),
    TEST(a_missing_file_is_told_with_the_folders_looked_into),
    TEST(a_name_is_never_a_path),
    TEST(another_abi_is_refused_with_both_numbers),
    TEST(a_library_that_is_no_plugin_is_refused),
    TEST(a_file_that_others_may_write_is_refused),
    TEST(a_folder_that_others_may_write_is_refused),
    TEST(somebody_elses_file_is_refused),
    TEST(symbolic_links_are_not_followed),
    TEST(what_is_no_regular_file_is_refused_without_hanging),
    { 0 },
};

const struct suite suite_plugin = { "plugin", setup, teardown, tests };
