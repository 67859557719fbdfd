#!/usr/bin/env bash
# f55_keys.sh - F55: engines that share checks of a few concurrency keys are killed, stopped past
#     their places and continued, or lose their line to the store
# PASS: no two runs of a key go on at the same moment, by the jobs' own starts and ends; all checks
# run, and a busy one is not counted; what a dead engine had of a key goes on when its place has
# expired, and at the end no place is held.
# quick
# limit 600
. "$(dirname "$0")/lib.sh"
. "$FAULTS/net.sh"

KEYS=6
PLACE_S=5               # trust 1 s, timeout 2 s, grace 1 s, and one for what the clocks round off

begin_engine() { if [ "$STORE_NAME" = postgresql ]; then behind "$1"; else engine "$1"; fi; }

hit() {
    local name; name=$(engine_at_work 20) || return 1
    case $1 in
    0 | 3) kill_engine "$name"; begin_engine "$name$1" ;;
    1) past_its_lease "$name" $((PLACE_S + 2)) ;;
    2) if [ "$STORE_NAME" = postgresql ]; then line_lost "$name" $((PLACE_S + 2)); else
        past_its_lease "$name"; fi ;;
    esac
}

held() { q "SELECT count(*) FROM {place}"; }
none_is_held() { [ "$(held)" = 0 ]; }

# judged: at the end of a case
judged() {
    cd "$CASE" || return
    ok "$CASE_NAME: no place is held" wait_until $((PLACE_S + 1)) none_is_held
    ok "$CASE_NAME: no two runs of a key at once" python3 "$FAULTS/keys.py" --case "$CASE" --keys $KEYS
    at_least "$CASE_NAME: checks whose key was busy" \
        "$(q "SELECT coalesce(sum(busy), 0) FROM {slot_pass}")" 1
    for name in "${!PROXIES[@]}"; do proxy_stop "$name"; done
    cd "$TMP" || return
}

keys_under_faults() {
    local n name
    ENDS=ends WITNESS='batch = 1; timeout = "2s";' a_case keys 'workers = 3; split_at = 50;'
    begin_engine e0; begin_engine e1; begin_engine e2
    write_checks w --checks 1500 --over 30 --mix slow --most-ms 100 --keys $KEYS
    for ((n = 0; n < 4; n++)); do hit "$n"; done
    written w
    # what has waited for a place of the dead, or behind others, is late
    LIVE_S=60 EPSILON_MS=$((EPSILON_MS + 30000)) verdict F55
    judged
}

# Eight engines on one slot of 9,000 checks: of 45 keys, 200 each.
crowd() {
    local n name KEYS=45
    SLOT_LENGTH=10s ENDS=ends WITNESS='batch = 1; timeout = "2s";' a_case crowd 'workers = 2;'
    write_checks w --checks 9000 --batch 9000 --ahead 4,4 --mix slow --most-ms 60 --keys $KEYS --priority 0
    written w
    for ((n = 0; n < 8; n++)); do begin_engine "e$n"; done
    for ((n = 0; n < 3; n++)); do hit "$n"; done
    LIVE_S=180 EPSILON_MS=$((EPSILON_MS + 180000)) verdict F55
    judged
}

in_case keys on_both_stores keys_under_faults
[ -n "${QUICK:-}" ] || in_case crowd on_both_stores crowd
