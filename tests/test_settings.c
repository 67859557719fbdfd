/* test_settings.c - settings: defaults, values, jobs, and what is refused with which words. */
#include "settings_fixture.h"

#include <libconfig.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../engine/base/settings_table.h"
#include "../engine/rules/bucket.h"
#include "../engine/rules/slot.h"
#include "../engine/wire/slab.h"

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
    CU_ASSERT_EQUAL(s.page, 2000);
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
    CU_ASSERT_EQUAL(s.keep_us, 0);
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
    CU_ASSERT_EQUAL(s.defaults.attempts, 1);
    CU_ASSERT_EQUAL(s.defaults.attempt_interval_s, 10);
    CU_ASSERT_EQUAL(s.defaults.attempt_interval_max_s, 300);
    CU_ASSERT_EQUAL(s.defaults.attempt_jitter_s, 5);
    CU_ASSERT_EQUAL(s.njobs, 0);
    settings_release(&s);
}

static void jobs_beside_the_program_come_before_the_installed_ones(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 6);
    CU_ASSERT_TRUE_FATAL(n > 0);
    path[n] = '\0';
    strcpy(strrchr(path, '/'), "/jobs");
    bool made = mkdir(path, 0755) == 0;
    struct settings s = parsed("");
    if (access(path, X_OK) == 0) {
        CU_ASSERT_EQUAL_FATAL(s.nplugin_dirs, 2);
        CU_ASSERT_STRING_EQUAL(s.plugin_dirs[0], path);
        CU_ASSERT_STRING_EQUAL(s.plugin_dirs[1], PLUGIN_DIR);
    }
    settings_release(&s);
    if (made)
        rmdir(path);
}

static void the_bounds_agree_with_the_rest_of_the_program(void)
{
    CU_ASSERT_EQUAL(settings_row("slab", false)->max, SLAB_CHECKS_MAX);
    CU_ASSERT_EQUAL(settings_row("connections", false)->max, BUCKETS);
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
            CU_ASSERT_TRUE((row->type != SETTING_TEXT && row->type != SETTING_URL) || row->expected);
            CU_ASSERT_FALSE(seen[settings_row_index(row)]);
            seen[settings_row_index(row)] = true;
            CU_ASSERT_EQUAL(settings_row(row->name, false) == row, strcmp(row->name, "plugin") != 0);
        }
}

/* ---- values ---- */

