# openapi_lib.sh - a store in which each list of prescient serve has something, of as many kinds as
# there are: ends, runs, states of checks, pauses, schedules, events. Sourced after serve_lib.sh.

noop() { echo "$1 = { plugin = \"noop\"; settings = { answer = \"$2\"; ${3:-} }; ${4:-} };"; }
ALL_KINDS="log_level = \"error\"; workers = 2;
    listeners = ( { name = \"good\"; events = [ \"heard\", \"twice\" ]; job = \"delivers\"; },
                  { name = \"bad\"; events = [ \"twice\" ]; job = \"never\"; },
                  { name = \"slow\"; events = [ \"late\" ]; job = \"retries\"; } );
    jobs = { $(noop done done) $(noop again again) $(noop defers defer) $(noop fails fail)
        $(noop final fail_final) $(noop broken broken) $(noop once again "" "max_checks = 1;")
        $(noop unheard done 'event = "unheard";') $(noop heard done 'event = "heard";')
        $(noop twice done 'event = "twice";') $(noop late done 'event = "late";')
        $(noop delivers done) $(noop never fail_final) $(noop retries fail)
        tells = { plugin = \"tells\"; };
        crashes = { plugin = \"crashes\"; max_failures = 1; };
        rests = { plugin = \"rests\"; timeout = \"50m\"; }; };"

# ahead, past: checks whose slot comes, or has begun
ahead() { "$P" --quiet enqueue "$@" >/dev/null || fail "$STORE_NAME: enqueue $*"; }
past() { ahead "$1" "$2" "$3" +15m --now -3h "${@:4}"; }

jobs_of_our_own() {
    plugin crashes 'abort();'
    plugin tells 'host->emit(host, answer, "told", "{\"n\": [1, null, \"\\u00fc\"]}");
        prescient_done(answer);'
    plugin rests 'while (access("'"$PWD"'/rests.ends", F_OK) != 0) usleep(20000);
        prescient_done(answer);'
    sed -i "s|^plugin_dirs = (|&\"$PWD/jobs\", |" prescient.cfg
    chmod 600 prescient.cfg
}

checks_of_all_kinds() {
    local job
    for job in done again defers fails final broken once unheard heard twice late tells crashes nobody; do
        past orders "$job" "$job"
    done
    past carts $'a/%&=\n"<b>' done --tenant 'acme & co' --payload '{"n": [1, null, "ü"]}'
    past carts 'схема 𝄞' final --payload '"text"' --concurrency-key k
    past carts resolved done
    "$P" --quiet resolve carts resolved >/dev/null
    for _ in 1 2 3; do "$P" --quiet sweep 2>>sweep.err; done
    "$P" --quiet --now +2h sweep 2>>sweep.err
    ahead orders 1 again +3h --tenant acme --priority -7 --payload '{"n": 1}' --concurrency-key k
    ahead orders 2 final 2099-12-31
    "$P" --quiet pause --job defers --reason "their API is down" >/dev/null
    "$P" --quiet pause --tenant acme >/dev/null
    past orders paused defers
    past orders theirs done --tenant acme
    "$P" --quiet schedule add often shop 7 done --every 30m --payload '[7]' --tenant acme >/dev/null
    "$P" --quiet schedule add nights shop 8 again --cron '0 3 * * mon-fri' --timezone Europe/Berlin >/dev/null
    "$P" --quiet schedule off nights --why "it is closed" >/dev/null
    "$P" --quiet sweep 2>>sweep.err
    past orders late_check again
}

# What no command and no function would file, but is there: a key that is no UTF-8, a time that
# never comes; and more than a question looks at.
checks_by_hand() {
    fill 3 4102444800 final "'by hand' || n"
    if [ "$STORE_NAME" = sqlite ]; then
        q "UPDATE {future_job} SET entity_key = CAST(x'6bff' AS TEXT) 
            WHERE entity_key = 'by hand1'"
    else
        q "UPDATE {future_job} SET next_check_at = 'infinity' WHERE entity_key LIKE 'by hand%'" >/dev/null
        q "UPDATE {future_job} SET next_check_at = '20000-01-01 00:00Z'
            WHERE entity_key = 'by hand1'" >/dev/null
    fi
    fill 21000 4102444800 done
}

# A daemon has a check that rests.
a_daemon_at_work() {
    past orders rests rests
    start daemon."$STORE_NAME" "$P" daemon
}
is_seen_to_run() {
    get http://localhost/v1/status >/dev/null
    [ "$(json 'len(j["running"])' <body)" = 1 ]
}
ask_until_the_daemon_is_seen() {
    wait_until 40 is_seen_to_run || fail "$STORE_NAME: a run is seen" "$(cat daemon."$STORE_NAME".err)"
}
end_the_daemon() {
    touch rests.ends
    kill -TERM "$(pid_of daemon."$STORE_NAME")"
    join_within 30 daemon."$STORE_NAME"
    rm rests.ends
}

a_store_with_all_kinds() {
    a_clean_store
    settings "$ALL_KINDS"
    jobs_of_our_own
    checks_of_all_kinds
    checks_by_hand
    a_daemon_at_work
}
