/* test_stream.c - what the job exec decides about a stream: lines out of pieces, which checks a
 * process owes, whose time is up, and when a process is started again. */
#include <stdlib.h>
#include <string.h>
#include "../engine/base/random.h"
#include "../jobs/exec/lines.c"
#include "../jobs/exec/window.c"
#include "test.h"

#define T (10 * SECOND_US)              /* the time of a check */

static struct window w;
static struct lines l;

/* ---- lines ---- */

static int setup(void)
{
    return lines_new(&l);
}

static int teardown(void)
{
    lines_free(&l);
    return 0;
}

/* False: it does not fit. */
static bool add(const char *bytes, size_t len)
{
    size_t size;
    char *room = lines_room(&l, &size);
    if (len > size)
        return false;
    memcpy(room, bytes, len);
    lines_added(&l, len);
    return true;
}

static bool next_is(const char *expected)
{
    size_t len;
    const char *line = lines_next(&l, &len);
    return expected ? line && len == strlen(expected) && !strcmp(line, expected) : !line;
}

static void lines_come_whole_out_of_any_pieces(void)
{
    static const char *const texts[] = { "", "a", "{\"id\":\"1\"}", "\xc3\xa4 \r", "                    " };
    enum { N = 5000 };
    char all[N * 24];
    size_t len = 0, at = 0;
    uint64_t random = 20261123;
    lines_clear(&l);
    for (int i = 0; i < N; i++)
        len += (size_t)sprintf(all + len, "%s\n", texts[i % 5]);
    int found = 0;
    while (at < len) {
        size_t n = 1 + (size_t)(random_next(&random) % 300);
        n = n < len - at ? n : len - at;
        CU_ASSERT_TRUE_FATAL(add(all + at, n));
        at += n;
        for (size_t got; ; found++) {
            const char *line = lines_next(&l, &got);
            if (!line)
                break;
            if (strcmp(line, texts[found % 5]) != 0 || got != strlen(line))
                CU_FAIL_FATAL("another line");
        }
        CU_ASSERT_FALSE_FATAL(lines_too_long(&l));
    }
    CU_ASSERT_EQUAL(found, N);
}

