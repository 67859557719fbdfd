#!/usr/bin/env bash
# f49_locked_at_begin.sh - F49: a lock of seconds on the store when a slot begins: an application
#     writes to the SQLite file, an opening row is not committed
# PASS: the slot runs within a second and a half of the lock's end, long before the next one begins,
# by a daemon and by a `run`; nothing is reported as done that is not.
# quick
. "$(dirname "$0")/lib.sh"

LENGTH_S=10

# next_slot SECONDS: the first slot that begins at least so far from now
next_slot() { echo $((($(date +%s) + $1 + LENGTH_S) / LENGTH_S * LENGTH_S)); }
is_time() { [ "$(now_us)" -ge "$1" ]; }

# hold SLOT SECONDS: what the opening of the slot needs is locked from two seconds before it begins
# until so long after; the files `held` and `free` record when. The holder of the lock takes the
# moment in `free` just before it releases it, because its end, which is waited for, may take long.
hold() {
    if [ "$STORE_NAME" = sqlite ]; then
        python3 -c '
import sqlite3, sys, time
path, until = sys.argv[1], float(sys.argv[2])
db = sqlite3.connect(path, isolation_level=None, timeout=20)
db.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER)")
db.execute("BEGIN IMMEDIATE")
db.execute("INSERT INTO orders VALUES (1)")
open("held", "w").close()
time.sleep(max(0, until - time.time()))
open("free.new", "w").write(str(int(time.time() * 1000000)))
db.execute("COMMIT")' "${PRESCIENT_STORE#sqlite:}" "$(($1 + $2))" || return 1
    else
        psql -qX -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" >/dev/null -c "BEGIN" \
            -c "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, engine)
                VALUES (to_timestamp($1), -1, 0, 1, 'elsewhere')" \
            -c '\! touch held' \
            -c "SELECT pg_sleep(extract(epoch FROM to_timestamp($1 + $2) - clock_timestamp()))" \
            -c '\! date +%s%6N >free.new' -c "ROLLBACK" || return 1
    fi
    mv free.new free
}

# The end of a case, whose ten or three checks are in no plan.
case_over() {
    ok "$CASE_NAME: all work is done" wait_until 20 drained
    stop_engines
    is "$CASE_NAME: nothing has run twice" "$(cut -f6 journal | sort | uniq -d)" ""
    is "$CASE_NAME: what has run is archived" "$(archived)" "$(runs)"
    RUNS=$(runs) RERUNS=0
    record F49 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
    cd "$TMP" || exit 2
}

# locked WAY LOCK_S: ten checks of a slot that is locked when it begins
locked() {
    local slot lock_s=$2 began free
    SLOT_LENGTH=${LENGTH_S}s WITNESS='batch = 1;' a_case "$1" 'workers = 1;'
    slot=$(next_slot 5)
    fill 10 "$slot" witness
    [ "$1" = run ] || engine e0
    wait_until 20 is_time $((slot * 1000000 - 2500000))
    fault_begins locked store
    hold "$slot" "$lock_s" & HELPERS[holder]=$!
    ok "$CASE_NAME: somebody has the lock before the slot begins" wait_until 5 test -e held
    if [ "$1" = run ]; then
        wait_until 5 is_time $((slot * 1000000 + 100000))
        engine e0 run
    fi
    ok "$CASE_NAME: the lock is free again" wait_until 20 test -e free
    fault_ends locked store
    wait "${HELPERS[holder]}"; unset "HELPERS[holder]"
    LONGEST_MS=0
    ok "$CASE_NAME: all ten checks run" wait_until $((LENGTH_S * 3)) runs_at_least 10
    free=$(cat free) began=$(head -1 journal | cut -f1)
    LONGEST_MS=$(((began - slot * 1000000) / 1000))
    at_least "$CASE_NAME: none before the lock was free (ms)" $(((began - free) / 1000)) 0
    at_most "$CASE_NAME: the first one after it was free (ms)" $(((began - free) / 1000)) 1500
    is "$CASE_NAME: the lock is told, once" "$(grep -c 'cannot be opened yet' e0.err)" 1
    if [ "$1" = run ]; then
        engine_over e0
        is "$CASE_NAME: the command ends well" "$CODE" 0
        has "$CASE_NAME: and says what it did" "$(cat e0.out)" 'checks: 10 run, '
    fi
    case_over
}
by_a_daemon() { locked daemon "$LOCK_S"; }
by_a_run() { locked run "$LOCK_S"; }

# hour_lasts SECONDS
hour_lasts() { [ $((3600 - $(date +%s) % 3600)) -ge "$1" ]; }

# What stays locked for longer than a command waits is not reported as done. The slot is the current
# one until the end: for one that is late by then, the sweep of the same command waits once more.
for_too_long() {
    local slot code
    LONGEST_MS=0
    wait_until 110 hour_lasts 100
    SLOT_LENGTH=1h a_case long 'workers = 1;'
    fill 3 $(($(date +%s) / 3600 * 3600)) witness
    slot=$(($(date +%s) / 3600 * 3600))
    fault_begins locked store
    hold "$slot" $(($(date +%s) - slot + 45)) & HELPERS[holder]=$!
    ok "$CASE_NAME: somebody has the lock" wait_until 5 test -e held
    code=0
    timeout -k 5 60 "$P" run >once.out 2>once.err || code=$?
    ok "$CASE_NAME: a command that was locked out does not end with 0 ($code)" test \
        "$code" = 75 -o "$code" = 1
    is "$CASE_NAME: it has run nothing" "$(runs)" 0
    ok "$CASE_NAME: and says why" \
        grep -qE 'could not be opened|cannot be reached or written to|being written to' once.err
    wait "${HELPERS[holder]}"; unset "HELPERS[holder]"
    fault_ends locked store
    engine e0
    ok "$CASE_NAME: what was left runs when the lock is free" wait_until 20 runs_at_least 3
    case_over
}

LOCK_S=3 on_stores sqlite by_a_daemon
LOCK_S=5 on_stores postgresql by_a_daemon
LOCK_S=3 on_stores sqlite by_a_run
LOCK_S=5 on_stores postgresql by_a_run
[ -n "${QUICK:-}" ] || on_both_stores for_too_long
