#!/usr/bin/env bash
# cli_notify.sh - the setting `notify`: engines tell that there are events, once a second at most,
# and a consumer that looks every quarter of an hour hears it.
# about 30 s
# night: it waits for seconds
. "$(dirname "${BASH_SOURCE[0]}")/deliver_lib.sh"

SLOT=1700000100
LOOK='look = { plugin = "journal"; settings = { file = "/dev/null"; event = "ran"; pause_us = 0; }; };'

# Each page that comes is a line: how long its first event has waited, in ms, and its keys.
takes_with_time() {
    cat >take.py <<'PY'
import json, sys, time
events = [json.loads(line) for line in sys.stdin]
open("waited", "a").write("%d %s\n" % (time.time() * 1000, ",".join(e["entity_key"] for e in events)))
PY
    : >waited
}
has_taken() { grep -qE "[ ,]$1(,|\$)" waited; }
# The time from when the event of that key was written until it was handed over.
waited_ms() {
    local taken; taken=$(grep -E "[ ,]$1(,|\$)" waited | head -1 | cut -d' ' -f1)
    echo $((taken - $(q "SELECT (extract(epoch FROM recorded_at) * 1000)::bigint FROM {event}
                         WHERE entity_key = '$1'")))
}
emits_one() {
    fill 1 $SLOT look "'$1'"
    "$P" --quiet run >run.out 2>&1 || fail "a run ends well" "$(cat run.out)"
}
sessions_that_listen() {
    q "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()"
}
one_listens() { [ "$(sessions_that_listen)" = 1 ]; }

refused_names() {
    local name
    for name in 'Events' 'a b' 'a;b' '"x"' '1st' "$(printf 'x%.0s' {1..64})"; do
        settings "notify = \"${name//\"/\\\"}\";"
        fails_with 78 "notify" "$P" config --check
    done
    settings 'notify = "prescient_event";'
    ok "one name is fine" "$P" config --check
}

hearing() {
    a_clean_store
    takes_with_time
    settings 'notify = "prescient_event";' "jobs = { $LOOK };"
    start one "$P" events --deliver mail --every 15m -- python3 take.py
    if [ "$STORE_NAME" = sqlite ]; then
        wait_until 10 grep -q "has no effect" one.err || fail "sqlite: it is said" "$(cat one.err)"
        has "sqlite: that nobody is told is said" "$(cat one.err)" \
            "\`notify\` has no effect here: SQLite tells nobody"
        kill -TERM "$(pid_of one)"; join_within 10 one
        return
    fi
    wait_until 20 one_listens || fail "a consumer that stays listens"
    emits_one a
    ok "an event is heard" wait_until 20 has_taken a
    at_most "ms until it was handed over" "$(waited_ms a)" 2000
    emits_one b
    ok "and the next one" wait_until 20 has_taken b
    at_most "ms until it was handed over" "$(waited_ms b)" 2000

    # told before it can be read, as an older transaction writes
    coproc { psql -qXAt "$PRESCIENT_STORE"; }
    echo "BEGIN; CREATE TABLE public.older (); SELECT 1;" >&"${COPROC[1]}"
    local _; read -r _ <&"${COPROC[0]}"
    emits_one c
    sleep 1.5
    is "an event behind a transaction is not handed over" "$(grep -c c waited)" 0
    echo "ROLLBACK; SELECT 1;" >&"${COPROC[1]}"; read -r _ <&"${COPROC[0]}"
    eval "exec ${COPROC[1]}>&-"
    ok "and is looked for again, soon after it" wait_until 15 has_taken c

    # the line is lost
    q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'
       AND datname = current_database()" >/dev/null
    wait_until 20 one_listens || fail "it listens again"
    emits_one d
    ok "an event is heard after the line was lost" wait_until 20 has_taken d
    at_most "ms until it was handed over" "$(waited_ms d)" 2000
    kill -TERM "$(pid_of one)"; join_within 10 one
    is "it ends well" "$CODE" 0
    is "and has said only that it is new" "$(grep -vc "the consumer 'mail' is new" one.err)" 0
}

# Who tells too often, such as an application on the same channel, costs a few looks a second.
flooded() {
    [ "$STORE_NAME" = postgresql ] || return 0
    a_clean_store
    settings 'notify = "prescient_event";'
    start one "$P" events --deliver mail --every 15m -- true
    wait_until 20 one_listens || fail "a consumer that stays listens"
    local before after
    before=$(q "SELECT token FROM {cursor}")
    # until a second of the server's clock is over, each in a transaction of its own
    q "CREATE PROCEDURE public.flood() LANGUAGE plpgsql AS \$\$
       DECLARE until timestamptz := clock_timestamp() + interval '2 seconds';
       BEGIN
           WHILE clock_timestamp() < until LOOP PERFORM pg_notify('prescient_event', ''); COMMIT; END LOOP;
       END \$\$"
    q "CALL public.flood()"
    after=$(q "SELECT token FROM {cursor}")
    at_least "looks in two seconds of messages" $((after - before)) 2
    at_most "looks in two seconds of messages" $((after - before)) 13
    kill -TERM "$(pid_of one)"; join_within 10 one
}

# One worker, a check of which takes 10 ms: 600 take six seconds or more.
rate() {
    [ "$STORE_NAME" = postgresql ] || return 0
    a_clean_store
    settings 'notify = "prescient_event"; workers = 1; settle_after = "50ms";' \
        "jobs = { ${LOOK/pause_us = 0/pause_us = 10000} };"
    fill 600 $SLOT look
    coproc { psql -qXAt "$PRESCIENT_STORE" 2>&1; }
    echo "LISTEN prescient_event; SELECT 1;" >&"${COPROC[1]}"
    local line told=0 from until
    read -r line <&"${COPROC[0]}"
    from=$(now_ms)
    "$P" --quiet run >run.out 2>&1 || fail "a run ends well" "$(cat run.out)"
    until=$(now_ms)
    echo "SELECT 'end';" >&"${COPROC[1]}"
    # psql prints what it has heard after the result
    echo "SELECT 'end';" >&"${COPROC[1]}"
    local ends=0
    while [ $ends -lt 2 ] && read -r line <&"${COPROC[0]}"; do
        case $line in *'"prescient_event"'*) told=$((told + 1)) ;; end) ends=$((ends + 1)) ;; esac
    done
    eval "exec ${COPROC[1]}>&-"
    local transactions
    transactions=$(q "SELECT count(DISTINCT xid) FROM {event}")
    echo "# told $told times in $((until - from)) ms, by $transactions settles"
    at_least "settles with events" "$transactions" 20
    at_least "times that it was told" $told 4
    at_most "times that it was told" $told $(((until - from) / 1000 + 2))
}

refused_names
on_each_store hearing
on_each_store flooded
on_each_store rate
