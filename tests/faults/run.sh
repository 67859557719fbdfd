#!/usr/bin/env bash
# tests/faults/run.sh   every scenario of the campaign, or those asked for: tests/faults/fNN_name.sh
# A scenario is an executable that prints "ok - what" and "not ok - what"; it may leave with exit
# code 77 and "skipped - why". "# quick" on a line of its own puts it in the subset for CI, "# limit
# N" allows it N seconds, "# alone" keeps others away meanwhile. The last line is "N passed, N
# failed".
#
# SEED                  of everything that is drawn (random; it is printed)
# ONLY                  F12, f12_primary, "F01 F06": scenarios whose number is this, or whose name
#                       contains it
# QUICK=1               the subset for CI
# BUILD                 where the program is (build)
# STORES                "sqlite", "postgresql" (both)
# PRESCIENT_TEST_PG     a PostgreSQL to use; else each lane starts a cluster of its own; "none":
#                       SQLite only
# AT_ONCE               scenarios at once (as many as processors, at most 4)
# RECORD=1              appends to tests/faults/record.tsv, from which docs/reliability.md is made
#                       (tests/faults/report)
set -uo pipefail
umask 022
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." || exit 2

seed=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
BUILD=$(realpath "${BUILD:-build}") || exit 2
export BUILD
at_once=${AT_ONCE:-$(($(nproc) < 4 ? $(nproc) : 4))}
# how late a check may start while nothing is wrong: scenarios at once share the processors
export EPSILON_MS=${EPSILON_MS:-$((4000 * at_once))}
results=$BUILD/faults/results.tsv
evidence=$BUILD/faults/failed
passed=0 failed=0 skipped=0
declare -A running=() began=() lane=()
servers=()

[ -x "$BUILD/prescient" ] && [ -f "$BUILD/tests/jobs/witness.so" ] || {
    echo "tests/faults/run.sh: nothing built in $BUILD; 'make faults' builds it" >&2; exit 2
}

server=${PRESCIENT_TEST_PG:-}
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

. tests/path_lib.sh

