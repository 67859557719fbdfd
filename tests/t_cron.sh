#!/usr/bin/env bash
# t_cron.sh - what a crontab does: runs that start a moment early, overlap, are split between
# servers by minute, or were missed and are moved on.
# night: it judges time
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

QUARTER=900
settings "jobs = { noop = { plugin = \"noop\"; }; slow = { plugin = \"journal\"; batch = 1;
            settings = { file = \"$TMP/journal\"; hold = \"$TMP/hold\"; }; }; };"

totals() { echo "$(number run "$1") $(number done "$1")"; }

early() {
    local at slot
    a_clean_store --slot-length 5s
    slot=$((($(date +%s) / 5 + 1) * 5))
    fill 30 $slot noop
    # A moment early is a tenth of the slot's length at most: 500 ms here.
    ok "$STORE_NAME: (the last moments of a slot)" wait_until 6 eval \
        "[ \$(now_ms) -ge $((slot * 1000 - 350)) ]"
    at=$(now_ms)
    "$P" --json run >early.out 2>early.err; CODE=$?
    is "$STORE_NAME: a run that starts $((slot * 1000 - at)) ms early waits for the slot and runs it" \
        "$CODE $(totals early.out)" "0 30 30"
    at_least "$STORE_NAME: it began after the boundary (ms)" \
        "$(q "SELECT min(late_us) / 1000 FROM {slot_pass} WHERE pass = 1 AND run = 30")" 0
    fill 10 $((slot + 5)) noop
    at=$(now_ms)
    "$P" --json run >middle.out 2>middle.err
    is "$STORE_NAME: one in the middle of a slot leaves the next one alone" \
        "$(totals middle.out) $(pending)" "0 0 10"
    in_time "$STORE_NAME: and does not wait for it" "$(($(now_ms) - at))" 2000
}

written_down() { [ -s journal ]; }

# Three runs on one slot, started while the first is at work: its checks do not end before.
overlapping() {
    local slot n
    a_clean_store
    : >journal
    : >hold
    slot=$(($(date +%s) / QUARTER * QUARTER))
    [ $((slot + QUARTER - $(date +%s))) -gt 30 ] || slot=$((slot - QUARTER))
    fill 400 $slot slow
    start first "$P" --json run --slot $slot
    ok "$STORE_NAME: the first run is at work" wait_until 10 written_down
    for n in 2 3; do
        "$P" --json run --slot $slot >"run$n.out" 2>"run$n.err"; CODE=$?
        is "$STORE_NAME: run $n, beside it: try again, nothing run" "$CODE $(number run "run$n.out")" "75 0"
        ok "$STORE_NAME: run $n waited for nobody: the first was still at work" alive first
    done
    rm hold
    join_within 30 first
    is "$STORE_NAME: the first ran them all" "$CODE $(totals first.out)" "0 400 400"
    is "$STORE_NAME: each once" "$(archived) $(cut -d' ' -f1 journal | sort -u | wc -l) $(wc -l <journal)" \
        "400 400 400"
    is "$STORE_NAME: a run after that has nothing to do" \
        "$("$P" --json run --slot $slot 2>/dev/null >again.out; echo "$? $(totals again.out)")" "0 0 0"
}

# 2023-11-14T22:00:00Z, a full hour.
HOUR=1699999200

servers() {
    a_clean_store
    local m at
    for m in 0 15 30 45; do fill 10 $((HOUR + m * 60)) noop "'$m.' || n"; done
    for m in 0 15; do
        at=$((HOUR + m * 60))
        is "$STORE_NAME: serve = [0, 30] at minute $m" \
            "$("$P" --json --now $at --set serve=0,30 run 2>/dev/null >served.out; number run served.out)" \
            $((m ? 0 : 10))
    done
    is "$STORE_NAME: serve = [15, 45] at minute 15 takes its own" \
        "$("$P" --json --now $((HOUR + 905)) --set serve=15,45 run 2>/dev/null \
        >served.out; number run served.out)" 10
    is "$STORE_NAME: serve = [0, 30] at minute 45 sweeps its own late slot and leaves 45 alone" \
        "$("$P" --json --now $((HOUR + 2705)) --set serve=0,30 run 2>/dev/null \
        >served.out; number run served.out) $(pending)" "10 10"
    is "$STORE_NAME: within the hour another's slot is left to it" \
        "$("$P" --json --now $((HOUR + 2700 + 3000)) --set serve=0,30 sweep 2>/dev/null \
        >served.out; number run served.out) $(pending)" "0 10"
    is "$STORE_NAME: after that it is nobody's, and swept" \
        "$("$P" --json --now $((HOUR + 2700 + 5400)) --set serve=0,30 sweep 2>/dev/null \
        >served.out; number run served.out) $(pending)" "10 0"
}

# What was missed: swept oldest first, or moved on to the next slot.
missed() {
    a_clean_store
    local m now=$((HOUR + 7300)) next=$((HOUR + 8100))
    for m in 0 15 60; do fill 10 $((HOUR + m * 60)) noop "'$m.' || n"; done
    fill 5 $next noop "'next.' || n"
    ok "$STORE_NAME: run --no-sweep" "$P" --quiet --now $now run --no-sweep
    is "$STORE_NAME: it leaves late slots alone" "$(pending)" 35
    ok "$STORE_NAME: reslot" "$P" --quiet --now $now reslot
    is "$STORE_NAME: all late checks wait in the next slot, none was run or counted" \
        "$(q "SELECT count(*), min(<next_check_at>), max(<next_check_at>), max(check_count),
              max(failure_count) FROM {future_job}") $(archived) $(
            q 'SELECT count(*) FROM {future_job_run}')" \
        "35|$next|$next|0|0 0 0"
    is "$STORE_NAME: their first slot stays" \
        "$(q "SELECT count(DISTINCT first_check_at) FROM {future_job}")" 4
    ok "$STORE_NAME: reslot works without any job" \
        "$P" --quiet --now $((next + QUARTER)) --set plugin_dirs=/nonexistent reslot
    is "$STORE_NAME: moved once more" "$(q "SELECT DISTINCT <next_check_at> FROM {future_job}")" \
        "$((next + 2 * QUARTER))"
    ok "$STORE_NAME: sweep" "$P" --json --now $((next + 4 * QUARTER)) sweep
    is "$STORE_NAME: what is late then is run" "$(archived) $(pending) $(leases)" "35 0 0"
}

in_the_future() {
    a_clean_store
    fails_with 2 "has not begun" "$P" run --slot 4102444800
    has "$STORE_NAME: a second between two slots is told from a slot" \
        "$("$P" run --slot $((HOUR + 1)) 2>&1)" "a second between two slots of"
}

on_each_store early
on_each_store overlapping
on_each_store servers
on_each_store missed
on_each_store in_the_future
