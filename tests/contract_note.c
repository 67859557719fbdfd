/* contract_note.c - the store's contract: engines note their listeners. */
#include <string.h>

#include "store_contract.h"

#define DAY_S 86400

/* How many old ones went; or an ERR_. */
static int64_t note_jobs(const char *engine, const char *listeners, const char *jobs, int64_t counts_s)
{
    struct store_note_listeners n = STORE_NOTE_LISTENERS_INIT;
    n.engine = engine;
    n.command = "daemon";
    n.file = "/etc/prescient.cfg";
    n.listeners = listeners;
    n.jobs = jobs;
    n.counts_s = counts_s;
    int rc = fixture_call(&n.call);
    return rc < 0 ? rc : n.dropped;
}

static int64_t note(const char *engine, const char *listeners, int64_t counts_s)
{
    return note_jobs(engine, listeners, "", counts_s);
}

void what_an_engine_notes_takes_the_place_of_what_it_had_noted(void)
{
    WITH_STORE();
    IS(0, rows_in("engines_seen"));
    IS(0, note("shop1", "hook 1 job tell: *\n", 60));
    IS(0, note("shop2", "", 60));
    IS(0, note("shop1", "hook 2 job tell: order.*\n", 60));
    struct store_rows rows = fixture_report("engines_seen", NULL, 0);
    IS(2, rows.rows);
    TEXT_IS("shop1", cell(&rows, 0, "engine"));     /* the newest comes first */
    TEXT_IS("daemon", cell(&rows, 0, "command"));
    TEXT_IS("/etc/prescient.cfg", cell(&rows, 0, "file"));
    TEXT_IS("hook 2 job tell: order.*\n", cell(&rows, 0, "listeners"));
    TEXT_IS("shop2", cell(&rows, 1, "engine"));
    TEXT_IS("", cell(&rows, 1, "listeners"));
}

void an_engine_says_what_it_is_and_serves(void)
{
    WITH_STORE();
    struct store_note_listeners n = STORE_NOTE_LISTENERS_INIT;
    n.engine = "shop1";
    n.command = "daemon";
    n.file = "a.cfg";
    n.listeners = "";
    n.jobs = "pay\nremind\n";
    n.counts_s = 60;
    IS(0, fixture_call(&n.call));
    struct store_rows rows = fixture_report("engines", NULL, 0);
    TEXT_IS("NULL", cell(&rows, 0, "last_slot_at"));
    TEXT_IS("NULL", cell(&rows, 0, "last_pass_at"));
    TEXT_IS("NULL", cell(&rows, 0, "started_at"));
    n.version = "1.2.3";
    n.host = "shop1.example.org";
    n.pid = 42;
    n.started_us = 1700000000000001;
    n.serves = "0, 30";
    n.last_slot = 1700000100;
    n.last_pass_us = 1700000101999999;
    IS(0, fixture_call(&n.call));
    rows = fixture_report("engines", NULL, 0);
    IS(1, rows.rows);
    TEXT_IS("1.2.3", cell(&rows, 0, "version"));
    TEXT_IS("shop1.example.org", cell(&rows, 0, "host"));
    TEXT_IS("42", cell(&rows, 0, "pid"));
    TEXT_IS("1700000000", cell(&rows, 0, "started_at"));
    TEXT_IS("0, 30", cell(&rows, 0, "serves"));
    TEXT_IS("pay, remind", cell(&rows, 0, "jobs"));
    TEXT_IS("1700000100", cell(&rows, 0, "last_slot_at"));
    TEXT_IS("1700000101", cell(&rows, 0, "last_pass_at"));
    n.last_slot = n.last_pass_us = 0;           /* it has just read its settings again */
    n.serves = "";
    IS(0, fixture_call(&n.call));
    rows = fixture_report("engines", NULL, 0);
    TEXT_IS("", cell(&rows, 0, "serves"));
    TEXT_IS("1700000100", cell(&rows, 0, "last_slot_at"));
    TEXT_IS("1700000101", cell(&rows, 0, "last_pass_at"));
}

void a_note_counts_for_its_time(void)
{
    WITH_STORE();
    IS(0, note("gone", "", -1));
    IS(0, rows_in("engines_seen"));
    IS(0, note("shop1", "", 60));
    IS(1, rows_in("engines_seen"));
    IS(0, note("gone", "", 60));                    /* it is there again */
    IS(2, rows_in("engines_seen"));
}

/* Another engine has another name or other settings, whatever the command. */
void other_engines_are_counted_while_their_notes_count(void)
{
    WITH_STORE();
    struct store_note_listeners n = STORE_NOTE_LISTENERS_INIT;
    n.engine = "shop1";
    n.command = "run";
    n.file = "/etc/prescient.cfg";
    n.listeners = "";
    n.counts_s = 60;
    IS(0, fixture_call(&n.call));
    IS(0, n.others);
    IS(0, note("shop1", "", 60));
    IS(0, note("gone", "", -1));
    IS(0, fixture_call(&n.call));
    IS(0, n.others);
    IS(0, note("shop2", "", 60));
    IS(0, fixture_call(&n.call));
    IS(1, n.others);
    n.file = "/etc/other.cfg";
    IS(0, fixture_call(&n.call));
    IS(2 + 1, n.others);                            /* shop1 with the first file has two notes */
}

void a_note_that_has_counted_for_nothing_for_a_day_is_dropped(void)
{
    WITH_STORE();
    IS(0, note("young", "", 60 - DAY_S));
    IS(0, note("old", "", -DAY_S - 60));
    IS(1, note("older", "", -2 * DAY_S));
    IS(0, note("older", "", 60));                   /* its own is there again */
    IS(1, rows_in("engines_seen"));
    IS(0, note("old", "", -DAY_S - 60));
    IS(1, note("oldest", "", -3 * DAY_S));
    IS(1, note("shop1", "", 60));
    IS(2, rows_in("engines_seen"));
}

void a_note_without_listeners_is_refused(void)
{
    WITH_STORE();
    CU_ASSERT(note("shop1", NULL, 60) < 0);
    CU_ASSERT(note(NULL, "", 60) < 0);
    IS(0, rows_in("engines_seen"));
}

/* While all engines are down, their jobs are known all the same. */
void jobs_that_engines_have_noted_are_known_for_as_long_as_the_notes_are_there(void)
{
    WITH_STORE();
    IS(0, note("shop0", "", 60));
    IS(0, rows_in("jobs_noted"));
    IS(0, note_jobs("shop1", "", "remind\nlook\n", 60));
    IS(0, note_jobs("shop2", "", "look\n", -60));
    IS(2, rows_in("jobs_noted"));
    IS(0, note_jobs("shop1", "", "remind\n", 60));
    IS(2, rows_in("jobs_noted"));
    IS(0, note_jobs("shop3", "", NULL, 60));        /* it has more than can be noted */
    struct store_rows rows = fixture_report("jobs_noted", NULL, 0);
    IS(3, rows.rows);
    int many = 0;
    for (int i = 0; i < rows.rows; i++)
        many += !strcmp(cell(&rows, i, "job"), "NULL");
    IS(1, many);
}
