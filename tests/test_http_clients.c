/* test_http_clients.c - who makes room for whom, and that no peer takes all requests or feeds. */
#include "../engine/http/clients.h"

#include <string.h>
#include "test.h"

enum { MOST = 16, PEER = 7, OTHER = 8 };

static struct connection them[MOST];
static struct clients all;

static int set_up(void)
{
    memset(them, 0, sizeof them);
    all = (struct clients){ .most = MOST };
    return 0;
}

/* One that has come, and between two requests since then. */
static struct connection *come(uint64_t peer, int64_t since_us)
{
    struct connection *c = &them[all.n];
    *c = (struct connection){ .peer = peer, .since_us = since_us };
    clients_add(&all, c);
    return c;
}

static struct connection *ask(uint64_t peer)
{
    struct connection *c = come(peer, 0);
    c->state = CONNECTION_WAITS;
    return c;
}

static void who_goes_leaves_the_others(void)
{
    set_up();
    struct connection *old = come(PEER, 1), *middle = come(PEER, 2), *young = come(PEER, 3);
    clients_remove(&all, middle);
    CU_ASSERT_EQUAL(all.n, 2);
    CU_ASSERT_PTR_EQUAL(all.first, young);
    CU_ASSERT_PTR_EQUAL(young->after, old);
    CU_ASSERT_PTR_EQUAL(old->before, young);
    clients_remove(&all, young);
    CU_ASSERT_PTR_EQUAL(all.first, old);
    clients_remove(&all, old);
    CU_ASSERT_PTR_NULL(all.first);
    CU_ASSERT_EQUAL(all.n, 0);
}

static void who_is_silent_for_longest_makes_room(void)
{
    set_up();
    ask(PEER);
    come(PEER, 300);
    struct connection *idlest = come(PEER, 200);
    come(PEER, 400);
    CU_ASSERT_PTR_EQUAL(clients_idlest(&all, 200 + CLIENTS_FRESH_US), idlest);
}

static void who_has_just_come_may_first_say_something(void)
{
    set_up();
    come(PEER, 200);
    CU_ASSERT_PTR_NULL(clients_idlest(&all, 199 + CLIENTS_FRESH_US));
    CU_ASSERT_PTR_NOT_NULL(clients_idlest(&all, 200 + CLIENTS_FRESH_US));
}

static void who_is_answered_makes_no_room(void)
{
    set_up();
    ask(PEER);
    CU_ASSERT_PTR_NULL(clients_idlest(&all, 10 * CLIENTS_FRESH_US));
}

static void one_peer_never_has_all_requests(void)
{
    set_up();
    for (int i = 0; i < MOST - 1; i++)
        ask(PEER);
    struct connection *its = come(PEER, 0);
    CU_ASSERT_FALSE(clients_have_share(&all, its, 0));
    its->peer = OTHER;
    CU_ASSERT_TRUE(clients_have_share(&all, its, 0));
}

static void those_that_ask_nothing_take_no_share(void)
{
    set_up();
    for (int i = 0; i < MOST - 1; i++)
        come(PEER, 0);
    CU_ASSERT_TRUE(clients_have_share(&all, ask(PEER), 0));
}

static void a_bound_counts_the_requests_of_a_peer_beside_this_one(void)
{
    set_up();
    ask(OTHER);
    struct connection *first = ask(PEER), *second = ask(PEER);
    CU_ASSERT_TRUE(clients_have_share(&all, first, 2));
    CU_ASSERT_FALSE(clients_have_share(&all, second, 1));
    first->state = CONNECTION_OVER;
    CU_ASSERT_TRUE(clients_have_share(&all, second, 1));
}

static void feeds_are_bounded_and_no_peer_takes_all(void)
{
    static struct connection feeds[FOLLOW_MOST];
    set_up();
    int n = 0;
    for (; n < FOLLOW_MOST; n++) {
        feeds[n] = (struct connection){ .peer = PEER, .follow.is_feed = true };
        if (!clients_may_follow(&all, &feeds[n]))
            break;
        clients_add(&all, &feeds[n]);
    }
    CU_ASSERT_TRUE(n > 0 && n < FOLLOW_MOST);
    CU_ASSERT_TRUE(clients_may_follow(&all, &(struct connection){ .peer = OTHER }));
}

static const struct test tests[] = {
    TEST(who_goes_leaves_the_others),
    TEST(who_is_silent_for_longest_makes_room),
    TEST(who_has_just_come_may_first_say_something),
    TEST(who_is_answered_makes_no_room),
    TEST(one_peer_never_has_all_requests),
    TEST(those_that_ask_nothing_take_no_share),
    TEST(a_bound_counts_the_requests_of_a_peer_beside_this_one),
    TEST(feeds_are_bounded_and_no_peer_takes_all),
    { NULL, NULL },
};

const struct suite suite_http_clients = { .name = "http_clients", .tests = tests };
