#!/usr/bin/env bash
# f30_database_clock.sh - F30: the database's clock jumps back by an hour, and forward by a day
# PASS: after a jump back it waits, and no settled slot runs again; after a jump forward one sweep
# runs each check once, whatever slots were missed, and the guards count by the new time. What
# recurs makes up for the hour that was left out as its `missed` has it, and in an hour that comes
# twice has no occurrence twice.
# limit 600
#
# CASES names some of an_hour_back, leases_from_the_future, a_day_on, recurring; the second is for
# one lease in SQLite, and left out there unless it is named. PostgreSQL: the server's clock jumps,
# engines have the machine's. SQLite: the machine's clock, which all that use the file have, jumps.
. "$(dirname "$0")/lib.sh"
. "$FAULTS/clock.sh"
. "$FAULTS/server.sh"

# With slots of a second, an engine notices at once that the clock has changed; then it has a day to
# sweep, or an hour, slot by slot.
EPSILON_MS=15000

an_engine() { if [ "$STORE_NAME" = sqlite ]; then on_clock store engine "$1"; else engine "$1"; fi; }
checks() { on_clock store write_checks "$@"; }
waiting() { q "SELECT count(*) FROM {future_job} WHERE <next_check_at> > $(clock_shows store)"; }
due_within() {
    q "SELECT count(*) FROM {future_job} WHERE <next_check_at> <= $(($(clock_shows store) + $1))"
}
nothing_due() { [ "$(due_within 0)" = 0 ]; }
nothing_soon() { [ "$(due_within 600)" = 0 ]; }
runs_of() { cut -f6 "$CASE/journal" | grep -c "^$1\."; }
outcomes_of() {
    q "SELECT DISTINCT outcome FROM {future_job_history} WHERE entity_key LIKE '$1.%'" | tr '\n' ' '
}

# ---- backwards ----

# An hour comes twice. What was filed before waits until it has passed; what is filed meanwhile
# belongs to it, also to slots that engines had closed.
an_hour_back() {
    local before stood left jumped
    a_case an_hour_back 'workers = 2;'
    clock_right store
    an_engine e0
    an_engine e1
    checks w --checks 500 --batch 20 --over 6 --ahead 0,4 --mix busy
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 80
    stood=$(clock_shows store) jumped=$SECONDS
    clock_jump store -1h
    checks during --checks 60 --over 1 --ahead 0,3 --mix plain
    # slots that have been run, by the clock before
    checks closed --checks 40 --ahead 3594,3599 --mix plain
    written w; written during; written closed
    ok "$CASE_NAME: what is filed in the hour that comes again runs at its time" wait_until 20 nothing_soon
    at_least "$CASE_NAME: what was filed before waits" "$(waiting)" 41
    before=$(runs) left=$(cat e?.err | wc -l)
    sleep 5
    is "$CASE_NAME: nothing is run before its time comes again" "$(runs)" "$before"
    at_most "$CASE_NAME: and there is no word about it each moment (lines in 5 s)" \
        $(($(cat e?.err | wc -l) - left)) 10
    clock_set store $((stood - 5))
    LIVE_S=40 verdict F30
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
    at_least "$CASE_NAME: slots that had been run took checks again" "$(runs_of closed)" 40
}

# Leases that end in three quarters of an hour, and whose holder has died: others see that they are
# not renewed. They may be those of an engine with a longer lease time, so that takes ten of our
# own.
leases_from_the_future() {
    local hour name LEASE_S=1 TRUST_MS=700
    SLOT_LENGTH=1h WITNESS='batch = 1;' a_case leases_from_the_future \
        'workers = 2; split_at = 50; page = 200;'
    hour=$((($(date +%s) / 3600 + 3) * 3600))
    clock_set store $((hour - 8))
    an_engine e0
    an_engine e1
    checks w --checks 1500 --batch 500 --ahead 0,1 --mix slow --most-ms 16
    written w
    ok "$CASE_NAME: it is at work" wait_until 20 runs_at_least 50
    clock_jump store +50m
    ok "$CASE_NAME: leases are taken by that clock" wait_until 10 leases_beyond $((hour + 3000))
    clock_jump store -45m
    name=$(engine_at_work 20) || { fail "$CASE_NAME: it is at work after the jump"; return; }
    kill_engine "$name"
    LIVE_S=30 EPSILON_MS=16000 verdict F30
    at_most "$CASE_NAME: checks that ran again, when leases seemed to be over and when an engine died" \
        "$RERUNS" 400
}
leases_beyond() { [ "$(q "SELECT count(*) FROM {slot_lease} WHERE $LEASE_ENDS > $1")" != 0 ]; }

