/* contract_post.c - the store's contract: checks that are asked for over HTTP, each uniqid once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/store/store_post.h"
#include "store_contract.h"

static const char *post_keeping(int64_t keep_s, const struct post_item *items, int n, bool all,
                                struct post_result *results)
{
    static char text[32];
    struct err err;
    struct post_terms terms = { .all = all, .keep_s = keep_s };
    int rc = store_post(fixture_store(), items, n, &terms, results, &err);
    if (rc)
        fixture_err = err;
    snprintf(text, sizeof text, "%d", rc);
    return text;
}

static const char *post_all(const struct post_item *items, int n, bool all, struct post_result *results)
{
    return post_keeping(604800, items, n, all, results);
}

static struct post_item item(const char *uniqid, const char *key, int64_t at)
{
    struct post_item i = {
        .uniqid = uniqid,
        .row = { .entity_name = "orders", .entity_key = key, .job_exec = "look", .at = at },
        .conflict = "keep",
    };
    snprintf(i.content, sizeof i.content, "%s at %lld", key, (long long)at);
    return i;
}

static const char *state_of(const struct post_result *r)
{
    static const char *const words[] = { "filed", "repeated", "other" };
    static char text[4][64];
    static int n;
    n = (n + 1) % 4;
    snprintf(text[n], sizeof text[n], "%s %s %+lld", words[r->state], r->outcome,
             (long long)(r->filed_at - FUTURE) / LENGTH);
    return text[n];
}

void what_is_posted_is_filed_and_told(void)
{
    WITH_STORE();
    const struct post_item items[] = { item("u1", "1", FUTURE + 1), item(NULL, "2", FUTURE),
                                       item(NULL, "1", FUTURE + 9 * LENGTH) };
    struct post_result r[3];
    TEXT_IS("0", post_all(items, 3, false, r));
    TEXT_IS("filed new +1", state_of(&r[0]));
    TEXT_IS("filed new +0", state_of(&r[1]));
    TEXT_IS("filed kept +1", state_of(&r[2]));
    CU_ASSERT(r[0].check_id && r[1].check_id && r[0].check_id != r[1].check_id);
    IS(r[0].check_id, r[2].check_id);
    IS(2, rows_in("list"));
}

void a_repeat_is_answered_as_before_and_files_nothing(void)
{
    WITH_STORE();
    const struct post_item first = item("u1", "1", FUTURE);
    struct post_result r, again;
    TEXT_IS("0", post_all(&first, 1, false, &r));
    TEXT_IS("0", post_all(&first, 1, false, &again));
    TEXT_IS("repeated new +0", state_of(&again));
    IS(r.check_id, again.check_id);
    IS(1, rows_in("list"));
    TEXT_IS("1", resolve("1"));                         /* its check is over meanwhile */
    TEXT_IS("0", post_all(&first, 1, false, &again));
    TEXT_IS("repeated new +0", state_of(&again));
    IS(r.check_id, again.check_id);
    IS(0, rows_in("list"));
}

void another_request_under_a_uniqid_is_told(void)
{
    WITH_STORE();
    const struct post_item items[] = {
        item("u1", "1", FUTURE), item("u1", "2", FUTURE), item("u1", "1", FUTURE)
    };
    struct post_result r[3];
    TEXT_IS("0", post_all(items, 3, false, r));
    TEXT_IS("filed new +0", state_of(&r[0]));
    IS(POST_OTHER, r[1].state);
    TEXT_IS("repeated new +0", state_of(&r[2]));
    IS(1, rows_in("list"));
}

void of_all_or_none_none_is_filed(void)
{
    WITH_STORE();
    const struct post_item first = item("u1", "1", FUTURE);
    const struct post_item items[] = { item("u2", "2", FUTURE), item("u1", "3", FUTURE) };
    struct post_result r[2];
    TEXT_IS("0", post_all(&first, 1, true, r));
    IS(ERR_INPUT, atoi(post_all(items, 2, true, r)));
    IS(POST_OTHER, r[1].state);
    IS(1, rows_in("list"));
    TEXT_IS("0", post_all(items, 1, true, r));          /* u2 was not used up */
    TEXT_IS("filed new +0", state_of(&r[0]));
}

