#!/usr/bin/env bash
# f31_time_zones.sh - F31: nights of daylight saving, the 29th of February and the year 2038, in
#     other time zones of process and database
# PASS: history, run log and passes are the same to the byte as with TZ=UTC.
. "$(dirname "$0")/lib.sh"

# zone of the process, zone of the database
ZONES="UTC:UTC Europe/Berlin:Europe/Berlin Australia/Lord_Howe:UTC
    America/St_Johns:Australia/Lord_Howe Pacific/Apia:Asia/Kathmandu"
# moments around which checks lie: Berlin springs forward and falls back, Lord Howe (by half an
# hour), a leap day, the end of 32 bits, a year's end
NIGHTS="2026-03-29T01:00:00Z 2026-10-25T01:00:00Z 2026-04-04T15:00:00Z
    2026-10-03T15:30:00Z 2028-02-29T00:00:00Z 2038-01-19T03:14:08Z 2027-12-31T23:59:59Z"
LIFE='["again 1800", "fail", "again_from_slot 3600", "done"]'

# All that a run leaves, without what the real clock has to do with.
everything_left() {
    q "SELECT 'history', entity_key, outcome, check_count, failure_count, run_count,
       <slot_at>, <first_check_at>, $1 FROM {future_job_history}
       UNION ALL SELECT 'run', entity_key, outcome, check_count, failure_count, 0, <slot_at>, <next_check_at>,
           $2 FROM {future_job_run} ORDER BY 1, 2, 7"
}

one_zone() {
    local zone=$1 night n=0 at sql="" from to
    WITNESS='batch = 1; backoff = "900s"; backoff_max = "1h";' SLOT_LENGTH=15m TZ=UTC a_case \
        "tz" 'workers = 2;'
    [ "$STORE_NAME" = sqlite ] ||
        q "ALTER DATABASE $(q 'SELECT current_database()') SET timezone = '${zone#*:}'"
    for night in $NIGHTS; do
        from=$(date -u -d "$night" +%s)
        for at in $(seq $((from - 7200)) 1740 $((from + 7200))); do
            n=$((n + 1))
            TZ=${zone%:*} "$P" --quiet --now $((from - 86400)) enqueue row "k$n" witness \
                "$(date -u -d "@$at" +%Y-%m-%dT%H:%M:%SZ)" --payload "$LIFE" >/dev/null ||
                fail "$CASE_NAME: enqueue at $at in ${zone%:*}"
        done
    done
    RANDOM=1
    for night in $NIGHTS; do
        from=$(($(date -u -d "$night" +%s) / 900 * 900 - 10800)); to=$((from + 36000))
        TZ=${zone%:*} "$P" --quiet replay --from $from --to $to >replay.out 2>>replay.err ||
            [ $? = 1 ] || fail "$CASE_NAME: replay in ${zone%:*}" "$(tail -3 replay.err)"
    done
    if [ "$STORE_NAME" = sqlite ]; then everything_left ended_at_us/1000000 run_at_us/1000000
    else
        everything_left "extract(epoch FROM ended_at)::bigint" "extract(epoch FROM run_at)::bigint"
        fi >"$TMP/$STORE_NAME.left"
    [ "$STORE_NAME" = sqlite ] || q "ALTER DATABASE $(q 'SELECT current_database()') RESET timezone"
    RUNS=$(runs) RERUNS=0 LONGEST_MS=0
    is "$CASE_NAME: $zone: all are over" "$(pending)" 0
}

zones() {
    local zone before=$FAILED all=0 reference="" result
    FAILED=0
    for zone in $ZONES; do
        one_zone "$zone"
        all=$((all + RUNS))
        if [ -z "$reference" ]; then
            reference=$TMP/$STORE_NAME.reference
            mv "$TMP/$STORE_NAME.left" "$reference"
            at_least "$CASE_NAME: rows that can differ" "$(wc -l <"$reference")" 200
        else
            ok "$CASE_NAME: $zone: the same as in UTC" diff "$reference" "$TMP/$STORE_NAME.left"
        fi
    done
    result=passed; [ "$FAILED" = 0 ] || result=failed
    RUNS=$all
    record F31 "$result"
    [ "$before" = 0 ] || FAILED=1
    cd "$TMP" || exit 2
}
on_both_stores zones
