/* test_why.c - why nothing has happened: which cause is told, of those that hold, and each code. */
#include "test.h"

#include <string.h>
#include "../engine/base/zone.h"
#include "../engine/view/told.h"
#include "../engine/view/why.h"

enum { NOW = 1772370900 };              /* 2026-03-01T13:15:00Z */
#define PAUSED 221845392000LL
enum { SLOT_AHEAD = NOW + 900, SLOT_BEGUN = NOW - 900 };

static const struct why_check ahead = { .next_at = SLOT_AHEAD }, begun = { .next_at = SLOT_BEGUN };
static const struct why_check put_off = { .next_at = SLOT_AHEAD, .put_off_at = SLOT_BEGUN };
static const struct why_check failing = { .next_at = SLOT_AHEAD, .failure_count = 2 };
static const struct why_check soon = { .next_at = NOW + 20, .concurrency_key = "k" };
static const struct why_check never = { .next_at = INT64_MAX };
static const struct why_check paused = { .next_at = PAUSED };
static const struct why_run again = { "again", "two left", "shop-2/7", NOW - 60 };
static const struct why_run deferred = { "deferred", NULL, "shop-2/7", NOW - 60 };
static const struct why_run timeout = { "timeout", "after 30s", "shop-2/7", NOW - 60 };
static const struct why_run broken = { "job_broken", "no such table", "shop-2/7", NOW - 60 };
static const struct why_running running = { "shop-2/7", 4711, NOW - 12 };
static const struct why_slot open_slot = { "open", "shop-1/3", NOW - 5, false };
static const struct why_slot closed = { "closed", "shop-1/3", NOW - 5, false };
static const struct why_slot left = { "closed", "shop-1/3", NOW - 5, .has_left = true };
static const struct why_slot not_opened = { .state = "pending" };
static const struct why_pause on = { "job", "unshipped", "ada", "their API is down", NOW - 7200 };
static const struct why_place place = { "shop-3/9", NOW - 30 };
static const struct why_engines none = { 0 }, one = { 1, NOW - 240000, "shop-1" };
static const struct why_over done = { "done", NULL, "shipped", "shop-2/7", NOW - 60, NOW - 61, 0, 0 };
static const struct why_over unsure = { "done", NULL, NULL, "shop-2/7", NOW - 60, NOW - 61, 0, -1 };
static const struct why_over unknown = { "unknown_job", "unknown_job", NULL, "e", NOW - 60, 0, 0, 0 };
static const struct why_over raised = { "done", NULL, NULL, "shop-2/7", NOW - 60, NOW - 61, 0, 3 };
static const struct why_over cancelled = { "resolved", NULL, "cancelled by anna", NULL, NOW - 60, 0, 0, 0 };
static const struct why_over resolved = { "resolved", NULL, NULL, NULL, NOW - 60, 0, 0, 0 };
static const struct why_over failed = { "crashed", "max_failures", "SIGSEGV", "e", NOW - 60, NOW - 61, 5, 0 };
static const struct why_over guarded = { "past", "past", NULL, "e", NOW - 60, NOW - 61, 0, 0 };

#define OF .entity = "orders", .key = "42", .job = "unshipped", .now = NOW

