#!/usr/bin/env bash
# bench/renew.sh [CHECKS]   what a run of a schedule costs more than a check that moves
#
# A run of a schedule computes the next time and starts its check anew, under a new id. What that
# takes more is counted in instructions, which other work of the machine does not change: those of
# the server's session are counted here (callgrind; the engine has one), for CHECKS of each kind
# (2000) beside a tenth of them; those of engine and worker are in bench/guard.txt, which the gate
# holds. They run at a virtual time after which some of the schedules come up in one slot and some
# in the next, which costs most: the times of a page that all comes up in one are sent once. Fails
# when a move costs less than 0.9 of it, as was promised.
#
# BUILD   where the program is (build)
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

checks=${1:-2000}
least=0.9                           # of a run of a schedule, that a move costs
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
command -v valgrind >/dev/null || { echo "renew.sh: valgrind is not installed" >&2; exit 2; }

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-renew.XXXXXX")
chmod 711 "$tmp"
cluster=$tmp/pg
counting=                           # the server that counts
clean_up() {
    [ -z "$counting" ] || { kill -INT "$counting" && wait "$counting"; } 2>/dev/null || true
    tests/pg_cluster.sh stop "$cluster"
    rm -rf "$tmp"
}
trap clean_up EXIT

store=$(tests/pg_cluster.sh start \
    "$cluster" fsync=off autovacuum=off checkpoint_timeout=1h full_page_writes=off)
q() { psql -qXAt "$store" -c "$1"; }
cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
connections = 1;
workers = 1;
lease = "10m";
trust = "9m";
settle_after = "60s";
statement_timeout = "5m";
log_level = "warn";
jobs = {
    moves = { plugin = "noop"; settings = { answer = "again"; again_after = "1h"; }; };
    renews = { plugin = "noop"; settings = { answer = "done"; }; };
};
CFG
prescient() { "$program" --config "$tmp/prescient.cfg" --quiet "$@"; }
prescient init >/dev/null
slot=$(($(date +%s) / 900 * 900 - 900000))

. bench/slot_lib.sh

as_postgres() {
    local as=()
    [ "$(id -u)" != 0 ] || as=(setpriv --reuid=postgres --regid=postgres --init-groups)
    (cd / && exec "${as[@]}" env -i PATH="$PATH" LC_ALL=C.UTF-8 "$@")
}
start_counting() {
    rm -rf "$tmp/counted"
    mkdir -m 777 "$tmp/counted"
    as_postgres valgrind -q --vgdb=no --tool=callgrind --trace-children=yes \
        --callgrind-out-file="$tmp/counted/%p" "$(tests/pg_cluster.sh bin)/postgres" \
        -D "$cluster/data" >"$tmp/valgrind.log" 2>&1 &
    for ((i = 0; i < 600; i++)); do
        ! q "SELECT 1" >/dev/null 2>&1 || { counting=$(head -1 "$cluster/data/postmaster.pid"); return; }
        sleep 0.1
    done
    echo "renew.sh: the server that counts does not start" >&2
    cat "$tmp/valgrind.log" >&2
    exit 1
}
# The engine's session is that which has done the most.
most_instructions() {
    awk 'FNR == 1 { if (sum > most) most = sum; sum = 0 }
         /^summary:/ { sum += $2 }
         /^totals:/ && !sum { sum = $2 }
         END { printf "%d\n", (sum > most ? sum : most) }' "$tmp"/counted/*
}
# session JOB N [recurs]: instructions of the session that runs N of them; sets COUNTED
session() {
    fill "$1" "$2" "$3"
    tests/pg_cluster.sh ctl "$cluster" stop
    start_counting
    prescient run --slot "$slot" --now $((slot + 235)) >"$tmp/run" || { cat "$tmp/run" >&2; exit 1; }
    kill -INT "$counting"
    wait
    counting=
    COUNTED=$(most_instructions)
    tests/pg_cluster.sh ctl "$cluster" start
    [ "$(q "SELECT count(*) FROM prescient.future_job_run WHERE slot_at = to_timestamp($slot)")" = "$2" ] ||
        { echo "renew.sh: not all of $2 checks were run" >&2; exit 1; }
}
# server JOB [recurs]: instructions a check; sets SERVER
server() {
    session "$1" "$checks" "${2:-}"; local many=$COUNTED
    session "$1" $((checks / 10)) "${2:-}"
    SERVER=$(((many - COUNTED) / (checks - checks / 10)))
    [ "$SERVER" -gt 0 ] || { echo "renew.sh: the server's instructions are not counted" >&2; exit 1; }
}
# guarded KIND: instructions a check of engine and worker, as bench/guard.txt has them
guarded() {
    awk -v kind="$1" '$1 == kind ".engine_instructions" || $1 == kind ".worker_instructions" { sum += $2 }
                      END { printf "%d\n", sum }' bench/guard.txt
}

session moves "$checks" ""      # the first one grows the files of what is written: it does not count
server moves; moves=$SERVER
server renews recurs; renews=$SERVER
own_moves=$(guarded move) own_renews=$(guarded recur)
printf '%-28s %8s %8s\n' "instructions a check" moves renews "server's session" "$moves" "$renews" \
    "engine and worker" "$own_moves" "$own_renews"
awk -v a="$((moves + own_moves))" -v b="$((renews + own_renews))" -v least="$least" 'BEGIN {
    printf "%d more; ratio %.3f, of %.1f at least\n", b - a, a / b, least
    exit (a / b < least) }'
