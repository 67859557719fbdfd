/* test_http_stream.c - lines of a body in pieces of any size, and what is done with them next. */
#include "../engine/http/stream.h"

#include <string.h>
#include "test.h"

/* ---- lines ---- */

static void feed(struct lines *l, struct bytes *b, const char *text)
{
    CU_ASSERT_FATAL(bytes_add_text(b, text));
    lines_look(l, b);
}

static bool has(const struct bytes *b, const char *text)
{
    return b->len == strlen(text) && !memcmp(b->data, text, b->len);
}

static void lines_are_found_whatever_the_pieces(void)
{
    static const char text[] = "one\n\r\n\ntwo\r\nthree";
    for (size_t piece = 1; piece <= sizeof text; piece++) {
        struct lines l = { .kept = 100 };
        struct bytes b = { 0 };
        for (size_t at = 0; at < sizeof text - 1; at += piece) {
            char some[sizeof text] = "";
            strncpy(some, text + at, piece);
            feed(&l, &b, some);
        }
        CU_ASSERT(l.complete == 4 && l.complete_len == strlen("one\n\r\n\ntwo\r\n"));
        CU_ASSERT(has(&b, text));
        CU_ASSERT(lines_end(&l, &b) && l.complete == 5);
        CU_ASSERT(lines_end(&l, &b) && l.complete == 5 && has(&b, "one\n\r\n\ntwo\r\nthree\n"));
        bytes_free(&b);
    }
}

static void of_a_long_line_only_the_beginning_is_kept(void)
{
    struct lines l = { .kept = 4 };
    struct bytes b = { 0 };
    feed(&l, &b, "abcd\nabcdef\nab");
    CU_ASSERT(has(&b, "abcd\nabcd\nab") && l.complete == 2);
    for (int i = 0; i < 1000; i++)
        feed(&l, &b, "xyz");
    CU_ASSERT(has(&b, "abcd\nabcd\nabxy") && l.complete == 2);
    feed(&l, &b, "\n\nz");
    CU_ASSERT(has(&b, "abcd\nabcd\nabxy\n\nz") && l.complete == 4);
    bytes_free(&b);
}

static void lines_are_taken_from_the_front(void)
{
    struct lines l = { .kept = 100 };
    struct bytes b = { 0 };
    int n;
    feed(&l, &b, "a\nbb\n\nccc\nd");
    size_t len = lines_first(&l, &b, 3, &n);
    CU_ASSERT(n == 3 && len == strlen("a\nbb\n\n"));
    lines_take(&l, &b, len, n);
    CU_ASSERT(has(&b, "ccc\nd") && l.complete == 1);
    len = lines_first(&l, &b, 3, &n);
    CU_ASSERT(n == 1 && len == 4);
    lines_take(&l, &b, len, n);
    CU_ASSERT(lines_first(&l, &b, 3, &n) == 0 && n == 0);
    feed(&l, &b, "e\n");
    CU_ASSERT(has(&b, "de\n") && l.complete == 1);
    bytes_free(&b);
}

static void what_stays_of_much_takes_little_memory(void)
{
    enum { MUCH = 1000 * 1000 };
    struct lines l = { .kept = 100 };
    struct bytes b = { 0 };
    int n;
    memset(bytes_reserve(&b, MUCH), '\n', MUCH);
    b.len = MUCH;
    feed(&l, &b, "rest");
    CU_ASSERT(l.complete == MUCH);
    size_t len = lines_first(&l, &b, MUCH, &n);
    lines_take(&l, &b, len, n);
    CU_ASSERT(has(&b, "rest") && b.room <= 64 * 1024);
    feed(&l, &b, " of it\n");
    CU_ASSERT(has(&b, "rest of it\n") && l.complete == 1);
    bytes_free(&b);
}

/* ---- streams ---- */

struct world {
    struct stream stream;
    struct request request;
};

static struct world *with_body(const char *headers)
{
    static struct world w;
    char text[512];
    snprintf(text, sizeof text, "POST / HTTP/1.1\r\nHost: a\r\n%s\r\n", headers);
    memset(&w, 0, sizeof w);
    request_init(&w.request);
    request_feed(&w.request, text, strlen(text));
    CU_ASSERT_FATAL(w.request.state == REQUEST_HEAD_READ);
    request_go_on(&w.request);
    stream_begin(&w.stream);
    return &w;
}

static void come(struct world *w, const char *text)
{
    size_t len = strlen(text), used = 0;
    while (used < len && (w->request.state == REQUEST_BODY))
        used += request_feed(&w->request, text + used, len - used);
    CU_ASSERT(stream_look(&w->stream, &w->request));
}

static enum stream_step next(const struct world *w)
{
    return stream_step(&w->stream, &w->request, false, false);
}

static int ask_and_answer(struct world *w)
{
    stream_ask(&w->stream, &w->request);
    int asked = w->stream.asked;
    stream_answered(&w->stream);
    return asked;
}