# ---- forwards ----

# A day is left out, and with it 86,400 slots. Each prefix is one rule.
a_day_on() {
    local slots stood
    WITNESS='batch = 1; horizon = "12h"; max_checks = 3;' a_case a_day_on 'workers = 2;'
    clock_right store
    checks missed --checks 300 --batch 100 --ahead 30,86000 --mix plain     # of the day that is left out
    # wants to look again at a moment that is left out
    checks past --checks 10 --ahead 30,3600 --mix at_2h
    checks later --checks 10 --ahead 3600,86000 --mix at_30h                # in six hours, by the new clock
    checks beyond --checks 10 --ahead 3600,86000 --mix at_80h
    # wants to look again in a second, always
    checks endless --checks 10 --ahead 3600,86000 --mix endless
    # cannot look, for longer than the horizon
    checks deferred --checks 10 --ahead 0,1 --mix deferring
    checks after --checks 20 --ahead 172800,180000 --mix plain              # of the day after the next
    for stood in missed past later beyond endless deferred after; do written "$stood"; done
    an_engine e0
    an_engine e1
    checks w --checks 300 --batch 20 --over 4 --ahead 0,3 --mix busy
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 60
    ok "$CASE_NAME: some have been deferred" wait_until 10 some_deferred
    slots=$(opened_slots)
    stood=$SECONDS
    clock_jump store +1d
    written w
    ok "$CASE_NAME: all that is due is done" wait_until 90 nothing_due
    echo "# $CASE_NAME: the day was swept $((SECONDS - stood)) s after the jump"
    is "$CASE_NAME: each check of the day that was left out ran once" \
        "$(runs_of missed) $(journal_keys missed)" "300 300"
    is "$CASE_NAME: looking again at a moment that is over ends a check" \
        "$(outcomes_of past)$(runs_of past)" "past 10"
    is "$CASE_NAME: the horizon is counted from the new time: within it a check waits on" \
        "$(waiting_of later) $(runs_of later)" "10 10"
    is "$CASE_NAME: and beyond it ends" "$(outcomes_of beyond)$(runs_of beyond)" "beyond_horizon 10"
    ok "$CASE_NAME: what always wants to look again comes to its end" wait_until 30 nothing_of endless
    is "$CASE_NAME: after max_checks looks and the first one, not one for each slot left out" \
        "$(outcomes_of endless)$(runs_of endless)" "max_checks 40"
    ok "$CASE_NAME: what is deferred comes to its end" wait_until 15 nothing_of deferred
    is "$CASE_NAME: by the horizon" "$(outcomes_of deferred)" "deferred_out "
    is "$CASE_NAME: what is wanted after that day still waits" "$(waiting_of after)" 20
    at_most "$CASE_NAME: slots opened, of the 86,400 and those since" \
        $(($(opened_slots) - slots)) $((300 + 40 + 16 + SECONDS - stood + 30))
    clock_jump store +2d
    LIVE_S=40 EPSILON_MS=40000 verdict F30
    at_most "$CASE_NAME: checks that ran again: those that ran when all leases seemed to be over" "$RERUNS" 40
}
opened_slots() { q "SELECT count(*) FROM {slot_pass} WHERE pass = 0"; }
waiting_of() {
    q "SELECT count(*) FROM {future_job} WHERE entity_key LIKE '$1.%'
       AND <next_check_at> > $(clock_shows store)"
}
nothing_of() { [ "$(q "SELECT count(*) FROM {future_job} WHERE entity_key LIKE '$1.%'")" = 0 ]; }
some_deferred() { [ "$(q "SELECT count(*) FROM {future_job_run} WHERE outcome = 'deferred'")" -ge 10 ]; }
journal_keys() { cut -f6 "$CASE/journal" | grep "^$1\." | sort -u | wc -l; }

