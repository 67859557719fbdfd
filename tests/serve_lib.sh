# serve_lib.sh - a server of prescient serve at a socket file, and questions to it. Sourced after
# acceptance_lib.sh.

get() { curl -s --max-time $((20 * PATIENCE)) --unix-socket "$SOCK" -o body -w '%{http_code}' "$@"; }
answers() { [ "$(get "http://localhost${2:-/liveness}")" = "$1" ]; }
# serve NAME OPTION...: one at a socket file of its own
serve() {
    SOCK=$PWD/$1.sock
    # so long that no end is that of this time
    start "$1" "$P" serve --listen "unix:$SOCK" --set stop_timeout=50m "${@:2}"
    wait_until 20 answers 200 "${BASE:-}/liveness" || fail "$1 answers" "$(cat "$1.err")"
}
ends() {
    kill -TERM "$(pid_of "$1")"
    join_within 30 "$1"
    is "$STORE_NAME: $1 ends well" "$CODE" 0
}
backends_of() { children_of "$(pid_of "$1")"; }
# post BODY [option of curl...]: prints the status; the answer is in body. Spaces are as they came.
post() { get -H 'Content-Type: application/json' --data-binary "$1" "${@:2}" http://localhost/v1/checks; }
a_free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
