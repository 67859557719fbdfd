#!/usr/bin/env bash
# t_fine.sh - checks that are asked for at once, with real processes: a daemon begins them in the
# next second, also one whose transaction commits later than that; a `run` runs what waits; many
# seconds that were missed are made up for, by two daemons together, each check once; an AGAIN moves
# on by seconds; and a daemon that is killed leaves nothing behind for good.
# not for coverage
# about 60 s
# night: it waits for seconds
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

fine_settings() {
    settings 'lease = "2s"; trust = "1s"; stop_timeout = "5s";' 'jobs = { witness = { plugin = "witness";
        batch = 1; timeout = "20s"; settings = { file = "'"$TMP/journal"'"; }; }; };'
}

now() { date +%s; }
# at_once KEY [PAYLOAD]
at_once() {
    "$P" --quiet enqueue row "$1" witness --at-once ${2:+--payload "$2"} >/dev/null || fail "enqueue $1"
}
# How many ms after `asked` its job began; nothing when it has not.
begun_after() {
    awk -F'\t' -v key="$1" -v asked="$2" '$6 == key { print int($1 / 1000) - asked; exit }' \
        journal 2>/dev/null
}
has_begun() { [ -n "$(begun_after "$1" 0)" ]; }
runs_of() { awk -F'\t' -v key="$1" '$6 ~ "^" key { n++ } END { print n + 0 }' journal 2>/dev/null; }

# What a loaded machine needs, too; without the pulse it would be the sweep, minutes later.
MOST_MS=10000
in_time() {
    ok "$STORE_NAME: $1 is begun" wait_until 15 has_begun "$2"
    at_most "$STORE_NAME: $1: ms from then to its job" "$(begun_after "$2" "$3")" $MOST_MS
}

# Not where a full slot ends within these seconds: its checks are found by the sweep then.
early_in_a_slot() { while [ $(($(now) % 900)) -gt 840 ]; do sleep 1; done; }

while_a_daemon_idles() {
    local asked
    start daemon "$P" daemon
    sleep 3
    asked=$(now_ms)
    at_once idle
    in_time "asked for by the command" idle "$asked"
    asked=$(now_ms)
    at_once moving '["again 2", "done"]'
    in_time "a check that looks again" moving "$asked"
    ok "$STORE_NAME: an AGAIN moves on by seconds" wait_until 15 nothing_pending
    is "$STORE_NAME: in a second between two slots, both times" "$(q "SELECT count(*) FROM {future_job_run} r,
        {future_job_history} h WHERE r.entity_key = 'moving' AND h.entity_key = 'moving'
        AND r.next_check_at = h.slot_at")" 1
}

# Its second has long begun, and others were run after it, when it commits.
a_late_commit() {
    local asked
    start application psql -qX "$PRESCIENT_STORE" -c "BEGIN" \
        -c "SELECT prescient.enqueue_now('row', 'late', 'witness')" -c "SELECT pg_sleep(4)" -c "COMMIT"
    sleep 1
    at_once meanwhile
    ok "$STORE_NAME: another is run meanwhile" wait_until 15 has_begun meanwhile
    join_within 20 application
    asked=$(now_ms)
    # by the pulse, which waits for old transactions, or by a second look
    ok "$STORE_NAME: what commits later than its second is begun" wait_until 20 has_begun late
    is "$STORE_NAME: and was not begun before" "$([ "$(begun_after late "$asked")" -gt -1000 ] && echo no)" no
}

nothing_is_left() {
    ok "$STORE_NAME: $1: nothing is left" wait_until 40 nothing_pending
    is "$STORE_NAME: $1: each was run once" \
        "$(runs_of "$2") $(cut -f6 journal | grep "^$2" | sort -u | wc -l)" "$3 $3"
}

# Seconds that passed while nobody was there.
missed_seconds() {
    local first n; first=$(($(now) - 200))
    for ((n = 0; n < 120; n++)); do
        [ $(((first + n) % 900)) = 0 ] || echo $((first + n))
    done >seconds
    if [ "$STORE_NAME" = sqlite ]; then
        while read -r n; do
            echo "INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at,
                next_check_at) VALUES ('row', '$1$n', 'witness', $n, $n);"
        done <seconds | sqlite3 "${PRESCIENT_STORE#sqlite:}"
    else
        while read -r n; do
            echo "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                next_check_at) VALUES (prescient.bucket_of('row', '$1$n'), 'row', '$1$n', 'witness',
                to_timestamp($n), to_timestamp($n));"
        done <seconds | psql -qX1 "$PRESCIENT_STORE"
    fi
    MISSED=$(wc -l <seconds)
}

