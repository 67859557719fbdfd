/* contract_spread.c - the store's contract: an engine counts the checks of the next slots. */
#include "store_contract.h"

static int64_t note(void)
{
    struct store_note_loads n = STORE_NOTE_LOADS_INIT;
    int rc = fixture_call(&n.call);
    return rc < 0 ? rc : n.slots;
}

void nobody_counts_before_somebody_draws(void)
{
    WITH_STORE();
    put("1", 1, "keep", 0);
    IS(-1, note());
    IS(0, rows_in("slot_loads"));
}

void checks_of_the_next_slots_are_counted_once_a_minute(void)
{
    WITH_STORE();
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    int64_t slot = (hello.now_us / 1000000 / LENGTH + 3) * LENGTH;
    put("1", slot, "keep", 0);
    put("2", slot, "keep", 0);
    put("3", slot + 900 * LENGTH, "keep", 0);
    put("4", slot + 1001 * LENGTH, "keep", 0);          /* too far away to be counted */
    fixture_report("ask_loads", NULL, 0);
    IS(2, note());
    put("5", slot, "keep", 0);
    int64_t again = note(), noted_at = hello.now_us;
    IS(0, fixture_call(&hello.call));
    if (hello.now_us - noted_at > 40 * INT64_C(1000000) || hello.now_us < noted_at)
        return;                         /* the machine stood still, so it was due again */
    IS(-1, again);
    struct store_rows rows = fixture_report("slot_loads", NULL, 0);
    IS(2, rows.rows);
    TEXT_IS(text_of(slot), cell(&rows, 0, "slot_at"));
    TEXT_IS("2", cell(&rows, 0, "checks"));
    TEXT_IS(text_of(slot + 900 * LENGTH), cell(&rows, 1, "slot_at"));
    TEXT_IS("1", cell(&rows, 1, "checks"));
}
