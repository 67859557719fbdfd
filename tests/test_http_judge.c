/* test_http_judge.c - what is decided of a request by its head. */
#include "../engine/http/judge.h"

#include <stdio.h>
#include <string.h>
#include "test.h"

static const char *const hosts[] = { "shop.example", "Other.Example" };
static const struct judge_rules rules = { .base_path = "", .hosts = hosts, .nhosts = 2 };
static const struct judge_rules below = { .base_path = "/p/q", .hosts = hosts, .nhosts = 2 };

static struct verdict_of_head judge(const struct judge_rules *by, const char *line, const char *headers)
{
    char text[1024];
    struct request r;
    snprintf(text, sizeof text, "%s HTTP/1.1\r\n%s\r\n", line, headers);
    request_init(&r);
    request_feed(&r, text, strlen(text));
    CU_ASSERT_FATAL(r.state == REQUEST_HEAD_READ);
    struct verdict_of_head v = judge_head(by, &r);
    request_free(&r);
    return v;
}

static bool is_taken(const struct judge_rules *by, const char *line, const char *headers)
{
    return judge(by, line, headers).route >= 0;
}

static bool host_is_taken(const char *host)
{
    char header[300];
    snprintf(header, sizeof header, "Host: %s\r\n", host);
    struct verdict_of_head v = judge(&rules, "GET /liveness", header);
    CU_ASSERT(v.route >= 0 || v.problem == PROBLEM_FOREIGN_HOST);
    return v.route >= 0;
}

static void a_name_that_leads_here_is_not_ours_for_that(void)
{
    static const char *const ours[] = { "localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.9.8.7", "[::1]",
                                        "[::1]:8080", "shop.example", "SHOP.example:443", "other.example" };
    static const char *const foreign[] = { "evil.example", "localhost.evil.example",
                                           "shop.example.evil.example", "127.0.0.1.evil.example",
                                           "10.0.0.1", "[::2]", "", ":8080", "127.1", "0.0.0.0", "[::1",
                                           "[::1]x", "localhost:80x", "[localhost]",
                                           "shop.example@evil.example" };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        CU_ASSERT(host_is_taken(ours[i]));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        CU_ASSERT(!host_is_taken(foreign[i]));
}

static void paths_are_compared_as_they_are(void)
{
    CU_ASSERT(is_taken(&rules, "GET /liveness", "Host: localhost\r\n"));
    CU_ASSERT(is_taken(&rules, "HEAD /liveness?x", "Host: localhost\r\n"));
    static const char *const none[] = { "GET /x", "GET /Liveness", "GET /liveness/", "GET //liveness",
                                        "GET /live%6Eess", "GET /x/../liveness", "GET /p/q/liveness" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct verdict_of_head v = judge(&rules, none[i], "Host: localhost\r\n");
        CU_ASSERT(v.route < 0 && v.problem == PROBLEM_NOT_FOUND);
    }
}

static void all_is_below_the_base_path(void)
{
    CU_ASSERT(is_taken(&below, "GET /p/q/liveness", "Host: localhost\r\n"));
    CU_ASSERT(!is_taken(&below, "GET /liveness", "Host: localhost\r\n"));
    CU_ASSERT(!is_taken(&below, "GET /p/qliveness", "Host: localhost\r\n"));
    CU_ASSERT(!is_taken(&below, "GET /p/q", "Host: localhost\r\n"));
}

static void another_method_is_told_which_there_are(void)
{
    struct verdict_of_head v = judge(&rules, "DELETE /readiness", "Host: localhost\r\n");
    CU_ASSERT(v.route < 0 && v.problem == PROBLEM_METHOD);
    CU_ASSERT_STRING_EQUAL(v.allow, "GET, HEAD");
    CU_ASSERT(strstr(v.detail, "DELETE") != NULL);
}

static void what_takes_no_body_refuses_one(void)
{
    struct verdict_of_head v = judge(&rules, "GET /readiness", "Host: localhost\r\nContent-Length: 1\r\n");
    CU_ASSERT(v.route < 0 && v.problem == PROBLEM_BAD_REQUEST);
}

static struct verdict_of_head judge_post(const char *version, const char *headers)
{
    char text[512];
    struct request r;
    snprintf(text, sizeof text, "POST /v1/checks HTTP/%s\r\nHost: localhost\r\n%s\r\n", version, headers);
    request_init(&r);
    request_feed(&r, text, strlen(text));
    CU_ASSERT_FATAL(r.state == REQUEST_HEAD_READ);
    struct verdict_of_head v = judge_head(&rules, &r);
    request_free(&r);
    return v;
}

#define LINES "Content-Type: application/x-ndjson\r\n"

static void what_stands_in_a_query_that_nobody_reads_is_not_passed_over(void)
{
    static const char *const types[] = { "application/json", "application/x-ndjson" };
    char headers[200];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        snprintf(headers, sizeof headers, "Host: localhost\r\nContent-Type: %s\r\n", types[i]);
        struct verdict_of_head v = judge(&rules, "POST /v1/checks?uniqid=order-42", headers);
        CU_ASSERT(v.route < 0 && v.problem == PROBLEM_BAD_REQUEST);
        CU_ASSERT(strstr(v.detail, "uniqid") != NULL);
        CU_ASSERT(is_taken(&rules, "POST /v1/checks?", headers));
    }
}

