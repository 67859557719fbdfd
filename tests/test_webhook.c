/* test_webhook.c - what the job webhook decides: what a response means, when nothing is sent to a
 * receiver, and what a signature is. */
#include <stdio.h>
#include <string.h>
#include "../jobs/shared/http/hold.c"
#include "../jobs/shared/http/response.c"
#include "../jobs/webhook/signature.c"
#include "test.h"

#define NOW INT64_C(1772370900)         /* 2026-03-01T13:15:00Z */
#define SECOND INT64_C(1000000)

static struct response r;

static void head(const char *lines)
{
    r = (struct response){ .status = 0 };
    for (const char *end; *lines; lines = end + 1) {
        end = strchr(lines, '\n');
        response_line(&r, lines, (size_t)(end - lines + 1));
    }
}

static bool judges(const char *lines, enum verdict_kind kind, int64_t wait_s)
{
    static const int final[] = { 404, 429 };
    head(lines);
    struct verdict v = response_judge(&r, final, 1, NOW);
    if (v.kind == kind && v.wait_s == wait_s)
        return true;
    fprintf(stderr, "%s: found %d, wait %lld, expected %d, %lld\n", lines, v.kind, (long long)v.wait_s, kind,
            (long long)wait_s);
    return false;
}

static bool waits(const char *headers, int64_t wait_s)
{
    char lines[1024];
    snprintf(lines, sizeof lines, "HTTP/1.1 429 Too Many\r\n%s", headers);
    return judges(lines, VERDICT_WAIT, wait_s);
}

static void the_status_decides(void)
{
    CU_ASSERT_TRUE(judges("HTTP/1.1 200 OK\r\n", VERDICT_DONE, 0));
    CU_ASSERT_TRUE(judges("HTTP/2 204\n", VERDICT_DONE, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 299 \n", VERDICT_DONE, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 302 Found\nLocation: /x\n", VERDICT_FAIL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 400 Bad\n", VERDICT_FAIL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 500 Oh\nRetry-After: 5\n", VERDICT_FAIL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 410 Gone\nRetry-After: 5\n", VERDICT_FINAL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 404 None\n", VERDICT_FINAL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 garbage\n", VERDICT_FAIL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 100 Continue\nRetry-After: 9\n\r\nHTTP/1.1 201 Made\n", VERDICT_DONE, 0));
}

