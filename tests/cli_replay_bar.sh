#!/usr/bin/env bash
# A replay on a terminal: its bar is gone before anything else is printed on its line.
. "$(dirname "$0")/lib.sh"

echo 'jobs = { noop = { plugin = "noop"; settings = { answer = "done"; }; }; };' >prescient.cfg
chmod 600 prescient.cfg
export PRESCIENT_STORE=sqlite:bar.db
ok "init" "$P" --quiet init
for hour in 1 2 3 4 5; do
    "$P" --now 2026-03-01 enqueue orders $hour noop +${hour}h
done >/dev/null 2>&1
"$ROOT/tests/on_terminal.py" 200 "$P" replay --log-level info --from 2026-03-01 --to '2026-03-01 06:00' >shown
is "what a replay shows ends with its totals, in a line of their own" \
    "$(tail -1 shown | grep -o '^replay: [0-9]* slots, checks: 5 run')" "replay: 5 slots, checks: 5 run"
is "and the bar is gone" "$(grep -c '[░█]' shown)" 0
is "lines of the log begin at the left" "$(grep -c ' info prescient' shown)" \
    "$(grep -c '^20[0-9-]*T.* info prescient' shown)"
ok "and there are some" grep -q ' info prescient' shown
