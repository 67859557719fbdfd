#!/usr/bin/env bash
# f10_no_resources.sh - F10: fork fails (EAGAIN), no descriptor is left (EMFILE), and the pipe for a
#     job's output is full
# PASS: the engine logs it, backs off without spinning, and recovers by itself; nothing runs twice.
. "$(dirname "$0")/lib.sh"
needs_command prlimit

# CPU of the engine so far, in ms
cpu_ms() { local s; read -ra s <<<"$(sed 's/.*) //' "/proc/$1/stat")"; echo $(((s[11] + s[12]) * 10)); }

# fails_for SECONDS WORDS: what the engine may use of the processor meanwhile, and that its log has
# WORDS.
fails_for() {
    local pid before; pid=$(engine_pid one)
    before=$(cpu_ms "$pid")
    sleep "$1"
    at_most "$CASE_NAME: it does not spin meanwhile (ms of CPU in $1 s)" \
        $(($(cpu_ms "$pid") - before)) $(($1 * 300))
    has "$CASE_NAME: it says: $2" "$(cat one.err)" "$2"
    ok "$CASE_NAME: it lives" alive one
}

# fork() fails while the file of the case asks for it.
no_fork() {
    WITNESS='batch = 1;' a_case fork 'workers = 2; worker_checks = 20;'
    ${CC:-cc} -shared -fPIC -o no_fork.so -x c - <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
pid_t fork(void)
{
    const char *file = getenv("NO_FORK");
    if (file && !access(file, F_OK))
        return errno = EAGAIN, -1;
    return ((pid_t (*)(void))dlsym(RTLD_NEXT, "fork"))();
}
C
    start one env TMPDIR="$CASE/tmp" NO_FORK="$CASE/no_fork" LD_PRELOAD="$CASE/no_fork.so" "$P" daemon
    ENGINES[one]=$(pid_of one) ALL_ENGINES+=("$(pid_of one)")
    write_checks w --checks 600 --over 6 --mix plain
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 20
    fault_begins fork store
    touch no_fork
    fails_for 4 "cannot start a worker: fork"
    rm no_fork
    fault_ends fork store
    written w
    LIVE_S=40 verdict F10
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}

# Workers are replaced all the time, and each new one needs descriptors.
no_descriptors() {
    local pid
    WITNESS='batch = 1;' a_case files 'workers = 2; worker_checks = 20;'
    engine one
    pid=$(engine_pid one)
    write_checks w --checks 600 --over 6 --mix plain
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 20
    fault_begins EMFILE store
    prlimit --pid "$pid" --nofile=9:1024
    fails_for 4 "Too many open files"
    prlimit --pid "$pid" --nofile=1024:1024
    fault_ends EMFILE store
    written w
    LIVE_S=40 verdict F10
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}

# The engine is stopped while jobs print more than a pipe holds: they wait, and continue with it.
full_pipe() {
    WITNESS='batch = 1; max_failures = 10;' a_case pipe 'workers = 2;'
    engine one
    write_checks w --checks 40 --over 1 --mix chatty
    ok "$CASE_NAME: a job prints" wait_until 10 runs_at_least 2
    fault_begins STOP "engine:$(engine_pid one)"
    kill -STOP "$(engine_pid one)"
    sleep 0.7
    kill -CONT "$(engine_pid one)"
    fault_ends STOP "engine:$(engine_pid one)"
    written w
    LIVE_S=30 verdict F10
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}

[ -n "${SANITIZE:-}" ] || on_both_stores no_fork
on_both_stores no_descriptors
on_both_stores full_pipe
