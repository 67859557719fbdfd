# chaos.sh - seeded faults, one after the other, on the engines of a case, while checks come in.
# Sourced by scenarios that are storms. Here are the faults of processes; chaos_net.sh has those of
# their connections to the store, chaos_store.sh those of the store.
#
# An action is a function chaos_NAME; a table of NAME:WEIGHT has how often each is drawn. The same
# seed gives the same plan of actions; whom an action hits depends on what is alive then. The loop
# that stops a process also continues it, later, so that several things can be wrong at once.
#
# An engine sits on a seat, which has its connection to the store (CHAOS_STORES). A successor of an
# engine takes its seat.

declare -A ASLEEP=()                # pid -> "moment to wake it (ms) whom" of what is stopped
# seat -> "moment when its way is good again (ms) what engine" (chaos_net.sh)
declare -A WAY_UNTIL=()
declare -A SEAT_OF=()               # name of an engine -> its seat
CHAOS_STORES=()                     # seat -> URL of the store; PRESCIENT_STORE where there is none
CHAOS_SETTINGS=()                   # seat -> settings of its engine, as PRESCIENT_NAME=value
CHAOS_NEXT=0                        # number of the next engine
CHAOS_DONE=()                       # names of the deeds that were done

CHAOS_PROCESSES="engine_kill:14 engine_stop:10 engine_term:12 engine_term_twice:4 worker_kill:22
    worker_stop:14 worker_segv:12 worker_abort:6 nothing:6"

# chaos_begins SEATS: engines on all seats
chaos_begins() {
    local seat
    CHAOS_NEXT=0 CHAOS_DONE=() ASLEEP=() SEAT_OF=()
    for ((seat = 0; seat < $1; seat++)); do chaos_engine "$seat"; done
}
chaos_engine() {
    local name=s$((CHAOS_NEXT++))
    SEAT_OF[$name]=$1
    ENGINE_BY=(env PRESCIENT_STORE="${CHAOS_STORES[$1]:-$PRESCIENT_STORE}" ${CHAOS_SETTINGS[$1]:-})
    engine "$name" daemon
    ENGINE_BY=()
}
# chaos_successor NAME: it is over; another one takes its seat, and what is wrong with the way from
# there
chaos_successor() {
    local seat=${SEAT_OF[$1]}
    chaos_engine "$seat"
    [ -z "${WAY_UNTIL[$seat]:-}" ] || chaos_way_inherited "$seat"
}
chaos_on_seat() {
    local name
    for name in "${!ENGINES[@]}"; do [ "${SEAT_OF[$name]}" != "$1" ] || echo "${ENGINES[$name]}"; done
}

# Mostly an engine that is working at this moment, otherwise any: a fault that hits an idle engine
# shows little. One that is stopped is left alone.
chaos_pick() {
    local names=() name
    if [ $((RANDOM % 4)) != 0 ] && PICKED=$(engine_at_work 1) &&
        [ -z "${ASLEEP[${ENGINES[$PICKED]}]+yes}" ]; then
        return
    fi
    for name in "${!ENGINES[@]}"; do
        [ -n "${ASLEEP[${ENGINES[$name]}]+yes}" ] || names+=("$name")
    done
    [ ${#names[@]} -gt 0 ] || return 1
    PICKED=$(printf '%s\n' "${names[@]}" | sort | sed -n "$((RANDOM % ${#names[@]} + 1))p")
}

chaos_fall_asleep() {
    fault_begins STOP "$2:$1"
    kill -STOP "$1" 2>/dev/null || { fault_ends STOP "$2:$1"; return 0; }
    ASLEEP[$1]="$(($(now_ms) + $3)) $2"
}

# chaos_wake NOW-MS: continues those whose time has come; a large number continues all
chaos_wake() {
    local pid until whom
    for pid in "${!ASLEEP[@]}"; do
        read -r until whom <<<"${ASLEEP[$pid]}"
        [ "$1" -ge "$until" ] || continue
        kill -CONT "$pid" 2>/dev/null
        fault_ends STOP "$whom:$pid"
        unset "ASLEEP[$pid]"
    done
}

chaos_nothing() { :; }
chaos_engine_kill() { chaos_pick || return 0; kill_engine "$PICKED"; chaos_successor "$PICKED"; }
chaos_engine_term() {
    chaos_pick || return 0
    kill -TERM "${ENGINES[$PICKED]}"            # explains nothing: not in the log of faults
    join_within 15 "$PICKED"
    unset "ENGINES[$PICKED]"
    chaos_successor "$PICKED"
}
chaos_engine_term_twice() {
    chaos_pick || return 0
    kill -TERM "${ENGINES[$PICKED]}"
    sleep "0.0$((RANDOM % 90 + 10))"
    fault_at TERM "engine:${ENGINES[$PICKED]}"
    kill -TERM "${ENGINES[$PICKED]}" 2>/dev/null
    join_within 15 "$PICKED"
    unset "ENGINES[$PICKED]"
    chaos_successor "$PICKED"
}
# SQLite: one that is stopped in the middle of a write keeps the file locked, and there is no cure
# but waking it.
chaos_engine_stop() {
    chaos_pick || return 0
    chaos_fall_asleep "${ENGINES[$PICKED]}" engine $((LEASE_S * 500 + RANDOM % (LEASE_S * 2000)))
}
chaos_a_worker() {
    { WORKER=$(worker_at_work 1) || { chaos_pick && WORKER=$(a_worker "${ENGINES[$PICKED]}"); }; } &&
        [ -n "$WORKER" ] && [ -z "${ASLEEP[$WORKER]+yes}" ]
}
chaos_worker_kill() { chaos_a_worker && signal_worker "$WORKER" KILL; }
chaos_worker_segv() { chaos_a_worker && signal_worker "$WORKER" SEGV; }
chaos_worker_abort() { chaos_a_worker && signal_worker "$WORKER" ABRT; }
chaos_worker_stop() { chaos_a_worker && chaos_fall_asleep "$WORKER" worker $((RANDOM % 3000)); }

# ---- the loop ----

chaos_draw() {
    local total=0 entry lot
    for entry in $1; do total=$((total + ${entry#*:})); done
    lot=$((RANDOM % total))
    for entry in $1; do
        lot=$((lot - ${entry#*:}))
        [ $lot -ge 0 ] || { DEED=${entry%:*}; return; }
    done
}

# chaos SECONDS LO-MS HI-MS ACTION:WEIGHT...: actions with pauses between them, for so long; then
# every process runs and every connection passes again.
chaos() {
    local until=$(($(now_ms) + $1 * 1000)) lo=$2 hi=$3 next table="${*:4}"
    next=$(now_ms)
    while [ "$(now_ms)" -lt $until ]; do
        chaos_mend "$(now_ms)"
        if [ "$(now_ms)" -ge "$next" ]; then
            chaos_draw "$table"
            "chaos_$DEED" || true
            CHAOS_DONE+=("$DEED")
            next=$(($(now_ms) + lo + RANDOM % (hi - lo + 1)))
        fi
        sleep 0.05
    done
    chaos_mend 9999999999999
    echo "# $CASE_NAME: ${#CHAOS_DONE[@]} faults: $(printf '%s\n' "${CHAOS_DONE[@]}" |
        sort | uniq -c | awk '{ printf "%s%s %d", (NR > 1) ? ", " : "", $2, $1 }')"
}
chaos_mend() {
    chaos_wake "$1"
    [ ${#WAY_UNTIL[@]} = 0 ] || chaos_ways_mend "$1"
}
