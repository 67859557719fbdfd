/* test_http_request.c - requests are read in pieces of any size, and what could be read in two ways
 * is refused. */
#include "../engine/http/request.h"

#include <string.h>
#include "test.h"

/* Feeds `piece` bytes at a time, up to the end of one request. Returns what was not read. */
static const char *feed(struct request *r, const char *text, size_t len, size_t piece)
{
    const char *end = text + len;
    while (text < end && r->state != REQUEST_COMPLETE && r->state != REQUEST_BAD) {
        size_t n = (size_t)(end - text) < piece ? (size_t)(end - text) : piece;
        text += request_feed(r, text, n);
        if (r->state == REQUEST_HEAD_READ)
            request_go_on(r);
    }
    return text;
}

static struct request read_text(const char *text)
{
    struct request r;
    request_init(&r);
    feed(&r, text, strlen(text), strlen(text));
    return r;
}

static const char post[] = "POST /v1/checks?a=b%20c&d HTTP/1.1\r\nHost: shop.example:8080\r\n"
                           "X-Other: x\r\nCONTENT-type: application/json\r\nContent-Length: 7\r\n\r\n"
                           "{\"a\":1}GET / HTTP/1.1\r\n";

static void a_request_is_read_in_pieces_of_any_size(void)
{
    for (size_t piece = 1; piece <= sizeof post; piece++) {
        struct request r;
        request_init(&r);
        const char *rest = feed(&r, post, sizeof post - 1, piece);
        CU_ASSERT_FATAL(r.state == REQUEST_COMPLETE);
        CU_ASSERT(r.method == HTTP_POST);
        CU_ASSERT_STRING_EQUAL(r.path, "/v1/checks");
        CU_ASSERT_STRING_EQUAL(r.query, "a=b%20c&d");
        CU_ASSERT_STRING_EQUAL(r.headers[REQUEST_HOST], "shop.example:8080");
        CU_ASSERT_STRING_EQUAL(r.headers[REQUEST_CONTENT_TYPE], "application/json");
        CU_ASSERT(!r.headers[REQUEST_COOKIE] && r.has_body && r.keeps_alive);
        CU_ASSERT(r.body.len == 7 && !memcmp(r.body.data, "{\"a\":1}", 7));
        CU_ASSERT_STRING_EQUAL(rest, "GET / HTTP/1.1\r\n");
        request_free(&r);
    }
}

static void the_head_is_shown_before_a_body_is_read(void)
{
    struct request r;
    request_init(&r);
    size_t used = request_feed(&r, post, sizeof post - 1);
    CU_ASSERT_FATAL(r.state == REQUEST_HEAD_READ);
    CU_ASSERT(r.body_length == 7 && !r.body.len);
    CU_ASSERT(request_feed(&r, post + used, sizeof post - 1 - used) == 0);
    request_free(&r);
}

static void chunks_are_one_body(void)
{
    static const char text[] = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                               "3;x=y\r\nabc\r\n4\r\ndefg\r\n0\r\nHost: b\r\nX: y\r\n\r\n";
    for (size_t piece = 1; piece <= sizeof text; piece++) {
        struct request r;
        request_init(&r);
        const char *rest = feed(&r, text, sizeof text - 1, piece);
        CU_ASSERT_FATAL(r.state == REQUEST_COMPLETE);
        CU_ASSERT(r.has_body && r.body_length == 0 && r.body_come == 7);
        CU_ASSERT(r.body.len == 7 && !memcmp(r.body.data, "abcdefg", 7));
        CU_ASSERT_STRING_EQUAL(r.headers[REQUEST_HOST], "a");
        CU_ASSERT(*rest == '\0');
        request_free(&r);
    }
}

