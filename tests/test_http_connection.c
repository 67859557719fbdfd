/* test_http_connection.c - what a connection watches its client for: epoll tells an event again and
 * again, so one that nothing is done about would keep the server busy. */
#include "../engine/http/connection.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "test.h"

enum { LARGE = 8 * 1024 * 1024, ENDLESS = 20 };

static char large[LARGE];

struct world {
    struct agenda agenda;
    struct connection_host host;
    struct connection *c;
    int client;
};

static bool take_head(void *ctx, struct connection *c)
{
    (void)ctx;
    c->body_max = 0;
    return true;
}

static void take_request(void *ctx, struct connection *c)
{
    (void)ctx;
    connection_wait(c);
}

static bool may_follow(void *ctx, const struct connection *c)
{
    (void)ctx;
    (void)c;
    return true;
}

static void note_answer(void *ctx, const struct connection *c, int status)
{
    (void)ctx;
    (void)c;
    (void)status;
}

static void begin(struct world *w)
{
    int ends[2];
    *w = (struct world){ .host = { .clock = &clock_system, .take_head = take_head, .answered = note_answer,
                                   .take_request = take_request, .may_follow = may_follow } };
    w->host.agenda = &w->agenda;
    w->host.epoll = epoll_create1(EPOLL_CLOEXEC);
    CU_ASSERT_FATAL(w->host.epoll >= 0);
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    w->client = ends[1];
    w->c = connection_new(&w->host, ends[0]);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->c);
}

static void end(struct world *w)
{
    connection_free(w->c);
    close(w->client);
    close(w->host.epoll);
}

/* Turns, as the server makes them, until there is no event; returns how many. */
static int turns(struct world *w)
{
    struct epoll_event e;
    int n = 0;
    while (n < ENDLESS && w->c->state != CONNECTION_OVER && epoll_wait(w->host.epoll, &e, 1, 0) == 1) {
        connection_turn(w->c, e.events & (EPOLLIN | EPOLLHUP | EPOLLERR),
                        e.events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP));
        n++;
    }
    return n;
}

static void ask(struct world *w)
{
    static const char text[] = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    CU_ASSERT_FATAL(send(w->client, text, sizeof text - 1, 0) == sizeof text - 1);
    turns(w);
    CU_ASSERT_FATAL(w->c->state == CONNECTION_WAITS);
}

static void answer(struct world *w, enum content content, uint32_t len)
{
    connection_answer(w->c, &(struct answer){ .status = 200, .content = (uint16_t)content, .body = large,
                                              .body_len = len, .wait_ms = 1000 * (content == CONTENT_FEED) },
                      "");
    connection_turn(w->c, false, false);
}

/* The client sends no more; it may read on. */
static void half_close(struct world *w)
{
    CU_ASSERT_FATAL(shutdown(w->client, SHUT_WR) == 0);
}

/* All that comes, with as many turns as it takes; returns how many bytes. */
static size_t read_all(struct world *w)
{
    static char piece[1024 * 1024];
    size_t len = 0;
    for (int i = 0; i < 1000; i++) {
        ssize_t n = recv(w->client, piece, sizeof piece, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
        if (turns(w) == 0 && n <= 0)
            break;
    }
    return len;
}

static void a_follower_that_sends_no_more_is_written_to_without_idle_turns(void)
{
    struct world w;
    begin(&w);
    ask(&w);
    answer(&w, CONTENT_FEED, LARGE);
    CU_ASSERT(turns(&w) < ENDLESS && w.c->state == CONNECTION_WRITES);
    half_close(&w);
    CU_ASSERT(turns(&w) < ENDLESS && w.c->state == CONNECTION_WRITES);
    CU_ASSERT(read_all(&w) > LARGE);
    CU_ASSERT(w.c->state == CONNECTION_OVER);   /* it is seen when there is nothing more to tell */
    end(&w);
}

static void a_follower_that_sends_no_more_is_let_go(void)
{
    struct world w;
    begin(&w);
    ask(&w);
    answer(&w, CONTENT_FEED, 100);
    CU_ASSERT(turns(&w) < ENDLESS && w.c->state == CONNECTION_HELD);
    half_close(&w);
    CU_ASSERT(turns(&w) == 1 && w.c->state == CONNECTION_OVER);
    end(&w);
    begin(&w);
    ask(&w);
    answer(&w, CONTENT_FEED, 100);
    connection_wait(w.c);                       /* it is asked about again */
    connection_turn(w.c, false, false);
    half_close(&w);
    CU_ASSERT(turns(&w) == 1 && w.c->state == CONNECTION_OVER);
    end(&w);
}

static void who_asks_and_sends_no_more_is_answered(void)
{
    struct world w;
    begin(&w);
    ask(&w);
    half_close(&w);
    CU_ASSERT(turns(&w) == 0 && w.c->state == CONNECTION_WAITS);
    answer(&w, CONTENT_JSON, LARGE);
    CU_ASSERT(turns(&w) < ENDLESS && w.c->state == CONNECTION_WRITES);
    CU_ASSERT(read_all(&w) > LARGE && w.c->state == CONNECTION_OVER);
    end(&w);
}

/* Also one that is told something at that time. */
static void who_is_away_is_let_go(void)
{
    static const struct { enum content content; uint32_t len; } all[] = {
        { CONTENTS, 0 }, { CONTENT_JSON, LARGE }, { CONTENT_JSON, 100 }, { CONTENT_FEED, 100 },
        { CONTENT_FEED, LARGE },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct world w;
        begin(&w);
        ask(&w);
        if (all[i].content != CONTENTS)
            answer(&w, all[i].content, all[i].len);
        close(w.client);
        CU_ASSERT(turns(&w) < ENDLESS && w.c->state == CONNECTION_OVER);
        end(&w);
    }
}

static const struct test tests[] = {
    TEST(a_follower_that_sends_no_more_is_written_to_without_idle_turns),
    TEST(a_follower_that_sends_no_more_is_let_go),
    TEST(who_asks_and_sends_no_more_is_answered),
    TEST(who_is_away_is_let_go),
    { NULL, NULL },
};

const struct suite suite_http_connection = { .name = "http_connection", .tests = tests };
