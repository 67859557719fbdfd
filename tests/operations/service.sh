#!/usr/bin/env bash
# service.sh FOLDER PRESCIENT start|restart|enable --now UNIT|stop UNIT...|daemon-reload - what
# `systemctl` does with the service of an engine, for tests/operations_lib.sh: a process; its pid is
# in FOLDER. A unit that was never started is stopped.
folder=$1 prescient=$2; shift 2
verb=$1 unit=${*: -1}
pid=$folder/$unit.pid

stops() {
    [ -e "$pid" ] || return 0
    kill -TERM "$(cat "$pid")" 2>/dev/null
    for _ in {1..3000}; do
        kill -0 "$(cat "$pid")" 2>/dev/null || { rm -f "$pid"; return 0; }
        sleep 0.02
    done
    return 1
}
starts() {
    [ ! -e "$pid" ] || ! kill -0 "$(cat "$pid")" 2>/dev/null || return 0
    cd "$folder/.." || return 1
    setsid "$prescient" daemon >>"$folder/$unit.log" 2>&1 </dev/null &
    echo $! >"$pid"
}
case $verb in
stop) shift; for unit; do pid=$folder/$unit.pid; stops || exit; done ;;
start | enable) starts ;;
restart) stops && starts ;;
daemon-reload) ;;
*) echo "service.sh: $verb is not known" >&2; exit 2 ;;
esac