static void every_type_is_read_from_a_file(void)
{
    struct settings s = parsed(
        "store = \"postgresql://u:p@h/db\"; prepared = false; workers = 4; workers_max = 8;\n"
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
    static const struct { const char *text; int64_t bytes;
    } all[] = {
        { "4294967296", INT64_C(1) << 32 },
        { "4294967296L", INT64_C(1) << 32 },
        { "0x100000000", INT64_C(1) << 32 },
        { "0xFFFFFFFF", 0xFFFFFFFF },
        { "2147483648", INT64_C(1) << 31 },
        { "+8589934592", INT64_C(1) << 33 },
        { "\"5GB\"", INT64_C(5000000000) },
        { "\"33554432B\"", 32 << 20 },
        { "0", 0 },
        { "\"0\"", 0 },
        { "\"1TiB\"", INT64_C(1) << 40 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[100];
        snprintf(text, sizeof text, "/* 99999999999999999999 */ worker_memory = %s; # 99999999999999999999",
                 all[i].text);
        struct settings s = parsed(text);
        CU_ASSERT_EQUAL(s.worker_memory, all[i].bytes);
        settings_release(&s);
    }
    refused("worker_memory = 99999999999999999999;",
            "test.cfg:1: 99999999999999999999: expected a number of at most 63 bits");
    refused("page = 5;\nworker_memory = 0xFFFFFFFFFFFFFFFF;",
            "test.cfg:2: 0xFFFFFFFFFFFFFFFF: expected a number of at most 63 bits");
    refused("page = 4294967297;",
            "test.cfg:1: page = 4294967297: expected a whole number between 1 and 100000");
}

static void bad_values_are_refused_with_what_was_found_and_expected(void)
{
    static const struct { const char *text, *words;
    } all[] = {
        { "timeout = \"5x\";", "test.cfg:1: timeout = \"5x\": expected a duration such as 250ms, 90s, 15m, "
                               "3h, 30d, between 10ms and 1d" },
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
        { "worker_memory = \"64\xc2\xb5iB\";",
          "expected a size such as 64MiB or a number of bytes, 0 or between 32MiB and 64TiB" },
        { "worker_memory = \"64 MiB\";", "expected a size" },
        { "worker_memory = \"1.5GiB\";", "expected a size" },
        { "worker_memory = \"MiB\";", "expected a size" },
        { "worker_memory = \"9999999TiB\";", "expected a size" },
        { "worker_memory = 1;", "worker_memory = 1: expected a size" },
        { "worker_memory = -4294967296;", "worker_memory = -4294967296: expected a size" },
        { "keep = \"12h\";", "keep = \"12h\": expected" },
        { "keep_runs = \"some\";", "keep_runs = \"some\": expected one of all, problems, none" },
        { "keep_runs = \"ALL\";", "expected one of" },
        { "keep_runs = 1;", "keep_runs = 1: expected one of" },
        { "log_level = \"\";", "expected one of debug, info, warn, error" },
        { "store = 5;", "store = 5: expected sqlite:FILE, postgresql://" },
        { "store = \"\";", "store = \"\": expected" },
        { "store = \"sqlite:a\nb\";", "expected sqlite:FILE" },
        { "store = [\"a\"];", "store = an array: expected" },
        { "store = \"\xff\";", "expected sqlite:FILE" },
        { "schema = \"pre scient\";",
          "schema = \"pre scient\": expected a name of lower-case letters, digits and _, at most 63 bytes" },
        { "schema = \"x\\\"; drop table y\";", "expected a name" },
        { "schema = \"1st\";", "expected a name" },
        { "schema = \"Prescient\";", "expected a name" },
        { "schema = \"a123456789b123456789c123456789d123456789e123456789f123456789g123\";",
          "at most 63 bytes" },
        { "worker_user = \"a b\";", "expected the name of a user" },
        { "engine_name = \"a\\x01\";", "expected text without control characters" },
        { "serve = [60];", "serve = an array: expected minutes of the hour, 0 to 59, each once" },
        { "serve = [-1];", "expected minutes" },
        { "serve = [0, 30, 0];", "expected minutes" },
        { "serve = [\"0\"];", "expected minutes" },
        { "serve = [0.5];", "expected minutes" },
        { "serve = "
          "[0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,"
          "8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4];",
          "expected minutes" },
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

/* Each row's own bounds; 0 may mean something else. */
static void below_its_least_every_number_is_refused(void)
{
    const struct setting_row *const tables[] = { settings_rows, settings_job_rows };
    int n = 0;
    for (int t = 0; t < 2; t++)
        for (const struct setting_row *row = tables[t]; row->name; row++) {
            bool is_number = row->type == SETTING_INT || row->type == SETTING_SIZE ||
                             row->type == SETTING_DURATION_US || row->type == SETTING_DURATION_S;
            char text[200], words[100];
            if (!is_number)
                continue;
            CU_ASSERT_TRUE(row->min >= 0);
            snprintf(words, sizeof words, "%s = -1: expected", row->name);
            snprintf(text, sizeof text, "%s = -1;", row->name);
            refused(text, words);
            snprintf(text, sizeof text, "jobs = { a = { plugin = \"p\"; %s = -1; }; };", row->name);
            if (t == 1)
                refused(text, words);
            n++;
        }
    CU_ASSERT_TRUE(n > 20);
    refused("weight = 0;", "weight = 0: expected a whole number between 1 and 10000");
    refused("attempts = 0;", "attempts = 0: expected a whole number between 1 and 100");
}

static void settings_that_do_not_go_together_are_refused(void)
{
    refused("trust = \"30s\";",
            "trust = \"30s\" (test.cfg:1): expected less than lease = \"30s\" (the default)");
    refused("\nlease = \"10s\";",
            "trust = \"20s\" (the default): expected less than lease = \"10s\" (test.cfg:2)");
    refused("workers = 65;", "workers = 65 (test.cfg:1): expected at most workers_max = 64 (the default)");
    refused("backoff = \"2d\";",
            "backoff = \"2d\" (test.cfg:1): expected at most backoff_max = \"1d\" (the default)");
    refused("jobs = { a = { plugin = \"p\"; backoff = \"2d\"; }; };",
            "test.cfg:1: jobs.a.backoff is longer than backoff_max");
    refused("attempt_interval = \"6m\";",
            "attempt_interval = \"6m\" (test.cfg:1): expected at most attempt_interval_max = \"5m\" (the "
            "default)");
    refused("jobs = { a = { plugin = \"p\"; attempt_interval_max = \"9s\"; }; };",
            "test.cfg:1: jobs.a.attempt_interval is longer than attempt_interval_max");
}

static void what_is_no_libconfig_is_refused_with_its_line(void)
{
    refused("page = 5;\ntimeout = 5x;",
            "test.cfg:2: syntax error: expected NAME = VALUE; with durations, sizes and texts in quotes");
    refused("page = 5;\npage = 6;", "test.cfg:2: duplicate setting name");
    refused("page", "test.cfg:");
    refused("page = ;", "test.cfg:1: syntax error");
    static const char *const cut[] = { "jobs = { ", "jobs = {\n", "jobs = {\n}; page" };
    static const char *const where[] = { "test.cfg:1: ", "test.cfg:1: ", "test.cfg:2: " };
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        refused(cut[i], where[i]);
        refused(cut[i], "syntax error: the file ends within a setting or a group: expected NAME = VALUE; and "
                        "}; where a group ends");
    }
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
    refused("page = 5;\ntimeot = \"5s\";",
            "test.cfg:2: unknown setting \"timeot\"; did you mean \"timeout\"?");
    refused("lock-timeout = 1;", "unknown setting \"lock-timeout\"; did you mean \"lock_timeout\"?");
    refused("timeout_ms = 5;", "unknown setting \"timeout_ms\"; did you mean \"timeout\"?");
    refused("lease_seconds = 5;", "did you mean \"lease\"?");
    refused("job = { };", "did you mean \"jobs\"?");
    refused("olg_level = \"info\";", "did you mean \"log_level\"?");
    refused("a123456789b123456789c123456789d123456789e123456789 = 5;", "unknown setting \"a123456789b");
    refused("plugin = \"p\";", "unknown setting \"plugin\"");
    refused("zzzzzzzzzz = 5;", "test.cfg:1: unknown setting \"zzzzzzzzzz\"");
    refused("jobs = { a = { plugin = \"p\";\n max_cheks = 3; }; };",
            "test.cfg:2: unknown setting \"jobs.a.max_cheks\"; did you mean \"max_checks\"?");
    refused("jobs = { a = { plugin = \"p\"; query_text = \"select\"; }; };",
            "a job's own settings go into settings = { ... }");
    refused("jobs = { a = { plugin = \"p\"; store = \"x\"; }; };", "unknown setting \"jobs.a.store\"");
    struct settings s;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(settings_parse(&s, "zzzzzzzzzz = 5;", "t", &err), ERR_SETTINGS);
    CU_ASSERT_PTR_NULL(strstr(err.text, "did you mean"));
}

/* ---- jobs ---- */

static void a_job_inherits_what_it_does_not_say(void)
{
    struct settings s = parsed(
        "timeout = \"7s\"; max_checks = 9;\n"
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
    struct settings s = parsed("jobs = ( { name = \"order late / \xc3\xbc\"; plugin = \"p\"; }, { plugin = "
                               "\"q\"; name = \"b\"; timeout = \"1s\"; } );");
    CU_ASSERT_EQUAL(s.njobs, 2);
    CU_ASSERT_PTR_NOT_NULL(settings_job(&s, "order late / \xc3\xbc", NULL));
    CU_ASSERT_EQUAL(settings_job(&s, "b", NULL)->timeout_us, 1000000);
    settings_release(&s);
}

static void bad_jobs_are_refused(void)
{
    static const struct { const char *text, *words;
    } all[] = {
        { "jobs = 5;", "test.cfg:1: jobs: expected a group" },
        { "jobs = [\"a\"];", "test.cfg:1: jobs: expected a group" },
        { "jobs = { a = \"noop\"; };", "test.cfg:1: jobs.a: expected a group" },
        { "jobs = {\n a = { };\n};", "test.cfg:2: jobs.a.plugin is not set: expected the name of a plug-in" },
        { "jobs = { a = { plugin = \"../evil\"; }; };",
          "jobs.a.plugin = \"../evil\": expected the name of a plug-in in one of plugin_dirs, never a path" },
        { "jobs = { a = { plugin = \"/lib/evil.so\"; }; };", "never a path" },
        { "jobs = { a = { plugin = \"..\"; }; };", "never a path" },
        { "jobs = { a = { plugin = \"\"; }; };", "jobs.a.plugin" },
        { "jobs = { a = { plugin = 5; }; };", "jobs.a.plugin = 5: expected" },
        { "jobs = { a = { plugin = \"p\"; timeout = \"5x\"; }; };",
          "jobs.a.timeout = \"5x\": expected a duration" },
        { "jobs = { a = { plugin = \"p\"; settings = 5; }; };",
          "jobs.a.settings: expected a group, settings = { ... }" },
        { "jobs = { a = { plugin = \"p\"; settings = { x = ( { y = \"\xff\"; } ); }; }; };",
          "jobs.a.settings: y: expected text in UTF-8" },
        { "jobs = { a = { plugin = \"p\"; settings = { x = [1.0e999]; }; }; };",
          "jobs.a.settings: an element: expected a number" },
        { "jobs = { a = { plugin = \"p\"; name = \"b\"; }; };", "unknown setting \"jobs.a.name\"" },
        { "jobs = ( { plugin = \"p\"; } );", "the name of a job: expected text in UTF-8, 1 to 1024 bytes" },
        { "jobs = ( { name = \"\"; plugin = \"p\"; } );", "the name of a job: expected" },
        { "jobs = ( { name = 5; plugin = \"p\"; } );", "the name of a job: expected" },
        { "jobs = ( { name = \"\xc3\"; plugin = \"p\"; } );", "the name of a job: expected" },
        { "jobs = ( { name = \"a\"; plugin = \"p\"; },\n { name = \"a\"; plugin = \"q\"; } );",
          "test.cfg:2: duplicate job \"a\"" },
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

static void releasing_nothing_is_fine(void)
{
    struct settings s = { 0 };
    settings_release(&s);
    settings_release(&s);
    CU_PASS("no crash");
}

static const struct test tests[] = {
    TEST(without_anything_the_defaults_hold),
    TEST(jobs_beside_the_program_come_before_the_installed_ones),
    TEST(the_bounds_agree_with_the_rest_of_the_program),
    TEST(every_row_is_named_once_and_explained),
    TEST(every_type_is_read_from_a_file),
    TEST(numbers_past_32_bits_are_taken_whole),
    TEST(bad_values_are_refused_with_what_was_found_and_expected),
    TEST(below_its_least_every_number_is_refused),
    TEST(settings_that_do_not_go_together_are_refused),
    TEST(what_is_no_libconfig_is_refused_with_its_line),
    TEST(unknown_settings_are_refused_with_the_nearest_name),
    TEST(a_job_inherits_what_it_does_not_say),
    TEST(a_job_is_found_by_its_name),
    TEST(a_job_may_have_any_name_in_a_list),
    TEST(bad_jobs_are_refused),
    TEST(releasing_nothing_is_fine),
    { NULL, NULL },
};

const struct suite suite_settings = { .name = "settings", .tests = tests };