static void one_request_follows_another(void)
{
    static const char text[] = "GET /a HTTP/1.1\r\nHost: a\r\nCookie: c\r\n\r\n"
                               "GET /b?c HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n";
    struct request r;
    request_init(&r);
    const char *rest = feed(&r, text, sizeof text - 1, sizeof text - 1);
    CU_ASSERT_FATAL(r.state == REQUEST_COMPLETE);
    CU_ASSERT(r.keeps_alive && !r.has_body);
    request_renew(&r);
    CU_ASSERT(r.state == REQUEST_HEAD && !request_is_cut(&r));
    feed(&r, rest, strlen(rest), strlen(rest));
    CU_ASSERT_FATAL(r.state == REQUEST_COMPLETE);
    CU_ASSERT_STRING_EQUAL(r.path, "/b");
    CU_ASSERT_STRING_EQUAL(r.query, "c");
    CU_ASSERT(!r.headers[REQUEST_COOKIE] && !r.keeps_alive);
    request_free(&r);
}

struct bad { const char *text, *says; enum problem_type problem; };

/* What a program in front of this one may have taken for another request. */
static const struct bad bads[] = {
    { "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", "host stands twice", PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "length",
      PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\nx", "length", PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nx", "length", PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\nx", "length",
      PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx", "",
      PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\nx", "",
      PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "chunked",
      PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", "", PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "blank",
      PROBLEM_BAD_REQUEST },
    { "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.0", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/1.1\r\n\r\n", "Host is missing", PROBLEM_BAD_REQUEST },
    { "GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", "zero byte", PROBLEM_BAD_REQUEST },
    { "GET /a?b=%00 HTTP/1.1\r\nHost: a\r\n\r\n", "zero byte", PROBLEM_BAD_REQUEST },
    { "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", "percent-encoded", PROBLEM_BAD_REQUEST },
    { "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "begins with /", PROBLEM_BAD_REQUEST },
    { "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "begins with /", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "HTTP/1.1", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost: \xff\r\n\r\n", "UTF-8", PROBLEM_BAD_REQUEST },
    { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "RFC 9112", PROBLEM_BAD_REQUEST },
    { "\x16\x03\x01", "RFC 9112", PROBLEM_BAD_REQUEST },
    { "GET / HAAAA1.1\r\nHost: a\r\n\r\n", "version", PROBLEM_BAD_REQUEST },
    { "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", "percent-encoded", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/1.1\nHost: a\r\n\r\n", "", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost: a\n\r\n", "CR LF", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost: a\r\n\n", "CR LF", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost: a\r\n\rX", "CR LF", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost: a\r\nX:\rYContent-Length: 5\r\n\r\n", "CR LF", PROBLEM_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", "next one",
      PROBLEM_BAD_REQUEST },
};

/* What stands in the place of the chunks. */
static const char *const bad_chunks[] = {
    "xyz\r\n", "\r\n", "-1\r\n", "0x1\r\na\r\n0\r\n\r\n", "1 \r\na\r\n0\r\n\r\n", " 1\r\na\r\n0\r\n\r\n",
    "1\na\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n", "1\r\naX0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n",
    "1;\nxx\r\na\r\n0\r\n\r\n", "1\r\na\r\n0\r\n\n", "1\r\na\r\n0\r\nX: y\n\r\n",
    "1\r\na\r\n0\r\n X: y\r\n\r\n",
    "1\rXa\r\n0\r\n\r\n", "1111111111111111\r\n", "1;a\x01\r\na\r\n0\r\n\r\n",
};

static void chunks_have_one_form(void)
{
    static const char head[] = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (size_t i = 0; i < sizeof bad_chunks / sizeof *bad_chunks; i++)
        for (size_t piece = 1; piece < 200; piece += 66) {
            struct request r;
            request_init(&r);
            feed(&r, head, sizeof head - 1, piece);
            CU_ASSERT(r.state == REQUEST_BODY);
            feed(&r, bad_chunks[i], strlen(bad_chunks[i]), piece);
            CU_ASSERT(r.state == REQUEST_BAD && strstr(r.detail, "chunks"));
            request_free(&r);
        }
}

static void what_stands_beside_chunks_has_an_end(void)
{
    static const char *const begins[] = { "1;", "0\r\nX: " };
    for (int i = 0; i < 2; i++) {
        struct request r = read_text("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        feed(&r, begins[i], strlen(begins[i]), 100);
        for (int n = 0; n < 10000 && r.state == REQUEST_BODY; n++)
            feed(&r, "a", 1, 1);
        CU_ASSERT(r.state == REQUEST_BAD);
        request_free(&r);
    }
}

static void blanks_around_a_value_are_not_part_of_it(void)
{
    struct request r = read_text("GET / HTTP/1.1\r\nHost: \t a b \t \r\nCookie:  \r\nExpect:x\r\n\r\n");
    CU_ASSERT_FATAL(r.state == REQUEST_COMPLETE);
    CU_ASSERT_STRING_EQUAL(r.headers[REQUEST_HOST], "a b");
    CU_ASSERT_STRING_EQUAL(r.headers[REQUEST_COOKIE], "");
    CU_ASSERT_STRING_EQUAL(r.headers[REQUEST_EXPECT], "x");
    request_free(&r);
}

static void what_could_be_read_in_two_ways_is_refused(void)
{
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++)
        for (size_t piece = 1; piece < 200; piece += 66) {
            struct request r;
            request_init(&r);
            feed(&r, bads[i].text, strlen(bads[i].text), piece);
            CU_ASSERT(r.state == REQUEST_BAD && r.problem == bads[i].problem);
            CU_ASSERT(strstr(r.detail, bads[i].says) != NULL);
            CU_ASSERT(r.body.len == 0);
            request_free(&r);
        }
}

static void a_zero_byte_in_a_header_is_refused(void)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
    struct request r;
    request_init(&r);
    feed(&r, text, sizeof text - 1, sizeof text);
    CU_ASSERT(r.state == REQUEST_BAD);
    request_free(&r);
}

static void head_is_too_large(const char *begin, const char *piece)
{
    struct request r;
    request_init(&r);
    feed(&r, begin, strlen(begin), strlen(begin));
    for (int i = 0; i < REQUEST_HEAD_MAX && r.state == REQUEST_HEAD; i++)
        feed(&r, piece, strlen(piece), strlen(piece));
    CU_ASSERT(r.state == REQUEST_BAD && r.problem == PROBLEM_HEAD_TOO_LARGE);
    CU_ASSERT(r.head.len <= REQUEST_HEAD_MAX);
    request_free(&r);
}

static void a_head_has_an_end(void)
{
    head_is_too_large("GET /", "aaaaaaaaaa");
    head_is_too_large("GET / HTTP/1.1\r\n", "X: abc\r\n");
    head_is_too_large("GET / HTTP/1.1\r\nCookie: ", "a=b; ");
    head_is_too_large("GET / HTTP/1.1\r\n", "a");
    head_is_too_large("", "\r\n");
}

static void a_client_that_goes_away_in_between_is_noticed(void)
{
    struct request r = read_text("");
    CU_ASSERT(!request_is_cut(&r));
    feed(&r, "GET / HT", 8, 8);
    CU_ASSERT(request_is_cut(&r));
    request_free(&r);
    r = read_text("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab");
    CU_ASSERT(request_is_cut(&r) && r.state == REQUEST_BODY && r.body.len == 2);
    request_free(&r);
}

static void an_upgrade_is_passed_over(void)
{
    struct request r = read_text("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
                                 "Upgrade: websocket\r\n\r\n");
    CU_ASSERT(r.state == REQUEST_COMPLETE);
    request_free(&r);
}

static const struct test tests[] = {
    TEST(a_request_is_read_in_pieces_of_any_size),
    TEST(the_head_is_shown_before_a_body_is_read),
    TEST(chunks_are_one_body),
    TEST(one_request_follows_another),
    TEST(what_could_be_read_in_two_ways_is_refused),
    TEST(chunks_have_one_form),
    TEST(what_stands_beside_chunks_has_an_end),
    TEST(blanks_around_a_value_are_not_part_of_it),
    TEST(a_zero_byte_in_a_header_is_refused),
    TEST(a_head_has_an_end),
    TEST(a_client_that_goes_away_in_between_is_noticed),
    TEST(an_upgrade_is_passed_over),
    { 0 }
};

const struct suite suite_http_request = { "http_request", NULL, NULL, tests };
