# lib.sh - what the scenarios of the campaign share: a case (store, journal, plan of what was
# enqueued, log of faults), engines that are real processes, faults that are recorded when they are
# made, and the verdict. Sourced, first of all. README.md describes how to use it.

FAULTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 2
SCENARIO=$(basename "$0" .sh)
SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$((SEED % 32768))
LEASE_S=2 TRUST_MS=1000             # a scenario may set them before a_case
# how long after its slot a check may start while nothing is wrong, on a machine with other work
EPSILON_MS=${EPSILON_MS:-4000}
declare -A ENGINES=()               # name -> pid of the engines that run
ENGINE_BY=()                        # what starts an engine: words before it that exec it (see net.sh)
ALL_ENGINES=()                      # pids of all engines of this case, also of those that are over

. "$FAULTS/../acceptance_lib.sh"
unset PRESCIENT_CONNECT_TIMEOUT     # engines lose their server as they would in production
client_begins() { :; }              # servers go, and are frozen: each look connects anew
trap 'scenario_ends || exit 1' EXIT

# at_end COMMAND...: what a scenario made beside processes (servers, file systems, namespaces) is
# taken away by it, the last first, however the scenario ends. It must do no harm when that is gone
# already.
AT_END=()
at_end() { AT_END+=("$(printf '%q ' "$@")"); }

