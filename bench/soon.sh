#!/usr/bin/env bash
# bench/soon.sh [EVENTS [SECONDS]]   how soon a webhook gets an event while the daemon is idle:
#                                    EVENTS (300) spread over SECONDS (60), on both stores.
#
# Each event is emitted by a check that is asked for at once. The clock starts with emitted_at,
# which the settle reads before it commits, and stops when the receiver has read the request. Prints
# the median, the 99th percentile and the most of each store. Fails when the 99th percentile is two
# seconds or more, when an event is missing, or when one came twice.
#
# BUILD              where the program is (build)
# STORES             "sqlite", "postgresql" (both)
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

events=${1:-300} seconds=${2:-60}
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-soon.XXXXXX")
chmod 711 "$tmp"
daemon='' receiver=''
end() {
    [ -n "$1" ] || return 0
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}
clean_up() {
    end "$daemon"
    end "$receiver"
    [ ! -d "$tmp/pg" ] || tests/pg_cluster.sh stop "$tmp/pg"
    rm -rf "$tmp"
}
trap clean_up EXIT

# wait_for SECONDS COMMAND...
wait_for() {
    local until=$((SECONDS + $1)); shift
    until "$@"; do
        [ $SECONDS -lt $until ] || return 1
        sleep 0.05
    done
}

# q POSTGRESQL SQLITE: a query, in the words of each
q() {
    case $store in
    sqlite:*) sqlite3 -batch -cmd '.timeout 20000' "${store#sqlite:}" "$2" ;;
    *) psql -qXAt -F '|' -v ON_ERROR_STOP=1 "$store" -c "$1" ;;
    esac
}
nothing_is_pending() {
    [ "$(q "SELECT count(*) FROM prescient.future_job" "SELECT count(*) FROM prescient_future_job")" = 0 ]
}

run() { "$program" --config "$tmp/prescient.cfg" --quiet "$@"; }
settings() {
    local url; url=http://127.0.0.1:$(cat "$folder/port")/status/200
    cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
log_level = "warn";
workers = 2;
jobs = {
    look = { plugin = "noop"; settings = { answer = "done"; event = "ran"; }; };
    hook = { plugin = "webhook"; settings = { url = "$url"; }; };
};
listeners = ( { events = "ran"; job = "hook"; } );
CFG
}

# One event after the other, at even times: behind a slow one the next ones catch up.
emit() {
    local n began=${EPOCHREALTIME/[.,]/} wait_us
    for ((n = 1; n <= events; n++)); do
        run enqueue row "$n" look --at-once >/dev/null
        wait_us=$((began + n * seconds * 1000000 / events - ${EPOCHREALTIME/[.,]/}))
        [ $wait_us -le 0 ] || sleep "$((wait_us / 1000000)).$(printf %06d $((wait_us % 1000000)))"
    done
}

# report NAME: from the events of the store and the journal of the receiver
report() {
    q "SELECT entity_key, (extract(epoch FROM emitted_at) * 1000000)::bigint FROM prescient.event" \
        "SELECT entity_key, emitted_at_us FROM prescient_event" >"$folder/events"
    python3 - "$1" "$folder" "$events" <<'PY'
import json, sys
name, folder, expected = sys.argv[1], sys.argv[2], int(sys.argv[3])
emitted = dict(line.strip().split("|") for line in open(folder + "/events"))
came = [json.loads(line) for line in open(folder + "/requests")]
ms = sorted(request["at"] * 1000 - int(emitted[json.loads(request["body"])["entity_key"]]) / 1000
            for request in came)
keys = {json.loads(request["body"])["id"] for request in came}
if not len(emitted) == len(came) == len(keys) == expected:
    sys.exit(f"soon.sh: {name}: {len(emitted)} events, {len(came)} requests, {len(keys)} keys, "
             f"expected {expected} of each")
p99 = ms[-(-99 * len(ms) // 100) - 1]
print(f"{name}: {len(ms)} events: median {ms[len(ms) // 2]:.0f} ms, 99 % {p99:.0f} ms, most {ms[-1]:.0f} ms")
sys.exit(0 if p99 < 2000 else f"soon.sh: {name}: that is too late")
PY
}

measure() {
    store=$2 folder=$tmp/$1
    mkdir "$folder"
    python3 tests/http_server.py "$folder" &
    receiver=$!
    wait_for 20 test -e "$folder/port"
    settings
    run init >/dev/null
    "$program" --config "$tmp/prescient.cfg" --quiet daemon &
    daemon=$!
    sleep 3                             # it is idle
    emit
    wait_for 60 nothing_is_pending
    report "$1"
    end "$daemon"
    end "$receiver"
    daemon='' receiver=''
}

for kind in ${STORES:-sqlite postgresql}; do
    case $kind in
    sqlite) measure sqlite "sqlite:$tmp/store.db" ;;
    *) measure postgresql "$(tests/pg_cluster.sh start "$tmp/pg" fsync=on)" ;;
    esac
done
