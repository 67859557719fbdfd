/* test_http_page.c - the dashboard's files as the front finds them. */
#include "../engine/http/page.h"

#include <string.h>
#include "../engine/http/route.h"
#include "test.h"

static void each_file_is_at_one_path(void)
{
    CU_ASSERT_FATAL(pages > 0);
    for (int i = 0; i < pages; i++) {
        CU_ASSERT_PTR_EQUAL(page_find(page_table[i].path), &page_table[i]);
        CU_ASSERT_EQUAL(strlen(page_table[i].bytes), page_table[i].len);
        CU_ASSERT(page_table[i].content < CONTENTS);
    }
}

static void a_path_is_compared_as_it_is(void)
{
    static const char *const none[] = { "", "//", "/assets", "/assets/", "/index.html", "/slots/", "/Slots",
                                        "/assets/../slots", "/assets/index.html", "/page_slots.js" };
    CU_ASSERT_PTR_NOT_NULL(page_find("/"));
    CU_ASSERT_PTR_NOT_NULL(page_find("/slots"));
    CU_ASSERT_PTR_NOT_NULL(page_find("/assets/app.js"));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CU_ASSERT_PTR_NULL(page_find(none[i]));
}

static void pages_of_one_kind_have_the_same_bytes_and_tag(void)
{
    const struct page *first = page_find("/"), *other = page_find("/slots");
    CU_ASSERT_PTR_EQUAL(first->bytes, other->bytes);
    CU_ASSERT_STRING_EQUAL(first->etag, other->etag);
    CU_ASSERT_STRING_NOT_EQUAL(first->etag, page_find("/assets/app.js")->etag);
}

static void a_page_that_a_browser_has_is_known_by_its_tag(void)
{
    const struct page page = { .etag = "\"abc\"" };
    CU_ASSERT(!page_is_known(&page, NULL));
    CU_ASSERT(!page_is_known(&page, ""));
    CU_ASSERT(!page_is_known(&page, "\"abcd\""));
    CU_ASSERT(!page_is_known(&page, "abc"));
    CU_ASSERT(page_is_known(&page, "\"abc\""));
    CU_ASSERT(page_is_known(&page, "W/\"abc\""));
    CU_ASSERT(page_is_known(&page, "\"x\", \"abc\""));
    CU_ASSERT(page_is_known(&page, "*"));
}

static void the_head_of_each_page_fits(void)
{
    char headers[PAGE_HEADERS];
    for (int i = 0; i < pages; i++) {
        size_t len = strlen(page_headers(&page_table[i], headers));
        CU_ASSERT(len > 2 && len + 1 < PAGE_HEADERS);
        CU_ASSERT(!strcmp(headers + len - 2, "\r\n"));
    }
}

static void all_pages_are_one_route(void)
{
    bool is_path;
    int home = route_find(HTTP_GET, "/", &is_path);
    CU_ASSERT_FATAL(home >= 0);
    CU_ASSERT(route_table[home].is_of_pages);
    CU_ASSERT_EQUAL(route_find(HTTP_HEAD, "/assets/app.css", &is_path), home);
    CU_ASSERT_EQUAL(route_find(HTTP_POST, "/checks", &is_path), -1);
    CU_ASSERT(is_path);
    CU_ASSERT_EQUAL(route_find(HTTP_GET, "/assets/none", &is_path), -1);
    CU_ASSERT(!is_path);
}

static const struct test tests[] = {
    TEST(each_file_is_at_one_path),
    TEST(a_path_is_compared_as_it_is),
    TEST(pages_of_one_kind_have_the_same_bytes_and_tag),
    TEST(a_page_that_a_browser_has_is_known_by_its_tag),
    TEST(the_head_of_each_page_fits),
    TEST(all_pages_are_one_route),
    { NULL, NULL },
};

const struct suite suite_http_page = { "http_page", NULL, NULL, tests };
