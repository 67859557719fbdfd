#!/usr/bin/env bash
# f36_power_cut.sh - F36: the power is cut, at moments drawn from the seed, while checks are
#     enqueued, run and settled
# PASS: every acknowledged enqueue is there; a settle with its history, run log and events is there
# together or not at all; the work continues.
# limit 1200
#
# CUTS          how often (SQLite 12, PostgreSQL 6; QUICK=1: 3)
#
# The store lies on a disk of the scenario's own, which forgets what was not synced; engines,
# writers and the server die at that moment, as their machine would. Journal, plan and log of faults
# are on another machine, so to speak.
. "$(dirname "$0")/lib.sh"
. "$FAULTS/disk.sh"
. "$FAULTS/server.sh"

cuts() { echo "${CUTS:-${QUICK:+3}}"; }

# Everything that runs on the machine; SIGKILL, and the log records it as the store's fault.
all_die() {
    local name
    for name in "${!ENGINES[@]}"; do kill -KILL "${ENGINES[$name]}" 2>/dev/null; done
    for name in "${!HELPERS[@]}"; do kill -KILL "${HELPERS[$name]}" 2>/dev/null; done
    for name in "${!ENGINES[@]}"; do
        engine_over "$name"
    done
    for name in "${!HELPERS[@]}"; do
        wait "${HELPERS[$name]}" 2>/dev/null
        unset "HELPERS[$name]"
    done
}

# In the middle of the work, up to two seconds after a run has been seen.
at_a_random_moment() {
    wait_until 20 runs_at_least $(($(runs) + 1)) || return 1
    sleep "$((RANDOM % 2)).$(printf '%03d' $((RANDOM % 1000)))"
}

# Writers are on the machine, too: what was acknowledged after the cut was acknowledged to nobody.
nobody_heard() {
    awk -F'\t' -v dark="$DARK_US" '$1 != "acked" || $2 < dark' "$CASE/plan" >"$CASE/plan.heard" &&
        mv "$CASE/plan.heard" "$CASE/plan"
}

# Acknowledged checks of the plan that are in none of the tables, right after the power came back,
# before any engine looks.
acknowledged() {
    awk -F'\t' '
        $1 == "acked" { good[$3] = 1 }
        $1 == "sent" { batch[$5] = $3 }
        END { for (key in batch) if (batch[key] in good) print key }' "$CASE/plan" | sort
}
in_the_store() {
    q "SELECT entity_key FROM {future_job} UNION SELECT entity_key FROM {future_job_history}" | sort
}
lost() { comm -23 <(acknowledged) <(in_the_store) | wc -l; }

# What a settle writes is one transaction: an archived check is not pending, what the run log has
# left is pending with its counts or gone on, each has its event.
halves() {
    q "SELECT count(*) FROM {future_job} f
       JOIN {future_job_history} h USING (entity_name, entity_key, job_exec)" | tr '\n' ' '
    q "SELECT count(*) FROM {future_job_history} h WHERE outcome = 'done'
         AND NOT EXISTS (SELECT 1 FROM {event} e WHERE e.entity_key = h.entity_key
         AND e.slot_at = h.slot_at)" | tr '\n' ' '
    q "SELECT count(*) FROM {event} e WHERE NOT EXISTS (SELECT 1 FROM {future_job_history} h
       WHERE h.entity_key = e.entity_key AND h.slot_at = e.slot_at)
         AND NOT EXISTS (SELECT 1 FROM {future_job_run} r WHERE r.entity_key = e.entity_key
         AND r.slot_at = e.slot_at)" | tr '\n' ' '
    q "SELECT count(*) FROM {future_job_run} r WHERE NOT EXISTS (SELECT 1
       FROM {future_job} f WHERE f.entity_key = r.entity_key AND f.next_check_at > r.slot_at)
         AND NOT EXISTS (SELECT 1 FROM {future_job_history} h WHERE h.entity_key = r.entity_key)"
}

