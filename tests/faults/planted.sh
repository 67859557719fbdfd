#!/usr/bin/env bash
# planted.sh - is the campaign worth its time? Each patch in planted/ puts one bug into a copy of
# the engine, and the scenario that it names must fail, on each store (or those that it names), with
# the message that it names. One line for each; the last is "N passed, N failed".
#
# SEED      of the scenarios (4711)
# STORES    "sqlite", "postgresql" (both)
# ONLY      parts of patches' names, "keep settle"
# BUILD     a folder of its own for the copy and what is built from it (build-planted)
#
# A patch begins with these lines:
#   what: the bug
#   scenario: F15; or test: store_on_pg, a suite of `make check`, if no scenario reaches the bug
#   with: QUICK=1 CASES=lost: the part of the scenario that is enough (all of it)
#   stores: those on which it is a bug (both)
#   words: in the message of the check that must fail
set -uo pipefail
umask 022
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." || exit 2
BUILD=${BUILD:-build-planted}
SEED=${SEED:-4711}
passed=0 failed=0
mkdir -p "$BUILD" && BUILD=$(realpath "$BUILD") || exit 2
copy=$BUILD/copy
field() { sed -n "/^diff/q; s/^$2: //p" "$1"; }
patches=()
# is_wanted PATCH: by ONLY
is_wanted() {
    local word
    [ -n "${ONLY:-}" ] || return 0
    for word in $ONLY; do [[ ${1##*/} != *"$word"* ]] || return 0; done
    return 1
}
for patch in tests/faults/planted/*.patch; do
    ! is_wanted "$patch" || patches+=("$patch")
done
[ ${#patches[@]} -gt 0 ] || {
    echo "planted.sh: no patch in tests/faults/planted has one of '${ONLY:-}' in its name" >&2; exit 2
}
targets=(faults-programs)
! grep -q '^test: ' "${patches[@]}" || targets+=("$BUILD/b/test")

fresh_copy() {
    rm -rf "${copy:?}" "$BUILD/b"
    mkdir -p "$copy"
    tar -c engine include jobs bench migrations tests Makefile install.mk packages.txt | tar -x -C "$copy"
}
built() { make -s -C "$copy" -j"$(nproc)" BUILD="$BUILD/b" "${targets[@]}" >"$BUILD/make.log" 2>&1; }

# campaign SCENARIO STORE [NAME=VALUE ...]: its output is in out.STORE
campaign() {
    env BUILD="$BUILD/b" SEED="$SEED" ONLY="$1" STORES="$2" RECORD= QUICK= CASES= ${3:-} \
        "$copy/tests/faults/run.sh" >"$BUILD/out.$2" 2>&1
}
# suite NAME STORE: the same for a suite
suite() {
    local server=
    [ "$2" = postgresql ] || server=none
    env BUILD="$BUILD/b" PRESCIENT_TEST_PG=$server "$copy/tests/run.sh" "=$1" >"$BUILD/out.$2" 2>&1
}
# judged_by KIND NAME STORE [NAME=VALUE ...]
judged_by() { if [ "$1" = test ]; then suite "$2" "$3"; else campaign "$2" "$3" "${4:-}"; fi; }

# result ok|"not ok" WORDS...
result() {
    echo "$1 - ${*:2}"
    if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# judges STORE: lines "KIND<tab>NAMES<tab>WITH" of all that is run on it; scenarios of which the
# same part is enough in one line
judges() {
    local patch only
    for patch in "${patches[@]}"; do
        only=$(field "$patch" stores)
        [[ " ${only:-$1} " == *" $1 "* ]] || continue
        if [ -n "$(field "$patch" test)" ]; then printf 'test\t%s\t\n' "$(field "$patch" test)"
        else printf 'scenario\t%s\t%s\n' "$(field "$patch" scenario)" "$(field "$patch" with)"; fi
    done | sort -u |
        awk -F'\t' '
            $1 == "test" { print; next }
            { names[$3] = names[$3] " " $2 }
            END { for (w in names) printf "scenario\t%s\t%s\n", names[w], w }'
}

# Without a bug they pass; otherwise catching one would prove nothing.
sound() {
    local store kind names with
    for store in ${STORES:-sqlite postgresql}; do
        while IFS='|' read -r kind names with; do
            if judged_by "$kind" "$names" "$store" "$with" </dev/null; then
                result ok "without a planted bug all of it passes on $store:" $names $with
            else
                result "not ok" "without a planted bug all of it passes on $store:" $names $with
                sed 's/^/    /' "$BUILD/out.$store"
            fi
        done < <(judges "$store" | tr '\t' '|')
    done
}

# failure STORE WORDS: the first check that failed with these words, and not with any others. All of
# it is read: who stops at the first line ends the others by a signal, which pipefail takes for a
# failure.
failure() {
    sed -nE 's/^ *#? *stdout: //p; s/^ *not ok - //p; s/^ *Suite .*, Test (.*) had failures:/\1/p' \
        "$BUILD/out.$1" | grep -F -- "$2" | sed -n 1p
}

# caught PATCH
caught() {
    local what kind=scenario name words store found only with
    only=$(field "$1" stores) with=$(field "$1" with)
    what=$(field "$1" what) name=$(field "$1" scenario) words=$(field "$1" words)
    [ -n "$name" ] || { kind=test; name=$(field "$1" test); }
    if ! patch -s -p1 -d "$copy" <"$1" >/dev/null || ! built; then
        result "not ok" "$(basename "$1") applies to the engine as it is, and builds"
        return
    fi
    for store in ${STORES:-sqlite postgresql}; do
        [[ " ${only:-$store} " == *" $store "* ]] || continue
        judged_by "$kind" "$name" "$store" "$with"
        if found=$(failure "$store" "$words"); then
            result ok "$what: caught by $name on $store: $found"
        else
            result "not ok" "$what: not caught by $name on $store"
            tail -20 "$BUILD/out.$store" | sed 's/^/    /'
        fi
    done
    patch -s -R -p1 -d "$copy" <"$1"
}

fresh_copy
built || { tail -20 "$BUILD/make.log"; echo "planted.sh: the engine does not build" >&2; exit 2; }
[ -n "${ONLY:-}" ] || sound
for patch in "${patches[@]}"; do
    caught "$patch"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
