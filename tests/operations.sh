#!/usr/bin/env bash
# operations.sh - the commands of docs/operations.md, as they stand there: backups and restores,
# engines that come and go, pauses, dropping, watching. operations_night.sh has those that need more
# than one server. Here is also said that no command of the page is left out.
# about 20 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$TESTS/operations_lib.sh"

is "each block of shell on the page has a name" \
    "$(awk '/^```sh$/ && last !~ /^<!-- operations.sh: / { print FNR } { last = $0 }' "$PAGE")" ""
is "and is typed by a test" "$(sed -n 's/^<!-- operations.sh: \(.*\) -->$/\1/p' "$PAGE" | grep -vx names |
    while read -r kind; do grep -qF " \"$kind\"" "$TESTS"/operations*.sh || echo "$kind"; done)" ""
is "the page's names are those that the tests have" \
    "$(of names | sed -n 's/^\([A-Z_]*\)=.*/\1/p')" "$(names | sed 's/=.*//')"

# ---- SQLite ----

on_sqlite() {
    machine_begins
    STORE_NAME=sqlite
    cat >prescient.cfg <<CFG
store = "sqlite:$TMP/prescient.db";
jobs = { late = { plugin = "noop"; settings = { answer = "done"; }; }; };
CFG
    chmod 600 prescient.cfg
    "$P" --quiet init --slot-length 1s
    "$P" --quiet enqueue orders before late +1h >/dev/null
    by_the_page "a SQLite file is backed up" "sqlite backup"
    "$P" --quiet enqueue orders after late +1h >/dev/null
    by_the_page "and restored" "sqlite restore"
    is "for the user of its engines, and closed to others" \
        "$(cat "$TMP/given") $(stat -c %a "$TMP/prescient.db")" "prescient:prescient $TMP/prescient.db 640"
    is "with what was in it" "$("$P" list --json | json '[r["entity_key"] for r in j]')" "['before']"
    "$P" --quiet enqueue orders again late +1s >/dev/null
    again_is_done() { [ "$("$P" history orders again --json | json 'len(j)')" = 1 ]; }
    ok "its daemon runs checks" wait_until 30 again_is_done
    "$TMP/bin/systemctl" stop prescient-daemon

    sqlite3 "$TMP/prescient.db" 'PRAGMA journal_mode = WAL' >/dev/null
    by_the_page "one with a write-ahead log is backed up" "sqlite backup"
    start forgotten "$P" serve --listen "unix:$TMP/forgotten.sock"
    files() {
        curl -s --unix-socket "$TMP/forgotten.sock" -H 'Content-Type: application/json' \
            -d "{\"entity\": \"orders\", \"key\": \"$1\", \"job\": \"late\", \"in\": \"1h\"}" \
            http://localhost/v1/checks | grep -q '"outcome"'
    }
    ok "a server writes to it" wait_until 30 files lost
    by_the_page "and is forgotten by who restores" "sqlite restore"
    is "the copy is in place" "$("$P" list orders lost --json)" "[]"
    ok "the server finds it" wait_until 30 files found
    is "and has filed its check there" "$("$P" list orders found --json | json 'len(j)')" 1
    kill -TERM "$(pid_of forgotten)"
    join forgotten
    "$TMP/bin/systemctl" stop prescient-daemon
}

# ---- PostgreSQL ----

restores() {
    file before "1 hour"
    "$TMP/bin/systemctl" start prescient-daemon
    one_is_run "a daemon works" first
    reads_on
    is "a consumer is shown its event" "$READ" first
    by_the_page "a backup" "backup"
    file after "1 hour"
    one_is_run "a check runs after the copy was made" second
    reads_on
    is "and the consumer is shown that event" "$READ" second
    by_the_page "a restore" "restore"
    is "what waited in the copy waits" "$(waiting)" before
    one_is_run "checks run on the copy" third
    ok "a consumer that was ahead of the copy goes on with its cursor" reads_on
    is "and is shown what it has not seen" "$READ" third
    ok "the roles of the backup are all there, for a new server" \
        grep -q 'CREATE ROLE prescient_enqueuer' "$CLUSTERS/backup/roles.sql"

    by_the_page "the schema alone is lost, and restored under a live daemon" "restore schema"
    is "what waited waits" "$(waiting)" before
    one_is_run "the daemon goes on by itself" fourth
    reads_on
    is "so does the consumer" "$READ" fourth
}
engines() {
    "$TMP/bin/systemctl" stop prescient-daemon
    by_the_page "an engine is added" "add"
    has "status has it" "$(cat "$TMP/.out")" "; last pass: "
    one_is_run "it works" fifth
    engine=$(cat "$TMP/service/prescient-daemon.pid")
    by_the_page "and drained" "drain"
    is "it has ended" "$(kill -0 "$engine" 2>/dev/null && echo "it lives")" ""
    is "it has given back its leases" "$(at "SELECT count(*) FROM prescient.slot_lease")" 0
    "$TMP/bin/systemctl" start prescient-daemon
    by_the_page "a new release" "upgrade"
    one_is_run "the engine is there again" sixth
    file paused "1 second" unshipped
    by_the_page "a pause, and its end" "pause"
    ok "what has waited runs" wait_until 30 is_over_for paused
}
looks() {
    by_the_page "pruning" "prune"
    by_the_page "watching" "watch"
    at "SELECT count(*) FROM prescient.enqueue_many('orders',
        (SELECT array_agg(n + 1000) FROM generate_series(1, 20000) n), 'unshipped', '1 hour')" >/dev/null
    at "VACUUM ANALYZE prescient.future_job" >/dev/null
    by_the_page "the size of what waits" "size"
    bytes=$(grep -oE '[0-9]+$' "$TMP/.out" | tail -1)
    at_least "a check that waits takes what the page says" "$bytes" 150
    at_most "and no more" "$bytes" 260
}
several() {
    local name
    for name in north south; do
        (umask 077; sed "s|^store = .*|store = \"${HERE/shop\?/$name?}\";|" prescient.cfg >$name.cfg)
        at "CREATE DATABASE $name"
    done
    by_the_page "two stores" "several"
}

on_sqlite
[ -x "$BIN/initdb" ] || { echo "# no PostgreSQL server here"; exit; }
server main
the_shop
restores
engines
looks
several
