#!/usr/bin/env bash
# tests/run.sh [T]      the CUnit suites of $BUILD/test and the test scripts beside this file, or
#                       those whose name contains T; =NAME is the suite of that name
# A suite is a file tests/test_NAME.c. A test script is an executable tests/NAME.sh that is none of
# the tools (is_script); it prints "ok - what" and "not ok - what", one line a check. The last line
# is "N passed, N failed".
#
# What fails is repeated once, alone, when all else is over. If it passes then, it counts as passed
# and is named in a line "shaky: NAME": a defect of its own, to be mended before anything else.
#
# Marks, each on a comment line of its own in a suite or a script:
#   night: WHY          it is left to the night, and to those who ask for it by T: it judges time,
#                       or takes long
#   about 40 s          how long it takes when nothing else runs (a few seconds): the longest begin
#                       first
#   needs: PROGRAM...   it is left out where none of these is installed
#   not under sanitizers, not for coverage, not instrumented (neither of these)
#
# BUILD                 where the program is (build); SANITIZE, COVERAGE: how it was built
# NIGHT                 1: also those of the night
# KIND                  suites or scripts: only those
# PATIENCE              by how much each limit of a wait is multiplied (6). A wait is for a
#                       condition; its limit is there for what never comes.
# PRESCIENT_TEST_PG     a PostgreSQL to use; else a cluster of our own is started and removed again;
#                       "none": SQLite only
#                       (tests get it, and PRESCIENT_TEST_TEMPLATE: on a cluster of our own, where
#                       databases need not be dropped, the name of one with the schema, to copy)
# TEST_LIMIT_S          how long each suite and script may take (100, times PATIENCE)
# TEST_AT_ONCE          how many of them run at once (two more than processors, at most 6; they
#                       mostly wait), each beside a cluster of its own: a transaction that is open
#                       in one database delays second looks and events in all others of the server
# TMPDIR                where the folders of tests are made (/dev/shm if there is room, else /tmp)
# TEST_TIMES            a file to which a line "SECONDS NAME" is added for each
set -uo pipefail
umask 022                               # a plug-in that a group may write is refused, also in a test
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/etc_lib.sh"
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2

wanted=${1:-}
export PATIENCE=${PATIENCE:-6}
limit_s=$((${TEST_LIMIT_S:-100} * PATIENCE))
BUILD=$(realpath "${BUILD:-build}") || exit 2
export BUILD
at_once=${TEST_AT_ONCE:-$(($(nproc) < 4 ? $(nproc) + 2 : 6))}
most_repeated=10                        # when more than that fell, it was no chance
passed=0 failed=0 suites=0 suite_tests=0
declare -A running=() began=() lane=() # by pid: what runs, since when, beside which server
declare -A fallen=()                    # by what fell: "passed failed" of its first run
servers=()                              # by lane; "": none

[ "${KIND:-}" = scripts ] || [ -x "$BUILD/test" ] || {
    echo "tests/run.sh: no $BUILD/test; 'make check' builds it" >&2; exit 2
}

# The tests use only what they bring: no settings and databases of the user who runs them.
server=${PRESCIENT_TEST_PG:-}
template=prescient_template
times=${TEST_TIMES:-/dev/null}
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

# Suites that draw values, or go through all pairs of something, take a part of them, but at night.
[ -n "${NIGHT:-}" ] || export PRESCIENT_TEST_BRIEF=1

. tests/path_lib.sh

