/* rule_texts.c - see rule_texts.h. */
#include "rule_texts.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "../engine/base/arena.h"
#include "../engine/base/cleanup.h"
#include "../engine/base/random.h"
#include "../engine/base/utf8.h"
#include "../engine/base/zone.h"
#include "../engine/view/schedule_rule.h"
#include "../engine/rules/cron.h"
#include "test.h"

enum { ROOM = 8192, RANDOM_CRON = 3000, TOLD = 20, TEXT_ROOM = 1200 };

static struct made {
    struct arena *arena;
    uint64_t seed, state;
    struct rule_texts texts;
} made;

/* ---- a table of texts ---- */

static void begin(const char *what)
{
    const char *wanted = getenv("RULE_TEXTS_SEED");
    rule_texts_end();
    made.arena = arena_new(1 << 16);
    made.seed = wanted ? strtoull(wanted, NULL, 10) : (uint64_t)time(NULL);
    made.state = made.seed;
    made.texts = (struct rule_texts){ .what = what,
                                      .all = arena_alloc(made.arena, ROOM * sizeof *made.texts.all) };
    CU_ASSERT_PTR_NOT_NULL_FATAL(made.texts.all);
}

void rule_texts_end(void)
{
    arena_free(made.arena);
    made.arena = NULL;
}

/* What the command line says of a text: the stored form, or NULL. */
typedef int (*reader)(struct arena *a, const char *text, const char **stored, struct err *err);

static void add(reader read, const char *text)
{
    struct err err = { 0 };
    const char *stored = NULL;
    const char *kept = arena_strdup(made.arena, text);
    int rc = read(made.arena, kept, &stored, &err);
    CU_ASSERT_FATAL(made.texts.n < ROOM && kept && (rc == 0 || err.code == ERR_INPUT));
    struct rule_text *t = &made.texts.all[made.texts.n++];
    *t = (struct rule_text){ .text = kept, .stored = stored, .why = "it is taken" };
    if (rc < 0)
        *t = (struct rule_text){ .text = kept, .why = arena_strdup(made.arena, err.text) };
}

/* Those of an array that ends with NULL. */
static const struct rule_texts *add_all(reader read, const char *const *all)
{
    for (; *all; all++)
        add(read, *all);
    return &made.texts;
}

/* ---- random cron texts ---- */

static int drawn(int n)
{
    return (int)(random_next(&made.state) % (uint64_t)n);
}

static const char *const names[5] = {
    [3] = "janfebmaraprmayjunjulaugsepoctnovdec", [4] = "sunmontuewedthufrisat"
};
static const int least[5] = { 0, 0, 1, 1, 0 }, most[5] = { 59, 23, 31, 12, 7 };

static void put_value(FILE *out, int field, int value)
{
    size_t name = (size_t)(value - least[field]) * 3;
    if (names[field] && name < strlen(names[field]) && drawn(2)) {
        for (int i = 0; i < 3; i++)
            fputc(names[field][name + (size_t)i] & (drawn(2) ? 0xdf : 0xff), out);
        return;
    }
    fprintf(out, "%0*d", drawn(12) ? 1 : 1 + drawn(7), value);
}

static void put_element(FILE *out, int field)
{
    int span = most[field] - least[field] + 1, kind = drawn(4);
    int a = least[field] + drawn(span), b = a + drawn(most[field] - a + 1);
    bool is_turned = field == 4 && drawn(4) == 0;
    if (kind == 0)
        fputc('*', out);
    else
        put_value(out, field, is_turned ? 7 * drawn(2) : a);
    if (kind >= 2) {
        fputc('-', out);
        put_value(out, field, is_turned ? drawn(8) : b);
    }
    if (kind != 1 && drawn(2))
        fprintf(out, "/%0*d", drawn(9) ? 1 : 6, 1 + drawn(span));
}

static void put_blanks(FILE *out, int at_least)
{
    for (int n = at_least + (drawn(5) ? 0 : drawn(4)); n > 0; n--)
        fputc(drawn(6) ? ' ' : '\t', out);
}

static void put_nickname(FILE *out)
{
    static const char *const all[] = { "@yearly", "@annually", "@monthly", "@weekly",
                                       "@daily",  "@midnight", "@hourly" };
    for (const char *p = all[drawn(7)]; *p; p++)
        fputc(*p != '@' && drawn(3) == 0 ? *p & 0xdf : *p, out);
}

