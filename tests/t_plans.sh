#!/usr/bin/env bash
# The plans of the hot statements (tests/test_plans.c) and the costs of looking
# (tests/test_plans_reading.c) among a million checks, with and without statistics.
# not under sanitizers
# not instrumented
# night: a million rows
# about 10 s
set -u
failed=0

# holds SUITE WHAT
holds() {
    local words good='not ok'
    words=$(PRESCIENT_TEST_ROWS=1000000 "$BUILD/test" "=$1" 2>&1) && good=ok
    echo "$good - $2"
    [ "$good" = ok ] || { sed 's/^/    /' <<<"$words"; failed=1; }
}
holds plans "the hot statements keep to their indexes among a million checks"
holds plans_reading "a look touches as little among a million checks as among few"
[ "$failed" = 0 ]
