#!/usr/bin/env bash
# tests/fuzz/replay.sh TARGET...      every input of tests/fuzz/corpus/TARGET once, and the empty
#                                     one; then "N passed, N failed"
# BUILD: where make fuzz-corpus has built the targets, with sanitizers if they are to find anything.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." || exit 2
BUILD=$(realpath "${BUILD:-build}") || exit 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-corpus.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT
export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1:${ASAN_OPTIONS:-}" \
    UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
mkdir "$tmp/nothing" && : >"$tmp/nothing/empty"
passed=0 failed=0

for target in "$@"; do
    code=0
    timeout -k 5 120 "$BUILD/fuzz/$target" "$tmp/nothing" "tests/fuzz/corpus/$target" >"$tmp/out" 2>&1 ||
        code=$?
    if [ "$code" = 0 ]; then
        passed=$((passed + 1))
        echo "ok - $target: $(tail -n 1 "$tmp/out")"
    else
        failed=$((failed + 1))
        echo "not ok - $target: exit code $code"
        tail -n 60 "$tmp/out" | sed 's/^/    /'
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