# ---- what recurs ----

# Each minute, by the clock from MINUTE on. The clock is set to just before the minutes that matter.
recurring() {
    local minute before name MISSED="run_once run_all skip"
    a_case recurring 'workers = 2;'
    minute=$(($(date +%s) / 60 * 60))
    clock_set store $((minute + 52))
    for name in $MISSED; do
        ok "$CASE_NAME: a schedule that is to $name" on_clock store "$P" --quiet \
            schedule add "$name" row "$name" witness --cron '* * * * *' --missed "$name"
    done
    an_engine e0
    ok "$CASE_NAME: all run in the next minute" wait_until 30 all_ran $((minute + 60))
    clock_set store $((minute + 3600 + 50))
    # it makes up for one minute a second
    ok "$CASE_NAME: the hour is left out: all run in the minute behind it" \
        wait_until $((61 + 30)) all_ran $((minute + 3660))
    is "$CASE_NAME: run_all makes up for each of the 59 minutes" \
        "$(minutes_of run_all $((minute + 120)) $((minute + 3600)))" 59
    is "$CASE_NAME: run_once for all of them by one run" \
        "$(minutes_of run_once $((minute + 120)) $((minute + 3600)))" 1
    is "$CASE_NAME: and what skips has run or counted each" \
        $(($(minutes_of skip $((minute + 120)) $((minute + 3600))) + $(skipped))) 59
    clock_set store $((minute + 120 + 55))
    before=$(runs)
    ok "$CASE_NAME: the hour comes again, and a minute of it begins" wait_until 30 shows $((minute + 185))
    is "$CASE_NAME: in which nothing runs again" "$(runs)" "$before"
    clock_set store $((minute + 3660 + 55))
    ok "$CASE_NAME: when that hour is over all run on" wait_until 60 all_ran $((minute + 3720))
    is "$CASE_NAME: no minute was run twice" "$(cut -f6,9 "$CASE/journal" | sort | uniq -d)" ""
    is "$CASE_NAME: run_all has run each minute since the first" \
        "$(minutes_of run_all $((minute + 60)) $((minute + 3720)))" 62
    is "$CASE_NAME: each has its one check" \
        "$(q "SELECT count(*), count(DISTINCT entity_key) FROM {future_job}")" "3|3"
    stop_engines
    is "$CASE_NAME: no lease is left" "$(leases)" 0
    cd "$TMP" || exit 2
}
shows() { [ "$(clock_shows store)" -ge "$1" ]; }
# Different minutes, from one to another, that have run.
minutes_of() {
    awk -F'\t' -v key="$1" -v from="$2" -v to="$3" '
        $6 == key && $9 >= from && $9 <= to { print $9 }' \
        "$CASE/journal" | sort -u | wc -l
}
all_ran() {
    local name
    for name in $MISSED; do [ "$(minutes_of "$name" "$1" "$1")" = 1 ] || return 1; done
}
skipped() {
    q "SELECT note FROM {future_job_run} WHERE outcome = 'skipped'" |
        awk -F'[: ]+' '{ n += $2 } END { print n + 0 }'
}

all_cases() {
    case $STORE_NAME in
    sqlite) LEASE_ENDS='expires_at_us / 1000000' ;;
    *) LEASE_ENDS='extract(epoch FROM expires_at)' ;;
    esac
    local all="an_hour_back leases_from_the_future a_day_on recurring"
    [ "$STORE_NAME" != sqlite ] || all=${all/leases_from_the_future/}
    for c in ${CASES:-$all}; do
        "$c"
    done
}

needs_clocks
on_stores sqlite all_cases
if wants_a_server >/dev/null 2>&1; then
    a_clock store
    on_clock store a_server fsync=off
    all_cases
    server_down
fi
