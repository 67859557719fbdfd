#!/usr/bin/env bash
# f37_shared_file.sh - F37: one SQLite file is shared by engines and writers, on a file system that
#     becomes read-only, replaced and removed under them
# PASS: leases keep engines apart. Read-only, replaced or removed: the engine stops, logs why, runs
# nothing, and continues when there is a file that can be written.
# limit 400
. "$(dirname "$0")/lib.sh"
. "$FAULTS/disk.sh"

# ---- engines and writers on one file ----

# SQL in transactions of the application's own, and the command line, while three engines run what
# is due. A lease lasts longer than any wait for a lock, so none may be taken over: no check runs
# twice.
share() {
    LEASE_S=10 TRUST_MS=8000 a_case "$1" 'workers = 1;'
    ${2:-true}
    engine e0; engine e1; engine e2
    write_checks sql --checks 600 --over 8 --mix busy
    write_checks command --checks 60 --over 8 --mix busy --by cli
    written sql
    written command
    LIVE_S=30 EPSILON_MS=8000 verdict F37
    is "$CASE_NAME: checks that ran again" "$RERUNS" 0
}
shared_by_many() { share shared; }

# The same in WAL mode, by the application's choice: one connection of its own that stays open, and
# one that reads for half a second at a time, so that the log can be emptied now and then only.
shared_with_a_log() {
    LOG_AHEAD=1 share shared_wal with_readers
    ok "$CASE_NAME: the reader has read what it had read before, each time" alive reader
    kill -KILL "$(pid_of reader)"
    join reader
    is "$CASE_NAME: the journal is the application's" "$(q 'PRAGMA journal_mode')" wal
    is "$CASE_NAME: the file is whole" "$(q 'PRAGMA integrity_check')" ok
}
with_readers() {
    start reader python3 -c '
import sqlite3, sys, time
stays = sqlite3.connect(sys.argv[1])
while True:
    reads = sqlite3.connect(sys.argv[1], isolation_level=None)
    reads.execute("BEGIN")
    before = reads.execute("SELECT count(*) FROM prescient_future_job").fetchone()
    time.sleep(0.5)
    assert before == reads.execute("SELECT count(*) FROM prescient_future_job").fetchone()
    reads.close()' "${PRESCIENT_STORE#sqlite:}"
}

# ---- read-only ----

# As on a disk that has failed: ext4 makes itself read-only, whatever process writes at that moment.
becomes_read_only() {
    local device; device=$(basename "$(findmnt -no SOURCE "$DISK")")
    mount -o remount,errors=remount-ro "$DISK" && echo 1 >"/sys/fs/ext4/$device/trigger_fs_error" &&
        wait_until 5 is_read_only
}
is_read_only() { ! touch "$DISK/probe" 2>/dev/null; }
writable_again() {
    disk_unmount only && { e2fsck -fy "$DISK.img" >/dev/null 2>&1 || [ $? = 1 ]; } && disk_mount only
}

read_only_file() {
    local before
    ok "$STORE_NAME.read_only: a disk of our own" a_disk only 64 || return
    PRESCIENT_STORE="sqlite:$DISK/store.db"
    a_case read_only 'workers = 1;'
    engine e0
    enqueue_in 1 5 witness
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 5
    enqueue_in 4 5 witness "'late' || n"
    sync -f "$DISK"                     # what the client of SQLite has said is done is not on the disk yet
    fault_begins read-only store
    ok "$CASE_NAME: the file system becomes read-only" becomes_read_only
    ok "$CASE_NAME: the engine says so" wait_until 15 \
        grep -qiE 'may only be read|cannot be read or written|cannot be opened' e0.err
    before=$(runs)
    sleep 6
    is "$CASE_NAME: nothing is run while leases cannot be written" "$(runs)" "$before"
    fails_with 69 "" "$P" --quiet enqueue row new witness +1h
    ok "$CASE_NAME: the engine lives" kill -0 "$(engine_pid e0)"
    is "$CASE_NAME: a pass ends with the exit code for a store that cannot be used" \
        "$(timeout -k 5 60 "$P" run >/dev/null 2>once.err; echo $?)" 69
    signal_engine e0 TERM
    join_within 20 e0
    at_most "$CASE_NAME: the engine ends in order though it can give nothing back (exit code)" "$CODE" 1
    unset "ENGINES[e0]"
    ok "$CASE_NAME: the file system can be written to again" writable_again
    fault_ends read-only store
    engine e1
    ok "$CASE_NAME: what was due is run" wait_until 20 runs_at_least 10
    stop_engines
    is "$CASE_NAME: nothing has run twice" "$(cut -f6 journal | sort | uniq -d)" ""
    is "$CASE_NAME: the file is whole" "$(q 'PRAGMA integrity_check')" ok
    case_over
    disk_unmount only
}

case_over() {
    RUNS=$(runs) RERUNS=0 LONGEST_MS=0
    record F37 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
    cd "$TMP" || exit 2
}

# ---- replaced, removed ----

words_of() { wait_until 15 grep -q "$2" "$1.err"; }

# Another file under the same name, as a restore from a backup makes it: nothing of what had been
# opened is written to any more.
replaced_file() {
    local file=${PRESCIENT_STORE#sqlite:}
    a_case replaced 'workers = 1;'
    enqueue_in 1 5 witness "'old' || n"
    cp "$file" backup.db
    engine e0
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 5
    q "UPDATE {future_job} SET entity_key = entity_key" >/dev/null
    PRESCIENT_STORE="sqlite:$CASE/backup.db" q "DELETE FROM {future_job}"
    mv "$file" old.db
    cp -p old.db old.kept
    mv backup.db "$file"
    fault_at replaced store
    enqueue_in 1 5 witness "'new' || n"
    ok "$CASE_NAME: the engine says that its file was replaced" words_of e0 'was replaced or removed'
    ok "$CASE_NAME: it goes on with the new one" wait_until 15 runs_at_least 10
    stop_engines
    is "$CASE_NAME: the checks of the new file have run" "$(cut -f6 journal | grep -c '^new')" 5
    is "$CASE_NAME: nothing twice" "$(cut -f6 journal | sort | uniq -d)" ""
    ok "$CASE_NAME: the old file is as it was" cmp -s old.db old.kept
    case_over
}

removed_file() {
    local file=${PRESCIENT_STORE#sqlite:} before
    a_case removed 'workers = 1;'
    engine e0
    enqueue_in 1 5 witness
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 5
    enqueue_in 3 5 witness "'after' || n"
    mv "$file" away.db
    fault_begins removed store
    ok "$CASE_NAME: the engine says that its file is gone" words_of e0 'removed'
    before=$(runs)
    sleep 5
    is "$CASE_NAME: nothing is run" "$(runs)" "$before"
    is "$CASE_NAME: and no new file is made" "$(ls "$file" 2>/dev/null)" ""
    ok "$CASE_NAME: the engine lives" kill -0 "$(engine_pid e0)"
    mv away.db "$file"
    fault_ends removed store
    ok "$CASE_NAME: it goes on when the file is there again" wait_until 30 runs_at_least 10
    stop_engines
    is "$CASE_NAME: nothing has run twice" "$(cut -f6 journal | sort | uniq -d)" ""
    case_over
}

on_stores sqlite shared_by_many
on_stores sqlite shared_with_a_log
on_stores sqlite replaced_file
on_stores sqlite removed_file
needs_disks
needs_command findmnt e2fsck
on_stores sqlite read_only_file
