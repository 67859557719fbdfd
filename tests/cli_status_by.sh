#!/usr/bin/env bash
# cli_status_by.sh - status --by: what runs were like, by job, entity and tenant, after a run, a
# replay and a daemon that was stopped; status --slow: which go on for long.
# about 40 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
json_begins

plugin mixed 'if (strcmp(check->entity_key, "2") == 0) {
        prescient_fail(answer, "no");
        return;
    }
    if (strcmp(check->entity_key, "3") == 0) {
        prescient_again(answer, check->now + 900);
        return;
    }
    usleep(20000);
    prescient_done(answer);' '#include <string.h>
#include <unistd.h>'

config() {
    cat >prescient.cfg <<CFG
plugin_dirs = [ "$TMP/jobs", "$TEST_JOBS", "$JOBS" ];
workers = 1;
jobs = { mixed = { plugin = "mixed"; max_checks = 100; }; noop = { plugin = "noop"; }; };
CFG
    chmod 600 prescient.cfg
}

# by PART FIELDS...: a tuple a row
by() {
    local part=$1; shift
    "$P" --json status --by "$part" --since 2029-12-31 | json "[tuple(r[k] for k in '$*'.split()) for r in j]"
}

what_is_asked() {
    for key in 1 2 3 4; do
        "$P" --quiet --now 2030-01-01 enqueue orders $key mixed +15m >/dev/null
        tenant=acme
        [ $key != 4 ] || tenant=other
        "$P" --quiet --now 2030-01-01 enqueue carts $key noop +15m --tenant $tenant >/dev/null
    done
    "$P" --quiet --log-level error --now 2030-01-01T00:15:00Z run
    is "$STORE_NAME: how the runs of each job ended" \
        "$(by job name runs done again failed timeout crashed other)" \
        "[('mixed', 4, 2, 1, 1, 0, 0, 0), ('noop', 4, 4, 0, 0, 0, 0, 0)]"
    is "$STORE_NAME: and those of each entity, the dearest first" "$(by entity name runs)" \
        "[('orders', 4), ('carts', 4)]"
    is "$STORE_NAME: and those of each tenant, or else entity" "$(by tenant name runs)" \
        "[('orders', 4), ('acme', 3), ('other', 1)]"
    is "$STORE_NAME: how long they took" \
        "$("$P" --json status --by job --since 2029-12-31 | json \
            '[j[0]["took_p50_us"] <= j[0]["took_p95_us"] <= j[0]["took_p99_us"] <= j[0]["took_max_us"],
              j[0]["took_p95_us"] >= 18000, j[0]["took_max_us"] >= 20000, j[0]["took_us"] >= 40000]')" \
        "[True, True, True, True]"
    is "$STORE_NAME: people see a line each" \
        "$("$P" status --by job --since 2029-12-31 | awk '{ print $1, $2 }' | xargs)" \
        "name runs mixed 4 noop 4"
    is "$STORE_NAME: at most so many" \
        "$("$P" status --by job --since 2029-12-31 --limit 1 2>.said | awk 'NR > 1 { print $1 }')" mixed
    has "$STORE_NAME: and it says that there are more" "$(<.said)" "there are more"
}

hours_of_a_replay() {
    "$P" --quiet --log-level error replay --from 2030-01-01T00:30:00Z --to 2030-01-01T05:00:00Z
    is "$STORE_NAME: a replay adds its runs, by the virtual time" \
        "$("$P" --json status --by job --since 2030-01-01T04:00:00Z |
            json '[(r["name"], 1 <= r["again"] <= 5) for r in j]')" "[('mixed', True)]"
}

ask_now() {
    if [ "$STORE_NAME" = sqlite ]; then
        q "INSERT INTO prescient_enqueue_now (entity_name, entity_key, job_exec) VALUES ('row', '$1', '$2')"
    else
        q "SELECT prescient.enqueue_now('row', '$1', '$2')" >/dev/null
    fi
}
rows_have_run() { [ "$(q "SELECT count(*) FROM {future_job_history} WHERE entity_name = 'row'")" = "$1" ]; }

a_daemon_that_stops() {
    start daemon "$P" --quiet --log-level warn daemon
    ask_now 1 noop
    ask_now 2 noop
    ok "$STORE_NAME: a daemon runs what is asked for at once" wait_until 20 rows_have_run 2
    kill -TERM "$(pid_of daemon)"
    join daemon
    is "$STORE_NAME: and writes down what its runs were like when it is stopped" \
        "$("$P" --json status --by entity | json '[r["runs"] for r in j if r["name"] == "row"]')" "[2]"
    is "$STORE_NAME: with not a word" "$(cat daemon.err)" ""
}

# A look that is held, until the file is gone. It is in a full slot: its lane holds a lease for as
# long as it runs, and in SQLite there is no other lane for full slots.
held_job() { cat <<CFG
held = { plugin = "journal"; settings = { file = "$TMP/$STORE_NAME.journal"; hold = "$TMP/held"; }; };
CFG
}
slow() { "$P" --json status --slow 5s | json "$1"; }
a_run_goes_on() { [ "$(slow 'len(j)')" = "$1" ]; }

what_goes_on() {
    sed "s#jobs = {#jobs = { $(held_job)#" prescient.cfg >held.cfg
    : >held
    fill 1 $(($(date +%s) / 900 * 900)) held "'held'"
    start daemon "$P" --config held.cfg --quiet --log-level warn daemon
    ok "$STORE_NAME: a run that goes on for long is shown" wait_until 30 a_run_goes_on 1
    is "$STORE_NAME: which one, and where it was found" \
        "$(slow '[(r["entity_name"], r["entity_key"], r["job_exec"]) for r in j]')" \
        "[('row', 'held', 'held')]"
    is "$STORE_NAME: by which worker of which engine" \
        "$(slow '[(r["worker"], r["engine"].split("/")[-1]) for r in j]')" \
        "[($(workers_but_keepers_of "$(pid_of daemon)"), '$(pid_of daemon)')]"
    is "$STORE_NAME: no other goes on for an hour" "$("$P" status --slow 1h)" \
        "no run has been going on for so long"
    rm held
    ok "$STORE_NAME: and is gone when it is over" wait_until 40 a_run_goes_on 0
    kill -TERM "$(pid_of daemon)"
    join daemon
}

what_is_refused() {
    fails_with 2 "--by and --slow: expected one of them" "$P" status --by job --slow 5s
    fails_with 2 "--slow" "$P" status --slow 1s

    fails_with 2 "--by: found 'jobs', expected job, entity or tenant" "$P" status --by jobs
    fails_with 2 "--since goes with --by" "$P" status --since -1h
    fails_with 2 "--wide goes with --by" "$P" status --wide
    is "$STORE_NAME: nothing has run since" "$("$P" status --by job --since 2099-01-01)" \
        "no runs (in that time)"
}

status_by() {
    config
    "$P" --quiet init >/dev/null
    what_is_asked
    hours_of_a_replay
    a_daemon_that_stops
    what_goes_on
    what_is_refused
}

on_each_store status_by
