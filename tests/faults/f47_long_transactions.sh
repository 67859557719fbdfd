#!/usr/bin/env bash
# f47_long_transactions.sh - F47: prepared and idle transactions of applications cover a slot, for
#     minutes
# PASS: what they filed there runs within a second of their end, whatever older ones are still open;
# a row that they held there, by the next look.
# quick
# limit 400
. "$(dirname "$0")/lib.sh"
needs_postgresql

LONG_S=120
# longer than an engine tries a row that is held (30 s), and than the longest pause between two
# looks (15 s)
[ -z "${QUICK:-}" ] || LONG_S=40
EPSILON_MS=$(((LONG_S + 30) * 1000))        # the check of delays is made here, by the moment of each commit
PAYLOAD='["done"]'

# a_session NAME: psql that stays open; say NAME SQL, and it has been done when that returns.
declare -A SESSION=()
SAID=0
a_session() {
    local fd
    mkfifo "$CASE/$1.in"
    psql -qXAt "$PRESCIENT_STORE" <"$CASE/$1.in" >"$CASE/$1.out" 2>&1 &
    HELPERS[$1]=$!
    exec {fd}>"$CASE/$1.in"
    SESSION[$1]=$fd
}
said() { grep -qxF "said $SAID" "$CASE/$1.out"; }
say() {
    SAID=$((SAID + 1))
    printf '%s;\n\\echo said %s\n' "$2" $SAID >&"${SESSION[$1]}"
    wait_until 20 said "$1" && ! grep -q ERROR "$CASE/$1.out" ||
        fail "$CASE_NAME: session $1 does as it is told" "$(tail -2 "$CASE/$1.out")"
}

file() {
    echo "SELECT prescient.enqueue('row', '$1', 'witness', clock_timestamp() + interval '1 s', '$PAYLOAD')"
}
ended() { [ "$(q "SELECT count(*) FROM prescient.future_job_history WHERE entity_key = '$1'")" = 1 ]; }
ran() { cut -f6 "$CASE/journal" | grep -qxF "$1"; }

# within_a_second KEY WHAT: it runs now, that what held it up is over.
within_a_second() {
    local began; began=$(now_ms)
    if wait_until 5 ran "$1"; then
        local took=$(($(now_ms) - began))
        if [ $took -le 1500 ]; then pass "$CASE_NAME: $2 runs within a second ($took ms)"
        else fail "$CASE_NAME: $2 runs within a second" "found:    $took ms"; fi
    else fail "$CASE_NAME: $2 runs within a second" "found:    not after 5 s"; fi
}

# Slots of a second are looked at each second, whatever engines learn of transactions. Of one of
# half a minute the looks come 0.5, 1.5, 3.5, 7.5 and 15.5 s after its begin: what ends 18 s after
# it is found within a second only by who asks for that. A time that is a second ahead, with its
# fraction, may lie in the slot of the second after it.
between_two_looks() {
    local now; now=$(date +%s)
    sleep $(((now + 2 + 29) / 30 * 30 + 18 - now))
}

# over_a_slot NAME SLOT-LENGTH PAUSE [held]
over_a_slot() {
    SLOT_LENGTH=$2 a_case "$1"
    local pause=$3
    shift 3
    local one
    for one in oldest idle ${1:+kept}; do a_session $one; done
    [ -z "${1:-}" ] || q "$(file held)" >/dev/null
    printf 'sent\t0\tb\trow\t%s\twitness\t0\t\n' ${1:-} idle prepared >>plan
    # What was filed by the others must not wait for the end of the oldest one.
    say oldest "BEGIN; SELECT pg_current_xact_id()"
    if [ -n "${1:-}" ]; then
        say kept "BEGIN; SELECT FROM prescient.future_job WHERE entity_key = 'held' FOR UPDATE"
    fi
    say idle "BEGIN; $(file idle)"
    q "BEGIN; $(file prepared); PREPARE TRANSACTION 'f47_$$'" >/dev/null
    engine e0; engine e1
    $pause
    is "$CASE_NAME: nothing of what they filed has run before" \
        "$(cut -f6 journal | grep -cE '^(idle|prepared)$')" 0
    say idle "COMMIT"
    within_a_second idle "what an idle transaction had filed"
    q "COMMIT PREPARED 'f47_$$'"
    within_a_second prepared "what a prepared transaction had filed"
    say oldest "COMMIT"
    if [ -n "${1:-}" ]; then
        say kept "ROLLBACK"
        ok "$CASE_NAME: a row that was held has run and is written down by the next look" \
            wait_until 16 ended held
    fi
    for one in oldest idle ${1:+kept}; do exec {SESSION[$one]}>&-; done
    LIVE_S=20 verdict F47 --changed ''
}
beside_a_held_row() { over_a_slot "long${LONG_S}s" 1s "sleep $LONG_S" held; }
over_a_long_slot() { over_a_slot slots30s 30s between_two_looks; }
in_case held on_stores postgresql beside_a_held_row
in_case filed on_stores postgresql over_a_long_slot
