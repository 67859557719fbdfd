#!/usr/bin/env bash
# broken_jobs.sh - an engine that can load none of its jobs ends with a message that names the job
# and what is wrong; its checks wait.
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
reason="job absent: plug-in: no file absent.so (looked into plugins)"
fails_with 78 "no worker gets ready: $reason" \
    "$P" --now 2030-01-01T00:15:00Z run
is "the check waits on, unrun" \
    "$("$P" list --json | json '[(r["entity_key"], r["check_count"], r["failure_count"]) for r in j]')" \
    "[('1', 0, 0)]"

touch plugins/absent.so
fails_with 78 "file too short" "$P" --now 2030-01-01T00:15:00Z run
chmod g+w plugins/absent.so
fails_with 78 "plugins/absent.so may be written by others (mode 0664)" "$P" --now 2030-01-01T00:15:00Z run
is "no lease is left behind" "$(sqlite3 store.db 'SELECT count(*) FROM prescient_slot_lease')" 0

# One that kills who loads it is left out after two, and the others run.
plugin good 'prescient_done(answer);'
plugin killer 'prescient_done(answer);' '#include <signal.h>
__attribute__((constructor)) static void kill_loader(void) { raise(SIGKILL); }'
cat >prescient.cfg <<'END'
plugin_dirs = ["jobs"];
jobs = { killer = { plugin = "killer"; }; good = { plugin = "good"; }; };
END
chmod -R go-w jobs
ok "a check of it" "$P" --now 2030-01-01 enqueue orders 2 killer +30m
ok "a check of a good one" "$P" --now 2030-01-01 enqueue orders 2 good +30m
"$P" --now 2030-01-01T00:30:00Z run >.out 2>.err
has "the log says who ended workers" "$(cat .err)" \
    "job killer: a worker died while it loaded or opened it (killed by SIGKILL): it is left out"
is "the good one ran" "$("$P" history --json | json '[(r["job_exec"], r["outcome"]) for r in j]')" \
    "[('good', 'done')]"
is "the check of the bad one is neither run nor lost" \
    "$("$P" list --json |
        json '[(r["entity_key"], r["check_count"], r["failure_count"])
              for r in j if r["job_exec"] == "killer"]')" "[('2', 0, 0)]"

sed -i 's/ good = .*};/ };/' prescient.cfg
reason="job killer: left out, as workers have died of loading or opening it"
fails_with 78 "$reason" \
    "$P" --now 2030-01-01T00:45:00Z run --slot 2030-01-01T00:30:00Z
