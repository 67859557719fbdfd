#!/usr/bin/env bash
# cli_held.sh - a check runs beyond its slot in one daemon: what that means to another one, which
# has the leases of all slots of that time but this one.
# about 15 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

logged() { grep -q "$2" "$1.err"; }
outcome() { q "SELECT outcome FROM {future_job_history} WHERE entity_key = '$1'"; }
is_done() { [ "$(outcome "$1")" = done ]; }
later() { "$P" --quiet enqueue orders "$1" "$2" now >/dev/null; }
# of the slot that is told of most often
held_lines() {
    grep 'leases held by others' "$1.err" | grep -v ' 0 leases' | grep -o '2[0-9T:-]*Z: ' | sort | uniq -c |
        sort -rn | awk 'NR == 1 { print $1 }'
}
a_daemon() {
    start "$@" daemon
    wait_until 20 logged "$1" "it serves" || fail "$1 serves" "$(cat "$1.err")"
}

plugin waits "
    close(creat(\"$PWD/waits.began\", 0666));
    while (access(\"$PWD/waits.may_end\", F_OK))
        usleep(10000);
    prescient_done(answer);" '#include <fcntl.h>'

# It looked twice a second for as long as that took, and told of it each time.
is_left_alone() {
    local s=$STORE_NAME i
    a_clean_store --slot-length 1s
    rm -f waits.began waits.may_end
    settings 'workers = 1; lease = "4s"; trust = "2s"; jobs = { noop = { plugin = "noop"; };
        waits = { plugin = "waits"; }; };'
    sed -i '1s|(|("jobs", |' prescient.cfg
    a_daemon "holds.$s" "$P"
    later long waits
    ok "$s: a check has begun" wait_until 20 test -e waits.began
    a_daemon "other.$s" "$P"
    for i in 1 2 3 4; do
        later $i noop
        ok "$s: beside it, check $i is run" wait_until 20 is_done $i
    done
    at_least "$s: the other engine tells that it cannot have that slot" "$(held_lines "other.$s")" 1
    at_most "$s: and not again and again" "$(held_lines "other.$s")" 2
    kill -KILL "$(pid_of "holds.$s")"
    join "holds.$s"
    : >waits.may_end
    ok "$s: and has it when that one is gone" wait_until 40 is_done long
    kill -TERM "$(pid_of "other.$s")"
    join_within 20 "other.$s"
}
on_each_store is_left_alone
