#!/usr/bin/env bash
# f56_pauses.sh - F56: a job is paused and resumed again and again, while engines are killed,
#     stopped past their lease and continued, or cut off from the database, at both moments
# PASS: three seconds after a pause no check of the job runs any more, whatever becomes of engines;
# none is lost; after it was resumed each runs once, as the common checks say; and at the end no
# pause is on or ending, and nothing of its slot is left.
# limit 900
. "$(dirname "$0")/lib.sh"

# A second to hear of it, another of trust, and one for a machine with other work.
HEARD_S=3
[ -x "$P-failpoints" ] || { echo "not ok - $P-failpoints is not built ('make faults' builds it)"; exit 1; }

is_hit() { [ ! -e "$CASE/$1" ]; }
name_of() {
    local name; for name in "${!ENGINES[@]}"; do [ "${ENGINES[$name]}" != "$1" ] || echo "$name"; done
}
a_new_engine() { engine "e$((NEXT++))"; }
paused() { q "SELECT count(*) FROM {future_job} WHERE <next_check_at> >= 221845392000"; }
some_are_paused() { [ "$(paused)" -gt 0 ]; }
none_is_paused() { [ "$(paused)" = 0 ]; }
pauses_are_over() { [ "$("${P%-failpoints}" --json pauses)" = "[]" ]; }
ran_since() { awk -F'\t' -v from="$1" '$1 >= from' "$CASE/journal" | wc -l; }

# strike ACTION POINT COMMAND...: the command, and the first engine that gets to the point after it
# is hit. One that is stopped stays so until `wake`.
strike() {
    local action=$1 point=$2 pid; shift 2
    echo "$action" >"$CASE/.armed" && mv "$CASE/.armed" "$CASE/$point"
    ok "$CASE_NAME: $1" "${P%-failpoints}" --quiet "$@"
    wait_until 8 is_hit "$point" || { rm -f "${CASE:?}/$point"; return; }
    HITS=$((HITS + 1))
    wait_until 2 grep -q "$action $point" "$CASE/faults"
    pid=$(sed -n "s/.*	$action $point	engine://p" "$CASE/faults" | tail -1)
    case $action in
    kill) engine_over "$(name_of "$pid")"; a_new_engine ;;
    stop) STOPPED=$pid WHAT="stop $point" ;;
    esac
}

wake() {
    [ -n "$STOPPED" ] || return 0
    kill -CONT "$STOPPED"
    fault_ends "$WHAT" "engine:$STOPPED"
    STOPPED=
}

# round ACTION POINT POINT: hit at the first one after the pause, at the second one after the end of
# it. One that was stopped comes back while the job is paused.
round() {
    local from
    strike "$1" "$2" pause --job witness --reason "round $2"
    sleep $HEARD_S
    from=$(now_us)
    sleep $((LEASE_S + 1))
    wake
    sleep 2
    is "$CASE_NAME: $1 $2: nothing that is paused runs" "$(ran_since "$from")" 0
    ok "$CASE_NAME: $1 $2: it waits" wait_until 10 some_are_paused
    strike "$1" "$3" resume --job witness
    sleep $((LEASE_S + 1))
    wake
    ok "$CASE_NAME: $1 $3: all of it leaves" wait_until 30 none_is_paused
    ok "$CASE_NAME: $1 $3: and runs" wait_until 20 runs_at_least $(($(runs) + 1))
}

under() {
    NEXT=0 HITS=0 STOPPED=
    SLOT_LENGTH=5s WITNESS='batch = 1;' a_case "$1" 'workers = 2; split_at = 40; connections = 2;'
    export PRESCIENT_FAILPOINTS=$CASE
    P=$P-failpoints
    a_new_engine; a_new_engine; a_new_engine
    write_checks w --checks 9000 --over 300 --until enough --batch 20 --mix busy --ahead 0,6
    wait_until 20 runs_at_least 20
    round "$1" before-settle after-lease
    round "$1" after-settle-sent before-settle
    round "$1" after-lease after-settle-sent
    round "$1" before-finish before-finish
    : >enough
    written w
    ok "$CASE_NAME: all pauses are over" wait_until 60 pauses_are_over
    is "$CASE_NAME: nothing of their slots is left" \
        "$(q "SELECT count(*) FROM {slot_pass} WHERE <slot_at> >= 221845392000")" 0
    at_least "$CASE_NAME: engines that were hit" "$HITS" 6
    P=${P%-failpoints}
    unset PRESCIENT_FAILPOINTS
    LIVE_S=60 verdict F56
}

kills() { under kill; }
stops() { under stop; }
cuts() { under cut; }

on_both_stores kills
on_both_stores stops
on_stores postgresql cuts