void a_value_that_is_refused_files_none_of_them(void)
{
    WITH_STORE();
    struct post_item items[] = { item("u1", "1", FUTURE), item("u2", "2", FUTURE) };
    struct post_result r[2];
    items[1].row.payload = "{";
    CU_ASSERT(atoi(post_all(items, 2, false, r)) != 0);
    IS(0, rows_in("list"));
    TEXT_IS("0", post_all(items, 1, false, r));
    TEXT_IS("filed new +0", state_of(&r[0]));
}

void a_time_from_now_is_counted_by_the_stores_clock(void)
{
    WITH_STORE();
    struct store_hello hello = STORE_HELLO_INIT;
    struct post_item soon = item(NULL, "1", 5 * LENGTH);
    struct post_result r;
    soon.is_after = true;
    IS(0, fixture_call(&hello.call));
    TEXT_IS("0", post_all(&soon, 1, false, &r));
    int64_t after_s = r.filed_at - hello.now_us / 1000000;
    CU_ASSERT(after_s >= 5 * LENGTH && after_s <= 6 * LENGTH + 60);
}

void what_may_be_late_is_drawn(void)
{
    WITH_STORE();
    struct post_item late = item(NULL, "1", FUTURE);
    struct post_result r;
    late.within_s = 20 * LENGTH;
    TEXT_IS("0", post_all(&late, 1, false, &r));
    CU_ASSERT(r.filed_at >= FUTURE && r.filed_at <= FUTURE + 20 * LENGTH && r.filed_at % LENGTH == 0);
}

static int known(const char *uniqid)
{
    return REPORT("request", uniqid).rows;
}

void what_became_of_a_request_can_be_asked(void)
{
    WITH_STORE();
    const struct post_item first = item("u/1", "1", FUTURE);
    struct post_result r;
    IS(0, known("u/1"));
    TEXT_IS("0", post_all(&first, 1, false, &r));
    struct store_rows rows = REPORT("request", "u/1");
    IS(1, rows.rows);
    TEXT_IS("new", cell(&rows, 0, "outcome"));
    TEXT_IS(text_of(r.check_id), cell(&rows, 0, "check_id"));
    TEXT_IS(text_of(FUTURE), cell(&rows, 0, "filed_at"));
    int64_t made_at = strtoll(cell(&rows, 0, "made_at"), NULL, 10);
    TEXT_IS(text_of(made_at + 604800), cell(&rows, 0, "kept_until"));
    IS(0, known("u/2"));
}

/* By the requests that come in later. */
void requests_are_forgotten_when_they_need_not_be_kept(void)
{
    WITH_STORE();
    const struct post_item first = item("u1", "1", FUTURE), second = item("u2", "2", FUTURE);
    const struct post_item nameless = item(NULL, "3", FUTURE), third = item("u3", "3", FUTURE);
    struct post_result r;
    TEXT_IS("0", post_all(&first, 1, false, &r));
    TEXT_IS("0", post_keeping(-3600, &second, 1, false, &r));   /* as if an hour had gone by */
    TEXT_IS("0", post_all(&nameless, 1, false, &r));
    TEXT_IS("0", post_all(&third, 1, false, &r));
    IS(1, known("u1"));
    IS(0, known("u2"));
    TEXT_IS("repeated new +0", (post_all(&first, 1, false, &r), state_of(&r)));
    TEXT_IS("filed kept +0", (post_all(&second, 1, false, &r), state_of(&r)));
}

/* One that need not be kept is dropped by the very call that repeats it, if that files another. */
void a_request_that_is_over_is_answered_beside_a_new_one(void)
{
    WITH_STORE();
    const struct post_item items[] = { item("u2", "2", FUTURE), item("u1", "1", FUTURE) };
    struct post_result r[2];
    TEXT_IS("0", post_keeping(0, &items[1], 1, false, r));
    TEXT_IS("0", post_all(items, 2, true, r));
    TEXT_IS("filed new +0", state_of(&r[0]));
    TEXT_IS("repeated new +0", state_of(&r[1]));
    IS(2, rows_in("list"));
}