static const struct row {
    struct why_facts facts;
    enum why_code code;
    const char *words;
} rows[] = {
    { { OF }, WHY_NEVER_ENQUEUED, "no check of the job unshipped waits for orders/42, and none is" },
    { { OF, .searched_to = NOW - 60 }, WHY_NOT_FOUND,
      "since 2026-03-01T13:14:00Z (60 s ago); the history before" },
    { { OF, .check = &ahead }, WHY_WAITS, "it waits for its slot, 2026-03-01T13:30:00Z (in 15 min)" },
    { { OF, .check = &ahead, .engines = &none }, WHY_WAITS, "; but no engine has noted itself lately" },
    { { OF, .check = &ahead, .job_is = WHY_JOB_UNKNOWN, .meant = "unshiped" }, WHY_WAITS,
      "; but no engine has noted the job unshipped; did you mean unshiped?" },
    { { OF, .check = &ahead, .pause = &on, .engines = &none }, WHY_WAITS,
      "; the job unshipped is paused by ada: their API is down, so it will be put aside then" },
    { { OF, .check = &ahead, .pause = &on, .run = &again }, WHY_ASKED_AGAIN, "so it will be put aside then" },
    { { OF, .check = &never }, WHY_WAITS, "for a time that never comes: prescient reschedule" },
    { { OF, .check = &begun, .running = &running, .slot = &open_slot, .place = &place }, WHY_RUNS,
      "on shop-2/7, in worker 4711, since 2026-03-01T13:14:48Z (12 s ago)" },
    { { OF, .check = &begun, .slot = &open_slot }, WHY_SLOT_RUNS,
      "was begun by shop-1/3 2026-03-01T13:14:55Z (5 s ago) and is not finished" },
    { { OF, .check = &begun, .slot = &open_slot, .pause = &on }, WHY_SLOT_RUNS, "so it is put aside" },
    { { OF, .check = &begun, .slot = &not_opened, .engines = &one }, WHY_SLOT_LATE,
      "no engine has begun it; the last that an engine noted of itself was 2026-02-26T18:35:00Z "
      "(3 d ago) by shop-1" },
    { { OF, .check = &begun, .slot = &not_opened, .engines = &none }, WHY_SLOT_LATE,
      "no engine has noted itself lately" },
    { { OF, .check = &begun, .slot = &not_opened, .place = &place, .engines = &none }, WHY_SLOT_LATE,
      "no engine has begun it" },
    { { OF, .check = &begun, .slot = &closed }, WHY_LEFT_BEHIND, "was run without it" },
    { { OF, .check = &begun, .slot = &left }, WHY_LEFT_BEHIND, "it was left to others" },
    { { OF, .check = &begun, .slot = &open_slot, .place = &place }, WHY_KEY_BUSY,
      "are run on shop-3/9 since" },
    { { OF, .check = &begun, .slot = &open_slot, .job_is = WHY_JOB_UNKNOWN }, WHY_UNKNOWN_JOB,
      "give the job to an engine" },
    { { OF, .check = &paused, .pause = &on }, WHY_PAUSED,
      "paused since 2026-03-01T11:15:00Z (2 h ago) by ada: their API is down; prescient resume --job "
      "unshipped" },
    { { OF, .check = &paused }, WHY_PAUSED, "prescient pauses" },
    { { OF, .check = &put_off, .job_is = WHY_JOB_UNKNOWN }, WHY_UNKNOWN_JOB,
      "it was due 2026-03-01T13:00:00Z" },
    { { OF, .check = &put_off, .run = &broken }, WHY_JOB_BROKEN, "no such table" },
    { { OF, .check = &soon, .place = &place }, WHY_KEY_BUSY, "may have to wait for its turn" },
    { { OF, .check = &put_off, .place = &place }, WHY_HELD_BACK, "put off without a run" },
    { { OF, .check = &put_off, .run = &again }, WHY_HELD_BACK, "put off without a run" },
    { { OF, .check = &failing, .run = &timeout, .failures_most = 7 }, WHY_BACKING_OFF,
      "by shop-2/7 ended with: timeout: after 30s; that was failure 2 in a row, of 7 that end it, and it is "
      "tried again" },
    { { OF, .check = &failing, .run = &timeout }, WHY_BACKING_OFF, "failure 2 in a row" },
    { { OF, .check = &ahead, .run = &deferred }, WHY_DEFERRED, "could not tell yet" },
    { { OF, .check = &ahead, .run = &again }, WHY_ASKED_AGAIN,
      "wants to look again: two left; it does so 2026-03-01T13:30:00Z (in 15 min)" },
    { { OF, .over = &done }, WHY_DONE,
      "looked at 2026-03-01T13:13:59Z (61 s ago) by shop-2/7, which answered: done: shipped; nothing was "
      "raised" },
    { { OF, .over = &raised }, WHY_DONE, "it raised 3 events" },
    { { OF, .over = &unsure }, WHY_DONE, "which answered: done" },
    { { OF, .over = &cancelled }, WHY_CANCELLED, "it was cancelled by anna 2026-03-01T13:14:00Z" },
    { { OF, .over = &resolved }, WHY_RESOLVED, "it was resolved 2026-03-01T13:14:00Z" },
    { { OF, .over = &failed }, WHY_FAILED, "given up after 5 failures in a row" },
    { { OF, .over = &guarded }, WHY_GUARDED, "; if it is still wanted, enqueue it again" },
    { { OF, .over = &unknown }, WHY_GUARDED, "; prescient retry files it once more" },
};

#define LATE .event = "late", .emitted_at = NOW - 60
#define FOR_MAIL LATE, .listener = "mail"

