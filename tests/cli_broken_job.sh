#!/usr/bin/env bash
# cli_broken_job.sh - a job that cannot ask about any row, since its table is away: it is told in
# the first pass, its checks are late and have not failed, status says why and since when, and all
# of them are run when the table is back.
# about 15 s
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
json_begins

CHECKS=300
DUE=$(($(date +%s) / 900 * 900 + 1800))
at() { printf '%(%Y-%m-%dT%H:%M:%SZ)T' "$1"; }
export TZ=UTC

config() {
    cat >prescient.cfg <<CFG
plugin_dirs = [ "$(dirname "$P")/jobs" ];
jobs = { late = { plugin = "unshipped_order"; };
         query = { plugin = "sql_check"; settings = { event = "e"; $1 }; }; };
CFG
    chmod 600 prescient.cfg
}

pass() { "$P" --now "$(at "$1")" --quiet --log-level warn run >.run.out 2>.run.err; CODE=$?; }
status() { "$P" --now "$(at "$1")" --json status | json "$2"; }

it_is_told_in_the_first_pass() {
    pass $((DUE + 1))
    is "$STORE_NAME: each job has one line, and nothing else is told" \
        "$CODE $(grep -c 'is broken: ' .run.err) $(grep -v 'is broken: ' .run.err)" "1 2 "
    has "$STORE_NAME: with the reason" "$(grep "job 'late'" .run.err)" "$NO_TABLE"
    has "$STORE_NAME: and the count" "$(grep "job 'late'" .run.err)" \
        "$CHECKS checks are put off, the oldest since $(at $DUE). They are late, have not failed"
    has "$STORE_NAME: sql_check, too" "$(grep "job 'query'" .run.err)" "$NO_TABLE"
}

status_shows_it() {
    is "$STORE_NAME: status: they are late" "$(status $((DUE + 2)) "j['overdue']")" $((CHECKS + 1))
    is "$STORE_NAME: since they were due" "$(status $((DUE + 2)) "j['oldest_overdue_at']")" "$(at $DUE)"
    is "$STORE_NAME: status: put off, by job" \
        "$(status $((DUE + 2)) "[(r['job_exec'], r['checks']) for r in j['put_off']]")" \
        "[('late', $CHECKS), ('query', 1)]"
    is "$STORE_NAME: none has failed" \
        "$(status $((DUE + 2)) \
            "[(r['job_exec'], r['failed'], r['broken'] > 0) for r in j['failing_jobs']]")" \
        "[('late', 0, True), ('query', 0, True)]"
    "$P" --quiet --log-level error run                      # of today: a virtual time is no engine's
    "$P" --now "$(at $((DUE + 2)))" status >.status
    has "$STORE_NAME: a line a job, with the reason" "$(grep 'failing job' .status | head -1)" "$NO_TABLE"
    has "$STORE_NAME: and who is alive" "$(grep '^engine' .status)" "run $TMP/prescient.cfg"
}


all_are_run_when_it_is_mended() {
    for hours in 1 2 9; do
        pass $((DUE + hours * 3600))
    done
    is "$STORE_NAME: hours later nothing has failed" \
        "$("$P" --now "$(at $((DUE + 40000)))" history --json --outcome failed | json 'len(j)')" 0
    sql 'ALTER TABLE orders_of_old RENAME TO orders'
    pass $((DUE + 13 * 3600))
    is "$STORE_NAME: when it is mended all are run" "$CODE $(cat .run.err)" "0 "
    is "$STORE_NAME: with their answers" \
        "$("$P" --now "$(at $((DUE + 14 * 3600)))" history --json --job late --limit 1000 |
           json "len(j), {r['outcome'] for r in j}, {r['failure_count'] for r in j}")" \
        "($CHECKS, {'done'}, {0})"
    is "$STORE_NAME: status is as before" \
        "$(status $((DUE + 15 * 3600)) "j['overdue'], j['put_off'], j['failing_jobs']")" "(0, [], [])"
}

all() {
    NO_TABLE='relation "orders" does not exist'
    SELECT='SELECT k FROM json_array_elements_text($1::json) k JOIN orders o ON o.id = k::bigint'
    [ "$STORE_NAME" = postgresql ] || {
        NO_TABLE='no such table: orders'
        SELECT='SELECT k.value FROM json_each($1) k JOIN orders o ON o.id = k.value'
    }
    config "query = \"$SELECT\";"
    "$P" --quiet init >/dev/null
    sql 'CREATE TABLE orders (id bigint PRIMARY KEY, shipped_at text)'
    { echo entity_name,entity_key,job_exec,check_at
      seq -f "orders,%.0f,late,$(at $DUE)" $CHECKS
      echo "orders,1,query,$(at $DUE)"; } >load.csv
    "$P" --quiet enqueue --from load.csv >/dev/null
    sql 'ALTER TABLE orders RENAME TO orders_of_old'
    it_is_told_in_the_first_pass
    status_shows_it
    all_are_run_when_it_is_mended
}
on_each_store all
