#!/usr/bin/env bash
# bench/against.sh COMMIT [CHECKS [ROUNDS]]   checks that end, and checks that move on, beside those
#                                     of an older commit (50000, 7).
#
# COMMIT is built in a folder of its own. Both programs have a database of their own on one server,
# and take turns: `prescient bench --only end,again` with one round each. Prints for both measures
# the ratio of each pair, in checks a second and in CPU of engine, worker and server, and the
# medians. Fails when the median of the ratio by CPU is below 0.95: what is not used costs nothing.
#
# BUILD              where the program is (build)
# PRESCIENT_TEST_PG  a PostgreSQL to use, else a cluster of our own is started and removed
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

commit=${1:-} checks=${2:-50000} rounds=${3:-7}
[ -n "$commit" ] || { echo "usage: bench/against.sh COMMIT [CHECKS [ROUNDS]]" >&2; exit 2; }
git rev-parse --verify -q "$commit^{commit}" >/dev/null ||
    { echo "bench/against.sh: there is no commit $commit" >&2; exit 2; }
now=$(realpath "${BUILD:-build}/prescient")
server=${PRESCIENT_TEST_PG:-}
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-against.XXXXXX")
chmod 711 "$tmp"
names="prescient_before_$$ prescient_now_$$"
clean_up() {
    if [ -d "$tmp/pg" ]; then
        tests/pg_cluster.sh stop "$tmp/pg"
    else
        for name in $names; do psql -qX "$server" -c "DROP DATABASE IF EXISTS $name" 2>/dev/null || true; done
    fi
    rm -rf "$tmp"
}
trap clean_up EXIT

mkdir "$tmp/before"
git archive "$commit" | tar -C "$tmp/before" -xf -
make -s -j"$(nproc)" -C "$tmp/before" BUILD="$tmp/before/build" all >"$tmp/make.log" 2>&1 ||
    { tail -20 "$tmp/make.log" >&2; echo "bench/against.sh: $commit does not build" >&2; exit 1; }
before=$tmp/before/build/prescient
[ -n "$server" ] || server=$(tests/pg_cluster.sh start "$tmp/pg" fsync=on)
for name in $names; do psql -qX "$server" -c "CREATE DATABASE $name"; done
store_of() { sed -E "s#/postgres(\?|\$)#/prescient_$1_$$\1#" <<<"$server"; }

# one before|now: measures, a line each: name, checks a second, us of CPU of a check
one() {
    (cd "$tmp" && "${!1}" --store "$(store_of "$1")" --quiet --json bench --only end,again \
        --checks "$checks" --rounds 1) >"$tmp/found.json"
    python3 - "$tmp/found.json" <<'PY'
import json, sys
for m in json.load(open(sys.argv[1]))["measures"]:
    if m["name"] in ("end", "again"):
        parts = [m[part] for part in ("engine_cpu_us", "worker_cpu_us", "server_cpu_us")]
        cpu = sum(part["median"] for part in parts if part)
        print(m["name"], m["per_s"]["median"], cpu)
PY
}

for kind in before now; do "${!kind}" --store "$(store_of "$kind")" --quiet init; done
one before >/dev/null                   # what is cold
for ((round = 1; round <= rounds; round++)); do
    order="before now"
    [ $((round % 2)) = 1 ] || order="now before"
    for kind in $order; do one $kind | sed "s/^/$round $kind /" >>"$tmp/figures"; done
done
python3 - "$tmp/figures" "$commit" <<'PY'
import collections, statistics, sys
rounds = collections.defaultdict(dict)
for line in open(sys.argv[1]):
    number, kind, name, rate, cpu = line.split()
    rounds[name, int(number)][kind] = float(rate), float(cpu)
bad = False
for name in ("end", "again"):
    pairs = [r for (of, _), r in sorted(rounds.items()) if of == name]
    by_rate = [r["now"][0] / r["before"][0] for r in pairs]
    by_cpu = [r["before"][1] / r["now"][1] for r in pairs]
    print("%s: %.0f a second, %.1f us of CPU; %s: %.0f, %.1f" % (
        name, statistics.median(r["now"][0] for r in pairs), statistics.median(r["now"][1] for r in pairs),
        sys.argv[2], statistics.median(r["before"][0] for r in pairs),
        statistics.median(r["before"][1] for r in pairs)))
    for what, ratios in (("rate", by_rate), ("CPU", by_cpu)):
        each = " ".join("%.2f" % r for r in ratios)
        print("    by %-4s %.2f (%s)" % (what, statistics.median(ratios), each))
    bad = bad or statistics.median(by_cpu) < 0.95
sys.exit("bench/against.sh: a check has become dearer" if bad else 0)
PY
