# restarts.sh - the database server goes away and comes back, in all the ways it has, again and
# again, while checks come in. Sourced after server.sh.
#
#   restarts NAME [LINE...]         the case NAME.restarts, with lines for prescient.cfg, on the
#                                   server of a_server (CLUSTER, SERVER_URL), which engines, writer
#                                   and judge reach by PRESCIENT_STORE: the server itself, or
#                                   whatever stands in front of it
#
# Each RESTART_EVERY_S (4) for RESTARTS_S (64) one way is taken: all of them in an order drawn from
# the seed, then all again. In full: RESTARTS_S=600 RESTART_EVERY_S=20.

RESTARTS_S=${RESTARTS_S:-64} RESTART_EVERY_S=${RESTART_EVERY_S:-4}

# Each leaves a server that takes writes.
restart_immediate() { server_restart immediate; }
restart_fast() { server_restart fast; }
restart_after_a_crash() { server_crash && server_start; }
restart_refusing() { server_refuses && sleep 1.5 && server_serves; }         # nobody listens at its port
restart_starting() { server_starts_up && sleep 1.5 && server_promote; }      # 57P03 to everybody
WAYS="immediate fast after_a_crash refusing starting"

restarts() {
    local name ways=() way began next n=0 pids; began=$(now_ms)
    WITNESS='batch = 1;' a_case "$1.restarts" 'workers = 2; split_at = 50;' "${@:2}"
    engine e0; engine e1
    pids="$(engine_pid e0) $(engine_pid e1)"
    write_checks w --patient --checks $((RESTARTS_S * 40)) --batch 20 --over "$RESTARTS_S" \
        --mix busy --most-ms 20
    ok "$CASE_NAME: the engines are at work" wait_until 15 runs_at_least 20
    next=$(now_ms)
    while [ "$(now_ms)" -lt $((began + RESTARTS_S * 1000)) ]; do
        [ ${#ways[@]} -gt 0 ] ||
            mapfile -t ways < <(printf '%s\n' $WAYS | shuf --random-source=<(yes $RANDOM))
        way=${ways[0]} ways=("${ways[@]:1}")
        fault_begins "restart_$way" store
        "restart_$way" || { fail "$CASE_NAME: the server comes back ($way)"; return; }
        fault_ends "restart_$way" store
        n=$((n + 1)) next=$((next + RESTART_EVERY_S * 1000))
        wait_until "$RESTART_EVERY_S" time_is "$next" || true
    done
    written w
    at_least "$CASE_NAME: restarts, every $RESTART_EVERY_S s" "$n" $((RESTARTS_S / RESTART_EVERY_S / 2))
    LIVE_S=20 EPSILON_MS=8000 verdict "${FAULT:-F17}"
    # No limit of tries ended an engine: see stop_engines, which has just waited for them.
    is "$CASE_NAME: none of the engines gave up" \
        "$(cat "$CASE"/e?.err | grep -c 'cannot be reached or written to')" 0
    is "$CASE_NAME: nor was started again" "${ALL_ENGINES[*]}" "$pids"
    at_least "$CASE_NAME: they met a port that refuses" \
        "$(cat "$CASE"/e?.err | grep -cE 'refused|No such file')" 1
    at_least "$CASE_NAME: they met a server that was starting up" \
        "$(cat "$CASE"/e?.err |
            grep -cE 'not accepting connections|starting up|recovery mode|shutting down')" 1
}
time_is() { [ "$(now_ms)" -ge "$1" ]; }
