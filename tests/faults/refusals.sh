# refusals.sh - what engines say and do while their store refuses them: when they said so first, and
# what they started afterwards. Sourced after lib.sh.
#
#   has_logged NAME WORDS           engine NAME has logged a line that matches WORDS (extended
#                                   regular expression) since forget_messages
#   logged_us NAME WORDS            when the first of them was written
#   starts NAME FROM_US TO_US       how many jobs its workers began in between (all engines: NAME is
#                                   "")
#   has_started NAME N              they began so many
#   refused WHAT BEGIN END WORDS    a whole case: e0 and e1 are in the middle of their work, BEGIN
#                                   is called, both must say WORDS, HOLD_S pass, END is called; they
#                                   must start nothing from then on (or from the end of the trust
#                                   window on, with LENIENT=1; or from the first line that matches
#                                   RENEWAL, and the last one that matches SETTLE on, as a renewal
#                                   may go well for as long as that comes),
#                                   try again at growing pauses, and go on afterwards, without a
#                                   restart, with what is left and with new work

declare -A WORDS_FROM=()            # engine -> line of its log from which on words count
forget_messages() {
    local name; for name in "${!ENGINES[@]}"; do WORDS_FROM[$name]=$(($(wc -l <"$CASE/$name.err") + 1)); done
}
told() { tail -n "+${WORDS_FROM[$1]:-1}" "$CASE/$1.err" | grep -E "$2"; }
has_logged() { [ -n "$(told "$1" "$2")" ]; }
us_of() { date -d "${1%% *}" +%s%6N; }
logged_us() { us_of "$(told "$1" "$2" | head -1)"; }
# refused_from_us NAME WORDS: when the first line with WORDS was written (with RENEWAL, if there is
# one), or the last one with SETTLE if that is later
refused_from_us() {
    local first last=0 words=$2
    [ -z "${RENEWAL:-}" ] || ! has_logged "$1" "$RENEWAL" || words=$RENEWAL
    first=$(logged_us "$1" "$words")
    [ -z "${SETTLE:-}" ] || ! has_logged "$1" "$SETTLE" || last=$(us_of "$(told "$1" "$SETTLE" | tail -1)")
    echo $((first > last ? first : last))
}

starts() {
    awk -F'\t' -v e="${1:+$(engine_pid "$1")}" -v from="$2" \
        -v to="$3" '(e == "" || $4 == e) && $1 > from && $1 < to' "$CASE/journal" | wc -l
}
has_started() { [ "$(starts "$1" 0 "$(now_us)")" -ge "$2" ]; }

# A job that was claimed at the very moment is let through: the line of the log has milliseconds,
# and the journal is written by another process.
JUST_CLAIMED_US=50000

# busy_engines NAME LINE...: two of them with some seconds of work in one or two slots, most of it
# still to be started when a fault comes.
busy_engines() {
    WITNESS='batch = 1;' a_case "$1" 'workers = 2; split_at = 50;' "${@:2}"
    engine e0; engine e1
    write_checks w --patient --checks "${CHECKS:-1000}" --batch 100 --ahead 1,2 --mix slow --most-ms 60
}

refused() {
    local what=$1 begin=$2 end=$3 words=$4 name pids from began ended tries
    pids="$(engine_pid e0) $(engine_pid e1)"
    for name in e0 e1; do
        ok "$CASE_NAME: $name is in the middle of its work" wait_until 15 has_started "$name" "${BEFORE:-30}"
    done
    forget_messages
    fault_begins "$what" store
    began=$(now_us)
    ok "$CASE_NAME: $what: so it is" "$begin"
    for name in e0 e1; do
        ok "$CASE_NAME: $what: $name says so" wait_until 15 has_logged "$name" "$words"
    done
    sleep "${HOLD_S:-6}"
    ended=$(now_us)
    # Of each of its two connections: some at first, then one each third of the lease, or half of
    # that by jitter.
    tries=$((8 + (ended - began) * 6 / LEASE_S / 1000000))
    ok "$CASE_NAME: $what: it is over" "$end"
    fault_ends "$what" store
    for name in e0 e1; do
        from=$(refused_from_us "$name" "$words")
        from=$((from + JUST_CLAIMED_US + (${LENIENT:-0} ? TRUST_MS * 1000 : 0)))
        is "$CASE_NAME: $what: $name starts nothing from then on" "$(starts "$name" "$from" "$ended")" 0
        at_most "$CASE_NAME: $what: $name tries again at growing pauses" \
            "$(told "$name" "${RENEWAL:-$words}" | wc -l)" $((2 * tries))
    done
    write_checks after --checks 100 --mix slow
    written after
    ok "$CASE_NAME: $what: what was left is done, and new work" wait_until 60 drained
    for name in e0 e1; do ok "$CASE_NAME: $what: $name was up all the time" alive "$name"; done
    is "$CASE_NAME: $what: by the engines of before" "$(engine_pid e0) $(engine_pid e1)" "$pids"
    written w
}
