/* test_metrics_file.c - metrics in a file: whatever stands in its way, nobody reads half of it, and
 * nothing else is written into. */
#include "../engine/cmd/metrics_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { NOBODY = 65534, TEXT = 4096, PATH = 256 };

static char folder[64], path[PATH];

static void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/metrics-file-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/shop.prom", folder);
}

static const char *in_folder(const char *name)
{
    static char out[PATH];
    snprintf(out, sizeof out, "%s/%s", folder, name);
    return out;
}

/* Beside the file, while it is written. */
static const char *other_name(void)
{
    static char out[PATH + 32];
    snprintf(out, sizeof out, "%s.%ld", path, (long)getpid());
    return out;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

/* "": there is none. */
static const char *text_of_file(const char *name)
{
    static char out[TEXT];
    FILE *file = fopen(name, "r");
    size_t n = file ? fread(out, 1, sizeof out - 1, file) : 0;
    out[n] = '\0';
    if (file)
        fclose(file);
    return out;
}

/* What is logged; "": it went well. */
static const char *written(void)
{
    static char out[TEXT];
    struct log log;
    FILE *words = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(words);
    log_init(&log, words, LOG_LEVEL_WARN, "test");
    metrics_file_write(&(struct metrics_file){ path, &log }, NULL);
    rewind(words);
    out[fread(out, 1, sizeof out - 1, words)] = '\0';
    fclose(words);
    return out;
}

static bool is_there(void)
{
    const char *text = text_of_file(path);
    return strstr(text, "\nprescient_store_up 0\n") != NULL;
}

static bool has(const char *words, const char *part)
{
    bool is_in = strstr(words, part) != NULL;
    if (!is_in)
        printf("      '%s' lacks '%s'\n", words, part);
    return is_in;
}

static void end(void)
{
    const char *left[] = { path, other_name() };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        unlink(left[i]);
    unlink(in_folder("precious"));
    CU_ASSERT_EQUAL(rmdir(folder), 0);      /* there was nothing else */
}

static void what_was_written_before_is_replaced(void)
{
    struct stat st;
    begin();
    mode_t before = umask(077);
    put(path, "old");
    CU_ASSERT_STRING_EQUAL(written(), "");
    CU_ASSERT(is_there());
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644);
    umask(before);
    end();
}

static void a_link_in_its_place_is_replaced_and_not_followed(void)
{
    struct stat st;
    begin();
    put(in_folder("precious"), "mine");
    CU_ASSERT_EQUAL_FATAL(symlink(in_folder("precious"), path), 0);
    CU_ASSERT_STRING_EQUAL(written(), "");
    CU_ASSERT_STRING_EQUAL(text_of_file(in_folder("precious")), "mine");
    CU_ASSERT(lstat(path, &st) == 0 && S_ISREG(st.st_mode) && is_there());
    end();
}

static void a_link_where_it_is_written_first_is_taken_away(void)
{
    begin();
    put(in_folder("precious"), "mine");
    CU_ASSERT_EQUAL_FATAL(symlink(in_folder("precious"), other_name()), 0);
    CU_ASSERT_STRING_EQUAL(written(), "");
    CU_ASSERT_STRING_EQUAL(text_of_file(in_folder("precious")), "mine");
    CU_ASSERT(is_there());
    end();
}

/* It would keep its owner, who could write into it later. */
static void a_file_where_it_is_written_first_is_not_used(void)
{
    begin();
    put(other_name(), "somebody's");
    int open_before = open(other_name(), O_RDONLY);
    CU_ASSERT_FATAL(open_before >= 0);
    CU_ASSERT_STRING_EQUAL(written(), "");
    CU_ASSERT(is_there());
    char text[32] = "";
    CU_ASSERT(read(open_before, text, sizeof text - 1) > 0);
    CU_ASSERT_STRING_EQUAL(text, "somebody's");
    close(open_before);
    end();
}

static void a_folder_in_its_place_stays(void)
{
    begin();
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0755), 0);
    CU_ASSERT(has(written(), "metrics_file: "));
    CU_ASSERT(access(other_name(), F_OK) < 0);
    CU_ASSERT_EQUAL(rmdir(path), 0);
    end();
}

static void a_folder_where_it_is_written_first_is_told(void)
{
    begin();
    put(path, "old");
    CU_ASSERT_EQUAL_FATAL(mkdir(other_name(), 0755), 0);
    CU_ASSERT(has(written(), "cannot be written: File exists"));
    CU_ASSERT_STRING_EQUAL(text_of_file(path), "old");
    CU_ASSERT_EQUAL(rmdir(other_name()), 0);
    end();
}

/* A process of its own, which gives up what `changes` takes from it: for the file no more than so
 * many bytes, or the rights of root. Whether its words have this part. */
static bool says_elsewhere(void (*changes)(void), const char *part)
{
    fflush(stdout);
    pid_t pid = fork();
    CU_ASSERT_FATAL(pid >= 0);
    if (pid == 0) {
        changes();
        _exit(has(written(), part) && access(other_name(), F_OK) < 0 ? 0 : 1);
    }
    int status;
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* As a disk does that has no room for all of it. */
static void let_files_be_small(void)
{
    struct rlimit few = { 16, 16 };
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &few) < 0)
        _exit(2);
}

static void half_a_file_is_never_put_in_place(void)
{
    begin();
    put(path, "old");
    /* the words are in a file, too, and need not fit */
    CU_ASSERT(says_elsewhere(let_files_be_small, ""));
    CU_ASSERT_STRING_EQUAL(text_of_file(path), "old");
    end();
}

static void become_nobody(void)
{
    if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
        _exit(2);
}

/* Of a file of somebody else in a folder that is open to all and sticky, as /tmp is: it can be
 * neither replaced nor removed. */
static void what_this_user_may_not_replace_stays(void)
{
    begin();
    put(path, "old");
    if (getuid() != 0) {
        printf("      not root: no other user to be\n");
        end();
        return;
    }
    CU_ASSERT(says_elsewhere(become_nobody, "cannot be written: Permission denied"));
    CU_ASSERT_EQUAL(chmod(folder, 01777), 0);
    CU_ASSERT(says_elsewhere(become_nobody, "cannot be written: Operation not permitted"));
    CU_ASSERT_STRING_EQUAL(text_of_file(path), "old");
    end();
}

static const struct test tests[] = {
    TEST(what_was_written_before_is_replaced),
    TEST(a_link_in_its_place_is_replaced_and_not_followed),
    TEST(a_link_where_it_is_written_first_is_taken_away),
    TEST(a_file_where_it_is_written_first_is_not_used),
    TEST(a_folder_in_its_place_stays),
    TEST(a_folder_where_it_is_written_first_is_told),
    TEST(half_a_file_is_never_put_in_place),
    TEST(what_this_user_may_not_replace_stays),
    { NULL, NULL },
};

const struct suite suite_metrics_file = { .name = "metrics_file", .tests = tests };
