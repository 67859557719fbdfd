#!/usr/bin/env bash
# f57_schedules.sh - F57: schedules are added, changed, switched, removed, resolved, paused and
#     loaded from files while they run; engines, workers and those clients are killed, engines are
#     stopped past their lease, lines are cut, the server restarts
# PASS: at each moment what is on has one check with its rule, and what is off or removed has none,
# and within 4 s runs no more; no occurrence of a cron text runs twice, none is skipped but as
# `missed` has it; the time between two runs is kept; a load that died has left whole pages, and
# another one makes the store equal to the file.
# quick
# limit 600
. "$(dirname "$0")/lib.sh"
. "$FAULTS/net.sh"
. "$FAULTS/server.sh"

LENGTH_S=3                          # of three seconds two are no full slots
ROUNDS=3 ROWS=2500
[ -z "${QUICK:-}" ] || ROUNDS=1 ROWS=1300
HEARD_MS=4000                       # what is in hand when a schedule is switched off may still begin
EDITORS="one two three four"
PAST_S=$((80 * 60))                 # run_all makes up for at most 100

# ---- who edits ----

# The store as clients reach it: on PostgreSQL through a line that is cut, too.
clients_store() {
    if [ "$STORE_NAME" = postgresql ]; then proxy_url pc "$PRESCIENT_STORE"; else echo "$PRESCIENT_STORE"; fi
}
helper() {
    local name=$1; shift
    python3 "$FAULTS/$1" "${@:2}" >"$CASE/$name.wrong" 2>"$CASE/$name.err" &
    HELPERS[$name]=$!
}
# editors NAME...: `none` has no schedules of its own
editors() {
    local name own
    for name; do
        own=3
        [ "$name" != none ] || own=0
        helper "editor.$name" editor.py --store "$(clients_store)" --direct "$PRESCIENT_STORE" \
            --program "$P" --log "$CASE/edits.$name" --until "$CASE/enough.$name" --seed "$SEED" \
            --name "$name" --own $own
    done
}
enough() {
    local name
    for name; do : >"$CASE/enough.$name"; done
    for name; do written "editor.$name"; done
}

# ---- what is there from the beginning ----

schedule() { "$P" --quiet "$@" >/dev/null || fail "$CASE_NAME: $*"; }
begin_schedules() {
    local i then_s; then_s=$(($(now_ms) / 1000 - PAST_S))
    now_s >began
    for i in 0 1 2; do
        schedule --now "@$then_s" schedule add "a$i" row "a$i" witness --cron '* * * * *' --missed run_all
        schedule --now "@$then_s" schedule add "c$i" row "c$i" witness --cron '* * * * *' --missed skip
        schedule --now "@$then_s" schedule add "d$i" row "d$i" witness --cron '* * * * *'
        printf '%s\t%s\n' "a$i" "$then_s" "c$i" "$then_s" "d$i" "$then_s" >>since
        schedule schedule add "p$i" row "p$i" witness --every 3s --bias 0
    done
    for i in e00 e13 e20 e33 e40 e53; do
        schedule schedule add "$i" row "$i" witness --every 3s --bias "0.${i:2}"
    done
}
now_s() { echo $(($(now_ms) / 1000)); }

# ---- faults ----

begin_engine() { if [ "$STORE_NAME" = postgresql ]; then behind "$1"; else engine "$1"; fi; }

hit_engine() {
    local name; name=$(engine_at_work 20) || return 1
    kill_engine "$name"
    begin_engine "$name$1"
}
hit_worker() {
    local worker; worker=$(worker_at_work 20) || return 1
    signal_worker "$worker" KILL
}
hit_stop() {
    local name; name=$(engine_at_work 20) || return 1
    past_its_lease "$name"
}
hit_line() {
    local name; name=$(engine_at_work 20) || return 1
    line_lost "$name" $((LEASE_S + 1))
}
# Of the clients: at once, after some bytes of a statement or of an answer, and for a while.
hit_clients() {
    proxy pc rst; sleep 0.3
    proxy pc cut up $((RANDOM % 800)); sleep 0.4
    proxy pc cut down $((RANDOM % 800)); sleep 0.4
    proxy pc drop; sleep 0.6
    proxy pc pass
}
hit_server() {
    local modes=(fast immediate)
    fault_begins restart store
    ok "$CASE_NAME: the server restarts" server_restart "${modes[RANDOM % 2]}"
    fault_ends restart store
}

# hits ROUND HIT...: in an order drawn from the seed; hits that only a server can have are left out
# on SQLite
hits() {
    local round=$1 hit; shift
    [ "$STORE_NAME" = postgresql ] || set -- $(printf '%s\n' "$@" | grep -vE 'line|clients|server')
    for hit in $(printf '%s\n' "$@" | shuf --random-source=<(yes $RANDOM)); do
        "hit_$hit" "$round" || fail "$CASE_NAME: hit_$hit: there is work"
        sleep 0.$((RANDOM % 10))
    done
}
# Each in both halves; the subset for CI has it in one of them.
hits_of_edits() {
    if [ -n "${QUICK:-}" ]; then hits "$1" engine clients server; else
        hits "$1" engine worker stop line clients server
    fi
}
hits_of_loads() {
    if [ -n "${QUICK:-}" ]; then hits "1$1" worker line $([ "$STORE_NAME" = postgresql ] || echo stop); else
        hits "1$1" engine worker stop line clients server
    fi
}

