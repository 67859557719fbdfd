#!/usr/bin/env bash
# tests/fuzz/run.sh SECONDS TARGET...     each target for so many seconds under libFuzzer, from the
#                                         kept corpus and from what earlier runs found
# What it finds that leads somewhere new is kept in $BUILD/fuzz-found/TARGET, an input that breaks
# something beside it as crash-..., with the words. One line a target, then "N passed, N failed".
# BUILD: where make fuzz has built the targets (build-fuzz).
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." || exit 2
BUILD=$(realpath "${BUILD:-build-fuzz}") || exit 2
seconds=$1; shift
export ASAN_OPTIONS="detect_stack_use_after_return=1:${ASAN_OPTIONS:-}" \
    UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
passed=0 failed=0

for target in "$@"; do
    found=$BUILD/fuzz-found/$target kept=tests/fuzz/corpus/$target dictionary=tests/fuzz/$target.dict
    mkdir -p "$found" "$kept"
    options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096
        -print_final_stats=1 -artifact_prefix="$BUILD/fuzz-found/$target.")
    [ ! -f "$dictionary" ] || options+=(-dict="$dictionary")
    if "$BUILD/fuzz/$target" "${options[@]}" "$found" "$kept" >"$found.log" 2>&1; then
        passed=$((passed + 1)) verdict=ok
    else
        failed=$((failed + 1)) verdict="not ok"
    fi
    echo "$verdict - fuzz $target: $(sed -n 's/^stat::number_of_executed_units: *//p' \
        "$found.log") inputs in $seconds s, $(ls "$found" | wc -l) kept"
    [ "$verdict" = ok ] || grep -vE '^#[0-9]|^INFO|^stat::|^###|# Uses:' "$found.log" |
        head -40 | sed 's/^/    /'
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
