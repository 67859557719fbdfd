#!/usr/bin/env bash
# bench/before.sh [NUMBER [CALLS [ROUNDS]]]   what one enqueue cost up to a migration, and costs now
#
# Two databases of one cluster of its own: one has the migrations up to NUMBER (14), the other all.
# pgbench makes CALLS (5000) prepared calls of each kind, each in a transaction of its own, whose
# commit is not waited for, on one connection. Rounds go over all kinds in turn. Prints medians of
# ROUNDS (5): microseconds of a call, and how many times the bare INSERT of the same round, with the
# same two unique indexes. Before 0015 a key had to be text, and a payload json.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

last=${1:-14} calls=${2:-5000} rounds=${3:-5}
bin=$(tests/pg_cluster.sh bin)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-before.XXXXXX")
chmod 711 "$tmp"
trap 'tests/pg_cluster.sh stop "$tmp/pg"; rm -rf "$tmp"' EXIT
server=$(tests/pg_cluster.sh start "$tmp/pg" synchronous_commit=off)
database() { sed "s#/postgres?#/$1?#" <<<"$server"; }

for name in before now; do
    psql -qX "$server" -c "CREATE DATABASE $name"
    {
        echo 'SET client_min_messages = warning; CREATE SCHEMA prescient;'
        # which the program makes
        sed -n '/^-- name: make_migration_table/,/^$/p' engine/store/store_pg.sql; echo ';'
        for file in migrations/pg/*.sql; do
            number=$(basename "$file"); number=$((10#${number%%_*}))
            [ "$name" = now ] || [ "$number" -le "$last" ] || continue
            sed 's/prescient_schema/prescient/g' "$file"
        done
    } | psql -qX -v ON_ERROR_STOP=1 -1 "$(database "$name")" >/dev/null
done

# WHAT|DATABASE|STATEMENT; :i is a number, and a parameter of the prepared statement
at="timestamptz '2040-01-01 00:00+00'"
columns='bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at'
uuid="('a0eebc99-9c0b-4ef8-bb6d-' || lpad((:i)::text, 12, '0'))::uuid"
enqueue="SELECT prescient.enqueue('e', (:i)::text, 'j',"
payload="'{\"total\": 1}'"
cat >"$tmp/kinds" <<KINDS
bare INSERT|now|INSERT INTO prescient.future_job ($columns) VALUES (0, 'e', (:i)::text, 'j', $at, $at)
text key|before|$enqueue $at)
text key|now|$enqueue $at)
bigint key|now|SELECT prescient.enqueue('e', (:i)::bigint, 'j', $at)
uuid key|now|SELECT prescient.enqueue('e', $uuid, 'j', $at)
interval|before|$enqueue interval '3 hours')
interval|now|$enqueue interval '3 hours')
'+3 hours'|before|$enqueue '+3 hours'::text)
'+3 hours'|now|$enqueue '+3 hours'::text)
'tomorrow'|before|$enqueue 'tomorrow'::text)
'tomorrow'|now|$enqueue 'tomorrow'::text)
json payload|before|$enqueue $at, $payload::json)
json payload|now|$enqueue $at, $payload::json)
jsonb payload|now|$enqueue $at, $payload::jsonb)
KINDS

# one_call STATEMENT DATABASE: prints the microseconds of a call
one_call() {
    psql -qX "$(database "$2")" -c 'TRUNCATE prescient.future_job' -c CHECKPOINT
    printf '\\set i :i + 1\n%s;\n' "$1" >"$tmp/script"
    "$bin/pgbench" -n -M prepared -t "$calls" -D i=1000000 -f "$tmp/script" \
        -h "$tmp/pg/sock" -U postgres "$2" 2>"$tmp/err" |
        awk '/^latency average/ { print $4 * 1000 }
             /^number of failed/ && $5 > 0 { exit 1 }' || { cat "$tmp/err" >&2; exit 1; }
}

for ((round = 1; round <= rounds; round++)); do
    while IFS='|' read -r what name statement; do
        us=$(one_call "$statement" "$name" </dev/null)
        [ "$what" != 'bare INSERT' ] || bare=$us
        echo "$what|$name|$us|$bare"
    done <"$tmp/kinds"
done >"$tmp/found"

python3 - "$tmp/found" "$last" <<'PYTHON'
import statistics
import sys

found = {}
for line in open(sys.argv[1]):
    what, name, us, bare = line.rstrip("\n").split("|")
    found.setdefault(what, {}).setdefault(name, []).append((float(us), float(us) / float(bare)))

then = "up to " + sys.argv[2].zfill(4)
print(f"{'one call':<16}{then:>12}{'to bare':>9}{'now':>8}{'to bare':>9}")
for what, names in found.items():
    row = f"{what:<16}"
    for name, width in (("before", 12), ("now", 8)):
        rounds = names.get(name)
        us, ratio = [statistics.median(r) for r in zip(*rounds)] if rounds else ("-", "-")
        row += f"{us:>{width}.1f}{ratio:>9.2f}" if rounds else f"{us:>{width}}{ratio:>9}"
    print(row)
PYTHON
