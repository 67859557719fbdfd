/* test_zone.c - zones: the table of a file and the rule behind it, what is refused and with which
 * words, and that the system's files agree with the C library. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "../engine/base/cleanup.h"
#include "../engine/base/moment.h"
#include "../engine/base/random.h"
#include "../engine/base/zone.h"
#include "tzif_fixture.h"

static const struct tzif amsterdam = {
    .n = 2,
    .at = { 1774746000, 1792890000 }, /* 2026-03-29T01:00Z, 2026-10-25T01:00Z */
    .offset_s = { 3600, 7200, 3600 },
    .footer = "CET-1CEST,M3.5.0,M10.5.0/3",
};

static struct zone *made(const struct tzif *from)
{
    unsigned char bytes[TZIF_ROOM];
    struct zone *z = NULL;
    struct err err = { 0 };
    size_t size = tzif_write(from, bytes);
    if (zone_parse("Test/Zone", bytes, size, &z, &err) < 0) {
        printf("%s\n", err.text);
        CU_FAIL_FATAL("a good zone is refused");
    }
    return z;
}

static int64_t at(const char *text)
{
    int64_t moment = -1;
    CU_ASSERT_EQUAL(moment_parse(text, 0, &moment, NULL), 0);
    return moment;
}

static int32_t offset(const struct zone *z, const char *text)
{
    return zone_span(z, at(text)).offset_s;
}

static bool has(const char *text, const char *words)
{
    bool there = strstr(text, words) != NULL;
    if (!there)
        printf("no \"%s\" in: %s\n", words, text);
    return there;
}

/* ---- spans ---- */

static void a_table_has_spans_with_ends(void)
{
    CLEANUP(zone_freep) struct zone *z = made(&amsterdam);
    struct zone_span span = zone_span(z, amsterdam.at[0]);
    CU_ASSERT_EQUAL(span.begins, amsterdam.at[0]);
    CU_ASSERT_EQUAL(span.ends, amsterdam.at[1]);
    CU_ASSERT_EQUAL(span.offset_s, 7200);
    span = zone_span(z, amsterdam.at[0] - 1);
    CU_ASSERT_EQUAL(span.begins, INT64_MIN);
    CU_ASSERT_EQUAL(span.ends, amsterdam.at[0]);
    CU_ASSERT_EQUAL(span.offset_s, 3600);
    CU_ASSERT_EQUAL(zone_span(z, INT64_MIN).ends, amsterdam.at[0]);
    CU_ASSERT_STRING_EQUAL(zone_name(z), "Test/Zone");
}

static void the_rule_holds_behind_the_table(void)
{
    CLEANUP(zone_freep) struct zone *z = made(&amsterdam);
    struct zone_span span = zone_span(z, amsterdam.at[1]);
    CU_ASSERT_EQUAL(span.begins, amsterdam.at[1]);
    CU_ASSERT_EQUAL(span.ends, at("2027-03-28T01:00Z"));
    span = zone_span(z, at("2100-07-01"));
    CU_ASSERT_EQUAL(span.begins, at("2100-03-28T01:00Z"));
    CU_ASSERT_EQUAL(span.ends, at("2100-10-31T01:00Z"));
    CU_ASSERT_EQUAL(span.offset_s, 7200);
    CU_ASSERT_EQUAL(offset(z, "9999-07-01"), 7200);
    CU_ASSERT_EQUAL(offset(z, "9999-12-31T23:59:59Z"), 3600);
    CU_ASSERT_EQUAL(zone_span(z, MOMENT_MAX).ends, INT64_MAX);
    CU_ASSERT_EQUAL(zone_span(z, INT64_MAX).offset_s, 3600);
}

static void a_rule_alone_holds_for_all_times(void)
{
    CLEANUP(zone_freep)
    struct zone *z = made(&(struct tzif){ .offset_s = { 0 }, .footer = amsterdam.footer });
    CU_ASSERT_EQUAL(offset(z, "1970-07-01"), 7200);
    CU_ASSERT_EQUAL(zone_span(z, INT64_MIN).begins, INT64_MIN);
    CU_ASSERT_EQUAL(zone_span(z, INT64_MIN).offset_s, 3600);
}