# In memory where there is room, and programs may be run: a disk takes tens of thousands of syncs.
# Short, since sockets live in it, and their paths have 107 bytes at most.
is_roomy() {
    local free code
    free=$(df --output=avail -m "$1" 2>/dev/null | tail -n 1)
    [ "${free:-0}" -ge 8000 ] && code=$(mktemp "$1/pt.XXXXXX") || return
    printf '#!/bin/sh\n' >"$code" && chmod 700 "$code" && "$code" 2>/dev/null
    local runs=$?
    rm -f "$code"
    return $runs
}
base=${TMPDIR:-/tmp}
[ ${#base} -le 16 ] || base=/tmp
[ -n "${TMPDIR:-}" ] || ! is_roomy /dev/shm || base=/dev/shm
tmp=$(mktemp -d "$base/pt.XXXXXX") || exit 2
chmod 711 "$tmp"                        # the server's user must get to its folder in here
clean_up() {
    trap - EXIT
    if [ ${#running[@]} -gt 0 ]; then   # in the background they do not hear a Ctrl-C
        kill "${!running[@]}" 2>/dev/null
        wait "${!running[@]}"
    fi
    for cluster in "$tmp"/pg*; do
        [ ! -d "$cluster" ] || tests/pg_cluster.sh stop "$cluster"
    done
    rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# What was freed is kept for 16 MB, not 256: more than any test frees between a free and a wrong
# use, and a third less time, as each page that is kept must be mapped.
asan=detect_leaks=1:abort_on_error=0:exitcode=99:detect_stack_use_after_return=1:quarantine_size_mb=16
export ASAN_OPTIONS="$asan:${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"

# start_server LANE: makes servers[LANE], and on it a database with the schema, which tests copy;
# without initdb it prints that and leaves it empty. Databases stay until the server goes, so
# autovacuum would start a process a second for them.
start_server() {
    local words settings=(fsync=off full_page_writes=off max_prepared_transactions=8
        autovacuum_naptime=1h)
    if words=$(PG_TEMPLATE=$tmp/cluster tests/pg_cluster.sh start "$tmp/pg$1" "${settings[@]}" 2>&1); then
        servers[$1]=$words
        psql -qX "$words" -c "CREATE DATABASE $template" &&
            "$BUILD/prescient" --quiet --store "${words/\/postgres\?//$template?}" init
        return
    fi
    printf '%s\n' "$words" "tests/run.sh: no PostgreSQL for these tests; they run on SQLite alone" >&2
    case $words in *"no initdb"*) ;; *) failed=$((failed + 1)) ;; esac
    for ((i = 0; i < at_once; i++)); do servers[i]=; done
}

free_lane() {
    local i
    for ((i = 0; i < at_once; i++)); do
        case " ${lane[*]} " in *" $i "*) ;; *) echo "$i"; return ;; esac
    done
}

# start_one NAME: begins the suite (=NAME), several (=NAME+NAME) or the script in an empty folder of
# its own, which PRESCIENT_TEST_TMP names; its output goes to $tmp/NAME.out
start_one() {
    local name=$1 folder=$tmp/${1%%+*} at command=("tests/$1.sh")
    [ "${name:0:1}" != = ] || command=("$BUILD/test" "$name")
    at=$(free_lane)
    [ -n "${servers[at]+known}" ] || start_server "$at"
    rm -rf "$folder" "$tmp/$name.counts"
    mkdir "$folder" && chmod 755 "$folder"
    TMPDIR=$tmp PRESCIENT_TEST_TMP=$folder PRESCIENT_TEST_PG=${servers[at]} \
        PRESCIENT_TEST_COUNTS=$tmp/$name.counts PRESCIENT_TEST_TEMPLATE=$template \
        timeout -k 10 "$limit_s" "${command[@]}" >"$tmp/$name.out" 2>&1 </dev/null &
    running[$!]=$name
    began[$!]=$SECONDS
    lane[$!]=$at
}

# finish_one: waits for one of the running ones; its name, exit code and time are in variables of
# the caller
finish_one() {
    local pid
    code=0
    wait -n -p pid "${!running[@]}" || code=$?
    name=${running[$pid]}
    took=$((SECONDS - ${began[$pid]}))
    unset "running[$pid]" "began[$pid]" "lane[$pid]"
    echo "$took ${name#=}" >>"$times"
}

# count: good and bad of the caller: how many tests or checks of NAME passed and failed
count() {
    if [ "${name:0:1}" = = ]; then
        read -r good bad 2>/dev/null <"$tmp/$name.counts" || good=0 bad=1
    else
        good=$(grep -c '^ok' "$tmp/$name.out")
        bad=$(grep -c '^not ok' "$tmp/$name.out")
    fi
    [ "$code" = 0 ] || [ "$bad" != 0 ] || bad=1     # a suite's leak is found at its end
    [ $((good + bad)) != 0 ] || { bad=1; echo "$name checked nothing"; }
}

explain() {
    case $code in
    0) ;;
    124 | 137) echo "    $name: stopped after $limit_s s" ;;
    *) echo "    $name: exit code $code" ;;
    esac
}

print_fall() {
    printf 'not ok  %-24s %s of %s checks, %s s\n' "$name" "$bad" $((good + bad)) "$took"
    grep -vE '^ *Test: .*\.\.\.passed$|^$' "$tmp/$name.out" | sed 's/^/    /'
    explain
}

