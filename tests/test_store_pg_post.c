/* test_store_pg_post.c - checks that are asked for over HTTP, on PostgreSQL: one message with its
 * commit in it, and nothing is told that is not committed. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/store/store_pg.h"
#include "pg_fixture.h"

static int post(const struct post_item *items, int n, bool all, struct post_result *results)
{
    struct post_terms terms = { .all = all, .keep_s = 3600 };
    return store_post(pgfx.st, items, n, &terms, results, &pgfx.err);
}

static struct post_item item(const char *uniqid, const char *key)
{
    return (struct post_item){
        .uniqid = uniqid,
        .content = "c",
        .row = { .entity_name = "e", .entity_key = key, .job_exec = "look", .at = 3600 },
        .is_after = true,
        .conflict = "keep",
    };
}

static int post_one(const char *uniqid, const char *key)
{
    struct post_result result;
    struct post_item one = item(uniqid, key);
    return post(&one, 1, false, &result);
}

/* How often the server has said that it is ready, for whatever this does. */
static int answers_to(const char *uniqid, bool all)
{
    char *text = NULL;
    size_t len;
    int n = 0;
    struct post_result result;
    struct post_item one = item(uniqid, uniqid);
    FILE *f = open_memstream(&text, &len);
    PQtrace(pg_store(pgfx.st)->side, f);
    RC_IS(0, post(&one, 1, all, &result));
    PQuntrace(pg_store(pgfx.st)->side);
    fclose(f);
    for (const char *at = text; (at = strstr(at, "ReadyForQuery")); at++)
        n++;
    free(text);
    return n;
}

static void a_post_waits_for_one_answer(void)
{
    WITH_SERVER();
    RC_IS(0, post_one("u0", "0"));              /* which prepares it */
    CU_ASSERT_EQUAL(answers_to("u1", false), 1);
    CU_ASSERT_EQUAL(answers_to("u2", false), 1);
    CU_ASSERT_EQUAL(answers_to("u3", true), 3); /* it is looked at before it is committed */
    SQL_IS("4", "SELECT count(*) FROM prescient.request JOIN prescient.future_job ON id = check_id");
}

static void what_is_refused_files_nothing_and_the_next_is_filed(void)
{
    WITH_SERVER();
    struct post_result results[2];
    struct post_item two[] = { item("u1", "1"), item("u2", "2") };
    two[1].row.at = INT64_C(1) << 60;
    RC_IS(ERR_DATA, post(two, 2, false, results));
    RC_IS(0, post_one("u3", "3"));
    RC_IS(ERR_DATA, post(two, 2, false, results));
    CU_ASSERT_EQUAL(answers_to("u4", false), 1);
    SQL_IS("3 u4", "SELECT string_agg(entity_key, ' ' ORDER BY entity_key) FROM prescient.future_job");
}

/* The commit is behind the rows that are answered. */
static void a_commit_that_fails_is_no_success(void)
{
    WITH_SERVER();
    RC_IS(0, post_one("u0", "0"));
    PQclear(pgfx_ask(pgfx.app, "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS "
                               "$$BEGIN RAISE 'not today' USING ERRCODE = '23514'; END$$"));
    PQclear(pgfx_ask(pgfx.app, "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON prescient.request DEFERRABLE "
                               "INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.refuse()"));
    CU_ASSERT(post_one("u1", "1") < 0);
    PQclear(pgfx_ask(pgfx.app, "DROP TRIGGER late ON prescient.request; DROP FUNCTION public.refuse()"));
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job");
    RC_IS(0, post_one("u1", "1"));
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
}

/* As after a restart of the server: nothing was sent on it, so nobody needs to know. */
static void a_session_that_has_ended_is_opened_anew(void)
{
    WITH_SERVER();
    RC_IS(0, post_one("u0", "0"));
    struct pollfd end = { .fd = PQsocket(pg_store(pgfx.st)->side), .events = POLLRDHUP };
    SQL_IS("t", "SELECT pg_terminate_backend(%d)", PQbackendPID(pg_store(pgfx.st)->side));
    CU_ASSERT_EQUAL_FATAL(poll(&end, 1, 10000 * test_patience()), 1);
    RC_IS(0, post_one("u1", "1"));
    CU_ASSERT_EQUAL(answers_to("u2", false), 1);
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job");
}

static void a_session_that_ends_before_the_commit_is_lost_once(void)
{
    WITH_SERVER();
    RC_IS(0, post_one("u0", "0"));
    PQclear(pgfx_ask(pgfx.app, "CREATE FUNCTION public.ends() RETURNS trigger LANGUAGE plpgsql AS "
                               "$$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); END$$"));
    PQclear(pgfx_ask(pgfx.app, "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON prescient.request DEFERRABLE "
                               "INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.ends()"));
    RC_IS(ERR_LOST, post_one("u1", "1"));
    PQclear(pgfx_ask(pgfx.app, "DROP TRIGGER late ON prescient.request; DROP FUNCTION public.ends()"));
    RC_IS(0, post_one("u1", "1"));
    CU_ASSERT_EQUAL(answers_to("u2", false), 1);
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job");
}

/* As where another call has dropped it just now, whose time was over. */
static void a_request_without_an_answer_files_none_of_those_beside_it(void)
{
    WITH_SERVER();
    struct post_result results[2];
    struct post_item two[] = { item("u1", "1"), item("u2", "2") };
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.request (uniqid, content, kept_until) "
                               "VALUES ('u2', 'c', now() + interval '1 hour')"));
    RC_IS(ERR_BUSY, post(two, 2, false, results));
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    PQclear(pgfx_ask(pgfx.app, "DELETE FROM prescient.request"));
    RC_IS(0, post(two, 2, false, results));
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
}

static const struct test tests[] = {
    TEST(a_post_waits_for_one_answer),
    TEST(what_is_refused_files_nothing_and_the_next_is_filed),
    TEST(a_commit_that_fails_is_no_success),
    TEST(a_session_that_has_ended_is_opened_anew),
    TEST(a_session_that_ends_before_the_commit_is_lost_once),
    TEST(a_request_without_an_answer_files_none_of_those_beside_it),
    { NULL, NULL },
};

const struct suite suite_store_pg_post = { "store_pg_post", pgfx_setup, pgfx_teardown, tests };
