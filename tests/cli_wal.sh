#!/usr/bin/env bash
# cli_wal.sh - a file that its application keeps in WAL mode: every command works beside the
# application's open connection, the mode stays, and a file in use can be looked through while it is
# written to.
. "$(dirname "$0")/lib.sh"
json_begins

FILE=$TMP/shop.db
cat > prescient.cfg <<CFG
store = "sqlite:$FILE";
business = "sqlite:$FILE";
plugin_dirs = ["$(dirname "$P")/jobs"];
jobs = { unshipped = { plugin = "unshipped_order";
                       settings = { table = "orders"; key = "id"; shipped = "shipped_at"; }; }; };
CFG
chmod 600 prescient.cfg

# app SQL: by the application's one connection, which stays open; prints its output, up to a mark.
# It waits for a lock for at most 200 ms.
coproc APP { sqlite3 -batch "$FILE" 2>&1; }
app_pid=$APP_PID                        # the shell forgets its own as soon as the process has ended
app() {
    local line
    printf '%s\n' "$1" ".print =over=" >&"${APP[1]}"
    while read -r line <&"${APP[0]}" && [ "$line" != =over= ]; do echo "$line"; done
}
mode() { app "PRAGMA journal_mode;"; }
# The mode in the file's header, when no process has it open.
kept() { od -An -tu1 -j18 -N1 "$FILE" | tr -d ' '; }

app ".timeout 200" >/dev/null
is "the application chooses a write-ahead log" "$(app "PRAGMA journal_mode = WAL;")" wal
app "CREATE TABLE orders (id INTEGER PRIMARY KEY, shipped_at TEXT);"

ok "init beside it" "$P" --quiet init
app "CREATE TRIGGER placed AFTER INSERT ON orders BEGIN INSERT INTO prescient_enqueue (entity_name,
     entity_key, job_exec, check_at)
     VALUES ('orders', NEW.id, 'unshipped', datetime('now')); END;"
app "INSERT INTO orders (id) VALUES (1), (2); UPDATE orders SET shipped_at = 'today' WHERE id = 2;"
ok "status beside it" "$P" status
ok "list beside it" "$P" list
is "what the application has filed is seen" "$("$P" list --json | json 'len(j)')" 2
ok "enqueue beside it" "$P" --quiet enqueue orders 2 unshipped +1h --conflict replace
levels() { "$P" doctor --json | json '[(f["level"], f["found"]) for f in j if f["what"] == "SQLite"][0]'; }
has "doctor beside it tells the journal" "$(levels)" "with a write-ahead log"
is "doctor finds no error beside it" \
    "$("$P" doctor --json | json '[f for f in j if f["level"] == "error"]')" "[]"
ok "sweep beside it" "$P" --quiet --now +2h sweep
is "what was shipped is over, the rest is told" \
    "$("$P" history --json | json '[h["entity_key"] for h in j]') $("$P" events --json | wc -l)" "['2'] 1"
is "the mode is still the application's" "$(mode)" wal

# A reader that stays blocks nobody, and a writer does not block readers.
app "BEGIN; SELECT count(*) FROM orders;" >/dev/null
ok "enqueue beside a reader that stays" "$P" --quiet enqueue orders 3 unshipped +1h
app "COMMIT; BEGIN IMMEDIATE; INSERT INTO orders (id) VALUES (7);"
ok "status beside a writer" "$P" status
ok "doctor --full beside a writer looks through the file" test \
    "$("$P" doctor --full --json | json '[f["found"] for f in j if f["what"] == "file is whole"]')" = "['ok']"
app "COMMIT;"

eval "exec ${APP[1]}>&-"
wait "$app_pid" 2>/dev/null
ok "status when nobody else has it open" "$P" status
ok "enqueue then" "$P" --quiet enqueue orders 4 unshipped +1h
is "and the mode stays in the file" "$(kept)" 2

# A large file is not looked through unasked, so that those who write to a rollback journal do not
# wait for the end of it.
sqlite3 "$FILE" \
    "PRAGMA journal_mode = DELETE; CREATE TABLE large AS SELECT zeroblob(17 << 20) AS bytes" >/dev/null
whole() { "$P" doctor "$@" --json | json '[f["found"] for f in j if f["what"] == "file is whole"][0]'; }
has "a large file is left to --full" "$(whole)" "prescient doctor --full"
is "and looked through with it" "$(whole --full)" ok
is "a rollback journal stays, too" "$(kept)" 1
