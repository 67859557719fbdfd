#!/usr/bin/env bash
# f00_failpoints.sh - F00: at each step of the protocol an engine is killed, stopped past its lease
#     and continued, or cut off from the database
# PASS: the common checks hold, wherever it happens. The steps: before-lease, after-lease,
# after-renew-sent, before-run, after-run, before-settle, after-settle-sent, after-settle,
# before-finish, before-release.
# quick
. "$(dirname "$0")/lib.sh"

POINTS="before-lease after-lease after-renew-sent before-run after-run before-settle"
POINTS+=" after-settle-sent after-settle before-finish before-release"
[ -x "$P-failpoints" ] || { echo "not ok - $P-failpoints is not built ('make faults' builds it)"; exit 1; }

armed() { [ -e "$CASE/$1" ]; }
is_hit() { ! armed "$1"; }
name_of() {
    local name; for name in "${!ENGINES[@]}"; do [ "${ENGINES[$name]}" != "$1" ] || echo "$name"; done
}

# A lease is only released, unsettled, by an engine that ends.
provoke() {
    [ "$1" = before-release ] || return 0
    local name; name=$(engine_at_work) || return 0
    kill -TERM "$(engine_pid "$name")"
    LEAVING=$name
}

# cross POINT ACTION: one hit and what follows from it. A hit that was not seen is a step that the
# scenario does not reach.
cross() {
    local pid name
    LEAVING=
    echo "$2" >"$CASE/.armed" && mv "$CASE/.armed" "$CASE/$1"
    provoke "$1"
    if ! wait_until 8 is_hit "$1"; then
        rm -f "${CASE:?}/$1"
        [ -z "$LEAVING" ] || { engine_over "$LEAVING"; a_new_engine; }
        return 1
    fi
    HITS=$((HITS + 1))
    wait_until 2 grep -q "$2 $1" "$CASE/faults"
    pid=$(sed -n "s/.*	$2 $1	engine://p" "$CASE/faults" | tail -1)
    name=$(name_of "$pid")
    case $2 in
    kill) engine_over "$name"; a_new_engine ;;
    stop)
        sleep "$((LEASE_S + 1)).$((RANDOM % 9))"
        kill -CONT "$pid"
        fault_ends "$2 $1" "engine:$pid"
        ;;
    esac
    [ -z "$LEAVING" ] || [ "$2" = kill ] || { engine_over "$LEAVING"; a_new_engine; }
    MISSED=${MISSED//" $1 "/ }
}
a_new_engine() { engine "e$((NEXT++))"; }

crossing() {
    local action=$1 points point
    read -ra points <<<"$POINTS"
    WITNESS='batch = 1;' a_case "$action" 'workers = 2; split_at = 40; connections = 2;'
    export PRESCIENT_FAILPOINTS=$CASE
    P=$P-failpoints
    NEXT=0 HITS=0 MISSED=" $POINTS "
    a_new_engine; a_new_engine; a_new_engine
    # Work comes in for as long as steps are tried: without it most of them are never reached.
    write_checks w --checks $((60 * 240)) --over 240 --until enough --batch 20 \
        --mix uneven --most-ms 12 --ahead 0,2
    for point in "${points[@]}"; do
        cross "$point" "$action" || cross "$point" "$action" || cross "$point" "$action"
        sleep "0.$((RANDOM % 9))"
    done
    : >enough
    written w
    P=${P%-failpoints}
    unset PRESCIENT_FAILPOINTS
    verdict F00
    is "$CASE_NAME: steps that were not hit" "${MISSED// /}" ""
}
# ---- stopped at the worst moment, continued at the worst moment ----

# keys_of PID: what its workers have begun
keys_of() { awk -F'\t' -v e="$1" '$4 == e { print $6 }' "$CASE/journal" | sort -u; }
taken_over() {
    [ -n "$(comm -12 <(keys_of "$1") \
        <(awk -F'\t' -v e="$1" '$4 != e { print $6 }' "$CASE/journal" | sort -u))" ]
}

# zombie POINT CONDITION...: an engine is stopped there with work in hand, and continued as soon as
# the condition holds for the other engine's work
zombie() {
    local pid point=$1; shift
    write_checks "$point" --checks 12 --batch 12 --ahead 0,0 --mix long
    written "$point"
    echo stop >"$CASE/.armed" && mv "$CASE/.armed" "$CASE/$point"
    wait_until 8 is_hit "$point" || { fail "$CASE_NAME: $point is reached"; return; }
    wait_until 2 grep -q "stop $point" "$CASE/faults"
    pid=$(sed -n "s/.*	stop $point	engine://p" "$CASE/faults" | tail -1)
    ok "$CASE_NAME: $point: another one takes over" wait_until 12 taken_over "$pid"
    ok "$CASE_NAME: $point: the moment to wake it" wait_until 20 "$@"
    kill -CONT "$pid"
    fault_ends "stop $point" "engine:$pid"
    ok "$CASE_NAME: $point: it says that it has lost its lease" wait_until 5 grep -q 'nothing was changed' \
        "$(name_of "$pid").err"
    ok "$CASE_NAME: $point: the other one does the rest" wait_until 15 drained
    sleep 0.5                           # for what it should not start
}

zombies() {
    WITNESS='batch = 1;' a_case zombie 'workers = 2; settle_after = "100ms";'
    export PRESCIENT_FAILPOINTS=$CASE
    P=$P-failpoints
    NEXT=0
    a_new_engine; a_new_engine
    # its settle meets rows that the other one has just read and is running
    zombie before-settle true
    kill_engine e0; kill_engine e1              # each of them stops once
    wait_until $((LEASE_S * 3)) no_lease
    a_new_engine; a_new_engine
    # the answer to its renewal, seconds old, is yes; all it had is settled
    zombie after-renew-sent nothing_pending
    P=${P%-failpoints}
    unset PRESCIENT_FAILPOINTS
    verdict F00
}

kills() { crossing kill; }
stops() { crossing stop; }
cuts() { crossing cut; }

on_both_stores kills
on_stores postgresql cuts
on_both_stores zombies
[ -n "${QUICK:-}" ] || on_both_stores stops
