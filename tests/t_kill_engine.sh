#!/usr/bin/env bash
# t_kill_engine.sh - engines and workers are killed, stopped and continued at random moments. Every
# check is settled exactly once, few run twice and with the same idempotency key, and no worker
# outlives its engine.
# not for coverage
# night: it kills for minutes, and judges time
# about 45 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

SLOT=1700000100
SEED=${SEED:-$((($(now_ms) ^ $$) & 32767))}
echo "# SEED=$SEED"

# a_full_slot CHECKS PAUSE_US HOLD_AFTER: each takes so long, and a worker comes no further than so
# many while the file `held` is there, or all of them no further than hold_at() says: however late
# one is killed or stopped, there is more to do.
a_full_slot() {
    RANDOM=$SEED                        # each shell has its own
    LEASE_S=2 TRUST_MS=1000
    [ "$STORE_NAME" = postgresql ] || LEASE_S=1 TRUST_MS=500
    settings "lease = \"${LEASE_S}s\"; trust = \"${TRUST_MS}ms\";" \
        "jobs = { journal = { plugin = \"journal\"; settings = { file = \"$TMP/journal\";
                event = \"ran\"; pause_us = $2;
                hold = \"$TMP/held\"; hold_after = $3; }; }; };"
    a_clean_store
    : >journal
    : >held
    CHECKS=$1
    fill "$CHECKS" $SLOT journal
}

# hold_at CHECKS: so many may be run from now on, whichever workers do that. A line of the journal
# has some 60 bytes.
hold_at() { echo $(($(stat -c %s journal) + $1 * 60)) >held; }

# The whole lines of the journal: a kill may cut one off in the middle, at the end of a page of the
# file.
whole_lines() { awk 'NF == 4 && $2 ~ /^[0-9a-f]+$/ && length($2) == 32' journal; }

settled_once() {
    is "$STORE_NAME: $1: history holds each check once" \
        "$(q 'SELECT count(*), count(DISTINCT entity_key) FROM {future_job_history}')" "$CHECKS|$CHECKS"
    is "$STORE_NAME: $1: what the job declared was written once" \
        "$(q 'SELECT count(*), count(DISTINCT entity_key) FROM {event}')" "$CHECKS|$CHECKS"
    is "$STORE_NAME: $1: nothing is pending, no lease is left, no run is logged" \
        "$(pending) $(q 'SELECT count(*) FROM {slot_lease}') $(q 'SELECT count(*) FROM {future_job_run}')" \
        "0 0 0"
    is "$STORE_NAME: $1: each check was run" "$(cut -d' ' -f1 journal | sort -u | wc -l)" "$CHECKS"
    is "$STORE_NAME: $1: every run of a check carried the same idempotency key" \
        "$(whole_lines | cut -d' ' -f1,2 | sort -u | awk '{ print $1 }' | uniq -d | wc -l)" 0
}

# sweep_to_the_end: as cron would, again and again, while leases of the dead run out.
sweep_once() {
    "$P" --quiet sweep >>sweep.out 2>>sweep.err; CODE=$?
    [ "$CODE" = 0 ] && nothing_pending
}

# ---- kill -9 of the engine ----

# Every second engine is killed when it has workers, however slowly it came to them.
has_workers_or_is_over() { ! no_workers_of "$(pid_of "$1")" || ! alive "$1"; }

killed_engine() {
    local kills=$1 most_ms=$2 n=0 pid killed=0 had_workers=0
    while [ $killed -lt "$kills" ] && [ $n -lt $((kills * 2)) ] && ! nothing_pending; do
        n=$((n + 1))
        hold_at $((CHECKS / kills / 2))
        start "engine$n" "$P" --quiet run --slot $SLOT
        pid=$(pid_of "engine$n")
        [ $((n % 2)) = 0 ] || wait_until 5 has_workers_or_is_over "engine$n"
        sleep "$(printf '0.%03d' $((RANDOM % most_ms + 20)))"
        no_workers_of "$pid" || had_workers=$((had_workers + 1))
        kill -KILL "$pid" 2>/dev/null
        join "engine$n"
        case $CODE in
        137) killed=$((killed + 1)) ;;
        # all that was left was still leased to the dead
        0 | 75) wait_until $((LEASE_S + 1)) leases_are_over ;;
        *) fail "$STORE_NAME: engine $n is killed, or ends for want of leases" \
            "found:    $CODE" "$(tail -3 "engine$n.err")" ;;
        esac
        wait_until 1 no_workers_of "$pid" ||
            fail "$STORE_NAME: no worker outlives engine $n by a second" "found:    $(workers_of "$pid")"
        # SQLite: one lease is all there is. Without waiting for its end the next engines would have
        # nothing to do.
        [ "$STORE_NAME" = postgresql ] || wait_until $((LEASE_S + 1)) leases_are_over
    done
    rm held
    at_least "$STORE_NAME: engines that lived when they were killed" "$killed" $((kills / 2))
    at_least "$STORE_NAME: of these, some had workers" "$had_workers" $((kills / 4))
    echo "# $STORE_NAME: $(archived) were done by then"
    ok "$STORE_NAME: sweeps bring it to an end" wait_until 60 sweep_once
    settled_once "engine killed"
    # What can run twice after a kill: what was answered and not settled (some 250 ms, and a settle
    # under way: half a second of work, a worker half a millisecond a check), and what was being
    # run.
    local again=$(($(wc -l <journal) - CHECKS)) each
    each=$(($(nproc) * 1000 + $(nproc)))
    echo "# $STORE_NAME: $kills kills, $again runs more than checks"
    at_most "$STORE_NAME: what runs twice is bounded" "$again" $((kills * each))
}
leases_are_over() {
    if [ "$STORE_NAME" = sqlite ]; then
        [ "$(q "SELECT count(*) FROM {slot_lease} WHERE expires_at_us > strftime('%s', 'now') * 1000000")" \
            = 0 ]
    else
        [ "$(q "SELECT count(*) FROM {slot_lease} WHERE expires_at > clock_timestamp()")" = 0 ]
    fi
}

