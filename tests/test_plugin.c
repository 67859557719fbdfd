/* test_plugin.c - which shared objects are loaded as jobs, and with which words others are
 * refused. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engine/worker/plugin.h"

/* two folders for plug-ins, emptied by each test that uses them */
static char dir[PATH_MAX], other[PATH_MAX];
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
    CU_ASSERT_EQUAL_FATAL(
        run("install -m 644 '%s/tests/jobs/%s.so' '%s/%s.so'", test_build_dir(), job, where, as), 0);
}

static void clean(void)
{
    run("chmod 755 '%s' '%s'; rm -rf '%s'/* '%s'/*", dir, other, dir, other);
}

static int load(const char *name, struct plugin *out)
{
    const char *const dirs[] = { dir, other };
    err_clear(&err);
    int rc = plugin_open(dirs, 2, name, out, &err);
    return rc ? rc : plugin_load(out, &err);
}

/* Whether it is refused before anything of it is loaded: whoever loads it leaves word. */
static int open_only(const char *where, const char *name)
{
    struct plugin p;
    const char *const dirs[] = { where };
    err_clear(&err);
    int rc = plugin_open(dirs, 1, name, &p, &err);
    CU_ASSERT_EQUAL(p.fd >= 0, rc == 0);
    plugin_close(&p);
    return rc;
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
    CU_ASSERT_EQUAL_FATAL(run("${CC:-cc} -Wall -Wextra -Werror -shared -fPIC -Iinclude -o '%s/outside.so' "
                              "'%s' && chmod 755 '%s/outside.so'",
                              dir, path, dir),
                          0);
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
    CU_ASSERT_EQUAL(p.api.heeds_dry, 0);
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
    char expected[PATH_MAX + 32];
    struct plugin p;
    bring("noanswer", other, "job");
    CU_ASSERT_EQUAL(plugin_open(dirs, 3, "job", &p, &err), 0);
    snprintf(expected, sizeof expected, "%s/job.so", other);
    CU_ASSERT_STRING_EQUAL(p.path, expected);
    plugin_close(&p);
    bring("old_abi", dir, "job");
    CU_ASSERT_EQUAL(plugin_open(dirs, 3, "job.so", &p, &err), 0);
    snprintf(expected, sizeof expected, "%s/job.so", dir);
    CU_ASSERT_STRING_EQUAL(p.path, expected);
    plugin_close(&p);
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
    CU_ASSERT_EQUAL(plugin_open(NULL, 0, "nowhere", &p, &err), ERR_NOTFOUND);
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
    /* the sticky bit lets others add files all the same */
    static const char *const modes[] = { "775", "757", "1777" };
    bring("noanswer", dir, "job");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        run("chmod %s '%s'", modes[i], dir);
        CU_ASSERT_EQUAL(open_only(dir, "job"), ERR_SETTINGS);
        CU_ASSERT_TRUE(says("plugins may be written by others (mode"));
        CU_ASSERT_TRUE(says(modes[i]));
    }
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

/* Whoever may write above may put another folder in its place. */
static void a_folder_above_that_others_may_write_is_refused_but_for_the_sticky_bit(void)
{
    static const struct {
        const char *mode;
        int rc;
    } cases[] = {
        { "755", 0 }, { "1777", 0 }, { "777", ERR_SETTINGS }, { "775", ERR_SETTINGS }, { "757", ERR_SETTINGS }
    };
    char deep[PATH_MAX + 32];
    snprintf(deep, sizeof deep, "%s/above/between/jobs", dir);
    CU_ASSERT_EQUAL_FATAL(run("mkdir -p -m 755 '%s'", deep), 0);
    bring("noanswer", deep, "job");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run("chmod %s '%s/above'", cases[i].mode, dir);
        CU_ASSERT_EQUAL(open_only(deep, "job"), cases[i].rc);
        CU_ASSERT_TRUE(!cases[i].rc || says("plugins/above may be written by others (mode"));
    }
    run("chmod 755 '%s/above'", dir);
    if (geteuid() == 0) {
        run("chown 12345 '%s/above'", dir);
        CU_ASSERT_EQUAL(open_only(deep, "job"), ERR_SETTINGS);
        CU_ASSERT_TRUE(says("plugins/above belongs to user 12345"));
    }
    clean();
}

