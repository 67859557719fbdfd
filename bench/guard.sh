#!/usr/bin/env bash
# bench/guard.sh [--record]   fails when a check became dearer, by figures that do not depend on the
#                             machine's mood.
#
# For 4,000 no-op checks that end, 4,000 that move and 4,000 of schedules, one engine with one
# worker and one store connection:
#   instructions of engine and worker (valgrind --tool=callgrind), a check
#   transactions, a thousand checks: a round trip that is made for each check shows here
#   WAL bytes and row versions, a check: an index more, or a row written twice, shows here
# and the transactions of a daemon in a thousand seconds without any check to run, and the rows that
# it writes,
# and the instructions of the server for one enqueue, prepared, in a transaction of its own (and one
# of the dearest kind: a bigint key, a time in words, a jsonb payload), beside those for the bare
# INSERT that does the same and for a plain one (callgrind, postgres --single), and how many times
# that INSERT a call is, against bench/guard.txt, whose third column is the tolerance in percent.
# --record writes the figures found into it.
#
# BUILD            where the program is (build)
# PRESCIENT_TEST_PG   a PostgreSQL to use, else a cluster of our own is started and removed
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

checks=4000
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
kept=bench/guard.txt
server=${PRESCIENT_TEST_PG:-}
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
command -v valgrind >/dev/null || { echo "guard.sh: valgrind is not installed" >&2; exit 2; }

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-guard.XXXXXX")
chmod 711 "$tmp"
database=prescient_guard_$$
clean_up() {
    if [ -d "$tmp/pg" ]; then
        tests/pg_cluster.sh stop "$tmp/pg"
    else
        psql -qX "$server" -c "DROP DATABASE IF EXISTS $database" 2>/dev/null || true
    fi
    rm -rf "$tmp"
}
trap clean_up EXIT
# No checkpoint within the minutes this takes, so that WAL holds no more full pages than the first
# touch of each; and no vacuum.
[ -n "$server" ] ||
    server=$(tests/pg_cluster.sh start \
        "$tmp/pg" fsync=off autovacuum=off checkpoint_timeout=1h full_page_writes=off)
psql -qX "$server" -c "CREATE DATABASE $database"
store=$(sed -E "s#/postgres(\?|\$)#/$database\1#" <<<"$server")
q() { psql -qXAt "$store" -c "$1"; }

cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
connections = 1;
worker_seccomp = "off";         # valgrind knows no filters
workers = 1;
worker_checks = 0;
worker_memory = "0";
lease = "10m";
trust = "9m";
settle_after = "60s";
statement_timeout = "5m";
log_level = "warn";
jobs = {
    guard_end = { plugin = "noop"; settings = { answer = "done"; }; };
    guard_move = { plugin = "noop"; settings = { answer = "again"; again_after = "1h"; }; };
    guard_recur = { plugin = "noop"; settings = { answer = "done"; }; };
};
CFG
"${CC:-cc}" -shared -fPIC -O2 -o "$tmp/exec_by_name.so" bench/exec_by_name.c
export GUARD_PROGRAM=$program GUARD_PRELOAD=$tmp/exec_by_name.so
prescient() { "$@" "$program" --config "$tmp/prescient.cfg" --quiet --json "${args[@]}"; }

args=(init); prescient >/dev/null
slot=$(($(date +%s) / 900 * 900 - 900000))

. bench/slot_lib.sh

# of_kind KIND [N]: a slot of that many checks of the kind
of_kind() {
    local recurs=
    [ "$1" != recur ] || recurs=recurs
    fill "guard_$1" "${2:-$checks}" "$recurs"
}
counters() {
    sleep 1.2                           # before PostgreSQL 15, counts are gathered twice a second
    q "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, xact_commit,
              (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables
                  WHERE schemaname = 'prescient')::bigint,
              (extract(epoch FROM clock_timestamp()) * 1000)::bigint
         FROM pg_stat_database WHERE datname = current_database()"
}
ran() {
    python3 -c 'import json, sys
n = json.load(sys.stdin)["run"]
sys.exit(f"guard.sh: {n} checks were run, expected '$checks'") if n != '$checks' else None'
}
found() {
    awk -v name="$1" -v sum="$2" -v of="$3" 'BEGIN { printf "%s %.4g\n", name, sum / of }' >>"$tmp/found"
}