static void the_longest_line_fits_and_one_byte_more_does_not(void)
{
    char *long_one = malloc(LINES_MAX + 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(long_one);
    memset(long_one, 'x', LINES_MAX + 1);
    long_one[LINES_MAX + 1] = '\0';
    lines_clear(&l);
    CU_ASSERT_TRUE(add("before\n", 7) && next_is("before"));
    CU_ASSERT_TRUE(add(long_one, LINES_MAX) && next_is(NULL) && !lines_too_long(&l));
    CU_ASSERT_TRUE(add("\n", 1));
    long_one[LINES_MAX] = '\0';
    CU_ASSERT_TRUE(next_is(long_one) && next_is(NULL) && !lines_too_long(&l));
    long_one[LINES_MAX] = 'x';
    CU_ASSERT_TRUE(add(long_one, LINES_MAX + 1) && next_is(NULL) && lines_too_long(&l));
    CU_ASSERT_FALSE(add("x", 1));
    lines_clear(&l);
    CU_ASSERT_TRUE(add("after\n", 6) && next_is("after") && !lines_too_long(&l));
    free(long_one);
}

/* ---- the window ---- */

/* Checks "a", "b", ... at places 0, 1, ..., all at `now`. */
static void give(int n, int64_t now)
{
    window_open(&w, n);
    for (int i = 0; i < n; i++)
        window_add(&w, (char[]){ (char)('a' + i), '\0' }, i, now);
}

static int overdue_at(int64_t now)
{
    const struct window_entry *e = window_overdue(&w, now, T);
    return e ? e->place : -1;
}

static void no_more_are_given_than_the_window_has_room_for(void)
{
    give(3, 1);
    CU_ASSERT_FALSE(window_has_room(&w));
    CU_ASSERT_EQUAL(window_waiting(&w), 3);
    CU_ASSERT_EQUAL(window_take(&w, "b", 2), 1);
    CU_ASSERT_TRUE(window_has_room(&w));
    window_add(&w, "d", 7, 3);
    CU_ASSERT_FALSE(window_has_room(&w));
    CU_ASSERT_EQUAL(window_take(&w, "d", 4), 7);
    CU_ASSERT_EQUAL(window_take(&w, "a", 4), 0);
    CU_ASSERT_EQUAL(window_take(&w, "c", 4), 2);
    CU_ASSERT_EQUAL(window_waiting(&w), 0);
    CU_ASSERT(w.given == 4 && w.answered == 4);
}

static void an_id_is_answered_once_and_only_if_it_was_given(void)
{
    give(2, 1);
    CU_ASSERT_EQUAL(window_take(&w, "x", 2), WINDOW_UNKNOWN);
    CU_ASSERT_EQUAL(window_take(&w, "", 2), WINDOW_UNKNOWN);
    CU_ASSERT_EQUAL(window_take(&w, "a", 2), 0);
    CU_ASSERT_EQUAL(window_take(&w, "a", 2), WINDOW_TWICE);
    window_add(&w, "a", 5, 3);                          /* the check has failed, and is run again */
    CU_ASSERT_EQUAL(window_take(&w, "a", 4), 5);
    CU_ASSERT_EQUAL(window_take(&w, "a", 4), WINDOW_TWICE);
    CU_ASSERT_EQUAL(window_take(&w, "b", 4), 1);
}

static void only_some_answered_ids_are_remembered(void)
{
    char id[WINDOW_ID];
    window_open(&w, 1);
    for (int i = 0; i <= WINDOW_REMEMBERED; i++) {
        snprintf(id, sizeof id, "%032d", i);
        window_add(&w, id, i, 1);
        CU_ASSERT_EQUAL(window_take(&w, id, 2), i);
    }
    CU_ASSERT_EQUAL(window_take(&w, id, 3), WINDOW_TWICE);
    CU_ASSERT_EQUAL(window_take(&w, "00000000000000000000000000000001", 3), WINDOW_TWICE);
    CU_ASSERT_EQUAL(window_take(&w, "00000000000000000000000000000000", 3), WINDOW_UNKNOWN);
}

/* One that works on one check after the other: the time of each begins with the answer before. */
static void in_a_queue_each_check_has_its_own_time(void)
{
    give(3, SECOND_US);
    CU_ASSERT_EQUAL(window_deadline(&w, T), SECOND_US + T);
    CU_ASSERT_EQUAL(window_take(&w, "a", 8 * SECOND_US), 0);
    CU_ASSERT_EQUAL(window_deadline(&w, T), 8 * SECOND_US + T);
    CU_ASSERT_EQUAL(overdue_at(8 * SECOND_US + T - 1), -1);
    CU_ASSERT_EQUAL(window_take(&w, "b", 17 * SECOND_US), 1);
    CU_ASSERT_EQUAL(overdue_at(17 * SECOND_US + T - 1), -1);
    CU_ASSERT_EQUAL(overdue_at(17 * SECOND_US + T), 2);
    CU_ASSERT_TRUE(window_hangs(&w, window_overdue(&w, 17 * SECOND_US + T, T)));
    CU_ASSERT_EQUAL(window_take(&w, "c", 17 * SECOND_US + T), 2);
    CU_ASSERT_EQUAL(window_deadline(&w, T), INT64_MAX);
}

/* One that works on all of them together: what was answered out of order shows that those before
 * have begun, and that the process does not stand still. */
static void beside_each_other_one_check_hangs_alone(void)
{
    give(4, SECOND_US);
    CU_ASSERT_EQUAL(window_take(&w, "c", 3 * SECOND_US), 2);
    CU_ASSERT_EQUAL(overdue_at(SECOND_US + T), 0);
    CU_ASSERT_FALSE(window_hangs(&w, window_overdue(&w, SECOND_US + T, T)));
    window_give_up(&w, window_overdue(&w, SECOND_US + T, T), SECOND_US + T);
    CU_ASSERT_EQUAL(window_waiting(&w), 2);
    CU_ASSERT_EQUAL(window_deadline(&w, T), 3 * SECOND_US + T);         /* of "b" */
    CU_ASSERT_EQUAL(overdue_at(3 * SECOND_US + T), 1);
    window_give_up(&w, window_overdue(&w, 3 * SECOND_US + T, T), 3 * SECOND_US + T);
    /* "d" may not have begun: its time begins now */
    CU_ASSERT_EQUAL(window_deadline(&w, T), 3 * SECOND_US + 2 * T);
    CU_ASSERT_TRUE(window_hangs(&w, &w.entries[2]));
}

static void an_answer_after_its_time_is_no_fault_but_takes_room(void)
{
    give(2, 1);
    window_give_up(&w, &w.entries[0], 1 + T);
    CU_ASSERT_FALSE(window_has_room(&w));
    CU_ASSERT_TRUE(window_gave_up(&w, "a"));
    CU_ASSERT_FALSE(window_gave_up(&w, "b"));
    CU_ASSERT_EQUAL(window_take(&w, "a", 2 + T), WINDOW_LATE);
    CU_ASSERT_TRUE(window_has_room(&w));
    CU_ASSERT_FALSE(window_gave_up(&w, "a"));
    CU_ASSERT_EQUAL(window_take(&w, "a", 2 + T), WINDOW_TWICE);
    CU_ASSERT_EQUAL(window_take(&w, "b", 2 + T), 1);
}

static void when_it_is_over_what_waits_comes_back_in_its_order(void)
{
    give(4, 1);
    CU_ASSERT_EQUAL(window_take(&w, "b", 2), 1);
    window_give_up(&w, &w.entries[1], 3);
    CU_ASSERT_EQUAL(window_pop(&w), 0);
    CU_ASSERT_EQUAL(window_pop(&w), 3);
    CU_ASSERT_EQUAL(window_pop(&w), -1);
    CU_ASSERT_EQUAL(w.n, 0);
}

/* Any order of events: never more than the window, each check comes back once, the deadline is that
 * of an entry, and none is overdue before it has had its time since it was written. */
static void whatever_happens_each_check_comes_back_once(void)
{
    enum { CHECKS = 40, SIZE = 7 };
    uint64_t random = 13;
    for (int turn = 0; turn < (test_is_brief() ? 500 : 5000); turn++) {
        int back[CHECKS] = { 0 }, given = 0, left;
        int64_t now = 1, at[CHECKS];
        window_open(&w, SIZE);
        do {
            now += (int64_t)(random_next(&random) % (uint64_t)T);
            int what = (int)(random_next(&random) % 4);
            int i = w.n ? (int)(random_next(&random) % (uint64_t)w.n) : 0;
            struct window_entry *late = window_overdue(&w, now, T);
            CU_ASSERT_TRUE_FATAL(w.n <= SIZE && !late == (window_deadline(&w, T) > now));
            if (late) {
                CU_ASSERT_TRUE_FATAL(now - at[late->place] >= T);
                back[late->place]++;
                window_give_up(&w, late, now);
            } else if (what < 2 && given < CHECKS && window_has_room(&w)) {
                char id[WINDOW_ID];
                snprintf(id, sizeof id, "%d", given);
                at[given] = now;
                window_add(&w, id, given++, now);
            } else if (w.n) {
                struct window_entry e = w.entries[i];
                int place = window_take(&w, e.id, now);
                CU_ASSERT_TRUE_FATAL(place == (e.is_given_up ? WINDOW_LATE : e.place));
                if (place >= 0)
                    back[place]++;
            }
        } while (given < CHECKS);
        while ((left = window_pop(&w)) >= 0)
            back[left]++;
        for (int i = 0; i < CHECKS; i++)
            CU_ASSERT_EQUAL_FATAL(back[i], 1);
    }
}

/* ---- starting again ---- */

static void the_pause_doubles_up_to_a_minute_until_something_is_answered(void)
{
    static const int pauses[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
    struct restart r = { 0 };
    window_open(&w, 1);
    for (int i = 0; i < 8; i++) {
        restart_ended(&r, &w, 1000);
        CU_ASSERT_EQUAL(r.at_us, 1000 + pauses[i] * SECOND_US);
    }
    window_add(&w, "a", 0, 1);
    window_take(&w, "a", 2);
    restart_ended(&r, &w, 1000);
    CU_ASSERT_EQUAL(r.pause_s, 1);
}

static const struct test tests[] = {
    TEST(lines_come_whole_out_of_any_pieces),
    TEST(the_longest_line_fits_and_one_byte_more_does_not),
    TEST(no_more_are_given_than_the_window_has_room_for),
    TEST(an_id_is_answered_once_and_only_if_it_was_given),
    TEST(only_some_answered_ids_are_remembered),
    TEST(in_a_queue_each_check_has_its_own_time),
    TEST(beside_each_other_one_check_hangs_alone),
    TEST(an_answer_after_its_time_is_no_fault_but_takes_room),
    TEST(when_it_is_over_what_waits_comes_back_in_its_order),
    TEST(whatever_happens_each_check_comes_back_once),
    TEST(the_pause_doubles_up_to_a_minute_until_something_is_answered),
    { NULL, NULL },
};

const struct suite suite_stream = { .name = "stream", .tests = tests, .setup = setup, .teardown = teardown };
