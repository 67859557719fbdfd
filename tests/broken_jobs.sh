#!/usr/bin/env bash
# broken_jobs.sh - an engine none of whose jobs can be loaded ends in words that name the job and what is wrong; its checks wait on.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export PRESCIENT_STORE="sqlite:$TMP/store.db"
cat >prescient.cfg <<'END'
plugin_dirs = ["plugins"];
jobs = { absent = { plugin = "absent"; }; };
END
mkdir plugins
ok "init" "$P" init
ok "a check" "$P" --now 2030-01-01 enqueue orders 1 absent +15m
fails_with 78 "absent.so" "$P" --now 2030-01-01T00:15:00Z run
fails_with 78 "no worker gets ready: none of 1 jobs can be used; the last: job absent: plug-in: no file absent.so (looked into plugins)" \
    "$P" --now 2030-01-01T00:15:00Z run
is "the check waits on, unrun" "$("$P" list --json | json '[(r["entity_key"], r["check_count"], r["failure_count"]) for r in j]')" "[('1', 0, 0)]"

touch plugins/absent.so
fails_with 78 "file too short" "$P" --now 2030-01-01T00:15:00Z run
chmod g+w plugins/absent.so
fails_with 78 "plugins/absent.so may be written by others (mode 0664)" "$P" --now 2030-01-01T00:15:00Z run
is "no lease is left behind" "$(sqlite3 store.db 'SELECT count(*) FROM prescient_slot_lease')" 0
