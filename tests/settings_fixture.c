/* settings_fixture.c - settings in a folder and an environment of their own, and errors compared
 * by their words. */
#include "settings_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const foreign[] = { "DATABASE_URL",
                                       "PGHOST",
                                       "PGHOSTADDR",
                                       "PGPORT",
                                       "PGDATABASE",
                                       "PGSERVICE",
                                       "PGUSER",
                                       "PRESCIENT_STORE",
                                       "PRESCIENT_PAGE",
                                       "PRESCIENT_TIMEOUT",
                                       "PRESCIENT_SERVE",
                                       "PRESCIENT_PLUGIN_DIRS",
                                       "PRESCIENT_PREPARED" };
enum { FOREIGN = sizeof foreign / sizeof *foreign };
static struct { char *values[FOREIGN], *folder, *home; } kept;

void settings_fixture_forget_environment(void)
{
    for (int i = 0; i < FOREIGN; i++)
        unsetenv(foreign[i]);
}

int settings_fixture_setup(void)
{
    for (int i = 0; i < FOREIGN; i++) {
        const char *value = getenv(foreign[i]);
        kept.values[i] = value ? strdup(value) : NULL;
    }
    settings_fixture_forget_environment();
    kept.home = getcwd(NULL, 0);
    kept.folder = NULL;
    if (asprintf(&kept.folder, "%s/settings.XXXXXX", test_tmp_dir()) < 0 || !kept.home)
        return -1;
    if (!mkdtemp(kept.folder) || chdir(kept.folder) != 0)
        return -1;
    free(kept.folder);
    kept.folder = getcwd(NULL, 0);          /* whole, whatever the tests' folder was called */
    return kept.folder ? 0 : -1;
}

int settings_fixture_teardown(void)
{
    static const char *const files[] = {
        "prescient.cfg", "a.cfg", "b.cfg", "sub/c.cfg", "sub/d.cfg", "sub/e"
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    rmdir("folder.cfg");
    rmdir("sub");
    int rc = chdir(kept.home);
    rc |= rmdir(kept.folder);
    for (int i = 0; i < FOREIGN; i++) {
        if (kept.values[i])
            setenv(foreign[i], kept.values[i], 1);
        free(kept.values[i]);
    }
    free(kept.folder);
    free(kept.home);
    return rc;
}

void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

struct settings parsed(const char *text)
{
    struct settings s;
    struct err err = { 0 };
    if (settings_parse(&s, text, "test.cfg", &err) < 0) {
        printf("%s\n", err.text);
        CU_FAIL("refused");
    }
    return s;
}

struct settings loaded(const char *file, const struct settings_flag *flags, int n)
{
    struct settings s;
    struct err err = { 0 };
    if (settings_load(&s, file, flags, n, &err) < 0) {
        printf("%s\n", err.text);
        CU_FAIL("refused");
    }
    return s;
}

void says(const struct err *err, const char *text, const char *words)
{
    if (!strstr(err->text, words))
        printf("%s\n  was refused as:    %s\n  expected in it:    %s\n", text, err->text, words);
    CU_ASSERT_PTR_NOT_NULL(strstr(err->text, words));
}

void refused(const char *text, const char *words)
{
    struct settings s;
    struct err err = { 0 };
    int rc = settings_parse(&s, text, "test.cfg", &err);
    if (rc != ERR_SETTINGS)
        printf("taken: %s\n", text);
    CU_ASSERT_EQUAL(rc, ERR_SETTINGS);
    says(&err, text, words);
    CU_ASSERT_PTR_NULL(s.impl);
    settings_release(&s);
}

void load_refused(const char *file, const struct settings_flag *flags, int n, const char *words)
{
    struct settings s;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(settings_load(&s, file, flags, n, &err), ERR_SETTINGS);
    says(&err, file ? file : "-", words);
    settings_release(&s);
}

const char *settings_fixture_folder(void)
{
    return kept.folder;
}
