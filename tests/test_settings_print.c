/* test_settings_print.c - settings as text: what is printed reads back to the same, explains
 * itself and keeps passwords. */
#include "settings_fixture.h"

#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include "../engine/base/settings_table.h"
#include "../engine/base/settings_mask.h"
#include "../engine/base/settings_print.h"
#include "../engine/base/settings_value.h"
#include "../engine/rules/retry.h"

/* ---- printing ---- */

static char *printed(const struct settings *s, enum settings_comments comments, bool secrets)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_EQUAL(settings_print(s, out, comments, secrets, NULL), 0);
    fclose(out);
    return text;
}

static int count_of(const struct setting_row *row, const struct settings *s)
{
    return row->count ? *(const int *)((const char *)s + row->count) : 0;
}

static bool same_value(const struct setting_row *row, const struct settings *a, const struct settings *b,
                       const void *x, const void *y)
{
    char *ones = NULL, *others = NULL;
    size_t size;
    FILE *one = open_memstream(&ones, &size), *other = open_memstream(&others, &size);
    int na = count_of(row, a);
    int nb = count_of(row, b);
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
    if (config_setting_type(a) != config_setting_type(b) ||
        config_setting_length(a) != config_setting_length(b) || !x != !y || (x && strcmp(x, y)))
        return false;
    for (int i = 0; config_setting_is_aggregate(a) && i < config_setting_length(a); i++)
        if (!same_node(config_setting_get_elem(a, (unsigned)i), config_setting_get_elem(b, (unsigned)i)))
            return false;
    if (config_setting_type(a) == CONFIG_TYPE_STRING)
        return !strcmp(config_setting_get_string(a), config_setting_get_string(b));
    return !config_setting_is_scalar(a) ||
           (config_setting_get_int64(a) == config_setting_get_int64(b) &&
            config_setting_get_bool(a) == config_setting_get_bool(b) &&
            !memcmp(&a->value.fval, &b->value.fval, config_setting_type(a) == CONFIG_TYPE_FLOAT ? 8 : 0));
}

static bool same_settings(struct settings *a, struct settings *b)
{
    bool same = a->njobs == b->njobs;
    for (const struct setting_row *row = settings_rows; row->name; row++)
        same &= same_value(row, a, b, settings_field(row, a, NULL), settings_field(row, b, NULL));
    for (const struct setting_row *row = settings_job_rows; row->name; row++) {
        same &= same_value(row, a, b, settings_field(row, a, NULL), settings_field(row, b, NULL));
        for (int i = 0; i < a->njobs && same; i++)
            same &= same_value(row, a, b, settings_field(row, a, &a->jobs[i]),
                               settings_field(row, b, &b->jobs[i]));
    }
    for (int i = 0; i < a->njobs && same; i++)
        same &= !strcmp(a->jobs[i].name, b->jobs[i].name) && same_node(a->jobs[i].own, b->jobs[i].own);
    return same;
}

static bool reads_back(struct settings *s, bool commented)
{
    enum settings_comments comments = commented ? SETTINGS_EXPLAINED : SETTINGS_BARE;
    char *text = printed(s, comments, true);
    struct settings back;
    struct err err = { 0 };
    int rc = settings_parse(&back, text, "printed", &err);
    bool same = rc == 0 && same_settings(s, &back);
    char *again = rc == 0 ? printed(&back, comments, true) : NULL;
    same &= again && !strcmp(text, again);
    if (!same)
        printf("%s\n%s\n", err.text, text);
    settings_release(&back);
    free(text);
    free(again);
    return same;
}

static const char rich[] =
    "store = \"postgresql://u:p%40ss@h/db?application_name=\\\"x\\\"\"; business = \"host=x password='a "
    "b\\\\'c'\"; schema = \"other\";\n"
    "slot_length = \"1m\"; statement_timeout = 1.234567; settle_after = \"0.0015\"; engine_name = "
    "\"m\xc3\xbcller #1; {x}\";\n"
    "worker_memory = 123456789; page_bytes = 6291456; serve = [59, 0, 7]; plugin_dirs = (\"/a b\", "
    "\"c\\\\d\", \"\xe2\x82\xac\");\n"
    "timeout = \"12.345s\"; batch = 7; backoff = \"15m\"; keep_runs = \"none\"; prepared = no_such; ";

static void what_is_printed_reads_back_to_the_same(void)
{
    char text[4096];
    snprintf(
        text, sizeof text, "%.*s%s", (int)(strstr(rich, "prepared") - rich), rich,
        "jobs = { a_b-c = { plugin = \"sql_check\"; timeout = \"1d\"; max_checks = 0; settings = { sql = "
        "\"select \\\"x\\\"\\n\\t\\x01 from y\"\n"
        "   \" where z\"; n = -5; big = 5L; huge = 9223372036854775807L; low = -2147483648; hex = "
        "0xFFFFFFFF; f = 0.1; g = 1e20; h = -1.5e-300; k = 5.0; zero = -0.0;\n"
        "   yes = true; no = FALSE; list = ( 1, \"two\", 3.5, ( ), [ ], { }, { x = 1; } ); array = [ 1.5, "
        "2.5 ]; strings = [ \"a\", \"b\" ];\n"
        "   * = 1; group = { in = { deep = \"\"; }; }; }; }; B = { plugin = \"noop\"; settings = { }; }; };");
    struct settings s = parsed(text);
    CU_ASSERT_EQUAL(s.njobs, 2);
    CU_ASSERT_EQUAL(s.statement_timeout_us, 1234567);
    CU_ASSERT_EQUAL(s.settle_after_us, 1500);
    CU_ASSERT_TRUE(reads_back(&s, false));
    CU_ASSERT_TRUE(reads_back(&s, true));
    settings_release(&s);
}

