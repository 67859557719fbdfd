#!/usr/bin/env bash
# tests/coverage.sh BUILD       line coverage of what ran in BUILD (made with COVERAGE=1)
#
# Prints a table by file, then the two that must hold: engine/rules 100 %, engine 85 %. The exit
# code is 1 below that.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

build=${1:-build-coverage}
command -v gcovr >/dev/null || {
    echo "tests/coverage.sh: no gcovr found (install the gcovr package)" >&2; exit 2
}
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# A process that another one has ended in the middle of a call may leave a branch with a count below
# zero, which is no line of gcov's for gcovr. Branches are not judged here.
gcovr --root . --object-directory "$build" --filter engine/ --exclude-throw-branches \
    --gcov-ignore-parse-errors --json "$found" "$build"
gcovr --root . --add-tracefile "$found"

# percent FOLDER: lines that ran, of all, in hundredths of a percent, rounded down
percent() {
    gcovr --root . --add-tracefile "$found" --filter "$1/" --json-summary - |
        python3 -c 'import json, sys
j = json.load(sys.stdin)
print(j["line_covered"] * 10000 // j["line_total"])'
}

failed=0
while read -r folder least; do
    hundredths=$(percent "$folder")
    verdict=ok
    [ "$hundredths" -ge $((least * 100)) ] || { verdict="not ok"; failed=1; }
    printf '%s - line coverage of %s: %d.%02d %%, at least %d %%\n' "$verdict" \
        "$folder" $((hundredths / 100)) $((hundredths % 100)) "$least"
done <<END
engine/rules 100
engine 85
END
exit $failed