# power_cuts N WRITER...: a WRITER is a function that starts writers; its argument is the number of
# the round
power_cuts() {
    local most=$1 n lost=0 damaged=0 halved=0 acked=0 now; shift
    for ((n = 0; n < most; n++)); do
        engine "e$n"; engine "f$n"
        "$@" "$n"
        at_a_random_moment || {
            fail "$CASE_NAME: the work goes on after cut $n" "$(tail -3 "e$n.err")"; break
        }
        fault_begins power store
        lights_out
        nobody_heard
        lights_on || { fail "$CASE_NAME: the store comes back after cut $n"; break; }
        fault_ends power store
        lost=$((lost + $(lost)))
        [ "$(halves)" = "0 0 0 0" ] || halved=$((halved + 1))
        is_whole || damaged=$((damaged + 1))
    done
    is "$CASE_NAME: acknowledged enqueues that a cut took" "$lost" 0
    is "$CASE_NAME: cuts after which half of a settle was there" "$halved" 0
    is "$CASE_NAME: cuts after which the store was damaged" "$damaged" 0
    at_least "$CASE_NAME: power cuts" "$n" "$most"
    now=$(acknowledged | wc -l)
    at_least "$CASE_NAME: enqueues that were acknowledged" "$now" $((most * 10))
    engine last
    LIVE_S=40 EPSILON_MS=20000 verdict F36
}

# ---- SQLite ----

lights_out_sqlite() { disk_loses_power sqlite; all_die; }
whole_sqlite() { [ "$(q 'PRAGMA integrity_check')" = ok ]; }

# By SQL and by the command line; each gets the acknowledgement of its transaction.
writers_of_sqlite() {
    write_checks "sql$1" --checks 400 --over 4 --batch 10 --ahead 0,3 --mix busy
    write_checks "cli$1" --checks 40 --over 4 --batch 1 --ahead 0,3 --mix busy --by cli
}

# cut_sqlite CASE: with LOG_AHEAD=1 the application's choice is a write-ahead log
cut_sqlite() {
    lights_out() { lights_out_sqlite; }
    lights_on() { disk_has_power sqlite; }
    is_whole() { whole_sqlite; }
    ok "$STORE_NAME: a disk of our own" a_disk sqlite 128 || return
    ok "$STORE_NAME: it forgets what was not synced, and nothing else" disk_forgets sqlite
    PRESCIENT_STORE="sqlite:$DISK/store.db"
    a_case "$1" 'workers = 2;'
    sync -f "$DISK"
    power_cuts "$(n=$(cuts); echo "${n:-12}")" writers_of_sqlite
    [ -z "${LOG_AHEAD:-}" ] || is "$CASE_NAME: the journal is the application's" \
        "$(q 'PRAGMA journal_mode')" wal
    disk_unmount sqlite
}
under_sqlite() { cut_sqlite power_cut; }
under_sqlite_with_a_log() { LOG_AHEAD=1 cut_sqlite power_cut_wal; }

# ---- PostgreSQL ----

# The pid file from before the cut does not show which process runs now. Statistics are made again.
lights_out_postgresql() {
    local pids pid
    pids=$(server_pids)
    disk_loses_power pg
    kill -KILL $pids 2>/dev/null
    all_die
    for pid in $pids; do wait_until 10 is_gone "$pid"; done
}
lights_on_postgresql() { disk_has_power pg && rm -f "$CLUSTER/data/postmaster.pid" && server_start; }
whole_postgresql() {
    [ "$(server_sql "SELECT count(*) FROM prescient.future_job WHERE bucket IS NULL OR id IS NULL")" = 0 ]
}
writers_of_postgresql() { write_checks "sql$1" --checks 1500 --over 4 --batch 10 --ahead 0,3 --mix busy; }

under_postgresql() {
    lights_out() { lights_out_postgresql; }
    lights_on() { lights_on_postgresql; }
    is_whole() { whole_postgresql; }
    STORE_NAME=postgresql
    ok "$STORE_NAME: a disk of our own" a_disk pg 512 || return
    ok "$STORE_NAME: it forgets what was not synced, and nothing else" disk_forgets pg
    mkdir -p "$DISK/cluster/sock" && chown -R postgres "$DISK/cluster" && ln -s "$DISK/cluster" "$TMP/pg"
    a_server max_connections=60 shared_buffers=32MB max_wal_size=64MB
    is "$STORE_NAME: it syncs" "$(server_sql 'SHOW fsync')" on
    sync -f "$DISK"                     # or a cut brings back the settings of initdb
    a_case power_cut 'workers = 2;'
    power_cuts "$(n=$(cuts); echo "${n:-6}")" writers_of_postgresql
    server_down
    disk_unmount pg
}

needs_disks
needs_command comm
on_stores sqlite under_sqlite
on_stores sqlite under_sqlite_with_a_log
if wants_a_server >/dev/null 2>&1; then
    under_postgresql
fi
