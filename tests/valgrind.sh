#!/usr/bin/env bash
# tests/valgrind.sh [T]     the CUnit suites of $BUILD/test (or those whose name contains T) under valgrind's memcheck, on SQLite alone
# A suite whose file says "not under valgrind" is left out: it starts engines or waits. One line a suite, then "N passed, N failed".
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2

command -v valgrind >/dev/null || { echo "tests/valgrind.sh: no valgrind found (install the valgrind package)" >&2; exit 2; }
BUILD=$(realpath "${BUILD:-build}") || exit 2
export BUILD
for name in $(compgen -e); do
    case $name in PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-valgrind.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT

passed=0 failed=0
for file in tests/test_*.c; do
    name=$(basename "$file" .c)
    name=${name#test_}
    [[ $name == *"${1:-}"* ]] || continue
    grep -q 'not under valgrind' "$file" && continue
    mkdir "$tmp/$name"
    if PRESCIENT_TEST_TMP=$tmp/$name timeout -k 10 120 valgrind -q --suppressions=tests/valgrind.supp --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
        --show-leak-kinds=definite,indirect --child-silent-after-fork=yes "$BUILD/test" "$name" >"$tmp/$name.out" 2>&1 </dev/null; then
        echo "ok - $name under valgrind"
        passed=$((passed + 1))
    else
        echo "not ok - $name under valgrind"
        grep -vE '\.\.\.passed$|^$' "$tmp/$name.out" | head -200 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
