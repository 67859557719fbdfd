/* contract_metrics.c - the store's contract: what metrics show. What is counted never falls,
 * whatever is pruned; how things are now is counted to a bound. */
#include "store_contract.h"

static const struct tally looks = { .what = "run", .name = "look", .outcome = "done", .n = 3, .took_us = 900,
                                    .late_us = 50, .took = "1,2,0", .late = "3,0,0" };

static int note(const unsigned char *who, int64_t number, const struct tally *tallies, int n)
{
    struct store_hello hello = STORE_HELLO_INIT;
    struct store_note_runs call = STORE_NOTE_RUNS_INIT;
    IS(0, fixture_call(&hello.call));
    call.owner = who;
    call.number = number;
    call.made_us = hello.now_us;
    call.tallies = tallies;
    call.ntallies = n;
    return fixture_call(&call.call);
}

/* The row of these in the report, or -1. */
static int row_of(const struct store_rows *rows, const char *what, const char *name)
{
    for (int r = 0; r < rows->rows; r++)
        if (!strcmp(cell(rows, r, "what"), what) && !strcmp(cell(rows, r, "name"), name))
            return r;
    return -1;
}

/* "none": there is no such row. */
static const char *measured(const char *what, const char *name, const char *column)
{
    struct store_rows rows = fixture_report("metrics", NULL, 0);
    int row = row_of(&rows, what, name);
    return row < 0 ? "none" : cell(&rows, row, column);
}

static int64_t n_of(const char *what, const char *name)
{
    return (int64_t)atof(measured(what, name, "n"));
}

void what_notes_have_tallied_is_added_up(void)
{
    WITH_STORE();
    struct tally more = looks;
    more.took = "0,0,7";
    more.late = "1,1,1";
    IS(0, note(owner, 1, &looks, 1));
    IS(0, note(stranger, 1, &more, 1));
    IS(6, n_of("run", "look"));
    TEXT_IS("done", measured("run", "look", "outcome"));
    TEXT_IS("1800", measured("run", "look", "took_us"));
    TEXT_IS("1,2,7", measured("run", "look", "took"));
    TEXT_IS("100", measured("run", "look", "late_us"));
    TEXT_IS("4,1,1", measured("run", "look", "late"));
}

void how_late_runs_were_together_has_an_end(void)
{
    WITH_STORE();
    struct tally late = looks;
    late.late_us = INT64_MAX - 20;
    IS(0, note(owner, 1, &late, 1));
    IS(0, note(stranger, 1, &looks, 1));
    TEXT_IS("9223372036854775807", measured("run", "look", "late_us"));
    IS(0, note(owner, 2, &looks, 1));
    TEXT_IS("9223372036854775807", measured("run", "look", "late_us"));
    IS(9, n_of("run", "look"));
}

void a_note_that_comes_again_is_tallied_once(void)
{
    WITH_STORE();
    struct tally both[] = { looks, { .what = "missed_slot", .name = "", .outcome = "", .n = 2, .took = "",
                                     .late = "" } };
    IS(0, note(owner, 1, both, 2));
    IS(0, note(owner, 1, both, 2));
    IS(3, n_of("run", "look"));
    IS(2, n_of("missed_slot", ""));
    TEXT_IS("", measured("missed_slot", "", "took"));
    IS(0, note(owner, 2, &both[1], 1));
    IS(4, n_of("missed_slot", ""));
}

static void prune(enum prune_part part)
{
    struct store_prune call = STORE_PRUNE_INIT;
    call.part = part;
    call.before = FUTURE;
    IS(0, fixture_call(&call.call));
}

void what_was_tallied_outlives_every_prune(void)
{
    WITH_STORE();
    IS(0, note(owner, 1, &looks, 1));
    fixture_make_old(100);
    for (int part = 0; part < PRUNE_PARTS; part++)
        prune((enum prune_part)part);
    IS(0, note(stranger, 1, &looks, 1));
    IS(6, n_of("run", "look"));
}

void tallies_come_in_the_order_in_which_they_came_up(void)
{
    WITH_STORE();
    struct tally late = looks, early = looks;
    late.name = "a late one";
    early.name = "early";
    IS(0, note(owner, 1, &early, 1));
    IS(0, note(owner, 2, &late, 1));
    IS(0, note(owner, 3, &early, 1));
    struct store_rows rows = fixture_report("metrics", NULL, 0);
    CU_ASSERT(row_of(&rows, "run", "early") < row_of(&rows, "run", "a late one"));
}

void metrics_count_what_waits_by_its_state(void)
{
    WITH_STORE();
    IS(0, n_of("checks_waiting", "NULL"));
    TEXT_IS("none", measured("checks_overdue", "look", "n"));
    IS(0, n_of("backlog_age_seconds", "NULL"));
    put_in_slot(3);
    put("4", FUTURE, "keep", NOW);
    IS(4, n_of("checks_waiting", "NULL"));
    IS(3, n_of("checks_overdue", "look"));
    IS(0, n_of("checks_paused", "NULL"));
    CU_ASSERT(n_of("backlog_age_seconds", "NULL") > 900);
    IS(900, n_of("slot_length_seconds", "NULL"));
}

void metrics_count_leases_and_date_the_last_pass(void)
{
    WITH_STORE();
    TEXT_IS("NULL", measured("last_pass_timestamp_seconds", "NULL", "n"));
    IS(0, n_of("leases", "held"));
    put_in_slot(1);
    struct lease lease = take();
    IS(1, n_of("leases", "held"));
    IS(0, n_of("leases", "expired"));
    CU_ASSERT(n_of("last_pass_timestamp_seconds", "NULL") > NOW);
    CU_ASSERT(n_of("store_bytes", fixture_is_sqlite() ? "all" : "future_job") > 0);
    (void)lease;
}
