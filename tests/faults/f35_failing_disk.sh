#!/usr/bin/env bash
# f35_failing_disk.sh - F35: the disk is full, broken, writes half, does not sync, does not lock, at
#     every place where SQLite's file is used
# PASS: an enqueue is durable or not acknowledged; the file intact, no check lost or doubled; the
# same command then does the rest.
# quick
# limit 7200
#
# SAMPLE, WITHIN_S      as in f34_failing_malloc.sh
. "$(dirname "$0")/lib.sh"

preload=$TMP/failing_calls.so
a_folder_in_memory
ok "the library that lets calls fail is built" \
    "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -shared -o "$preload" "$FAULTS/failing_calls.c"

disk_of_sqlite() {
    local what result=passed all=()
    CASE_NAME=$STORE_NAME.failing_disk CASE_BEGAN=$(now_ms)
    for what in full broken short read fsync truncate lock; do
        all+=("run:$what" "enqueue:$what" "load:$what" "init:$what")
    done
    python3 "$FAULTS/failing_calls.py" --program "$P" --preload "$preload" --jobs "$JOBS" \
        "$TEST_JOBS" --folder "$FOLDER/disk" --seed "$SEED" \
        --sample "${SAMPLE:-$([ -n "${QUICK:-}" ] && echo 6 || echo 600)}" --at-once 4 \
        --within "${WITHIN_S:-0}" --summary "$TMP/summary" -- "${all[@]}" || FAILED=1 result=failed
    RUNS=$(cat "$TMP/summary") RERUNS=0 LONGEST_MS=0
    record F35 "$result"
}
on_stores sqlite disk_of_sqlite
