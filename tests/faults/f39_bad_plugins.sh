#!/usr/bin/env bash
# f39_bad_plugins.sh - F39: plug-ins could have been written by others, are not plug-ins, kill their
#     loader, are exchanged
# PASS: refused with a message, where it matters before any of their code runs; the others run; what
# runs is the right code.
# quick
. "$(dirname "$0")/lib.sh"

umask 022                           # a group that may write is one of the cases, not the rule
SLOT=1700000100                     # long over: `run --slot` runs it
EACH=30                             # checks of each job
RAN=0                               # checks that were run, for the record

# code NAME [CODE]: the plug-in jobs/NAME.so, which answers with its own name, with CODE in front of
# it.
code() { plugin "$1" "prescient_note(answer, \"$1\"); prescient_done(answer);" "#include <fcntl.h>
#include <signal.h>
${2:-}"; }
# in_open NAME CODE: the same, with CODE in its open().
in_open() {
    code "$1"
    sed -i "s/\*state = (void \*)host;/*state = (void *)host; $2/" "$1.c"
    "${CC:-cc}" -shared -fPIC -I"$ROOT/include" -o "jobs/$1.so" "$1.c"
}
# tells NAME: a plug-in that leaves a mark when it is loaded, before any of its functions is called.
tells() {
    code "$1" "__attribute__((constructor)) static void tell(void)
        { close(open(\"$PWD/loaded.$1\", O_CREAT | O_WRONLY, 0600)); }"
}

# cfg DIR NAME...: a folder and these jobs, in an order that the seed draws.
cfg() {
    local dirs=$1 name; shift
    {
        echo "plugin_dirs = [$dirs];"
        echo 'workers = 2; kill_grace = "250ms";'
        echo 'jobs = {'
        for name; do echo "$RANDOM $name = { plugin = \"$name\"; };"; done | sort -n | cut -d' ' -f2-
        echo '};'
    } >prescient.cfg
}

# pass_over NAME...: each of these jobs has its checks; one pass. Its output is in engine.err.
pass_over() {
    local name
    a_clean_store
    for name; do fill $EACH $SLOT "$name" "'$name' || n"; done
    start engine "$P" --json run --slot $SLOT
    join_within 100 engine
    RAN=$((RAN + $(archived)))
}

says() { has "$CASE_NAME: $1: $2" "$(grep -F "job $1: " engine.err | head -1)" "$2"; }
never_loaded() { [ ! -e "loaded.$1" ]; }
wait_on() {
    is "$CASE_NAME: $1: its checks wait on, unrun" \
        "$(q "SELECT count(*), sum(check_count), sum(failure_count) FROM {future_job}
              WHERE job_exec = '$1'")" "$EACH|0|0"
}
right_code() {
    is "$CASE_NAME: $1: all its checks are done, by its own code" \
        "$(q "SELECT outcome, note, count(*) FROM {future_job_history} WHERE job_exec = '$1'
              GROUP BY 1, 2")" "done|${2:-$1}|$EACH"
}
a_place() {
    CASE_NAME=$STORE_NAME.$1 CASE=$TMP/$STORE_NAME.$1 CASE_BEGAN=$(now_ms)
    mkdir -p "$CASE/jobs" && cd "$CASE" || exit 2
    echo "# $CASE_NAME: SEED=$SEED"
}

# ---- who could have written them ----

# A folder that leads to plug-ins and is bad holds up the search there, so each such folder has a
# pass of its own.
bad_folder() {
    local name=$1 dir=$2 words=$3
    tells "$name"
    mkdir -p "$dir"
    mv "jobs/$name.so" "$dir/"
    eval "$4"
    cfg "\"$PWD/jobs\", \"${5:-$PWD/$dir}\"" "$name" good
    pass_over "$name" good
    says "$name" "$words"
    ok "$CASE_NAME: $name: nothing of it was loaded" never_loaded "$name"
    wait_on "$name"
    right_code good
    has "$CASE_NAME: $name: doctor says so, too" "$("$P" doctor | grep "job: $name: ")" "$words"
}

looks() {
    a_place looks
    local name names=(group writable linked fifo) 
    tells group; chmod 664 jobs/group.so
    tells writable; chmod 646 jobs/writable.so
    tells linked; mv jobs/linked.so real.so; ln -s ../real.so jobs/linked.so
    mkfifo jobs/fifo.so
    if [ "$(id -u)" = 0 ]; then
        tells owner; chown 12345 jobs/owner.so; names+=(owner)
    else
        echo "# only root can give a file away: somebody else's plug-in is not tried"
    fi
    code good
    cfg "\"$PWD/jobs\"" "${names[@]}" good
    pass_over "${names[@]}" good
    is "$CASE_NAME: what could not be run is told by the exit code" "$CODE" 1
    says group "group.so may be written by others (mode 0664)"
    says writable "writable.so may be written by others (mode 0646)"
    says linked "linked.so is a symbolic link"
    says fifo "fifo.so is not a regular file"
    [ "$(id -u)" != 0 ] || says owner "owner.so belongs to user 12345"
    for name in "${names[@]}"; do
        ok "$CASE_NAME: $name: nothing of it was loaded" never_loaded "$name"
        wait_on "$name"
        has "$CASE_NAME: $name: doctor says so, too" "$("$P" doctor | grep "^error.*job: $name: ")" "plug-in"
    done
    right_code good

    bad_folder in_open_folder open "$PWD/open may be written by others (mode 0777)" 'chmod 777 open'
    bad_folder below_open_folder above/jobs \
        "$PWD/above may be written by others (mode 0775)" 'chmod 775 above'
    bad_folder below_link real/jobs \
        "$PWD/link is a symbolic link or no folder; expected the real path, $PWD/real/jobs" \
        'ln -s real link' "$PWD/link/jobs"
    if [ "$(id -u)" = 0 ]; then
        bad_folder below_owner theirs/jobs "$PWD/theirs belongs to user 12345" 'chown 12345 theirs'
    fi
}

# ---- what they do when they are loaded ----

deeds() {
    a_place deeds
    local name refused=(wrong_abi no_symbol no_exec) deadly=(crashes exits aborts) good=(one two three closes)
    cp "$TEST_JOBS/wrong_abi.so" "$TEST_JOBS/no_symbol.so" "$TEST_JOBS/no_exec.so" jobs/
    code crashes '__attribute__((constructor)) static void crash(void) { raise(SIGSEGV); }'
    code exits '__attribute__((constructor)) static void leave(void) { _exit(0); }'
    in_open aborts 'abort();'
    if [ -z "${QUICK:-}" ]; then        # it takes as long as a worker may take to get ready
        code hangs '__attribute__((constructor)) static void hang(void) { for (;;) pause(); }'
        deadly+=(hangs)
    fi
    code one; code two; code three
    in_open closes 'for (int fd = 4; fd < 1024; fd++) close(fd);'
    cfg "\"$PWD/jobs\"" "${refused[@]}" "${deadly[@]}" "${good[@]}"
    pass_over "${refused[@]}" "${deadly[@]}" "${good[@]}"
    is "$CASE_NAME: what could not be run is told by the exit code" "$CODE" 1
    says wrong_abi "wrong_abi.so was built for ABI 42"
    says no_symbol "no_symbol.so exports no symbol"
    says no_exec "no_exec.so has no job_exec"
    for name in "${deadly[@]}"; do
        has "$CASE_NAME: $name: it is left out when it has ended two workers" \
            "$(grep -F "job $name: a worker died" engine.err)" "it is left out"
    done
    for name in "${refused[@]}" "${deadly[@]}"; do wait_on "$name"; done
    for name in "${good[@]}"; do right_code "$name"; done
    is "$CASE_NAME: no lease is left" "$(leases)" 0
}

# ---- exchanged while they are loaded ----

version() {
    plugin changing "prescient_note(answer, \"version $1\"); prescient_done(answer);
    close(open(\"$CASE/runs.$1\", O_CREAT | O_WRONLY, 0600));
    for (int i = 0; i < 1000 && check->entity_key[0] == 's' && access(\"$CASE/exchanged\", F_OK); i++)
        usleep(10000);" "#include <fcntl.h>"
}

exchanged() {
    a_place exchanged
    version 1
    cfg "\"$PWD/jobs\"" changing
    a_clean_store
    fill $EACH $SLOT changing "CASE n WHEN 1 THEN 's' ELSE 'k' END || n"
    start engine "$P" --json run --slot $SLOT
    ok "$CASE_NAME: the first version runs" wait_until 20 test -e runs.1
    mkdir -p new/jobs
    (cd new && version 2)
    mv new/jobs/changing.so jobs/changing.so
    touch exchanged
    join_within 30 engine
    right_code changing "version 1"
    q "DELETE FROM {future_job_history}"
    fill $EACH $((SLOT + 900)) changing
    "$P" --quiet run --slot $((SLOT + 900)) >.out 2>.err
    right_code changing "version 2"
    RAN=$((RAN + 2 * EACH))
}

bad_plugins() {
    local before=$FAILED began; began=$(now_ms)
    FAILED=0
    looks
    deeds
    exchanged
    CASE_NAME=$STORE_NAME.plugins CASE_BEGAN=$began RUNS=$RAN RERUNS=0 LONGEST_MS=0
    record F39 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
    [ "$before" = 0 ] || FAILED=1
    cd "$TMP" || exit 2
}
on_stores sqlite bad_plugins
