#!/usr/bin/env bash
# t_inside.sh - a job reports what it finds around it: no way to new rights, limits, nothing
# inherited, nothing of the engine's memory, system calls that no job needs refused; and what
# happens to its children and its state when the engine ends, in whatever way.
# not under sanitizers
# night: it waits for timeouts
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
STORE_NAME=sqlite PRESCIENT_STORE=sqlite:$TMP/store.db; export PRESCIENT_STORE
SLOT=1700000100

# questions LINE... : a pass over a check for each; the answers are in the history. MORE has further
# lines of the settings.
questions() {
    local question
    a_clean_store
    for question; do fill 1 $SLOT inside "'$question'"; done
    "$P" --quiet run --slot $SLOT >.out 2>engine.err
}
answer() { q "SELECT note FROM {future_job_history} WHERE entity_key = '$1'"; }
asks() { is "$1" "$(answer "$2")" "$3"; }

calls_refused="ptrace process_vm_readv process_vm_writev mount umount chroot unshare setns
    clone_namespace init_module delete_module kexec_load
    bpf reboot syslog keyctl add_key perf_event_open userfaultfd personality sethostname clock_settime
    tiocsti"
calls_unknown="clone3 io_uring"
calls_needed="fork thread exec socket"
calls=(); for name in $calls_refused $calls_unknown $calls_needed; do calls+=("call $name"); done

SECRET=planted-9f3b
around() {
    local engine_user=$1
    PRESCIENT_ENGINE_NAME=$SECRET AWS_SECRET_ACCESS_KEY=$SECRET questions "self" \
        "limits" "variables" "descriptors" "status NoNewPrivs" "status Seccomp" "status CapEff" \
        "status CapPrm" "status CapAmb" "status Uid" "status Gid" "status Groups" \
        "read /proc/PARENT/environ" "read /proc/PARENT/mem" "alone" "${calls[@]}" 9</dev/null
    asks "$engine_user: leads its group, private files, no core or memory outside, dies with its engine" \
        self "leader=1 umask=077 dumpable=0 dies_by=9 no_new_privs=1"
    asks "$engine_user: limits are those of the settings" limits \
        "core=0/0 memory=300000000/300000000 files=64/64 processes=$PROCESSES file_size=1048576/1048576"
    is "$engine_user: its environment is a list of what is harmless" \
        "$(answer variables | tr ' ' '\n' |
            grep -vxE 'PATH|HOME|LANG|LC_ALL|TZ|GCOV_PREFIX|ASAN_OPTIONS|UBSAN_OPTIONS|LSAN_OPTIONS' |
            tr '\n' ' ')" ""
    # Open for itself; what it executes gets the first three.
    is "$engine_user: open are an empty stdin, two pipes, the engine's socket, its plug-in and its slab" \
        "$(answer descriptors | tr ' ' '\n' |
            grep -vE "^([12]=pipe:\(kept\)|0=/dev/null\(kept\)|3=socket:|[0-9]+=$TEST_JOBS/inside.so)\$" |
            tr '\n' ' ')" ""
    asks "$engine_user: new rights are out of reach" "status NoNewPrivs" 1
    asks "$engine_user: a filter is on" "status Seccomp" 2
    asks "$engine_user: the engine's environment is closed to other users, and to others of the same user" \
        "read /proc/PARENT/environ" "$ENVIRONMENT"
    asks "$engine_user: so is its memory" "read /proc/PARENT/mem" "$MEMORY"
    asks "$engine_user: whoever waits for all of its children waits for its own" alone 1
    local name
    for name in $calls_refused; do asks "$engine_user: refused: $name" "call $name" EPERM; done
    for name in $calls_unknown; do asks "$engine_user: unknown: $name" "call $name" ENOSYS; done
    for name in $calls_needed; do asks "$engine_user: allowed: $name" "call $name" ok; done
}

limits='workers = 1; worker_memory = 300000000; worker_files = 64; worker_processes = 5000;
        worker_file_size = "1MiB";'
job="jobs = { inside = { plugin = \"inside\"; timeout = \"20s\"; }; };"

settings "$limits" "$job"
# Root can read everything, which is why there is worker_user; nothing is at address 0 for anyone.
if [ "$(id -u)" = 0 ]; then ENVIRONMENT=read MEMORY=EIO; else ENVIRONMENT=EACCES MEMORY=EACCES; fi
PROCESSES="5000/5000"
around "$(id -un)"

