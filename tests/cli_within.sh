#!/usr/bin/env bash
# prescient enqueue --within and the column `within` of a file: into which slots checks are drawn,
# what is refused, and that a run counts the checks of the next slots.
. "$(dirname "$0")/lib.sh"
json_begins

within() {
    e() { $P --now 2030-01-01T00:00:00Z enqueue "$@"; }
    ok "$STORE_NAME: init" $P init --slot-length 60s
    for key in $(seq 12); do e orders "$key" noop 2030-01-01T12:00:00Z --within 3m >/dev/null 2>&1; done
    is "$STORE_NAME: a check is drawn into a slot of its span" \
        "$($P list orders --json |
           json 'all("12:00" <= r["next_check_at"][11:16] <= "12:03" for r in j), len(j)')" \
        "(True, 12)"
    is "$STORE_NAME: and not all into one" \
        "$($P list orders --json | json 'len({r["next_check_at"] for r in j}) > 2')" True
    was=$($P list orders 1 --json | json 'j[0]["next_check_at"]')
    is "$STORE_NAME: the same call asks for the same slot" \
        "$(e orders 1 noop 2030-01-01T12:00:00Z --within 3m --conflict replace --json 2>/dev/null |
           json 'j["outcome"], j["next_check_at"]')" "('replaced', '$was')"
    is "$STORE_NAME: one that waits is kept" \
        "$(e orders 1 noop 2030-01-01T13:00:00Z --within 1h --json 2>/dev/null | json 'j["outcome"]')" kept

    fails_with 2 "within is 59s, expected from 1m, the length of a slot, to 366 days" \
        e orders 99 noop +1h --within 59s
    fails_with 2 "within is 0s, expected from 1m" e orders 99 noop +1h --within 0s
    fails_with 2 "within" e orders 99 noop +1h --within -1h
    fails_with 2 "within is 36500d, expected from 1m" e orders 99 noop +1h --within 36500d
    fails_with 2 "within" e orders 99 noop +1h --within soon
    fails_with 2 "--at-once takes no --within" e orders 99 noop --at-once --within 1h
    is "$STORE_NAME: nothing of that is filed" "$($P list orders 99 --json)" "[]"

    { echo entity,key,job,at,within
      seq -f 'load,%.0f,noop,2030-01-02T12:00:00Z,5m' 3000
      echo load,x,noop,2030-01-02T12:00:00Z,; } >within.csv
    is "$STORE_NAME: a file with within is loaded" "$(e --from within.csv 2>/dev/null)" \
        "3001 added, 0 kept, 0 moved, 0 replaced, 0 skipped"
    counts='(lambda n: (len(n), max(n) < 600, min(n) > 400))([sum(1 for _ in g) for _, g in
        __import__("itertools").groupby(sorted(r["next_check_at"] for r in j))])'
    is "$STORE_NAME: and lies over all slots of the span" \
        "$($P list load --limit 0 --json | json "$counts")" "(6, True, True)"
    is "$STORE_NAME: a line without a value is filed at its time" \
        "$($P list load x --json | json 'j[0]["next_check_at"]')" 2030-01-02T12:00:00Z
    printf '%s\n' entity,key,job,at,within bad,1,noop,+1h,5m bad,2,noop,+1h,5s >bad.csv
    fails_with 2 "bad.csv:3: within is 5s, expected from 1m, the length of a slot, to 366 days" \
        e --from bad.csv

    # the run counts, by the store's clock; what is drawn next goes around the slot that is full
    at=$(date -u -d '+20 minutes' +%Y-%m-%dT%H:%M:00Z)
    { echo entity,key,job,at; seq -f "full,%.0f,noop,$at" 900; } >full.csv
    $P enqueue --from full.csv >/dev/null 2>&1
    $P run --quiet >/dev/null 2>&1
    { echo entity,key,job,at,within; seq -f "new,%.0f,noop,$at,60s" 1000; } >new.csv
    $P enqueue --from new.csv >/dev/null 2>&1
    is "$STORE_NAME: a slot that a run has found full gets a tenth" \
        "$($P list new --limit 0 --json | json "70 < sum(r['next_check_at'] == '$at' for r in j) < 135")" True
}

on_each_store within
