#!/usr/bin/env bash
# cli_socket_unit.sh - prescient serve at a socket that somebody else holds (a socket unit of
# systemd): while the server is started again nobody is refused, and nobody gets no answer.
# about 15 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

RESTARTS=6
LOOKS='jobs = { look = { plugin = "noop"; }; };'
restarted() {
    local s=$STORE_NAME
    a_clean_store
    settings "$LOOKS"
    is "$s: started again $RESTARTS times under clients that connect" "$(limited 200 \
        python3 "$ROOT/tests/http_restarts.py" $RESTARTS "$P" serve --set stop_timeout=50m 2>serve.err)" \
        $'all were answered\nended with 0'
    is "$s: each check was filed once" \
        "$(q "SELECT count(*) = count(DISTINCT entity_key) AND count(*) > 200 FROM {future_job}")" \
        "$([ $s = sqlite ] && echo 1 || echo t)"
}

# The program that tries a service without its socket unit.
by_systemd() {
    local port
    command -v systemd-socket-activate >/dev/null || return 0
    a_clean_store
    port=$(a_free_port)
    start activated systemd-socket-activate -E PRESCIENT_STORE -l "127.0.0.1:$port" "$P" serve
    ok "systemd's own program starts it with the first client" \
        wait_until 20 curl -sf --max-time 5 "http://127.0.0.1:$port/liveness"
    ends activated
}

on_this_store() {
    restarted
    [ "$STORE_NAME" != sqlite ] || by_systemd
}
on_each_store on_this_store
