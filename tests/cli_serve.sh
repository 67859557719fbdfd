#!/usr/bin/env bash
# cli_serve.sh - prescient serve: what it answers to bytes of every kind, what it does when its
# store, its clients or its own processes go away, and how it ends.
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

. "$ROOT/tests/serve_lib.sh"

ask() { limited 60 python3 "$ROOT/tests/http_ask.py" "$@"; }
files_of() { ls "/proc/$(pid_of "$1")/fd" | wc -l; }
has_files() { [ "$(files_of "$1")" -le "$2" ]; }

asks_the_store() {
    local s=$STORE_NAME
    serve before.$s
    is "$s: it is alive without a schema" "$(get http://localhost/liveness)" 200
    is "$s: and not ready" "$(get http://localhost/readiness)" 503
    is "$s: which is said without words of the database" "$(json 'j["type"], j["status"]' <body)" \
        "('/problems/away', 503)"
    has "$s: those are in its log" "$(cat before.$s.err)" "prescient init"
    a_clean_store
    ok "$s: it is ready once there is one" wait_until 30 answers 200 /readiness
    is "$s: and says so" "$(json 'j' <body)" "{'status': 'ready', 'read_only': False}"
    ends before.$s
}

speaks_http() {
    local s=$STORE_NAME
    a_clean_store
    serve http.$s
    is "$s: a byte at a time" "$(ask "$SOCK" pieces)" 200
    is "$s: a hundred at once" "$(ask "$SOCK" pipeline)" "in order"
    is "$s: who says that it has sent all" "$(ask "$SOCK" half_closed)" 200
    is "$s: what could be read in two ways ends the connection" \
        "$(ask "$SOCK" refused | tr '\n' ' ')" "400 400 400 400 400 405 400 431 "
    is "$s: HEAD has no body" "$(curl -sI --unix-socket "$SOCK" http://localhost/readiness |
        tr -d '\r' | sed -n '1p;s/^Content-Length: //p' | tr '\n' ' ')" "HTTP/1.1 200 OK 37 "
    is "$s: a name that leads here is not ours" "$(get -H 'Host: evil.example' http://localhost/liveness)" 421
    is "$s: the methods of a path" "$(curl -si --unix-socket "$SOCK" -X PUT http://localhost/readiness |
        tr -d '\r' | sed -n 's/^Allow: //p')" "GET, HEAD"
    ends http.$s
}

outlives_its_clients() {
    local s=$STORE_NAME files
    a_clean_store
    serve clients.$s
    answers 200 /readiness
    files=$(files_of clients.$s)
    is "$s: connections that are held open keep nobody out" "$(ulimit -n 4096; ask "$SOCK" held_open)" \
        "200 the oldest is closed"
    is "$s: clients that go away in the middle" "$(ask "$SOCK" gone)" 200
    [ "$files" -lt 5 ] || ok "$s: nothing of them stays" wait_until 20 has_files clients.$s "$files"
    ends clients.$s
}

# the second and the third of its processes
readers_of() { backends_of "$1" | sed -n 2,3p; }

# Whoever reads waits, and waits in vain; what says whether the server can be used does not.
is_ready_beside_slow_reads() {
    local s=$STORE_NAME pid i
    a_clean_store
    serve slow.$s
    answers 200 /readiness
    for pid in $(readers_of slow.$s); do kill -STOP "$pid"; done
    for i in 1 2 3 4; do
        curl -s --max-time $((60 * PATIENCE)) --unix-socket "$SOCK" -o "slow.$i" -w '%{http_code}\n' \
            http://localhost/v1/checks >>slow.codes.$s &
    done
    for i in 1 2 3; do
        is "$s: ready while all that read are busy, asked $i times" "$(get http://localhost/readiness)" 200
    done
    is "$s: by what the store says, which is asked by a process of its own" "$(json 'j' <body)" \
        "{'status': 'ready', 'read_only': False}"
    is "$s: nobody who reads has been answered by then" "$(cat slow.codes.$s)" ""
    pid=$(backends_of slow.$s | sed -n 4p)
    kill -STOP "$pid"
    ok "$s: not ready when that one hears nothing" wait_until 30 answers 503 /readiness
    has "$s: and since when" "$(cat body)" "the store has not answered within 5 s"
    kill -CONT "$pid"
    ok "$s: and ready again" wait_until 30 answers 200 /readiness
    for pid in $(readers_of slow.$s); do kill -CONT "$pid"; done
    ok "$s: all who have waited are answered" wait_until 60 has_lines "slow.codes.$s" 4
    ends slow.$s
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }

