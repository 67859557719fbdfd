#!/usr/bin/env bash
# cron_table.sh - the next times of cron texts agree with another implementation: with the table in
# tests/cron, and, where python3-croniter is installed, with one computed now, of random texts (SEED
# repeats it).
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
export PYTHONDONTWRITEBYTECODE=1
program=$BUILD/next-times
failed=0
/usr/bin/python3 tests/cron/table.py check "$program" || failed=1
if [ -z "${SANITIZE:-}${COVERAGE:-}" ]; then
    /usr/bin/python3 tests/cron/table.py fresh "$program" 2000 "${SEED:-}" || failed=1
fi

# What it is for: an answer that is off by a minute is found.
broken=$(mktemp) || exit 2
trap 'rm -f "$broken"' EXIT
{ echo '#!/usr/bin/env bash'; printf '"%s" | sed "7s/:00Z/:01Z/"\n' "$program"; } >"$broken"
chmod +x "$broken"
if /usr/bin/python3 tests/cron/table.py check "$broken" | grep -q '^not ok'; then
    echo "ok - a wrong answer is found"
else
    echo "not ok - a wrong answer is found"
    failed=1
fi
exit $failed
