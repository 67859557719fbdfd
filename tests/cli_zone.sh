#!/usr/bin/env bash
# Times in the zone that was asked for, in all that commands say of them: lists, sentences, findings
# and hints; for programs they stay in UTC.
. "$(dirname "$0")/lib.sh"

cat >prescient.cfg <<'CFG'
log_level = "error";
listeners = ( { name = "hook"; events = "told"; job = "fails"; } );
jobs = { look = { plugin = "noop"; settings = { answer = "again"; }; };
         tell = { plugin = "noop"; settings = { answer = "done"; event = "told"; }; };
         fails = { plugin = "noop"; settings = { answer = "fail"; }; };
         broken = { plugin = "noop"; settings = { answer = "broken"; }; }; };
CFG
chmod 600 prescient.cfg

# there COMMAND...: what it says in Tokyo, on both streams
there() { "$P" --zone Asia/Tokyo "$@" >said 2>&1 || true; }
# A moment in UTC has a Z behind the time of its day.
in_utc='[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z'
in_tokyo='T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?\+09:00'
# is_there WHAT COMMAND...: it tells times, and all of them in that zone
is_there() {
    local what=$1; shift
    there "$@"
    is "$STORE_NAME: $what: no time is in UTC" "$(grep -E "$in_utc" said)" ""
    ok "$STORE_NAME: $what: some are in the zone" grep -qE "$in_tokyo" said
}

a_delivery_fails() {
    "$P" --quiet run >/dev/null 2>&1
    "$P" deliveries --failed | grep -q hook
}

zones() {
    local n
    ok "$STORE_NAME: init" "$P" --quiet init
    for n in 1 2 3; do
        "$P" --quiet --now -2h enqueue orders $n look +15m
        "$P" --quiet --now -2h enqueue carts $n tell +15m
        "$P" --quiet --now -2h enqueue shops $n broken +15m
        "$P" --quiet --now -2h enqueue bills $n fails +15m
    done >/dev/null 2>&1
    "$P" --quiet sweep >/dev/null 2>&1
    "$P" --quiet enqueue orders 7 nobody +3h >/dev/null 2>&1
    "$P" --quiet enqueue orders 8 look +3h >/dev/null
    "$P" --quiet pause --tenant acme --reason "as of 2026-03-01T13:15:00Z" >/dev/null

    is_there "why, of one that waits" why orders 1
    is_there "why, of one that is over, and its event" why carts 1
    is_there "list" list --limit 2
    is_there "history" history --limit 1
    is_there "slots" slots --limit 1
    is_there "events" events --limit 1
    is_there "try" try look orders 9
    is_there "enqueue" enqueue orders 9 look +3h
    is_there "enqueue of what has passed" enqueue orders 10 look -- -1h
    is_there "prune" prune --keep 90d --dry-run
    ok "$STORE_NAME: a delivery fails" wait_until 10 a_delivery_fails
    n=$("$P" --json deliveries --failed | python3 -c \
        'import json, sys; print(json.load(sys.stdin)[0]["delivery"])')
    is_there "deliveries --again" deliveries --again "$n"
    is_there "deliveries --again of what is not over" deliveries --again "$n"
    is_there "token new" token new "told_$STORE_NAME" --role read --expires 1d
    there status
    is "$STORE_NAME: status: what somebody has written stays as it was" \
        "$(grep -E "$in_utc" said | grep -cv 'as of 2026-03-01T13:15:00Z')" 0
    ok "$STORE_NAME: status: its times are in the zone" grep -qE "oldest.*$in_tokyo|since.*$in_tokyo" said
    there doctor
    is "$STORE_NAME: doctor: what somebody has written stays as it was" \
        "$(grep -E "$in_utc" said | grep -cv 'as of 2026-03-01T13:15:00Z')" 0
    ok "$STORE_NAME: doctor: its times are in the zone" grep -qE "over the slot .*$in_tokyo" said

    there list --limit 1
    hint=$(grep -o 'from 20[^ ]*' said)
    ok "$STORE_NAME: a time that a hint has can be typed as it stands" \
        "$P" --quiet list ${hint/from/--from}

    for n in "why orders 1" "doctor" "status" "try look orders 9"; do
        there --json $n
        is "$STORE_NAME: $n --json: programs get UTC" "$(grep -cE "$in_tokyo" said)" 0
    done
}

on_each_store zones
