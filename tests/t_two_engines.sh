#!/usr/bin/env bash
# t_two_engines.sh - several engines on the same slots at once, on both stores: run log and history
# hold each check exactly once, the engines' own counts add up to it, every lease is given back.
# night: engines on a thousand checks; the simulation asks for the same in the gate
# not for coverage
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

SLOT=1700000100
settings 'jobs = { noop = { plugin = "noop"; }; journal = { plugin = "journal";
        settings = { file = "'"$TMP"'/journal"; }; }; };'

# one_by_one ENGINE...: what each of the engines reports equals what the store has.
counts_agree() {
    local name sum=0 run
    for name; do
        run=$(number run "$name.out")
        # 75: it ran nothing, since others held all that was due
        case $CODES in
        *" $name=0 "*) pass "$STORE_NAME: $name: exit code 0" ;;
        *" $name=75 "*) is "$STORE_NAME: $name: exit code 75 and ran nothing" "$run" 0 ;;
        *) fail "$STORE_NAME: $name: exit code" "found:    $CODES" "expected: 0, or 75" \
            "$(tail -5 "$name.err")" ;;
        esac
        is "$STORE_NAME: $name: history has as many of its runs as it counts" \
            "$(q "SELECT count(*) FROM {future_job_history} WHERE engine LIKE '%/${PIDS[$name]}'")" "$run"
        sum=$((sum + run))
    done
    is "$STORE_NAME: the engines ran each check once between them" "$sum" "$CHECKS"
}

each_check_once() {
    is "$STORE_NAME: history holds each check once" \
        "$(q 'SELECT count(*), count(DISTINCT entity_key) FROM {future_job_history}')" "$CHECKS|$CHECKS"
    is "$STORE_NAME: all of them done" \
        "$(q "SELECT DISTINCT outcome, check_count, failure_count, run_count FROM {future_job_history}")" \
        "done|0|0|1"
    is "$STORE_NAME: the run log holds none" "$(q 'SELECT count(*) FROM {future_job_run}')" 0
    is "$STORE_NAME: nothing is pending" "$(pending)" 0
    is "$STORE_NAME: every lease is given back" "$(q 'SELECT count(*) FROM {slot_lease}')" 0
    is "$STORE_NAME: the passes' counts add up to it" \
        "$(q 'SELECT sum(run), sum(done), sum(superseded) FROM {slot_pass} WHERE pass > 0')" \
        "$CHECKS|$CHECKS|0"
}

start_engine() {
    local name=$1; shift
    start "$name" "$P" --json "$@"
    PIDS[$name]=$(pid_of "$name")
}

join_engines() {
    local name
    CODES=" "
    for name; do join_within 60 "$name"; CODES="$CODES$name=$CODE "; done
    for name; do ok "$STORE_NAME: $name leaves no worker behind" no_workers_of "${PIDS[$name]}"; done
}

declare -A PIDS

one_slot() {
    [ "$STORE_NAME" = postgresql ] || return 0      # in SQLite a slot is one lease
    a_clean_store
    CHECKS=100000
    fill $CHECKS $SLOT noop
    local began; began=$(now_ms)
    start_engine first run --slot $SLOT
    start_engine second run --slot $SLOT
    ok "the third engine is started in the middle" wait_until 20 archived_at_least 10000
    start_engine third run --slot $SLOT
    join_engines first second third
    echo "# $CHECKS checks, three engines: $(($(now_ms) - began)) ms"
    counts_agree first second third
    each_check_once
    at_least "the slot was shared" "$(q "SELECT count(DISTINCT engine) FROM {slot_pass} WHERE pass > 0")" 2
    # An engine that looks at the slot for long, and has begun before a bucket was leased to
    # another, may take that bucket when it is over: it finds nothing there, and says so in another
    # pass.
    is "the slot was split into 64, each run to its end once" \
        "$(q "SELECT count(*), count(DISTINCT bucket), max(pass), min(bucket), max(bucket)
              FROM {slot_pass} WHERE pass > 0 AND run > 0")" "64|64|1|0|63"
}

many_slots() {
    a_clean_store
    CHECKS=12000
    local n
    rm -f journal; : >journal
    for n in 0 1 2 3 4 5 6 7; do fill 1500 $((SLOT + n * 900)) journal "'s$n.' || n"; done
    start_engine first sweep
    start_engine second sweep
    join_engines first second
    counts_agree first second
    each_check_once
    is "$STORE_NAME: the job itself was called once a check" \
        "$(cut -d' ' -f1 journal | sort -u | wc -l) $(wc -l <journal)" "$CHECKS $CHECKS"
}

on_each_store one_slot
on_each_store many_slots