# Counted twice: the reading of the counters is a transaction or two itself, and stays the same.
measure_database() {
    local before after
    of_kind "$1"
    args=(run --slot "$slot")
    # the first run of a slot may still find plans and caches cold; a second slot is what counts
    prescient >/dev/null
    of_kind "$1"
    args=(run --slot "$slot")
    before=$(counters); prescient | ran; after=$(counters)
    IFS='|' read -r wal0 tx0 rows0 _ <<<"$before"
    IFS='|' read -r wal1 tx1 rows1 _ <<<"$after"
    found "$1.wal_bytes" $((wal1 - wal0)) "$checks"
    found "$1.transactions_per_1000" $((tx1 - tx0)) $((checks / 1000))
    found "$1.row_writes" $((rows1 - rows0)) "$checks"
}

# What processes do before their first check is counted with one check alone, of one job, and is
# taken off. A worker is ended at the end by a signal that leaves it no time to say anything, so
# counts are written after each message, too.
instructions() {
    awk '/^summary:/ { sum += $2 } /^totals:/ && !sum { sum = $2 } END { printf "%d\n", sum }' "$1"
}
run_counted() {
    rm -f "$tmp"/callgrind.*
    args=(run --slot "$slot")
    prescient env LD_PRELOAD="$GUARD_PRELOAD" valgrind -q --vgdb=no \
        --tool=callgrind --trace-children=yes --dump-after=message_send \
        --callgrind-out-file="$tmp/callgrind.%p" >"$tmp/totals" 2>"$tmp/valgrind.log" ||
        { cat "$tmp/valgrind.log" >&2; exit 1; }
    engine=0 workers=0
    for f in "$tmp"/callgrind.*; do
        if grep -q '^cmd:.* worker' "$f"; then
            workers=$((workers + $(instructions "$f")))
        else
            engine=$((engine + $(instructions "$f")))
        fi
    done
}
measure_start() {
    of_kind end 1; run_counted
    engine0=$engine workers0=$workers
}
measure_instructions() {
    of_kind "$1"; run_counted; ran <"$tmp/totals"
    found "$1.engine_instructions" $((engine - engine0)) "$checks"
    found "$1.worker_instructions" $((workers - workers0)) "$checks"
}

# A daemon asks once a second for what is due at once, and notes that it lives; each quarter of a
# minute it looks at slots that are not closed, and marks how far it has come, which are its only
# writes: one or two of these looks are counted. Both times are the server's; on a machine that
# stands still it asks less often, never more. The reading of the counters is a transaction, too.
# With a full slot, which lasts 900 s here, comes other work: none begins while this counts.
measure_idle() {
    local before after left=$((900 - $(date +%s) % 900))
    [ "$left" -gt 40 ] || sleep $((left + 5))
    q "TRUNCATE prescient.future_job"
    "$program" --config "$tmp/prescient.cfg" daemon 2>/dev/null >/dev/null &
    local daemon=$!
    sleep 5
    before=$(counters)
    sleep 15
    after=$(counters)
    kill "$daemon" && wait "$daemon" || true
    IFS='|' read -r _ tx0 rows0 ms0 <<<"$before"
    IFS='|' read -r _ tx1 rows1 ms1 <<<"$after"
    found idle.transactions_per_1000_s $(((tx1 - tx0 - 1) * 1000000)) $((ms1 - ms0))
    found idle.row_writes $((rows1 - rows0)) 1
}

