/* contract_event.c - the store's contract: events are read from a cursor on, and backwards. */
#include <stdio.h>
#include <string.h>

#include "store_contract.h"

static void emit(struct scene *scene, const char *event)
{
    const struct effect effect = { .kind = EFFECT_EMIT, .event = event };
    scene->answers[0].effects = &effect;
    scene->answers[0].neffects = 1;
    IS(0, settle(scene).call.rc);
    scene->answers[0].neffects = 0;
}

static struct store_rows events_by(const char *report, const char *cursor, const char *limit)
{
    char generation[24], xid[24], id[24];
    CU_ASSERT_EQUAL_FATAL(sscanf(cursor, "%23[0-9]-%23[0-9]-%23[0-9]", generation, xid, id), 3);
    return REPORT(report, generation, xid, id, limit);
}

static struct store_rows events_after(const char *cursor, const char *limit)
{
    return events_by("events", cursor, limit);
}

static struct store_rows events_before(const char *cursor, const char *limit)
{
    return events_by("events_back", cursor, limit);
}

void events_are_read_from_a_cursor_on(void)
{
    WITH_STORE();
    struct store_rows end = fixture_report("events_end", NULL, 0);
    TEXT_IS("0-0-0", cell(&end, 0, "cursor"));
    struct scene scene = scene_of(3);
    scene.n = 1;
    emit(&scene, "one");
    struct store_rows first = events_after("0-0-0", NULL);
    CU_ASSERT_EQUAL_FATAL(first.rows, 1);
    const char *cursor = cell(&first, 0, "cursor");
    scene.answers[0] = scene.answers[1];
    emit(&scene, "two");
    scene.answers[0] = scene.answers[2];
    emit(&scene, "three");
    struct store_rows rest = events_after(cursor, NULL);
    CU_ASSERT_EQUAL_FATAL(rest.rows, 2);
    TEXT_IS("two", cell(&rest, 0, "event"));
    TEXT_IS("three", cell(&rest, 1, "event"));
    IS(1, events_after("0-0-0", "1").rows);
    end = fixture_report("events_end", NULL, 0);
    TEXT_IS(cell(&rest, 1, "cursor"), cell(&end, 0, "cursor"));
    IS(0, events_after(cell(&end, 0, "cursor"), NULL).rows);
    scene_end(&scene);
}

void events_are_read_backwards_from_the_newest_on(void)
{
    WITH_STORE();
    IS(0, REPORT("events_back", NULL, NULL, NULL, "10").rows);
    struct scene scene = scene_of(3);
    scene.n = 1;
    static const char *const names[] = { "one", "two", "three" };
    for (int i = 0; i < 3; i++) {
        scene.answers[0] = scene.answers[i];
        emit(&scene, names[i]);
    }
    struct store_rows newest = REPORT("events_back", NULL, NULL, NULL, "2");
    CU_ASSERT_EQUAL_FATAL(newest.rows, 2);
    TEXT_IS("three", cell(&newest, 0, "event"));
    TEXT_IS("two", cell(&newest, 1, "event"));
    struct store_rows rest = events_before(cell(&newest, 1, "cursor"), "10");
    CU_ASSERT_EQUAL_FATAL(rest.rows, 1);
    TEXT_IS("one", cell(&rest, 0, "event"));
    IS(0, events_before(cell(&rest, 0, "cursor"), "10").rows);
    scene_end(&scene);
}

/* A file or a database that was put back to an older state: what comes next would lie before the
 * cursor, and never be shown. */
void a_cursor_ahead_of_everything_is_refused(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    emit(&scene, "one");
    IS(1, events_after("0-0-0", NULL).rows);
    IS(-1, events_after("0-99999999999-99999999999", NULL).rows);
    IS(ERR_INPUT, fixture_err.code);
    CU_ASSERT(strstr(fixture_err.text, "is ahead of everything that this") &&
              strstr(fixture_err.text, "`prescient events`"));
    IS(-1, events_after("99999999999-0-0", NULL).rows);
    IS(ERR_INPUT, fixture_err.code);
    scene_end(&scene);
}
