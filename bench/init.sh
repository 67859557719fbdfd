#!/usr/bin/env bash
# bench/init.sh [TIMES]   how long the transaction takes in which `prescient init` makes the schema
#                         of an empty database of PostgreSQL, with fsync off.
#
# Prints the least and the median of TIMES (21) in milliseconds, from the server's log: from the end
# of BEGIN to that of COMMIT, so with all round trips. Fails when the least is more than 100: what a
# machine with nothing else to do needs.
#
# BUILD              where the program is (build)
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

times=${1:-21} most_ms=100
program=$(realpath "${BUILD:-build}/prescient")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-init.XXXXXX")
chmod 711 "$tmp"
clean_up() {
    [ ! -d "$tmp/pg" ] || tests/pg_cluster.sh stop "$tmp/pg"
    rm -rf "$tmp"
}
trap clean_up EXIT

# Each line of the log: seconds since the epoch, the transaction as the server numbers it, words.
tests/pg_cluster.sh start "$tmp/pg" fsync=off log_duration=on 'log_line_prefix=%n %v ' >/dev/null
url() { echo "postgresql://postgres@/$1?host=$tmp/pg/sock"; }
for ((n = 1; n <= times; n++)); do
    psql -qX "$(url postgres)" -c "CREATE DATABASE bench$n"
    begins=$(($(wc -c <"$tmp/pg/server.log") + 1))
    "$program" --quiet --store "$(url "bench$n")" init
    # the transaction with most statements
    tail -c "+$begins" "$tmp/pg/server.log" | awk '/ LOG:  duration: / {
        if (!($2 in first)) first[$2] = $1
        last[$2] = $1
        if (++statements[$2] > most) { most = statements[$2]; it = $2 }
    }
    END { printf "%d\n", (last[it] - first[it]) * 1000 + 0.5 }'
done | sort -n >"$tmp/found"

least=$(head -n 1 "$tmp/found") median=$(sed -n "$((times / 2 + 1))p" "$tmp/found")
echo "the transaction of init: $least ms at least, $median in the median of $times"
[ "$least" -le "$most_ms" ] || {
    echo "bench/init.sh: expected at most $most_ms ms" >&2
    exit 1
}
