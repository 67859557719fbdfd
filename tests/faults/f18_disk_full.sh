#!/usr/bin/env bash
# f18_disk_full.sh - F18: the disk of the database is full: that of its tables, then that of its log
#     (WAL), which stops the server until it is started again
# PASS: no check runs more than twice in its slot; what waited is done when there is room again, by
# the same engines.
# limit 300
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/disk.sh"

FULL_S=${FULL_S:-15}                # some lease times

# The server's settings and log stay where there is room; its data, or its WAL, lie on the small
# disk.
small_wal='max_wal_size=8MB min_wal_size=2MB shared_buffers=16MB fsync=off restart_after_crash=off'
server_on_a_small_disk() {
    a_disk "$1" "$2" || { fail "a disk of our own"; exit 1; }
    chmod 755 "$DISK"
    install -d -o postgres "$DISK/pg" "$TMP/pg"
    case $1 in
    data)
        ln -s "$DISK/pg" "$TMP/pg/data"
        install -d -o postgres "$TMP/wal"
        PG_INITDB="--wal-segsize=1 --waldir=$TMP/wal/pg" a_server $small_wal ;;
    wal) PG_INITDB="--wal-segsize=1 --waldir=$DISK/pg/wal" a_server $small_wal ;;
    esac
}

most_runs() {
    awk -F'\t' '{ n[$5 FS $6 FS $7 FS $10]++ } END { for (k in n) if (n[k] > m) m = n[k]; print m + 0 }' \
        "$CASE/journal"
}
is_down() { [ "$(server_ctl status >/dev/null 2>&1; echo $?)" != 0 ]; }
said() { cat e?.err | grep -cE "$1"; }

at_work() {
    WITNESS='batch = 1;' a_case "$1" 'workers = 2; split_at = 50;'
    engine e0; engine e1
    PIDS="$(engine_pid e0) $(engine_pid e1)"
    write_checks w --patient --checks 3000 --batch 100 --over 6 --ahead 1,3 --mix slow --most-ms 20
    ok "$CASE_NAME: the engines are at work" wait_until 15 runs_at_least 100
}
there_is_room_again() {
    written w
    write_checks after --checks 200
    written after
    ok "$CASE_NAME: the backlog is drained" wait_until 60 drained
    at_most "$CASE_NAME: no check ran more than twice in its slot" "$(most_runs)" 2
    is "$CASE_NAME: by the engines of before" "$(engine_pid e0) $(engine_pid e1)" "$PIDS"
    ok "$CASE_NAME: which were up all the time" alive e0
    ok "$CASE_NAME: both of them" alive e1
    EPSILON_MS=20000 verdict F18
}

# An error for each statement that needs room. Other processes cannot be asked to leave some, so
# what becomes free meanwhile is filled again.
full_data() {
    local until
    at_work data
    fault_begins disk-full store
    until=$(($(now_ms) + FULL_S * 1000))
    while [ "$(now_ms)" -lt "$until" ]; do disk_fill data; sleep 0.2; done
    at_least "$CASE_NAME: writes were refused for want of room" \
        "$(said 'No space left on device|could not extend file')" 1
    disk_free data
    wait_until 2 server_answers || server_start
    fault_ends disk-full store
    there_is_room_again
}

# A standby that is gone for good keeps the WAL from being used again. What does not fit makes the
# server panic; with restart_after_crash, as it is mostly set, it would come back to panic again.
wal_has_no_room() {
    server_sql "SELECT count(pg_logical_emit_message(true, 'more', repeat(md5(n::text), 10000)))
                FROM generate_series(1, 4) n" >/dev/null 2>&1
    is_down
}
full_wal() {
    server_sql "SELECT pg_create_physical_replication_slot('gone', true)" >/dev/null
    at_work wal
    fault_begins disk-full store
    ok "$CASE_NAME: the disk is nearly full" disk_fill wal 4096
    ok "$CASE_NAME: the server goes down" wait_until 60 wal_has_no_room
    at_least "$CASE_NAME: for want of room" \
        "$(grep -c 'PANIC.*No space left on device' "$CLUSTER/server.log")" 1
    sleep "$FULL_S"
    is "$CASE_NAME: nobody starts it" "$(is_down && echo down)" down
    disk_free wal
    ok "$CASE_NAME: it is started" server_start
    server_sql "SELECT pg_drop_replication_slot('gone')" >/dev/null
    fault_ends disk-full store
    there_is_room_again
}

needs_disks
needs_a_server
server_on_a_small_disk data 160
full_data
server_down
server_on_a_small_disk wal 96
full_wal
