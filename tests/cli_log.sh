#!/usr/bin/env bash
# cli_log.sh - the log's lines: what a daemon is, as text, as JSON, and as systemd's journal wants
# them; and failures of commands, where somebody collects lines of a form.
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
json_begins

# a_daemon NAME [argument...]: until it serves; its log is NAME.err
a_daemon() {
    local name=$1; shift
    start "$name" "$@" daemon
    wait_until 20 grep -q serves "$name.err" || fail "$name serves" "$(cat "$name.err")"
    kill -TERM "$(pid_of "$name")"
    join_within 20 "$name"
    is "$STORE_NAME: $name: it ends well" "$CODE" 0
}

lines() {
    local words=", a daemon of .*; jobs: remind, unpaid$" s=$STORE_NAME
    a_clean_store --slot-length 5m
    settings 'log_level = "info";' \
        'jobs = { remind = { plugin = "noop"; }; unpaid = { plugin = "noop"; }; };'
    a_daemon text.$s "$P"
    ok "$s: a daemon says what it is" \
        grep -qE "^20[0-9-]*T[0-9:.]*Z info prescient\[[0-9]+\]: prescient [^ ]*$words" text.$s.err
    ok "$s: and that it serves slots of a length" grep -q "it serves slots of 5m$" text.$s.err
    a_daemon objects.$s "$P" --set log_format=json
    is "$s: each line is an object" "$(python3 -c '
import json, sys
print({tuple(sorted(json.loads(line))) for line in sys.stdin})' <objects.$s.err)" \
        "{('level', 'message', 'pid', 'role', 'time')}"
    ok "$s: with the same words" grep -qE '"message":"prescient [^ ]*'"${words%$}\"}" objects.$s.err
    # the shell opens the file before the program is started
    : >journal.$s.err
    a_daemon journal.$s env JOURNAL_STREAM="$(stat -c '%d:%i' journal.$s.err)" "$P"
    ok "$s: the journal is given a priority, and no time" grep -qE "^<6>prescient [^ ]*$words" journal.$s.err
    a_daemon other.$s env JOURNAL_STREAM=1:2 "$P"
    ok "$s: what goes elsewhere has its time" \
        grep -qE "Z info prescient\[[0-9]+\]: prescient [^ ]*$words" other.$s.err
    fails_with 78 "expected one of text, json" "$P" --set log_format=xml status
    "$P" --set log_format=json list --from nonsense 2>failure.$s.err
    is "$s: a failure of a command is an object, too" "$(json 'j["level"]' <failure.$s.err)" error
}

on_each_store lines
