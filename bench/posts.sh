#!/usr/bin/env bash
# bench/posts.sh [SECONDS [REQUESTS]]   single checks over HTTP beside libpq clients that call
#                                       prescient.enqueue(), each for so long (10), in turn, three
#                                       rounds; then memory after so many requests (1000000).
#
# 64 keep-alive clients of one `prescient serve` (wrk, two threads), and 64 of pgbench with prepared
# statements (two threads), on one cluster whose commits wait for the disk; and one client of each.
# Each request files a new check, and is answered when it is on disk. Prints rates and latencies of
# each round, the median ratios, and the memory of all processes of the server after 10,000
# requests and after all. Fails when the rate is below 0.5 of libpq's, the 99th percentile above 3
# times libpq's, the median of one client above 1.5 times libpq's and 1 ms, or when memory has
# grown by more than 4 MiB.
#
# BUILD              where the program is (build)
# ROUNDS             how many (3)
# PRESCIENT_TEST_PG  a PostgreSQL to use, else a cluster of our own is started and removed
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

seconds=${1:-10} requests=${2:-1000000} rounds=${ROUNDS:-3}
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
server=${PRESCIENT_TEST_PG:-}
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
pgbench=$(tests/pg_cluster.sh bin)/pgbench
[ -x "$pgbench" ] || { echo "posts.sh: no pgbench beside the server's programs" >&2; exit 2; }
command -v wrk >/dev/null || { echo "posts.sh: no wrk (Debian package wrk)" >&2; exit 2; }

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-posts.XXXXXX")
chmod 711 "$tmp"
database=prescient_posts_$$
serving=
clean_up() {
    if [ -n "$serving" ]; then
        kill "$serving" 2>/dev/null || true
        wait "$serving" 2>/dev/null || true
    fi
    if [ -d "$tmp/pg" ]; then
        tests/pg_cluster.sh stop "$tmp/pg"
    else
        psql -qX "$server" -c "DROP DATABASE IF EXISTS $database" 2>/dev/null || true
    fi
    rm -rf "$tmp"
}
trap clean_up EXIT
[ -n "$server" ] || server=$(tests/pg_cluster.sh start "$tmp/pg" fsync=on)
psql -qX "$server" -c "CREATE DATABASE $database"
store=$(sed -E "s#/postgres(\?|\$)#/$database\1#" <<<"$server")
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
listen = "127.0.0.1:$port";
jobs = { look = { plugin = "noop"; }; };
CFG
"$program" --config "$tmp/prescient.cfg" --quiet init
"$program" --config "$tmp/prescient.cfg" serve 2>"$tmp/serve.err" &
serving=$!
url=http://127.0.0.1:$port
curl -sf --retry 50 --retry-delay 1 --retry-all-errors "$url/readiness" >/dev/null

# Keys differ by time, thread and number, so that each request is a new check.
cat >"$tmp/post.lua" <<'LUA'
local threads, number = 0, 0
function setup(thread) thread:set("name", os.time() .. "." .. threads); threads = threads + 1 end
local head = { ["Content-Type"] = "application/json" }
function request()
    number = number + 1
    return wrk.format("POST", "/v1/checks", head,
        '{"entity":"bench","key":"' .. name .. "." .. number .. '","job":"look","in":"1h"}')
end
function done(summary, latency)
    local failed = summary.errors.status + summary.errors.timeout + summary.errors.read
    io.stderr:write(string.format("%.0f %.0f %.0f %d %d\n", summary.requests / summary.duration * 1e6,
        latency:percentile(50), latency:percentile(99), failed, summary.requests))
end
LUA
cat >"$tmp/call.sql" <<'SQL'
\set n random(1, 1000000000000)
SELECT prescient.enqueue('bench', :client_id || '.' || :n, 'look', interval '1 hour');
SQL

# Each prints the rate, the median and the 99th percentile of latencies in us, how many requests
# were refused, and how many there were.
over_http() { wrk -t "$1" -c "$2" -d "$seconds" -s "$tmp/post.lua" "$url" 2>&1 >/dev/null | tail -n 1; }
by_libpq() {
    rm -f "$tmp"/log.*
    "$pgbench" -n -c "$2" -j "$1" -T "$seconds" -M prepared -l --log-prefix="$tmp/log" -f "$tmp/call.sql" \
        "$store" >"$tmp/pgbench.out" 2>&1
    cat "$tmp"/log.* | cut -d ' ' -f 3 | sort -n | awk -v s="$seconds" '
        { t[NR] = $1 }
        END { printf "%.0f %d %d 0 %d\n", NR / s, t[int(NR / 2) + 1], t[int(NR * 0.99) + 1], NR }'
}
memory() {
    local pid
    for pid in "$serving" $(cat "/proc/$serving/task/$serving/children"); do
        sed -n 's/^VmRSS:[ \t]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"
    done | awk '{ n += $1 } END { print n }'
}
# posted LEAST: goes on until so many were posted
touch "$tmp/found" "$tmp/more"
posted() {
    until awk -v least="$1" '/http/ { n += $7 } END { exit n < least }' "$tmp/found" "$tmp/more"; do
        echo "64 http $(over_http 2 64)" >>"$tmp/more"
    done
}

posted 10000
by_libpq 2 64 >/dev/null
first=$(memory)
for ((i = 0; i < rounds; i++)); do
    for clients in 64 1; do
        threads=$((clients > 1 ? 2 : 1))
        echo "$clients http $(over_http $threads $clients)"
        echo "$clients libpq $(by_libpq $threads $clients)"
    done
done | tee "$tmp/found"
posted "$requests"
last=$(memory)
echo "memory of all processes, KiB: $first after 10000 requests, $last after $requests"
python3 - "$tmp/found" "$first" "$last" <<'PY'
import statistics, sys
rounds = {}
for words in map(str.split, open(sys.argv[1])):
    rounds.setdefault((words[0], words[1]), []).append([int(w) for w in words[2:]])
    if int(words[5]):
        sys.exit("%s requests were refused" % words[5])
def ratio(clients, column):
    pairs = zip(rounds[clients, "http"], rounds[clients, "libpq"])
    return statistics.median(h[column] / p[column] for h, p in pairs)
def of(column):
    return [statistics.median(r[column] for r in rounds["1", who]) for who in ("http", "libpq")]
http, libpq = of(1)
grown = int(sys.argv[3]) - int(sys.argv[2])
print("64 clients: %.2f of the rate, 99th percentile %.2f times" % (ratio("64", 0), ratio("64", 2)))
print("one client: median %.2f ms, libpq %.2f ms" % (http / 1000, libpq / 1000))
good = ratio("64", 0) >= 0.5 and ratio("64", 2) <= 3 and http <= 1.5 * libpq + 1000 and grown <= 4096
sys.exit(0 if good else "a promise is broken")
PY
