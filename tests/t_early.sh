#!/usr/bin/env bash
# t_early.sh - a worker is killed in the middle of a batch: what it has handed over is not run
# again.
# about 6 s
# night: it kills, waits or judges time for minutes
. "$(dirname "$0")/acceptance_lib.sh"

N=60

runs() { cat ran 2>/dev/null | wc -l; }
has_run() { [ "$(runs)" -ge "$1" ]; }

killed_in_a_batch() {
    a_clean_store
    rm -f ran
    settings 'workers = 1;' \
        "jobs = { early = { plugin = \"early\"; settings = { file = \"$PWD/ran\"; pause_us = 20000; }; }; };"
    fill "$N" "$(($(date +%s) / 300 * 300))" early
    start engine "$P" run
    wait_until 20 has_run 20 || fail "$STORE_NAME: the batch begins"
    local worker; worker=$(head -1 ran); worker=${worker#* }
    kill -KILL "$worker"
    local before; before=$(grep -c " $worker\$" ran)
    join_within 30 engine
    is "$STORE_NAME: run ends well" "$CODE" 0
    at_least "$STORE_NAME: checks had run before the kill" "$before" 20
    at_most "$STORE_NAME: and not all of them" "$before" $((N - 1))
    is "$STORE_NAME: each check ran" "$(sed 's/ .*//' ran | sort -u | wc -l)" "$N"
    at_most "$STORE_NAME: only the check that ran at the kill ran twice" "$(runs)" $((N + 1))
    is "$STORE_NAME: nothing is left" "$(pending)" 0
}

on_each_store killed_in_a_batch