static void without_a_rule_the_last_offset_stays(void)
{
    struct tzif from = amsterdam;
    from.footer = "";
    CLEANUP(zone_freep) struct zone *z = made(&from);
    CU_ASSERT_EQUAL(offset(z, "2030-07-01"), 3600);
    CU_ASSERT_EQUAL(zone_span(z, amsterdam.at[1]).ends, INT64_MAX);
}

/* Every form that POSIX and RFC 8536 give a rule. */
static void rules_are_read_in_all_their_forms(void)
{
    static const struct {
        const char *footer, *summer_begins, *summer_ends;
        int32_t standard_s, summer_s;
    } all[] = {
        { "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:30Z", "2027-04-03T15:00Z", 37800, 39600 },
        { "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00Z", "2026-11-01T06:00Z", -18000, -14400 },
        { "IST-1GMT0,M10.5.0,M3.5.0/1", "2026-10-25T01:00Z", "2027-03-28T01:00Z", 3600, 0 },
        { "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00Z", "2026-10-25T01:00Z", -7200, -3600 },
        { "AAA0BBB,J60/0,J61/0", "2028-03-01", "2028-03-01T23:00Z", 0, 3600 },
        { "AAA0BBB,59/0,60/0", "2028-02-29", "2028-02-29T23:00Z", 0, 3600 },
        { "AAA0BBB,J1/-167,J10/167", "2025-12-25T01:00Z", "2026-01-16T22:00Z", 0, 3600 },
        { "AAA-1:02:03BBB-2,M5.5.1/1:02:03,M6.1.1", "2026-05-25", "2026-06-01", 3723, 7200 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CLEANUP(zone_freep) struct zone *z = made(&(struct tzif){ .footer = all[i].footer });
        struct zone_span span = zone_span(z, at(all[i].summer_begins));
        bool good = span.begins == at(all[i].summer_begins) && span.ends == at(all[i].summer_ends) &&
                    span.offset_s == all[i].summer_s &&
                    zone_span(z, span.ends).offset_s == all[i].standard_s &&
                    zone_span(z, span.begins - 1).offset_s == all[i].standard_s;
        if (!good)
            printf("%s: %lld to %lld, %d\n", all[i].footer, (long long)span.begins, (long long)span.ends,
                   span.offset_s);
        CU_ASSERT_TRUE(good);
    }
}

/* "XXX3EDT4,0/0,J365/23": the way to write summer time for ever. */
static void summer_time_for_ever_has_no_winter(void)
{
    CLEANUP(zone_freep) struct zone *z = made(&(struct tzif){ .footer = "XXX3EDT4,0/0,J365/23" });
    for (int64_t moment = at("2026-01-01"); moment < at("2032-01-01"); moment += 1800)
        if (zone_span(z, moment).offset_s != -4 * 3600)
            CU_FAIL_FATAL("there is a winter");
    CU_PASS("always -4");
}

/* From the first to the last moment, without a hole, and the same from anywhere in a span. */
static void spans_follow_each_other(void)
{
    static const char *const footers[] = { "CET-1CEST,M3.5.0,M10.5.0/3", "XXX3EDT4,0/0,J365/23",   "UTC0", "",
                                           "AAA0BBB,J1/-167,J10/167",    "AAA24BBB-24,0/0,J365/23" };
    for (size_t i = 0; i < sizeof footers / sizeof *footers; i++) {
        struct tzif from = amsterdam;
        from.footer = footers[i];
        CLEANUP(zone_freep) struct zone *z = made(&from);
        struct zone_span span = zone_span(z, INT64_MIN);
        int n = 0;
        CU_ASSERT_EQUAL(span.begins, INT64_MIN);
        for (; span.ends != INT64_MAX && n < 100000; n++) {
            struct zone_span last = zone_span(z, span.ends - 1), next = zone_span(z, span.ends);
            bool joined = last.begins == span.begins && last.ends == span.ends && next.begins == span.ends &&
                          next.ends > next.begins;
            if (!joined) {
                printf("%s: at %lld\n", footers[i], (long long)span.ends);
                CU_FAIL_FATAL("a hole or an overlap");
            }
            span = next;
        }
        CU_ASSERT_TRUE(n < 20000);
    }
}

/* ---- refused ---- */

static void refused_file(const unsigned char *bytes, size_t size, const char *words)
{
    struct zone *z = NULL;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(zone_parse("Test/Zone", bytes, size, &z, &err), ERR_INPUT);
    CU_ASSERT_PTR_NULL(z);
    CU_ASSERT_TRUE(has(err.text, "zone Test/Zone: the file cannot be used: ") && has(err.text, words));
}

static void malformed_files_are_refused_with_what_is_wrong(void)
{
    static const struct {
        int at, value;
        const char *words;
    } all[] = {
        { 0, 'X', "does not begin" },
        { TZIF_VERSION, 0, "version 1" },
        { TZIF_SECOND, 'X', "does not begin" },
        { TZIF_SECOND + 4, 0, "version 1" },
        { 44 - 21, 200, "more marks than kinds" },
        { 44 - 8, 1, "more changes or kinds" },
        { 44 - 1, 255, "ends inside its first part" },
        { TZIF_ISUTS + 3, 200, "more marks than kinds" },
        { TZIF_LEAPS + 3, 27, "it counts leap seconds" },
        { TZIF_TIMES, 127, "more changes or kinds" },
        { TZIF_TIMES + 2, 4, "ends inside its second part" },
        { TZIF_TYPES + 3, 0, "no kind of time" },
        { TZIF_TYPES + 2, 2, "more changes or kinds" },
        { TZIF_CHARS + 2, 2, "ends inside its second part" },
        { TZIF_DATA, 127, "not in the order of time" },
        { TZIF_DATA + 16, 3, "a kind of time that is not there" },
        { TZIF_DATA + 18, 1, "a day or more off UTC" },
        { TZIF_DATA + 18 + 18 + 4, 'x', "no line at its end" },
        { TZIF_DATA + 18 + 18 + 4 + 1, '1', "cannot be read" },
        { TZIF_DATA + 18 + 18 + 4 + 5, 0, "cannot be read" },
    };
    unsigned char good[TZIF_ROOM], bytes[TZIF_ROOM];
    size_t size = tzif_write(&amsterdam, good);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        memcpy(bytes, good, size);
        bytes[all[i].at] = (unsigned char)all[i].value;
        refused_file(bytes, size, all[i].words);
    }
}

