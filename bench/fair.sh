#!/usr/bin/env bash
# bench/fair.sh [CHECKS]   what the rounds of small tenants cost: so many checks (4000) of 10 ms of
#                          one tenant, and the same where ten of them are of another one, on each
#                          store.
#
# One engine with four workers runs them in one slot, in parts of a hundred. Each of the two is run
# PAIRS times, by turns, and of each the least counts, as what else the machine does only adds to
# it. Prints both in ms, from the first check to the last. Fails when a check has not run, or when
# those of two tenants take more than MOST percent of those of one.
#
# BUILD              where the program is (build)
# PAIRS              3
# MOST               105
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

checks=${1:-4000} pairs=${PAIRS:-3} most=${MOST:-105}
small=10 pause_us=10000 length=60
build=$(realpath "${BUILD:-build}")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-fair.XXXXXX")
chmod 711 "$tmp"
clean_up() {
    [ ! -d "$tmp/pg" ] || tests/pg_cluster.sh stop "$tmp/pg"
    rm -rf "$tmp"
}
trap clean_up EXIT
server=$(tests/pg_cluster.sh start "$tmp/pg" fsync=on)
q_postgresql() { psql -qXAt -v ON_ERROR_STOP=1 "$server"; }
q_sqlite() { sqlite3 -batch -bail "$tmp/prescient.db"; }

# a_new_store KIND: prints its address
a_new_store() {
    local store
    if [ "$1" = sqlite ]; then
        rm -f "$tmp"/prescient.db*
        store=sqlite:$tmp/prescient.db
    else
        q_postgresql <<<"SET client_min_messages = error; DROP SCHEMA IF EXISTS prescient CASCADE"
        store=$server
    fi
    "$build/prescient" --store "$store" --quiet init --slot-length ${length}s >&2
    echo "$store"
}

# checks_sql KIND SLOT OTHER: those of the tenant "large", and the last ones of OTHER
checks_sql() {
    local who="CASE WHEN n > $checks - $small THEN '$3' ELSE 'large' END"
    if [ "$1" = sqlite ]; then
        echo "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $checks)
              INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, tenant,
                      first_check_at, next_check_at)
                  SELECT 'row', 'k' || n, 'look', $who, $2, $2 FROM c;"
    else
        echo "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, tenant,
                      first_check_at, next_check_at)
                  SELECT prescient.bucket_of('row', 'k' || n), 'row', 'k' || n, 'look', $who,
                         to_timestamp($2), to_timestamp($2) FROM generate_series(1, $checks) n;"
    fi
}

# ms_of_a_run KIND OTHER
ms_of_a_run() {
    local store now slot
    store=$(a_new_store "$1")
    rm -f "$tmp/ran"
    cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$build/tests/jobs" ];
log_level = "error";
workers = 4; workers_max = 4; split_at = 100; page = 100; lease = "2s"; trust = "1s";
jobs = { look = { plugin = "journal"; settings = { file = "$tmp/ran"; pause_us = "$pause_us"; }; }; };
CFG
    now=$(date +%s) slot=$((now - now % length))
    checks_sql "$1" $slot "$2" | "q_$1"
    "$build/prescient" --config "$tmp/prescient.cfg" --quiet run >&2
    [ "$(cut -d' ' -f1 "$tmp/ran" | sort -u | wc -l)" = "$checks" ] ||
        { echo "fair.sh: on $1 not all of $checks checks have run" >&2; return 1; }
    awk 'NR == 1 { first = $4 } { last = $4 } END { print last - first }' "$tmp/ran"
}

# lesser A B
lesser() { echo $(($1 < $2 ? $1 : $2)); }

code=0
for kind in sqlite postgresql; do
    one=999999999 two=999999999
    for ((pair = 0; pair < pairs; pair++)); do
        ms=$(ms_of_a_run "$kind" large)
        one=$(lesser "$one" "$ms")
        ms=$(ms_of_a_run "$kind" small)
        two=$(lesser "$two" "$ms")
    done
    percent=$((two * 100 / one))
    echo "$kind: $checks checks of one tenant $one ms, of two $two ms: $percent %"
    [ "$percent" -le "$most" ] || { echo "fair.sh: on $kind two tenants cost more than $most %" >&2; code=1; }
done
exit $code
