#!/usr/bin/env bash
# bench/stream.sh [CHECKS [STARTED [ROUNDS]]]   the job exec as a stream, beside the same program
# started for each check (20000, 400, 3).
#
# The program is examples/stream/paid.py, as one process of each of two workers, and as a program
# that imports the same function, answers one check and ends. Each round runs a slot of so many
# checks of the one, then of the other, in a new SQLite file. Prints the checks a second, by the
# time of the whole run with the start of engine and workers, and their ratio. Fails when a stream
# is not ten times as fast.
#
# BUILD              where the program is (build)
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

checks=${1:-20000} started=${2:-400} rounds=${3:-3}
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
examples=$PWD/examples/stream
slot=1700000100
unset "${!PRESCIENT_@}" DATABASE_URL "${!PG@}" 2>/dev/null || true

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-stream.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/once.py" <<PY
#!/usr/bin/env python3
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "$examples")
from paid import answer
print(json.dumps(answer(json.loads(sys.stdin.readline()))))
PY
chmod 755 "$tmp/once.py"
cat >"$tmp/prescient.cfg" <<CFG
store = "sqlite:$tmp/store.db";
plugin_dirs = [ "$jobs" ];
workers = 2; workers_max = 2;
log_level = "error";
jobs = {
    stream = { plugin = "exec"; settings = { stream = true; command = [ "$examples/paid.py" ]; }; };
    once = { plugin = "exec"; settings = { answer = "json"; command = [ "$tmp/once.py" ]; }; };
};
CFG
run() { "$program" --config "$tmp/prescient.cfg" --quiet "$@"; }

# rate JOB CHECKS: checks a second
rate() {
    rm -f "$tmp"/store.db*
    run init >/dev/null
    sqlite3 -batch "$tmp/store.db" "
        WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $2)
        INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at)
        SELECT 'orders', n, '$1', $slot, $slot FROM c"
    local began=${EPOCHREALTIME/[.,]/} looked
    run run --slot $slot >/dev/null
    local took_us=$((${EPOCHREALTIME/[.,]/} - began))
    looked=$(sqlite3 -batch "$tmp/store.db" \
        "SELECT count(*) FROM prescient_future_job WHERE check_count = 1")
    [ "$looked" = "$2" ] || { echo "stream.sh: $looked of $2 checks were looked at" >&2; exit 1; }
    echo $(($2 * 1000000 / took_us))
}
least=
for ((round = 1; round <= rounds; round++)); do
    lives=$(rate stream "$checks")
    once=$(rate once "$started")
    ratio=$((lives / (once ? once : 1)))
    echo "round $round: $lives checks a second as a stream, $once started for each: $ratio times"
    [ -n "$least" ] && [ "$least" -le "$ratio" ] || least=$ratio
done
[ "$least" -ge 10 ] || { echo "stream.sh: a stream is $least times as fast, expected 10" >&2; exit 1; }