static void a_file_that_is_cut_anywhere_is_refused(void)
{
    unsigned char bytes[TZIF_ROOM];
    size_t size = tzif_write(&amsterdam, bytes);
    for (size_t cut = 0; cut < size; cut++) {
        CLEANUP(cleanup_free) void *exact = malloc(cut ? cut : 1); /* so that a sanitizer sees its end */
        memcpy(exact, bytes, cut);
        refused_file(exact, cut, "it");
    }
}

static void rules_that_are_none_are_refused(void)
{
    static const char *const footers[] = {
        "X",
        "CE-1",
        "CET",
        "CET-",
        "CET-25",
        "CET-1:60",
        "CET-1:00:60",
        "<CET-1",
        "<>-1",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M0.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.0.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/168",
        "CET-1CEST,M3.5.0,M10.5.0x",
        "CET-1CEST,J0,J10",
        "CET-1CEST,J366,J10",
        "CET-1CEST,366,10",
        "CET-1CEST,M3.5.0/,M10.5.0",
        "CET-1CEST,M3.5,M10.5.0",
        "CET-1CEST-,M3.5.0,M10.5.0",
        "CET-1C,M3.5.0,M10.5.0",
        "CET-1 CEST,M3.5.0,M10.5.0",
        ":Europe/Amsterdam",
        "CET-00001",
        "CET-1CEST,M3.5.0,",
    };
    unsigned char bytes[TZIF_ROOM];
    for (size_t i = 0; i < sizeof footers / sizeof *footers; i++) {
        struct tzif from = amsterdam;
        from.footer = footers[i];
        size_t size = tzif_write(&from, bytes);
        refused_file(bytes, size, "the rule for later years, at its end, cannot be read");
    }
    char footer[400];
    memset(footer, 'X', sizeof footer - 1);
    footer[sizeof footer - 1] = '\0';
    struct tzif from = amsterdam;
    from.footer = footer;
    size_t size = tzif_write(&from, bytes);
    refused_file(bytes, size, "no line at its end");
}

