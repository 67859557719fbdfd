#!/usr/bin/env bash
# The plans of the hot statements among a million checks (tests/test_plans.c), on both stores, with and without statistics.
# not under sanitizers
# not instrumented
# long
set -u
words=$(PRESCIENT_TEST_ROWS=1000000 "$BUILD/test" =plans 2>&1) && good=ok || good='not ok'
echo "$good - the hot statements keep to their indexes among a million checks"
[ "$good" = ok ] || sed 's/^/    /' <<<"$words"
[ "$good" = ok ]
