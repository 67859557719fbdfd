#!/usr/bin/env bash
# schedules.sh - bench/schedules.sh, small: the promises hold, and its comparison notices when one
# of them is broken. How fast lists are is the bench's question, not this test's.
# about 25 s
# night: thousands of runs
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -n "$SERVER" ] || { echo "ok - skipped: bench/schedules.sh needs PostgreSQL"; exit 0; }
bench() {
    env BUILD="$(dirname "$P")" PRESCIENT_TEST_PG="$SERVER" LIST_MS=60000 CALLS=1 "$@"
}
ok "300 schedules for 16 minutes" bench "$ROOT/bench/schedules.sh" 300 16
is "each has run three or four times" "$(awk '$1 == "runs" { print ($2 >= 900 && $2 <= 1200) }' .out)" 1

# spoiled PROMISE SQL: the comparison finds exactly one
spoiled() {
    fails_with 1 "a promise is broken" bench SPOIL="$2" "$ROOT/bench/schedules.sh" 20 16
    is "noticed: $1" "$(sed -n "s/^$1  *//p" .out)" 1
}
run=prescient.future_job_run
spoiled "twice in a slot" "INSERT INTO $run SELECT * FROM $run ORDER BY run_at DESC, entity_key LIMIT 1"
spoiled "earlier than the end before + every - bias" "UPDATE $run SET run_us = 30000000
    WHERE (slot_at, entity_key) = (SELECT slot_at, entity_key FROM $run ORDER BY 1, 2 LIMIT 1)"
spoiled "not in the slot that the run before has named" "UPDATE $run
    SET next_check_at = next_check_at + interval '1 minute'
    WHERE (slot_at, entity_key) = (SELECT slot_at, entity_key FROM $run ORDER BY 1, 2 LIMIT 1)"
spoiled "without the one check" "DELETE FROM prescient.future_job WHERE entity_key = '7'"
