#!/usr/bin/env bash
# t_attempts.sh - ten thousand checks of a job that fails two runs of three, on both stores by a
# virtual clock: every attempt, back-off, idempotency key and outcome adds up (attempts_add_up.py).
# Then what has failed is found, and put back. Last, by the machine's clock: an engine that is
# killed between two attempts forgets none, and none is made after a resolve.
# not instrumented: it is long, and other tests run each line of it
# night: it waits for seconds
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

CHECKS=10000 FIRST=1772370000 SLOTS=20         # a slot of 15 minutes, 2026-03-01T13:00:00Z
RULES=(slot_length=900 attempts=3 attempt_interval=20 attempt_interval_max=30 attempt_jitter=6
    max_failures=2 max_checks=2 backoff=900 backoff_max=1800 again_after=1500 defer_for=430)

flaky_settings() {
    settings 'jobs = { flaky = { plugin = "flaky"; timeout = "10s"; attempts = 3; attempt_interval = "20s";
        attempt_interval_max = "30s"; attempt_jitter = "6s"; max_failures = 2; max_checks = 2;
        backoff = "15m"; backoff_max = "30m";
        settings = { file = "'"$TMP/ran"'"; again_after = "25m"; defer_for = "430s"; }; }; };'
}

run_rows() {
    local at="run_at_us / 1000000"; [ "$STORE_NAME" = sqlite ] || at="<run_at>"
    q "SELECT entity_key, <slot_at>, $at, <next_check_at>, check_count, failure_count, outcome, note
       FROM {future_job_run}"
}
history_rows() {
    local at="last_run_at_us / 1000000"; [ "$STORE_NAME" = sqlite ] || at="<last_run_at>"
    q "SELECT entity_key, <slot_at>, $at, run_count, check_count, failure_count, outcome, note
       FROM {future_job_history}"
}

attempts_add_up() {
    local what="$STORE_NAME: flaky" failed
    rm -f ran
    a_clean_store
    flaky_settings
    for ((i = 0; i < SLOTS; i++)); do
        fill $((CHECKS / SLOTS)) $((FIRST + i * 900)) flaky "'s$i-' || n"
    done
    q "SELECT entity_key, id, <next_check_at> FROM {future_job}" >filed
    is "$what: checks filed" "$(wc -l <filed)" $CHECKS
    fails_with 1 'ended as failed: failure 9 of s' "$P" --json --log-level warn replay --from $FIRST \
        --to $((FIRST + 30 * 86400))
    local slots runs; slots=$(number slots .out) runs=$(number run .out)
    echo "# $what: $slots slots, $runs runs"
    at_least "$what: slots, with the seconds between them" "$slots" 200
    is "$what: each run is a line of the job, and a row" \
        "$(wc -l <ran) $(($(q 'SELECT count(*) FROM {future_job_run}') + $(archived)))" "$runs $runs"
    is "$what: nothing is left" "$(pending) $(leases)" "0 0"
    run_rows >runs; history_rows >history
    ok "$what: attempts, back-off times, keys and outcomes add up" \
        "$TESTS/attempts_add_up.py" filed ran runs history "${RULES[@]}"
    cp .out counted
    sed "s/^/# $what: /" counted
    for kind in attempts "used up" "past the slot" "ended failed" "ended done" "ended max_checks" \
        "runs deferred" "jitter 0" "jitter 3" "jitter 6"; do
        at_least "$what: of these, $kind" "$(sed -n "s/^$kind: //p" counted)" 10
    done
    failed=$(sed -n 's/^ended failed: //p' counted)
    history_finds_and_retry_puts_back "$what" "$failed"
}

