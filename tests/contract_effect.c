/* contract_effect.c - the store's contract: the effects of an answer happen once, with it or not at
 * all. */
#include "store_contract.h"

static struct store_settle settle_with(struct scene *scene, const struct effect *effects, int n)
{
    scene->answers[0].effects = effects;
    scene->answers[0].neffects = n;
    return settle(scene);
}

void effects_happen_once_with_their_answer(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put_any("orders", "gone", "look", NULL, "keep", SLOT + LENGTH, NOW);
    put_any("orders", "half", "look", NULL, "keep", SLOT + LENGTH, NOW);
    put_any("orders", "half", "bill", NULL, "keep", SLOT + LENGTH, NOW);
    const struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "late", .json = "{\"days\": 3}" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = SLOT + 2 * LENGTH,
          .conflict = "keep",
          .json = "[1]" },
        { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "gone" },
        { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "half", .job = "bill" },
        { .kind = EFFECT_EMIT, .event = "late too" },
    };
    for (int round = 0; round < 2; round++) {
        struct store_settle s = settle_with(&scene, effects, 5);
        IS(0, s.call.rc);
        IS(round == 0, s.touched);
        struct store_rows events = REPORT("events", "0", "0", "0", NULL);
        CU_ASSERT_EQUAL_FATAL(events.rows, 2);
        TEXT_IS("late", cell(&events, 0, "event"));
        TEXT_IS("{\"days\": 3}", cell(&events, 0, "data"));
        TEXT_IS("orders", cell(&events, 0, "entity_name"));
        TEXT_IS("1", cell(&events, 0, "entity_key"));
        TEXT_IS("look", cell(&events, 0, "job_exec"));
        IS(SLOT, atoll(cell(&events, 0, "slot_at")));
        IS(NOW * 1000000, atoll(cell(&events, 0, "emitted_at_us")));
        TEXT_IS("late too", cell(&events, 1, "event"));
        TEXT_IS("NULL", cell(&events, 1, "data"));
        IS(SLOT + 2 * LENGTH, number("list", "next", "next_check_at"));
        TEXT_IS("[1]", value("list", "next", "payload"));
        TEXT_IS("none", value("list", "gone", "job_exec"));
        TEXT_IS("look", value("list", "half", "job_exec"));
    }
    TEXT_IS("resolved", value("history", "gone", "outcome"));
    scene_end(&scene);
}

void effects_of_a_row_not_touched_do_not_happen(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    TEXT_IS("1", resolve("1"));
    const struct effect effect = { .kind = EFFECT_EMIT, .event = "late" };
    scene.answers[1].effects = &effect;
    scene.answers[1].neffects = 1;
    struct store_settle s = settle_with(&scene, &effect, 1);
    IS(1, s.touched);
    struct store_rows events = REPORT("events", "0", "0", "0", NULL);
    CU_ASSERT_EQUAL_FATAL(events.rows, 1);
    TEXT_IS("2", cell(&events, 0, "entity_key"));
    scene_end(&scene);
}

void its_own_resolve_beats_an_again(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    const struct effect effect = { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "1" };
    IS(1, settle_with(&scene, &effect, 1).touched);
    IS(0, rows_in("list"));
    TEXT_IS("resolved", value("history", "1", "outcome"));
    scene_end(&scene);
}

void an_effect_may_ask_for_the_same_check_again(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct effect effect = { .kind = EFFECT_ENQUEUE,
                                   .entity_name = "orders",
                                   .entity_key = "1",
                                   .job = "look",
                                   .at = SLOT + 4 * LENGTH,
                                   .conflict = "keep" };
    IS(1, settle_with(&scene, &effect, 1).touched);
    TEXT_IS("done", value("history", "1", "outcome"));
    IS(SLOT + 4 * LENGTH, number("list", "1", "next_check_at"));
    scene_end(&scene);
}

void an_effect_is_not_put_into_a_slot_that_has_begun(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct effect effect = { .kind = EFFECT_ENQUEUE,
                                   .entity_name = "orders",
                                   .entity_key = "next",
                                   .job = "look",
                                   .at = SLOT,
                                   .conflict = "keep" };
    IS(1, settle_with(&scene, &effect, 1).touched);
    IS(SLOT + LENGTH, number("list", "next", "next_check_at"));
    scene_end(&scene);
}

void an_effect_that_the_database_refuses_undoes_the_settle(void)
{
    WITH_STORE();
    static const struct effect bad[] = {
        { .kind = EFFECT_EMIT, .event = "late", .json = "{" },
        { .kind = EFFECT_EMIT, .event = "late", .json = "\"\xff\"" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = SLOT + LENGTH,
          .conflict = "keep",
          .json = "nope" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "",
          .job = "look",
          .at = SLOT + LENGTH,
          .conflict = "keep" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = -1,
          .conflict = "keep" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = SLOT,
          .conflict = "sometimes" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = INT64_C(253402300799),
          .conflict = "keep" },
    };
    struct scene scene = scene_of(3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct store_settle s = settle_with(&scene, &bad[i], 1);
        IS(ERR_DATA, s.call.rc);
        IS(0, s.touched);
        CU_ASSERT(s.call.err.text[0] != '\0');
        IS(3, rows_in("list"));
        IS(0, rows_in("history") + rows_in("events"));
    }
    IS(3, settle_with(&scene, NULL, 0).touched);
    scene_end(&scene);
}
