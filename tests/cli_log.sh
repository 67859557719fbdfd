#!/usr/bin/env bash
# cli_log.sh - the log's lines: what a daemon is, as text, as JSON, and as systemd's journal wants
# them; what lines are about; and failures of commands, where somebody collects lines of a form.
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
    a_daemon both.$s env JOURNAL_STREAM="$(: >both.$s.err; stat -c '%d:%i' both.$s.err)" \
        "$P" --set log_format=json
    is "$s: to the journal with a priority in front" "$(grep -vc '^<6>{"time":' both.$s.err)" 0
    ok "$s: with the same words" grep -qE '"message":"prescient [^ ]*'"${words%$}\"}" objects.$s.err
    # the shell opens the file before the program is started
    : >journal.$s.err
    a_daemon journal.$s env JOURNAL_STREAM="$(stat -c '%d:%i' journal.$s.err)" "$P"
    ok "$s: the journal is given a priority, and no time" grep -qE "^<6>prescient [^ ]*$words" journal.$s.err
    a_daemon other.$s env JOURNAL_STREAM=1:2 "$P"
    ok "$s: what goes elsewhere has its time" \
        grep -qE "Z info prescient\[[0-9]+\]: prescient [^ ]*$words" other.$s.err
    about
    fails_with 78 "expected one of text, json" "$P" --set log_format=xml status
    "$P" --set log_format=json list --from nonsense 2>failure.$s.err
    is "$s: a failure of a command is an object, too" "$(json 'j["level"]' <failure.$s.err)" error
}

# members WORDS: of the line with these words, but for those that each line has.
members() {
    grep -F "$1" "run.$STORE_NAME.err" | json '{n: j[n] for n in ("slot", "job", "entity", "key") if n in j}'
}
plugin loud 'host->log(host, 1, "words of a job"); answer->kind = PRESCIENT_DONE;'
about() {
    local s=$STORE_NAME slot="'slot': '2023-11-14T22:15:00Z'"
    settings 'max_failures = 0;' 'jobs = {' \
        '  bad = { plugin = "noop"; settings = { answer = "fail"; }; };' \
        '  loud = { plugin = "loud"; }; };'
    sed -i '1s|(|("jobs", |' prescient.cfg
    "$P" --quiet --now 1700000050 enqueue $'or\x01ders' '42 "a"' bad +1s >/dev/null
    "$P" --quiet --now 1700000050 enqueue orders 43 loud +1s >/dev/null
    "$P" --now 1700000100 --set log_format=json run >run.$s.out 2>run.$s.err
    is "$s: the end of a slot is about the slot" "$(members 'leases held by others')" "{$slot}"
    is "$s: a check that failed, about the check" "$(members 'ended as failed')" \
        "{$slot, 'job': 'bad', 'entity': 'or ders', 'key': '42 \"a\"'}"
    is "$s: what a job says, about the job" "$(members 'words of a job')" "{$slot, 'job': 'loud'}"
}

# A server says what it is, too.
a_server() {
    a_clean_store
    settings
    start serve.$STORE_NAME "$P" serve --listen "unix:serve.$STORE_NAME"
    ok "$STORE_NAME: a server says where it answers, and from which store" wait_until 20 grep -qE \
        "info prescient\[[0-9]+\]: prescient [^ ]* answers at unix:.*; its store is $STORE_NAME:" \
        serve.$STORE_NAME.err
    kill -TERM "$(pid_of serve.$STORE_NAME)"
    join_within 20 serve.$STORE_NAME
}

on_each_store lines
on_each_store a_server