static void names_that_lead_elsewhere_are_refused(void)
{
    static const char *const names[] = { "",
                                         "/",
                                         "..",
                                         "../../etc/passwd",
                                         "/etc/localtime",
                                         "Europe/../../x",
                                         "Europe//Amsterdam",
                                         "Europe/",
                                         "Europe/Amsterdam ",
                                         "Europe\\Amsterdam",
                                         "Europe/Am\nsterdam",
                                         ".",
                                         "tzdata.zi",
                                         "Zürich",
                                         "a23456789012345678901234567890123456789012345678901234567890123x" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct zone *z = NULL;
        struct err err = { 0 };
        CU_ASSERT_EQUAL(zone_read(names[i], &z, &err), ERR_INPUT);
        CU_ASSERT_TRUE(has(err.text, "expected the name of a time zone"));
    }
}

static void refused_name(const char *name, int code, const char *words)
{
    struct zone *z = NULL;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(zone_read(name, &z, &err), code);
    CU_ASSERT_TRUE(has(err.text, name) && has(err.text, words));
}

static void an_unknown_zone_is_refused_with_the_one_that_was_meant(void)
{
    refused_name("Europe/Amsterdm", ERR_INPUT, "did you mean Europe/Amsterdam?");
    refused_name("europe/amsterdam", ERR_INPUT, "did you mean Europe/Amsterdam?");
    refused_name("Amsterdam", ERR_INPUT, "did you mean Europe/Amsterdam?");
    refused_name("America/Argentina/Buenos_Ares", ERR_INPUT, "did you mean America/Argentina/Buenos_Aires?");
    refused_name("Mars/Olympus_Mons", ERR_INPUT, "expected a name such as Europe/Amsterdam or UTC");
    refused_name("Europe/Amsterdam/x", ERR_INPUT, "there is no such time zone");
}

static void folders_and_the_machines_own_zone_are_no_zones(void)
{
    refused_name("Europe", ERR_INPUT, "is no file");
    refused_name("localtime", ERR_INPUT, "no zone of its own");
    refused_name("right", ERR_INPUT, "no zone of its own");
}

/* ---- files ---- */

static void put_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CLEANUP(cleanup_fclose) FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, f), size);
}

static void refused_in(const char *folder, const char *name, int code, const char *words)
{
    struct zone *z = NULL;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(zone_read_from(folder, name, &z, &err), code);
    CU_ASSERT_TRUE(has(err.text, words));
}

static void files_are_read_up_to_a_limit(void)
{
    char folder[256], path[512];
    unsigned char bytes[TZIF_ROOM];
    static char large[ZONE_FILE_MAX + 1];
    snprintf(folder, sizeof folder, "%s/zones", test_tmp_dir());
    CU_ASSERT_EQUAL(mkdir(folder, 0755), 0);
    put_file(folder, "Good", bytes, tzif_write(&amsterdam, bytes));
    put_file(folder, "Empty", "", 0);
    put_file(folder, "Large", large, sizeof large);
    snprintf(path, sizeof path, "%s/Pipe", folder);
    CU_ASSERT_EQUAL(mkfifo(path, 0644), 0);
    CLEANUP(zone_freep) struct zone *z = NULL;
    CU_ASSERT_EQUAL(zone_read_from(folder, "Good", &z, NULL), 0);
    CU_ASSERT_EQUAL(offset(z, "2026-07-01"), 7200);
    refused_in(folder, "Empty", ERR_INPUT, "does not begin with");
    refused_in(folder, "Large", ERR_INPUT, "more than 65536 bytes");
    refused_in(folder, "Pipe", ERR_INPUT, "is no file");
    refused_in(folder, "Goud", ERR_INPUT, "did you mean Good?");
    refused_in("/nowhere", "Good", ERR_NOTFOUND, "install the package tzdata");
}