scenario_ends() {
    local name i
    trap '' INT TERM
    for name in "${!HELPERS[@]}"; do kill -KILL "${HELPERS[$name]}" 2>/dev/null; done
    processes_end
    [ "$FAILED" = 0 ] || [ -z "${FAULTS_EVIDENCE:-}" ] || keep_evidence "$FAULTS_EVIDENCE/$SCENARIO.$SEED"
    cd / || exit 2
    for ((i = ${#AT_END[@]} - 1; i >= 0; i--)); do eval "${AT_END[i]}" >/dev/null 2>&1; done
    finish
}

# What is left of a scenario that failed goes where it can be looked at; of servers and disks only
# their logs.
keep_evidence() {
    rm -rf "$1"
    mkdir -p "$1"
    tar -C "$TMP" --exclude=./pg*/data --exclude=./pg*/sock --exclude='./disk.*' -cf - . 2>/dev/null |
        tar -C "$1" -xf - 2>/dev/null
}

# needs CONDITION WORDS...: ends the scenario as skipped, with a message, when it cannot be run
# here.
needs() {
    local condition=$1; shift
    eval "$condition" >/dev/null 2>&1 && return
    echo "skipped - $*"
    exit 77
}
needs_root() { needs '[ "$(id -u)" = 0 ]' "it needs root"; }
needs_command() { local c; for c; do needs "command -v $c" "it needs the command $c"; done; }
needs_namespaces() { needs_root; needs 'unshare -mn true' "it needs the right to make namespaces"; }
needs_postgresql() { needs '[ -n "$SERVER" ]' "it needs PostgreSQL's initdb"; }

# on_stores STORE... FUNCTION: runs it with STORE_NAME and PRESCIENT_STORE set, on each of these
# stores (sqlite, postgresql) that is wanted (STORES) and there.
on_stores() {
    local run=${!#} wanted=" ${STORES:-sqlite postgresql} " db HERE
    for STORE_NAME in "${@:1:$#-1}"; do
        case $wanted in *" $STORE_NAME "*) ;; *) continue ;; esac
        db="prescient_$$_${run:0:40}"
        if [ "$STORE_NAME" = sqlite ]; then
            export PRESCIENT_STORE="sqlite:$TMP/$run.db"
        elif [ -n "$SERVER" ]; then
            new_database "$db" || continue
            export PRESCIENT_STORE=$HERE
        else
            continue
        fi
        "$run"
        unset PRESCIENT_STORE
    done
}
on_both_stores() { on_stores sqlite postgresql "$1"; }

# in_case NAME COMMAND...: only where NAME is among those asked for (CASES="NAME NAME"; none: all
# are)
in_case() { { [ -n "${CASES:-}" ] && [[ " $CASES " != *" $1 "* ]]; } || "${@:2}"; }

# ---- a case ----

now_us() { local t=$EPOCHREALTIME; echo "${t/[.,]/}"; }

# a_case NAME [LINE...]: an empty store with slots of a second, and prescient.cfg with these lines
# behind those that all cases share. From here on the scenario is in the folder of the case.
a_case() {
    CASE_NAME=$STORE_NAME.$1
    CASE=$TMP/$CASE_NAME
    CASE_BEGAN=$(now_ms)
    ENGINES=() ALL_ENGINES=()
    mkdir -p "$CASE/tmp" && cd "$CASE" || exit 2
    : >journal >plan >faults
    [ -z "${RUNNING[stalls]:-}" ] || { kill "${RUNNING[stalls]}"; join stalls; }
    start stalls python3 "$FAULTS/stalls.py" "$CASE/stalls"
    shift
    case_settings "$@"
    a_clean_store --slot-length "${SLOT_LENGTH:-1s}"
    echo "# $CASE_NAME: SEED=$SEED"
}

# witness NAME [SETTINGS]: a line of `jobs`: the job that writes each run into the case's journal.
# Its limits may be given. ENDS: it writes the ends of runs, too, into a file of that name.
witness() {
    local ends=${ENDS:+ends = \"$CASE/$ENDS\";}
    printf '%s = { plugin = "witness"; %s settings = { file = "%s/journal"; event = "ran"; %s }; };' \
        "$1" "${2:-batch = 1;}" "$CASE" "$ends"
}

# case_settings [LINE...]: writes prescient.cfg of the case again; JOB_LINES may hold other jobs
# than the one called witness.
case_settings() {
    settings "lease = \"${LEASE_S}s\"; trust = \"${TRUST_MS}ms\";" \
        'stop_timeout = "10s"; backoff_max = "2s";' \
        "jobs = { ${JOB_LINES:-$(witness witness "${WITNESS:-batch = 1;}")} };" "$@"
}

# ---- engines ----

# engine NAME [argument...]: a daemon (or the command given), in a session of its own; engine_pid
# NAME; its output is in NAME.err.
engine() {
    local name=$1; shift
    [ $# -gt 0 ] || set -- daemon
    start "$name" "${ENGINE_BY[@]}" env TMPDIR="$CASE/tmp" "$P" --log-level ${ENGINE_LOG:-info} "$@"
    ENGINES[$name]=$(pid_of "$name")
    ALL_ENGINES+=("${ENGINES[$name]}")
}
engine_pid() { echo "${ENGINES[$1]}"; }

# engine_over NAME: waits for it; CODE is its exit code.
engine_over() { join "$1"; unset "ENGINES[$1]"; }

# stop_engines: TERM to all that run; each must end in good order, in time, with its workers.
stop_engines() {
    local name pid
    for name in "${!ENGINES[@]}"; do kill -TERM "${ENGINES[$name]}" 2>/dev/null; done
    for name in "${!ENGINES[@]}"; do
        join_within 15 "$name"
        [ "$CODE" = 0 ] || [ "$CODE" = 1 ] || fail "$CASE_NAME: engine $name ends in good order" \
            "found:    exit code $CODE" "$(tail -3 "$name.err")"
        unset "ENGINES[$name]"
    done
    for pid in "${ALL_ENGINES[@]}"; do
        wait_until 2 no_workers_of "$pid" || fail "$CASE_NAME: no process of engine $pid is left" \
            "found:    $(workers_of "$pid" | tr '\n' ' ')"
    done
}

# engine_at_work: NAME of the engine that began the newest run, as soon as there is a new one; so a
# fault hits while there is something to hit.
engine_at_work() {
    local before name pid; before=$(runs)
    wait_until "${1:-5}" runs_at_least $((before + 1)) || return 1
    pid=$(tail -n 1 "$CASE/journal" | cut -f4)
    for name in "${!ENGINES[@]}"; do
        [ "${ENGINES[$name]}" != "$pid" ] || { echo "$name"; return; }
    done
    return 1
}

# worker_at_work: pid of the worker that began the newest run, as soon as there is a new one.
worker_at_work() {
    local before; before=$(runs)
    wait_until "${1:-5}" runs_at_least $((before + 1)) && tail -n 1 "$CASE/journal" | cut -f3
}

# a_worker PID: one of the workers of the engine PID, picked by the seed; nothing when it has none.
a_worker() {
    local list
    mapfile -t list < <(workers_but_keepers_of "$1")
    [ ${#list[@]} = 0 ] || echo "${list[RANDOM % ${#list[@]}]}"
}

# ---- faults ----

# Whom: engine:PID, worker:PID, store (all engines feel it), row:KEY. A fault that lasts has a
# beginning and an end.
fault_at() { printf '%s\tat\t%s\t%s\n' "$(now_us)" "$1" "$2" >>"$CASE/faults"; }
fault_begins() { printf '%s\tbegin\t%s\t%s\n' "$(now_us)" "$1" "$2" >>"$CASE/faults"; }
fault_ends() { printf '%s\tend\t%s\t%s\n' "$(now_us)" "$1" "$2" >>"$CASE/faults"; }

# signal_engine NAME SIGNAL; the fault is in the log before it is made.
signal_engine() { fault_at "$2" "engine:${ENGINES[$1]}"; kill -"$2" "${ENGINES[$1]}"; }

# kill_engine NAME: SIGKILL, and its workers die with it within a second.
kill_engine() {
    local pid=${ENGINES[$1]}
    signal_engine "$1" KILL
    engine_over "$1"
    wait_until 1 no_workers_of "$pid" || fail "$CASE_NAME: no worker outlives its engine by a second" \
        "found:    $(workers_of "$pid" | tr '\n' ' ')"
}

# stop_between_writes PID: SIGSTOP. SQLite: an engine that is stopped in the middle of a write keeps
# the file locked, which no lease can help; it is stopped between two.
file_is_free() {
    [ "$STORE_NAME" = postgresql ] || sqlite3 -batch -cmd '.timeout 200' \
        "${PRESCIENT_STORE#sqlite:}" 'BEGIN IMMEDIATE; ROLLBACK' 2>/dev/null
}
stop_between_writes() {
    local n
    for n in {1..80}; do
        kill -STOP "$1"
        file_is_free && return
        kill -CONT "$1"
        sleep 0.007
    done
    return 1
}

# past_its_lease NAME [SECONDS]: that engine is stopped for longer than its leases last, or so long,
# and goes on then.
past_its_lease() {
    local pid; pid=$(engine_pid "$1")
    fault_begins STOP "engine:$pid"
    if stop_between_writes "$pid"; then sleep "${2:-$((LEASE_S + 1))}"; else
        fail "$CASE_NAME: engine $1 is stopped between two writes"
    fi
    kill -CONT "$pid"
    fault_ends STOP "engine:$pid"
}

# signal_worker PID SIGNAL
signal_worker() { fault_at "$2" "worker:$1"; kill -"$2" "$1" 2>/dev/null; }

# ---- writers ----

declare -A HELPERS=()

# write_checks NAME option...: tests/faults/writer.py in the background, from the seed; `plan` has
# what it wrote and what was acknowledged.
write_checks() {
    local name=$1; shift
    python3 "$FAULTS/writer.py" --store "$PRESCIENT_STORE" --program "$P" \
        --plan "$CASE/plan" --seed "$SEED" --prefix "$name." "$@" 2>"$CASE/$name.err" &
    HELPERS[$name]=$!
}
# written NAME: waits for it.
written() {
    local code=0
    wait "${HELPERS[$1]}" || code=$?
    unset "HELPERS[$1]"
    [ "$code" = 0 ] || fail "$CASE_NAME: writer $1 writes its checks" "$(tail -5 "$CASE/$1.err")"
}

# a_folder_in_memory: makes FOLDER, in memory where that can be had: what is synced thousands of
# times and never has to outlive anything.
a_folder_in_memory() {
    FOLDER=$(mktemp -d /dev/shm/pf.XXXXXX 2>/dev/null) || FOLDER=$(mktemp -d "$TMP/folder.XXXXXX")
    at_end rm -rf "$FOLDER"
}

# ---- conditions ----

runs() { wc -l <"$CASE/journal"; }
runs_at_least() { [ "$(runs)" -ge "$1" ]; }
no_lease() { [ "$(leases)" = 0 ]; }
drained() { nothing_pending && no_lease; }

# ---- the verdict ----

# An engine that is idle has its store connections, signals, log and a socket and a pipe per worker;
# what is beyond that has leaked.
no_descriptor_leaked() {
    local name pid open most
    for name in "${!ENGINES[@]}"; do
        pid=${ENGINES[$name]}
        most=$((24 + 4 * $(workers_of "$pid" | wc -l)))
        open=$(ls "/proc/$pid/fd" 2>/dev/null | wc -l)
        [ "$open" -le $most ] || {
            fail "$CASE_NAME: engine $name leaks no descriptor" "found:    $open open" \
                "expected: at most $most"; return
        }
    done
    pass "$CASE_NAME: no engine leaks descriptors"
}

# What an engine ever had in memory does not depend on what went wrong. (A sanitizer has memory of
# its own.)
peak_kib() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status"; }
no_engine_grows() {
    local name peak
    [ -z "${SANITIZE:-}" ] || return 0
    for name in "${!ENGINES[@]}"; do
        peak=$(peak_kib "${ENGINES[$name]}")
        [ "${peak:-0}" -le 131072 ] || {
            fail "$CASE_NAME: engine $name keeps within its memory" "found:    $peak KiB at most" \
                "expected: 131072"; return
        }
    done
    pass "$CASE_NAME: all engines keep within their memory"
}

# verdict F [option of check.py...]: the faults are over. All work is done within T (LIVE_S), the
# engines end in good order and leave nothing, and journal, plan, faults and store agree. One line
# for the table of docs/reliability.md is written.
verdict() {
    local f=$1 before=$FAILED result; shift
    FAILED=0
    ok "$CASE_NAME: all work is done within ${LIVE_S:=$((LEASE_S * 2 + 8))} s of the last fault" wait_until \
        "$LIVE_S" drained
    no_descriptor_leaked
    no_engine_grows
    stop_engines
    is "$CASE_NAME: no lease is left" "$(leases)" 0
    is "$CASE_NAME: no temporary file is left" "$(ls -A "$CASE/tmp")" ""
    ok "$CASE_NAME: journal, plan, faults and store agree" \
        python3 "$FAULTS/check.py" --case "$CASE" --store "$PRESCIENT_STORE" --summary "$CASE/summary" \
        --epsilon-ms "$EPSILON_MS" --lease-ms $((LEASE_S * 1000)) "$@"
    result=passed
    [ "$FAILED" = 0 ] || result=failed
    read -r RUNS RERUNS LONGEST_MS < <(cat "$CASE/summary" 2>/dev/null || echo "0 0 0")
    record "$f" "$result"
    [ "$before" = 0 ] || FAILED=1
    cd "$TMP" || exit 2
}

# record F RESULT: the line, from RUNS, RERUNS, LONGEST_MS; for scenarios that judge themselves,
# too.
record() {
    printf '# %s %s: %s runs, %s of them again, longest delay %s ms, %s s\n' "$1" \
        "$CASE_NAME" "$RUNS" "$RERUNS" "$LONGEST_MS" $((($(now_ms) - CASE_BEGAN) / 1000))
    [ -z "${FAULTS_RESULTS:-}" ] ||
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$SCENARIO" "$SEED" \
            "$STORE_NAME" "${CASE_NAME#*.}" "$RUNS" "$RERUNS" "$LONGEST_MS" "$2" >>"$FAULTS_RESULTS"
}
