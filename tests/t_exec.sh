#!/usr/bin/env bash
# t_exec.sh - no process of a command is left: not past the timeout, nor when the worker, the engine
# or the guard is killed, though the command ignores SIGTERM, has children, a hundred of them, or
# was stopped.
# about 30 s
# night: it kills, waits or judges time for minutes
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

SLOT=1700000100

# stubborn NAME: the settings of a job whose command notes its process, starts a child, and stays.
stubborn() {
    cat <<CFG
$1 = { plugin = "exec"; timeout = "$2"; max_failures = 0; settings = {
    command = [ "sh", "-c", "trap '' TERM; sleep 100 & echo \$\$ >\$PRESCIENT_ENTITY_KEY.new;
        mv \$PRESCIENT_ENTITY_KEY.new \$PRESCIENT_ENTITY_KEY.pid; while :; do sleep 100; done" ];
    dir = "$PWD"; }; };
CFG
}
# members GROUP: its processes that live.
members() {
    local file stat
    for file in /proc/[0-9]*/stat; do
        { read -r stat <"$file"; } 2>/dev/null || continue
        file=${file//[!0-9]/}
        read -ra stat <<<"${stat##*) }"         # state, parent, group, ...
        [ "${stat[2]}" != "$1" ] || [ "${stat[0]}" = Z ] || echo "$file"
    done
}
# All processes are looked through only while the group has a process, be it a zombie.
is_gone() { ! kill -0 -- "-$1" 2>/dev/null || [ -z "$(members "$1")" ]; }
parent_of() { sed -E 's/.*\) . ([0-9]+) .*/\1/' "/proc/$1/stat"; }
comm_of() { cat "/proc/$1/comm" 2>/dev/null; }

# begins KEY [JOB]: an engine runs a check of the job, `stays`; LEADER, GUARD and WORKER are its
# processes.
begins() {
    rm -f ./*.pid
    q "DELETE FROM {future_job}"
    fill 1 "$SLOT" "${2:-stays}" "'$1'"
    start engine "$P" --quiet --log-level error run --slot $SLOT
    wait_until 30 test -e "$1.pid" || { fail "$STORE_NAME: $1: it is started"; return 1; }
    LEADER=$(cat "$1.pid") GUARD=$(parent_of "$LEADER") WORKER=$(parent_of "$GUARD")
    wait_until 30 has_child || { fail "$STORE_NAME: $1: with a child"; return 1; }
}
has_many() { [ "$(members "$LEADER" | wc -l)" -ge 100 ]; }
has_child() { [ "$(members "$LEADER" | wc -l)" -ge 2 ]; }

# ends WHAT: from now on, within a second, its group is gone, and the guard with it. Instrumented
# programs run beside each other, several times as slow. Where much more is to be run than there are
# processors, the guard waits for one as all do, and so do we to see it: then only that it kills is
# asked for, as a group that is left alone stays for a minute.
MOST_MS=1000
[ -z "${SANITIZE:-}${COVERAGE:-}" ] || MOST_MS=3000
is_crowded() {
    local load runnable most=$((2 * $(nproc)))
    read -r load _ _ runnable _ </proc/loadavg
    [ "${load%.*}" -ge $most ] || [ "${runnable%/*}" -gt $most ]
}
ends() {
    local began most=$MOST_MS; began=$(now_ms)
    is_crowded && most=30000
    wait_until 40 is_gone "$LEADER"
    local took=$(($(now_ms) - began))
    is_crowded && most=30000
    in_time "$STORE_NAME: $1: its group is gone" $took $most
    wait_until 30 is_over "$GUARD" || fail "$STORE_NAME: $1: its guard is gone"
}
engine_ends() { [ -z "${RUNNING[engine]:-}" ] || join_within 60 engine; }
outcome() { q "SELECT outcome, note FROM {future_job_history} WHERE entity_key = '$1'"; }

nothing_is_left() {
    a_clean_store
    settings 'lease = "2s"; trust = "1s"; workers = 1;' "jobs = { $(stubborn stays 60s) $(stubborn brief 1s)
        polite = { plugin = \"exec\"; timeout = \"1s\"; max_failures = 0; settings = {
            command = [ \"sh\", \"-c\", \"trap 'echo cleaned >polite.cleaned; exit' TERM; sleep 100 &
                echo \$\$ >new; mv new polite.pid; wait\" ]; dir = \"$PWD\"; }; };
        bomb = { plugin = \"exec\"; timeout = \"3s\"; max_failures = 0; settings = { dir = \"$PWD\";
            command = [ \"sh\", \"-c\", \"trap '' TERM; echo \$\$ >new; mv new bomb.pid;
                more() { [ \$1 = 0 ] || { more \$((\$1 - 1)) & more \$((\$1 - 1)) & }; sleep 100; };
                more 5\" ]; }; };
        leaves = { plugin = \"exec\"; settings = { dir = \"$PWD\";
            command = [ \"sh\", \"-c\", \"sleep 100 & echo \$\$ >leaves.pid\" ]; }; }; };"

    begins worker && kill -KILL "$WORKER" && ends "the worker is killed"
    engine_ends
    is "$STORE_NAME: the check has crashed" "$(outcome worker)" "crashed|killed by SIGKILL"

    begins engine && kill -KILL "$(pid_of engine)" && ends "the engine is killed"
    engine_ends

    wait_until 30 no_leases_are_held
    begins both && kill -KILL "$WORKER" "$(pid_of engine)" && ends "both are killed"
    engine_ends

    wait_until 30 no_leases_are_held
    begins stopped && kill -STOP -- "-$LEADER" && kill -KILL "$WORKER" && ends "it is stopped"
    engine_ends

    begins late brief && join_within 60 engine && ends "past its timeout"
    is "$STORE_NAME: the check has timed out" "$(outcome late)" "timeout|no answer within 1000 ms"

    begins bomb bomb && { wait_until 30 has_many || fail "$STORE_NAME: a bomb has a hundred processes"; }
    join_within 60 engine; ends "it forks on and on"
    has "$STORE_NAME: and has timed out" "$(outcome bomb)" "timeout"

    begins polite polite; join_within 60 engine; ends "it ends by SIGTERM"
    is "$STORE_NAME: and may clean up" "$(cat polite.cleaned)" cleaned

    begins guard && is "$STORE_NAME: the guard's name" "$(comm_of "$GUARD")" "exec guard"
    kill -KILL "$GUARD"
    wait_until 30 is_over "$LEADER" || fail "$STORE_NAME: a command without its guard ends"
    engine_ends
    has "$STORE_NAME: a killed guard is told" "$(outcome guard)" "failed|the guard of "
    kill -KILL -- "-$LEADER" 2>/dev/null

    fill 1 $SLOT leaves "'leaves'"
    ok "$STORE_NAME: a command leaves a child behind" "$P" --quiet --log-level error run --slot $SLOT
    is "$STORE_NAME: it has ended well" "$(outcome leaves)" "done|"
    is "$STORE_NAME: the child is gone" "$(members "$(cat leaves.pid)")" ""
}
# What a dead engine held runs out.
no_leases_are_held() {
    case $STORE_NAME in
    sqlite) [ "$(q "SELECT count(*) FROM {slot_lease} WHERE owner IS NOT NULL
        AND expires_at_us > strftime('%s', 'now') * 1000000")" = 0 ] ;;
    *) [ "$(q "SELECT count(*) FROM {slot_lease} WHERE owner IS NOT NULL AND expires_at > now()")" = 0 ] ;;
    esac
}
on_each_store nothing_is_left
