#!/usr/bin/env bash
# bench/night.sh   each measurement that fails when a promise is broken, one after the other, with
#                  nothing beside it. The last line is "N passed, N failed".
#
# ONLY="listener renew"   these; BUILD: where the program is (build)
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2

passed=0 failed=0
# judged NAME COMMAND...
judged() {
    local name=$1 began=$SECONDS; shift
    case " ${ONLY:-$name} " in *" $name "*) ;; *) return ;; esac
    echo "== $name: $*"
    if timeout -k 30 3600 "$@" 2>&1; then
        passed=$((passed + 1))
        echo "ok - $name, $((SECONDS - began)) s"
    else
        failed=$((failed + 1))
        echo "not ok - $name, $((SECONDS - began)) s"
    fi
}

# ratio OF TO LEAST WORDS: what a check of TO takes of all processors' time, as a share of what one
# of OF takes, of two measurements of prescient bench. Each part of it (server, engine, workers) is
# the least of its rounds: what else the machine does only adds to it.
ratio() {
    local tmp code=0
    tmp=$(mktemp -d) || return
    chmod 711 "$tmp"
    "$(realpath "${BUILD:-build}/prescient")" --store "$(tests/pg_cluster.sh start "$tmp/pg" fsync=on)" \
        --quiet --json bench --only "$1,$2" --checks 50000 --rounds 9 >"$tmp/found.json" &&
        python3 - "$tmp/found.json" "$1" "$2" "$3" "$4" <<'PY' || code=$?
import json, sys
file, of, to, least, words = sys.argv[1:]
found = {m["name"]: m for m in json.load(open(file))["measures"]}
def least_us(name):
    return sum(found[name][part]["least"] for part in ("server_cpu_us", "engine_cpu_us", "worker_cpu_us"))
ratio = least_us(to) / least_us(of)
print(f"{to} {least_us(to):.2f} us, {of} {least_us(of):.2f} us: {ratio:.2f}")
sys.exit(0 if ratio >= float(least) else words)
PY
    tests/pg_cluster.sh stop "$tmp/pg"
    rm -rf "$tmp"
    return $code
}

case ${1:-} in
keyed) ratio keyed end 0.5 "a check with a concurrency key costs more than two without"; exit ;;
tenants) ratio tenants end 0.8 "a check with a tenant costs more than 1 / 0.8 of one without"; exit ;;
esac
judged at_once bench/at_once.sh
judged waiting env WAITING=60000 bench/at_once.sh
judged soon bench/soon.sh
judged listener bench/events.sh listener
judged notify bench/events.sh notify
judged stream bench/stream.sh
judged renew bench/renew.sh
judged keyed bench/night.sh keyed
judged tenants bench/night.sh tenants
judged fair bench/fair.sh
judged pause bench/pause.sh
judged schedules bench/schedules.sh
judged run_hours bench/run_hours.sh
judged posts bench/posts.sh
judged pages bench/pages.sh
judged init bench/init.sh
[ $((passed + failed)) != 0 ] || { echo "bench/night.sh: ONLY='$ONLY' chooses nothing" >&2; exit 2; }
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
