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

# A job of a replay writes to the file of the store: for as long as it waits to, nobody else has
# anything to write, and what the replay has written is committed.
cat >prescient.cfg <<CFG
plugin_dirs = ["$(dirname "$P")/jobs"];
workers = 1;
jobs = { writes = { plugin = "exec"; timeout = "60s"; settings = { dir = "$PWD";
    command = ["sqlite3", "-bail", "-cmd", ".timeout 30000", "bar.db",
               "INSERT INTO written VALUES (1)"]; }; }; };
CFG
chmod 600 prescient.cfg
sqlite3 bar.db 'CREATE TABLE written (n)'
for hour in 1 2 3; do
    "$P" --now 2026-04-01 --quiet enqueue orders $hour writes +${hour}h >/dev/null
done
ok "a replay ends whose jobs write to the store's file" \
    timeout 100 "$P" --quiet replay --from 2026-04-01 --to '2026-04-01 06:00'
is "and each has written" "$(sqlite3 bar.db 'SELECT count(*) FROM written')" 3
is "once" "$("$P" history --json | json '[r["outcome"] for r in j if r["job_exec"] == "writes"]')" \
    "['done', 'done', 'done']"
