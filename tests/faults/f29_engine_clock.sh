#!/usr/bin/env bash
# f29_engine_clock.sh - F29: engines' wall clocks jump by hours, a day, to 1970 and a leap second,
#     and one is five minutes off
# PASS: the database's clock decides what is due: nothing early, nothing late, nothing twice; a job
# times out when its time is over, and not otherwise.
#
# An engine's workers see its clock; the database, the application and the checker have the
# machine's. (With SQLite the machine's clock is the database's: F30.)
. "$(dirname "$0")/lib.sh"
. "$FAULTS/clock.sh"

TIMEOUT_MS=1000
ROUNDS=${ROUNDS:-3}

# A jump, and what makes it: a second that is repeated or left out begins with a minute, as UTC has
# it.
jump_is() {
    case $1 in
    1970) clock_set "$2" 7 ;;
    leap) at_a_new_second "$2" && clock_jump "$2" -1s ;;
    leap_left_out) at_a_new_second "$2" && clock_jump "$2" +1s ;;
    *) clock_jump "$2" "$1" ;;
    esac
}
at_a_new_second() { local was; was=$(clock_shows "$1"); wait_until 3 a_second_after "$1" "$was"; }
a_second_after() { [ "$(clock_shows "$1")" -gt "$2" ]; }

# Each kind of jump, in an order of the seed's, on one of the two clocks that jump; jobs hang and
# sleep meanwhile.
jumps() {
    local n kind
    for ((n = 0; n < ROUNDS; n++)); do
        for kind in $(printf '%s\n' -1h +1h +1d 1970 leap leap_left_out |
            shuf --random-source=<(yes "$SEED.$n")); do
            jump_is "$kind" "jumping$((RANDOM % 2))"
            JUMPS=$((JUMPS + 1))
            sleep "0.$((RANDOM % 9 + 1))"
            [ $((RANDOM % 3)) != 0 ] || clock_right "jumping$((RANDOM % 2))"
        done
    done
}

# How long what timed out had run, by the engine's stopwatch; and by the machine's clock, from the
# journal's line to the worker's next.
timeouts_in_time() {
    q "SELECT count(*), coalesce(min(us), 0) / 1000, coalesce(max(us), 0) / 1000
         FROM (SELECT run_us AS us FROM {future_job_run} WHERE outcome = 'timeout'
               UNION ALL SELECT last_run_us FROM {future_job_history} WHERE outcome = 'timeout') t"
}

moments_not_of_the_database() {
    q "SELECT count(*) FROM {future_job_history} WHERE <last_run_at> NOT BETWEEN <slot_at> - 1
       AND <slot_at> + 60" | tr '\n' ' '
    q "SELECT count(*) FROM {future_job_run} WHERE <run_at> NOT BETWEEN <slot_at> - 1 AND <slot_at> + 60" |
        tr '\n' ' '
    q "SELECT late_us FROM {slot_pass} WHERE late_us NOT BETWEEN -1000000 AND 60000000
       ORDER BY 1 LIMIT 5" | tr '\n' ' '
}

jumping_engines() {
    local count shortest longest
    JUMPS=0
    # in parts, so that all have work
    WITNESS="batch = 1; timeout = \"${TIMEOUT_MS}ms\"; max_failures = 2;" a_case jumps \
        'workers = 3; hold_back_after = 1000000; split_at = 5;'
    a_clock off
    clock_jump off +5m
    on_clock jumping0 engine e0
    on_clock jumping1 engine e1
    on_clock off engine e2
    write_checks w --checks $((ROUNDS * 300)) --batch 20 --over $((ROUNDS * 6)) --ahead 0,2 --mix timed
    ok "$CASE_NAME: the engines are at work" wait_until 10 runs_at_least 10
    jumps
    written w
    # No jump explains anything here: a check that is early, late or runs again is held against the
    # engine.
    LIVE_S=30 verdict F29 --epsilon-ms "$EPSILON_MS"
    at_least "$CASE_NAME: jumps" "$JUMPS" $((ROUNDS * 6))
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
    IFS='|' read -r count shortest longest < <(timeouts_in_time)
    at_least "$CASE_NAME: jobs that hung while clocks jumped" "$count" 5
    at_least "$CASE_NAME: none was ended before its time (ms)" "$shortest" $TIMEOUT_MS
    at_most "$CASE_NAME: nor much after it (ms)" "$longest" $((TIMEOUT_MS + 1500))
    at_least "$CASE_NAME: and what took 600 ms has ended by itself" \
        "$(grep -c "sleep 600" "$CASE/journal")" 10
    is "$CASE_NAME: moments and delays in history and run log that are not by the database's clock" \
        "$(moments_not_of_the_database)" "0 0 "
    is "$CASE_NAME: each engine had a share" "$(cut -f4 "$CASE/journal" | sort -u | wc -l)" 3
}

needs_clocks
on_stores postgresql jumping_engines
