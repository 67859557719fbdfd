#!/usr/bin/env bash
# planted_apply.sh - the bugs that `make planted` puts into a copy of the engine fit the engine as
# it is; whether each is caught takes half an hour, and is asked there
# not instrumented
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
field() { sed -n "/^diff/q; s/^$2: //p" "$1"; }
failed=0

# judge PATCH: what is wrong with it
judge() {
    local words scenario suite
    words=$(patch -s -f --dry-run -p1 <"$1" 2>&1) || { echo "it does not apply: $words"; return; }
    [ -n "$(field "$1" what)" ] && [ -n "$(field "$1" words)" ] ||
        echo "it lacks the line what:, or the line words:"
    scenario=$(field "$1" scenario) suite=$(field "$1" test)
    if [ -n "$scenario" ]; then
        compgen -G "tests/faults/${scenario,,}*.sh" >/dev/null || echo "there is no scenario $scenario"
    else
        [ -n "$suite" ] && [ -f "tests/test_$suite.c" ] ||
            echo "it names no scenario, and there is no suite '$suite'"
        grep -qrF --include='*.c' "$(field "$1" words)(void)" tests ||
            echo "there is no test $(field "$1" words)"
    fi
}

for patch in tests/faults/planted/*.patch; do
    wrong=$(judge "$patch")
    if [ -z "$wrong" ]; then echo "ok - ${patch##*/} fits"; else
        echo "not ok - ${patch##*/} fits"
        sed 's/^/#   /' <<<"$wrong"
        failed=1
    fi
done
exit $failed
