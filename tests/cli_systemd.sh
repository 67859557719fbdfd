#!/usr/bin/env bash
# cli_systemd.sh - what a daemon tells systemd: that it has begun, what it did last, that it goes
# on, and that it stops.
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

# listener NAME ADDRESS: writes each message to NAME.told, until it is ended
listener() {
    start "$1" python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[2].replace("@", "\0", 1) if sys.argv[2][0] == "@" else sys.argv[2])
with open(sys.argv[1] + ".told", "x", buffering=1) as told:
    while True:
        told.write(s.recv(4096).decode() + "\n")' "$1" "$2"
    wait_until 20 test -e "$1.told" || fail "$1 listens"
    alive "$1" || fail "$1 listens" "$(cat "$1.err")"
}
told() { grep -q "$2" "$1.told"; }
told_twice() { [ "$(grep -c "$2" "$1.told")" -ge 2 ]; }
variables_of() { tr '\0' '\n' <"/proc/$1/environ"; }
has_a_worker() { [ -n "$(workers_but_keepers_of "$(pid_of "$1")")" ]; }
ends_well() {
    kill -TERM "$(pid_of "$1")"
    join_within 20 "$1"
    is "$STORE_NAME: $1: it ends well" "$CODE" 0
}
serves() { grep -q serves "$1.err"; }

tells() {
    local s=$STORE_NAME name n=0
    a_clean_store
    settings 'jobs = { noop = { plugin = "noop"; }; };'
    listener path.$s "$PWD/notify.$s"
    fill 3 1700000100 noop
    start daemon.$s env NOTIFY_SOCKET="$PWD/notify.$s" WATCHDOG_USEC=200000 "$P" daemon
    ok "$s: it has begun" wait_until 20 told path.$s '^READY=1$'
    ok "$s: what it did last" wait_until 20 told path.$s '^STATUS=slot 2023-11-14T22:15:00Z: 3 run, 3 done'
    ok "$s: that it goes on" wait_until 20 told_twice path.$s '^WATCHDOG=1$'
    if [ "$(id -u)" = 0 ]; then
        ok "$s: it has a worker" wait_until 20 has_a_worker daemon.$s
        is "$s: whose environment has nothing of that" "$(variables_of \
            "$(workers_but_keepers_of "$(pid_of daemon.$s)" | head -1)" |
            sed -n 's/^\(PATH\|NOTIFY_SOCKET\|WATCHDOG_USEC\)=.*/\1/p')" PATH
    fi
    ends_well daemon.$s
    ok "$s: that it stops" wait_until 20 told path.$s '^STOPPING=1$'
    is "$s: it has begun once" "$(grep -c '^READY' path.$s.told)" 1

    listener name.$s "@prescient.$$.$s"
    start other.$s env NOTIFY_SOCKET="@prescient.$$.$s" WATCHDOG_USEC=200000 WATCHDOG_PID=1 "$P" daemon
    ok "$s: also by a name that is no path" wait_until 20 told name.$s '^READY=1$'
    ok "$s: what it is at" wait_until 20 told name.$s '^STATUS='
    ends_well other.$s
    ok "$s: it has stopped" wait_until 20 told name.$s '^STOPPING=1$'
    is "$s: the watchdog of another process is told nothing" "$(grep -c WATCHDOG name.$s.told)" 0

    for name in "$PWD/nobody" relative / @ "$(printf '/%0200d' 1)"; do
        n=$((n + 1))
        start nobody$n.$s env NOTIFY_SOCKET="$name" "$P" daemon
        ok "$s: where nobody listens (${name:0:12}) it serves" wait_until 20 serves nobody$n.$s
        ends_well nobody$n.$s
    done
    kill "$(pid_of path.$s)" "$(pid_of name.$s)"
    join path.$s
    join name.$s
}

on_each_store tells