if [ "$(id -u)" = 0 ]; then
    settings "$limits" "$job" 'worker_user = "nobody";'
    chmod 755 "$TMP"
    ENVIRONMENT=EACCES MEMORY=EACCES
    around "root with worker_user"
    id=$(id -u nobody) group=$(id -g nobody)
    asks "worker_user: the user" "status Uid" "$id	$id	$id	$id"
    asks "worker_user: the group" "status Gid" "$group	$group	$group	$group"
    is "worker_user: no other groups" "$(answer "status Groups" | tr -d ' ')" "$(id -G nobody | tr -d ' ')"
    for set in CapEff CapPrm CapAmb; do
        asks "worker_user: no capabilities: $set" "status $set" 0000000000000000
    done

    # Plug-ins in a folder that the worker's user cannot even enter: they are opened before.
    mkdir -m 700 closed && cp "$TEST_JOBS/inside.so" closed/ && chmod 644 closed/inside.so
    echo "plugin_dirs = [\"$TMP/closed\"]; $job worker_user = \"nobody\"; workers = 1;" >prescient.cfg
    questions "status Uid" "read $TMP/closed/inside.so"
    asks "worker_user: a plug-in behind a closed door is loaded" "status Uid" "$id	$id	$id	$id"
    asks "worker_user: the door is closed" "read $TMP/closed/inside.so" EACCES

    # A plug-in that the worker's user could write is refused: it would be its own next engine.
    fill 1 $((SLOT + 900)) inside                # workers are started when there is work
    settings "$job" 'worker_user = "nobody";'; sed -i "s|$TEST_JOBS|$TMP/theirs|" prescient.cfg
    mkdir theirs && cp "$TEST_JOBS/inside.so" theirs/ && chown nobody theirs/inside.so
    fails_with 78 "theirs/inside.so belongs to user $id; expected root" "$P" run --slot $((SLOT + 900))
    settings "$job" 'worker_user = "no-such-user";'
    fails_with 78 "worker_user: there is no user 'no-such-user'" "$P" run --slot $((SLOT + 900))
fi

# Only an engine of root's can run its workers as another user; one of another user reports that it
# cannot. Root tries it as nobody.
not_root=(); [ "$(id -u)" != 0 ] || not_root=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir -m 777 others
told_about() {
    local PRESCIENT_STORE=sqlite:$TMP/others/store.db
    settings "$limits" "$job" "worker_user = \"$1\";"
    rm -f others/store.db*
    "${not_root[@]}" "$P" --quiet init >/dev/null
    fill 1 $SLOT inside "'status Uid'"
    "${not_root[@]}" "$P" --quiet run --slot $SLOT 2>others.err
    echo "$(grep -c "worker_user is '$1', but only an engine started by root" \
        others.err) time, $(answer "status Uid" | cut -f1)"
}
id=$("${not_root[@]}" id -u)
if "${not_root[@]}" test -x "$P" -a -r "$TEST_JOBS/inside.so"; then
    is "worker_user, and the engine is not root's: its workers stay its own user, and it says so" \
        "$(told_about root)" "1 time, $id"
    is "nothing is said where that is the same user" \
        "$(told_about "$("${not_root[@]}" id -un)")" "0 time, $id"
else
    echo "# the user nobody cannot reach $P: an engine that is not root's is not tried"
fi

settings "$limits" "$job" 'worker_seccomp = "off";'
questions "status Seccomp" "call process_vm_readv" "call ptrace"
asks "worker_seccomp = off: no filter" "status Seccomp" 0
asks "worker_seccomp = off: what was refused is not" "call process_vm_readv" ok
asks "worker_seccomp = off: nor this" "call ptrace" ok
settings "$job" 'worker_seccomp = "perhaps";'
fails_with 78 "expected one of on, off" "$P" run --slot $SLOT

# ---- children, and an engine that is killed ----

children_of_a_killed_engine() {
    settings 'workers = 2; workers_max = 2;' "$job"
    a_clean_store
    rm -f brood
    fill 2 $SLOT inside "'brood $TMP/brood' || CASE n WHEN 1 THEN '' ELSE '2' END"
    start engine "$P" run --slot $SLOT
    ok "two jobs have children of every kind" wait_until 20 are_there 8
    local engine workers; engine=$(pid_of engine)
    workers=$(workers_of "$engine" | wc -l)
    [ -z "$2" ] || kill -"$2" $(workers_of "$engine" | grep -vxF -f <(cat brood brood2))
    kill -"$1" "$engine"
    ok "SIG$1 to the engine${2:+, SIG$2 to its workers before}: of $workers processes none is left in 1 s" \
        wait_until 1 no_workers_of "$engine"
    join engine
}
are_there() { [ "$(cat brood brood2 2>/dev/null | wc -l)" = "$1" ]; }
children_of_a_killed_engine KILL ""
rm -f brood brood2
children_of_a_killed_engine KILL STOP

# ---- what is open is closed ----

closing() {
    rm -f closed.*
    settings "workers = 2; jobs = { inside = { plugin = \"inside\"; settings = {
                closed = \"$TMP/closed.job\"; ${1:-} }; }; };"
    a_clean_store
    fill 4 $SLOT inside "'self' || n"
}
closing
"$P" --quiet run --slot $SLOT >.out 2>.err
ok "a run closes its jobs" test -e closed.job
closing 'slowly = "30s";'
began=$(now_ms)
"$P" --quiet run --slot $SLOT >.out 2>.err
in_time "one that does not come to an end is ended" $(($(now_ms) - began)) 6000
is "and the run is as good as any" "$? $(archived)" "0 4"
closing
start daemon "$P" daemon
ok "a daemon runs them" wait_until 20 archived_at_least 4
kill -TERM "$(pid_of daemon)"
join_within 10 daemon
ok "a daemon that is stopped closes its jobs" test -e closed.job
closing 'slowly = "30s";'
start daemon "$P" daemon
ok "a daemon with a job that does not close runs them" wait_until 20 archived_at_least 4
began=$(now_ms)
kill -TERM "$(pid_of daemon)"; sleep 0.2; kill -TERM "$(pid_of daemon)"
join_within 10 daemon
in_time "a second signal does not wait for that" $(($(now_ms) - began)) 1900