by_two_daemons() {
    : >journal
    a_clean_store               # seconds that were run before would be the sweep's
    missed_seconds missed
    start one "$P" daemon
    start two "$P" daemon
    nothing_is_left "a backlog of $MISSED seconds, two daemons" missed "$MISSED"
    at_once held '"sleep 6000, done"'
    ok "$STORE_NAME: a check is being run" wait_until 15 has_begun held
    local name=one; [ "$(awk -F'\t' '$6 == "held" { print $4 }' journal)" = "$(pid_of one)" ] || name=two
    kill -KILL "$(pid_of "$name")"
    join "$name"
    at_once after
    ok "$STORE_NAME: the other one goes on" wait_until 15 has_begun after
    ok "$STORE_NAME: and takes what the killed one held" wait_until 40 nothing_pending
    is "$STORE_NAME: which was begun twice, and counts once" "$(runs_of held)
        $(q "SELECT count(*) FROM {future_job_history} WHERE entity_key = 'held'")" "2
        1"
    ok "$STORE_NAME: no lease is left" wait_until 15 no_lease
    [ "$name" = one ] && name=two || name=one
    kill -TERM "$(pid_of "$name")"
    join_within 15 "$name"
}
no_lease() { [ "$(leases)" = 0 ]; }

# A run makes what is due: its second must have begun.
by_a_run() {
    missed_seconds run
    at_once now
    local asked; asked=$(now)
    while [ "$(now)" -le "$asked" ]; do sleep 0.05; done
    ok "$STORE_NAME: a run" "$P" --quiet run
    is "$STORE_NAME: a run makes up for $MISSED seconds, and for what was asked for" \
        "$(runs_of run) $(runs_of now) $(pending)" "$MISSED 1 0"
}

# Occurrences of a schedule that were missed are seconds, too, one after the other: a run stays for
# all of them. Days are long, so that none ends meanwhile.
by_a_run_that_makes_up() {
    local from; from=$(date -u -d '-5 days' +%FT12:00:00Z)
    while [ $(($(now) % 86400)) -gt 86300 ]; do sleep 1; done
    a_clean_store --slot-length 1d
    ok "$STORE_NAME: a schedule of five days ago" "$P" --quiet --now "$from" \
        schedule add daily row daily witness --cron @daily --missed run_all
    ok "$STORE_NAME: one run" "$P" --quiet run
    is "$STORE_NAME: a run makes up for all of them" "$(runs_of daily) $(q "SELECT count(*) FROM {future_job}
        WHERE <next_check_at> > $(now)")" "5 1"
    a_clean_store
}

# The clock of the database is months ahead of that time, or behind it.
by_a_run_at_a_set_time() {
    local day
    for day in 2026-03-01 2030-03-01; do
        ok "$STORE_NAME: asked for at once, in ${day%%-*}" "$P" --quiet --now "${day}T00:41:30Z" \
            enqueue row "set$day" witness --at-once
        ok "$STORE_NAME: a run a second before it" "$P" --quiet --now "${day}T00:41:29Z" run
        is "$STORE_NAME: it waits" "$(runs_of "set$day") $(pending)" "0 1"
        ok "$STORE_NAME: a run some seconds after it" "$P" --quiet --now "${day}T00:41:50Z" run
        is "$STORE_NAME: it was made" "$(runs_of "set$day") $(pending)" "1 0"
    done
}

at_once_is_at_once() {
    : >journal
    a_clean_store; fine_settings
    by_a_run_at_a_set_time
    early_in_a_slot
    by_a_run
    by_a_run_that_makes_up
    while_a_daemon_idles
    [ "$STORE_NAME" = sqlite ] || a_late_commit
    kill -TERM "$(pid_of daemon)"
    join_within 15 daemon
    by_two_daemons
}
on_each_store at_once_is_at_once
