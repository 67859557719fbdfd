/* test_address.c - where requests whose URL comes from a payload may go. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include "../jobs/shared/http/address.c"
#include "test.h"

static const struct address_rules none = { NULL, 0 };

static struct sockaddr_storage socket_of(const char *text)
{
    struct sockaddr_storage s = { .ss_family = AF_UNSPEC };
    struct sockaddr_in four = { .sin_family = AF_INET };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        memcpy(&s, &four, sizeof four);
    else if (inet_pton(AF_INET6, text, &six.sin6_addr) == 1)
        memcpy(&s, &six, sizeof six);
    return s;
}

/* The same of its text and of a socket's address. */
static bool refuses(const struct address_rules *rules, const char *address, const char *what)
{
    struct sockaddr_storage s = socket_of(address);
    const char *by_text = address_refusal_of_text(rules, address);
    const char *by_socket = address_refusal(rules, (const struct sockaddr *)&s);
    bool same = !by_text && !by_socket;
    if (what)
        same = by_text && by_socket && !strcmp(by_text, what) && !strcmp(by_socket, what);
    if (!same)
        fprintf(stderr, "%s: not %s by its text or its socket\n", address, what ? what : "allowed");
    return same;
}

static void addresses_of_our_own_networks_are_refused(void)
{
    static const struct {
        const char *address, *what;
    } rows[] = {
        { "0.0.0.0", "unspecified" },
        { "0.1.2.3", "unspecified" },
        { "127.0.0.1", "loopback" },
        { "127.255.255.255", "loopback" },
        { "10.0.0.1", "private" },
        { "10.255.255.255", "private" },
        { "172.16.0.1", "private" },
        { "172.31.255.255", "private" },
        { "192.168.1.1", "private" },
        { "169.254.169.254", "link-local" },
        { "100.64.0.1", "shared by customers (CGNAT)" },
        { "100.127.255.255", "shared by customers (CGNAT)" },
        { "192.0.0.170", "reserved" },
        { "192.0.2.1", "for documents" },
        { "198.51.100.1", "for documents" },
        { "203.0.113.9", "for documents" },
        { "198.18.0.1", "for measurements" },
        { "198.19.255.255", "for measurements" },
        { "224.0.0.1", "multicast" },
        { "239.255.255.255", "multicast" },
        { "240.0.0.1", "reserved" },
        { "255.255.255.255", "reserved" },
        { "::", "unspecified" },
        { "::1", "loopback" },
        { "fe80::1", "link-local" },
        { "febf::1", "link-local" },
        { "fec0::1", "site-local" },
        { "fc00::1", "private" },
        { "fdff::1", "private" },
        { "ff02::1", "multicast" },
        { "100::1", "reserved" },
        { "2001:db8::1", "for documents" },
        { "::ffff:127.0.0.1", "loopback" },
        { "::ffff:10.1.2.3", "private" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_TRUE(refuses(&none, rows[i].address, rows[i].what));
}

static void forms_that_carry_another_address_are_refused(void)
{
    static const struct {
        const char *address, *what;
    } rows[] = {
        { "::ffff:8.8.8.8", "mapped (::ffff:)" },
        { "64:ff9b::8.8.8.8", "translated (64:ff9b::)" },
        { "64:ff9b::7f00:1", "translated (64:ff9b::)" },
        { "64:ff9b:1::1", "translated (64:ff9b:1::)" },
        { "::8.8.8.8", "IPv4-compatible" },
        { "2002:7f00:1::", "6to4 (2002::)" },
        { "2001:0:1::1", "Teredo (2001::)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_TRUE(refuses(&none, rows[i].address, rows[i].what));
}

static void addresses_of_others_are_not(void)
{
    static const char *const rows[] = {
        "8.8.8.8",         "9.255.255.255", "11.0.0.0",        "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.1",     "169.253.255.255", "169.255.0.0",    "172.15.255.255",
        "172.32.0.0",      "192.0.1.1",     "192.167.255.255", "198.17.255.255", "198.20.0.0",
        "223.255.255.255", "2a00:1450::1",  "2001:4860::8888", "fbff::1",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_TRUE(refuses(&none, rows[i], NULL));
}

static void networks_of_the_settings_are_allowed(void)
{
    struct network allowed[4];
    CU_ASSERT_EQUAL(address_read_network("10.1.0.0/16", &allowed[0]), 0);
    CU_ASSERT_EQUAL(address_read_network("127.0.0.2", &allowed[1]), 0);
    CU_ASSERT_EQUAL(address_read_network("fd00:1::/33", &allowed[2]), 0);
    CU_ASSERT_EQUAL(address_read_network("64:ff9b::/96", &allowed[3]), 0);
    const struct address_rules rules = { allowed, 4 };
    CU_ASSERT_TRUE(refuses(&rules, "10.1.255.1", NULL));
    CU_ASSERT_TRUE(refuses(&rules, "::ffff:10.1.255.1", NULL));
    CU_ASSERT_TRUE(refuses(&rules, "10.2.0.1", "private"));
    CU_ASSERT_TRUE(refuses(&rules, "127.0.0.2", NULL));
    CU_ASSERT_TRUE(refuses(&rules, "127.0.0.1", "loopback"));
    CU_ASSERT_TRUE(refuses(&rules, "fd00:1:7fff::1", NULL));
    CU_ASSERT_TRUE(refuses(&rules, "fd00:1:8000::1", "private"));
    CU_ASSERT_TRUE(refuses(&rules, "64:ff9b::8.8.8.8", NULL));
    struct network all;
    CU_ASSERT_EQUAL(address_read_network("0.0.0.0/0", &all), 0);
    const struct address_rules four = { &all, 1 };
    CU_ASSERT_TRUE(refuses(&four, "127.0.0.1", NULL));
    CU_ASSERT_TRUE(refuses(&four, "::1", "loopback"));
}

static void what_is_no_network_is_refused(void)
{
    static const char *const none_of_them[] = {
        "",
        "/8",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/",
        "10.0.0.0/8x",
        "10.0.0.1/8",
        "10.0.0",
        "fd00::/129",
        "fd00::1/8",
        "localhost",
        "10.128.0.0/8",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa/8",
    };
    struct network n;
    for (size_t i = 0; i < sizeof none_of_them / sizeof *none_of_them; i++)
        CU_ASSERT_EQUAL(address_read_network(none_of_them[i], &n), -1);
}

static void what_is_no_address_is_refused(void)
{
    struct sockaddr_storage s = { .ss_family = AF_UNIX };
    CU_ASSERT_PTR_NOT_NULL(address_refusal(&none, (struct sockaddr *)&s));
    CU_ASSERT_PTR_NOT_NULL(address_refusal_of_text(&none, "localhost"));
    CU_ASSERT_PTR_NOT_NULL(address_refusal_of_text(&none, "127.1"));
    CU_ASSERT_PTR_NOT_NULL(address_refusal_of_text(&none, ""));
}

static void a_pattern_is_a_host_or_all_below_one(void)
{
    CU_ASSERT_TRUE(address_is_host("example.com", "example.com"));
    CU_ASSERT_TRUE(address_is_host("example.com", "EXAMPLE.com."));
    CU_ASSERT_FALSE(address_is_host("example.com", "a.example.com"));
    CU_ASSERT_FALSE(address_is_host("example.com", "example.com.evil"));
    CU_ASSERT_FALSE(address_is_host("example.com", ""));
    CU_ASSERT_TRUE(address_is_host("*.example.com", "a.example.com"));
    CU_ASSERT_TRUE(address_is_host("*.example.com", "a.B.Example.com."));
    CU_ASSERT_FALSE(address_is_host("*.example.com", "example.com"));
    CU_ASSERT_FALSE(address_is_host("*.example.com", ".example.com"));
    CU_ASSERT_FALSE(address_is_host("*.example.com", "evilexample.com"));
    CU_ASSERT_FALSE(address_is_host("*.example.com", "a.example.com.evil"));
    CU_ASSERT_TRUE(address_is_pattern("*.example.com"));
    CU_ASSERT_TRUE(address_is_pattern("example-1.com"));
    CU_ASSERT_TRUE(address_is_pattern("[::1]"));
    static const char *const none_of_them[] = { "",    "*",  "*.", "a.*.com", "http://a",
                                                "a/b", ".a", "a.", "*.*.a" };
    for (size_t i = 0; i < sizeof none_of_them / sizeof *none_of_them; i++)
        CU_ASSERT_FALSE(address_is_pattern(none_of_them[i]));
}

static const struct test tests[] = {
    TEST(addresses_of_our_own_networks_are_refused),
    TEST(forms_that_carry_another_address_are_refused),
    TEST(addresses_of_others_are_not),
    TEST(networks_of_the_settings_are_allowed),
    TEST(what_is_no_network_is_refused),
    TEST(what_is_no_address_is_refused),
    TEST(a_pattern_is_a_host_or_all_below_one),
    { 0 },
};

const struct suite suite_address = { "address", NULL, NULL, tests };
