#!/usr/bin/env bash
# t_pages_change.sh - the buttons of the dashboard in a browser: 1,200 are filed again, all
# that match is moved, one row is changed by keyboard alone, jobs and schedules are switched, with
# odd names in all of it. At a server that is read-only there are none. At one with tokens, the
# session of who presses them ends.
#
# night: it needs a browser, and takes long
# about 100 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"
. "$ROOT/tests/pages_lib.sh"

failing() { echo "$1 = { plugin = \"rehearse\"; max_failures = $2; settings = { failing = \"100\"; }; };"; }
has_not_arrived() {
    "$P" --quiet run 2>run.err
    [ "$(q "SELECT count(*) FROM {future_job_history} WHERE entity_name = 'prescient.event'")" = 1 ]
}
fill_in() {
    { echo entity_name,entity_key,job_exec,check_at
        seq 1 1200 | sed 's/.*/bulk,&,fails,+15m/'
        echo apart,1,fails,+15m
        printf 'again,%s,tries,+15m\n' 1 2; } >rows.csv
    "$P" --quiet --now -1h enqueue --from rows.csv >/dev/null
    "$P" sweep --quiet --now -10m 2>sweep.err
    is "some have failed" "$(q "SELECT count(*) FROM {future_job_history}")" 1201
    q "UPDATE {future_job_history} SET note = 'carrier 0x7fdeadbeef of order ' || entity_key || ' is away'
        WHERE entity_name = 'bulk'" >/dev/null
    "$P" --quiet --now -1h enqueue told 1 tells +15m >/dev/null
    "$P" --quiet sweep 2>sweep.err
    ok "a delivery has failed" wait_until 30 has_not_arrived
    is "others are tried again" "$(q "SELECT count(*) FROM {future_job} WHERE failure_count > 0")" 2
    ok "one with odd names waits" "$P" --quiet enqueue '<script>alert(1)</script>' \
        $'a"b\'c\n<img src=x onerror=alert(2)>' "o'dd \"job\"" +3h --tenant '<b>t</b>'
    ok "some come again" "$P" schedule add "stock \"of\" <script>alert(3)</script> 'x'" shop 7 look \
        --cron '30 6 * * mon-fri' --timezone Australia/Lord_Howe
}

on_this_store() {
    has_browser || return 0
    a_clean_store
    settings "listeners = ( { name = \"bad\"; events = [ \"told\" ]; job = \"never\"; } );
        jobs = { tells = { plugin = \"noop\"; settings = { answer = \"done\"; event = \"told\"; }; };
        never = { plugin = \"noop\"; settings = { answer = \"fail_final\"; }; };
        look = { plugin = \"noop\"; }; $(failing fails 0) $(failing tries 5) };"
    serve fills
    fill_in
    ends fills
    [ "$FAILED" = 0 ] || return 0
    serve_at plain
    looks buttons.py "$URL"
    ends plain
    serve_at still --read-only
    looks buttons.py "$URL" --read-only
    ends still
    serve_at guarded
    looks buttons.py "$URL" --token "$("$P" token new eve --role operate --quiet)"
    ends guarded
}
on_each_store on_this_store