static void a_link_above_is_refused_with_the_real_path(void)
{
    char deep[PATH_MAX + 32], real[PATH_MAX + 64];
    snprintf(deep, sizeof deep, "%s/link/jobs", dir);
    snprintf(real, sizeof real, "expected the real path, %s/real/jobs", dir);
    CU_ASSERT_EQUAL_FATAL(run("mkdir -p -m 755 '%s/real/jobs' && ln -s real '%s/link'", dir, dir), 0);
    bring("noanswer", deep, "job");
    CU_ASSERT_EQUAL(open_only(deep, "job"), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("plugins/link is a symbolic link"));
    CU_ASSERT_TRUE(says(real));
    clean();
}

static void a_folder_may_be_named_from_where_we_are(void)
{
    char here[PATH_MAX];
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(here, sizeof here));
    CU_ASSERT_EQUAL_FATAL(chdir(dir), 0);
    bring("noanswer", dir, "job");
    static const char *const names[] = { ".", "../plugins", "./../plugins/", "../more-plugins/../plugins" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_EQUAL(open_only(names[i], "job"), 0);
    CU_ASSERT_EQUAL(open_only("nowhere", "job"), ERR_NOTFOUND);
    run("chmod 777 '%s'", dir);
    CU_ASSERT_EQUAL(open_only(".", "job"), ERR_SETTINGS);
    CU_ASSERT_EQUAL_FATAL(chdir(here), 0);
    clean();
}

static void what_was_checked_is_loaded_whatever_stands_there_by_now(void)
{
    struct plugin p;
    const char *const dirs[] = { dir };
    bring("noanswer", dir, "job");
    CU_ASSERT_EQUAL_FATAL(plugin_open(dirs, 1, "job", &p, &err), 0);
    bring("batch_crash", dir, "other");
    run("mv '%s/other.so' '%s/job.so'", dir, dir);
    CU_ASSERT_EQUAL_FATAL(plugin_load(&p, &err), 0);
    CU_ASSERT_STRING_EQUAL(p.api.name, "noanswer");
    clean();
}

/* An upgrade by install(1) or a package: a new file of the same name. */
static void one_replaced_while_it_is_loaded_is_another_one(void)
{
    struct plugin old, new;
    bring("noanswer", dir, "job");
    CU_ASSERT_EQUAL_FATAL(load("job", &old), 0);
    bring("batch_crash", other, "job");
    run("mv '%s/job.so' '%s/job.so'", other, dir);
    CU_ASSERT_EQUAL_FATAL(load("job", &new), 0);
    CU_ASSERT_STRING_EQUAL(new.api.name, "batch_crash");
    char text[64] = "";
    struct prescient_answer answer = {
        .size = sizeof answer, .text = text, .text_size = sizeof text, .kind = PRESCIENT_DONE
    };
    /* what runs goes on as it was */
    old.api.job_exec(NULL, &(struct prescient_check){ .entity_key = "42" }, &answer);
    CU_ASSERT_STRING_EQUAL(old.api.name, "noanswer");
    clean();
}

/* The loader gives the first library again for the same path, and /proc/PID/fd/N is the same path.
 */
static void two_plugins_under_one_descriptor_number_are_two(void)
{
    struct plugin a, b;
    bring("noanswer", dir, "a");
    bring("batch_crash", dir, "b");
    CU_ASSERT_EQUAL_FATAL(load("a", &a), 0);
    close(a.fd);                                /* as a job might that closes all it finds */
    CU_ASSERT_EQUAL_FATAL(load("b", &b), 0);
    CU_ASSERT_EQUAL(a.fd, b.fd);
    CU_ASSERT_STRING_EQUAL(b.api.name, "batch_crash");
    clean();
}

