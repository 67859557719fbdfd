#!/usr/bin/env bash
# The life of a check from the command line, without running it: enqueue, list, show, reschedule,
# resolve, history, slots, status.
# about 25 s
. "$(dirname "$0")/lib.sh"
json_begins

at=2030-01-01T00:00:00Z         # the virtual now of every command

checks() {
    p() { $P --now $at "$@"; }
    fails_with 78 "prescient init" p list
    ok "$STORE_NAME: init" $P init
    has "$STORE_NAME: init again finds nothing to do" "$($P init)" "is up to date, slots of 15m"
    is "$STORE_NAME: init --json" "$($P init --json | json 'j["applied"], j["slot_length_s"]')" "([], 900)"
    is "$STORE_NAME: an empty list says so" "$(p list)" "no checks wait"
    is "$STORE_NAME: an empty list in JSON is an empty array" "$(p list --json)" "[]"

    is "$STORE_NAME: a time is rounded up to a slot" "$(p enqueue orders 42 unshipped +3h1m)" \
        "new: orders 42 unshipped at 2030-01-01T03:15:00Z"
    is "$STORE_NAME: a time on the boundary stays" "$(p enqueue orders 43 unshipped 2030-01-01T05:00:00Z)" \
        "new: orders 43 unshipped at 2030-01-01T05:00:00Z"
    is "$STORE_NAME: a time that has passed gives the next slot" \
        "$(p enqueue orders 44 unshipped -- -2h 2>err)" "new: orders 44 unshipped at 2030-01-01T00:15:00Z"
    is "$STORE_NAME: and is told" "$(cat err)" \
        "prescient enqueue: 2029-12-31T22:00:00Z has passed: the check is filed under the next slot"
    is "$STORE_NAME: but not twice, when the check is kept" "$(p enqueue orders 44 unshipped -- -2h 2>&1)" \
        "kept: orders 44 unshipped at 2030-01-01T00:15:00Z"
    is "$STORE_NAME: enqueued again it is kept" "$(p enqueue orders 42 unshipped +9h)" \
        "kept: orders 42 unshipped at 2030-01-01T03:15:00Z"
    is "$STORE_NAME: earlier moves it to the earlier time" \
        "$(p enqueue orders 42 unshipped +1h --conflict earlier)" \
        "moved: orders 42 unshipped at 2030-01-01T01:00:00Z"
    is "$STORE_NAME: earlier leaves the earlier time" \
        "$(p enqueue orders 42 unshipped +2h --conflict earlier)" \
        "kept: orders 42 unshipped at 2030-01-01T01:00:00Z"
    is "$STORE_NAME: replace starts anew" \
        "$(p enqueue --conflict=replace --payload '{"a": [1, "zwei"]}' orders 42 unshipped +4h --json |
            json 'j["outcome"], j["next_check_at"]')" \
        "('replaced', '2030-01-01T04:00:00Z')"
    p enqueue customers 1 unshipped +9h --tenant 'shop 7' >/dev/null
    $P enqueue customers 2 unshipped --at-once --tenant 'shop 8' >/dev/null
    is "$STORE_NAME: a check says whose it is" \
        "$(p list customers --json | json 'sorted((r["entity_key"], r["tenant"]) for r in j)')" \
        "[('1', 'shop 7'), ('2', 'shop 8')]"
    p resolve customers 1 >/dev/null
    $P resolve customers 2 >/dev/null
    fails_with 2 "tenant: empty" p enqueue orders 45 unshipped +1h --tenant ""
    fails_with 2 "payload: found '{a}', expected JSON" p enqueue orders 45 unshipped +1h --payload '{a}'
    fails_with 2 "entity_key: empty" p enqueue orders '' unshipped +1h
    fails_with 2 "--conflict: found 'drop', expected keep, earlier or replace" p enqueue \
        orders 45 unshipped +1h --conflict drop
    fails_with 2 "soonish" p enqueue orders 45 unshipped soonish

    is "$STORE_NAME: list is in order of time, payloads as JSON" \
        "$(p list --json | json '[(r["entity_key"], r["payload"]) for r in j]')" \
        "[('44', None), ('42', {'a': [1, 'zwei']}), ('43', None)]"
    is "$STORE_NAME: list by key" "$(p list orders 43 --json | json '[r["next_check_at"] for r in j]')" \
        "['2030-01-01T05:00:00Z']"
    is "$STORE_NAME: list by time" \
        "$(p list --from +1h --before +5h --json | json '[r["entity_key"] for r in j]')" "['42']"
    is "$STORE_NAME: numbers are numbers" "$(p list --json | json 'type(j[0]["check_count"]).__name__')" "int"
    is "$STORE_NAME: a limit says that there is more" "$(p list --limit 2 2>&1 >/dev/null)" \
        "prescient list: these are the first 2, there are more; --from 2030-01-01T04:00:00Z continues there, \
--limit 0 shows all"
    is "$STORE_NAME: a limit that is not reached says nothing" "$(p list --limit 3 2>&1 >/dev/null)" ""
    has "$STORE_NAME: a table has a line of names" \
        "$(p list | head -1)" "next_check_at         entity  key  job        checks  failures  payload"

    is "$STORE_NAME: reschedule" "$(p reschedule orders 43 unshipped +6h)" "moved to 2030-01-01T06:00:00Z"
    is "$STORE_NAME: reschedule of what is not there is trouble" \
        "$(p reschedule orders 99 unshipped +6h; echo $?)" \
        "no check waits for orders 99 unshipped; prescient enqueue writes one down