static void fractions_are_printed_as_they_were_written(void)
{
    struct settings s = parsed("jobs = { j = { plugin = \"noop\"; settings = { a = [ 0.1, 0.3, 2.0, 1e22, "
                               "0.30000000000000004, 5e-324 ]; }; }; };");
    char *text = printed(&s, SETTINGS_BARE, false);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "0.1, 0.3, 2.0, 1.0e+22, 0.30000000000000004, 4.94065645841247e-324"));
    free(text);
    settings_release(&s);
}

static void jobs_of_any_name_read_back(void)
{
    struct settings s = parsed("jobs = ( { name = \"a\\\"b\\\\\"; plugin = \"p\"; settings = { x = 1; }; }, "
                               "{ name = \"1\"; plugin = \"q\"; } );");
    CU_ASSERT_TRUE(reads_back(&s, false));
    CU_ASSERT_TRUE(reads_back(&s, true));
    settings_release(&s);
}

static void the_sample_file_holds_every_setting_with_help_and_bounds(void)
{
    struct settings s = parsed("");
    CU_ASSERT_TRUE(reads_back(&s, true));
    char *text = printed(&s, SETTINGS_EXPLAINED, false);
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
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "# Expected: a duration such as 250ms, 90s, 15m, 3h, 30d, between "
                                        "10ms and 1d. Default: 30s.\ntimeout = \"30s\";\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "# jobs = {"));
    free(text);
    settings_release(&s);
}

