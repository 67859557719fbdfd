#!/usr/bin/env bash
# denied_file.sh - a SQLite file, or its folder, that a user may not read or write: a command ends
# at once with exit code 77, and says which it is and whom it refuses. As root, which becomes
# another user: for root itself no right is missing.
# about 10 s
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ "$(id -u)" = 0 ] || { echo "# not root: no other user to be"; exit 0; }
chmod 755 "$TMP"
other=65534
as_other() { setpriv --reuid=$other --regid=$other --clear-groups "$@"; }
# the build may be in a folder that is nobody else's
cp "$P" "$TMP/prescient" && chmod 755 "$TMP/prescient"
P=$TMP/prescient
ok "another user can start it" as_other test -x "$P"

mkdir store
plugin noop 'prescient_done(answer);'
cat >prescient.cfg <<CFG
store = "sqlite:$TMP/store/shop.db";
plugin_dirs = ["$TMP/jobs"]; jobs = { one = { plugin = "noop"; }; };
CFG
chmod 644 prescient.cfg
chmod 755 jobs; chmod 644 jobs/*.so
ok "a store" "$P" init
ok "with a check that is due" "$P" --now 2026-03-01 enqueue orders 1 one +1h

# denied WHAT WORDS COMMAND...: it ends, without a second try
denied() {
    local what=$1 words=$2; shift 2
    fails_with 77 "$words" as_other timeout 60 "$P" "$@"
    is "$what: $1: once" "$(grep -c 'retrying\|trying again\|not reachable' "$TMP/.err")" 0
    has "$what: $1: by whom" "$(cat "$TMP/.err")" "by this user (uid $other)"
}
# A daemon that has never worked ends so, too.
writers() { for command in run sweep daemon "enqueue orders 2 one +1h"; do
    # shellcheck disable=SC2086
    denied "$1" "$2" $command
done; }
finds() {
    is "$1: doctor finds it" "$(as_other "$P" doctor | grep -c "^error  store: no check can run: .*$2")" 1
    is "$1: and speaks of no server" "$(as_other "$P" doctor | grep -c target_session)" 0
    fails_with 78 "$2" as_other "$P" config --check
}

# Another user's file. Who only looks needs no more.
chmod 755 store; chmod 644 store/shop.db
mine="who lacks the right to write $TMP/store/shop.db (owner uid 0, mode 0644)"
writers "its file" "$mine"
finds "its file" "write $TMP/store/shop.db"
ok "but it may be looked at" as_other "$P" list

# SQLite makes a journal beside it.
chmod 666 store/shop.db
folder="who lacks the right to make files in the folder $TMP/store (owner uid 0, mode 0755)"
writers "its folder" "$folder"
finds "its folder" "make files in the folder $TMP/store"
ln -s store/shop.db link.db
denied "a link" "$folder" run --store "sqlite:$TMP/link.db"

chmod 777 store
ok "with both, all is well" as_other "$P" run
ok "and config --check says so" as_other "$P" config --check
is "and doctor" "$(as_other "$P" doctor | grep -c 'may not be written')" 0

# Not even to be read; and what is no database at all: neither comes by waiting.
chmod 600 store/shop.db
for command in list status run "enqueue orders 3 one +1h"; do
    # shellcheck disable=SC2086
    denied "unreadable" "who lacks the right to read $TMP/store/shop.db (owner uid 0, mode 0600)" $command
done
chmod 700 store
denied "a folder that is closed" "who lacks the right to enter a folder on the way to $TMP/store/shop.db" list
mkdir folder.db
seq 2000 >noise.db
for command in list run daemon init; do
    fails_with 78 "noise.db is no SQLite database" timeout 60 "$P" --store "sqlite:$TMP/noise.db" $command
    is "$command: once" "$(grep -c 'retrying\|trying again' "$TMP/.err")" 0
    fails_with 78 "folder.db is a folder" timeout 60 "$P" --store "sqlite:$TMP/folder.db" $command
    is "$command: once" "$(grep -c 'retrying\|trying again' "$TMP/.err")" 0
done