static void a_plugin_whose_descriptor_was_taken_is_not_loaded(void)
{
    struct plugin a, b;
    const char *const dirs[] = { dir };
    bring("noanswer", dir, "a");
    bring("batch_crash", dir, "b");
    CU_ASSERT_EQUAL_FATAL(plugin_open(dirs, 1, "a", &a, &err), 0);
    close(a.fd);
    CU_ASSERT_EQUAL_FATAL(plugin_open(dirs, 1, "b", &b, &err), 0);
    CU_ASSERT_EQUAL_FATAL(a.fd, b.fd);
    CU_ASSERT_EQUAL(plugin_load(&a, &err), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("is no longer open: another plug-in has closed descriptor"));
    CU_ASSERT_EQUAL(plugin_load(&b, &err), 0);
    clean();
}

/* The file says so itself when it is loaded: it makes a file. */
static void what_is_refused_is_not_loaded_at_all(void)
{
    char path[PATH_MAX + 32], text[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s/tell.c", dir);
    snprintf(text, sizeof text,
             "#include <fcntl.h>\n__attribute__((constructor)) static void loaded(void) { "
             "open(\"%s/loaded\", O_CREAT | O_WRONLY, 0600); }\n",
             dir);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    CU_ASSERT_EQUAL_FATAL(run("${CC:-cc} -shared -fPIC -o '%s/tell.so' '%s'", dir, path), 0);
    static const char *const made_bad[] = { "chmod 664 tell.so", "chmod 646 tell.so", "chmod 775 .",
                                            "ln -s tell.so link.so", "chown 12345 tell.so" };
    for (size_t i = 0; i < sizeof made_bad / sizeof *made_bad; i++) {
        struct plugin p;
        if (!strncmp(made_bad[i], "chown", 5) && geteuid() != 0)
            continue;
        run("cd '%s' && chmod 755 . tell.so && %s", dir, made_bad[i]);
        CU_ASSERT_EQUAL(load(strstr(made_bad[i], "link") ? "link" : "tell", &p), ERR_SETTINGS);
        CU_ASSERT_NOT_EQUAL(run("test -e '%s/loaded'", dir), 0);
    }
    struct plugin p;
    run("cd '%s' && chmod 755 . tell.so && { [ $(id -u) != 0 ] || chown 0 tell.so; }", dir);
    /* it exports nothing, but now it was loaded */
    CU_ASSERT_EQUAL(load("tell", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("exports no symbol"));
    CU_ASSERT_EQUAL(run("test -e '%s/loaded'", dir), 0);
    clean();
}

static void symbolic_links_are_not_followed(void)
{
    struct plugin p;
    bring("noanswer", dir, "real");
    run("ln -s '%s/real.so' '%s/link.so'", dir, dir);
    CU_ASSERT_EQUAL(load("link", &p), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("link.so is a symbolic link"));
    run("rmdir '%s' && ln -s '%s' '%s'", other, dir, other);
    CU_ASSERT_EQUAL(open_only(other, "real"), ERR_SETTINGS);
    CU_ASSERT_TRUE(says("more-plugins is a symbolic link"));
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
    TEST(a_folder_above_that_others_may_write_is_refused_but_for_the_sticky_bit),
    TEST(a_link_above_is_refused_with_the_real_path),
    TEST(a_folder_may_be_named_from_where_we_are),
    TEST(somebody_elses_file_is_refused),
    TEST(what_was_checked_is_loaded_whatever_stands_there_by_now),
    TEST(one_replaced_while_it_is_loaded_is_another_one),
    TEST(two_plugins_under_one_descriptor_number_are_two),
    TEST(a_plugin_whose_descriptor_was_taken_is_not_loaded),
    TEST(what_is_refused_is_not_loaded_at_all),
    TEST(symbolic_links_are_not_followed),
    TEST(what_is_no_regular_file_is_refused_without_hanging),
    { 0 },
};

const struct suite suite_plugin = { "plugin", setup, teardown, tests };