static void passwords_are_printed_on_request_only(void)
{
    struct settings s = parsed(
        "store = \"postgresql://u:hunter2@h/db\"; business = \"host=h password=hunter2\";\n"
        "jobs = { a = { plugin = \"p\"; settings = { url = \"https://u:hunter2@h/x\"; api_token = "
        "\"hunter2\"; list = [\"s://a:hunter2@b\"]; sql = \"a://b\"; }; }; };");
    char *shown = printed(&s, SETTINGS_BARE, false), *whole = printed(&s, SETTINGS_BARE, true);
    CU_ASSERT_PTR_NULL(strstr(shown, "hunter2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(shown, "postgresql://u:***@h/db"));
    CU_ASSERT_PTR_NOT_NULL(strstr(shown, "sql = \"a://b\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(whole, "postgresql://u:hunter2@h/db"));
    free(shown);
    free(whole);
    settings_release(&s);
}

static void values_of_headers_and_secrets_are_hidden_and_names_shown(void)
{
    struct settings s = parsed(
        "jobs = { a = { plugin = \"p\"; settings = { headers = [\"Authorization: Bearer hunter2\", "
        "\"X-Odd\"]; secrets = [\"whsec_hunter2\"]; header = \"a: b\"; }; }; };");
    char *shown = printed(&s, SETTINGS_BARE, false), *whole = printed(&s, SETTINGS_BARE, true);
    CU_ASSERT_PTR_NULL(strstr(shown, "hunter2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(shown, "headers = [\"Authorization: ***\", \"X-Odd\"]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(shown, "secrets = [\"***\"]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(shown, "header = \"a: b\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(whole, "Bearer hunter2"));
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
        CU_ASSERT_EQUAL(settings_print(&s, full, SETTINGS_EXPLAINED, false, &err), ERR_GENERAL);
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

static size_t count_words(const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return n;
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
    case SETTING_WORD: fprintf(out, "\"%s\"", row->words[n % count_words(row->words)]); break;
    case SETTING_MINUTES: fprintf(out, "[%d, %d]", (int)(n % 30), (int)(30 + n / 64 % 30)); break;
    default: fputs(!row->accepts || row->accepts("x") ? "\"x\"" : "\"/x\"", out); break;
    }
}

static char *any_settings(uint64_t *random)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *const bound[] = { "slot_length", "lease",   "trust",      "workers",
                                  "workers_max", "backoff", "backoff_max",
                                  "attempt_interval", "attempt_interval_max" };
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
        fprintf(out, "; f = %.17g; n = %lld; }; };\n", (double)(int64_t)random_next(random) / 3e10 + 0.5,
                (long long)random_next(random));
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
    static const char *const bits[] = { "page",
                                        "=",
                                        ";",
                                        "5",
                                        "\"",
                                        "{",
                                        "}",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        "jobs",
                                        " ",
                                        "\n",
                                        "/*",
                                        "*/",
                                        "#",
                                        "@include ",
                                        "0x",
                                        "L",
                                        ".",
                                        "e",
                                        "-",
                                        "\\x0",
                                        "\xff",
                                        "timeout",
                                        "plugin",
                                        "settings",
                                        "name",
                                        ",",
                                        "999999999999",
                                        "//",
                                        "\"a\"",
                                        "true" };
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
    static const struct { const char *url, *masked;
    } all[] = {
        { "postgresql://user:pw@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:pw@host:5432/db?sslmode=require&password=pw",
          "postgresql://user:***@host:5432/db?sslmode=require&password=***" },
        { "postgres://user:pw@h1:1,h2:2/db?password=pw&connect_timeout=5",
          "postgres://user:***@h1:1,h2:2/db?password=***&connect_timeout=5" },
        { "postgresql://user:p@w@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:p/w@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:p?w@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user@host/db", "postgresql://user@host/db" },
        { "postgresql://host:5432/db", "postgresql://host:5432/db" },
        { "postgresql:///db?host=/run&user=a&sslpassword=pw",
          "postgresql:///db?host=/run&user=a&sslpassword=***" },
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
        { "password=my secret word host=x", "password=*** *** *** host=x" },
        { "password=my secret=word host=x", "password=*** *** host=x" },
        { "password=my host=x port=y", "password=*** host=x port=y" },
        { "host=x colour=red", "host=x colour=red" },
        { "host=x user:pw@y", "host=x ***" },
        { " postgresql://user:pw@host/db", " ***" },
        { " postgresql://user:pw@host/db?sslmode=require", " ***" },
        { "postgres:/user:pw@host/db", "***" },
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

/* What libpq says when it cannot read a URL, or has read it otherwise than it was meant. */
static void words_about_a_url_do_not_tell_its_password(void)
{
    static const struct { const char *url, *words, *masked;
    } all[] = {
        { "host=x password=my secret", "missing \"=\" after \"secret\" in connection info string",
          "missing \"=\" after \"***\" in connection info string" },
        { "host=x passwrd=pw", "invalid connection option \"passwrd\"",
          "invalid connection option \"passwrd\"" },
        { "postgresql://u:p%zz@h/d", "invalid percent-encoded token: \"p%zz\"",
          "invalid percent-encoded token: \"***\"" },
        { "postgresql://u:pw@[h/d",
          "end of string reached when looking for matching \"]\" in IPv6 host address in URI: "
          "\"postgresql://u:pw@[h/d\"\n",
          "end of string reached when looking for matching \"]\" in IPv6 host address in URI: "
          "\"postgresql://u:***@[h/d\"\n" },
        { "postgresql://u:p@ss:word@h/d", "invalid port number: \"word@h\"", "invalid port number: \"***\"" },
        { "postgresql://u:p@ssword@h/d", "could not translate host name \"ssword@h\" to address",
          "could not translate host name \"***\" to address" },
        { "postgresql://u:pw@h/d",
          "connection to server at \"h\" (10.0.0.1), port 5432 failed: FATAL:  password authentication "
          "failed for user \"u\"",
          "connection to server at \"h\" (10.0.0.1), port 5432 failed: FATAL:  password authentication "
          "failed for user \"u\"" },
        { "postgresql:///d?host=/run", "connection to server on socket \"/run/.s.PGSQL.5432\" failed",
          "connection to server on socket \"/run/.s.PGSQL.5432\" failed" },
        { "password=secret", "half a quote: \"secret", "half a quote: \"***" },
        { "", "\"a\" \"", "\"a\" \"" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char out[300];
        settings_mask_words(all[i].words, all[i].url, out, sizeof out);
        if (strcmp(out, all[i].masked) != 0)
            printf("%s: %s\n", all[i].url, out);
        CU_ASSERT_STRING_EQUAL(out, all[i].masked);
        for (size_t size = 0; size < sizeof out; size++) {      /* it fits its room */
            char small[sizeof out + 1];
            memset(small, '#', sizeof small);
            settings_mask_words(all[i].words, all[i].url, small, size);
            CU_ASSERT_TRUE(small[size] == '#' && (size == 0 || strlen(small) < size));
        }
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

static const struct test tests[] = {
    TEST(what_is_printed_reads_back_to_the_same),
    TEST(fractions_are_printed_as_they_were_written),
    TEST(jobs_of_any_name_read_back),
    TEST(the_sample_file_holds_every_setting_with_help_and_bounds),
    TEST(passwords_are_printed_on_request_only),
    TEST(values_of_headers_and_secrets_are_hidden_and_names_shown),
    TEST(a_full_disk_is_noticed),
    TEST(any_settings_read_back),
    TEST(garbage_is_refused_or_taken_but_never_worse),
    TEST(passwords_are_masked),
    TEST(words_about_a_url_do_not_tell_its_password),
    TEST(a_masked_url_fits_its_room),
    { NULL, NULL },
};

const struct suite suite_settings_print = { .name = "settings_print", .tests = tests };
