#!/usr/bin/env bash
# Commands that stay, `events --follow` and `events --deliver --every`, wait while the schema is
# away for a moment, as while a store is restored in place, and go on when it is back.
# night: it waits for stores that come back
. "$(dirname "$0")/acceptance_lib.sh"

emit() {
    if [ "$STORE_NAME" = sqlite ]; then
        sql "INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us, slot_at,
                                          check_count, recorded_at_us)
             VALUES ('late', 'orders', '$1', 'look', 1772370900000000, 1772370900, 0,
                     strftime('%s', 'now') * 1000000)"
    else
        sql "INSERT INTO prescient.event (event, entity_name, entity_key, job_exec, emitted_at, slot_at,
                                          check_count)
             VALUES ('late', 'orders', '$1', 'look', now(), now(), 0)"
    fi
}

# schema goes|comes: it is away, and back
schema() {
    if [ "$STORE_NAME" != sqlite ]; then
        if [ "$1" = goes ]; then
            sql "ALTER SCHEMA prescient RENAME TO away"
        else
            sql "ALTER SCHEMA away RENAME TO prescient"
        fi
    elif [ "$1" = goes ]; then
        mkdir -p away; mv "${PRESCIENT_STORE#sqlite:}"* away/
    else
        mv away/* .
    fi
}

lines() { [ "$(cat seen 2>/dev/null | wc -l)" = "$1" ]; }
is_told() { grep -q "waiting for the store" err; }

# stays WHAT command...: it appends a line an event to the file seen
stays() {
    local what="$STORE_NAME: $1" pid code; shift
    rm -f seen err
    emit 1
    "$P" events "$@" 2>err >>seen &
    pid=$!
    ok "$what: it works" wait_until 30 lines 1
    schema goes
    ok "$what: that the schema is away is told" wait_until 30 is_told
    schema comes
    emit 2
    ok "$what: it goes on when the schema is back" wait_until 30 lines 2
    kill -INT $pid; wait $pid; code=$?
    is "$what: a signal ends it well" "$code $(grep -c 'waiting for the store' err)" "0 1"
}

aways() {
    ok "$STORE_NAME: init" "$P" init
    stays "--deliver" --deliver mail --every 1s --backoff 1ms -- sed -n p
    ok "$STORE_NAME: the cursor's place" "$P" events --reset mail --to now
    cursor=$("$P" events --json | head -1 | json 'j["cursor"]')
    stays "--follow" --follow --after "$cursor" --json
}

on_each_store aways