static void a_stream_is_read_asked_and_over(void)
{
    struct world *w = with_body("Content-Length: 7\r\n");
    CU_ASSERT(next(w) == STREAM_READS && stream_has_room(&w->stream, &w->request));
    come(w, "ab");
    CU_ASSERT(next(w) == STREAM_READS);
    come(w, "c\nd");
    CU_ASSERT(next(w) == STREAM_ASKS);
    CU_ASSERT(ask_and_answer(w) == 1 && has(&w->request.body, "d"));
    CU_ASSERT(next(w) == STREAM_READS);
    come(w, "ef");
    CU_ASSERT(w->request.state == REQUEST_COMPLETE && !stream_has_room(&w->stream, &w->request));
    CU_ASSERT(next(w) == STREAM_ASKS && has(&w->request.body, "def\n"));
    CU_ASSERT(ask_and_answer(w) == 1 && next(w) == STREAM_ENDS && w->stream.answered == 2);
    request_free(&w->request);
}

static void a_stream_without_a_line_is_over_at_once(void)
{
    struct world *w = with_body("Content-Length: 0\r\n");
    CU_ASSERT(next(w) == STREAM_ENDS);
    request_free(&w->request);
}

static void a_thousand_lines_are_asked_about_together(void)
{
    struct world *w = with_body("Content-Length: 100000\r\n");
    for (int i = 0; i < 2100; i++)
        come(w, "{}\n");
    CU_ASSERT(!stream_has_room(&w->stream, &w->request));
    CU_ASSERT(ask_and_answer(w) == 1000 && ask_and_answer(w) == 1000);
    CU_ASSERT(stream_has_room(&w->stream, &w->request));
    CU_ASSERT(ask_and_answer(w) == 100 && w->stream.answered == 2100);
    request_free(&w->request);
}

static void so_much_that_a_thousand_long_ones_do_not_fit_is_enough(void)
{
    struct world *w = with_body("Transfer-Encoding: chunked\r\n");
    for (int i = 0; i < 64; i++) {
        CU_ASSERT(stream_has_room(&w->stream, &w->request));
        come(w, "4000\r\n");
        for (int k = 0; k < 256; k++)
            come(w, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n");
        come(w, "\r\n");
        w->stream.lines.complete = 0;           /* as if each had been longer */
    }
    CU_ASSERT(!stream_has_room(&w->stream, &w->request));
    request_free(&w->request);
}

static void what_has_come_is_asked_about_before_the_stream_ends(void)
{
    struct world *w = with_body("Transfer-Encoding: chunked\r\n");
    come(w, "3\r\na\nb\r\nxyz");
    CU_ASSERT(w->request.state == REQUEST_BAD);
    CU_ASSERT(stream_step(&w->stream, &w->request, true, true) == STREAM_ASKS);
    CU_ASSERT(ask_and_answer(w) == 1);
    CU_ASSERT(stream_step(&w->stream, &w->request, true, true) == STREAM_IS_BAD);
    request_free(&w->request);

    w = with_body("Content-Length: 10\r\n");
    come(w, "a\nb");
    CU_ASSERT(stream_step(&w->stream, &w->request, true, true) == STREAM_ASKS);
    ask_and_answer(w);
    CU_ASSERT(stream_step(&w->stream, &w->request, true, true) == STREAM_IS_CUT);
    CU_ASSERT(stream_step(&w->stream, &w->request, false, true) == STREAM_STOPS);
    CU_ASSERT(next(w) == STREAM_READS);
    come(w, "cdefghi");
    ask_and_answer(w);
    CU_ASSERT(stream_step(&w->stream, &w->request, true, true) == STREAM_ENDS);
    request_free(&w->request);
}

static void more_lines_than_it_may_have_end_it(void)
{
    struct world *w = with_body("Content-Length: 100000000\r\n");
    w->stream.answered = STREAM_LINES_MAX - 1;
    come(w, "a\nb");
    CU_ASSERT(next(w) == STREAM_ASKS && ask_and_answer(w) == 1);
    CU_ASSERT(next(w) == STREAM_IS_TOO_LONG);
    request_free(&w->request);

    w = with_body("Content-Length: 4\r\n");
    w->stream.answered = STREAM_LINES_MAX - 1;
    come(w, "a\nb\n");
    CU_ASSERT(ask_and_answer(w) == 1 && next(w) == STREAM_IS_TOO_LONG);
    request_free(&w->request);

    w = with_body("Content-Length: 2\r\n");
    w->stream.answered = STREAM_LINES_MAX - 1;
    come(w, "a\n");
    CU_ASSERT(ask_and_answer(w) == 1 && next(w) == STREAM_ENDS);
    request_free(&w->request);
}

static const struct test tests[] = {
    TEST(lines_are_found_whatever_the_pieces),
    TEST(of_a_long_line_only_the_beginning_is_kept),
    TEST(lines_are_taken_from_the_front),
    TEST(what_stays_of_much_takes_little_memory),
    TEST(a_stream_is_read_asked_and_over),
    TEST(a_stream_without_a_line_is_over_at_once),
    TEST(a_thousand_lines_are_asked_about_together),
    TEST(so_much_that_a_thousand_long_ones_do_not_fit_is_enough),
    TEST(what_has_come_is_asked_about_before_the_stream_ends),
    TEST(more_lines_than_it_may_have_end_it),
    { 0 }
};

const struct suite suite_http_stream = { "http_stream", NULL, NULL, tests };
