#!/usr/bin/env bash
# storm.sh - F99: the storm: 200,000 checks while engines, workers, connections and the server itself are killed, stopped, ended and restarted by the seed
# PASS: the common checks, on PostgreSQL (three engines, a server of its own) and on SQLite (two engines; checks come in by SQL and by the command line).
# STORM_S is how long each of the two lasts (1800); with less there are fewer checks, 111 a second. STORES picks one of them; SEED repeats one.
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/chaos.sh"

STORM_S=${STORM_S:-1800}
CHECKS=$((STORM_S * 1000 / 9))      # 200,000 in half an hour
LIMITS='batch = 1; timeout = "1500ms"; max_failures = 6;'
SETTINGS='workers = 2; split_at = 50; hold_back_after = 1000000;'

begin_storm() {
    local n
    CHAOS_NEXT=0 CHAOS_DONE=() ASLEEP=() CHAOS_ARGS=(daemon)
    WITNESS=$LIMITS a_case storm "$SETTINGS"
    for ((n = 0; n < $1; n++)); do chaos_engine; done
}
end_storm() {
    LIVE_S=120 EPSILON_MS=8000 verdict F99
    at_least "$CASE_NAME: checks that ran again" "$RERUNS" 1
    echo "# $CASE_NAME: the seed was $SEED; again: make storm SECONDS=$STORM_S SEED=$SEED STORES=$STORE_NAME"
}

storm_on_postgresql() {
    begin_storm 3
    write_checks w --patient --checks "$CHECKS" --batch 37 --over "$STORM_S" --mix rough --most-ms 30
    chaos "$STORM_S" 100 2500 "$CHAOS_PROCESSES $CHAOS_STORE"
    written w
    end_storm
}

storm_on_sqlite() {
    begin_storm 2
    write_checks sql --patient --checks $((CHECKS / 2)) --batch 37 --over "$STORM_S" --mix rough --most-ms 10
    write_checks cli --patient --checks $((CHECKS / 2)) --batch 61 --over "$STORM_S" --mix rough --most-ms 10 --by cli
    chaos "$STORM_S" 100 2500 "$CHAOS_PROCESSES"
    written sql
    written cli
    end_storm
}

! wants_a_server >/dev/null || on_a_server storm_on_postgresql fsync=off
STORES=${STORES:-sqlite} on_stores sqlite storm_on_sqlite