/* Mostly one that is taken; a day that no month has may come out. */
static void make_cron(char out[TEXT_ROOM])
{
    FILE *f = fmemopen(out, TEXT_ROOM, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    bool is_nickname = drawn(20) == 0;
    put_blanks(f, 0);
    if (is_nickname)
        put_nickname(f);
    for (int field = 0; !is_nickname && field < 5; field++) {
        for (int n = drawn(4) ? 1 : 1 + drawn(5); n > 0; n--) {
            put_element(f, field);
            fputs(n > 1 ? "," : "", f);
        }
        put_blanks(f, field < 4);
    }
    put_blanks(f, 0);
    fputc('\0', f);
    fclose(f);
}

/* Something in it is left out, comes twice, or becomes something else. */
static void break_cron(char text[TEXT_ROOM])
{
    /* of the Kelvin sign and the I with a dot some locales make small letters of ASCII */
    static const char *const pieces[] = {
        "0",      "1",      "7",      "9",       "60",
        "24",     "32",     "13",     "8",       "99999999999999999999",
        "*",      ",",      ",,",     "-",       "--",
        "/",      "/0",     "/61",    "/00",     "//",
        " ",      "\t",     "  ",     "\n",      "\r",
        "\v",     "@",      "@daily", "sun",     "jan",
        "sunday", "Mon",    "x",      "L",       "W",
        "#",      "?",      "H",      "+",       ".",
        "(",      "\"",     "\\",     "'",       "%",
        "\u212a", "\u0130", "\u00e9", "\u00a0",  "fri-sun",
        "7-2",    "7-0",    "sun-7",  "sat-mon", "5-1",
        "*/90",   "*-5",    "**",     "1/2",     "<",
        ">",      "<>",     "31 2",   "30 feb",  " *",
        "#1",
    };
    char rest[TEXT_ROOM];
    size_t len = strlen(text), at = (size_t)drawn((int)len + 1);
    while (((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    size_t gone = drawn(2) && at < len ? 1 + (size_t)drawn(3) : 0;
    gone = gone < len - at ? gone : len - at;
    while (((unsigned char)text[at + gone] & 0xc0) == 0x80)
        gone++;
    snprintf(rest, sizeof rest, "%s", text + at + gone);
    snprintf(text + at, TEXT_ROOM - at, "%s%s", drawn(4) ? pieces[drawn(sizeof pieces / sizeof *pieces)] : "",
             rest);
}

static int read_cron(struct arena *a, const char *text, const char **stored, struct err *err)
{
    return schedule_read_cron(a, text, NULL, stored, err);
}

static void add_table(void)
{
    CLEANUP(cleanup_free) char *line = NULL;
    size_t size = 0;
    int n = 0;
    FILE *f = fopen("tests/cron/table.tsv", "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (getline(&line, &size, f) > 0 && made.texts.n < 1000)
        if (*line != '#' && (!test_is_brief() || ++n % 4 == 0)) {
            line[strcspn(line, "\t")] = '\0';
            add(read_cron, line);
        }
    fclose(f);
}

/* Around the longest that is taken: blanks in front, behind and between, and lists. */
static void add_long(void)
{
    char text[TEXT_ROOM];
    for (int n = CRON_TEXT_MAX - 3; n <= CRON_TEXT_MAX + 3; n++) {
        snprintf(text, sizeof text, "%*s", n, "0 9 * * 1");
        add(read_cron, text);
        snprintf(text, sizeof text, "%-*s", n, "0 9 * * 1");
        add(read_cron, text);
        snprintf(text, sizeof text, "0%*s", n - 1, "9 * * 1");
        add(read_cron, text);
        memset(text, '1', (size_t)n);
        for (int i = 1; i < n - 8; i += 2)
            text[i] = ',';
        snprintf(text + n - 8, 9, " 9 * * 1");
        add(read_cron, text);
    }
}

const struct rule_texts *rule_texts_cron(void)
{
    char text[TEXT_ROOM];
    static const char *const chosen[] = {
        "",
        " ",
        "*",
        "* * * *",
        "* * * * * *",
        "0 0 31 2 *",
        "0 0 30 2 *",
        "0 0 29 2 *",
        "0 0 31 4,6,9,11 *",
        "0 0 31 4-6/2 *",
        "0 0 31 4-7/3 *",
        "0 0 31 2 1",
        "0 0 31 2 */2",
        "0 0 30,31 feb *",
        "0 0 */31 2 *",
        "0 0 31 2,jan-mar/2 *",
        "@",
        "@DAILY",
        "@ daily",
        "@daily x",
        "@dailyx",
        "@reboot",
        "@every 5m",
        "@wee\u212aly",
        "0 0 * * fri-sun",
        "0 0 * * 7-2",
        "0 0 * * 7-7",
        "0 0 * * 7-0",
        "0 0 * * 0-7/7",
        "0 0 * * 0-7/8",
        "*/60 * * * *",
        "*/61 * * * *",
        "* */24 * * *",
        "* */25 * * *",
        "* * */31 * *",
        "* * */32 * *",
        "* * * */12 *",
        "* * * */13 *",
        "* * * * */7",
        "* * * * */8",
        "000000059 1 1 1 1",
        "000000060 1 1 1 1",
        "*/0000000060 * * * *",
        "mon * * * *",
        "* * * mon *",
        "* * * * jan",
        "* * * janfeb *",
        "* * * January *",
        "* * * * fri#2",
        "* * L * *",
        "0 0 1 1 1 2026",
        "-1 * * * *",
        "1- * * * *",
        "1,,2 * * * *",
        ",1 * * * *",
        "1, * * * *",
        "*, * * * *",
        "*/ * * * *",
        "/5 * * * *",
        "1-2-3 * * * *",
        "1/2/3 * * * *",
        "\u00bd * * * *",
        NULL,
    };
    begin("cron");
    add_all(read_cron, chosen);
    add_long();
    add_table();
    for (int i = test_is_brief() ? RANDOM_CRON * 49 / 50 : 0; i < RANDOM_CRON; i++) {
        make_cron(text);
        add(read_cron, text);
        break_cron(text);
        if (drawn(3) == 0)
            break_cron(text);
        if (utf8_is_valid(text, strlen(text)))
            add(read_cron, text);
    }
    return &made.texts;
}

/* ---- intervals, fractions ---- */

const struct rule_texts *rule_texts_every(void)
{
    static const char *const units[] = { "ms", "s", "m", "h", "d", "" };
    static const char *const chosen[] = {
        "1s",     "0s",    "0",     "-5m",     "-1s",    "0.5s",    "1.5s",     "1500ms",
        "2000ms", "999ms", "366d",  "367d",    "8784h",  "8784h1s", "31622400", "31622401",
        "1h30m",  "90m",   "1d12h", "100000d", "86400s", "1ms",     NULL,
    };
    char text[64];
    begin("every");
    add_all(schedule_read_every, chosen);
    for (int i = 0; i < 300; i++) {
        const char *sign = drawn(12) ? "" : "-", *unit = units[drawn(6)];
        int most_of_it = drawn(2) ? 400 : 40000000;
        snprintf(text, sizeof text, "%s%d%s%s", sign, drawn(most_of_it), drawn(8) ? "" : ".5", unit);
        add(schedule_read_every, text);
    }
    return &made.texts;
}

const struct rule_texts *rule_texts_bias(void)
{
    static const char *const chosen[] = {
        "0",       "0.5",      ".5",      "0.0667",   "0.50001",
        "0.5001",  "0.50000",  "-0.0001", "-0.00001", "-0",
        "1",       "1e-2",     "5e-1",    "51e-2",    "NaN",
        "inf",     "Infinity", "-inf",    "1e400",    "99999999999999999999",
        "0.00004", "0.00006",  "0.1x",    "0x1p-2",   "abc",
        "",        "0,1",      "1/3",     "0.49999",  "00.25",
        "+0.25",   NULL,
    };
    char text[32];
    begin("bias");
    add_all(schedule_read_bias, chosen);
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof text, "%s0.%04d", drawn(12) ? "" : "-", drawn(7000));
        add(schedule_read_bias, text);
    }
    return &made.texts;
}

/* ---- zones ---- */

static int read_zone(struct arena *a, const char *text, const char **stored, struct err *err)
{
    *stored = text;
    return schedule_read_cron(a, NULL, text, &(const char *){ NULL }, err);
}

static int read_zone_form(struct arena *a, const char *text, const char **stored, struct err *err)
{
    (void)a;
    *stored = text;
    return zone_check_name(text, err);
}

static const char *const odd_zones[] = {
    "",
    " ",
    "UTC",
    "utc",
    "Utc",
    "GMT",
    "gmt",
    "europe/amsterdam",
    "EUROPE/AMSTERDAM",
    "Europe/amsterdam",
    "Europe/Amsterdam ",
    " Europe/Amsterdam",
    "Europe/Amsterdam/",
    "/Europe/Amsterdam",
    "Europe//Amsterdam",
    "Europe/Amsterdm",
    "Europe",
    "Amsterdam",
    "posix/Europe/Amsterdam",
    "right/Europe/Amsterdam",
    "posix",
    "right/UTC",
    "localtime",
    "posixrules",
    "Factory",
    "Europe/localtime",
    "Posix/UTC",
    "/usr/share/zoneinfo/UTC",
    "../zoneinfo/UTC",
    "Europe/../UTC",
    "./UTC",
    "zone.tab",
    "tzdata.zi",
    "leap-seconds.list",
    "EST5EDT",
    "est5edt",
    "EST5",
    "XYZ5",
    "Amsterdam5",
    "AMSTERDAM5",
    "Etc/GMT+5",
    "ETC/GMT+5",
    "etc/gmt+5",
    "Etc/GMT+99",
    "<+03>-3",
    "UTC+3",
    "+3",
    "-03:00",
    "3",
    "-5",
    "5.5",
    "0x10",
    "inf",
    "nan",
    "PST",
    "CEST",
    "EST",
    "MST",
    "Zulu",
    "Z",
    "Europe\\Amsterdam",
    "Europe/Amster\u00e9",
    "Europe/Ams%",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl",
    "Europe/Amsterdam\n",
    NULL,
};

/* All below a folder of tzdata. */
static void add_below(const char *prefix)
{
    char path[512], name[ZONE_NAME_MAX + 1];
    snprintf(path, sizeof path, "%s/%s", ZONE_FOLDER, prefix);
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        int n = snprintf(name, sizeof name, "%s%s", prefix, entry->d_name);
        if (*entry->d_name == '.' || n + 1 >= (int)sizeof name || zone_check_name(name, NULL) < 0)
            continue;
        if (entry->d_type != DT_DIR) {
            add(read_zone, name);
            continue;
        }
        memcpy(name + n, "/", 2);
        add_below(name);
    }
    if (dir)
        closedir(dir);
}

const struct rule_texts *rule_texts_zone(void)
{
    begin("timezone");
    add_below("");
    return add_all(read_zone, odd_zones);
}

const struct rule_texts *rule_texts_zone_form(void)
{
    begin("the form of a timezone");
    return add_all(read_zone_form, odd_zones);
}

/* ---- comparing ---- */

json_t *rule_texts_json(const struct rule_texts *texts)
{
    json_t *all = json_array();
    for (int i = 0; i < texts->n; i++)
        CU_ASSERT_FATAL(!json_array_append_new(all, json_string(texts->all[i].text)));
    return all;
}

static const char *or_nothing(const char *text)
{
    return text ? text : "nothing";
}

void rule_texts_are_the_same(int line, const struct rule_texts *texts, const char *const *found)
{
    int taken = 0, differ = 0;
    for (int i = 0; i < texts->n; i++) {
        const struct rule_text *t = &texts->all[i];
        bool is_same = t->stored == found[i] || (t->stored && found[i] && !strcmp(t->stored, found[i]));
        taken += t->stored != NULL;
        differ += !is_same;
        if (!is_same && differ <= TOLD)
            printf("      line %d: %s \"%s\": the command line has \"%s\" (%s), the store \"%s\"\n", line,
                   texts->what, t->text, or_nothing(t->stored), t->why, or_nothing(found[i]));
    }
    if (differ)
        printf("      line %d: %d of %d differ; RULE_TEXTS_SEED=%" PRIu64 "\n", line, differ, texts->n,
               made.seed);
    CU_ASSERT_EQUAL(differ, 0);
    /* both kinds are there, or nothing was compared */
    CU_ASSERT(taken >= texts->n / 20 && taken <= texts->n - texts->n / 20);
}
