/* test_settings.c - settings: defaults, who wins, what is refused and with which words, and that what is printed reads back. */
#include "test.h"

#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../engine/base/settings_table.h"
#include "../engine/rules/retry.h"
#include "../engine/rules/slot.h"
#include "../engine/run/slab.h"

/* ---- a folder and an environment of our own ---- */

static const char *const foreign[] = { "DATABASE_URL", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE", "PGUSER", "PRESCIENT_STORE",
                                       "PRESCIENT_PAGE", "PRESCIENT_TIMEOUT", "PRESCIENT_SERVE", "PRESCIENT_PLUGIN_DIRS", "PRESCIENT_PREPARED" };
enum { FOREIGN = sizeof foreign / sizeof *foreign };
static struct { char *values[FOREIGN], *folder, *home; } kept;

static void forget_environment(void)
{
    for (int i = 0; i < FOREIGN; i++)
        unsetenv(foreign[i]);
}

static int settings_setup(void)
{
    for (int i = 0; i < FOREIGN; i++) {
        const char *value = getenv(foreign[i]);
        kept.values[i] = value ? strdup(value) : NULL;
    }
    forget_environment();
    kept.home = getcwd(NULL, 0);
    kept.folder = NULL;
    if (asprintf(&kept.folder, "%s/settings.XXXXXX", test_tmp_dir()) < 0 || !kept.home)
        return -1;
    return mkdtemp(kept.folder) ? chdir(kept.folder) : -1;
}

