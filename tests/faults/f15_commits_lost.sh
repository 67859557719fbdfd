#!/usr/bin/env bash
# f15_commits_lost.sh - F15: the primary is killed, and its asynchronous standby is promoted without
#     the last five seconds of commits
# PASS: everything agrees with the database that survived; lost settles run again, under the same
# key; ids that come again share no key with old rows.
# limit 240
. "$(dirname "$0")/lib.sh"
. "$FAULTS/failovers.sh"

LOST_S=${LOST_S:-5}
ids_of() { pair_q "$1" "SELECT id, entity_key FROM prescient.future_job" | tr '|' '\t' >>"$2"; }

# lose_commits: what is committed from here on for LOST_S seconds is not on the node that is
# promoted then. Files record what was there before.
lose_commits() {
    local until=$(($(now_ms) + LOST_S * 1000))
    fault_begins loss store             # check.py takes it for the time whose commits may be missing
    pair_lag on || fail "$CASE_NAME: the standby has a sender"
    while [ "$(now_ms)" -lt $until ]; do
        ids_of "$PRIMARY" ids.before
        sleep 0.3
    done
    ok "$CASE_NAME: somebody is at work" engine_at_work 10
    acknowledged_keys >acked.before
    settles_on "$PRIMARY" >settles.before
    fail_over 0.3 fault_ends loss store || return 1     # what is acknowledged from there on is on the new one
    settles_on "$PRIMARY" >settles.after
    known_on "$PRIMARY" >known.after
    LC_ALL=C comm -23 acked.before known.after >acked.lost
    LC_ALL=C comm -23 settles.before settles.after >settles.lost
}

# Rows of the new primary with an id that another row had on the old one.
ids_that_came_again() {
    ids_of "$PRIMARY" ids.after
    awk -F'\t' 'NR == FNR { was[$1] = $2; next } ($1 in was) && was[$1] != $2 && !seen[$1]++' \
        ids.before ids.after | wc -l
}
ids_came_again() { [ "$(ids_that_came_again)" -ge "$1" ]; }

# Of the lost settles that ended a check which is still known: how many were not run again, and how
# many of those that were under another key.
lost_and_run_again() {
    awk -F'\t' '
        FILENAME == "known.after" { known[$1] = 1; next }
        FILENAME == "settles.lost" {
            split($0, f, "|")
            if (f[7] == "done" && known[f[3]]) want[f[3] SUBSEP f[5]] = 1
            next
        }
        (k = $6 SUBSEP $11) in want { n[k]++; if (!keys[k, $8]++) of[k]++ }
        END {
            for (k in want) { all++; once += n[k] < 2; other += of[k] > 1 }
            print all + 0, once + 0, other + 0
        }' known.after settles.lost journal
}

commits_lost() {
    local all once other
    LEASE_S=3 TRUST_MS=1500
    a_case "lost-$WAY" "workers = 2; split_at = 50; $WAY_SETTINGS"
    engine e0; engine e1
    write_checks w --patient --checks 1800 --over 30 --batch 15 --ahead 0,4 --mix busy --most-ms 20
    ok "$CASE_NAME: it is at work" wait_until 15 runs_at_least 100
    lose_commits || return
    at_least "$CASE_NAME: acknowledged enqueues were lost with the old primary" "$(wc -l <acked.lost)" 1
    at_least "$CASE_NAME: settles were lost with it" "$(wc -l <settles.lost)" 1
    it_goes_on
    ok "$CASE_NAME: ids of lost rows come again" wait_until 20 ids_came_again 10
    written w
    verdict F15
    cd "$CASE" || return
    read -r all once other < <(lost_and_run_again)
    at_least "$CASE_NAME: checks that had ended by a lost settle" "$all" 1
    is "$CASE_NAME: all of them ran again" "$once" 0
    is "$CASE_NAME: each under the key it had" "$other" 0
    cd "$TMP" || exit 2
}

needs_pair
on_a_pair direct commits_lost
needs_bouncer
on_a_pair bouncer commits_lost
