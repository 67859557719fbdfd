#!/usr/bin/env bash
# cli_systemd.sh - what a daemon tells systemd: that it has begun, what it did last, that it goes
# on, and that it stops; also while its store hangs, and not while it hangs itself.
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

# listener NAME ADDRESS: writes each message to NAME.told, until it is ended; "silence" when none
# came for two seconds
listener() {
    start "$1" python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[2].replace("@", "\0", 1) if sys.argv[2][0] == "@" else sys.argv[2])
s.settimeout(2)
with open(sys.argv[1] + ".told", "x", buffering=1) as told:
    while True:
        try:
            told.write(s.recv(4096).decode() + "\n")
        except TimeoutError:
            told.write("silence\n")' "$1" "$2"
    wait_until 20 test -e "$1.told" || fail "$1 listens"
    alive "$1" || fail "$1 listens" "$(cat "$1.err")"
}
told() { grep -q "$2" "$1.told"; }
told_twice() { [ "$(grep -c "$2" "$1.told")" -ge 2 ]; }
# told_more NAME WORDS N: N times more than when `counted` was called
counted() { COUNT=$(grep -c "$2" "$1.told"); }
told_more() { [ "$(grep -c "$2" "$1.told")" -ge $((COUNT + $3)) ]; }
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

# The processes of the server that work for an engine, or nothing.
backends() {
    q "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND application_name LIKE 'prescient%'"
}

# The watchdog asks for the loop and not for the store.
hangs() {
    local s=$STORE_NAME held=
    a_clean_store
    settings 'jobs = { noop = { plugin = "noop"; }; };'
    listener hangs.$s "$PWD/hangs.$s"
    start hung.$s env NOTIFY_SOCKET="$PWD/hangs.$s" WATCHDOG_USEC=200000 "$P" daemon
    ok "$s: it serves" wait_until 20 serves hung.$s
    [ "$s" = sqlite ] || held=$(backends)
    if [ -n "$held" ] && kill -STOP $held 2>/dev/null; then
        counted hangs.$s '^WATCHDOG=1$'
        ok "$s: while its store hangs, it goes on" wait_until 20 told_more hangs.$s '^WATCHDOG=1$' 10
        kill -CONT $held
    fi
    kill -STOP "$(pid_of hung.$s)"
    counted hangs.$s '^silence$'
    ok "$s: when it hangs itself, it says so no more" wait_until 20 told_more hangs.$s '^silence$' 1
    kill -CONT "$(pid_of hung.$s)"
    counted hangs.$s '^WATCHDOG=1$'
    ok "$s: and goes on when it can" wait_until 20 told_more hangs.$s '^WATCHDOG=1$' 1
    ends_well hung.$s
    kill "$(pid_of hangs.$s)"
    join hangs.$s
}

# A server that takes connections and says nothing: it is waited for, with more time to begin.
a_silent_store() {
    settings 'connect_timeout = "300ms";' 'jobs = { noop = { plugin = "noop"; }; };'
    start silent python3 -c '
import socket
s = socket.socket(socket.AF_UNIX)
s.bind(".s.PGSQL.5432")
s.listen(64)
open("silent.listens", "x").close()
taken = []
while True:
    taken.append(s.accept())'
    wait_until 20 test -e silent.listens || fail "the silent server listens" "$(cat silent.err)"
    listener waits "$PWD/waits"
    start waiting env NOTIFY_SOCKET="$PWD/waits" WATCHDOG_USEC=200000 \
        "$P" --store "postgresql:///nothing?host=$PWD" daemon
    ok "a store that says nothing is waited for" wait_until 20 told waits '^STATUS=waiting for its store'
    ok "with more time to begin" wait_until 20 told waits '^EXTEND_TIMEOUT_USEC='
    counted waits '^WATCHDOG=1$'
    ok "and it goes on" wait_until 20 told_more waits '^WATCHDOG=1$' 10
    is "but has not begun" "$(grep -c '^READY' waits.told)" 0
    kill -TERM "$(pid_of waiting)"
    join_within 20 waiting
    kill "$(pid_of silent)" "$(pid_of waits)"
    join silent
    join waits
}

on_each_store tells
on_each_store hangs
[ -z "$SERVER" ] || a_silent_store
