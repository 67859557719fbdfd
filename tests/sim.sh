#!/usr/bin/env bash
# sim.sh - the simulation (tests/sim/README.md) itself: a world is the same each time, none of some
# hundred breaks a rule, and in the night each planted mistake is found.
sim=$BUILD/sim
failed=0

# ok WHAT COMMAND...
ok() {
    local what=$1
    shift
    if "$@"; then echo "ok - $what"; else
        echo "not ok - $what"
        failed=1
    fi
}

same_story() { cmp -s <("$sim" "$1") <("$sim" "$1"); }
differs_from_the_next() { ! cmp -s <("$sim" "$1") <("$sim" $(($1 + 1))); }
all_pass() { "$sim" --seeds "$1" >sim.out || { sed 's/^/# /' sim.out; return 1; }; }
counted() { ! grep -E '^0 ' sim.out; }
refused() { ! "$sim" --wrong no-such-mistake 1 >/dev/null 2>&1; }

cd "$PRESCIENT_TEST_TMP" || exit 2
for seed in 3 17 230; do ok "world $seed is the same each time" same_story $seed; done
ok "another seed is another world" differs_from_the_next 3
ok "no rule is broken in 200 worlds" all_pass 200
ok "keys and rounds occurred in them" counted
ok "a mistake that is not in the table is refused" refused

if [ -n "${NIGHT:-}" ] && [ -z "${SANITIZE:-}${COVERAGE:-}" ]; then
    "$sim" --mistakes --seeds 2000 >mistakes.out
    grep -E '^(not )?ok - ' mistakes.out
    grep -q '^not ok' mistakes.out && { sed 's/^/# /' mistakes.out; failed=1; }
fi
exit $failed
