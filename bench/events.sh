#!/usr/bin/env bash
# bench/events.sh KIND [CHECKS [ROUNDS]]   what `notify`, or a listener, costs settles that emit:
#                                     CHECKS checks (60000), each with an event, ROUNDS times (15)
#                                     with it and without it.
#
# KIND is `notify`, with a session that listens and no consumer, whose reading would take processors
# from the engine in the one kind only; or `listener`, for which a settle files a delivery of each
# event. Deliveries are due in the next second, and stay for it: the clock of a run stands still.
# One engine has two workers. The two kinds take turns, in pairs that begin with one kind and with
# the other. Prints checks a second of each run, the ratio of each pair, and its median. Fails when
# that is below 0.95 for `notify`, and below 0.5 for a listener.
#
# BUILD              where the program is (build)
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

kind=${1:-} checks=${2:-60000} rounds=${3:-15}
case $kind in
notify) least=0.95 setting='notify = "prescient_event";' ;;
listener) least=0.5 setting='listeners = ( { name = "hook"; events = "ran"; job = "look"; } );' ;;
*) echo "usage: bench/events.sh notify|listener [CHECKS [ROUNDS]]" >&2; exit 2 ;;
esac
slot=1700000100
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/tests/jobs")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-events.XXXXXX")
chmod 711 "$tmp"
listener=
clean_up() {
    if [ -n "$listener" ]; then
        exec 9>&-
        wait "$listener" 2>/dev/null || true
    fi
    tests/pg_cluster.sh stop "$tmp/pg"
    rm -rf "$tmp"
}
trap clean_up EXIT
store=$(tests/pg_cluster.sh start "$tmp/pg" fsync=on autovacuum=off)
q() { psql -qXAt -v ON_ERROR_STOP=1 "$store" -c "$1"; }

settings() {
    cat >"$tmp/$1.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
log_level = "warn";
workers = 2;
$2
jobs = { look = { plugin = "journal"; settings = { file = "/dev/null"; event = "ran"; pause_us = 0; }; }; };
CFG
}
settings with "$setting"
settings without ''
run() { local with=$1; shift; "$program" --config "$tmp/$with.cfg" --now "@$slot" --quiet "$@"; }
run with init
mkfifo "$tmp/words"
psql -qXAt "$store" <"$tmp/words" >/dev/null &
listener=$!
exec 9>"$tmp/words"
echo "LISTEN prescient_event;" >&9

# Checks a second of a whole run.
one() {
    # nor may it be known how far a sweep came, or these checks would be left alone
    q "TRUNCATE prescient.future_job, prescient.slot_pass" >/dev/null
    q "DELETE FROM prescient.setting WHERE name IN ('swept_until', 'sweep_noted')"
    q "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                         next_check_at)
       SELECT prescient.bucket_of('row', n::text), 'row', n::text, 'look', s.at, s.at
         FROM generate_series(1, $checks) n, (SELECT to_timestamp($slot) AS at) s"
    q "VACUUM ANALYZE prescient.future_job"
    local from=$EPOCHREALTIME until
    run "$1" run
    until=$EPOCHREALTIME
    local filed=0
    [ "$kind $1" != "listener with" ] || filed=$checks
    [ "$(q "SELECT count(*) FILTER (WHERE origin IS NULL), count(origin) FROM prescient.future_job")" = \
        "0|$filed" ] || {
        echo "bench/events.sh: run left checks in their slot, or did not file $filed deliveries" >&2
        return 1
    }
    awk -v n="$checks" -v f="$from" -v u="$until" 'BEGIN { printf "%.0f\n", n / (u - f) }'
}

one with >/dev/null                     # what is cold
for ((round = 1; round <= rounds; round++)); do
    if [ $((round % 2)) = 1 ]; then with=$(one with) without=$(one without)
    else without=$(one without) with=$(one with); fi
    echo "$with $without" >>"$tmp/pairs"
    awk '{ printf "with '"$kind"' %d/s, without %d/s: %.3f\n", $1, $2, $1 / $2 }' <<<"$with $without"
done
awk '{ print $1 / $2 }' "$tmp/pairs" | sort -n | awk '{ r[NR] = $1 } END {
    printf "median of %d pairs: %.3f (%.3f to %.3f)\n", NR, r[int((NR + 1) / 2)], r[1], r[NR]
    exit r[int((NR + 1) / 2)] < '"$least"' }'
