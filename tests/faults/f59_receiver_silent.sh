#!/usr/bin/env bash
# f59_receiver_silent.sh - F59: the receiver of deliveries is a black hole (connections hang, or are
#     taken and nothing is said), or its name server answers nothing
# PASS: a run ends in the job's time; neither the checks nor another listener wait for it; each
# delivery waits with its words, and arrives under its key once the receiver is back.
# quick
if [ -z "${OWN_NETWORK:-}" ] && unshare -mn ip link set lo up 2>/dev/null; then
    OWN_NETWORK=1 exec unshare -mn "$0"
fi
. "$(dirname "$0")/lib.sh"
. "$FAULTS/deliveries.sh"
[ -z "${OWN_NETWORK:-}" ] || ip link set lo up

# After three failures in a row a receiver is left alone for a minute: with FULL=1 it is.
EVENTS=2 BACK_S=30 RUN_MS=15000
[ -z "${FULL:-}" ] || EVENTS=6 BACK_S=90

hole() {
    mkdir "$CASE/hole"
    start hole python3 "$FAULTS/black_hole.py" "$1" "$CASE/hole"
    wait_until 20 test -e "$CASE/hole/port" || fail "$CASE_NAME: the hole is there"
}
# hook_to URL: where the listener `hook` sends; the listener `other` is always heard by the receiver
hook_to() {
    local back=http://127.0.0.1:$PORT/status/200
    JOB_LINES="$(witness witness)
        hook = { plugin = \"webhook\"; timeout = \"2s\"; backoff = \"1s\";
                 settings = { url = \"${1:-$back}\"; connect_timeout = \"1s\"; }; };
        good = { plugin = \"webhook\"; settings = { url = \"$back\"; }; };"
    case_settings 'workers = 2;' 'listeners = ( { events = "ran"; job = "hook"; },
        { name = "other"; events = "ran"; job = "good"; } );'
}
waits_with_words() {
    q "SELECT count(DISTINCT entity_key) FROM {future_job_run} WHERE entity_name = 'prescient.event'
       AND (outcome = 'failed' AND note LIKE '%$1%' OR outcome = 'deferred' AND note LIKE 'not sent to %')"
}

# silent KIND URL WORDS
silent() {
    local began took back_at
    SLOT_LENGTH=1h a_case "$1"
    receiver
    hole "$1"
    hook_to "${2//PORT/$(cat "$CASE/hole/port")}"
    checks $EVENTS
    began=$(now_ms)
    engine e0 run
    join_within 60 e0
    unset "ENGINES[e0]"
    took=$(($(now_ms) - began))
    at_most "$CASE_NAME: a run ends, in ms" $took $RUN_MS
    is "$CASE_NAME: all checks were looked at" "$(runs) $(events)" "$EVENTS $EVENTS"
    is "$CASE_NAME: the other listener has got all" "$(received) $(delivered)" "$EVENTS $EVENTS"
    is "$CASE_NAME: what the hole got waits" "$(deliveries)" $EVENTS
    is "$CASE_NAME: each with its words" "$(waits_with_words "$3")" $EVENTS
    [ "$1" != dns ] || at_least "$CASE_NAME: the name server was asked" "$(wc -l <"$CASE/hole/asked")" 1
    kill "$(pid_of hole)"; join hole
    back_at=$(now_ms)
    hook_to
    engine e1
    ok "$CASE_NAME: all arrive when the receiver is back" wait_until $BACK_S nothing_pending
    is "$CASE_NAME: once each, under a key for each listener" "$(received) $(keys_received) $(delivered)" \
        "$((2 * EVENTS)) $((2 * EVENTS)) $((2 * EVENTS))"
    is "$CASE_NAME: no check was looked at again" "$(runs)" $EVENTS
    LONGEST_MS=$(($(now_ms) - back_at))
    kill "$(pid_of receiver)"; join receiver
    judged F59
}
backlog() { silent backlog http://127.0.0.1:PORT/ ' ms)'; }
mute() { silent mute http://127.0.0.1:PORT/ ' ms)'; }
dns() { silent dns http://shop.test/ 'no name server has answered in time'; }

[ -n "${QUICK:-}" ] || in_case backlog on_both_stores backlog
in_case mute on_both_stores mute
if [ -n "${OWN_NETWORK:-}" ]; then
    printf 'nameserver 127.0.0.1\noptions timeout:30 attempts:1\n' >"$TMP/resolv.conf"
    printf 'hosts: files dns\n' >"$TMP/nsswitch.conf"
    mount --bind "$TMP/resolv.conf" /etc/resolv.conf || fail "a name server of our own"
    mount --bind "$TMP/nsswitch.conf" /etc/nsswitch.conf || fail "names are looked up there"
    in_case dns on_both_stores dns
else
    echo "# no name server of our own: no right to make namespaces"
fi
