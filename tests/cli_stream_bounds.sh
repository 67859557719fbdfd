#!/usr/bin/env bash
# cli_stream_bounds.sh - what lines that are posted cost the processes of prescient serve in memory,
# whatever the clients do; in the night for more of them, and with the server's time limits.
# about 40 s
# not instrumented
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

stream() { limited "${LIMIT:-90}" python3 "$ROOT/tests/http_stream.py" "$@"; }
LOOKS='jobs = { look = { plugin = "noop"; }; };'

# memory NAME FIELD: KiB of all processes of a server, as /proc has them (VmRSS, or VmHWM: the most)
memory() {
    local pid sum=0 kib
    for pid in "$(pid_of "$1")" $(backends_of "$1"); do
        kib=$(sed -n "s/^$2:[ \t]*\([0-9]*\) kB/\1/p" "/proc/$pid/status")
        sum=$((sum + kib))
    done
    echo "$sum"
}
# warm NAME: after requests of each kind, so that what is there once is there
warm() {
    stream order "$SOCK" 2000 >/dev/null
    stream ends_of_lines "$SOCK" >/dev/null
    post '{"entity": "e", "key": 1, "job": "look", "in": 1}' >/dev/null
}

large_lines() {
    local s=$STORE_NAME before n=1000
    judges_time && n=100000
    a_clean_store
    settings "$LOOKS"
    serve large.$s
    warm
    before=$(memory large.$s VmRSS)
    is "$s: $n lines of 60 KB" "$(LIMIT=1000 stream large "$SOCK" $n 300)" "$n complete"
    at_most "$s: KiB that they add at their most to all processes together" \
        $(($(memory large.$s VmHWM) - before)) $((32 * 1024))
    ends large.$s
}

# held CASE N: KiB that each of N connections adds while it is held
held() {
    local s=$STORE_NAME before go
    before=$(memory slow.$s VmRSS)
    mkfifo "go.$1"
    stream "$1" "$SOCK" "$2" <"go.$1" >"$1.$s" &
    exec {go}>"go.$1"
    wait_until 60 grep -q held "$1.$s"
    KIB=$((($(memory slow.$s VmRSS) - before + $2 - 1) / $2))
    echo >&"$go"
    exec {go}>&-
    wait $!
    rm "go.$1"
}
slow_clients() {
    local s=$STORE_NAME
    a_clean_store
    settings "$LOOKS"
    serve slow.$s
    warm
    held slow_to_send 400
    at_most "$s: KiB for each that stays in the middle of a line of 60 KB" "$KIB" 64
    held slow_to_read 100
    at_most "$s: KiB for each that reads no answer" "$KIB" 64
    at_most "$s: thousands of lines that are read of one that reads no answer" \
        "$(sed 's/held //' slow_to_read.$s)" 20
    is "$s: others are answered" "$(stream in_turn "$SOCK")" $'None True\nthen 200'
    ends slow.$s
}

time_limits() {
    local s=$STORE_NAME
    a_clean_store
    settings "$LOOKS"
    serve limits.$s
    is "$s: a line that does not come in time" "$(stream stalls "$SOCK")" \
        "200 new: 1 408 at the end: 1 cut off"
    has "$s: who does not read is given up" "$(stream never_reads "$SOCK")" "closed after"
    ends limits.$s
}

on_this_store() {
    large_lines
    slow_clients
    ! judges_time || time_limits
}
on_each_store on_this_store
