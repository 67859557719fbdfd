#!/usr/bin/env bash
# The plans of the hot statements (tests/test_plans.c) and the costs of looking
# (tests/test_plans_reading.c, tests/test_plans_fine.c) among a hundred thousand checks, with and
# without statistics; FULL=1 takes a million, as the night does.
# not under sanitizers
# not instrumented
# night: a million rows
# about 10 s
set -u
failed=0
rows=${FULL:+1000000}
rows=${rows:-100000}

# holds SUITE WHAT
holds() {
    local words good='not ok'
    words=$(PRESCIENT_TEST_ROWS=$rows "$BUILD/test" "=$1" 2>&1) && good=ok
    echo "$good - $2"
    [ "$good" = ok ] || { sed 's/^/    /' <<<"$words"; failed=1; }
}
holds plans "the hot statements keep to their indexes among $rows checks"
holds plans_reading "a look touches as little among $rows checks as among few"
holds plans_fine "a look for fine slots touches as little beside $rows checks and passes as beside few"
[ "$failed" = 0 ]
