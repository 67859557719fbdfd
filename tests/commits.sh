#!/usr/bin/env bash
# commits.sh - each commit since BASE has a subject of at most 72 columns and a body that says why.
# tests/house/message.py has the rules. A shallow clone may lack BASE; the commits that it has and
# that are younger than BASE are checked then. Where there is no repository, no commit is checked.
# not instrumented
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
BASE=4cbcceea310f667ecdf2989979aafc9950ed3d86 BASE_AT=2026-11-22T09:59:20Z
failed=0

# report WHAT WRONG: nothing wrong is good
report() {
    if [ -z "$2" ]; then echo "ok - $1"; else
        echo "not ok - $1"
        printf '%s\n' "$2" | sed 's/^/#   /'
        failed=1
    fi
}

# The rules themselves. A message is given as its lines.
faults_of() { printf '%s\n' "$@" | tests/house/message.py; }
accepts() { report "accepted: $1" "$(faults_of "${@:2}")"; }
refuses() {
    local faults
    faults=$(faults_of "${@:2}")
    report "refused: $1" "$([ -n "$faults" ] || echo 'it is accepted')"
}
why='It was asked for twice and answered once.'
accepts "a subject and a reason" 'lane: ask once' '' "$why"
accepts "a trivial commit without a reason" 'trivial: fix a typo'
accepts "what git adds for the editor" 'lane: ask once' '' "$why" '# Please enter ...'
accepts "72 columns, not bytes" "lane: $(printf 'ü%.0s' {1..66})" '' "$why"
refuses "no reason" 'lane: ask once'
refuses "trailers, which are no reason" 'lane: ask once' '' \
    'Signed-off-by: A. Person Of Many Names <a@example.org>'
refuses "no area" 'ask once' '' "$why"
refuses "73 columns" "lane: $(printf 'x%.0s' {1..67})" '' "$why"
refuses "no empty line before the body" 'lane: ask once' "$why" 'More of it follows.'
refuses "a wide body" 'lane: ask once' '' "$(printf 'why %.0s' {1..26})"
refuses "an empty message" '# nothing'

if [ "$(git rev-parse --show-toplevel 2>/dev/null)" != "$(pwd -P)" ]; then
    echo "# these files are in no repository that git can read: no commit is checked"
    exit $failed
fi
range=("$BASE..HEAD")
git merge-base --is-ancestor "$BASE" HEAD 2>/dev/null || range=(--since="$BASE_AT" HEAD)
count=$(git rev-list --count --no-merges "${range[@]}")
report "$count commits since ${BASE:0:7} say what and why" "$(tests/house/message.py --log "${range[@]}")"
exit $failed