report_one() {
    local name code took good bad names
    finish_one
    count
    if [ "$bad" != 0 ]; then
        print_fall
        fallen[$name]="$good $bad"
        return
    fi
    passed=$((passed + good))
    if [ "${name:0:1}" = = ]; then
        names=${name//[!+]/}
        suites=$((suites + 1 + ${#names})) suite_tests=$((suite_tests + good))
    else
        printf 'ok      %-24s %s checks, %s s\n' "$name" "$good" "$took"
    fi
}

# again NAME: what has fallen, once more, with nothing beside it
again() {
    local name=$1 code took good bad
    start_one "$name"
    finish_one
    count
    if [ "$bad" = 0 ]; then
        passed=$((passed + good))
        printf 'shaky: %s\n' "${name#=}"
        return
    fi
    passed=$((passed + good)) failed=$((failed + bad))
    echo "once more, alone:"
    print_fall
}

is_script() {
    case $1 in
    run | pg_cluster | coverage | valgrind | fresh | packages | container | pg_release | night | *lib)
        return 1
        ;;
    esac
    [ -x "tests/$1.sh" ]
}

# files: a line "SECONDS FILE MARK..." for each suite and script, those that take longest first. The
# mark "small" is of a suite that takes no time to speak of and uses no database.
files() {
    awk '
        function mark(word) { marks[FILENAME] = marks[FILENAME] " " word }
        FNR == 1 { files[++n] = FILENAME; is_small[FILENAME] = FILENAME ~ /\.c$/ }
        /_fixture\.h"|test_pg_url/ { is_small[FILENAME] = 0 }
        !/^(#|\/\*| \*) (about|night:|alone:|needs:|not) / { next }
        $2 == "about" && $3 ~ /^[0-9]+$/ { takes[FILENAME] = $3; is_small[FILENAME] = 0 }
        $2 == "night:" { mark("night") }
        $2 == "alone:" { mark("alone") }
        $2 == "needs:" { for (i = 3; i <= NF; i++) mark("needs=" $i) }
        / not under sanitizers/ { mark("unsanitized") }
        / not for coverage/ { mark("uncovered") }
        / not instrumented/ { mark("unsanitized"); mark("uncovered") }
        END {
            for (i = 1; i <= n; i++)
                print takes[files[i]] + 0, files[i] marks[files[i]] (is_small[files[i]] ? " small" : "")
        }' tests/test_*.c tests/*.sh | sort -k1,1nr -k2
}

# name_of FILE: sets `name` of the caller: =NAME of a suite, NAME of a script; false for what is
# neither, or not wanted
name_of() {
    name=${1##*/}
    case $name in
    *.c)
        [ "${KIND:-suites}" = suites ] || return
        name=${name%.c}
        name="=${name#test_}" ;;
    *)
        name=${name%.sh}
        [ "${KIND:-scripts}" = scripts ] && is_script "$name" || return ;;
    esac
    if [ "${wanted:0:1}" = = ]; then [ "$name" = "$wanted" ]; else [[ ${name#=} == *"$wanted"* ]]; fi
}

# is_missing MARK...: none of the programs is here that it needs one of; sets `why` of the caller
is_missing() {
    local mark programs=()
    for mark in "$@"; do
        [[ $mark == needs=* ]] || continue
        ! command -v "${mark#needs=}" >/dev/null || return 1
        programs+=("${mark#needs=}")
    done
    [ ${#programs[@]} -gt 0 ] || return 1
    why="for want of $(IFS=/; echo "${programs[*]}")"
}

# left_out MARK...: sets `why` of the caller, if what has these marks is left out
left_out() {
    is_missing "$@" && return
    case " $* " in
    *" night "*) why="to the night"; [ -n "${NIGHT:-}$wanted" ] || return 0 ;;&
    *" unsanitized "*) why="of this build"; [ -z "${SANITIZE:-}" ] || return 0 ;;&
    *" uncovered "*) why="of this build"; [ -z "${COVERAGE:-}" ] || return 0 ;;&
    *) return 1 ;;
    esac
}

# begin NAME: as soon as a lane is free
begin() {
    [ ${#running[@]} -lt "$at_once" ] || report_one
    start_one "$1"
}

# Small suites run by eights, in one process each: to start it takes longer than most of them.
small=()
begin_small() {
    [ ${#small[@]} = 0 ] || begin "=$(IFS=+; echo "${small[*]}")"
    small=()
}

case $server in
none) for ((i = 0; i < at_once; i++)); do servers[i]=; done ;;
?*) at_once=1 servers=("$server") template= ;;
esac

alone=()                                # these judge seconds, when all else is over
mapfile -t list < <(files)              # what is started below must not read it
for line in "${list[@]}"; do
    read -r _ file marks <<<"$line"
    name_of "$file" || continue
    # shellcheck disable=SC2086
    if left_out $marks; then
        [[ $file == *.c ]] || printf 'left out %-23s %s\n' "$name" "$why"
    elif [[ " $marks " == *" alone "* ]]; then
        alone+=("$name")
    elif [[ $marks == *small ]]; then
        small+=("${name#=}")
        [ ${#small[@]} -lt 8 ] || begin_small
    else
        begin "$name"
    fi
done
begin_small
while [ ${#running[@]} -gt 0 ]; do report_one; done
for name in "${alone[@]}"; do
    start_one "$name"
    report_one
done
[ "$suites" = 0 ] || printf 'ok      %-24s %s tests\n' "$suites suites" "$suite_tests"

if [ ${#fallen[@]} -le $most_repeated ]; then
    for name in "${!fallen[@]}"; do again "$name"; done
else
    for name in "${!fallen[@]}"; do
        read -r good bad <<<"${fallen[$name]}"
        passed=$((passed + good)) failed=$((failed + bad))
    done
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
