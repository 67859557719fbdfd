#!/usr/bin/env bash
# run_hours.sh - bench/run_hours.sh, small: `status --by` counts what the notes of many engines
# have, and the bench notices when it does not. How fast the report is is the bench's question, not
# this test's.
# about 20 s
# night: hundreds of notes, on a cluster of its own
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -n "$SERVER" ] || { echo "ok - skipped: bench/run_hours.sh needs PostgreSQL"; exit 0; }
bench() { env BUILD="$(dirname "$P")" LIST_MS=60000 CALLS=1 "$@"; }
ok "an hour of notes" bench "$ROOT/bench/run_hours.sh" 50000 1
is "on each store, of four daemons and of cron" "$(grep -c ' notes$' .out)" 4
fails_with 1 "runs were lost, or counted twice" bench SPOIL="UPDATE {run_hour} SET runs = runs + 1" \
    "$ROOT/bench/run_hours.sh" 50000 1
