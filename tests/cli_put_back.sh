#!/usr/bin/env bash
# cli_put_back.sh - a copy of the store's files is put back, and counts its events anew: a consumer
# that had read further is refused or shown all of them, and skips none, also when the copy has
# counted past its cursor. By `cp` of a SQLite file, and of the data folder of a server of its own.
# night: a server that is copied and started again
# about 15 s
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

plugin announce 'host->emit(host, answer, "order.late", NULL); prescient_done(answer);'
cat >prescient.cfg <<CFG
plugin_dirs = ["$TMP/jobs"];
workers = 1;
jobs = { announce = { plugin = "announce"; }; };
CFG
chmod 600 prescient.cfg

# emit KEY...: each key emits one event, in this order, in a slot of their own.
emit() {
    local key now
    hour=$((${hour:-0} + 1))
    now=$(date -u -d "2030-01-01 + $hour hours" +%FT%TZ)
    for key in "$@"; do "$P" --now "$now" enqueue orders "$key" announce +15m >/dev/null; done
    "$P" --now "$(date -u -d "$now + 15 minutes" +%FT%TZ)" run >/dev/null 2>run.err ||
        { FAILED=1; echo "not ok - events of $*"; cat run.err; }
}
# shown CURSOR: the keys of the events behind it.
shown() { "$P" events --json --after "$1" 2>err | sed -E 's/.*"entity_key": ?"([^"]*)".*/\1/' | xargs; }
cursor_of() { "$P" events --json | grep "\"entity_key\": *\"$1\"" | json 'j["cursor"]'; }

# ---- SQLite: the event at the cursor is another one --------------------------------------------

export PRESCIENT_STORE=sqlite:$TMP/checks.db
put_back() { rm -f "$TMP"/checks.db-*; cp "$TMP/backup.db" "$TMP/checks.db"; }
ok "sqlite: init" "$P" init
emit 1 2
sqlite3 checks.db "VACUUM INTO '$TMP/backup.db'"
emit 3 4
early=$(cursor_of 2) late=$(cursor_of 4)
is "sqlite: the same file goes on" "$(shown "$early")" "3 4"
put_back
fails_with 2 "is ahead of everything" "$P" events --after "$late"
emit 5 6 7
fails_with 2 "of this file was written at" "$P" events --after "$late"
fails_with 2 "of this file was written at" "$P" events --reset mail --to "$late"
is "sqlite: who had read no further misses nothing" "$(shown "$early")" "5 6 7"
put_back
has "sqlite: init --restored begins anew" "$("$P" init --restored)" \
    "this is a restored copy: events go on far above number 2"
emit 5 6 7
is "sqlite: then all that comes is shown to all" "$(shown "$late")" "5 6 7"
is "sqlite: also to who had read less" "$(shown "$early")" "5 6 7"
is "sqlite: the view has the same cursors" \
    "$(sqlite3 checks.db "SELECT cursor FROM prescient_events WHERE entity_key = '7'")" "$(cursor_of 7)"
put_back
emit 5
ok "sqlite: init --restored comes too late" "$P" init --restored --quiet
emit 6
fails_with 2 "the event 3 of this file was written at" "$P" events --after "$late"
is "sqlite: who had read no further misses nothing then, either" "$(shown "$early")" "5 6"
"$P" init --json --restored >init.json
is "sqlite: once more, as JSON" "$(json 'j["noted"].split(":")[0]' <init.json)" "this is a restored copy"

# ---- PostgreSQL: the server was started anew ----------------------------------------------------

[ -n "$SERVER" ] || { echo "# no PostgreSQL"; exit 0; }
own() { "$ROOT/tests/pg_cluster.sh" "$@"; }
chmod 755 "$TMP"
PRESCIENT_STORE=$(own start "$TMP/own" fsync=off) || { echo "not ok - a server"; exit 1; }
trap 'own stop "$TMP/own"; finish || exit 1' EXIT
start() { own ctl "$TMP/own" start || { FAILED=1; echo "not ok - the server starts"; }; }
stop() { own ctl "$TMP/own" stop -m fast; }
ok "postgresql: init" "$P" init
emit 1 2
early=$(cursor_of 2)
stop
cp -a "$TMP/own/data" "$TMP/snapshot"
start
is "postgresql: after a mere restart nothing comes twice" "$(shown "$early")" ""
for key in 3 4; do emit $key; done
late=$(cursor_of 4)
is "postgresql: and nothing is missing" "$(shown "$early") $(grep -c . err)" "3 4 0"
is "postgresql: nobody is warned of a mere restart" "$(grep -c history run.err)" 0
stop
rm -rf "$TMP/own/data"
cp -a "$TMP/snapshot" "$TMP/own/data"
start
is "postgresql: the copy has nothing that is new" "$(shown "$late")" ""
for key in 5 6 7; do emit $key; done
is "postgresql: what comes is shown to who had read further" "$(shown "$late")" "5 6 7"
is "postgresql: and to who had not" "$(shown "$early")" "5 6 7"
has "postgresql: somebody may say so" "$("$P" init --restored)" "this is a restored copy: generation "
emit 8
is "postgresql: which skips nothing either" "$(shown "$late")" "5 6 7 8"