static void utc_needs_no_file(void)
{
    CLEANUP(zone_freep) struct zone *z = NULL;
    CU_ASSERT_EQUAL(zone_read("UTC", &z, NULL), 0);
    struct zone_span span = zone_span(z, 0);
    CU_ASSERT_EQUAL(span.begins, INT64_MIN);
    CU_ASSERT_EQUAL(span.ends, INT64_MAX);
    CU_ASSERT_EQUAL(span.offset_s, 0);
    CU_ASSERT_STRING_EQUAL(zone_name(z), "UTC");
}

/* ---- against the C library, which reads the same files in its own way ---- */

static bool agrees(const struct zone *z, int64_t moment)
{
    struct tm tm;
    time_t t = (time_t)moment;
    localtime_r(&t, &tm);
    int32_t ours = zone_span(z, moment).offset_s;
    if (ours != tm.tm_gmtoff)
        printf("%s at %lld: %d, the C library has %ld\n", zone_name(z), (long long)moment, ours,
               tm.tm_gmtoff);
    return ours == tm.tm_gmtoff;
}

/* Both sides of every change up to 2100, and random moments. */
static void compare(const char *name, uint64_t *random)
{
    CLEANUP(zone_freep) struct zone *z = NULL;
    struct err err = { 0 };
    if (zone_read(name, &z, &err) < 0) {
        printf("%s\n", err.text);
        CU_FAIL_FATAL("a zone of the system is refused");
    }
    setenv("TZ", name, 1);
    tzset();
    bool good = true;
    for (int64_t moment = at("1970-01-01"), last = at("2100-01-01"); moment < last;) {
        struct zone_span span = zone_span(z, moment);
        good &= agrees(z, moment) && (span.ends > last || agrees(z, span.ends - 1));
        moment = span.ends;
    }
    for (int i = 0; i < 200; i++)
        good &= agrees(z, (int64_t)(random_next(random) % 8000000000u));
    CU_ASSERT_TRUE(good);
}

static void the_systems_zones_agree_with_the_c_library(void)
{
    static const char *const names[] = {
        "Europe/Amsterdam",  "Europe/Dublin",       "America/New_York", "America/Nuuk",
        "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kathmandu",   "Asia/Gaza",
        "Africa/Casablanca", "Africa/Cairo",        "Antarctica/Troll", "Pacific/Apia",
        "Pacific/Kwajalein", "Pacific/Chatham",     "Africa/Monrovia",  "Asia/Tehran",
        "Etc/GMT+12",
    };
    uint64_t random = 1972;
    CLEANUP(cleanup_free) char *before = getenv("TZ") ? strdup(getenv("TZ")) : NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        compare(names[i], &random);
    if (before)
        setenv("TZ", before, 1);
    else
        unsetenv("TZ");
    tzset();
}

static const struct test tests[] = {
    TEST(a_table_has_spans_with_ends),
    TEST(the_rule_holds_behind_the_table),
    TEST(a_rule_alone_holds_for_all_times),
    TEST(without_a_rule_the_last_offset_stays),
    TEST(rules_are_read_in_all_their_forms),
    TEST(summer_time_for_ever_has_no_winter),
    TEST(spans_follow_each_other),
    TEST(malformed_files_are_refused_with_what_is_wrong),
    TEST(a_file_that_is_cut_anywhere_is_refused),
    TEST(rules_that_are_none_are_refused),
    TEST(names_that_lead_elsewhere_are_refused),
    TEST(an_unknown_zone_is_refused_with_the_one_that_was_meant),
    TEST(folders_and_the_machines_own_zone_are_no_zones),
    TEST(files_are_read_up_to_a_limit),
    TEST(utc_needs_no_file),
    TEST(the_systems_zones_agree_with_the_c_library),
    { NULL, NULL },
};

const struct suite suite_zone = { .name = "zone", .tests = tests };
