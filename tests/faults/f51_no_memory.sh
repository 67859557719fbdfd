#!/usr/bin/env bash
# f51_no_memory.sh - F51: the server has no memory to give (the address space of its processes is
#     full), and backends of the engines' sessions are killed as by the kernel, 30 times in 3
#     minutes
# PASS: nothing acknowledged is lost, each kill is followed by a run within a lease of the server's
# next answer, no engine gives up or is started again.
# limit 600
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
needs_command prlimit

KILLS=${KILLS:-$([ -n "${QUICK:-}" ] && echo 4 || echo 30)} EVERY_S=6
LEASE_S=4 TRUST_MS=2000

# full PID ROOM-KIB: from now on it gets only so much more than it has; its children are born with
# that limit. free PID: as much as it wants. As the server's own user: root without all of its
# rights may not, and a hard limit cannot be taken back.
as_server() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --init-groups "$@")
    else
        "$@"
    fi
}
vm_kib() { sed -n 's/^VmSize:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status" 2>/dev/null; }
full() {
    local kib; kib=$(vm_kib "$1") && [ -n "$kib" ] &&
        as_server prlimit --pid "$1" --as=$(((kib + $2) * 1024)): 2>/dev/null
}
free() { as_server prlimit --pid "$1" --as=unlimited: 2>/dev/null; }

sessions() { engine_sessions 2>/dev/null; }
# From none at all, with which no session can begin, to some that is soon used up.
starve() { full "$1" $((RANDOM % 4000)); }
# Sessions continue with what they have; new ones are born full. Half of the old ones are ended, so
# that new ones are needed.
no_memory() {
    local list pid n=0 postmaster
    mapfile -t list < <(sessions)           # asked first: a question of ours needs memory, too
    read -r postmaster <"$CLUSTER/data/postmaster.pid"
    starve "$postmaster" || fail "$CASE_NAME: the server can be left without memory"
    for pid in "${list[@]}"; do
        if ((n++ % 2)); then full "$pid" 64; else kill -TERM "$pid" 2>/dev/null; fi
    done
}
# The postmaster must be able to start again when one of its processes has been killed: that is
# another fault.
memory_again() {
    local postmaster
    read -r postmaster <"$CLUSTER/data/postmaster.pid" && free "$postmaster"
}
kill_one() {
    local list
    mapfile -t list < <(sessions)
    [ ${#list[@]} -gt 0 ] || return 1
    session_kill "${list[RANDOM % ${#list[@]}]}"
}
somebody_runs_after() { awk -F'\t' -v from="$1" '$1 > from { found = 1 } END { exit !found }' journal; }

without_memory() {
    local n late=0 killed=0 back most=0 took pids
    WITNESS='batch = 1;' a_case starved 'workers = 2;'
    engine e0; engine e1
    pids="$(engine_pid e0) $(engine_pid e1)"
    write_checks w --patient --checks $((KILLS * EVERY_S * 20)) --batch 20 \
        --over $((KILLS * EVERY_S)) --mix busy --most-ms 20
    ok "$CASE_NAME: the engines are at work" wait_until 20 runs_at_least 20
    for ((n = 0; n < KILLS; n++)); do
        fault_begins no-memory store
        no_memory
        sleep 2
        memory_again
        wait_until 8 kill_one && killed=$((killed + 1))
        wait_until 60 server_answers || {
            fail "$CASE_NAME: the server comes back after kill $n" "$(tail -5 "$CLUSTER/server.log")"; return
        }
        fault_ends no-memory store
        back=$(now_us)
        wait_until 30 somebody_runs_after "$back" || {
            fail "$CASE_NAME: somebody runs checks after kill $n"; return
        }
        took=$((($(now_us) - back) / 1000))
        [ $took -le $most ] || most=$took
        [ $took -le $((LEASE_S * 1000 + 1000)) ] || late=$((late + 1))
        sleep 1
    done
    written w
    at_least "$CASE_NAME: kills" "$killed" $((KILLS * 3 / 4))
    is "$CASE_NAME: runs that did not follow within a lease (the longest took $most ms)" "$late" 0
    at_least "$CASE_NAME: they met a server without memory" \
        "$(cat e?.err | grep -ciE 'out of memory|cannot allocate memory|could not fork')" 1
    LIVE_S=30 EPSILON_MS=20000 verdict F51
    is "$CASE_NAME: none of the engines gave up, or was started again" "${ALL_ENGINES[*]}" "$pids"
}

on_a_server without_memory fsync=off shared_buffers=32MB
