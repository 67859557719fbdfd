#!/usr/bin/env bash
# f04_job_is_greedy.sh - F04: jobs use up memory, open files, processes, and fill the disk with
#     output
# PASS: they hit their limits, or end with their worker; the engine's memory and log stay bounded.
. "$(dirname "$0")/lib.sh"

greedy_jobs() {
    local printed
    WITNESS='batch = 1; max_failures = 0;' a_case greed \
        'workers = 2; worker_memory = "128MiB"; worker_files = 64; worker_checks = 40;
                hold_back_after = 1000000;'
    engine one
    write_checks w --checks 400 --over 5 --mix greedy
    written w
    LIVE_S=40
    ok "$CASE_NAME: all of them are over" wait_until 40 drained
    [ -n "${SANITIZE:-}" ] || at_most "$CASE_NAME: the engine's memory is bounded (KiB)" \
        "$(peak_kib "$(engine_pid one)")" 65536
    printed=$(grep -c talk "$CASE/journal")
    at_most "$CASE_NAME: its log, of what a job printed: 64 KiB for each slab (bytes)" \
        "$(stat -c %s one.err)" $((printed * 65536 * 2 + 400 * 1000))
    has "$CASE_NAME: and it says that there was more" "$(cat one.err)" "prints too much"
    verdict F04
    is "$CASE_NAME: those that ate memory crashed, the others are done" \
        "$(q "SELECT outcome, count(*) FROM {future_job_history} GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" \
        "crashed|$(grep -c 'memory$' "$CASE/journal") done|$(grep -vc 'memory$' "$CASE/journal") "
}
on_both_stores greedy_jobs
