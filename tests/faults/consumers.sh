# consumers.sh - who reads events from a cursor on, and what it was never shown of what the database
# holds. Sourced after lib.sh.
#
#   consumer NAME [CURSOR]      `prescient events --follow` from a cursor on (the beginning); its
#                               output is in NAME.out
#   consumer_ends NAME          ends it once it has got all events
#   cursor_of NAME              the cursor of the last event that it got
#   read_on NAME CURSOR         reads once from a cursor on, and appends the events to NAME.out
#   misses NAME                 how many events of the database it never got; twice NAME: how many
#                               it got twice
#
# The number of events comes from plain SQL, which uses neither the order nor the cursors.

CONSUMER_LOG_LEVEL=${CONSUMER_LOG_LEVEL:-info}

consumer() { start "$1" "$P" --log-level "$CONSUMER_LOG_LEVEL" events --follow --after "${2:-0-0}" --json; }

# An event as a line with everything that distinguishes it from all others: those of a check that
# ran again after a failover are two.
shown_to() {
    python3 -c '
import json, sys
for line in open(sys.argv[1]):
    if line.endswith("\n"):
        e = json.loads(line)
        print(e["entity_key"], e["slot_at"], e["check_number"], e["emitted_at"])' "$1.out"
}
events_held() {
    q "SELECT format('%s %s %s %s', entity_key,
       to_char(slot_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), check_count + 1,
                     to_char(emitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))
                         FROM {event}"
}
missed_by() { LC_ALL=C comm -23 <(events_held | LC_ALL=C sort -u) <(shown_to "$1" | LC_ALL=C sort -u); }
misses() { missed_by "$1" | wc -l; }
twice() { shown_to "$1" | LC_ALL=C sort | uniq -d | wc -l; }
misses_none() { [ "$(misses "$1")" = 0 ]; }

cursor_of() { tail -n 1 "$1.out" | json 'j["cursor"]'; }
read_on() { "$P" events --after "$2" --limit 0 --json >>"$1.out" 2>>"$1.err"; }

consumer_ends() {
    wait_until "${2:-10}" misses_none "$1"
    kill -INT "$(pid_of "$1")" 2>/dev/null
    join_within 10 "$1"
}

# consumer_saw_all NAME: it ends well, was shown all that the database holds, and nothing twice.
consumer_saw_all() {
    consumer_ends "$1"
    is "$CASE_NAME: consumer $1 ends well" "$CODE" 0
    at_least "$CASE_NAME: events that the database holds" "$(events_held | wc -l)" 1
    is "$CASE_NAME: events of these that consumer $1 was never shown" "$(misses "$1")" 0
    is "$CASE_NAME: events that it was shown twice" "$(twice "$1")" 0
}

# record_case F: for a scenario that judges itself; again: runs of a check with the counts of one
# before. Late is the first run of a check in its slot, by the journal, whatever was away meanwhile.
record_case() {
    RUNS=$(runs)
    LONGEST_MS=$(awk -F'\t' '
        !seen[$5, $6, $7, $10]++ && $1 / 1000 - $10 * 1000 > most { most = $1 / 1000 - $10 * 1000 }
        END { printf "%d", most }' "$CASE/journal")
    RERUNS=$(awk -F'\t' 'seen[$5, $6, $7, $9, $11, $12]++ { n++ } END { print n + 0 }' "$CASE/journal")
    record "$1" "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
    cd "$TMP" || exit 2
}
