#!/usr/bin/env bash
# `prescient retry` of more than one page: to the end, interrupted, bounded, repeated.
# night: some thousand checks go to and fro, on both stores
. "$(dirname "$0")/lib.sh"

# failures JOB N: N checks of it have failed.
failures() {
    if [ "$STORE_NAME" = sqlite ]; then
        sql "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
             INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key,
                 job_exec, outcome, check_count, failure_count, run_count, slot_at, first_check_at,
                 total_run_us, archived_at_us, payload)
             SELECT i, 1700000000000000, 'orders', 'k' || i, '$1', 'failed', 0, 1, 1, 1700000100,
                    1700000100, 1, 1700000000000000, '{\"n\": ' || i || '}' FROM n"
    else
        sql "INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at,
                 check_count, failure_count, run_count, entity_name, entity_key, job_exec, outcome, payload)
             SELECT now(), now(), now(), now(), 0, 1, 1, 'orders', 'k' || i, '$1', 'failed',
                    json_build_object('n', i) FROM generate_series(1, $2) i"
    fi
}

outcomes() { json '[sum(r["outcome"] == o for r in j) for o in ("new", "kept")]'; }
waiting() { "$P" list orders --job "$1" --limit 0 --json | json 'len(j)'; }

# stopped COMMAND...: runs it with a SIGINT that waits from its start on.
stopped() {
    python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.kill(os.getpid(), signal.SIGINT)
os.execv(sys.argv[1], sys.argv[1:])' "$@"
}

# The day that is not over has no index for them, and is read once a page.
one_reading_a_page() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local day="prescient.future_job_history_p$(date -u +%Y%m%d)" before
    failures page 1000
    before=$(rows_read "$day")
    "$P" --quiet --json retry --job page >/dev/null
    at_most_rows "$STORE_NAME: a page reads the day a few times, not once a failure" \
        $(($(rows_read "$day") - before)) 100000
}
rows_read() {
    sql "SELECT pg_stat_force_next_flush()" >/dev/null 2>&1
    sleep 1.2                               # a session tells its counts once a second
    sql "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
          WHERE relid = '$1'::regclass"
}
at_most_rows() { ok "$1 ($2)" test "$2" -le "$3"; }

retries() {
    ok "$STORE_NAME: init" "$P" init
    failures a 2500
    is "$STORE_NAME: all are put back" "$("$P" --json retry --all 2>err | outcomes)" "[2500, 0]"
    is "$STORE_NAME: and wait" "$(waiting a)" 2500
    is "$STORE_NAME: with their payloads" \
        "$("$P" list orders k7 --json | json 'j[0]["payload"]["n"]')" 7
    is "$STORE_NAME: again, each is kept once" "$("$P" --json retry --all 2>err | outcomes)" "[0, 2500]"
    has "$STORE_NAME: which is told" "$(cat err)" "kept: 2500 checks wait already"

    one_reading_a_page
    failures b 2500
    "$P" retry --job b --limit 1200 >out 2>err
    is "$STORE_NAME: --limit puts back so many" "$? $(waiting b)" "0 1200"
    has "$STORE_NAME: and tells what is left" "$(cat err)" \
        "1200 put back, 1300 left; the same command goes on with them"
    has "$STORE_NAME: a table for people has the first ones" "$(cat err)" \
        "these are the first 1000; --json shows all"
    is "$STORE_NAME: again, it goes on behind those that wait" \
        "$("$P" --json retry --job b --limit 1200 2>err | outcomes) $(waiting b)" "[1200, 1200] 2400"
    has "$STORE_NAME: up to the last" "$(cat err)" "1200 put back, 100 left"
    is "$STORE_NAME: and a third time" "$("$P" --quiet --json retry --job b --limit 1200 | outcomes)" \
        "[100, 2400]"

    failures c 2500
    fails_with 1 "stopped by a signal" stopped "$P" retry --job c
    has "$STORE_NAME: Ctrl-C: what was done is told" "$(cat .err)" "1000 put back, 1500 left"
    is "$STORE_NAME: and is done" "$(waiting c)" 1000
    if command -v script >/dev/null; then
        has "$STORE_NAME: on a terminal it shows how far it is" \
            "$(script -qec "TERM=xterm $P retry --job c" /dev/null | tr -d '\r')" "retrying"
        is "$STORE_NAME: and a second call does the rest" "$(waiting c)" 2500
    fi
}

on_each_store retries
