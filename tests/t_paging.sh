#!/usr/bin/env bash
# t_paging.sh - all pages of /v1/checks, history and runs together, among a hundred thousand rows
# each (FULL=1: a million; or ROWS), have each row once that stayed while an engine settles a
# thousand a second: slots in no order, whose checks end or move, before and behind the page that
# is asked for.
#
# not under sanitizers
# not instrumented
# night: a million rows
# about 80 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"
ROWS=${ROWS:-${FULL:+1000000}}
ROWS=${ROWS:-100000}
A_SLOT=1000                         # checks
SLOTS=$((ROWS / A_SLOT))

list() { "$ROOT/tests/list_all.py" "$SOCK" "/v1/$1" "${@:2}" 2>pages; }
# put: as many that wait, in SLOTS slots, half of which end when they are run; and as many of each
# list of the past, of the last twenty hours
put() {
    [ "$STORE_NAME" = sqlite ] || q "SELECT $SCHEMA.make_history_day($SCHEMA.utc_day(now()) - 1)" >/dev/null
    local numbers='WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ROWS)' in=c
    local bucket= of= at='FIRST + (n % SLOTS) * 900' ended='(PAST + n * 70000 / ROWS)' us='* 1000000' id='n,'
    local number='check_id,' total='total_run_us,' zero='0,'
    if [ "$STORE_NAME" = postgresql ]; then
        numbers= in="generate_series(1, $ROWS) n" bucket='bucket,' us= id= number= total= zero=
        of="$SCHEMA.bucket_of('row', 'k' || n),"
        at="to_timestamp($at)" ended="to_timestamp(PAST + n * 70000.0 / ROWS)"
    fi
    q "$(sed "s/ROWS/$ROWS/g; s/SLOTS/$SLOTS/g; s/FIRST/$FIRST/g" <<SQL
$numbers INSERT INTO {future_job} ($bucket entity_name, entity_key, job_exec, first_check_at, next_check_at)
SELECT $of 'row', 'k' || n, CASE WHEN n % 2000 < 1000 THEN 'ends' ELSE 'moves' END, $at, $at FROM $in
SQL
)" || fail "$STORE_NAME: checks are filed"
    q "$(sed "s/ROWS/$ROWS/g; s/PAST/$PAST/g" <<SQL
$numbers INSERT INTO {future_job_history} ($number ended_at${us:+_us}, archived_at${us:+_us}, entity_name,
    entity_key, job_exec, outcome, check_count, failure_count, run_count, $total slot_at, first_check_at)
SELECT $id $ended $us, $ended $us, 'past', 'k' || n, 'ends', 'done', 0, 0, 1, $zero $ended, $ended FROM $in
SQL
)" || fail "$STORE_NAME: there is a history"
    q "$(sed "s/ROWS/$ROWS/g; s/PAST/$PAST/g" <<SQL
$numbers INSERT INTO {future_job_run} ($number run_at${us:+_us}, recorded_at${us:+_us}, entity_name,
    entity_key, job_exec, outcome, check_count, failure_count, run_us, slot_at, next_check_at)
SELECT $id $ended $us, $ended $us, 'past', 'k' || n, 'moves', 'again', 1, 0, 900, $ended, $ended FROM $in
SQL
)" || fail "$STORE_NAME: there are runs"
    be_autovacuum
}
# A server of the tests has none, and before it no index by time knows which rows are new: each page
# would read all of them. Nor would there be statistics: of a day that is over, which has more
# indexes, each page would read one of these from end to end.
be_autovacuum() {
    [ "$STORE_NAME" = sqlite ] || q "VACUUM (ANALYZE) {future_job_history}, {future_job_run}" >/dev/null
}

# An engine runs a slot a second, each of them once, until the file is gone. The slots are late
# ones: what it keeps is of now, as on a real server, where the past grows at its end alone.
settle_beside() {
    local slot begun=$SECONDS n=0
    for slot in $(seq 0 $((SLOTS - 1)) | shuf --random-source=<(yes)); do
        while [ -e settling ] && [ $((SECONDS - begun)) -lt $n ]; do sleep 0.05; done
        [ -e settling ] || break
        "$P" --quiet run --slot $((FIRST + slot * 900)) 2>>run.err
        n=$((n + 1))
        [ $((n % 20)) != 0 ] || be_autovacuum
    done
    echo "$n" >settled
}
# beside_settles FILE command...: its output, while an engine settles; what it says is in pages
beside_settles() {
    touch settling
    settle_beside 3>&- &
    local settling=$!
    "${@:2}" >"$1" || fail "$STORE_NAME: ${*:2:2}: each page is an answer" "$(cat pages)"
    rm settling
    wait "$settling"
    echo "# $STORE_NAME: $(cat settled) slots of $A_SLOT were run beside $(wc -l <"$1") items"
    at_least "$STORE_NAME: an engine has settled meanwhile" "$(cat settled)" 1
}
# once WHAT FILE OF: each line of OF is in FILE, and once
once() {
    sort "$2" | uniq -d >twice
    is "$STORE_NAME: $1: none twice" "$(comm -12 twice <(sort "$3") | head -3)" ""
    is "$STORE_NAME: $1: none is missing" "$(comm -13 <(sort -u "$2") <(sort "$3") | head -3)" ""
}

on_this_store() {
    a_clean_store
    settings 'log_level = "error"; jobs = { ends = { plugin = "noop"; settings = { answer = "done"; }; };
        moves = { plugin = "noop"; settings = { answer = "again"; }; }; };'
    FIRST=$(($(date +%s) / 900 * 900 - 86400 - SLOTS * 900)) PAST=$(($(date +%s) - 72000))
    put
    [ "$FAILED" = 0 ] || return 0
    serve pages
    beside_settles checks.listed list 'checks?limit=1000' key
    # a check that has moved has another first run
    q "SELECT entity_key FROM {future_job} WHERE check_count = 0" >stayed
    at_least "$STORE_NAME: most have stayed" "$(wc -l <stayed)" $((ROWS / 4))
    once checks checks.listed stayed
    seq 1 "$ROWS" | sed 's/^/k/' >past
    beside_settles past.listed list "history?job=ends&limit=1000" entity key
    sed -n "s,^past ,,p" past.listed >listed
    once history listed past
    beside_settles past.listed list "runs?limit=1000" entity key
    sed -n "s,^past ,,p" past.listed >listed
    once runs listed past
    ends pages
}
on_each_store on_this_store
