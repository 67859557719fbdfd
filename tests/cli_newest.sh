#!/usr/bin/env bash
# Where lists begin that are longer than their limit: slots next to now, passes and history with the
# newest; and by which option each goes on. (Events: cli_events.sh.)
. "$(dirname "$0")/lib.sh"

# times ARG...: the column of times, as hours and minutes
times() { "$P" "$@" --json 2>said | json '[(r.get("slot_at") or r["ended_at"])[11:16] for r in j]'; }

newest() {
    echo 'jobs = { noop = { plugin = "noop"; settings = { answer = "done"; }; }; };' >prescient.cfg
    chmod 600 prescient.cfg
    ok "$STORE_NAME: init" "$P" --quiet init
    echo entity_name,entity_key,job_exec,check_at >checks.csv
    for n in 1 2 3 4 5 6 7 8 9 10; do printf 'orders,%s,noop,+%sm\n' $n $((15 * n)); done >>checks.csv
    "$P" --now 2030-01-01 --quiet enqueue --from checks.csv >/dev/null

    is "$STORE_NAME: slots begin with the first, where there are not too many" \
        "$(times slots --now 2030-01-01T01:20Z --limit 10)" \
        "['00:15', '00:30', '00:45', '01:00', '01:15', '01:30', '01:45', '02:00', '02:15', '02:30']"
    is "$STORE_NAME: and say nothing" "$(<said)" ""
    is "$STORE_NAME: else next to now, in both directions" \
        "$(times slots --now 2030-01-01T01:20Z --limit 4)" "['00:45', '01:00', '01:15', '01:30']"
    is "$STORE_NAME: with what goes on" "$(<said)" \
        "prescient slots: there are earlier ones; --before 2030-01-01T00:45:00Z shows them, newest first
prescient slots: these are the first 4, there are more; --from 2030-01-01T01:30:01Z continues there, \
--limit 0 shows all"
    is "$STORE_NAME: --before has the newest first" \
        "$(times slots --before 2030-01-01T01:15Z --limit 3)" "['01:00', '00:45', '00:30']"
    has "$STORE_NAME: and says how to go on" "$(<said)" \
        "these are the newest 3, there are more; --before 2030-01-01T00:30:00Z continues there"
    is "$STORE_NAME: which ends" "$(times slots --before 2030-01-01T00:30Z --limit 3)$(<said)" "['00:15']"
    is "$STORE_NAME: all of them" "$(times slots --before 2030-01-01T00:50Z --limit 0)$(<said)" \
        "['00:45', '00:30', '00:15']"
    is "$STORE_NAME: a range is in order of time" \
        "$(times slots --from 2030-01-01T00:30Z --before 2030-01-01T01:15Z)" "['00:30', '00:45', '01:00']"
    is "$STORE_NAME: one slot is one from now on" "$(times slots --now 2030-01-01T01:20Z --limit 1)" \
        "['01:15']"

    ok "$STORE_NAME: a sweep" "$P" --now 2030-01-01T01:00:00Z --quiet sweep
    is "$STORE_NAME: passes begin with the newest" \
        "$(times passes --limit 3)" "['00:45', '00:45', '00:30']"
    has "$STORE_NAME: and say how to go on" "$(<said)" \
        "these are the newest 3, there are more; --before 2030-01-01T00:30:01Z continues there"
    is "$STORE_NAME: so that none is left out" "$(times passes --before 2030-01-01T00:30:01Z)" \
        "['00:30', '00:30', '00:15', '00:15']"
    is "$STORE_NAME: slots that are over and empty are shown before a time" \
        "$(times slots --before 2030-01-01T00:45Z)" "['00:30', '00:15']"
    is "$STORE_NAME: history of one second says how to have all" \
        "$("$P" history --limit 2 2>&1 >/dev/null)" \
        "prescient history: these are the newest 2, there are more; --limit N shows N of them, --limit 0 all"
}
on_each_store newest
