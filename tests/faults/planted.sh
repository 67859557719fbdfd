#!/usr/bin/env bash
# planted.sh - is the campaign worth its time? Each patch in planted/ puts one bug into a copy of the engine, and the scenario that it names must fail, on
# each store (or those that it names), in the words that it tells. One line for each; the last is "N passed, N failed".
#
# SEED      of the scenarios (4711)
# STORES    "sqlite", "postgresql" (both)
# ONLY      a part of a patch's name
# BUILD     a folder of its own for the copy and what is built from it (build-planted)
set -uo pipefail
umask 022
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." || exit 2
BUILD=${BUILD:-build-planted}
SEED=${SEED:-4711}
passed=0 failed=0
mkdir -p "$BUILD" && BUILD=$(realpath "$BUILD") || exit 2
copy=$BUILD/copy

fresh_copy() {
    rm -rf "${copy:?}" "$BUILD/b"
    mkdir -p "$copy"
    tar -c engine include jobs migrations tests Makefile packages.txt | tar -x -C "$copy"
}
built() { make -s -C "$copy" -j"$(nproc)" BUILD="$BUILD/b" faults-programs >"$BUILD/make.log" 2>&1; }
campaign() { env BUILD="$BUILD/b" SEED="$SEED" ONLY="$1" STORES="$2" RECORD= QUICK= "$copy/tests/faults/run.sh" >"$BUILD/out.$2" 2>&1; }
field() { sed -n "s/^$2: //p" "$1"; }

# result ok|"not ok" WORDS...
result() {
    echo "$1 - ${*:2}"
    if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# Without a bug the scenarios pass: else catching one says nothing.
sound() {
    local store
    for store in ${STORES:-sqlite postgresql}; do
        if campaign "$(sed -n 's/^scenario: //p' tests/faults/planted/*.patch | sort -u | tr '\n' ' ')" "$store"; then
            result ok "without a planted bug all of it passes on $store"
        else
            result "not ok" "without a planted bug all of it passes on $store"
            sed 's/^/    /' "$BUILD/out.$store"
        fi
    done
}

# caught PATCH: the words of a violation, not just any failure
caught() {
    local what scenario words store found only
    only=$(field "$1" stores)
    what=$(field "$1" what) scenario=$(field "$1" scenario) words=$(field "$1" words)
    if ! patch -s -p1 -d "$copy" <"$1" >/dev/null || ! built; then
        result "not ok" "$(basename "$1") applies to the engine as it is, and builds"
        return
    fi
    for store in ${STORES:-sqlite postgresql}; do
        [[ " ${only:-$store} " == *" $store "* ]] || continue
        campaign "$scenario" "$store"
        if found=$(grep -m1 -F "stdout: $words" "$BUILD/out.$store"); then
            result ok "$what: caught by $scenario on $store: ${found#*stdout: }"
        else
            result "not ok" "$what: not caught by $scenario on $store"
            tail -20 "$BUILD/out.$store" | sed 's/^/    /'
        fi
    done
    patch -s -R -p1 -d "$copy" <"$1"
}

fresh_copy
built || { tail -20 "$BUILD/make.log"; echo "planted.sh: the engine does not build" >&2; exit 2; }
[ -n "${ONLY:-}" ] || sound
for patch in tests/faults/planted/*"${ONLY:-}"*.patch; do
    caught "$patch"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