1"
    is "$STORE_NAME: slots count checks" \
        "$(p slots --json | json '[(r["slot_at"][11:16], r["checks"]) for r in j if r["checks"]]')" \
        "[('00:15', 1), ('04:00', 1), ('06:00', 1)]"
    is "$STORE_NAME: resolve with a job" "$(p resolve orders 44 unshipped)" "1 check resolved"
    is "$STORE_NAME: resolve of all jobs of a row" \
        "$(p enqueue orders 42 unpaid +1h >/dev/null; p resolve orders 42)" "2 checks resolved"
    is "$STORE_NAME: resolve of nothing" "$(p resolve orders 42 --json)" '{"resolved":0}'
    is "$STORE_NAME: of an entity that has checks, nothing is said of a row without any" \
        "$(p resolve orders 42 2>&1; echo "exit $?")" "0 checks resolved
exit 0"
    local told="prescient resolve: nothing was resolved"
    is "$STORE_NAME: of an entity that nothing waits for it is" \
        "$(p resolve ordrs 43 2>&1; echo "exit $?")" "0 checks resolved
$told, and no check of any row of entity 'ordrs' waits: is that its name?
exit 0"
    p enqueue orders 43 unpaid +1h >/dev/null
    is "$STORE_NAME: of a job that does not wait, those are named that do" \
        "$(p resolve orders 43 unshiped 2>&1; echo "exit $?")" "0 checks resolved
$told, as no check of job 'unshiped' waits for this row; checks of these jobs do: unpaid, unshipped
exit 0"
    is "$STORE_NAME: and it is resolved" "$(p resolve orders 43 unpaid 2>&1)" "1 check resolved"
    is "$STORE_NAME: --quiet does not say so" "$(p --quiet resolve ordrs 43 2>&1)" "0 checks resolved"
    is "$STORE_NAME: history keeps what was resolved" \
        "$(p history --json | json 'sorted((r["entity_key"], r["job_exec"], r["outcome"]) for r in j)')" \
        "[('1', 'unshipped', 'resolved'), ('2', 'unshipped', 'resolved'), ('42', 'unpaid', 'resolved'), \
('42', 'unshipped', 'resolved'), ('43', 'unpaid', 'resolved'), ('44', 'unshipped', 'resolved')]"
    is "$STORE_NAME: history by outcome" \
        "$(p history --outcome failed)" "no check is over (outcome: failed)"
    is "$STORE_NAME: what was looked for is in the answer" "$(p list orders 99 --job unshiped --before +1d)" \
        "no checks wait for orders 99 (job: unshiped, in that time)"
    is "$STORE_NAME: show has all of one row" \
        "$(p show orders 42 --json | json 'len(j["waiting"]), len(j["runs"]), len(j["history"])')" "(0, 0, 2)"
    has "$STORE_NAME: show for people" "$(p show orders 43)" "waiting:
next_check_at         job"
    fails_with 2 "give one of ENTITY, --job, --since and --all" p retry
    for narrowed in "orders" "orders 42" "--job later" "--since -1d"; do
        # shellcheck disable=SC2086
        fails_with 2 "--all is everything that failed; ENTITY, --job and --since take a part of it" \
            p retry $narrowed --all
    done
    is "$STORE_NAME: nothing to retry" "$(p retry --all)" \
        "nothing to retry (deliveries that failed: prescient deliveries --failed)"
    is "$STORE_NAME: no runs" "$(p runs)" "no runs"
    is "$STORE_NAME: no passes" "$(p passes)" "no passes yet"
    is "$STORE_NAME: no events" "$(p events)" "no events"
    is "$STORE_NAME: no events in JSON Lines is nothing" "$(p events --json)" ""
    fails_with 2 "expected the cursor of an event" p events --after 12
    fails_with 2 "expected the cursor of an event" p events --after 1-2-
    fails_with 2 "expected the cursor of an event" p events --after 1-2-3-4
    is "$STORE_NAME: status" \
        "$(p status --json |
            json 'j["now_at"], j["slot_length_s"], j["due"], j["overdue"], j["next_slot_at"]')" \
        "('2030-01-01T00:00:00Z', 900, 0, 0, '2030-01-01T06:00:00Z')"
    is "$STORE_NAME: overdue checks are seen" \
        "$($P --now 2030-01-02 status --json | json 'j["overdue"], j["oldest_overdue_at"]')" \
        "(1, '2030-01-01T06:00:00Z')"
    has "$STORE_NAME: status for people" "$(p status | tr -s " ")" "slot length 15m"
    is "$STORE_NAME: prune keeps what is young" "$($P prune --keep 90d --json | json 'j["history"]')" 0
    fails_with 2 "--keep" p prune --keep forever
    fails_with 2 '"90" is less than a day: expected a day or more, with its unit, such as 90d' p prune \
        --keep 90
    fails_with 2 "less than a day" p prune --keep 0d
    fails_with 2 "no age given: use --keep 90d" p prune

    is "$STORE_NAME: a dry run of a new slot length changes nothing" \
        "$($P migrate --slot-length 1h --dry-run >/dev/null; $P status --json | json 'j["slot_length_s"]')" \
        900
    fails_with 78 "slot" $P init --slot-length 1h
    fails_with 2 "--slot-length: found '7m', expected a length from 1s to 1d that divides a day" $P migrate \
        --slot-length 7m
    p enqueue orders 50 unshipped +20m >/dev/null
    ok "$STORE_NAME: the slot length can be changed" $P migrate --slot-length 1h
    is "$STORE_NAME: what waits is moved to slots of the new length" \
        "$(p list --json | json '[(r["entity_key"], r["next_check_at"][11:16]) for r in j]')" \
        "[('50', '01:00'), ('43', '06:00')]"
}

on_each_store checks
