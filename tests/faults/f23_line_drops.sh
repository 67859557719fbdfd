#!/usr/bin/env bash
# f23_line_drops.sh - F23: every packet between an engine and PostgreSQL is dropped, both ways, for
#     5, 15 and 60 s, while it leases, reads, runs or settles
# PASS: others take over what it held within T, with a server in its default configuration; it
# starts nothing after its trust window, and continues when the line is back; also when a settle is
# cut in the middle, in a transaction that holds locks. The 60 s are one cut; FULL=1 makes them
# four.
# limit 420
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/net.sh"
. "$FAULTS/line_cuts.sh"
needs_a_server
needs_lines

line_is_cut() {
    local kind n over=100 pids=() plans=() long=()
    WITNESS='batch = 1;' a_case cut 'workers = 2; split_at = 40;'
    : >takeovers
    line_up l1 1 && line_up l2 2 && line_up l3 3 || return
    victim v5 1; victim v15 2; victim v60 3
    engine e0
    [ -z "${FULL:-}" ] || over=350
    write_checks w --checks $((over * 90)) --over $over --batch 30 --mix uneven --most-ms 12 --ahead 0,2
    for kind in lease read run settle; do
        plans+=("$(moment_of $kind $RANDOM) 5") long+=("$(moment_of $kind $RANDOM)")
    done
    (cuts_on_line v5 1 "${plans[@]}") >v5.said 2>&1 & pids+=($!)
    for n in 0 1 2 3; do plans[n]="${long[n]} 15"; long[n]+=" 60"; done
    (cuts_on_line v15 2 "${plans[@]}") >v15.said 2>&1 & pids+=($!)
    n=$((RANDOM % 4))
    [ -n "${FULL:-}" ] || long=("${long[n]}")
    (cuts_on_line v60 3 "${long[@]}") >v60.said 2>&1 & pids+=($!)
    for n in 0 1 2; do wait "${pids[n]}" || FAILED=1; done
    cat v5.said v15.said v60.said
    at_least "$CASE_NAME: cuts that hit an engine with leases" "$(wc -l <takeovers)" 5
    written w
    verdict F23
    line_down l1; line_down l2; line_down l3
}

# ---- in the middle of a message ----

lease_locks() {         # sessions from line 1 that hold a lock on a lease and wait for more to come
    q "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE l.relation = 'prescient.slot_lease'::regclass AND l.mode = 'RowShareLock'
        AND a.client_addr = '10.213.1.2' AND a.wait_event = 'ClientRead'"
}
is_half_sent() { [ "$(lease_locks)" != 0 ]; }

# half_of_it BYTES: engine v, alone, is about to settle a full page; so many bytes of it leave, and
# then the line is dead.
half_of_it() {
    local what="$CASE_NAME: cut after $1 bytes of a settle" pid cut_ms tokens
    pid=$(engine_pid v)
    arm v before-settle
    write_checks "w$1" --checks 2000 --batch 2000 --ahead 4,4 --mix moving --priority 0
    written "w$1"
    stopped_at v before-settle || { fail "$what: it comes"; return; }
    engine e0
    fault_begins drop "engine:$pid"
    line l1 drop-after "$1"
    cut_ms=$(now_ms)
    kill -CONT "$pid"
    if wait_until 1 is_half_sent; then HALF=$((HALF + 1)); fi
    tokens=$(tokens_of "$pid")
    [ -n "$tokens" ] || fail "$what: it has a lease"
    taken_over "$what" "${tokens:-0}" "$cut_ms"
    line l1 pass
    fault_ends drop "engine:$pid"
    ok "$what: the rest is done" wait_until 40 drained
    kill -TERM "$(engine_pid e0)"
    engine_over e0
}

half_a_settle() {
    HALF=0
    WITNESS='batch = 1;' a_case half 'workers = 2; settle_after = "2s"; connections = 1; split_at = 100000;'
    line_up l1 1 || return
    victim v 1
    for bytes in 40000 70000 100000; do half_of_it $bytes; done
    at_least "$CASE_NAME: cuts that left a transaction open, with locks" $HALF 1
    verdict F23
    line_down l1
}

case ${CASES:-all} in *half* | all) on_line_server half_a_settle fsync=off ;; esac
case ${CASES:-all} in *cut* | all) on_line_server line_is_cut fsync=off ;; esac
