#!/usr/bin/env bash
# t_fair.sh - the few checks of a small tenant do not wait behind the many slow ones of a large one,
# in whichever parts of a slot they are, with one engine and with two; all of both are run, none
# twice, also when an engine is killed in between. With FULL=1: 50,000 checks of 100 ms, and that
# bench/fair.sh, which measures what the rounds cost, notices when they cost too much.
# about 30 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

LENGTH=60 LARGE=1500 SMALL=10 PAUSE_US=2000 SPLIT_AT=100
ALL=$((LARGE + SMALL))

# the_slot [SMALLS_TENANT]: of now, with checks of both, the small ones filed last
the_slot() {
    local now slot
    rm -f ran
    a_clean_store --slot-length ${LENGTH}s
    settings "workers = 4; workers_max = 4; split_at = $SPLIT_AT; page = 100;
              lease = \"2s\"; trust = \"1s\";" \
        "jobs = { look = { plugin = \"journal\";
                          settings = { file = \"$PWD/ran\"; pause_us = \"$PAUSE_US\"; }; }; };"
    now=$(date +%s) slot=$((now - now % LENGTH))
    fill "$LARGE" $slot look "'large-' || n"
    fill "$SMALL" $slot look "'small-' || n"
    q "UPDATE {future_job} SET tenant = 'large'"
    q "UPDATE {future_job} SET tenant = '${1:-small}' WHERE entity_key LIKE 'small%'"
}
lines() { wc -l <ran; }
different() { cut -d' ' -f1 ran | sort -u | wc -l; }
small_ran() { [ -e ran ] && [ "$(grep -c small- ran)" -ge $SMALL ]; }
# before_small: how many of the large one had run before the last of the small one had
before_small() { awk '/^small-/ { n = large; next } { large++ } END { print n + 0 }' ran; }
all_of_both() {
    is "$1: all are run, none of them twice" "$(different) $(lines) $(pending)" "$ALL $ALL 0"
    at_most "$1: of the large tenant before the last of the small one, of $LARGE" "$(before_small)" "$2"
}

# A worker that the machine keeps waiting has one of the small ones meanwhile, while the others run
# large ones. Without the round all 1500 would have run.
by_one_engine() {
    the_slot
    ok "$STORE_NAME: a run comes to its end" "$P" --quiet run
    all_of_both "$STORE_NAME" $((LARGE / 10))
}

# Where the slot is one lease, the others follow in the same one.
in_one_lease() {
    SPLIT_AT=100000 the_slot
    ok "$STORE_NAME, one lease: a run comes to its end" "$P" --quiet run
    all_of_both "$STORE_NAME, one lease" $((LARGE / 10))
}

# Of the one that gets no small one the other's are out of sight: it runs large ones from the
# beginning, and more of them where the machine gives the other less. Without the round all would
# have run.
by_two_engines() {
    local i
    the_slot
    for i in 1 2; do start "r$i" "$P" --quiet run; done
    for i in 1 2; do join "r$i"; done
    all_of_both "$STORE_NAME, two engines" $((LARGE / 3))
}

killed_in_between() {
    local LARGE=600 ALL=$((600 + SMALL))
    PAUSE_US=20000 the_slot
    start first "$P" --quiet run
    ok "$STORE_NAME: some have run" wait_until 20 small_ran
    local pid; pid=$(pid_of first)
    kill -KILL "$pid"
    join first
    at_least "$STORE_NAME: checks that wait after a kill" "$(pending)" 100
    wait_until 60 no_workers_of "$pid"
    start next "$P" --quiet daemon
    ok "$STORE_NAME: after a kill another one does the rest" wait_until 120 nothing_pending
    kill "$(pid_of next)"; join next
    is "$STORE_NAME: all are run" "$(different)" $ALL
}

# ms_of_small: from the first line of all to the last of a small one
ms_of_small() { awk 'NR == 1 { first = $4 } /^small-/ { last = $4 } END { print last - first }' ran; }
fifty_thousand() {
    local engines=$1 i
    LARGE=50000 PAUSE_US=100000 SPLIT_AT=2000 the_slot
    for ((i = 0; i < engines; i++)); do
        start "e$i" "$P" --quiet --set workers=$((8 / engines)) --set workers_max=$((8 / engines)) daemon
    done
    ok "$STORE_NAME: $engines engines: the ten have run" wait_until 60 small_ran
    at_most "$STORE_NAME: $engines engines: in ms, from the first of all" "$(ms_of_small)" 2000
    for ((i = 0; i < engines; i++)); do kill "$(pid_of "e$i")"; join "e$i"; done
}
within_two_seconds() { fifty_thousand 1; fifty_thousand 2; }

fair() { env BUILD="$(dirname "$P")" PAIRS=1 "$@" "$ROOT/bench/fair.sh" 200; }
cost_is_noticed() {
    ok "rounds that cost no more than they may" fair MOST=10000
    fails_with 1 "two tenants cost more than 1 %" fair MOST=1
}

on_each_store by_one_engine
on_each_store in_one_lease
on_each_store by_two_engines
on_each_store killed_in_between
if [ -n "${FULL:-}" ]; then
    on_each_store within_two_seconds
    if [ -n "$SERVER" ]; then cost_is_noticed; fi
fi
