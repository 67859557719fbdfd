#!/usr/bin/env bash
# One look has one number everywhere: the first look of a check is 1, in the event and its data, in
# the run log, in the history, whatever it came to.
# about 15 s
. "$(dirname "$0")/lib.sh"
json_begins

plugin flaky 'if (check->check_count == 1 && check->failure_count == 0) {
        prescient_fail(answer, "once");
        return;
    }
    char data[40];
    snprintf(data, sizeof data, "{\"check_number\": %d}", (int)check->check_count + 1);
    host->emit(host, answer, "looked", data);
    prescient_again(answer, check->now + 900);' '#include <stdio.h>'

# numbers COMMAND KEY: the outcomes with the numbers of their looks, oldest first
numbers() { $P "$1" orders "$2" --json | json "[(r['outcome'], r['check_number']) for r in reversed(j)]"; }

looks() {
    cat > prescient.cfg <<CFG
plugin_dirs = ["$TMP/jobs"];
workers = 1;
max_failures = 3;
jobs = { flaky = { plugin = "flaky"; max_checks = 2; }; };
CFG
    chmod 600 prescient.cfg
    $P init --quiet >/dev/null
    for key in 1 2 3; do $P --now 2030-01-01 enqueue orders $key flaky +15m >/dev/null; done
    $P --now 2030-01-01 resolve orders 3 flaky >/dev/null
    $P --quiet --log-level error replay --from 2030-01-01T00:15:00Z --to 2030-01-01T00:15:00Z
    $P --now 2030-01-01T00:16:00Z resolve orders 2 >/dev/null
    is "$STORE_NAME: what waits counts the looks before it" \
        "$($P list orders --json | json '[(r["entity_key"], r["check_count"]) for r in j]')" "[('1', 1)]"
    $P --quiet --log-level error replay --from 2030-01-01T00:30:00Z --to 2030-01-02
    is "$STORE_NAME: the number of a run is that of its look; a second try is the same look" \
        "$(numbers runs 1)" "[('again', 1), ('failed', 2), ('again', 2)]"
    is "$STORE_NAME: the history has the number of the last look" "$(numbers history 1)" "[('max_checks', 3)]"
    is "$STORE_NAME: of a check that was resolved after a look, too" \
        "$(numbers history 2)" "[('resolved', 1)]"
    is "$STORE_NAME: and none of one that was never looked at" "$(numbers history 3)" "[('resolved', 0)]"
    is "$STORE_NAME: an event and its data have the number of the look that emitted it" \
        "$($P events --json | while read -r line; do json 'j["entity_key"], j["check_number"],
            j["data"]["check_number"]' <<<"$line"; done | sort | xargs -d '\n')" \
        "('1', 1, 1) ('1', 2, 2) ('1', 3, 3) ('2', 1, 1)"
    is "$STORE_NAME: people see it as look" \
        "$($P runs orders 1 | awk 'NR <= 2 { print $5 }' | xargs)" "look 2"
    is "$STORE_NAME: show has the same" "$($P show orders 1 --json |
        json '[r["check_number"] for r in j["runs"]], [r["check_number"] for r in j["history"]]')" \
        "([2, 2, 1], [3])"
}

on_each_store looks
