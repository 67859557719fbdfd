/* test_http_follow.c - who waits for events: how long, and what a feed is sent. */
#include <string.h>

#include "../engine/http/follow.h"
#include "test.h"

#define S INT64_C(1000000)

static void nothing_is_told_when_the_time_is_over(void)
{
    struct follow f = { 0 };
    struct answer nothing = { .body = "{}", .body_len = 2, .wait_ms = 2000 }, some = { .body = "{}" };
    CU_ASSERT(!follow_is_on(&f));
    CU_ASSERT(follow_waits(&f, &nothing, 5 * S, false));
    CU_ASSERT(follow_is_on(&f));
    CU_ASSERT(follow_waits(&f, &nothing, 6 * S, false));
    CU_ASSERT(!follow_waits(&f, &some, 6 * S, false));
    CU_ASSERT(!follow_waits(&f, &nothing, 6 * S, true));
    CU_ASSERT(!follow_waits(&f, &nothing, 7 * S, false));
}

static const char *part_of(struct follow *f, const char *body, const char *at, int64_t now_us)
{
    static char out[64];
    struct answer answer = { .content = CONTENT_FEED, .body = body, .at = at };
    size_t len;
    answer.body_len = (uint32_t)strlen(body);
    answer.wait_ms = 1000;
    const char *part = follow_part(f, &answer, now_us, &len);
    snprintf(out, sizeof out, "%.*s", (int)len, part);
    return out;
}

static void a_feed_says_something_now_and_then(void)
{
    struct follow f = { 0 };
    CU_ASSERT_STRING_EQUAL(part_of(&f, "", "0-1-2", 1 * S), "retry: 2000\nid: 0-1-2\n\n");
    CU_ASSERT(follow_is_on(&f));
    CU_ASSERT_STRING_EQUAL(f.after, "0-1-2");
    CU_ASSERT_STRING_EQUAL(part_of(&f, "", "0-1-2", 15 * S), "");
    CU_ASSERT_STRING_EQUAL(part_of(&f, "data: 1\n\n", "0-1-3", 15 * S), "data: 1\n\n");
    CU_ASSERT_STRING_EQUAL(f.after, "0-1-3");
    CU_ASSERT_STRING_EQUAL(part_of(&f, "", "0-1-3", 29 * S), "");
    CU_ASSERT_STRING_EQUAL(part_of(&f, "", "0-1-3", 30 * S), ":\n\n");
    CU_ASSERT_STRING_EQUAL(part_of(&f, "", "0-1-3", 31 * S), "");
    CU_ASSERT_EQUAL(f.again_us, S);
}

static const struct test tests[] = {
    TEST(nothing_is_told_when_the_time_is_over),
    TEST(a_feed_says_something_now_and_then),
    { 0 }
};

const struct suite suite_http_follow = { .name = "http_follow", .tests = tests };
