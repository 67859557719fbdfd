/* contract_attempts.c - the store's contract: a check that fails and is tried again within its slot
 * keeps its key, leaves a row for each run, and is an ordinary check in between. */
#include <string.h>

#include "store_contract.h"

/* The first and the second attempt of SLOT, after the one at its beginning; a later slot, and its
 * second attempt. */
enum { SECOND = SLOT + 10, THIRD = SLOT + 30, LATER = SLOT + LENGTH, LATER_SECOND = LATER + 10 };

/* The one check that waits in `slot` is leased, read there, and answered so, and the settle is sent
 * twice. Returns how many rows it touched; `key`: the idempotency key of the run. */
static int runs_in(int64_t slot, struct settlement answer, char key[IDEMPOTENCY_KEY_SIZE])
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
    struct check_rows page = read_page(&o.taken[0], 10);
    if (page.n != 1) {
        check_rows_free(&page);
        return -page.n;
    }
    struct idempotency of = check_identity(&page.checks[0]);
    idempotency_key(&of, key);
    answer.check = &page.checks[0];
    answer.ran = true;
    answer.run_at_us = slot * 1000000;
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = o.taken[0];
    s.now = slot;
    s.settlements = &answer;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    int touched = s.touched;
    IS(0, fixture_call(&s.call));               /* the answer to the settle was lost */
    IS(0, s.touched);
    check_rows_free(&page);
    return touched;
}

static struct settlement failure(int32_t failures, int64_t next_at)
{
    return (struct settlement){ .outcome = OUTCOME_FAILED, .failure_count = failures, .next_at = next_at,
                                .ends = !next_at, .note = "no answer" };
}

/* Three attempts in SLOT, two in a later one; then the job asks for another look. */
void all_attempts_of_a_look_have_one_key_and_a_row_each(void)
{
    static const struct { int64_t slot, next_at; } attempts[] = {
        { SLOT, SECOND }, { SECOND, THIRD }, { THIRD, LATER }, { LATER, LATER_SECOND }
    };
    char first[IDEMPOTENCY_KEY_SIZE], key[IDEMPOTENCY_KEY_SIZE];
    WITH_STORE();
    put_in_slot(1);
    for (int i = 0; i < 4; i++) {
        IS(1, runs_in(attempts[i].slot, failure(i + 1, attempts[i].next_at), key));
        if (i == 0)
            strcpy(first, key);
        TEXT_IS(first, key);
        IS(attempts[i].next_at, number("list", "1", "next_check_at"));
        IS(attempts[i].slot, number("runs", "1", "slot_at"));
        IS(i + 1, number("runs", "1", "failure_count"));
        IS(1, number("runs", "1", "check_number"));
        IS(i + 1, rows_in("runs"));
    }
    struct settlement again = { .outcome = OUTCOME_AGAIN, .check_count = 1, .next_at = LATER + LENGTH };
    IS(1, runs_in(LATER_SECOND, again, key));
    TEXT_IS(first, key);
    struct settlement done = { .outcome = OUTCOME_DONE, .ends = true, .check_count = 1 };
    IS(1, runs_in(LATER + LENGTH, done, key));
    CU_ASSERT_STRING_NOT_EQUAL(first, key);
    IS(5, rows_in("runs"));
    IS(6, number("history", "1", "run_count"));
}

void no_attempt_is_made_of_a_check_that_was_resolved(void)
{
    char key[IDEMPOTENCY_KEY_SIZE];
    WITH_STORE();
    put_in_slot(1);
    IS(1, runs_in(SLOT, failure(1, SECOND), key));
    TEXT_IS("1", resolve("1"));
    TEXT_IS("resolved", value("history", "1", "outcome"));
    IS(1, number("history", "1", "failure_count"));
    IS(0, rows_in("list"));
}

/* What asks for it again meanwhile meets a check that waits: nothing is different in between. */
void a_check_between_two_attempts_is_kept_moved_or_replaced_as_any(void)
{
    char first[IDEMPOTENCY_KEY_SIZE], key[IDEMPOTENCY_KEY_SIZE];
    WITH_STORE();
    put_in_slot(1);
    IS(1, runs_in(SLOT, failure(1, SECOND), first));
    TEXT_IS("kept between slots, 1772370910", put("1", LATER, "keep", SLOT + 1));
    TEXT_IS("kept between slots, 1772370910", put("1", LATER, "earlier", SLOT + 1));
    IS(SECOND, number("list", "1", "next_check_at"));
    IS(1, number("list", "1", "failure_count"));
    TEXT_IS("replaced +1", put("1", LATER, "replace", SLOT + 1));
    IS(0, number("list", "1", "failure_count"));
    IS(1, runs_in(LATER, failure(1, LATER_SECOND), key));
    CU_ASSERT_STRING_NOT_EQUAL(first, key);
}

void what_has_failed_is_found_with_its_last_error_and_put_back_from_the_beginning(void)
{
    char first[IDEMPOTENCY_KEY_SIZE], key[IDEMPOTENCY_KEY_SIZE];
    WITH_STORE();
    put_in_slot(1);
    IS(1, runs_in(SLOT, failure(1, SECOND), first));
    IS(1, runs_in(SECOND, failure(2, 0), key));
    TEXT_IS(first, key);
    struct store_rows rows = REPORT("history", NULL, NULL, NULL, "failed", NULL, NULL, "10", NULL);
    IS(1, rows.rows);
    TEXT_IS("no answer", value("history", "1", "note"));
    IS(2, number("history", "1", "failure_count"));
    IS(2, number("history", "1", "run_count"));
    rows = fixture_retry(NULL, NULL, NULL, NULL, text_of(LATER), text_of(THIRD));
    IS(1, rows.rows);
    IS(0, number("list", "1", "failure_count"));
    IS(0, number("list", "1", "check_count"));
    IS(1, runs_in(LATER, failure(1, LATER_SECOND), key));
    CU_ASSERT_STRING_NOT_EQUAL(first, key);
}
