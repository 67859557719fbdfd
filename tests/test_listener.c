/* test_listener.c - which events a listener hears. */
#include "test.h"

#include "../engine/rules/listener.h"

static const char *order_all[] = { "order.*" }, *all[] = { "*" }, *two[] = { "order.late", "ticket.*" },
    *failed[] = { "delivery.failed" }, *deliveries[] = { "delivery.*", "*" }, *paid[] = { "order.paid" },
    *shipped[] = { "order.ship*", "ticket.closed" };

#define HEARS(patterns) .events = patterns, .nevents = sizeof patterns / sizeof *patterns
#define NOT(patterns) .except = patterns, .nexcept = sizeof patterns / sizeof *patterns

static void a_pattern_is_a_name_or_the_beginning_of_names(void)
{
    struct listener_settings l = { HEARS(two) };
    CU_ASSERT_TRUE(listener_hears(&l, "order.late"));
    CU_ASSERT_FALSE(listener_hears(&l, "order.later"));
    CU_ASSERT_FALSE(listener_hears(&l, "order.lat"));
    CU_ASSERT_FALSE(listener_hears(&l, "Order.late"));
    CU_ASSERT_TRUE(listener_hears(&l, "ticket.late"));
    CU_ASSERT_TRUE(listener_hears(&l, "ticket."));
    CU_ASSERT_TRUE(listener_hears(&l, "ticket.a.b"));
    CU_ASSERT_FALSE(listener_hears(&l, "ticket"));
    CU_ASSERT_FALSE(listener_hears(&l, ""));
}

static void a_star_alone_stands_for_all(void)
{
    struct listener_settings l = { HEARS(all) };
    CU_ASSERT_TRUE(listener_hears(&l, "order.late"));
    CU_ASSERT_TRUE(listener_hears(&l, "*"));
    CU_ASSERT_TRUE(listener_hears(&l, "\xc3\xbc"));
}

static void what_is_excepted_is_not_heard(void)
{
    struct listener_settings l = { HEARS(order_all), NOT(shipped) };
    CU_ASSERT_TRUE(listener_hears(&l, "order.late"));
    CU_ASSERT_FALSE(listener_hears(&l, "order.shipped"));
    CU_ASSERT_FALSE(listener_hears(&l, "order.ship"));
    CU_ASSERT_FALSE(listener_hears(&l, "ticket.closed"));
    CU_ASSERT_FALSE(listener_hears(&l, "ticket.late"));
    struct listener_settings deaf = { HEARS(all), NOT(all) };
    CU_ASSERT_FALSE(listener_hears(&deaf, "order.late"));
    struct listener_settings nothing = { .nevents = 0 };
    CU_ASSERT_FALSE(listener_hears(&nothing, "order.late"));
}

static void a_delivery_that_failed_is_heard_by_its_name_only(void)
{
    struct listener_settings by_star = { HEARS(deliveries) }, by_name = { HEARS(failed) };
    CU_ASSERT_FALSE(listener_hears(&by_star, "delivery.failed"));
    CU_ASSERT_TRUE(listener_hears(&by_star, "delivery.faile"));
    CU_ASSERT_TRUE(listener_hears(&by_star, "delivery.failed.often"));
    CU_ASSERT_TRUE(listener_hears(&by_name, "delivery.failed"));
    struct listener_settings excepted = { HEARS(failed), NOT(deliveries) };
    CU_ASSERT_FALSE(listener_hears(&excepted, "delivery.failed"));
}

static void all_that_hear_an_event_come_in_their_order(void)
{
    struct listener_settings list[] = { { HEARS(paid) }, { HEARS(order_all) }, { HEARS(two) },
                                        { HEARS(all) } };
    struct settings s = { .listeners = list, .nlisteners = 4 };
    CU_ASSERT_EQUAL(listeners_next(&s, 0, "order.late"), 1);
    CU_ASSERT_EQUAL(listeners_next(&s, 2, "order.late"), 2);
    CU_ASSERT_EQUAL(listeners_next(&s, 3, "order.late"), 3);
    CU_ASSERT_EQUAL(listeners_next(&s, 4, "order.late"), -1);
    CU_ASSERT_EQUAL(listeners_next(&s, 0, "order.paid"), 0);
    CU_ASSERT_EQUAL(listeners_next(&s, 0, "delivery.failed"), -1);
    struct settings none = { .nlisteners = 0 };
    CU_ASSERT_EQUAL(listeners_next(&none, 0, "order.late"), -1);
}

static void what_comes_in_a_digest_is_not_heard_at_once(void)
{
    struct listener_settings list[] = { { HEARS(all), .digest = "1h" }, { HEARS(order_all) } };
    struct settings s = { .listeners = list, .nlisteners = 2 };
    CU_ASSERT_TRUE(listener_hears(&list[0], "order.late"));
    CU_ASSERT_EQUAL(listeners_next(&s, 0, "order.late"), 1);
    CU_ASSERT_EQUAL(listeners_next(&s, 0, "ticket.late"), -1);
}

static const struct test tests[] = {
    TEST(a_pattern_is_a_name_or_the_beginning_of_names),
    TEST(a_star_alone_stands_for_all),
    TEST(what_is_excepted_is_not_heard),
    TEST(a_delivery_that_failed_is_heard_by_its_name_only),
    TEST(all_that_hear_an_event_come_in_their_order),
    TEST(what_comes_in_a_digest_is_not_heard_at_once),
    { NULL, NULL },
};

const struct suite suite_listener = { .name = "listener", .tests = tests };
