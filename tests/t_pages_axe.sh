#!/usr/bin/env bash
# t_pages_axe.sh - axe-core finds nothing serious in the dashboard, in Chromium: each page, over a
# store that has everything and over one that has nothing, light and dark, at 320 and 1280 pixels,
# with its tables and dialogs open; and the log-in.
# Without chromium, chromedriver, python3-selenium or axe-core, which npm fetches, it says so, and
# looks at nothing.
#
# night: it needs a browser, and takes long
# about 150 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"
. "$ROOT/tests/pages_lib.sh"

has_failed() { [ "$(q "SELECT count(*) FROM {future_job} WHERE failure_count > 0")" -ge 2 ]; }
# What a store has in the middle of a bad night, beside odd names: a delivery that failed and one
# that waits, what is tried again, what is late, what runs for long, an engine.
a_store_of_everything() {
    a_store_to_look_at
    settings 'jobs = { look = { plugin = "noop"; }; tell = { plugin = "effects"; };
        bad = { plugin = "rehearse"; max_failures = 0; settings = { failing = "100"; }; };
        tries = { plugin = "rehearse"; max_failures = 9; settings = { failing = "100"; }; };
        never = { plugin = "noop"; settings = { answer = "fail_final"; }; }; };
        listeners = ( { name = "hook"; events = [ "order.late" ]; job = "never"; },
            { name = "later"; events = [ "order.late" ]; job = "tries"; } );'
    "$P" --quiet --now -1h enqueue orders emit tell +15m >/dev/null
    "$P" --quiet --now -1h enqueue again 1 tries +15m >/dev/null
    "$P" --quiet sweep 2>sweep.err
    ok "some are tried again" wait_until 30 eval '"$P" --quiet run 2>run.err; has_failed'
    "$P" --quiet --now -3h enqueue late 1 look +15m >/dev/null
    q "INSERT INTO {run_now} (owner, number, engine, worker, entity_name, entity_key, job_exec, slot_at,
            began_at_us, seen_at_us)
       SELECT x'00', 1, 'shop-1/77', 78, 'orders', '44', 'look', slot_at, (unixepoch() - 400) * 1000000,
              (unixepoch() + 900) * 1000000 FROM {slot_pass} LIMIT 1" >/dev/null
}

on_this_store() {
    [ "$STORE_NAME" = sqlite ] || return 0
    has_browser && axe_is_here || return 0
    a_store_of_everything
    serve_at full
    looks accessible.py "$URL" --axe "$AXE"
    ends full
    a_clean_store
    settings 'jobs = { look = { plugin = "noop"; }; };'
    serve_at empty
    looks accessible.py "$URL" --axe "$AXE" --empty
    ends empty
    "$P" token new eve --role read --quiet >/dev/null
    serve_at tokens
    looks accessible.py "$URL" --axe "$AXE" --login
    ends tokens
}
on_each_store on_this_store