kill_engines() {
    if [ "$STORE_NAME" = postgresql ]; then
        a_full_slot 10000 2000 0
        killed_engine 20 400
    else
        a_full_slot 3000 2000 0
        killed_engine 4 400
    fi
}

# ---- kill -9 of workers ----

# A worker that dies before its first check counts as one that cannot start, and some of these end
# the engine. So only a worker is killed that has run a check.
has_run_a_check() { awk -v w="$1" '$3 == w { found = 1; exit } END { exit !found }' journal; }

kill_workers() {
    local kills=0 pid workers worker
    a_full_slot 3000 3000 100
    start engine "$P" --json run --slot $SLOT
    pid=$(pid_of engine)
    while alive engine && [ $kills -lt 12 ]; do
        mapfile -t workers < <(workers_but_keepers_of "$pid")
        sleep "$(printf '0.%03d' $((RANDOM % 120)))"
        [ ${#workers[@]} -gt 0 ] || continue
        worker=${workers[RANDOM % ${#workers[@]}]}
        has_run_a_check "$worker" || continue
        kill -KILL "$worker" 2>/dev/null && kills=$((kills + 1))
    done
    rm held
    join_within 60 engine
    local crashed; crashed=$(q "SELECT count(*) FROM {future_job_run} WHERE outcome = 'crashed'")
    echo "# $STORE_NAME: $kills workers killed, $crashed checks crashed"
    at_least "$STORE_NAME: workers killed" "$kills" 3
    at_least "$STORE_NAME: checks were being run when they were" "$crashed" 1
    at_most "$STORE_NAME: a worker takes one check with it at most" "$crashed" "$kills"
    is "$STORE_NAME: the others are done, each once" \
        "$(q "SELECT count(*), count(DISTINCT entity_key) FROM {future_job_history}
              WHERE outcome = 'done'")" \
        "$((CHECKS - crashed))|$((CHECKS - crashed))"
    is "$STORE_NAME: those that crashed wait for another try" "$(pending)" "$crashed"
    is "$STORE_NAME: no check was run twice" "$(cut -d' ' -f1 journal | sort | uniq -d | wc -l)" 0
    is "$STORE_NAME: each is tried again: none has ended in trouble" "$CODE" 0
}

# ---- SIGSTOP past the lease, a takeover, SIGCONT ----

# SQLite: an engine that is stopped in the middle of a write keeps the file locked, which no lease
# can help; it is to stop between two.
file_is_free() {
    [ "$STORE_NAME" = postgresql ] || sqlite3 -batch -cmd '.timeout 200' \
        "${PRESCIENT_STORE#sqlite:}" 'BEGIN IMMEDIATE; ROLLBACK' 2>/dev/null
}
stop_between_writes() {
    for _ in {1..50}; do
        kill -STOP "$1"
        file_is_free && return
        kill -CONT "$1"
        sleep 0.007
    done
    return 1
}

stopped_engine() {
    local stopped woken late worker
    a_full_slot 4000 500 400
    start frozen "$P" --json run --slot $SLOT
    ok "$STORE_NAME: the first engine is at work" wait_until 10 archived_at_least 300
    ok "$STORE_NAME: it is stopped" stop_between_writes "$(pid_of frozen)"
    stopped=$(boot_ms)
    ok "$STORE_NAME: its leases run out" wait_until $((LEASE_S + 2)) leases_are_over
    rm held
    is "$STORE_NAME: it still has checks" "$([ "$(pending)" -gt 0 ] && echo yes)" yes
    ok "$STORE_NAME: another takes over" wait_until 30 sweep_once
    is "$STORE_NAME: and settles all that was left" "$(archived) $(pending)" "$CHECKS 0"
    q "SELECT entity_key, engine FROM {future_job_history} ORDER BY 1, 2" >before
    woken=$(boot_ms)
    local workers; workers=$(workers_of "$(pid_of frozen)")
    kill -CONT "$(pid_of frozen)"
    join_within 20 frozen
    q "SELECT entity_key, engine FROM {future_job_history} ORDER BY 1, 2" >after
    ok "$STORE_NAME: the first one's settles change nothing" cmp before after
    has "$STORE_NAME: and it says so" "$(cat frozen.err)" "nothing was changed"
    settled_once "engine stopped"
    late=$(for worker in $workers; do awk -v w="$worker" -v after=$((stopped + TRUST_MS + 100)) \
        '$3 == w && $4 > after' journal; done | wc -l)
    is "$STORE_NAME: its workers started nothing once the trust was over" "$late" 0
}

everything() { at_once kill_engines kill_workers stopped_engine; }
on_each_store everything