static void what_the_body_is_decides_who_takes_it(void)
{
    struct verdict_of_head one = judge_post("1.1", "Content-Type: application/json\r\nContent-Length: 2\r\n");
    struct verdict_of_head lines = judge_post("1.1", LINES "Content-Length: 2\r\n");
    CU_ASSERT_FATAL(one.route >= 0 && lines.route >= 0);
    CU_ASSERT(!route_table[one.route].streams && route_table[lines.route].streams);
    struct verdict_of_head none = judge_post("1.1", "Content-Type: application/jsonl\r\n");
    CU_ASSERT(none.route < 0 && none.problem == PROBLEM_CONTENT_TYPE);
    CU_ASSERT(judge_post("1.1", "").problem == PROBLEM_CONTENT_TYPE);
    CU_ASSERT(judge_post("1.1", LINES "Content-Encoding: gzip\r\n").problem == PROBLEM_CONTENT_TYPE);
    CU_ASSERT_STRING_EQUAL(judge(&rules, "PUT /v1/checks", "Host: localhost\r\n").allow, "POST, GET, HEAD");
}

static void each_kind_of_body_has_its_bound(void)
{
    static const char json[] = "Content-Type: application/json\r\nContent-Length: 9000000\r\n";
    CU_ASSERT(judge_post("1.1", json).problem == PROBLEM_TOO_LARGE);
    CU_ASSERT(judge_post("1.1", LINES "Content-Length: 9000000\r\n").route >= 0);
    CU_ASSERT(judge_post("1.1", LINES "Content-Length: 99000000000\r\n").problem == PROBLEM_TOO_LARGE);
}

static void lines_are_for_clients_that_see_where_an_answer_ends(void)
{
    CU_ASSERT(judge_post("1.1", LINES "Transfer-Encoding: chunked\r\n").route >= 0);
    CU_ASSERT(judge_post("1.0", LINES "Content-Length: 2\r\n").problem == PROBLEM_BAD_REQUEST);
    CU_ASSERT(judge_post("1.1", LINES "Idempotency-Key: a\r\n").problem == PROBLEM_BAD_REQUEST);
}

/* What is let in by its role is known of a request that is refused, too. */
static void a_row_is_known_also_when_its_body_is_not_taken(void)
{
    struct verdict_of_head v = judge(&rules, "POST /v1/checks", "Host: localhost\r\nContent-Length: 1\r\n");
    CU_ASSERT(v.route < 0 && v.problem == PROBLEM_CONTENT_TYPE);
    CU_ASSERT_FATAL(v.row != NULL);
    CU_ASSERT_STRING_EQUAL(v.row->path, "/v1/checks");
    CU_ASSERT(!judge(&rules, "GET /nothing", "Host: localhost\r\n").row);
    CU_ASSERT(!judge(&rules, "DELETE /v1/checks", "Host: localhost\r\n").row);
}

static void roles_are_enough_for_some_rows(void)
{
    static const struct { enum http_method method; const char *path; enum token_role least; } rows[] = {
        { HTTP_GET, "/liveness", ROLE_NONE }, { HTTP_GET, "/readiness", ROLE_NONE },
        { HTTP_POST, "/v1/login", ROLE_NONE }, { HTTP_GET, "/v1/session", ROLE_READ },
        { HTTP_GET, "/v1/why", ROLE_READ }, { HTTP_GET, "/v1/requests", ROLE_ENQUEUE },
        { HTTP_POST, "/v1/checks", ROLE_ENQUEUE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool is_path;
        int route = route_find(rows[i].method, rows[i].path, &is_path);
        CU_ASSERT_FATAL(route >= 0);
        for (enum token_role role = ROLE_NONE; role < ROLES; role++)
            CU_ASSERT(token_role_may(role, route_table[route].access) == (role >= rows[i].least));
    }
    /* one of which nothing is said */
    CU_ASSERT(!token_role_may(ROLE_ENQUEUE, (struct route){ .path = "/new" }.access));
    CU_ASSERT(token_role_may(ROLE_OPERATE, (struct route){ .path = "/new" }.access));
}

/* All that changes the store wants more than looking, and only it is refused to who may look. */
static void what_writes_is_not_for_readers(void)
{
    for (int i = 0; i < routes; i++)
        CU_ASSERT(!route_table[i].writes || !token_role_may(ROLE_READ, route_table[i].access));
}

static const struct test tests[] = {
    TEST(a_name_that_leads_here_is_not_ours_for_that),
    TEST(paths_are_compared_as_they_are),
    TEST(all_is_below_the_base_path),
    TEST(another_method_is_told_which_there_are),
    TEST(what_takes_no_body_refuses_one),
    TEST(what_stands_in_a_query_that_nobody_reads_is_not_passed_over),
    TEST(what_the_body_is_decides_who_takes_it),
    TEST(each_kind_of_body_has_its_bound),
    TEST(lines_are_for_clients_that_see_where_an_answer_ends),
    TEST(a_row_is_known_also_when_its_body_is_not_taken),
    TEST(roles_are_enough_for_some_rows),
    TEST(what_writes_is_not_for_readers),
    { 0 }
};

const struct suite suite_http_judge = { "http_judge", NULL, NULL, tests };