base=${TMPDIR:-/tmp}
[ ${#base} -le 16 ] || base=/tmp        # sockets live in there, and their paths have 107 bytes at most
tmp=$(mktemp -d "$base/pf.XXXXXX") || exit 2
chmod 711 "$tmp"
mkdir -p "$BUILD/faults"
: >"$tmp/results.tsv"

# Engines have sessions of their own: they outlive a scenario that was killed. Their temporary
# folder is in ours.
kill_left() {
    local file pid
    for file in $(grep -lzs "^TMPDIR=$tmp/" /proc/[0-9]*/environ); do
        pid=${file//[!0-9]/}
        kill -KILL "$pid" 2>/dev/null
    done
}

clean_up() {
    trap - EXIT
    if [ ${#running[@]} -gt 0 ]; then
        kill "${!running[@]}" 2>/dev/null
        wait "${!running[@]}"
    fi
    kill_left
    for cluster in "$tmp"/pg* "$tmp"/*/pg; do       # the second: of scenarios that were killed
        [ ! -d "$cluster" ] || tests/pg_cluster.sh stop "$cluster"
    done
    awk -v tmp="$tmp/" 'index($2, tmp) == 1 { print $2 }' /proc/self/mounts | sort -r | while read -r mount
    do
        umount -l "$mount"
    done
    rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# start_server LANE: makes servers[LANE]; without initdb it prints that and leaves it empty
start_server() {
    local words i
    if words=$(tests/pg_cluster.sh start "$tmp/pg$1" fsync=off max_prepared_transactions=8 2>&1); then
        servers[$1]=$words
        return
    fi
    printf '%s\n' "$words" "tests/faults/run.sh: no PostgreSQL here; SQLite alone" >&2
    case $words in *"no initdb"*) ;; *) failed=$((failed + 1)) ;; esac
    for ((i = 0; i < at_once; i++)); do servers[i]=; done
}

free_lane() {
    local i
    for ((i = 0; i < at_once; i++)); do
        case " ${lane[*]} " in *" $i "*) ;; *) echo "$i"; return ;; esac
    done
}

start_one() {
    local file=$1 name at limit
    name=$(basename "$file" .sh)
    started=$((started + 1))
    at=$(free_lane)
    [ -n "${servers[at]+known}" ] || start_server "$at"
    limit=$(sed -n 's/^# limit \([0-9]*\)$/\1/p' "$file")
    TMPDIR=$tmp PRESCIENT_TEST_PG=${servers[at]} SEED=$seed FAULTS_RESULTS=$tmp/results.tsv \
        FAULTS_EVIDENCE=$evidence \
        timeout -k 15 "${limit:-300}" "$file" >"$tmp/$name.out" 2>&1 </dev/null &
    running[$!]=$name
    began[$!]=$SECONDS
    lane[$!]=$at
}

report_one() {
    local pid code=0 name took good bad words
    wait -n -p pid "${!running[@]}" || code=$?
    name=${running[$pid]} took=$((SECONDS - ${began[$pid]}))
    unset "running[$pid]" "began[$pid]" "lane[$pid]"
    good=$(grep -c '^ok' "$tmp/$name.out") bad=$(grep -c '^not ok' "$tmp/$name.out")
    words=$(sed -n 's/^skipped - //p' "$tmp/$name.out" | tail -1)
    if [ "$code" = 77 ] && [ "$bad" = 0 ] && [ -n "$words" ]; then
        skipped=$((skipped + 1))
        printf 'skipped %-28s %s\n' "$name" "$words"
        return
    fi
    [ "$code" = 0 ] || [ "$bad" != 0 ] || bad=1
    [ $((good + bad)) != 0 ] || { bad=1; echo "$name checked nothing"; }
    passed=$((passed + good)) failed=$((failed + bad))
    if [ "$bad" != 0 ]; then
        printf 'not ok  %-28s %s of %s checks, %s s\n' "$name" "$bad" $((good + bad)) "$took"
        sed 's/^/    /' "$tmp/$name.out"
        case $code in 124 | 137) echo "    $name: stopped, it took too long" ;; esac
        echo "    again: make faults SEED=$seed ONLY=$name    (what it left: ${evidence#"$PWD"/})"
    else
        printf 'ok      %-28s %s checks, %s s\n' "$name" "$good" "$took"
        sed -n 's/^# \(F[0-9].*runs.*\)/        \1/p' "$tmp/$name.out"
    fi
}

# is_wanted NAME: by ONLY
is_wanted() {
    local number word
    [ -n "${ONLY:-}" ] || return 0
    number=${1%%_*}
    for word in ${ONLY,,}; do
        [ "$word" = "$number" ] || { [ ${#word} -gt 3 ] && [[ $1 == *"$word"* ]]; } && return 0
    done
    return 1
}

case $server in
none) export STORES=sqlite; for ((i = 0; i < at_once; i++)); do servers[i]=; done ;;
?*) at_once=1 servers=("$server") ;;
esac

echo "SEED=$seed"
# The judge first, and what makes the faults: a checker that sees nothing, or a fault that is not
# made, would let everything pass.
for self in check_selftest schedules_selftest keys_selftest posts_selftest proxy_selftest; do
    if words=$(python3 "tests/faults/$self.py" 2>&1); then
        passed=$((passed + 1))
        printf 'ok      %-28s %s\n' $self "$(tail -1 <<<"$words")"
    else
        failed=$((failed + 1))
        printf 'not ok  %-28s\n%s\n' $self "$words"
    fi
done

alone=() started=0
for file in tests/faults/f[0-9]*.sh; do
    name=$(basename "$file" .sh)
    [ -x "$file" ] && is_wanted "$name" || continue
    [ -z "${QUICK:-}" ] || grep -q '^# quick' "$file" || continue
    if grep -q '^# alone' "$file"; then
        alone+=("$file")
        continue
    fi
    [ ${#running[@]} -lt "$at_once" ] || report_one
    start_one "$file"
done
while [ ${#running[@]} -gt 0 ]; do report_one; done
for file in "${alone[@]}"; do
    start_one "$file"
    report_one
done

[ "$started" != 0 ] || {
    echo "run.sh: ONLY='${ONLY:-}'${QUICK:+ QUICK=$QUICK} chooses no scenario of tests/faults" >&2
    exit 2
}
cat "$tmp/results.tsv" >>"$results"
[ -z "${RECORD:-}" ] || cat "$tmp/results.tsv" >>tests/faults/record.tsv
[ "$skipped" = 0 ] || echo "$skipped skipped, for the reasons above; they do not count as passed"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
