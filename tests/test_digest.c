/* test_digest.c - the times of digests as settings have them, and whose digest a check is. */
#include "test.h"

#include <string.h>

#include "../engine/rules/digest.h"

static struct listener_settings listener(const char *digest, const char *timezone)
{
    return (struct listener_settings){ .name = "late", .from = "x.cfg:7", .job = "mail", .digest = digest,
                                       .timezone = timezone };
}

static void a_time_becomes_terms(void)
{
    static const struct { const char *digest, *timezone, *terms; } all[] = {
        { "15m", NULL, "schedule \"late\" every 900 bias 0 missed run_once digest \"late\"" },
        { "366d", NULL, "schedule \"late\" every 31622400 bias 0 missed run_once digest \"late\"" },
        { "cron 0 8 * * mon-fri", NULL,
          "schedule \"late\" cron \"0 8 * * mon-fri\" zone \"UTC\" missed run_once digest \"late\"" },
        { "cron @daily", "Europe/Amsterdam",
          "schedule \"late\" cron \"@daily\" zone \"Europe/Amsterdam\" missed run_once digest \"late\"" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct listener_settings l = listener(all[i].digest, all[i].timezone);
        struct settings s = { .listeners = &l, .nlisteners = 1 };
        struct terms terms, read;
        struct err err = { 0 };
        char text[TERMS_MAX + 1];
        CU_ASSERT_EQUAL(digests_check(&s, &err), 0);
        CU_ASSERT_EQUAL(digest_terms(&l, &terms, &err), 0);
        CU_ASSERT_STRING_EQUAL(terms_print(&terms, text), all[i].terms);
        CU_ASSERT_EQUAL(terms_parse(text, &read, &err), 0);
        CU_ASSERT_STRING_EQUAL(read.digest, "late");
    }
}

static void what_is_no_time_is_refused_with_its_place(void)
{
    static const struct { const char *digest, *timezone, *words; } all[] = {
        { "soon", NULL, "x.cfg:7: digest = \"soon\" of a listener: expected whole seconds, from 1s to 366d" },
        { "1.5s", NULL, "expected whole seconds" },
        { "0s", NULL, "expected whole seconds" },
        { "367d", NULL, "expected whole seconds" },
        { "15m", "UTC", "timezone belongs to cron" },
        { "cron", NULL, "expected whole seconds" },
        { "cron 61 * * * *", NULL, "minute: 61 at column 1 is not between 0 and 59" },
        { "cron @daily", "../x", "zone \"../x\"" },
        { NULL, "UTC", "x.cfg:7: timezone = \"UTC\" of a listener without digest" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct listener_settings l = listener(all[i].digest, all[i].timezone);
        struct settings s = { .listeners = &l, .nlisteners = 1 };
        struct err err = { 0 };
        CU_ASSERT_EQUAL(digests_check(&s, &err), ERR_SETTINGS);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, all[i].words));
    }
}

static void a_check_is_the_digest_of_the_listener_with_its_name_and_job(void)
{
    struct listener_settings all[] = { listener(NULL, NULL), listener("1h", NULL), listener("2h", NULL) };
    all[2].name = "other";
    struct settings s = { .listeners = all, .nlisteners = 3 };
    struct check c = { .entity_name = DIGEST_ENTITY, .entity_key = "late", .job_exec = "mail",
                       .terms = "schedule" };
    CU_ASSERT_PTR_EQUAL(digest_listener(&s, &c), &all[1]);
    CU_ASSERT_TRUE(check_is_digest(&c));
    c.entity_key = "other";
    CU_ASSERT_PTR_EQUAL(digest_listener(&s, &c), &all[2]);
    c.job_exec = "post";
    CU_ASSERT_PTR_NULL(digest_listener(&s, &c));
    c.entity_key = "third";
    CU_ASSERT_PTR_NULL(digest_listener(&s, &c));
    c.terms = NULL;
    CU_ASSERT_FALSE(check_is_digest(&c));
    CU_ASSERT_EQUAL(digests_next(&s, 0), 1);
    CU_ASSERT_EQUAL(digests_next(&s, 3), -1);
}

static void the_head_counts_what_is_left_out(void)
{
    char head[DIGEST_HEAD_SIZE];
    const struct digest_counts most = { INT64_MAX, 0, true }, some = { 5, 3, false };
    int n = digest_head(&some, head);
    CU_ASSERT_STRING_EQUAL(head, "{\"count\":5,\"left_out\":2,\"pruned\":false,\"events\":[");
    CU_ASSERT_EQUAL(n, (int)strlen(head));
    CU_ASSERT_TRUE(digest_head(&most, head) < DIGEST_HEAD_SIZE);
}

static const struct test tests[] = {
    TEST(a_time_becomes_terms),
    TEST(what_is_no_time_is_refused_with_its_place),
    TEST(a_check_is_the_digest_of_the_listener_with_its_name_and_job),
    TEST(the_head_counts_what_is_left_out),
    { NULL, NULL },
};

const struct suite suite_digest = { .name = "digest", .tests = tests };
