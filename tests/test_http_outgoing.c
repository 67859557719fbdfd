/* test_http_outgoing.c - what is written to sockets: in its order, in pieces, and a body that
 * several get is there once. */
#include "../engine/http/outgoing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "test.h"

enum { LARGE = 3 * 1024 * 1024 };

struct pipe {
    int ends[2];
    struct outgoing out;
    struct bytes read;
};

static void open_pipe(struct pipe *p)
{
    *p = (struct pipe){ .ends = { -1, -1 } };
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->ends), 0);
}

static void close_pipe(struct pipe *p)
{
    close(p->ends[0]);
    close(p->ends[1]);
    outgoing_free(&p->out);
    bytes_free(&p->read);
}

static void read_all(struct pipe *p)
{
    ssize_t n = 1;
    while (n > 0) {
        char *to = bytes_reserve(&p->read, 65536);
        CU_ASSERT_PTR_NOT_NULL_FATAL(to);
        n = recv(p->ends[1], to, 65536, MSG_DONTWAIT);
        p->read.len += n > 0 ? (size_t)n : 0;
    }
}

/* Returns in how many turns it is written. */
static int write_all(struct pipe *p)
{
    size_t written;
    int turns = 1;
    while (outgoing_write(&p->out, p->ends[0], &written) == OUTGOING_LATER && turns < 10000) {
        read_all(p);
        turns++;
    }
    read_all(p);
    return turns;
}

static struct shared_body *large_body(void)
{
    char *text = malloc(LARGE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (int i = 0; i < LARGE; i++)
        text[i] = (char)(i * 31 + i / 257);
    struct shared_body *body = shared_body_new(text, LARGE);
    free(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(body);
    return body;
}

static bool has_read(const struct pipe *p, const char *head, const struct shared_body *body)
{
    size_t len = strlen(head);
    return p->read.len == len + body->len && !memcmp(p->read.data, head, len) &&
           !memcmp(p->read.data + len, body->data, body->len);
}

static void a_head_comes_before_the_body_that_is_shared(void)
{
    struct pipe p;
    struct shared_body *body = large_body();
    open_pipe(&p);
    bytes_add_text(&p.out.bytes, "head ");
    outgoing_share(&p.out, body);
    CU_ASSERT(!outgoing_is_empty(&p.out));
    CU_ASSERT(write_all(&p) > 1);
    CU_ASSERT(outgoing_is_empty(&p.out));
    CU_ASSERT(has_read(&p, "head ", body));
    bytes_add_text(&p.out.bytes, "next");
    write_all(&p);
    CU_ASSERT(!memcmp(p.read.data + p.read.len - 4, "next", 4));
    close_pipe(&p);
    shared_body_drop(body);
}

static void a_body_stays_until_the_last_one_has_it(void)
{
    struct pipe fast, slow;
    size_t written;
    struct shared_body *body = large_body();
    open_pipe(&fast);
    open_pipe(&slow);
    bytes_add_text(&fast.out.bytes, "fast ");
    bytes_add_text(&slow.out.bytes, "slow ");
    outgoing_share(&fast.out, body);
    outgoing_share(&slow.out, body);
    CU_ASSERT_EQUAL(body->owners, 3);
    CU_ASSERT_EQUAL(outgoing_write(&slow.out, slow.ends[0], &written), OUTGOING_LATER);
    write_all(&fast);
    CU_ASSERT(has_read(&fast, "fast ", body));
    CU_ASSERT_EQUAL(body->owners, 2);
    write_all(&slow);
    CU_ASSERT(has_read(&slow, "slow ", body));
    CU_ASSERT_EQUAL(body->owners, 1);
    close_pipe(&fast);
    close_pipe(&slow);
    shared_body_drop(body);
}

static void who_goes_away_gives_it_back(void)
{
    struct pipe p;
    size_t written;
    struct shared_body *body = large_body();
    open_pipe(&p);
    outgoing_share(&p.out, body);
    CU_ASSERT_EQUAL(outgoing_write(&p.out, p.ends[0], &written), OUTGOING_LATER);
    outgoing_free(&p.out);
    CU_ASSERT_EQUAL(body->owners, 1);
    close_pipe(&p);
    shared_body_drop(body);
}

static void an_empty_body_is_written_at_once(void)
{
    struct pipe p;
    struct shared_body *body = shared_body_new("", 0);
    open_pipe(&p);
    bytes_add_text(&p.out.bytes, "head ");
    outgoing_share(&p.out, body);
    CU_ASSERT_EQUAL(write_all(&p), 1);
    CU_ASSERT(has_read(&p, "head ", body));
    CU_ASSERT_EQUAL(body->owners, 1);
    close_pipe(&p);
    shared_body_drop(body);
}

static const struct test tests[] = {
    TEST(a_head_comes_before_the_body_that_is_shared),
    TEST(a_body_stays_until_the_last_one_has_it),
    TEST(who_goes_away_gives_it_back),
    TEST(an_empty_body_is_written_at_once),

    { NULL, NULL },
};

const struct suite suite_http_outgoing = { "http_outgoing", NULL, NULL, tests };