# ---- the end ----

pauses_are_over() { [ "$("$P" --json pauses)" = "[]" ]; }
resume_all() {
    local i
    for i in p0 p1 p2 s0 s1 s2 s3; do "$P" --quiet resume --schedule "$i" >/dev/null 2>&1; done
    ok "$CASE_NAME: all pauses are over" wait_until 30 pauses_are_over
}
nothing_was_wrong() {
    written watch
    cat "$CASE/watch.err" "$CASE/loader.err" | grep '^# [0-9]* lo' | sed "s/^# /# $CASE_NAME: /"
    is "$CASE_NAME: in no look is a schedule on without its check, or off with it" \
        "$(head -5 "$CASE/watch.wrong")" ""
    is "$CASE_NAME: no load left a part of a page, and each that ended left what the file has" \
        "$(head -5 "$CASE/loader.wrong")" ""
    is "$CASE_NAME: no command failed but for a fault" "$(cat "$CASE"/edits.* | grep ^odd | head -5)" ""
    is "$CASE_NAME: no engine had to file what a schedule lacked" \
        "$(cat "$CASE"/e*.err | grep -c 'no check that waits')" 0
    at_least "$CASE_NAME: looks" "$(sed -n 's/^# \([0-9]*\) looks/\1/p' "$CASE/watch.err")" 20
    [ -n "${QUICK:-}" ] || at_least "$CASE_NAME: loads that were killed between two pages" \
        "$(sed -n 's/^# .* loads, \([0-9]*\) of.*/\1/p' "$CASE/loader.err")" 1
}
loaded_for_good() {
    ok "$CASE_NAME: a last load" "$P" --quiet schedule load 1.csv
    ok "$CASE_NAME: after it the store is equal to the file" \
        python3 "$FAULTS/loader.py" compare --store "$PRESCIENT_STORE" --file 1.csv
    is "$CASE_NAME: and another one has nothing to do" "$("$P" schedule load 1.csv)" ""
    ok "$CASE_NAME: what is on has one check, what is off has none" \
        python3 "$FAULTS/schedules.py" now --store "$PRESCIENT_STORE"
}
ran_since() { awk -F'\t' -v from="$1" -v key="$2" '$1 >= from && $6 == key' "$CASE/journal" | grep -q .; }
# What is made up for may be over by then: the next minute is.
all_run_on() {
    local key from; from=$(now_us)
    for key in e00 e13 e20 e33 e40 e53 p0 p1 p2 a0 a1 a2; do
        ok "$CASE_NAME: $key runs on" wait_until 80 ran_since "$from" "$key"
    done
}
none_is_left() {
    head -1 1.csv >none.csv
    ok "$CASE_NAME: an empty file removes all" "$P" --quiet schedule load none.csv
    is "$CASE_NAME: and ends their checks" "$(q "SELECT count(*) FROM {future_job}
        WHERE terms IS NOT NULL")" 0
}

edited_and_loaded() {
    local round name up_s
    SLOT_LENGTH=${LENGTH_S}s a_case edits 'workers = 3;'
    JOB_LINES="$(witness witness) $(witness other)" case_settings 'workers = 3;'
    [ "$STORE_NAME" = sqlite ] || proxy_start pc "$PRESCIENT_STORE"
    python3 "$FAULTS/loader.py" files --folder "$CASE" --rows $ROWS
    begin_schedules
    python3 "$FAULTS/schedules.py" plan --rows $ROWS --editors $EDITORS >plan
    begin_engine e0; begin_engine e1
    ok "$CASE_NAME: engines are at work" wait_until 30 runs_at_least 5
    up_s=$(($(now_s) + LENGTH_S))
    helper watch schedules.py watch --store "$PRESCIENT_STORE" --until "$CASE/enough.looks"
    editors $EDITORS
    for ((round = 1; round <= ROUNDS; round++)); do hits_of_edits "$round"; done
    enough two three four
    editors none
    helper loader loader.py load --folder "$CASE" --store "$(clients_store)" --direct "$PRESCIENT_STORE" \
        --program "$P" --seed "$SEED" --until "$CASE/enough.loads"
    for ((round = 1; round <= ROUNDS; round++)); do hits_of_loads "$round"; done
    enough one none
    : >enough.loads
    written loader
    resume_all
    loaded_for_good
    all_run_on
    : >enough.looks
    nothing_was_wrong
    none_is_left
    LIVE_S=40 EPSILON_MS=10000 verdict F57 --late-before "$up_s" --changed c \
        --changed d --changed l --changed b --changed o --changed p --changed s
    ok "$CASE_NAME: runs are at the times of their rules" python3 "$FAULTS/schedules.py" judge \
        --case "$CASE" --store "$PRESCIENT_STORE" --heard-ms $HEARD_MS --length-s $LENGTH_S
    for name in "${!PROXIES[@]}"; do proxy_stop "$name"; done
    cd "$TMP" || return
}
on_stores sqlite edited_and_loaded
! wants_a_server >/dev/null || on_a_server edited_and_loaded fsync=off
