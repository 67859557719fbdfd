#!/usr/bin/env bash
# t_hanging.sh - deliveries to a command that hangs keep no slot from its end: at most a second
# later. One daemon runs slots without deliveries, then slots beside them; the least of each counts,
# since other work on the machine only makes it more. FULL=1: 1,000 checks beside 5,000 deliveries.
# about 25 s
# night: it kills, waits or judges time for minutes
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

CHECKS=300 DELIVERIES=600 ROUNDS=2
[ -z "${FULL:-}" ] || CHECKS=1000 DELIVERIES=5000 ROUNDS=3

over() { q "SELECT count(*) FROM {future_job_history} WHERE job_exec = 'look'"; }
over_at_least() { [ "$(over)" -ge "$1" ]; }
waiting() { q "SELECT count(*) FROM {future_job} WHERE entity_name = 'prescient.event'"; }
waiting_at_least() { [ "$(waiting)" -ge "$1" ]; }
# From the slot of these checks to the end of the last one of them, in ms.
took_ms() {
    case $STORE_NAME in
    sqlite) q "SELECT max(archived_at_us) / 1000 - max(first_check_at) * 1000 FROM {future_job_history}
               WHERE entity_key LIKE '$1.%'" ;;
    *) q "SELECT (extract(epoch FROM max(archived_at) - max(first_check_at)) * 1000)::bigint
          FROM {future_job_history} WHERE entity_key LIKE '$1.%'" ;;
    esac
}
# slots KIND: sets LEAST to that of the quickest of ROUNDS slots
slots() {
    local round took
    LEAST=
    for ((round = 1; round <= ROUNDS; round++)); do
        LOOKED=$((LOOKED + CHECKS))
        enqueue_in 1 $CHECKS look "'$1$round.' || n"
        wait_until 60 over_at_least $LOOKED || fail "$STORE_NAME: slot $round $1 is over" "found:    $(over)"
        took=$(took_ms "$1$round")
        echo "# $STORE_NAME: $CHECKS checks $1: over $took ms after their slot"
        [ -n "$LEAST" ] && [ "$LEAST" -le "${took:-0}" ] || LEAST=$took
    done
}
hanging() {
    local alone pid
    LOOKED=0
    a_clean_store --slot-length 2s
    settings 'workers = 2; workers_max = 2; stop_timeout = "1s";' "jobs = {
        look = { plugin = \"noop\"; settings = { answer = \"done\"; }; };
        emits = { plugin = \"noop\"; settings = { answer = \"done\"; event = \"ran\"; }; };
        hook = { plugin = \"exec\"; timeout = \"600s\"; settings = { dir = \"$PWD\";
            command = [ \"sh\", \"-c\", \"echo \$\$ >>hanging; exec sleep 600\" ]; }; }; };" \
        'listeners = ( { events = "ran"; job = "hook"; } );'
    rm -f hanging
    start daemon "$P" --quiet --log-level error daemon
    slots alone
    alone=$LEAST
    enqueue_in 1 $DELIVERIES emits "'e' || n"
    ok "$STORE_NAME: $DELIVERIES deliveries wait" wait_until 60 waiting_at_least $DELIVERIES
    ok "$STORE_NAME: for one that hangs" wait_until 20 test -s hanging
    slots beside
    in_time "$STORE_NAME: a slot beside them is over at most so much later" $((LEAST - alone)) 1000
    is "$STORE_NAME: one hung all the time, and none was delivered" "$(wc -l <hanging) $(waiting)" \
        "1 $DELIVERIES"
    pid=$(cat hanging)
    ok "$STORE_NAME: it hangs still" kill -0 "$pid"
    kill -TERM "$(pid_of daemon)"
    join_within 20 daemon
    ok "$STORE_NAME: and is gone with its engine" wait_until 5 is_over "$pid"
}
on_each_store hanging
