#!/usr/bin/env bash
# f50_same_keys.sh - F50: a failover loses answers that declare checks or enqueue them anew, and
#     they come again
# PASS: what is declared and begun again carries the keys that it had; no key is carried by two
# different contents.
# quick
# limit 240
. "$(dirname "$0")/lib.sh"
. "$FAULTS/failovers.sh"
. "$FAULTS/teller.sh"

PARENTS=16                          # each with two levels of checks below it: six
ANEW=6

# The content of a run: who it is, what it was given, and which check it is. Lines "KEY<tab>CONTENT"
# of the journal from line $1 to line $2, each once.
contents() {
    sed -n "$1,$2p" journal |
        awk -F'\t' '{ split($13, deed, ","); print $8 "\t" $5 "/" $6 "/" $7 " " deed[1] " " $11 }' |
        LC_ALL=C sort -u
}
# Keys with more than one content.
shared() { cut -f1 "$1" | LC_ALL=C uniq -d; }
# Of the names with this pattern that ran beside both primaries: how many, and how many of these
# have a key of before that did not come again. A declared check lives once; a check that was
# enqueued anew has a key for each life.
told_again() {
    awk -F'\t' -v pattern="$1" '
        { name = $2; sub(/ .*/, "", name) } name !~ pattern { next }
        NR == FNR { before[name] = before[name] $1 " "; next }
        name in before { after[name] = after[name] $1 " " }
        function is_lost(n,    k, i, keys) {
            k = split(before[n], keys, " ")
            for (i = 1; i <= k; i++)
                if (!index(after[n], keys[i])) return 1
            return 0
        }
        END { for (n in after) { all++; other += is_lost(n) }; print all + 0, other + 0 }' before after
}

ran_below() { cut -f6 journal | sort -u | grep -c "$1"; }
ran_enough() { [ "$(ran_below "$1")" -ge "$2" ]; }
lives_of() { grep -c '	anew[0-9]*	' journal; }
lives_at_least() { [ "$(lives_of)" -ge "$1" ]; }

# file NAME N SECONDS PAYLOAD: by an application
file() {
    local n
    for ((n = 0; n < $2; n++)); do printf 'sent\t0\tb\trow\t%s\tteller\t0\t\n' "$1$n"; done >>plan
    q "SELECT count(prescient.enqueue('row', '$1' || n, 'teller', clock_timestamp() + interval '$3 s', '$4'))
         FROM generate_series(0, $2 - 1) n" >/dev/null
}
# No writer enqueues what answers will declare; the checker is told that it may be there.
plan_declared() {
    local n below
    for ((n = 0; n < PARENTS; n++)); do
        for below in 0 1 0.0 0.1 1.0 1.1; do
            printf 'sent\t0\td\trow\t%s\tteller\t0\t\n' "parent$n.$below"
        done
    done >>plan
}

# While there is no primary: what is in the journal was run beside the old one, all else beside the
# new one.
between_them() {
    fault_ends loss store
    OLD=$(runs)
}

same_keys() {
    local all other
    LEASE_S=3 TRUST_MS=1500
    JOB_LINES=$(tellers "$STORE_NAME.keys-$WAY")
    a_case "keys-$WAY" "workers = 8; split_at = 50; $WAY_SETTINGS"
    unset JOB_LINES
    engine e0; engine e1
    file anew $ANEW 1 '"sleep 4000"'
    ok "$CASE_NAME: the first lives run" wait_until 15 lives_at_least $ANEW
    file anew $ANEW 1 '"sleep 4000"'            # while they run: they begin anew when they end
    file parent $PARENTS 3 '"declare 2"'
    plan_declared
    is "$CASE_NAME: first lives that are to begin anew" \
        "$(q "SELECT count(*) FROM prescient.future_job WHERE again_at IS NOT NULL")" $ANEW
    ok "$CASE_NAME: the standby has all of that" wait_until 10 pair_is_level
    fault_begins loss store                     # none of what follows is on the node that is promoted
    pair_lag on || fail "$CASE_NAME: the standby has a sender"
    is "$CASE_NAME: parents that ran before" "$(grep -c '	parent' journal)" 0
    ok "$CASE_NAME: new lives run" wait_until 20 lives_at_least $((2 * ANEW))
    ok "$CASE_NAME: declared checks run, down to the second level" \
        wait_until 20 ran_enough 'parent[0-9]*\.[01]\.' $((PARENTS * 2))
    # lost, and filed again with another content: ids and names come again
    file other 10 0 '"before"'
    ok "$CASE_NAME: checks run that will be lost" wait_until 15 ran_enough 'other' 10
    fail_over 0.3 between_them || return
    file other 10 0 '"after"'
    ok "$CASE_NAME: all work is done" wait_until 40 drained
    contents 1 "$OLD" >before
    contents $((OLD + 1)) '$' >after
    contents 1 '$' >both
    read -r all other < <(told_again '/parent[0-9]*[.]')
    at_least "$CASE_NAME: checks that were declared again" "$all" $((PARENTS * 4))
    is "$CASE_NAME: of these, under another key" "$other" 0
    read -r all other < <(told_again '/anew')
    is "$CASE_NAME: lives that began anew again" "$all" $ANEW
    is "$CASE_NAME: of these, under another key" "$other" 0
    is "$CASE_NAME: keys that tell nothing apart" "$(shared both)" ""
    is "$CASE_NAME: other contents of one name have keys of their own" "$(grep -c '/other' both)" 20
    verdict F50 --changed anew --changed other --declared anew --declared parent
}

needs_pair
on_a_pair direct same_keys
[ -z "${QUICK:-}" ] || exit 0
needs_bouncer
on_a_pair bouncer same_keys
