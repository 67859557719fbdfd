#!/usr/bin/env bash
# t_pace.sh - a slot that is spread is run in parts: a run or a daemon takes those that have begun
# and leaves the others, of a slot that is one lease and of one that is split. Slots are a day long
# here, so that parts begin every 22 minutes. What cannot be a pace is refused.
# about 8 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

N=640 DAY=86400

begun() { echo $((($(date +%s) - SLOT) * 64 / DAY + 1)); }
# in_parts_before N: how many checks wait in the first N parts of the slot; the hash is that of a
# bucket
in_parts_before() {
    q "SELECT entity_name || ' ' || entity_key FROM {future_job}" | python3 -c 'import hashlib, sys
def part(name, key): return hashlib.sha256(f"{len(name)}:{name}{key}".encode()).digest()[0] & 63
print(sum(part(*line.split()) < int(sys.argv[1]) for line in sys.stdin))' "$1"
}
waiting() { q "SELECT count(*) FROM {future_job}"; }
over_before() { [ "$(in_parts_before "$1")" = 0 ]; }
runs() { q "SELECT count(*) FROM {future_job_history}"; }
leases() { q "SELECT count(*) FROM {slot_lease}"; }

the_slot() {
    SLOT=$(($(date +%s) / DAY * DAY))
    a_clean_store --slot-length 24h
    settings 'lease = "5s"; trust = "4s"; split_at = '"$1"';' 'jobs = { noop = { plugin = "noop"; }; };'
    is "$STORE_NAME: nothing is spread at first" "$("$P" pace)" "the checks of a slot are not spread"
    is "$STORE_NAME: a pace" "$("$P" pace 1)" \
        "the checks of a slot are spread over $DAY of its $DAY seconds"
    fill $N "$SLOT" noop "'p-' || n"
}
same_day() { [ $(($(date +%s) / DAY * DAY)) = "$SLOT" ]; }

in_parts() {
    the_slot "$1"
    local before after later
    before=$(begun)
    ok "$STORE_NAME: a run comes to its end" "$P" --quiet run
    after=$(begun)
    same_day || return 0                        # midnight: there is another slot
    later=$(($(waiting) - $(in_parts_before "$after")))
    is "$STORE_NAME: what has begun is run" "$(in_parts_before "$before")" 0
    at_most "$STORE_NAME: and no more than that" "$(runs)" $((N - later))
    is "$STORE_NAME: nobody keeps the slot" "$(leases)" 0
    ok "$STORE_NAME: another run has nothing to do" "$P" --quiet run
    same_day || return 0
    is "$STORE_NAME: it takes nothing of what begins later" "$(in_parts_before "$before")" 0
    is "$STORE_NAME: no pace any more" "$("$P" pace 0)" "the checks of a slot are not spread"
    ok "$STORE_NAME: a run takes the rest" "$P" --quiet run
    same_day || return 0
    is "$STORE_NAME: all are run, and once" "$(waiting) $(runs)" "0 $N"
}

with_a_daemon() {
    the_slot "$1"
    local before; before=$(begun)
    start daemon "$P" daemon
    ok "$STORE_NAME: a daemon runs what has begun" wait_until 20 over_before "$before"
    same_day || return 0
    kill -TERM "$(pid_of daemon)"
    join_within 20 daemon
    is "$STORE_NAME: it ends well" "$CODE" 0
    is "$STORE_NAME: and keeps nothing of the slot" "$(leases)" 0
    is "$STORE_NAME: no check is lost" "$(($(runs) + $(waiting)))" $N
}

refused() {
    local bad
    a_clean_store
    for bad in 1.5 -0.1 nan half 0.5s '' 1e9; do
        fails_with 2 "PART: found '$bad', expected a number from 0 to 1" "$P" pace -- "$bad"
    done
    is "$STORE_NAME: to the thousandth" "$("$P" pace 0.3333 --json | json 'j["pace"], j["seconds"]')" \
        "('0.333', 299)"
}

json_begins
one_lease() { in_parts 1000; with_a_daemon 1000; }
split() { in_parts 100; with_a_daemon 100; }
on_each_store one_lease
on_each_store split
on_each_store refused