# count_calls FOLDER: one server process on the cluster in FOLDER makes the calls of $tmp/calls.
# Each of them that sleeps, for no time, ends a part: counted.1, counted.2, ... have the parts'
# counts.
count_calls() {
    local as=() code=0
    [ "$(id -u)" != 0 ] || as=(setpriv --reuid=postgres --regid=postgres --init-groups)
    (
        cd /
        "${as[@]}" env -i PATH="$PATH" LC_ALL=C.UTF-8 valgrind -q --vgdb=no --tool=callgrind \
            --dump-before=pg_sleep --callgrind-out-file="$1/counted" \
            "$("$OLDPWD/tests/pg_cluster.sh" bin)/postgres" --single -D "$1/data" postgres \
            <"$tmp/calls" >"$tmp/single.out" 2>"$tmp/single.err"
    ) || code=$?
    if [ "$code" != 0 ] || grep -q ERROR "$tmp/single.err"; then
        echo "guard.sh: the server alone ended with $code:" >&2
        cat "$tmp/single.err" >&2
        exit 1
    fi
}
# What a process does before its calls, and what it does once at the first of them, is in a first
# part of as many.
measure_enqueue() {
    local alone=$tmp/alone columns='bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at'
    local insert="INSERT INTO prescient.future_job ($columns) VALUES" calls=100 i what statement url
    local row="'ENTITY', \$1, 'guard_end', \$2, \$2" names=() types at
    local -A count=()
    local plain='text, timestamptz|2040-01-01 00:00+00' payload="'{\"total\": 1}'::jsonb"
    url=$(tests/pg_cluster.sh start "$alone" fsync=off autovacuum=off)
    "$program" --config "$tmp/prescient.cfg" --store "$url" init >/dev/null
    tests/pg_cluster.sh ctl "$alone" stop
    while IFS='|' read -r what types at statement; do
        names+=("$what")
        echo "PREPARE $what ($types) AS ${statement//ENTITY/$what}" >>"$tmp/calls"
        for ((i = 1; i <= 2 * calls; i++)); do
            echo "EXECUTE $what ('$i', '$at')"
            [ $((i % calls)) != 0 ] || echo "SELECT pg_sleep(0)"
        done >>"$tmp/calls"
    done <<CALLS
enqueue|$plain|SELECT prescient.enqueue('ENTITY', \$1, 'guard_end', \$2)
enqueue_worst|bigint, text|+3 hours|SELECT prescient.enqueue('ENTITY', \$1, 'guard_end', \$2, $payload)
enqueue_bare|$plain|$insert (prescient.bucket_of('ENTITY', \$1), $row) ON CONFLICT DO NOTHING
enqueue_plain|$plain|$insert (0, $row)
CALLS
    count_calls "$alone"
    for i in "${!names[@]}"; do
        count[${names[i]}]=$(instructions "$alone/counted.$((2 * i + 2))")
        found "${names[i]}.server_instructions" "${count[${names[i]}]}" $calls
    done
    for what in enqueue enqueue_worst; do
        found "$what.of_bare" "${count[$what]}" "${count[enqueue_bare]}"
    done
}

measure_start
for kind in end move recur; do
    measure_database "$kind"
    measure_instructions "$kind"
done
measure_idle &
idle=$!
measure_enqueue
wait "$idle"

if [ "${1:-}" = --record ]; then
    {
        sed '/^[^#]/d' "$kept"
        awk '
            { tolerance = 8 }
            $1 ~ /wal/ { tolerance = 4 }
            $1 ~ /row_writes/ { tolerance = 2 }
            $1 ~ /idle.transactions/ { tolerance = 25 }
            $1 ~ /idle.row_writes/ { tolerance = 100 }
            $1 ~ /instructions/ { tolerance = 10 }
            $1 ~ /(engine|worker)_instructions/ { tolerance = 5 }
            { print $1, $2, tolerance }' "$tmp/found"
    } >"$tmp/kept"
    cat "$tmp/kept" >"$kept"
    echo "recorded in $kept:"; cat "$tmp/found"
    exit 0
fi
awk '
    FNR == NR { if ($0 !~ /^#/ && NF == 3) { kept[$1] = $2; tolerance[$1] = $3 } next }
    !($1 in kept) { printf "not ok - %s is not in the file of figures\n", $1; bad = 1; next }
    { percent = kept[$1] ? ($2 / kept[$1] - 1) * 100 : $2 ? 999 : 0; seen[$1] = 1 }
    { found = sprintf("%-28s %10.4g, was %10.4g: %+.1f %%", $1, $2, kept[$1], percent) }
    percent > tolerance[$1] { printf "not ok - %s, allowed %s %%\n", found, tolerance[$1]; bad = 1; next }
    percent < -2 * tolerance[$1] { print "ok     - " found " (better: record it with --record)"; next }
    { print "ok     - " found }
    END { for (k in kept) if (!(k in seen)) { printf "not ok - %s was not measured\n", k; bad = 1 } exit bad }
' "$kept" "$tmp/found"
