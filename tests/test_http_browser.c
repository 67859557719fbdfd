/* test_http_browser.c - whose page has asked for a change. */
#include "../engine/http/browser.h"

#include <stdio.h>
#include <string.h>
#include "test.h"

static void an_origin_is_ours_by_host_and_port(void)
{
    static const struct { const char *origin, *host; } ours[] = {
        { "http://localhost:8080", "localhost:8080" }, { "https://shop.example", "shop.example" },
        { "https://shop.example", "SHOP.example:443" }, { "http://shop.example:80", "shop.example" },
        { "http://[::1]:8080", "[::1]:8080" }, { "https://shop.example:8443", "shop.example:8443" },
    }, foreign[] = {
        { "http://localhost:3000", "localhost:8080" }, { "https://evil.example", "shop.example" },
        { "https://shop.example.evil.example", "shop.example" }, { "null", "null" }, { "", "" },
        { "https://", "" }, { "https://shop.example:8443", "shop.example" },
        { "shop.example", "shop.example" },
        { "http://shop.example:443", "shop.example" }, { "moz-extension://shop.example", "shop.example" },
        { "https://shop.example/", "shop.example" }, { "https://:443", ":443" },
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        CU_ASSERT(browser_is_ours(ours[i].origin, ours[i].host));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        CU_ASSERT(!browser_is_ours(foreign[i].origin, foreign[i].host));
}

static void a_proxy_that_has_tls_is_seen_by_the_origin(void)
{
    CU_ASSERT(browser_is_secure("https://shop.example"));
    CU_ASSERT(!browser_is_secure("http://shop.example") && !browser_is_secure("null"));
}

static struct request asked(const char *headers)
{
    char text[1000];
    struct request r;
    snprintf(text, sizeof text, "POST /v1/checks HTTP/1.1\r\nHost: localhost:8080\r\n%s\r\n", headers);
    request_init(&r);
    request_feed(&r, text, strlen(text));
    CU_ASSERT_FATAL(r.state == REQUEST_HEAD_READ);
    return r;
}

static bool is_taken(enum gate_by by, enum browser_wish wish, const char *headers)
{
    struct gate_guest guest = { .by = by, .role = ROLE_OPERATE };
    struct request r = asked(headers);
    strcpy(guest.csrf, by == BY_SESSION ? "0123456789abcdef0123456789abcdef" : "");
    const char *why = browser_refuses(&r, &guest, wish);
    request_free(&r);
    return !why;
}

#define OURS "Origin: http://localhost:8080\r\n"
#define FOREIGN "Origin: http://evil.example\r\n"
#define CSRF "X-CSRF-Token: 0123456789abcdef0123456789abcdef\r\n"

static void a_session_needs_our_origin_and_its_secret(void)
{
    CU_ASSERT(is_taken(BY_SESSION, BROWSER_CHANGE, OURS CSRF));
    CU_ASSERT(is_taken(BY_SESSION, BROWSER_CHANGE, OURS CSRF "Sec-Fetch-Site: same-origin\r\n"));
    static const char *const refused[] = { "", OURS, CSRF, FOREIGN CSRF, "Origin: null\r\n" CSRF,
                                           OURS "X-CSRF-Token: 0123456789abcdef0123456789abcdeF\r\n",
                                           OURS "X-CSRF-Token: \r\n",
                                           OURS CSRF "Sec-Fetch-Site: cross-site\r\n",
                                           OURS CSRF "Sec-Fetch-Site: same-site\r\n" };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CU_ASSERT(!is_taken(BY_SESSION, BROWSER_CHANGE, refused[i]));
}

static void of_a_token_nothing_is_asked(void)
{
    CU_ASSERT(is_taken(BY_TOKEN, BROWSER_CHANGE, ""));
    CU_ASSERT(is_taken(BY_TOKEN, BROWSER_CHANGE, FOREIGN "Sec-Fetch-Site: cross-site\r\n"));
}

static void where_no_token_is_needed_a_page_has_to_be_ours(void)
{
    CU_ASSERT(is_taken(BY_NOTHING, BROWSER_CHANGE, ""));
    CU_ASSERT(is_taken(BY_NOTHING, BROWSER_CHANGE, OURS));
    CU_ASSERT(is_taken(BY_NOTHING, BROWSER_CHANGE, "Sec-Fetch-Site: none\r\n"));
    CU_ASSERT(!is_taken(BY_NOTHING, BROWSER_CHANGE, FOREIGN));
    CU_ASSERT(!is_taken(BY_NOTHING, BROWSER_CHANGE, "Origin: null\r\n"));
    CU_ASSERT(!is_taken(BY_NOTHING, BROWSER_CHANGE, "Sec-Fetch-Site: cross-site\r\n"));
}

static void logging_in_is_for_our_pages(void)
{
    CU_ASSERT(is_taken(BY_NOTHING, BROWSER_LOGIN, OURS));
    CU_ASSERT(!is_taken(BY_NOTHING, BROWSER_LOGIN, ""));
    CU_ASSERT(!is_taken(BY_NOTHING, BROWSER_LOGIN, FOREIGN));
}

static const struct test tests[] = {
    TEST(an_origin_is_ours_by_host_and_port),
    TEST(a_proxy_that_has_tls_is_seen_by_the_origin),
    TEST(a_session_needs_our_origin_and_its_secret),
    TEST(of_a_token_nothing_is_asked),
    TEST(where_no_token_is_needed_a_page_has_to_be_ours),
    TEST(logging_in_is_for_our_pages),
    { 0 }
};

const struct suite suite_http_browser = { "http_browser", NULL, NULL, tests };