static const struct event_row {
    struct why_event event;
    enum why_code code;
    const char *words;
} event_rows[] = {
    { { LATE, .is_readable = true }, WHY_NO_LISTENER,
      "the event late of 2026-03-01T13:14:00Z (60 s ago) is delivered to no listener by itself" },
    { { LATE }, WHY_EVENT_WITHHELD, "is withheld from readers of events" },
    { { LATE, .is_heard = true, .is_readable = true }, WHY_DELIVERY_UNKNOWN, "its delivery is not found" },
    { { FOR_MAIL, .state = "done", .ended_at = NOW, .tries = 1 }, WHY_DELIVERED,
      "for mail was delivered 2026-03-01T13:15:00Z (now), 1 attempt" },
    { { FOR_MAIL, .state = "waiting", .next_at = NOW + 5 }, WHY_DELIVERY_WAITS, "waits for its delivery" },
    { { FOR_MAIL, .state = "paused", .next_at = PAUSED }, WHY_DELIVERY_PAUSED,
      "is paused (prescient pauses)" },
    { { FOR_MAIL, .state = "retrying", .note = "503", .next_at = NOW + 90, .tries = 2 },
      WHY_DELIVERY_RETRIES, "; it is tried 2026-03-01T13:16:30Z (in 90 s), 2 attempts: 503" },
    { { FOR_MAIL, .state = "resolved", .ended_at = NOW }, WHY_DELIVERY_RESOLVED, "that was resolved" },
    { { FOR_MAIL, .state = "failed", .note = "gone", .ended_at = NOW }, WHY_DELIVERY_FAILED, "is given up" },
};

static void is_told(const struct why *why, enum why_code code, const char *words)
{
    CU_ASSERT_STRING_EQUAL(why_word(why->code), why_word(code));
    CU_ASSERT_PTR_NOT_NULL(strstr(why->sentence, words));
    if (!strstr(why->sentence, words))
        printf("# \"%s\" lacks \"%s\"\n", why->sentence, words);
}

static void the_cause_that_explains_most_is_told(void)
{
    struct arena *a = arena_new(4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct why why = why_of(a, &rows[i].facts);
        is_told(&why, rows[i].code, rows[i].words);
    }
    arena_free(a);
}

static void an_event_has_a_sentence_for_each_delivery(void)
{
    struct arena *a = arena_new(4096);
    for (size_t i = 0; i < sizeof event_rows / sizeof *event_rows; i++) {
        struct why why = why_of_event(a, NOW, NULL, &event_rows[i].event);
        is_told(&why, event_rows[i].code, event_rows[i].words);
    }
    arena_free(a);
}

/* A terminal in Berlin is told the same times in its zone, and short. */
static void who_shows_a_sentence_decides_how_times_are_told(void)
{
    struct arena *a = arena_new(4096);
    struct zone *berlin = NULL;
    CU_ASSERT_EQUAL_FATAL(zone_read("Europe/Berlin", &berlin, NULL), 0);
    const struct telling terminal = { .zone = berlin, .is_short = true }, piped = { .zone = berlin };
    struct why_facts f = { OF, .check = &ahead };
    f.telling = &terminal;
    CU_ASSERT_STRING_EQUAL(why_of(a, &f).sentence,
                           "it waits for its slot, 2026-03-01 14:30+01:00 (in 15 min)");
    f.telling = &piped;
    CU_ASSERT_STRING_EQUAL(why_of(a, &f).sentence,
                           "it waits for its slot, 2026-03-01T14:30:00+01:00 (in 15 min)");
    struct why event = why_of_event(a, NOW, &terminal, &event_rows[0].event);
    CU_ASSERT_PTR_NOT_NULL(strstr(event.sentence, "of 2026-03-01 14:14+01:00 (60 s ago) is delivered"));
    zone_free(berlin);
    arena_free(a);
}

static void each_code_is_told_of_something(void)
{
    bool told[WHY_CODE_COUNT] = { false };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        told[rows[i].code] = true;
    for (size_t i = 0; i < sizeof event_rows / sizeof *event_rows; i++)
        told[event_rows[i].code] = true;
    for (int code = 0; code < WHY_CODE_COUNT; code++) {
        CU_ASSERT_TRUE(told[code]);
        if (!told[code])
            printf("# %s is told of nothing here\n", why_word(code));
    }
}

static const struct test tests[] = {
    TEST(the_cause_that_explains_most_is_told),
    TEST(an_event_has_a_sentence_for_each_delivery),
    TEST(who_shows_a_sentence_decides_how_times_are_told),
    TEST(each_code_is_told_of_something),
    { NULL, NULL },
};

const struct suite suite_why = { .name = "why", .tests = tests };