static int settings_teardown(void)
{
    static const char *const files[] = { "prescient.cfg", "a.cfg", "b.cfg", "sub/c.cfg", "sub/d.cfg", "sub/e" };
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

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

static struct settings parsed(const char *text)
{
    struct settings s;
    struct err err = { 0 };
    if (settings_parse(&s, text, "test.cfg", &err) < 0) {
        printf("%s\n", err.text);
        CU_FAIL("refused");
    }
    return s;
}

static struct settings loaded(const char *file, const struct settings_flag *flags, int n)
{
    struct settings s;
    struct err err = { 0 };
    if (settings_load(&s, file, flags, n, &err) < 0) {
        printf("%s\n", err.text);
        CU_FAIL("refused");
    }
    return s;
}

static void says(const struct err *err, const char *text, const char *words)
{
    if (!strstr(err->text, words))
        printf("%s\n  was refused as:    %s\n  expected in it:    %s\n", text, err->text, words);
    CU_ASSERT_PTR_NOT_NULL(strstr(err->text, words));
}

/* `text` is refused, with all of `words` (up to NULL) in the error, and nothing is left behind. */
static void refused(const char *text, const char *words)
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

static void load_refused(const char *file, const struct settings_flag *flags, int n, const char *words)
{
    struct settings s;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(settings_load(&s, file, flags, n, &err), ERR_SETTINGS);
    says(&err, file ? file : "-", words);
    settings_release(&s);
}

/* ---- defaults ---- */

static void without_anything_the_defaults_hold(void)
{
    struct settings s = parsed("");
    CU_ASSERT_STRING_EQUAL(s.store, "sqlite:prescient.db");
    CU_ASSERT_STRING_EQUAL(s.schema, "prescient");
    CU_ASSERT_PTR_NULL(s.business);
    CU_ASSERT_EQUAL(s.slot_length_s, 0);
    CU_ASSERT_EQUAL(s.connect_timeout_us, 10000000);
    CU_ASSERT_EQUAL(s.statement_timeout_us, 30000000);
    CU_ASSERT_EQUAL(s.lock_timeout_us, 250000);
    CU_ASSERT_TRUE(s.prepared);
    CU_ASSERT_EQUAL(s.connections + s.business_connections + s.workers, 0);
    CU_ASSERT_PTR_NULL(s.engine_name);
    CU_ASSERT_EQUAL(s.workers_max, 64);
    CU_ASSERT_EQUAL(s.worker_checks, 100000);
    CU_ASSERT_EQUAL(s.worker_memory, INT64_C(1) << 30);
    CU_ASSERT_EQUAL(s.worker_files, 256);
    CU_ASSERT_PTR_NULL(s.worker_user);
    CU_ASSERT_EQUAL(s.kill_grace_us, 250000);
    CU_ASSERT_EQUAL(s.hold_back_after, 20);
    CU_ASSERT_EQUAL(s.page, 1000);
    CU_ASSERT_EQUAL(s.page_bytes, 4 << 20);
    CU_ASSERT_EQUAL(s.slab, 256);
    CU_ASSERT_EQUAL(s.split_at, 2000);
    CU_ASSERT_EQUAL(s.lease_us, 30000000);
    CU_ASSERT_EQUAL(s.trust_us, 20000000);
    CU_ASSERT_EQUAL(s.settle_after_us, 250000);
    CU_ASSERT_EQUAL(s.stop_timeout_us, 20000000);
    CU_ASSERT_EQUAL(s.nserve, 0);
    CU_ASSERT_STRING_EQUAL(s.keep_runs, "all");
    CU_ASSERT_EQUAL(s.history_days_ahead, 3);
    CU_ASSERT_STRING_EQUAL(s.log_level, "info");
    CU_ASSERT_TRUE_FATAL(s.nplugin_dirs >= 1);
    CU_ASSERT_STRING_EQUAL(s.plugin_dirs[s.nplugin_dirs - 1], PLUGIN_DIR);
    CU_ASSERT_EQUAL(s.defaults.timeout_us, 30000000);
    CU_ASSERT_EQUAL(s.defaults.batch_timeout_us, 60000000);
    CU_ASSERT_EQUAL(s.defaults.batch, 1000);
    CU_ASSERT_EQUAL(s.defaults.max_checks, 5);
    CU_ASSERT_EQUAL(s.defaults.horizon_s, 30 * 86400);
    CU_ASSERT_EQUAL(s.defaults.max_failures, 3);
    CU_ASSERT_EQUAL(s.defaults.backoff_s, 0);
    CU_ASSERT_EQUAL(s.defaults.backoff_max_s, 86400);
    CU_ASSERT_EQUAL(s.njobs, 0);
    settings_release(&s);
}

static void the_bounds_agree_with_the_rest_of_the_program(void)
{
    CU_ASSERT_EQUAL(settings_row("slab", false)->max, SLAB_CHECKS_MAX);
    CU_ASSERT_EQUAL(settings_row("connections", false)->max, STORE_BUCKETS);
    const struct setting_row *row = settings_row("slot_length", false);
    for (int64_t s = 1; s <= 86400; s++)
        CU_ASSERT_EQUAL_FATAL(row->accepts_us(s * 1000000), slot_length_is_valid(s));
}

static void every_row_is_named_once_and_explained(void)
{
    const struct setting_row *const tables[] = { settings_rows, settings_job_rows };
    bool seen[SETTINGS_ROWS_MAX] = { false };
    for (int t = 0; t < 2; t++)
        for (const struct setting_row *row = tables[t]; row->name; row++) {
            CU_ASSERT_PTR_EQUAL(settings_row(row->name, t == 1), row);
            CU_ASSERT_TRUE(row->help && row->help[strlen(row->help) - 1] == '.');
            CU_ASSERT_FALSE(seen[settings_row_index(row)]);
            seen[settings_row_index(row)] = true;
            if (t == 1)
                CU_ASSERT_PTR_NULL(settings_row(row->name, false) == row ? NULL : settings_row(row->name, false));
        }
}

/* ---- values ---- */

static void every_type_is_read_from_a_file(void)
{
    struct settings s = parsed("store = \"postgresql://u:p@h/db\"; prepared = false; workers = 4; workers_max = 8;\n"
                               "worker_memory = \"2GiB\"; page_bytes = 1048576; lease = \"1m\"; trust = 40; settle_after = 0.5;\n"
                               "slot_length = \"5m\"; serve = [0, 30]; keep_runs = \"problems\"; plugin_dirs = (\"/a\", \"/b\");\n"
                               "business = \"sqlite:shop.db\"; horizon = \"90d\";");
    CU_ASSERT_STRING_EQUAL(s.store, "postgresql://u:p@h/db");
    CU_ASSERT_FALSE(s.prepared);
    CU_ASSERT_EQUAL(s.workers, 4);
    CU_ASSERT_EQUAL(s.worker_memory, INT64_C(2) << 30);
    CU_ASSERT_EQUAL(s.page_bytes, 1048576);
    CU_ASSERT_EQUAL(s.lease_us, 60000000);
    CU_ASSERT_EQUAL(s.trust_us, 40000000);
    CU_ASSERT_EQUAL(s.settle_after_us, 500000);
    CU_ASSERT_EQUAL(s.slot_length_s, 300);
    CU_ASSERT_EQUAL(s.nserve, 2);
    CU_ASSERT_EQUAL(s.serve[1], 30);
    CU_ASSERT_STRING_EQUAL(s.keep_runs, "problems");
    CU_ASSERT_EQUAL(s.nplugin_dirs, 2);
    CU_ASSERT_STRING_EQUAL(s.plugin_dirs[1], "/b");
    CU_ASSERT_EQUAL(s.defaults.horizon_s, 90 * 86400);
    settings_release(&s);
}

static void numbers_past_32_bits_are_taken_whole(void)
{
    static const struct { const char *text; int64_t bytes; } all[] = {
        { "4294967296", INT64_C(1) << 32 }, { "4294967296L", INT64_C(1) << 32 }, { "0x100000000", INT64_C(1) << 32 }, { "0xFFFFFFFF", 0xFFFFFFFF },
        { "2147483648", INT64_C(1) << 31 }, { "+8589934592", INT64_C(1) << 33 }, { "\"5GB\"", INT64_C(5000000000) }, { "\"33554432B\"", 32 << 20 },
        { "0", 0 }, { "\"0\"", 0 }, { "\"1TiB\"", INT64_C(1) << 40 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[100];
        snprintf(text, sizeof text, "/* 99999999999999999999 */ worker_memory = %s; # 99999999999999999999", all[i].text);
        struct settings s = parsed(text);
        CU_ASSERT_EQUAL(s.worker_memory, all[i].bytes);
        settings_release(&s);
    }
    refused("worker_memory = 99999999999999999999;", "test.cfg:1: 99999999999999999999: expected a number of at most 63 bits");
    refused("page = 5;\nworker_memory = 0xFFFFFFFFFFFFFFFF;", "test.cfg:2: 0xFFFFFFFFFFFFFFFF: expected a number of at most 63 bits");
    refused("page = 4294967297;", "test.cfg:1: page = 4294967297: expected a whole number between 1 and 100000");
}

static void bad_values_are_refused_with_what_was_found_and_expected(void)
{
    static const struct { const char *text, *words; } all[] = {
        { "timeout = \"5x\";", "test.cfg:1: timeout = \"5x\": expected a duration such as 250ms, 90s, 15m, 3h, 30d, between 10ms and 1d" },
        { "\n\n  timeout = 0;", "test.cfg:3: timeout = 0: expected a duration" },
        { "timeout = -5;", "timeout = -5: expected a duration" },
        { "timeout = \"9ms\";", "timeout = \"9ms\": expected" },
        { "timeout = 1.0e300;", "timeout = 1e+300: expected" },
        { "timeout = 1.0e999;", "timeout = inf: expected" },
        { "timeout = true;", "timeout = true: expected" },
        { "timeout = \"\";", "timeout = \"\": expected" },
        { "timeout = [1];", "timeout = an array: expected" },
        { "timeout = { a = 1; };", "timeout = a group: expected" },
        { "timeout = (1, 2);", "timeout = a list: expected" },
        { "timeout = \"106751992d\";", "timeout = \"106751992d\": expected" },
        { "lease = \"1.5s\";", "lease = \"1.5s\": expected a duration in whole seconds" },
        { "horizon = \"100ms\";", "horizon = \"100ms\": expected a duration in whole seconds" },
        { "horizon = 0;", "between 1s and 36500d" },
        { "backoff = \"500ms\";", "0s or between 1s and 3650d" },
        { "slot_length = \"7s\";", "slot_length = \"7s\": expected 0s, or a length that divides a day" },
        { "slot_length = \"2d\";", "slot_length = \"2d\": expected" },
        { "workers = 2.5;", "workers = 2.5: expected a whole number between 0 and 1024" },
        { "workers = -1;", "workers = -1: expected" },
        { "workers = 1025;", "workers = 1025: expected" },
        { "workers = \"4 \";", "workers = \"4 \": expected" },
        { "workers = \"\";", "workers = \"\": expected" },
        { "workers = \"0x4\";", "workers = \"0x4\": expected" },
        { "workers = \"99999999999999999999\";", "expected a whole number" },
        { "page = 0;", "page = 0: expected a whole number between 1 and" },
        { "slab = 1025;", "slab = 1025: expected a whole number between 1 and 1024" },
        { "slab = 0;", "slab = 0: expected" },
        { "prepared = 2;", "prepared = 2: expected true or false" },
        { "prepared = \"maybe\";", "prepared = \"maybe\": expected true or false" },
        { "worker_memory = \"64\xc2\xb5iB\";", "expected a size such as 64MiB or a number of bytes, 0 or between 32MiB and 64TiB" },
        { "worker_memory = \"64 MiB\";", "expected a size" },
        { "worker_memory = \"1.5GiB\";", "expected a size" },
        { "worker_memory = \"MiB\";", "expected a size" },
        { "worker_memory = \"9999999TiB\";", "expected a size" },
        { "worker_memory = 1;", "worker_memory = 1: expected a size" },
        { "worker_memory = -4294967296;", "worker_memory = -4294967296: expected a size" },
        { "keep_runs = \"some\";", "keep_runs = \"some\": expected one of all, problems, none" },
        { "keep_runs = \"ALL\";", "expected one of" },
        { "keep_runs = 1;", "keep_runs = 1: expected one of" },
        { "log_level = \"\";", "expected one of debug, info, warn, error" },
        { "store = 5;", "store = 5: expected sqlite:FILE or postgresql://" },
        { "store = \"\";", "store = \"\": expected" },
        { "store = \"sqlite:a\nb\";", "expected sqlite:FILE" },
        { "store = [\"a\"];", "store = an array: expected" },
        { "store = \"\xff\";", "expected sqlite:FILE" },
        { "schema = \"pre scient\";", "schema = \"pre scient\": expected a name of lower-case letters, digits and _, at most 63 bytes" },
        { "schema = \"x\\\"; drop table y\";", "expected a name" },
        { "schema = \"1st\";", "expected a name" },
        { "schema = \"Prescient\";", "expected a name" },
        { "schema = \"a123456789b123456789c123456789d123456789e123456789f123456789g123\";", "at most 63 bytes" },
        { "worker_user = \"a b\";", "expected the name of a user" },
        { "engine_name = \"a\\x01\";", "expected text without control characters" },
        { "serve = [60];", "serve = an array: expected minutes of the hour, 0 to 59, each once" },
        { "serve = [-1];", "expected minutes" },
        { "serve = [0, 30, 0];", "expected minutes" },
        { "serve = [\"0\"];", "expected minutes" },
        { "serve = [0.5];", "expected minutes" },
        { "serve = true;", "expected minutes" },
        { "serve = \"0\";", "serve = \"0\": expected minutes" },
        { "plugin_dirs = [];", "plugin_dirs = an array: expected folders" },
        { "plugin_dirs = [\"\"];", "expected folders" },
        { "plugin_dirs = [1];", "expected folders" },
        { "plugin_dirs = ((\"a\"));", "expected folders" },
        { "plugin_dirs = { a = \"b\"; };", "plugin_dirs = a group: expected folders" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        refused(all[i].text, all[i].words);
}

static void settings_that_do_not_go_together_are_refused(void)
{
    refused("trust = \"30s\";", "trust = \"30s\" (test.cfg:1): expected less than lease = \"30s\" (the default)");
    refused("\nlease = \"10s\";", "trust = \"20s\" (the default): expected less than lease = \"10s\" (test.cfg:2)");
    refused("workers = 65;", "workers = 65 (test.cfg:1): expected at most workers_max = 64 (the default)");
    refused("backoff = \"2d\";", "backoff = \"2d\" (test.cfg:1): expected at most backoff_max = \"1d\" (the default)");
    refused("jobs = { a = { plugin = \"p\"; backoff = \"2d\"; }; };", "test.cfg:1: jobs.a.backoff is longer than backoff_max");
}

static void what_is_no_libconfig_is_refused_with_its_line(void)
{
    refused("page = 5;\ntimeout = 5x;", "test.cfg:2: syntax error: expected NAME = VALUE; with durations, sizes and texts in quotes");
    refused("page = 5;\npage = 6;", "test.cfg:2: duplicate setting name");
    refused("page", "test.cfg:");
    refused("page = ;", "test.cfg:1: syntax error");
    refused("= 5;", "test.cfg:1: syntax error");
    refused("serve = [0, \"a\"];", "test.cfg:1: mismatched element type in array");
    refused("jobs = { a = { plugin = \"p\"; }; a = { plugin = \"q\"; }; };", "duplicate setting name");
    refused("\nstore = \"sqlite:x", "test.cfg:2: this string is never closed");
    refused("\n\n/* never", "test.cfg:3: this comment is never closed");
    refused("store = \"a\\x00b\";", "test.cfg:1: a string cannot hold \\x00");
    refused("@include nothing", "test.cfg:1: expected @include \"FILE\"");
    refused("@include \"\"", "test.cfg:1: expected @include \"FILE\"");
    refused("@include \"a", "test.cfg:1: expected @include \"FILE\"");
    refused("\x80", "test.cfg:1: syntax error");
}

static void unknown_settings_are_refused_with_the_nearest_name(void)
{
    refused("page = 5;\ntimeot = \"5s\";", "test.cfg:2: unknown setting \"timeot\"; did you mean \"timeout\"?");
    refused("lock-timeout = 1;", "unknown setting \"lock-timeout\"; did you mean \"lock_timeout\"?");
    refused("timeout_ms = 5;", "unknown setting \"timeout_ms\"; did you mean \"timeout\"?");
    refused("lease_seconds = 5;", "did you mean \"lease\"?");
    refused("job = { };", "did you mean \"jobs\"?");
    refused("olg_level = \"info\";", "did you mean \"log_level\"?");
    refused("plugin = \"p\";", "unknown setting \"plugin\"");
    refused("zzzzzzzzzz = 5;", "test.cfg:1: unknown setting \"zzzzzzzzzz\"");
    refused("jobs = { a = { plugin = \"p\";\n max_cheks = 3; }; };", "test.cfg:2: unknown setting \"jobs.a.max_cheks\"; did you mean \"max_checks\"?");
    refused("jobs = { a = { plugin = \"p\"; query_text = \"select\"; }; };", "a job's own settings go into settings = { ... }");
    refused("jobs = { a = { plugin = \"p\"; store = \"x\"; }; };", "unknown setting \"jobs.a.store\"");
    struct settings s;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(settings_parse(&s, "zzzzzzzzzz = 5;", "t", &err), ERR_SETTINGS);
    CU_ASSERT_PTR_NULL(strstr(err.text, "did you mean"));
}

/* ---- jobs ---- */

static void a_job_inherits_what_it_does_not_say(void)
{
    struct settings s = parsed("timeout = \"7s\"; max_checks = 9;\n"
                               "jobs = { late = { plugin = \"sql_check\"; max_checks = 2; settings = { sql = \"select 1\"; }; };\n"
                               "         plain = { plugin = \"noop.so\"; }; };\nmax_failures = 8;");
    CU_ASSERT_EQUAL_FATAL(s.njobs, 2);
    CU_ASSERT_STRING_EQUAL(s.jobs[0].name, "late");
    CU_ASSERT_STRING_EQUAL(s.jobs[0].plugin, "sql_check");
    CU_ASSERT_EQUAL(s.jobs[0].max_checks, 2);
    CU_ASSERT_EQUAL(s.jobs[0].timeout_us, 7000000);
    CU_ASSERT_EQUAL(s.jobs[0].max_failures, 8);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s.jobs[0].own);
    const char *sql = NULL;
    config_setting_lookup_string(s.jobs[0].own, "sql", &sql);
    CU_ASSERT_STRING_EQUAL(sql, "select 1");
    CU_ASSERT_EQUAL(s.jobs[1].max_checks, 9);
    CU_ASSERT_PTR_NULL(s.jobs[1].own);
    settings_release(&s);
}

static void a_job_is_found_by_its_name(void)
{
    struct settings s = parsed("jobs = { a = { plugin = \"p\"; }; b = { plugin = \"q\"; }; };");
    int index = -1;
    CU_ASSERT_PTR_EQUAL(settings_job(&s, "b", &index), &s.jobs[1]);
    CU_ASSERT_EQUAL(index, 1);
    CU_ASSERT_PTR_EQUAL(settings_job(&s, "a", NULL), &s.jobs[0]);
    CU_ASSERT_PTR_NULL(settings_job(&s, "B", &index));
    settings_release(&s);
}

static void a_job_may_have_any_name_in_a_list(void)
{
    struct settings s = parsed("jobs = ( { name = \"order late / \xc3\xbc\"; plugin = \"p\"; }, { plugin = \"q\"; name = \"b\"; timeout = \"1s\"; } );");
    CU_ASSERT_EQUAL(s.njobs, 2);
    CU_ASSERT_PTR_NOT_NULL(settings_job(&s, "order late / \xc3\xbc", NULL));
    CU_ASSERT_EQUAL(settings_job(&s, "b", NULL)->timeout_us, 1000000);
    settings_release(&s);
}

static void bad_jobs_are_refused(void)
{
    static const struct { const char *text, *words; } all[] = {
        { "jobs = 5;", "test.cfg:1: jobs: expected a group" },
        { "jobs = [\"a\"];", "test.cfg:1: jobs: expected a group" },
        { "jobs = { a = \"noop\"; };", "test.cfg:1: jobs.a: expected a group" },
        { "jobs = {\n a = { };\n};", "test.cfg:2: jobs.a.plugin is not set: expected the name of a plug-in" },
        { "jobs = { a = { plugin = \"../evil\"; }; };", "jobs.a.plugin = \"../evil\": expected the name of a plug-in in one of plugin_dirs, never a path" },
        { "jobs = { a = { plugin = \"/lib/evil.so\"; }; };", "never a path" },
        { "jobs = { a = { plugin = \"..\"; }; };", "never a path" },
        { "jobs = { a = { plugin = \"\"; }; };", "jobs.a.plugin" },
        { "jobs = { a = { plugin = 5; }; };", "jobs.a.plugin = 5: expected" },
        { "jobs = { a = { plugin = \"p\"; timeout = \"5x\"; }; };", "jobs.a.timeout = \"5x\": expected a duration" },
        { "jobs = { a = { plugin = \"p\"; settings = 5; }; };", "jobs.a.settings: expected a group, settings = { ... }" },
        { "jobs = { a = { plugin = \"p\"; settings = { x = ( { y = \"\xff\"; } ); }; }; };", "jobs.a.settings: y: expected text in UTF-8" },
        { "jobs = { a = { plugin = \"p\"; settings = { x = [1.0e999]; }; }; };", "jobs.a.settings: an element: expected a number" },
        { "jobs = { a = { plugin = \"p\"; name = \"b\"; }; };", "unknown setting \"jobs.a.name\"" },
        { "jobs = ( { plugin = \"p\"; } );", "the name of a job: expected text in UTF-8, 1 to 1024 bytes" },
        { "jobs = ( { name = \"\"; plugin = \"p\"; } );", "the name of a job: expected" },
        { "jobs = ( { name = 5; plugin = \"p\"; } );", "the name of a job: expected" },
        { "jobs = ( { name = \"\xc3\"; plugin = \"p\"; } );", "the name of a job: expected" },
        { "jobs = ( { name = \"a\"; plugin = \"p\"; },\n { name = \"a\"; plugin = \"q\"; } );", "test.cfg:2: job \"a\" is there already" },
        { "jobs = ( 5 );", "jobs: expected a group" },
        { "jobs = ( { name = \"a\"; } );", "jobs.a.plugin is not set" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        refused(all[i].text, all[i].words);
    char text[2200], name[1026];
    memset(name, 'n', sizeof name - 1);
    name[1025] = '\0';
    snprintf(text, sizeof text, "jobs = { %s = { plugin = \"p\"; }; };", name);
    refused(text, "the name of a job: expected text in UTF-8, 1 to 1024 bytes");
    snprintf(text, sizeof text, "jobs = { %s = { plugin = \"p\"; }; };", name + 1);
    struct settings s = parsed(text);
    CU_ASSERT_EQUAL(s.njobs, 1);
    settings_release(&s);
}

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
    CU_ASSERT_EQUAL(s.page, 1000);
    settings_release(&s);
}

static void an_included_file_is_found_beside_its_includer_or_where_we_work(void)
{
    char absolute[4200];
    mkdir("sub", 0700);
    snprintf(absolute, sizeof absolute, "# \"@include\n  @include \"%s/b.cfg\"\nslab = 9; // c\n@include \"sub/d.cfg\"\n", kept.folder);
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

static void a_file_with_a_nul_byte_is_refused(void)
{
    FILE *f = fopen("a.cfg", "w");
    fwrite("page = 5;\0page", 1, 14, f);
    fclose(f);
    load_refused("a.cfg", NULL, 0, "a.cfg: a NUL byte at offset 9");
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
    forget_environment();
}

static void a_variable_sets_what_jobs_start_from_but_not_what_they_say(void)
{
    write_file("a.cfg", "timeout = \"1s\"; jobs = { a = { plugin = \"p\"; }; b = { plugin = \"p\"; timeout = \"2s\"; }; };");
    setenv("PRESCIENT_TIMEOUT", "3s", 1);
    struct settings s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.defaults.timeout_us, 3000000);
    CU_ASSERT_EQUAL(s.jobs[0].timeout_us, 3000000);
    CU_ASSERT_EQUAL(s.jobs[1].timeout_us, 2000000);
    settings_release(&s);
    forget_environment();
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
    setenv("PRESCIENT_SERVE", "0,,30", 1);
    load_refused("a.cfg", NULL, 0, "expected minutes");
    setenv("PRESCIENT_SERVE", "", 1);
    s = loaded("a.cfg", NULL, 0);
    CU_ASSERT_EQUAL(s.nserve, 1);
    settings_release(&s);
    forget_environment();
}

static void a_bad_variable_or_flag_is_named(void)
{
    write_file("a.cfg", "");
    setenv("PRESCIENT_PAGE", "many", 1);
    load_refused("a.cfg", NULL, 0, "PRESCIENT_PAGE: page = \"many\": expected a whole number");
    forget_environment();
    const struct settings_flag flags[] = { { "lock-timeout", "1x" }, { "pages", "5" }, { "workers", NULL }, { "plugin", "p" }, { "zzzzzzz", "" } };
    load_refused("a.cfg", flags, 1, "--lock-timeout: lock_timeout = \"1x\": expected a duration");
    load_refused("a.cfg", flags + 1, 1, "--pages: there is no such setting; did you mean \"page\"?");
    load_refused("a.cfg", flags + 2, 1, "--workers: workers = \"\": expected");
    load_refused("a.cfg", flags + 3, 1, "--plugin: there is no such setting");
    load_refused("a.cfg", flags + 4, 1, "--zzzzzzz: there is no such setting");
}

static void flags_may_be_spelled_with_dashes(void)
{
    write_file("a.cfg", "business = \"sqlite:x\"; prepared = false;");
    const struct settings_flag flags[] = { { "lock-timeout", "1s" }, { "--worker_files", "99" }, { "prepared", NULL }, { "business", "" }, { "serve", "" } };
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
    forget_environment();
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
    forget_environment();
}

static void passwords_do_not_show_in_errors(void)
{
    struct settings s;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(settings_parse(&s, "store = \"postgresql://u:hunter2@h/db\\x01\";", "t", &err), ERR_SETTINGS);
    CU_ASSERT_PTR_NULL(strstr(err.text, "hunter2"));
    says(&err, "store", "postgresql://u:***@h/db");
}

/* ---- printing ---- */

static char *printed(const struct settings *s, bool commented, bool secrets)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_EQUAL(settings_print(s, out, commented, secrets, NULL), 0);
    fclose(out);
    return text;
}

static bool same_value(const struct setting_row *row, const struct settings *a, const struct settings *b, const void *x, const void *y)
{
    char *ones = NULL, *others = NULL;
    size_t size;
    FILE *one = open_memstream(&ones, &size), *other = open_memstream(&others, &size);
    int na = row->count ? *(const int *)((const char *)a + row->count) : 0, nb = row->count ? *(const int *)((const char *)b + row->count) : 0;
    bool set = settings_put_value(row, x, na, true, one);
    bool same = settings_put_value(row, y, nb, true, other) == set;
    fclose(one);
    fclose(other);
    same &= !strcmp(ones, others);
    free(ones);
    free(others);
    return same;
}

static bool same_node(const struct config_setting_t *a, const struct config_setting_t *b)
{
    if (!a || !b)
        return a == b;
    const char *x = config_setting_name(a), *y = config_setting_name(b);
    if (config_setting_type(a) != config_setting_type(b) || config_setting_length(a) != config_setting_length(b) || !x != !y || (x && strcmp(x, y)))
        return false;
    for (int i = 0; config_setting_is_aggregate(a) && i < config_setting_length(a); i++)
        if (!same_node(config_setting_get_elem(a, (unsigned)i), config_setting_get_elem(b, (unsigned)i)))
            return false;
    if (config_setting_type(a) == CONFIG_TYPE_STRING)
        return !strcmp(config_setting_get_string(a), config_setting_get_string(b));
    return !config_setting_is_scalar(a) || (config_setting_get_int64(a) == config_setting_get_int64(b) &&
        config_setting_get_bool(a) == config_setting_get_bool(b) && !memcmp(&a->value.fval, &b->value.fval, config_setting_type(a) == CONFIG_TYPE_FLOAT ? 8 : 0));
}

static bool same_settings(struct settings *a, struct settings *b)
{
    bool same = a->njobs == b->njobs;
    for (const struct setting_row *row = settings_rows; row->name; row++)
        same &= same_value(row, a, b, settings_field(row, a, NULL), settings_field(row, b, NULL));
    for (const struct setting_row *row = settings_job_rows; row->name; row++) {
        same &= same_value(row, a, b, settings_field(row, a, NULL), settings_field(row, b, NULL));
        for (int i = 0; i < a->njobs && same; i++)
            same &= same_value(row, a, b, settings_field(row, a, &a->jobs[i]), settings_field(row, b, &b->jobs[i]));
    }
    for (int i = 0; i < a->njobs && same; i++)
        same &= !strcmp(a->jobs[i].name, b->jobs[i].name) && same_node(a->jobs[i].own, b->jobs[i].own);
    return same;
}

static bool reads_back(struct settings *s, bool commented)
{
    char *text = printed(s, commented, true);
    struct settings back;
    struct err err = { 0 };
    int rc = settings_parse(&back, text, "printed", &err);
    bool same = rc == 0 && same_settings(s, &back);
    char *again = rc == 0 ? printed(&back, commented, true) : NULL;
    same &= again && !strcmp(text, again);
    if (!same)
        printf("%s\n%s\n", err.text, text);
    settings_release(&back);
    free(text);
    free(again);
    return same;
}

static const char rich[] =
    "store = \"postgresql://u:p%40ss@h/db?application_name=\\\"x\\\"\"; business = \"host=x password='a b\\\\'c'\"; schema = \"other\";\n"
    "slot_length = \"1m\"; statement_timeout = 1.234567; settle_after = \"0.0015\"; engine_name = \"m\xc3\xbcller #1; {x}\";\n"
    "worker_memory = 123456789; page_bytes = 6291456; serve = [59, 0, 7]; plugin_dirs = (\"/a b\", \"c\\\\d\", \"\xe2\x82\xac\");\n"
    "timeout = \"12.345s\"; batch = 7; backoff = \"15m\"; keep_runs = \"none\"; prepared = no_such; ";

static void what_is_printed_reads_back_to_the_same(void)
{
    char text[4096];
    snprintf(text, sizeof text, "%.*s%s", (int)(strstr(rich, "prepared") - rich), rich,
             "jobs = { a_b-c = { plugin = \"sql_check\"; timeout = \"1d\"; max_checks = 0; settings = { sql = \"select \\\"x\\\"\\n\\t\\x01 from y\"\n"
             "   \" where z\"; n = -5; big = 5L; huge = 9223372036854775807L; low = -2147483648; hex = 0xFFFFFFFF; f = 0.1; g = 1e20; h = -1.5e-300; k = 5.0; zero = -0.0;\n"
             "   yes = true; no = FALSE; list = ( 1, \"two\", 3.5, ( ), [ ], { }, { x = 1; } ); array = [ 1.5, 2.5 ]; strings = [ \"a\", \"b\" ];\n"
             "   * = 1; group = { in = { deep = \"\"; }; }; }; }; B = { plugin = \"noop\"; settings = { }; }; };");
    struct settings s = parsed(text);
    CU_ASSERT_EQUAL(s.njobs, 2);
    CU_ASSERT_EQUAL(s.statement_timeout_us, 1234567);
    CU_ASSERT_EQUAL(s.settle_after_us, 1500);
    CU_ASSERT_TRUE(reads_back(&s, false));
    CU_ASSERT_TRUE(reads_back(&s, true));
    settings_release(&s);
}

static void jobs_of_any_name_read_back(void)
{
    struct settings s = parsed("jobs = ( { name = \"a\\\"b\\\\\"; plugin = \"p\"; settings = { x = 1; }; }, { name = \"1\"; plugin = \"q\"; } );");
    CU_ASSERT_TRUE(reads_back(&s, false));
    CU_ASSERT_TRUE(reads_back(&s, true));
    settings_release(&s);
}

static void the_sample_file_holds_every_setting_with_help_and_bounds(void)
{
    struct settings s = parsed("");
    CU_ASSERT_TRUE(reads_back(&s, true));
    char *text = printed(&s, true, false);
    const struct setting_row *const tables[] = { settings_rows, settings_job_rows + 1 };
    for (int t = 0; t < 2; t++)
        for (const struct setting_row *row = tables[t]; row->name; row++) {
            char line[100];
            snprintf(line, sizeof line, "\n%s = ", row->name);
            bool there = strstr(text, line) != NULL;
            snprintf(line, sizeof line, "\n# %s = ", row->name);
            CU_ASSERT_TRUE(there || strstr(text, line));
        }
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "# How long one check may take."));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "# Expected: a duration such as 250ms, 90s, 15m, 3h, 30d, between 10ms and 1d. Default: 30s.\ntimeout = \"30s\";\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "# jobs = {"));
    free(text);
    settings_release(&s);
}

static void passwords_are_printed_on_request_only(void)
{
    struct settings s = parsed("store = \"postgresql://u:hunter2@h/db\"; business = \"host=h password=hunter2\";\n"
                               "jobs = { a = { plugin = \"p\"; settings = { url = \"https://u:hunter2@h/x\"; api_token = \"hunter2\"; list = [\"s://a:hunter2@b\"]; sql = \"a://b\"; }; }; };");
    char *shown = printed(&s, false, false), *whole = printed(&s, false, true);
    CU_ASSERT_PTR_NULL(strstr(shown, "hunter2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(shown, "postgresql://u:***@h/db"));
    CU_ASSERT_PTR_NOT_NULL(strstr(shown, "sql = \"a://b\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(whole, "postgresql://u:hunter2@h/db"));
    free(shown);
    free(whole);
    settings_release(&s);
}

static void a_full_disk_is_noticed(void)
{
    struct settings s = parsed("");
    struct err err = { 0 };
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        CU_ASSERT_EQUAL(settings_print(&s, full, true, false, &err), ERR_GENERAL);
        says(&err, "print", "cannot write");
        fclose(full);
    }
    settings_release(&s);
}

/* ---- any settings ---- */

static void put_any_string(FILE *out, uint64_t *random)
{
    char text[40];
    int n = (int)(random_next(random) % 30) + 1;
    for (int i = 0; i < n; i++)
        text[i] = (char)(random_next(random) % 127 + 1);
    text[n] = '\0';
    settings_put_string(out, text);
}

static void put_any_value(const struct setting_row *row, FILE *out, uint64_t *random)
{
    uint64_t n = random_next(random), range = (uint64_t)(row->max - row->min) + 1;
    int64_t number = row->min + (int64_t)(random_next(random) % range);
    switch (row->type) {
    case SETTING_INT: fprintf(out, "%lld", (long long)number); break;
    case SETTING_SIZE: fprintf(out, n % 2 ? "%lld" : "\"%lldB\"", (long long)number); break;
    case SETTING_BOOL: fputs(n % 2 ? "true" : "false", out); break;
    case SETTING_DURATION_US:
        if (!row->whole_seconds && n % 2)
            fprintf(out, "\"%lldus\"", (long long)number);
        else
            fprintf(out, "\"%llds\"", (long long)((number + 999999) / 1000000));
        break;
    case SETTING_DURATION_S: fprintf(out, "%lld", (long long)((number + 999999) / 1000000)); break;
    case SETTING_WORD: fprintf(out, "\"%s\"", row->words[n % 3]); break;
    case SETTING_MINUTES: fprintf(out, "[%d, %d]", (int)(n % 30), (int)(30 + n / 64 % 30)); break;
    default: fputs("\"x\"", out); break;
    }
}

static char *any_settings(uint64_t *random)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *const bound[] = { "slot_length", "lease", "trust", "workers", "workers_max", "backoff", "backoff_max" };
    for (const struct setting_row *row = settings_rows; row->name; row++) {
        bool skip = random_next(random) % 3 == 0;
        for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
            skip |= !strcmp(row->name, bound[i]);
        if (skip)
            continue;
        fprintf(out, "%s = ", row->name);
        put_any_value(row, out, random);
        fputs(";\n", out);
    }
    fputs("jobs = {", out);
    for (int i = 0, n = (int)(random_next(random) % 4); i < n; i++) {
        fprintf(out, "j%d = { plugin = \"p\"; timeout = ", i);
        put_any_value(settings_row("timeout", true), out, random);
        fputs("; settings = { a = ", out);
        put_any_string(out, random);
        fprintf(out, "; f = %.17g; n = %lld; }; };\n", (double)(int64_t)random_next(random) / 3e10 + 0.5, (long long)random_next(random));
    }
    fputs("};", out);
    fclose(out);
    return text;
}

static void any_settings_read_back(void)
{
    uint64_t seed = 31337, random = seed;
    for (int i = 0; i < 300; i++) {
        char *text = any_settings(&random);
        struct settings s;
        struct err err = { 0 };
        int rc = settings_parse(&s, text, "any", &err);
        if (rc < 0 || !reads_back(&s, i % 2)) {
            printf("seed %llu, turn %d: %s\n%s\n", (unsigned long long)seed, i, err.text, text);
            free(text);
            CU_FAIL_FATAL("does not read back");
        }
        settings_release(&s);
        free(text);
    }
}

static void garbage_is_refused_or_taken_but_never_worse(void)
{
    static const char *const bits[] = { "page", "=", ";", "5", "\"", "{", "}", "(", ")", "[", "]", "jobs", " ", "\n", "/*", "*/", "#", "@include ", "0x", "L",
                                        ".", "e", "-", "\\x0", "\xff", "timeout", "plugin", "settings", "name", ",", "999999999999", "//", "\"a\"", "true" };
    uint64_t seed = 271828, random = seed;
    for (int i = 0; i < 20000; i++) {
        char text[400] = "";
        for (int n = (int)(random_next(&random) % 24); n > 0; n--)
            strcat(text, bits[random_next(&random) % (sizeof bits / sizeof *bits)]);
        struct settings s;
        struct err err = { 0 };
        int rc = settings_parse(&s, text, "garbage", &err);
        if (rc != 0 && (rc != ERR_SETTINGS || strncmp(err.text, "garbage:", 8) != 0)) {
            printf("seed %llu, turn %d: %d %s\n%s\n", (unsigned long long)seed, i, rc, err.text, text);
            CU_FAIL_FATAL("an error without a place");
        }
        settings_release(&s);
    }
}

/* ---- masking ---- */

static void passwords_are_masked(void)
{
    static const struct { const char *url, *masked; } all[] = {
        { "postgresql://user:pw@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:pw@host:5432/db?sslmode=require&password=pw", "postgresql://user:***@host:5432/db?sslmode=require&password=***" },
        { "postgres://user:pw@h1:1,h2:2/db?password=pw&connect_timeout=5", "postgres://user:***@h1:1,h2:2/db?password=***&connect_timeout=5" },
        { "postgresql://user:p@w@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:p/w@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:p?w@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user@host/db", "postgresql://user@host/db" },
        { "postgresql://host:5432/db", "postgresql://host:5432/db" },
        { "postgresql:///db?host=/run&user=a&sslpassword=pw", "postgresql:///db?host=/run&user=a&sslpassword=***" },
        { "postgresql://?PASSWORD=pw", "postgresql://?PASSWORD=***" },
        { "postgresql://h/db?passwords=x&password", "postgresql://h/db?passwords=x&password" },
        { "postgresql://", "postgresql://" },
        { "https://u:pw@h/x?y=1", "https://u:***@h/x?y=1" },
        { "host=x password=pw", "host=x password=***" },
        { "password = pw host=x", "password = *** host=x" },
        { "password='p w' host=x", "password=*** host=x" },
        { "password='p\\'w x' host=y", "password=*** host=y" },
        { "password=p\\ w host=y", "password=*** host=y" },
        { "password='never closed host=y", "password=***" },
        { "user=a  sslpassword=pw  dbname=b", "user=a  sslpassword=***  dbname=b" },
        { "host=x passfile=/f", "host=x passfile=/f" },
        { "host='a=b password=c' user=d", "host='a=b password=c' user=d" },
        { "password=", "password=***" },
        { "password", "password" },
        { "=x password=pw", "=x password=***" },
        { "sqlite:/var/lib/x.db", "sqlite:/var/lib/x.db" },
        { "", "" },
        { " ", " " },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char out[200];
        settings_mask_url(all[i].url, out, sizeof out);
        if (strcmp(out, all[i].masked) != 0)
            printf("%s: %s\n", all[i].url, out);
        CU_ASSERT_STRING_EQUAL(out, all[i].masked);
    }
}

static void a_masked_url_fits_its_room(void)
{
    const char *url = "postgresql://user:pw@host/db?password=pw";
    for (size_t size = 0; size < 60; size++) {
        char *out = malloc(size + 1);           /* so that a byte too many is seen */
        out[size] = 'x';
        settings_mask_url(url, out, size);
        CU_ASSERT_TRUE(size == 0 || strlen(out) < size);
        CU_ASSERT_EQUAL(out[size], 'x');
        free(out);
    }
}

static void releasing_nothing_is_fine(void)
{
    struct settings s = { 0 };
    settings_release(&s);
    settings_release(&s);
    CU_PASS("no crash");
}

static const struct test tests[] = {
    TEST(without_anything_the_defaults_hold),
    TEST(the_bounds_agree_with_the_rest_of_the_program),
    TEST(every_row_is_named_once_and_explained),
    TEST(every_type_is_read_from_a_file),
    TEST(numbers_past_32_bits_are_taken_whole),
    TEST(bad_values_are_refused_with_what_was_found_and_expected),
    TEST(settings_that_do_not_go_together_are_refused),
    TEST(what_is_no_libconfig_is_refused_with_its_line),
    TEST(unknown_settings_are_refused_with_the_nearest_name),
    TEST(a_job_inherits_what_it_does_not_say),
    TEST(a_job_is_found_by_its_name),
    TEST(a_job_may_have_any_name_in_a_list),
    TEST(bad_jobs_are_refused),
    TEST(a_named_file_must_be_there),
    TEST(the_file_of_the_working_folder_is_found),
    TEST(no_file_at_all_is_fine),
    TEST(an_included_file_is_found_beside_its_includer_or_where_we_work),
    TEST(an_error_names_the_included_file_and_its_line),
    TEST(includes_that_never_end_are_refused),
    TEST(a_file_with_a_nul_byte_is_refused),
    TEST(flag_beats_variable_beats_file_beats_default),
    TEST(a_variable_sets_what_jobs_start_from_but_not_what_they_say),
    TEST(lists_and_words_come_from_variables_too),
    TEST(a_bad_variable_or_flag_is_named),
    TEST(flags_may_be_spelled_with_dashes),
    TEST(database_url_is_the_store_when_it_is_postgresql),
    TEST(pg_variables_are_the_store_when_nothing_else_is),
    TEST(passwords_do_not_show_in_errors),
    TEST(what_is_printed_reads_back_to_the_same),
    TEST(jobs_of_any_name_read_back),
    TEST(the_sample_file_holds_every_setting_with_help_and_bounds),
    TEST(passwords_are_printed_on_request_only),
    TEST(a_full_disk_is_noticed),
    TEST(any_settings_read_back),
    TEST(garbage_is_refused_or_taken_but_never_worse),
    TEST(passwords_are_masked),
    TEST(a_masked_url_fits_its_room),
    TEST(releasing_nothing_is_fine),
    { NULL, NULL },
};

const struct suite suite_settings = { .name = "settings", .setup = settings_setup, .teardown = settings_teardown, .tests = tests };
