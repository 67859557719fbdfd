#!/usr/bin/env bash
# f33_down_for_long.sh - F33: no engine runs for 30 days or an hour, and up to a million checks are
#     late when one comes back
# PASS: the sweep does not starve the checks of current slots, few leases are held at a time, memory
# is bounded, every late check runs once. LATE is the number of late checks (PostgreSQL 1,000,000,
# SQLite 200,000).
# limit 900
. "$(dirname "$0")/lib.sh"

# late_checks N SLOTS FIRST STEP: N checks, spread over so many slots from FIRST on, STEP seconds
# apart
late_checks() {
    local slot="$3 + (n % $2) * $4"
    if [ "$STORE_NAME" = sqlite ]; then
        q "WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < $1 - 1)
           INSERT INTO {future_job} (entity_name, entity_key, job_exec, first_check_at, next_check_at)
               SELECT 'row', 'late' || n, 'witness', $slot, $slot FROM c"
    else
        q "INSERT INTO {future_job} (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)
           SELECT prescient.bucket_of('row', 'late' || n), 'row', 'late' || n, 'witness', to_timestamp($slot),
               to_timestamp($slot) FROM generate_series(0, $1 - 1) n"
        q "ANALYZE {future_job}"
    fi
}

# Watches while they are worked off: the most leases at a time, and the most memory of the engine.
watch_leases() {
    local n most=0
    while [ ! -e "$CASE/watched" ]; do
        n=$(leases); [ "${n:-0}" -le $most ] || most=$n
        echo "$most" >"$CASE/most_leases"
        sleep 0.1
    done
}
late_are_over() {
    [ "$(q "SELECT count(*)
            FROM (SELECT 1 FROM {future_job} WHERE entity_key LIKE 'late%' LIMIT 1) any_left")" = 0 ]
}
# back_after NAME SECONDS-DOWN SLOTS LATE
back_after() {
    local late=$4 began took
    WITNESS='batch = 1000;' a_case "$1" 'workers = 2;'
    late_checks "$late" "$3" $(($(date +%s) - $2)) $(($2 / $3))
    began=$(date +%s)
    engine one
    watch_leases & HELPERS[watch]=$!
    write_checks w --checks 400 --batch 40 --over 10 --mix plain
    ok "$CASE_NAME: all $late late checks are over" wait_until 420 late_are_over
    took=$(($(date +%s) - began))
    echo "# $CASE_NAME: $late late checks of $3 slots in $took s"
    written w
    ok "$CASE_NAME: what is on time is over, too" wait_until 10 drained
    touch watched; wait "${HELPERS[watch]}"; unset "HELPERS[watch]"
    at_most "$CASE_NAME: leases at a time" "$(cat most_leases)" 64
    [ -n "${SANITIZE:-}" ] || at_most "$CASE_NAME: the engine's memory is bounded (KiB)" \
        "$(peak_kib "$(engine_pid one)")" 131072
    is "$CASE_NAME: each late check ran once" \
        "$(grep -c '	row	late' journal) $(
            grep '	row	late' journal | cut -f6 | sort -u | wc -l)" "$late $late"
    is "$CASE_NAME: and is archived once" \
        "$(q "SELECT count(*), count(DISTINCT entity_key) FROM {future_job_history}
              WHERE entity_key LIKE 'late%' AND outcome = 'done'")" "$late|$late"
    is "$CASE_NAME: with one event each" \
        "$(q "SELECT count(*), count(DISTINCT entity_key) FROM {event} WHERE entity_key LIKE 'late%'")" \
        "$late|$late"
    # The checker looks at those that were on time; a million would fill its memory.
    grep -v '	row	late' journal >rest; mv rest journal
    q "DELETE FROM {future_job_history} WHERE entity_key LIKE 'late%'"
    q "DELETE FROM {event} WHERE entity_key LIKE 'late%'"
    verdict F33
    at_most "$CASE_NAME: the longest delay of a check that was on time (ms)" "$LONGEST_MS" "$EPSILON_MS"
}

# SQLite waits for the disk some times for each slot.
slots() { if [ "$STORE_NAME" = sqlite ]; then echo $(($1 / 10)); else echo "$1"; fi; }
default_late() { if [ "$STORE_NAME" = sqlite ]; then echo 200000; else echo 1000000; fi; }
an_hour() { back_after hour 3600 "$(slots 3000)" $((${LATE:-$(default_late)} / 10)); }
thirty_days() { back_after month 2592000 "$(slots 4000)" "${LATE:-$(default_late)}"; }

on_both_stores an_hour
on_both_stores thirty_days
