#!/usr/bin/env bash
# bench/tabs.sh [TABS [PAIRS]]   what open tabs of the dashboard take from a pass: 200,000 checks
#                                that end, with so many tabs (50) and without, by turns, PAIRS (9)
#                                times.
#
# The tabs look at a store of PostgreSQL that bench/pages.sh has filled (KEEP=DIR FILL=1
# STORES=postgresql bench/pages.sh); the pass is in a schema beside it, on the same server. Prints
# the rates and the median of the pairs' ratios, and fails when that is below 0.97.
#
# KEEP    the folder in which pages.sh has kept the store
# BUILD   where the program is (build)
# CHECKS  of one pass (200000)
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

tabs=${1:-50} pairs=${2:-9} checks=${CHECKS:-200000}
cluster=${KEEP:?the folder in which bench/pages.sh has kept a store}/pg
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
[ -d "$cluster/data" ] || { echo "tabs.sh: $cluster: no store there; run bench/pages.sh first" >&2; exit 2; }
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-tabs.XXXXXX")
chmod 711 "$tmp"
serving=0 looking=0
ends() {
    [ "$1" != 0 ] || return 0
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}
clean_up() {
    ends "$looking"
    ends "$serving"
    tests/pg_cluster.sh ctl "$cluster" stop -m fast || true
    rm -rf "$tmp"
}
trap clean_up EXIT

tests/pg_cluster.sh ctl "$cluster" start
store=$(tests/pg_cluster.sh url "$cluster")
cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
jobs = { is_paid = { plugin = "noop"; }; };
CFG
"$program" --config "$tmp/prescient.cfg" serve --listen "unix:$tmp/serve.sock" 2>"$tmp/serve.err" &
serving=$!
is_ready() {
    [ "$(curl -s --unix-socket "$tmp/serve.sock" -o /dev/null -w '%{http_code}' \
        http://localhost/readiness || true)" = 200 ]
}
for ((i = 0; i < 300; i++)); do is_ready && break || sleep 0.1; done
is_ready || { echo "tabs.sh: the server does not come up: $(cat "$tmp/serve.err")" >&2; exit 1; }

# rate: checks a second of one pass, a while after what was before: each tab has asked by then
rate() {
    sleep 10
    "$program" --config "$tmp/prescient.cfg" --quiet --json bench --only end --checks "$checks" --rounds 1 |
        python3 -c 'import json, sys
print([m["per_s"]["median"] for m in json.load(sys.stdin)["measures"] if m["name"] == "end"][0])'
}
looks() {
    tests/pages/tabs.py "$tmp/serve.sock" "$tabs" 3600 >"$tmp/tabs.out" 2>&1 &
    looking=$!
}

rate_beside() {
    looks
    beside=$(rate)
    kill -0 "$looking" 2>/dev/null ||
        { echo "tabs.sh: a tab got no answer: $(cat "$tmp/tabs.out")" >&2; exit 1; }
    ends "$looking"
    looking=0
}

# A pass is measured right behind another one; which of the two comes first changes.
for ((i = 0; i < pairs; i++)); do
    [ $((i % 2)) = 0 ] || rate_beside
    without=$(rate)
    [ $((i % 2)) = 1 ] || rate_beside
    echo "$without $beside" >>"$tmp/pairs"
done
python3 - "$tmp/pairs" <<'PY'
import statistics, sys
pairs = [tuple(map(float, line.split())) for line in open(sys.argv[1])]
for without, beside in pairs:
    print(f"{without:9,.0f} checks/s without, {beside:9,.0f} beside tabs: {beside / without:.3f}")
ratio = statistics.median(beside / without for without, beside in pairs)
print(f"median of {len(pairs)}: {ratio:.3f}")
sys.exit(ratio < 0.97)
PY
