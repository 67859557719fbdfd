# chaos.sh - seeded faults, one after the other, on the engines of a case, while checks come in. Sourced by scenarios that are storms, behind server.sh
# where the store's server is tormented, too.
#
# A deed is a function chaos_NAME; the table says how often of a hundred. Same seed, same plan of deeds; whom one hits depends on who lives then.
# What is stopped is woken by the same loop, later, so that several things can be wrong at once.

declare -A ASLEEP=()                # pid -> "moment to wake it (ms) whom" of what is stopped
CHAOS_NEXT=0                        # number of the next engine
CHAOS_DONE=()                       # names of the deeds that were done

CHAOS_PROCESSES="engine_kill:14 engine_stop:10 engine_term:12 engine_term_twice:4 worker_kill:22 worker_stop:14 worker_segv:12 worker_abort:6 nothing:6"
CHAOS_STORE="backend_kill:8 backends_kill:3 server_restart:3 server_crash:2 locks:4"

chaos_engine() { engine "s$((CHAOS_NEXT++))" "${CHAOS_ARGS[@]}"; }

# Mostly an engine that works at this moment, else any: a fault that hits nobody at work shows little. One that sleeps is left alone.
chaos_pick() {
    local names=() name
    if [ $((RANDOM % 4)) != 0 ] && PICKED=$(engine_at_work 1) && [ -z "${ASLEEP[${ENGINES[$PICKED]}]+yes}" ]; then return; fi
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

# chaos_wake NOW-MS: those whose time has come; a large number wakes all
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
chaos_engine_kill() { chaos_pick || return 0; kill_engine "$PICKED"; chaos_engine; }
chaos_engine_term() {
    chaos_pick || return 0
    kill -TERM "${ENGINES[$PICKED]}"            # explains nothing: not in the log of faults
    join_within 15 "$PICKED"
    unset "ENGINES[$PICKED]"
    chaos_engine
}
chaos_engine_term_twice() {
    chaos_pick || return 0
    kill -TERM "${ENGINES[$PICKED]}"
    sleep "0.0$((RANDOM % 90 + 10))"
    fault_at TERM "engine:${ENGINES[$PICKED]}"
    kill -TERM "${ENGINES[$PICKED]}" 2>/dev/null
    join_within 15 "$PICKED"
    unset "ENGINES[$PICKED]"
    chaos_engine
}
# SQLite: one that is stopped in the middle of a write keeps the file locked, and there is no cure but waking it.
chaos_engine_stop() {
    chaos_pick || return 0
    chaos_fall_asleep "${ENGINES[$PICKED]}" engine $((LEASE_S * 500 + RANDOM % (LEASE_S * 2000)))
}
chaos_a_worker() { { WORKER=$(worker_at_work 1) || { chaos_pick && WORKER=$(a_worker "${ENGINES[$PICKED]}"); }; } && [ -n "$WORKER" ] && [ -z "${ASLEEP[$WORKER]+yes}" ]; }
chaos_worker_kill() { chaos_a_worker && signal_worker "$WORKER" KILL; }
chaos_worker_segv() { chaos_a_worker && signal_worker "$WORKER" SEGV; }
chaos_worker_abort() { chaos_a_worker && signal_worker "$WORKER" ABRT; }
chaos_worker_stop() { chaos_a_worker && chaos_fall_asleep "$WORKER" worker $((RANDOM % 3000)); }

# ---- the store: the PostgreSQL of server.sh ----

# Of the engines' sessions: one, drawn.
chaos_backend_kill() {
    local pid; pid=$(engine_sessions | shuf -n 1 --random-source=<(yes $RANDOM))
    [ -n "$pid" ] || return 0
    fault_begins terminate store
    session_terminate "$pid"
    fault_ends terminate store
}
chaos_backends_kill() {
    fault_begins terminate-all store
    sessions_terminate
    fault_ends terminate-all store
}
chaos_server() {
    fault_begins "$1" store
    server_restart "$1" || fail "$CASE_NAME: the server comes back"
    fault_ends "$1" store
}
chaos_server_restart() { chaos_server fast; }
chaos_server_crash() { chaos_server immediate; }
# The table is locked by somebody else for a second or two.
chaos_locks() {
    fault_begins locks store
    q "BEGIN; LOCK TABLE {future_job} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(1.5); COMMIT" >/dev/null 2>&1
    fault_ends locks store
}

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

# chaos SECONDS LO-MS HI-MS DEED:WEIGHT...: deeds with pauses between them, for so long; then everything is awake again.
chaos() {
    local until=$(($(now_ms) + $1 * 1000)) lo=$2 hi=$3 next table="${*:4}"
    next=$(now_ms)
    while [ "$(now_ms)" -lt $until ]; do
        chaos_wake "$(now_ms)"
        if [ "$(now_ms)" -ge "$next" ]; then
            chaos_draw "$table"
            "chaos_$DEED" || true
            CHAOS_DONE+=("$DEED")
            next=$(($(now_ms) + lo + RANDOM % (hi - lo + 1)))
        fi
        sleep 0.05
    done
    chaos_wake 9999999999999
    echo "# $CASE_NAME: ${#CHAOS_DONE[@]} faults: $(printf '%s\n' "${CHAOS_DONE[@]}" | sort | uniq -c | awk '{ printf "%s%s %d", (NR > 1) ? ", " : "", $2, $1 }')"
}
