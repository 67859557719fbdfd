#!/usr/bin/env bash
# tests/valgrind.sh [T]     the CUnit suites of $BUILD/test (or those whose name contains T) under
#                           valgrind's memcheck, on SQLite alone
# A suite whose file says "not under valgrind" is left out: it starts engines or waits.
# PRESCIENT_TEST_BRIEF makes those that draw values draw fewer. TEST_LIMIT_S: how long each may take
# (180). One line a suite, then "N passed, N failed".
set -uo pipefail
umask 022
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2

command -v valgrind >/dev/null || {
    echo "tests/valgrind.sh: no valgrind found (install the valgrind package)" >&2; exit 2
}
BUILD=$(realpath "${BUILD:-build}") || exit 2
export BUILD
for name in $(compgen -e); do
    case $name in PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
export PRESCIENT_TEST_BRIEF=1 PRESCIENT_TEST_EACH=1
# In memory where there is room: it is memory that is looked at, and a slow disk takes tens of
# thousands of syncs.
in_memory=$(df --output=avail -m /dev/shm 2>/dev/null | tail -n 1)
[ "${in_memory:-0}" -ge 1000 ] && [ -w /dev/shm ] && TMPDIR=${TMPDIR:-/dev/shm}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-valgrind.XXXXXX") || exit 2
chmod 711 "$tmp"
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$tmp"' EXIT
trap 'exit 143' INT TERM HUP

under_valgrind() {
    local began=$SECONDS
    mkdir "$tmp/$1"
    PRESCIENT_TEST_TMP=$tmp/$1 timeout -k 10 "${TEST_LIMIT_S:-180}" valgrind \
        -q --vgdb=no --suppressions=tests/valgrind.supp --error-exitcode=99 --leak-check=full \
        --errors-for-leak-kinds=definite,indirect --show-leak-kinds=definite,indirect \
        --child-silent-after-fork=yes \
        "$BUILD/test" "=$1" >"$tmp/$1.out" 2>&1 </dev/null
    echo "$? $((SECONDS - began))" >"$tmp/$1.code"
}

suites=()
for file in tests/test_*.c; do
    name=$(basename "$file" .c)
    name=${name#test_}
    [[ $name == *"${1:-}"* ]] && ! grep -q 'not under valgrind' "$file" && suites+=("$name")
done

passed=0 failed=0
for name in "${suites[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    under_valgrind "$name" &
done
wait
for name in "${suites[@]}"; do
    read -r code took <"$tmp/$name.code"
    if [ "$code" = 0 ]; then
        echo "ok - $name under valgrind, $took s"
        passed=$((passed + 1))
    else
        echo "not ok - $name under valgrind: exit code $code, $took s"
        grep -vE '\.\.\.passed$|^$' "$tmp/$name.out" | head -200 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