# 128 places: what a server of so few descriptors has for connections
nobody_takes_all() {
    local port
    a_clean_store
    port=$(a_free_port)
    start shares bash -c "ulimit -n 192; exec '$P' serve --listen 127.0.0.1:$port"
    ok "a server with few places" wait_until 20 curl -sf "http://127.0.0.1:$port/readiness"
    ask "$port" takes_all >shares
    is "one address does not get all places" "$(sed -n 1p shares)" "112 under way; one more: 429 1 close"
    is "what says that it is there is told" "$(sed -n 2p shares)" "alive: 200"
    is "others are answered" "$(sed -n 3p shares)" "others: 200 200 200"
    is "also beside requests of their own" "$(sed -n 4p shares)" "beside them: 200"
    is "who lets go is answered again" "$(sed -n 5p shares)" "again: 200"
    is "nor does it get all feeds" "$(ask "$port" feeds_of_two)" "56 4 8 2"
    ends shares
    start shares "$P" serve --listen "127.0.0.1:$port" --set http_peer_requests=7
    ok "a server with a bound for each" wait_until 20 curl -sf "http://127.0.0.1:$port/readiness"
    is "so many and no more are under way" "$(ask "$port" takes_all | sed -n 1p)" \
        "7 under way; one more: 429 1 close"
    ends shares
}

are_over() { local pid; for pid; do is_over "$pid" || return 1; done; }
outlives_its_processes() {
    local s=$STORE_NAME pid pids
    a_clean_store
    serve processes.$s
    is "$s: it asks the store by processes of its own" "$(backends_of processes.$s | wc -l)" 4
    for pid in $(backends_of processes.$s); do kill -KILL "$pid"; done
    ok "$s: killed, they come again" wait_until 30 answers 200 /readiness
    has "$s: which is told" "$(cat processes.$s.err)" "was ended by signal 9; it is started again"
    pids=$(backends_of processes.$s)
    kill -KILL "$(pid_of processes.$s)"
    join_within 20 processes.$s
    ok "$s: none of them goes on without it" wait_until 20 are_over $pids
    serve processes.$s                  # at the socket file that it has left
    ends processes.$s
}

ends_in_order() {
    local s=$STORE_NAME pid
    a_clean_store
    serve order.$s
    answers 200 /readiness
    for pid in $(readers_of order.$s); do kill -STOP "$pid"; done
    mkfifo go.$s
    ask "$SOCK" told_to_end <go.$s >asked.$s &
    exec {go}>go.$s
    wait_until 20 grep -q asked asked.$s
    kill -TERM "$(pid_of order.$s)"
    wait_until 20 grep -q 'SIGTERM: answering' order.$s.err
    echo >&$go
    exec {go}>&-
    for pid in $(readers_of order.$s); do kill -CONT "$pid"; done
    wait $!
    is "$s: what was read is answered, and the last of its connection" "$(cat asked.$s)" $'asked\n200 close'
    join_within 30 order.$s
    is "$s: then it ends" "$CODE" 0
}

# what is asked for by the operator
where_it_listens() {
    local port systemd
    a_clean_store
    port=$(a_free_port)
    start port "$P" serve --listen "127.0.0.1:$port"
    ok "a port" wait_until 20 curl -sf "http://127.0.0.1:$port/liveness"
    fails_with 75 "Address already in use" "$P" serve --listen "127.0.0.1:$port"
    ends port
    fails_with 2 "http://0.0.0.0:80/ is no loopback address" "$P" serve --listen 0.0.0.0:80
    fails_with 2 "expected an address with a port" "$P" serve --listen 8080
    fails_with 2 "a server has no virtual time" "$P" serve --now 2030-01-01T00:00:00Z
    fails_with 2 "no URL of a store" "$P" --store mysql:x serve
    fails_with 78 "base_path" "$P" serve --set base_path=/a/
    BASE=/shop/checks serve below --set base_path=/shop/checks --set http_hosts=shop.example
    is "below a path" "$(get http://shop.example/shop/checks/liveness)" 200
    is "and nowhere else" "$(get http://shop.example/liveness)" 404
    ends below
    systemd='import os, socket, sys
s = socket.socket(socket.AF_UNIX if sys.argv[1][0] == "/" else socket.AF_INET)
s.bind(sys.argv[1] if sys.argv[1][0] == "/" else ("0.0.0.0", 0))
if sys.argv[1] != "deaf": s.listen()
os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])'
    SOCK=$PWD/systemd.sock
    start systemd python3 -c "$systemd" "$SOCK" "$P" serve
    ok "a socket that systemd has opened" wait_until 20 answers 200
    ends systemd
    fails_with 2 "is no loopback address" python3 -c "$systemd" everybody "$P" serve
    fails_with 2 "is no socket that listens" python3 -c "$systemd" deaf "$P" serve
}

on_this_store() {
    at_once asks_the_store speaks_http outlives_its_clients outlives_its_processes ends_in_order \
        is_ready_beside_slow_reads
    [ "$STORE_NAME" != sqlite ] || at_once where_it_listens nobody_takes_all
}
on_each_store on_this_store
