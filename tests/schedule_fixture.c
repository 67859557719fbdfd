/* schedule_fixture.c - the schedule "nightly" of the store's contract, and the check of it. */
#include "schedule_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *schedule_put(const char *mode, const char *key, const char *every, const char *cron,
                         int64_t now)
{
    struct store_rows rows = REPORT("schedule_put", mode, "nightly", "orders", key, "look", every, NULL, cron,
                                    NULL, NULL, NULL, text_of(now));
    return filed_as(&rows);
}

const char *of_schedule(const char *column)
{
    struct store_rows rows = REPORT("schedule", "nightly");
    return rows.rows == 1 ? cell(&rows, 0, column) : "none";
}

const char *schedule_truth(const char *word)
{
    if (!strcmp(word, "t") || !strcmp(word, "1"))
        return "yes";
    return !strcmp(word, "f") || !strcmp(word, "0") ? "no" : word;
}

const char *switch_to(bool on, int64_t now)
{
    struct store_rows rows = REPORT("schedule_switch", "nightly", on ? "true" : "false", "holidays",
                                    text_of(now));
    return rows.rows == 1 ? schedule_truth(cell(&rows, 0, "is_changed")) : "failed";
}

struct scene scene_in(int64_t slot)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    o.again = true;
    IS(0, fixture_call(&o.call));
    struct scene scene = { .n = 1 };
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    scene.lease = o.taken[0];
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    scene.answers[0].check = &scene.page.checks[0];
    answer_done(&scene.answers[0]);
    return scene;
}

int settle_at(struct scene *scene, int64_t now)
{
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene->lease;
    s.now = now;
    s.settlements = scene->answers;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    return s.touched;
}

void answer_renewed(struct settlement *answer, int64_t nominal)
{
    answer_done(answer);
    answer->ends = false;
    answer->renews = true;
    answer->next_at = answer->first_at = nominal;
}

void occurrence_is_over(int64_t next)
{
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], next);
    IS(1, settle_at(&scene, NOW));
    CU_ASSERT_TRUE(finish(&scene.lease));
    scene_end(&scene);
}

void schedule_rule_is(int line, const char *expected, int64_t from)
{
    char terms[256];
    snprintf(terms, sizeof terms, "%s from %" PRId64, expected, from);
    fixture_text_is(line, of_schedule("terms"), terms);
}

void schedule_rule_seeks(int line, const char *expected, int64_t slot, int64_t from)
{
    char terms[256];
    snprintf(terms, sizeof terms, "%s sought %" PRId64 " from %" PRId64, expected, slot, from);
    fixture_text_is(line, of_schedule("terms"), terms);
}
