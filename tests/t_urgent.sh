#!/usr/bin/env bash
# t_urgent.sh - checks with a priority below 0 are run before others: in a slot whichever of its
# parts they are in, after an outage before the others of all late slots; none is lost when an
# engine is killed in between. 100,000 checks with FULL=1.
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

LENGTH=60 SLOTS=20 EACH=300
[ -z "${FULL:-}" ] || SLOTS=50 EACH=2000
ALL=$((SLOTS * EACH)) URGENT=$((SLOTS * EACH / 100))

# While the file `held` is there, each of the four workers runs five checks and begins a sixth.
the_store() {
    rm -f ran held
    a_clean_store --slot-length ${LENGTH}s
    settings 'workers = 4; workers_max = 4; split_at = 100; slab = 16; lease = "2s"; trust = "1s";' "jobs = {
        look = { plugin = \"journal\"; settings = { file = \"$PWD/ran\";
                                                    hold = \"$PWD/held\"; hold_after = 5; }; }; };"
}
# fill_slot N SLOT PREFIX: one in a hundred is urgent, and filed behind others.
fill_slot() {
    fill "$1" "$2" look "'$3-' || n || CASE WHEN n % 100 = 99 THEN '-urgent' ELSE '' END"
    q "UPDATE {future_job} SET priority = -1 WHERE entity_key LIKE '%-urgent' AND priority = 0"
}
now_s() { date +%s; }
slot_of_now() { local now; now=$(now_s); echo $((now - now % LENGTH)); }
lines() { wc -l <ran; }
begun_at_least() { [ -e ran ] && [ "$(lines)" -ge "$1" ]; }
urgent_begun() { grep -c -- -urgent ran; }
different() { cut -d' ' -f1 ran | sort -u | wc -l; }
# others_before: how many others had begun before the last urgent one did. A few, while a worker has
# the last urgent ones in hand; where the machine puts that one aside, hundreds. Of checks in no
# order they are nearly all.
a_few() { if judges_time; then echo $((ALL / 50)); else echo $((ALL / 5)); fi; }
others_before() { awk '/-urgent/ { n = others; next } { others++ } END { print n + 0 }' ran; }
run_in_all() { q "SELECT coalesce(sum(run), 0) FROM {slot_pass}"; }

after_an_outage() {
    local now i
    the_store
    now=$(slot_of_now)
    for ((i = SLOTS; i > 0; i--)); do fill_slot $EACH $((now - i * LENGTH)) $i; done
    ok "$STORE_NAME: a sweep comes to its end" "$P" --quiet sweep
    is "$STORE_NAME: all are run, none of them twice" "$(different) $(lines) $(pending)" "$ALL $ALL 0"
    is "$STORE_NAME: among them the urgent ones of all slots" "$(urgent_begun)" $URGENT
    at_most "$STORE_NAME: others that have begun before the last of these, of $ALL" \
        "$(others_before)" $(a_few)
    is "$STORE_NAME: what engines did in the slots is counted once" "$(run_in_all)" $ALL
}

in_a_slot_at_its_time() {
    the_store
    fill_slot $ALL "$(slot_of_now)" a
    ok "$STORE_NAME: a run comes to its end" "$P" --quiet run
    is "$STORE_NAME: all of the slot are run, none of them twice" "$(different) $(lines) $(pending)" \
        "$ALL $ALL 0"
    at_most "$STORE_NAME: others that have begun before the last urgent one, of $ALL" \
        "$(others_before)" $(a_few)
    is "$STORE_NAME: what an engine did in the slot is counted once" "$(run_in_all)" $ALL
}

# Two engines, and one of them dies in the first round of a slot.
killed_in_the_first_round() {
    the_store
    touch held
    fill_slot $ALL "$(slot_of_now)" b
    start first "$P" --quiet run
    ok "$STORE_NAME: urgent ones have begun" wait_until 20 begun_at_least 24
    local pid; pid=$(pid_of first)
    kill -KILL "$pid"
    join first
    is "$STORE_NAME: and no others" "$(urgent_begun)" "$(lines)"
    rm held
    wait_until 60 no_workers_of "$pid"
    local i
    for i in 1 2; do start "e$i" "$P" --quiet daemon; done
    ok "$STORE_NAME: daemons do the rest" wait_until 120 nothing_pending
    for i in 1 2; do kill "$(pid_of "e$i")"; join "e$i"; done
    is "$STORE_NAME: all are run" "$(different)" $ALL
}

on_each_store after_an_outage
on_each_store in_a_slot_at_its_time
on_each_store killed_in_the_first_round
