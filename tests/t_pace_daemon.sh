#!/usr/bin/env bash
# t_pace_daemon.sh - a daemon runs the checks of a slot that is spread as their parts begin, none
# earlier, and each at about the same second of slots that follow each other. An engine beside it is
# killed in the middle: nothing is lost. One check that is slow keeps no other from its part.
# not for coverage
# about 220 s
# night: it waits for slots
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
json_begins

N=120 LENGTH=8

spread_settings() {
    settings 'lease = "2s"; trust = "1s"; stop_timeout = "5s"; split_at = '"$1"';' 'jobs = { witness = {
        plugin = "witness"; settings = { file = "'"$TMP/journal"'"; }; }; };'
}
asked() {
    local i
    for ((i = 1; i <= N; i++)); do
        printf 'row,%s,witness,%s,"[""again %d"", ""again %d"", ""done""]"\n' "$i" "+3s" $LENGTH $LENGTH
    done | { echo entity_name,entity_key,job_exec,check_at,payload; cat; } >rows.csv
    ok "$STORE_NAME: checks are asked for" "$P" --quiet enqueue --from rows.csv
}
all_over() { [ "$(q "SELECT count(*) FROM {future_job_history}")" = "$N" ]; }

# looks: KEY, its slot, and how many milliseconds after it the run began
looks() {
    local what
    for what in runs history; do
        "$P" $what --limit 0 --json | json '"".join("%s %d %d\n" % (row["entity_key"], s, 1000 * (r - s))
            for row in j for t in [__import__("datetime").datetime.fromisoformat]
            for s in [t(row["slot_at"].replace("Z", "+00:00")).timestamp()]
            for r in [t(row["'$1'" if "'$1'" in row else "'$2'"].replace("Z", "+00:00")).timestamp()])'
    done
}
spread() {
    a_clean_store --slot-length ${LENGTH}s
    spread_settings "$1"
    ok "$STORE_NAME: a pace" "$P" --quiet pace 1
    start daemon "$P" daemon
    asked
    ok "$STORE_NAME: all are over" wait_until 60 all_over
    looks run_at last_run_at | grep . >looks
    is "$STORE_NAME: each was looked at three times" "$(wc -l <looks)" $((3 * N))
    is "$STORE_NAME: in slots that follow each other" \
        "$(sort -k1,1n -k2,2n looks | awk -v step=$LENGTH '$1 == key && $2 != slot + step { n++ }
            { key = $1; slot = $2 } END { print n + 0 }')" 0
    is "$STORE_NAME: at about the same second of each" \
        "$(awk '{ if (!($1 in least) || $3 < least[$1]) least[$1] = $3; if ($3 > most[$1]) most[$1] = $3 }
            END { for (key in most) n += most[key] - least[key] > 1500; print n + 0 }' looks)" 0
    at_least "$STORE_NAME: and all over the slot" \
        "$(awk '{ print int($3 / 1000) }' looks | sort -u | wc -l)" 7
    kill -TERM "$(pid_of daemon)"
    join_within 20 daemon
    is "$STORE_NAME: the daemon ends well" "$CODE" 0
}
as_one_lease() { spread 1000; }
split() { spread 1; }

# One check of an early part takes most of the slot.
with_a_slow_one() {
    a_clean_store --slot-length ${LENGTH}s
    spread_settings 1000
    ok "$STORE_NAME: a pace" "$P" --quiet pace 1
    start daemon "$P" daemon
    local key=0
    while [ $((0x$(printf '4:slow%d' $key | sha256sum | cut -c1-2) & 63)) -gt 4 ]; do key=$((key + 1)); done
    { echo entity_name,entity_key,job_exec,check_at,payload
      echo slow,$key,witness,+3s,'"[""sleep 6000, done""]"'
      seq -f 'row,%.0f,witness,+3s,"[""done""]"' $N; } >rows.csv
    ok "$STORE_NAME: checks are asked for" "$P" --quiet enqueue --from rows.csv
    N=$((N + 1)) ok "$STORE_NAME: all are over" wait_until 60 all_over
    looks run_at last_run_at | grep . >looks
    is "$STORE_NAME: none of them waited for it" "$(awk '{ print int($3 / 1000) }' looks | sort -u | wc -l)" \
        $LENGTH
    kill -TERM "$(pid_of daemon)"
    join_within 20 daemon
}

killed() {
    a_clean_store --slot-length ${LENGTH}s
    spread_settings 1
    ok "$STORE_NAME: a pace" "$P" --quiet pace 0.9
    start first "$P" daemon
    start second "$P" daemon
    asked
    ok "$STORE_NAME: some have been looked at" wait_until 30 test -s "$TMP/journal"
    sleep 1.5
    kill -KILL "$(pid_of first)"
    join first
    ok "$STORE_NAME: all come to their end" wait_until 60 all_over
    kill -TERM "$(pid_of second)"
    join_within 20 second
}

on_each_store as_one_lease
on_each_store split
on_each_store with_a_slow_one
on_each_store killed