static void only_some_statuses_wait_and_only_when_told_how_long(void)
{
    CU_ASSERT_TRUE(judges("HTTP/1.1 429 Too Many\n", VERDICT_WAIT, RESPONSE_WAIT_S));
    CU_ASSERT_TRUE(judges("HTTP/1.1 503 Busy\n", VERDICT_FAIL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 503 Busy\nRetry-After: 7\n", VERDICT_WAIT, 7));
    CU_ASSERT_TRUE(judges("HTTP/1.1 403 No\nRetry-After: 7\n", VERDICT_FAIL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 403 No\nX-RateLimit-Remaining: 0\nRetry-After: 7\n", VERDICT_WAIT, 7));
    CU_ASSERT_TRUE(judges("HTTP/1.1 403 No\nX-RateLimit-Remaining: 3\nRetry-After: 7\n", VERDICT_FAIL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 403 No\nratelimit-remaining: 0\nratelimit-reset: 8\n", VERDICT_WAIT, 8));
    CU_ASSERT_TRUE(judges("HTTP/1.1 403 No\nX-RateLimit-Remaining: 0\n", VERDICT_FAIL, 0));
    CU_ASSERT_TRUE(judges("HTTP/1.1 403 No\nRateLimit: \"a\";r=0;t=12\n", VERDICT_WAIT, 12));
}

static void retry_after_is_seconds_or_a_date(void)
{
    CU_ASSERT_TRUE(waits("Retry-After: 3\r\n", 3));
    CU_ASSERT_TRUE(waits("retry-after:   3  \r\n", 3));
    CU_ASSERT_TRUE(waits("Retry-After: 0\r\n", 1));
    CU_ASSERT_TRUE(waits("Retry-After: 2.2\r\n", 3));
    CU_ASSERT_TRUE(waits("Retry-After: Sun, 01 Mar 2026 13:16:30 GMT\r\n", 90));
    CU_ASSERT_TRUE(waits("Retry-After: Sunday, 01-Mar-26 13:16:30 GMT\r\n", 90));
    CU_ASSERT_TRUE(waits("Retry-After: Sun Mar  1 13:16:30 2026\r\n", 90));
}

static void a_time_that_is_over_far_off_or_none_is_bounded(void)
{
    CU_ASSERT_TRUE(waits("Retry-After: Sun, 01 Mar 2026 13:00:00 GMT\r\n", 1));
    CU_ASSERT_TRUE(waits("Retry-After: Mon, 01 Mar 2027 13:15:00 GMT\r\n", RESPONSE_WAIT_MAX_S));
    CU_ASSERT_TRUE(waits("Retry-After: 99999999999999999999999999\r\n", RESPONSE_WAIT_MAX_S));
    static const char *const none[] = { "-5", "soon", "5 s", "0x10", "", ".5", "1e3", "Sun, 01 Mar" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char line[80];
        snprintf(line, sizeof line, "Retry-After: %s\r\n", none[i]);
        CU_ASSERT_TRUE(waits(line, RESPONSE_WAIT_S));
    }
    char line[400];
    snprintf(line, sizeof line, "Retry-After: %0300d\r\n", 7);
    CU_ASSERT_TRUE(waits(line, RESPONSE_WAIT_S));
}

static void rate_limit_headers_count_when_retry_after_is_missing(void)
{
    CU_ASSERT_TRUE(waits("X-RateLimit-Reset: 30\r\n", 30));
    CU_ASSERT_TRUE(waits("RateLimit-Reset: 30\r\n", 30));
    CU_ASSERT_TRUE(waits("X-RateLimit-Reset: 1772370945\r\n", 45));
    CU_ASSERT_TRUE(waits("X-RateLimit-Reset: 1772370945500\r\n", 46));
    CU_ASSERT_TRUE(waits("X-RateLimit-Reset: 1000000000\r\n", 1));
    CU_ASSERT_TRUE(waits("X-RateLimit-Reset: 999999999\r\n", RESPONSE_WAIT_MAX_S));
    CU_ASSERT_TRUE(waits("RateLimit: \"burst\";r=0;t=5, \"day\";r=100;t=3600\r\n", 5));
    CU_ASSERT_TRUE(waits("RateLimit: \"burst\";r=0;t=5\r\nRateLimit: \"day\" ; r=0; t=600\r\n", 600));
    CU_ASSERT_TRUE(waits("RateLimit: \"day\";r=1;t=40\r\n", 40));
    CU_ASSERT_TRUE(waits("RateLimit: ;;;,,;t=;r=\r\n", RESPONSE_WAIT_S));
    CU_ASSERT_TRUE(waits("X-RateLimit-Reset: 30\r\nRateLimit: \"a\";r=0;t=4\r\n", 4));
    CU_ASSERT_TRUE(waits("X-RateLimit-Reset: 30\r\nRetry-After: 2\r\n", 2));
}

/* ---- hold ---- */

#define ID "00000007ffffffffffffffffffffffff"

static void after_a_quota_nothing_is_sent_until_it_is_over(void)
{
    struct hold h = { .failures = 0 };
    CU_ASSERT_EQUAL(hold_wait_s(&h, 0, ID), 0);
    hold_asked(&h, 100 * SECOND, 30, false);
    CU_ASSERT_EQUAL(hold_wait_s(&h, 100 * SECOND, ID), 30 + 7 % 4);
    CU_ASSERT_EQUAL(hold_wait_s(&h, 120 * SECOND + 1, ID), 10 + 7 % 4);
    hold_asked(&h, 101 * SECOND, 5, false);     /* a shorter one does not end it */
    CU_ASSERT_EQUAL(hold_wait_s(&h, 129 * SECOND, "00000000"), 1);
    CU_ASSERT_EQUAL(hold_wait_s(&h, 130 * SECOND, ID), 0);
}

/* Both count from the same answer; what was sent away waits for its own time and the spread. */
static void what_was_sent_away_comes_before_what_was_not_sent(void)
{
    for (int64_t wait_s = 1; wait_s < 100; wait_s++)
        for (int64_t later_us = 0; later_us < wait_s * SECOND; later_us += SECOND / 4) {
            struct hold h = { .failures = 0 };
            hold_asked(&h, 0, wait_s, false);
            int64_t away_s = hold_over_at(1700000000, 0, 1700000000, wait_s + hold_spread_s(wait_s, ID));
            int64_t real_s = 1700000000 + later_us / SECOND;
            int64_t unsent_s = hold_over_at(1700000000, later_us, real_s, hold_wait_s(&h, later_us, ID));
            CU_ASSERT_TRUE_FATAL(hold_second_of_others(unsent_s) > hold_second_of_turn(away_s));
        }
}

static void the_second_tells_whose_turn_it_is(void)
{
    for (int64_t at = 1700000000; at < 1700000200; at++) {
        int64_t turn = hold_second_of_turn(at), others = hold_second_of_others(at);
        CU_ASSERT_TRUE_FATAL(turn >= at && turn <= at + 1 && turn % 60);
        CU_ASSERT_TRUE_FATAL(others > turn && others <= at + 4 && others % 60);
        CU_ASSERT_TRUE_FATAL(hold_is_turn(turn, at - 900, 0));
        CU_ASSERT_FALSE_FATAL(hold_is_turn(others, at - 900, 0));
    }
    CU_ASSERT_FALSE(hold_is_turn(1700000001, 1700000001, 0));       /* a delivery, for the first time */
    CU_ASSERT_FALSE(hold_is_turn(1700000001, 1699999200, 1));       /* another attempt */
}

static void whose_turn_it_is_is_tried_though_others_were_sent_away_but_not_endlessly(void)
{
    enum { MOST = 4 };
    struct hold h = { .failures = 0 };
    for (int64_t now_us = 0; now_us < 30 * SECOND; now_us += 10 * SECOND) {
        int tries = 1;
        hold_asked(&h, now_us, 3, false);
        for (; tries <= MOST && hold_lets_try(&h, MOST); tries++)
            hold_tried(&h);
        CU_ASSERT_EQUAL(tries, MOST);
        hold_asked(&h, now_us, 3, true);        /* a try was counted when it was sent */
        CU_ASSERT_EQUAL(h.asked, MOST);
        hold_asked(&h, now_us + SECOND, 3, false);     /* the same hold goes on */
        CU_ASSERT_FALSE(hold_lets_try(&h, MOST));
    }
    for (int i = 0; i < HOLD_FAILURES; i++)
        hold_unreachable(&h, 60 * SECOND);
    CU_ASSERT_FALSE(hold_lets_try(&h, 1000));   /* nobody answers there */
}

static void no_wait_is_over_too_early_however_late_the_call_began(void)
{
    enum { READ_S = 1700000000, WAIT_S = 3 };
    for (int64_t late_us = 0; late_us < 20 * SECOND; late_us += SECOND / 8)
        for (int64_t passed_us = 0; passed_us < 5 * SECOND; passed_us += SECOND / 8) {
            /* READ_S is a whole second, and it was read in that */
            int64_t real_us = READ_S * SECOND + late_us + passed_us;
            int64_t at = hold_over_at(READ_S, passed_us, real_us / SECOND, WAIT_S);
            CU_ASSERT_TRUE_FATAL(at * SECOND >= real_us + WAIT_S * SECOND);
            CU_ASSERT_TRUE_FATAL(at * SECOND <= real_us + (WAIT_S + 1) * SECOND);
        }
}

static void in_virtual_time_a_wait_is_over_by_the_check_s_clock(void)
{
    CU_ASSERT_EQUAL(hold_over_at(1893456000, 2 * SECOND, 1700000000, 30), 1893456033);
    CU_ASSERT_EQUAL(hold_over_at(1600000000, 2 * SECOND, 1700000000, 30), 1600000033);
    CU_ASSERT_EQUAL(hold_over_at(1700000000, 0, 1700000000 + HOLD_LATE_S, 1), 1700000002 + HOLD_LATE_S);
    CU_ASSERT_EQUAL(hold_over_at(1700000000, 0, 1700000001 + HOLD_LATE_S, 1), 1700000002);
}

static void a_receiver_that_does_not_answer_is_left_alone_longer_each_time(void)
{
    static const int64_t pauses[] = { 60, 120, 240, 480, 900, 900 };
    struct hold h = { .failures = 0 };
    int64_t now = 0;
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        for (int k = 0; k < HOLD_FAILURES; k++) {
            CU_ASSERT_EQUAL(hold_wait_s(&h, now, "0"), 0);
            hold_unreachable(&h, now);
        }
        for (int k = 0; k < 256; k++)
            hold_unreachable(&h, now + SECOND);         /* those that were under way */
        CU_ASSERT_EQUAL(hold_wait_s(&h, now, "0"), pauses[i]);
        now = h.until_us;
    }
    hold_unreachable(&h, now);
    hold_unreachable(&h, now);
    hold_answered(&h);
    hold_unreachable(&h, now);
    CU_ASSERT_EQUAL(hold_wait_s(&h, now, "0"), 0);
    hold_unreachable(&h, now);
    hold_unreachable(&h, now);
    CU_ASSERT_EQUAL(hold_wait_s(&h, now, "0"), HOLD_FIRST_S);
}

static void what_waits_comes_back_over_a_tenth_of_the_wait(void)
{
    int seen[7] = { 0 };
    for (unsigned i = 0; i < 700; i++) {
        char id[33];
        snprintf(id, sizeof id, "%08x%024x", i * 2654435761u, i);
        int64_t s = hold_spread_s(60, id);
        CU_ASSERT_TRUE_FATAL(s >= 0 && s <= 6);
        seen[s]++;
        CU_ASSERT_EQUAL(hold_spread_s(9, id), 0);
    }
    for (int i = 0; i < 7; i++)
        CU_ASSERT_TRUE(seen[i] > 50);
}

/* ---- signatures ---- */

static void the_known_vector_is_signed_alike(void)
{
    struct signature_key key;
    char out[SIGNATURE_SIZE];
    CU_ASSERT_EQUAL_FATAL(signature_read_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", &key), 0);
    CU_ASSERT_EQUAL(key.len, 24);
    static const char body[] = "{\"test\": 2432232314}";
    signature_write(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body, strlen(body), out);
    CU_ASSERT_STRING_EQUAL(out, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

static void what_is_no_secret_is_refused(void)
{
    static const char *const none[] = { "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!!",
                                        "whsec_MfKQ9r8G", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS" };
    struct signature_key key;
    char longer[400] = "whsec_";
    memset(longer + 6, 'A', 392);
    CU_ASSERT_EQUAL(signature_read_key(longer, &key), -1);
    longer[6 + 88] = '\0';              /* 66 bytes */
    CU_ASSERT_EQUAL(signature_read_key(longer, &key), -1);
    longer[6 + 84] = '\0';
    CU_ASSERT_EQUAL(signature_read_key(longer, &key), 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CU_ASSERT_EQUAL(signature_read_key(none[i], &key), -1);
}

static const struct test tests[] = {
    TEST(the_status_decides),
    TEST(only_some_statuses_wait_and_only_when_told_how_long),
    TEST(retry_after_is_seconds_or_a_date),
    TEST(a_time_that_is_over_far_off_or_none_is_bounded),
    TEST(rate_limit_headers_count_when_retry_after_is_missing),
    TEST(after_a_quota_nothing_is_sent_until_it_is_over),
    TEST(what_was_sent_away_comes_before_what_was_not_sent),
    TEST(the_second_tells_whose_turn_it_is),
    TEST(whose_turn_it_is_is_tried_though_others_were_sent_away_but_not_endlessly),
    TEST(no_wait_is_over_too_early_however_late_the_call_began),
    TEST(in_virtual_time_a_wait_is_over_by_the_check_s_clock),
    TEST(a_receiver_that_does_not_answer_is_left_alone_longer_each_time),
    TEST(what_waits_comes_back_over_a_tenth_of_the_wait),
    TEST(the_known_vector_is_signed_alike),
    TEST(what_is_no_secret_is_refused),
    { 0 },
};

const struct suite suite_webhook = { "webhook", NULL, NULL, tests };