history_finds_and_retry_puts_back() {
    local what=$1 failed=$2 line
    "$P" --json history --outcome failed --limit 20000 --since -3650d >found.json
    is "$what: history --outcome failed finds them" "$(grep -c '"outcome"' found.json)" "$failed"
    is "$what: with the last error" "$(grep -c '"note":"failure 9 of s' found.json)" "$failed"
    ok "$what: retry" "$P" --quiet --json retry --job flaky --limit 20000
    is "$what: retry puts them back, with counts at 0" \
        "$(q 'SELECT count(*), min(check_count), max(check_count), min(failure_count), max(failure_count)
              FROM {future_job}')" "$failed|0|0|0|0"
    is "$what: each once" "$(q "SELECT count(DISTINCT entity_key) FROM {future_job} WHERE entity_key IN
        (SELECT entity_key FROM {future_job_history} WHERE outcome = 'failed')")" "$failed"
}

# Thousands of small slots, each with its commits: the disk is not what is tried here.
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    MEMORY=$(mktemp -d /dev/shm/prescient-test.XXXXXX)
    trap 'rm -rf "$MEMORY"; everything_ends || exit 1' EXIT
fi
attempts_in_memory() {
    [ "$STORE_NAME" = postgresql ] || [ -z "${MEMORY:-}" ] || PRESCIENT_STORE=sqlite:$MEMORY/attempts.db
    attempts_add_up
}
on_each_store attempts_in_memory

# ---- by the machine's clock ----

witness_settings() {
    settings 'lease = "2s"; trust = "1s";' 'jobs = { witness = { plugin = "witness"; batch = 1;
        timeout = "5s"; attempts = 3; attempt_interval = "2s"; attempt_jitter = "0s";
        settings = { file = "'"$TMP/journal"'"; }; }; };'
}
ran_times() { awk -F'\t' -v key="$1" '$6 == key' journal 2>/dev/null | wc -l; }
ran_at_least() { [ "$(ran_times "$1")" -ge "$2" ]; }
failures() { q "SELECT count(*) FROM {future_job_run} WHERE entity_key = '$1' AND outcome = 'failed'"; }
failures_at_least() { [ "$(failures "$1")" -ge "$2" ]; }

# look KEY DEEDS: in the slot that runs, what the n-th run does.
look() {
    local slot=$(($(date +%s) / 900 * 900))
    ok "$STORE_NAME: a check that $1" "$P" --now $((slot - 1)) enqueue row "$1" witness $slot --payload "$2"
}

# Attempts of some seconds each that do not meet the end of a slot.
early_in_a_slot() { while [ $(($(date +%s) % 900)) -gt 860 ]; do sleep 1; done; }

a_kill_and_a_resolve_between_attempts() {
    local what="$STORE_NAME: witness"
    rm -f journal
    a_clean_store
    witness_settings
    early_in_a_slot
    look succeeds '["fail", "fail", "done"]'
    look shipped '"fail"'
    start first "$P" daemon
    ok "$what: the first attempts fail" wait_until 20 failures_at_least shipped 1
    ok "$what: one is resolved between two attempts" "$P" resolve row shipped
    ok "$what: the other one fails, too" wait_until 20 failures_at_least succeeds 1
    kill -KILL "$(pid_of first)"
    join first
    start second "$P" daemon
    ok "$what: and ends well, after a kill" wait_until 30 archived_at_least 2
    kill -TERM "$(pid_of second)"
    join_within 15 second
    is "$what: three attempts, one key, a row each" \
        "$(awk -F'\t' '$6 == "succeeds" { n++; keys[$8] } END { print n, length(keys) }' journal
            q "SELECT run_count, outcome FROM {future_job_history} WHERE entity_key = 'succeeds'")" \
        "3 1
3|done"
    is "$what: no attempt after the resolve" "$(ran_times shipped) $(q "SELECT outcome
        FROM {future_job_history} WHERE entity_key = 'shipped'")" "1 resolved"
    local ended="run_at_us + run_us" ; [ "$STORE_NAME" = sqlite ] ||
        ended="(extract(epoch FROM run_at) * 1000000)::bigint + run_us"
    is "$what: each waits its delay, from the end of the run on" \
        "$(q "SELECT count(*) FROM {future_job_run} WHERE entity_key = 'succeeds'
              AND <next_check_at> * 1000000 >= $ended + failure_count * 2000000")" 2
}
on_each_store a_kill_and_a_resolve_between_attempts
