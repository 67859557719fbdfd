#!/usr/bin/env bash
# bench/reading.sh [CHECKS [HISTORY [RUNS]]]    how long the commands that look take, among so many
#                                               rows (100000000 20000000 10000000).
#
# Checks wait in the slots of 30 days to come, in no order on the disk: the worst that can be.
# History and runs are of the 60 days past, a burst every quarter of an hour; half as many events as
# runs, and 64 buckets of passes a slot. Each command is run ROUNDS times; median, least and most,
# in ms, from its start to its end. The first run of each is told, too: it finds fewer pages in
# memory.
#
# BUILD   where the program is (build)
# KEEP    a folder for the cluster: it is kept there, and used again when it is there, with what it
#         holds. 100 million need 30 GB of disk.
# ROUNDS  of each command (5)
# ONLY    only the commands that hold this word
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
root=$PWD

checks=${1:-100000000} history=${2:-20000000} runs=${3:-10000000}
rounds=${ROUNDS:-5} days=60
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-reading.XXXXXX")
chmod 711 "$tmp"
cluster=${KEEP:-$tmp/pg}
. bench/fill_lib.sh
clean_up() {
    cd "$root"
    [ -n "${KEEP:-}" ] || tests/pg_cluster.sh stop "$cluster"
    rm -rf "$tmp"
}
trap clean_up EXIT

# ---- the commands --------------------------------------------------------------------------------

ms_of() {
    local begun=$EPOCHREALTIME code=0
    "$program" --quiet "$@" >"$tmp/out" 2>"$tmp/err" || code=$?
    local ended=$EPOCHREALTIME
    [ $code -le 1 ] || { echo "reading.sh: prescient $* ended with $code: $(tail -1 "$tmp/err")" >&2; }
    echo $(((${ended/./} - ${begun/./}) / 100))
}

tenths() { echo "$(($1 / 10)).$(($1 % 10))"; }

tell() {
    local first all=()
    [[ "$*" = *${ONLY:-}* ]] || return 0
    first=$(ms_of "$@")
    for ((i = 0; i < rounds; i++)); do all+=("$(ms_of "$@")"); done
    mapfile -t all < <(printf '%s\n' "${all[@]}" | sort -n)
    printf '%-46s %8s %8s %8s %8s\n' "$*" "$(tenths "${all[rounds / 2]}")" \
        "$(tenths "${all[0]}")" "$(tenths "${all[rounds - 1]}")" "$(tenths "$first")"
}

read_everything() {
    local slot day old
    slot=$(date -u -d '+10 days' +%Y-%m-%dT%H:00:00Z)
    day=$(date -u -d '-3 days' +%Y-%m-%dT%H:00:00Z)
    old=$(date -u -d '-50 days' +%Y-%m-%dT%H:00:00Z)
    printf '%-46s %8s %8s %8s %8s\n' "ms of" median least most first
    tell version
    tell status
    tell doctor
    tell slots
    tell slots --from "$slot"
    tell slots --from "$old"
    tell passes
    tell passes --before "$old"
    tell list
    tell list --from "$slot"
    tell list --job is_paid
    tell list --job look_at_rarity
    tell list --job nobody
    tell list orders
    tell list rarities
    tell list nobody
    tell list orders 4711
    tell jobs --counts
    tell history
    tell history --since "$day"
    tell history --before "$day"
    tell history --before "$old"
    tell history --job is_paid
    tell history --job look_at_rarity
    tell history --job nobody
    tell history --outcome failed
    tell history --outcome crashed
    tell history orders
    tell history nobody
    tell history orders 4711
    tell history orders "$((history / 2 + 1))"
    tell runs
    tell runs --before "$old"
    tell runs --job is_paid
    tell runs --job nobody
    tell runs --outcome failed
    tell runs --outcome crashed
    tell runs orders 4711
    tell runs orders "$((runs / 2 + 1))"
    tell show orders 4711
    tell events
    tell events --after 0-0
}

mkdir -p "$cluster"
if [ -d "$cluster/data" ]; then
    server=$(tests/pg_cluster.sh url "$cluster")
    tests/pg_cluster.sh ctl "$cluster" status 2>/dev/null || tests/pg_cluster.sh ctl "$cluster" start
else
    server=$(tests/pg_cluster.sh start \
        "$cluster" fsync=off wal_level=minimal max_wal_senders=0 full_page_writes=off max_wal_size=16GB \
                 checkpoint_timeout=1h shared_buffers=4GB)
fi
store=$server
cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
jobs = { is_paid = { plugin = "noop"; }; is_shipped_1 = { plugin = "noop"; }; };
CFG
cd "$tmp"
"$program" init --quiet >/dev/null
build make_days put_all_checks put_history put_runs put_passes put_events index_days vacuum
# No engine runs here: what has become due since, where one runs, it would have run.
q -c "DELETE FROM prescient.future_job WHERE next_check_at <= now()"
echo "$(q -c "SELECT pg_size_pretty(pg_database_size('postgres'))") in all"
read_everything
