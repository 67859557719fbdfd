#!/usr/bin/env bash
# cli_schedule_show.sh - the next times that `prescient schedule show` has are those at which
# engines run the check: late, missed, with a bias of 0; and why there are none.
# about 30 s
# night: hundreds of commands
. "$(dirname "$0")/lib.sh"

echo 'jobs = { sync = { plugin = "noop"; }; };' >noop.cfg

# shown_is_run DAY TIME RULE...: what `show` has then is when engines run the check, from then on.
# Each on a day of its own: no slot of it has been run.
shown_is_run() {
    local day=2026-0$1 now=2026-0$1T$2Z shown; shift 2
    at=${day}T00:00:00Z
    p schedule add seen seen "$day" sync "$@" >/dev/null 2>&1
    at=${day}T00:15:00Z; p run >/dev/null 2>&1
    at=$now
    shown=$(p schedule show seen --json | json '" ".join(j["next_times"][:4])')
    for at in $now $shown; do p run >/dev/null 2>&1; done
    is "$STORE_NAME: shown at $now is run: $*" "$shown" "$(p runs seen "$day" --limit 0 --json |
        json '" ".join(t for t in sorted(r["run_at"][:19] + "Z" for r in j if r["outcome"] == "done")
                       if t >= "'"$now"'")')"
    p schedule remove seen >/dev/null
}

what_is_shown() {
    p() { "$P" --config noop.cfg --now "$at" "$@"; }
    ok "$STORE_NAME: init" "$P" init
    shown_is_run 4-02 03:20:00 --every 30m --bias 0
    shown_is_run 4-03 03:20:00 --every 1h --missed skip
    shown_is_run 4-05 03:20:00 --cron '*/30 * * * *'
    shown_is_run 4-06 01:50:00 --cron '0,30 * * * *' --missed run_all
    shown_is_run 4-07 03:50:00 --cron '*/30 * * * *' --missed skip
    at=2026-04-08T00:00:00Z
    p schedule add seen seen 1 sync --cron '0 * * * *' >/dev/null
    at=2026-04-08T09:00:00Z
    has "$STORE_NAME: what is late" "$(p schedule show seen)" \
        "next times      2026-04-08T09:00:01Z, at once: it is late, since 2026-04-08T01:00:00Z"
    p pause --entity seen >/dev/null
    has "$STORE_NAME: what is paused" "$(p schedule show seen)" "next times      none while it is paused"
    p resume --entity seen >/dev/null
    p schedule off seen >/dev/null
    has "$STORE_NAME: what is off" "$(p schedule show seen)" "next times      none: it is off"
    is "$STORE_NAME: in JSON" "$(p schedule show seen --json | json 'j["next_times"], j["no_times"]')" \
        "([], 'none: it is off')"
    p schedule remove seen >/dev/null
}

on_each_store what_is_shown
