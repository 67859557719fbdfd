#!/usr/bin/env bash
# tests/run.sh [T]      the CUnit suites of $BUILD/test and the test scripts beside this file, or
#                       those whose name contains T
# A test script is an executable tests/NAME.sh that is none of the tools (is_test). It prints "ok -
# what" and "not ok - what", one line a check. A line "# not under sanitizers" in it keeps it out of
# sanitizer runs, "# not for coverage" out of coverage, which it would raise by half a percent at
# most, "# not instrumented" out of both; "# long" begins it first; "# alone" runs it when nothing
# else runs, for one that measures time. The last line is "N passed, N failed".
#
# BUILD                 where the program is (build); SANITIZE, COVERAGE: how it was built
# PRESCIENT_TEST_PG     a PostgreSQL to use; else a cluster of our own is started and removed again;
#                       "none": SQLite only
# TEST_LIMIT_S          how long the suites, and each script, may take (300)
# TEST_AT_ONCE          how many of them run at once (two more than processors, at most 6; they
#                       mostly wait), each beside a cluster of its own: a transaction that is open
#                       in one database delays second looks and events in all others of the server
set -uo pipefail
umask 022                               # a plug-in that a group may write is refused, also in a test
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2

wanted=${1:-}
limit_s=${TEST_LIMIT_S:-300}
BUILD=$(realpath "${BUILD:-build}") || exit 2
export BUILD
at_once=${TEST_AT_ONCE:-$(($(nproc) < 4 ? $(nproc) + 2 : 6))}
passed=0 failed=0
declare -A running=() began=() lane=() # by pid: what runs, since when, beside which server
servers=()                              # by lane; "": none

[ -x "$BUILD/test" ] || { echo "tests/run.sh: no $BUILD/test; 'make check' builds it" >&2; exit 2; }

# The tests use only what they bring: no settings and databases of the user who runs them.
server=${PRESCIENT_TEST_PG:-}
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

# Short, since sockets live in it, and their paths have 107 bytes at most.
base=${TMPDIR:-/tmp}
[ ${#base} -le 16 ] || base=/tmp
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

asan=detect_leaks=1:abort_on_error=0:exitcode=99:detect_stack_use_after_return=1
export ASAN_OPTIONS="$asan:${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"

# start_server LANE: makes servers[LANE]; without initdb it prints that and leaves it empty
start_server() {
    local words
    if words=$(tests/pg_cluster.sh start "$tmp/pg$1" fsync=off max_prepared_transactions=8 2>&1); then
        servers[$1]=$words
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

# start_limited NAME COMMAND...: begins it in an empty folder of its own named by
# PRESCIENT_TEST_TMP, its output in $tmp/NAME.out
start_limited() {
    local name=$1 at; shift
    at=$(free_lane)
    [ -n "${servers[at]+known}" ] || start_server "$at"
    mkdir "$tmp/$name" && chmod 755 "$tmp/$name"
    TMPDIR=$tmp PRESCIENT_TEST_TMP=$tmp/$name PRESCIENT_TEST_PG=${servers[at]} \
        PRESCIENT_TEST_COUNTS=$tmp/counts \
        timeout -k 10 "$limit_s" "$@" >"$tmp/$name.out" 2>&1 </dev/null &
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
}

explain() {
    case $1 in
    124 | 137) echo "$2: stopped after $limit_s s" ;;
    0) ;;
    *) echo "$2: exit code $1" ;;
    esac
}

report_suites() {
    local good bad
    if read -r good bad 2>/dev/null <"$tmp/counts"; then
        passed=$((passed + good)) failed=$((failed + bad))
        [ "$code" = 0 ] || [ "$bad" != 0 ] || failed=$((failed + 1))        # a leak found at the end
    else
        failed=$((failed + 1))
    fi
    if [ "$code" != 0 ]; then
        printf 'not ok  %-24s %s s\n' suites "$took"
        grep -vE '^ *Test: .*\.\.\.passed$|^$' "$tmp/suites.out" | sed 's/^/    /'
        explain "$code" "    suites"
    elif [ "$good" != 0 ]; then
        printf 'ok      %-24s %s tests, %s s\n' suites "$good" "$took"
    fi
}

report_script() {
    local good bad
    good=$(grep -c '^ok' "$tmp/$name.out")
    bad=$(grep -c '^not ok' "$tmp/$name.out")
    [ "$code" = 0 ] || [ "$bad" != 0 ] || bad=1
    [ $((good + bad)) != 0 ] || { bad=1; echo "tests/$name.sh checked nothing"; }
    passed=$((passed + good)) failed=$((failed + bad))
    if [ "$bad" != 0 ]; then
        printf 'not ok  %-24s %s of %s checks, %s s\n' "$name" "$bad" $((good + bad)) "$took"
        sed 's/^/    /' "$tmp/$name.out"
        explain "$code" "    tests/$name.sh"
    else
        printf 'ok      %-24s %s checks, %s s\n' "$name" "$good" "$took"
    fi
}

report_one() {
    local name code took
    finish_one
    if [ "$name" = suites ]; then report_suites; else report_script; fi
}

is_test() {
    case $1 in run | pg_cluster | coverage | valgrind | fresh | *lib) return 1 ;; esac
    [ -x "tests/$1.sh" ]
}

is_left_out() {
    { [ -n "${SANITIZE:-}" ] && grep -q '^# not under sanitizers' "$1"; } ||
        { [ -n "${COVERAGE:-}" ] && grep -q '^# not for coverage' "$1"; } ||
        { [ -n "${SANITIZE:-}${COVERAGE:-}" ] && grep -q '^# not instrumented' "$1"; }
}

case $server in
none) for ((i = 0; i < at_once; i++)); do servers[i]=; done ;;
?*) at_once=1 servers=("$server") ;;
esac

alone=()
start_limited suites "$BUILD/test" $wanted
for file in $(grep -l '^# long' tests/*.sh) $(grep -L '^# long' tests/*.sh); do
    name=$(basename "$file" .sh)
    is_test "$name" && [[ $name == *"$wanted"* ]] || continue
    if is_left_out "$file"; then
        printf 'left out %-23s of this build\n' "$name"
        continue
    fi
    if grep -q '^# alone' "$file"; then
        alone+=("$name")
        continue
    fi
    [ ${#running[@]} -lt "$at_once" ] || report_one
    start_limited "$name" "tests/$name.sh"
done
while [ ${#running[@]} -gt 0 ]; do report_one; done
for name in "${alone[@]}"; do
    start_limited "$name" "tests/$name.sh"
    report_one
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
