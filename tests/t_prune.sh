#!/usr/bin/env bash
# t_prune.sh - rows older than the setting `keep` are dropped, under cron and in the daemon, by one
# engine at a time. Young rows stay, also those of a replay of old slots. A day in use stays until
# it is free, and does not keep other days from being dropped.
# not for coverage
# about 15 s
# night: it waits for a daemon
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

settings 'keep = "7d"; lease = "3s"; trust = "2s"; stop_timeout = "5s";' \
    "jobs = { journal = { plugin = \"journal\"; settings = { file = \"$TMP/journal\";
            event = \"ran\"; }; }; };"
sed 's/keep = "7d"; //' prescient.cfg >forever.cfg

# of_a_month_ago: a row in each table, written 30 days ago
of_a_month_ago() {
    if [ "$STORE_NAME" = sqlite ]; then
        q "INSERT INTO {future_job_history} (check_id, ended_at_us, entity_name,
           entity_key, job_exec, outcome, check_count, failure_count, run_count, slot_at, first_check_at,
                  total_run_us, archived_at_us) SELECT 1, t, 'e', 'old', 'j', 'done', 0, 0, 1, t / 1000000,
                      t / 1000000, 0, t FROM (SELECT (strftime('%s') - 30 * 86400) * 1000000 AS t);
           INSERT INTO {future_job_run} (check_id, run_at_us, entity_name, entity_key, job_exec, outcome,
                  check_count, failure_count, slot_at, next_check_at, run_us, recorded_at_us)
                  SELECT 1, t, 'e', 'old', 'j', 'again', 1, 0, t / 1000000, t / 1000000, 0, t
                      FROM (SELECT (strftime('%s') - 30 * 86400) * 1000000 AS t);
           INSERT INTO {event} (event, entity_name, entity_key, job_exec, emitted_at_us, slot_at,
                  check_count, recorded_at_us)
                  SELECT 'old', 'e', 'old', 'j', 0, 0, 0, (strftime('%s') - 30 * 86400) * 1000000;
           INSERT INTO {slot_pass} (slot_at, bucket, pass, split, closed_at_us, recorded_at_us)
               SELECT 900, -1, 0, 1, 1, (strftime('%s') - 30 * 86400) * 1000000"
    else
        q "SELECT prescient.make_history_day(prescient.utc_day(now() - interval '30 days'));
           INSERT INTO {future_job_history} (archived_at, ended_at, slot_at, first_check_at, check_count,
                  failure_count, run_count, entity_name, entity_key, job_exec, outcome)
                  SELECT t, t, t, t, 0, 0, 1, 'e', 'old', 'j', 'done'
                      FROM (SELECT now() - interval '30 days' AS t) x;
           INSERT INTO {future_job_run} (recorded_at, run_at, slot_at, next_check_at, run_us, check_count,
                  failure_count, entity_name, entity_key, job_exec, outcome)
                  SELECT t, t, t, t, 0, 1, 0, 'e', 'old', 'j', 'again'
                      FROM (SELECT now() - interval '30 days' AS t) x;
           INSERT INTO {event} (recorded_at, emitted_at, event, entity_name, entity_key, job_exec)
               VALUES (now() - interval '30 days', now(), 'old', 'e', 'old', 'j');
           INSERT INTO {slot_pass} (recorded_at, slot_at, bucket, pass, split, closed_at)
               VALUES (now() - interval '30 days', '1970-01-01 00:15+00', -1, 0, 1, now())" >/dev/null
    fi
}
rows() { q "SELECT (SELECT count(*) FROM {future_job_history}) || ' ' || (SELECT count(*)
            FROM {future_job_run}) || ' ' || (SELECT count(*) FROM {event}) || ' ' ||
              (SELECT count(*) FROM {slot_pass} WHERE <slot_at> = 900)"; }
rows_are() { [ "$(rows)" = "$1" ]; }
an_hour_later() { q "DELETE FROM {setting} WHERE name = 'pruned_at'"; }

under_cron() {
    of_a_month_ago
    has "$STORE_NAME: doctor tells what grows, and since when" "$("$P" doctor)" \
        "$(date -u -d '30 days ago' +', since %Y-%m-%d')"
    has "$STORE_NAME: and that it is older than keep" "$("$P" doctor)" "older than keep"
    is "$STORE_NAME: without keep a month is not old" \
        "$("$P" --config forever.cfg doctor | grep -c 'nothing drops old rows')" 0
    ok "$STORE_NAME: a run without the setting" "$P" --quiet --config forever.cfg run
    is "$STORE_NAME: keeps all for ever" "$(rows)" "1 1 1 1"
    ok "$STORE_NAME: a run with keep" "$P" --log-level info run
    has "$STORE_NAME: says what it dropped" "$(<"$TMP/.err")" "pruned: history 1 "
    is "$STORE_NAME: what was old has gone" "$(rows)" "0 0 0 0"
    of_a_month_ago
    "$P" --quiet run
    is "$STORE_NAME: the next one has no turn within the hour" "$(rows)" "1 1 1 1"
    an_hour_later
    "$P" --quiet run & "$P" --quiet run
    wait $!
    is "$STORE_NAME: of two at once one has it" "$(rows)" "0 0 0 0"
    fails_with 2 "no age given: use --keep 90d" "$P" --config forever.cfg prune
}

# The slots of a replay lie ten years back; what it wrote is a minute old.
a_replay() {
    fill 5 1451606400 journal
    "$P" --quiet replay --from 2016-01-01 --to 2016-01-02 >/dev/null
    is "$STORE_NAME: a replay of old slots leaves rows" "$(archived) $(q 'SELECT count(*) FROM {event}')" \
        "5 5"
    an_hour_later
    "$P" --quiet run
    "$P" --quiet prune --keep 1d >/dev/null
    is "$STORE_NAME: they are as young as the replay" \
        "$(archived) $(q 'SELECT count(*) FROM {event}') $(
            q "SELECT count(*) > 0 FROM {slot_pass} WHERE <slot_at> < 1500000000" | tr t 1)" "5 5 1"
}

in_the_daemon() {
    local n
    a_clean_store
    of_a_month_ago
    for n in 1 2; do start "daemon$n" "$P" --log-level info daemon; done
    ok "$STORE_NAME: a daemon drops what is old" wait_until 15 rows_are "0 0 0 0"
    for n in 1 2; do kill -TERM "$(pid_of daemon$n)"; join_within 10 daemon$n; done
    is "$STORE_NAME: one of two did it all" "$(cat daemon?.err | grep -c 'pruned: history 1 ')" 1
}

# A backup reads the history, for minutes.
in_use() {
    [ "$STORE_NAME" = postgresql ] || return 0
    a_clean_store
    of_a_month_ago
    mkfifo reader
    PGAPPNAME=backup psql -qXAt "$PRESCIENT_STORE" <reader >reader.out 2>&1 &
    local pid=$!
    exec 7>reader
    echo "BEGIN; SELECT count(*) FROM prescient.future_job_history;" >&7
    wait_until 10 test -s reader.out
    "$P" --log-level info run >run.out 2>run.err
    is "$STORE_NAME: what is in use stays, and nothing else does" "$(rows)" "1 0 0 0"
    has "$STORE_NAME: in words" "$(<run.err)" "history: what is older than keep is in use and stays for now"
    fails_with 75 "is in use by pid $(
        q "SELECT pid FROM pg_stat_activity WHERE application_name = 'backup'") (backup, user " "$P" prune
    hasnt=$(grep -c 'pending detach' "$TMP/.err")
    is "$STORE_NAME: not in the server's" "$hasnt" 0
    exec 7>&-
    wait $pid
    ok "$STORE_NAME: it goes when that is over" "$P" prune
    is "$STORE_NAME: and has gone" "$(rows)" "0 0 0 0"
}

# An engine owns nothing: the days are dropped by the owner's function.
by_the_role_of_engines() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local role=prune_engine_$$ store=$PRESCIENT_STORE
    a_clean_store
    q "CREATE ROLE $role LOGIN IN ROLE prescient_engine" >/dev/null
    PRESCIENT_STORE=$(sed -E "s#//[^@/]*@#//$role@#" <<<"$store")
    is "$STORE_NAME: the role of engines, which owns nothing" \
        "$(q "SELECT current_user <> tableowner, pg_has_role('prescient_engine', 'member')
              FROM pg_tables WHERE tablename = 'future_job_history'")" "t|t"
    PRESCIENT_STORE=$store
    of_a_month_ago
    PRESCIENT_STORE=$(sed -E "s#//[^@/]*@#//$role@#" <<<"$store")
    ok "$STORE_NAME: prune by that role" "$P" --config forever.cfg prune --keep 7d
    has "$STORE_NAME: says what it dropped" "$(<"$TMP/.out")" \
        "history 1 days, runs 1 days, events 1 days, passes 1 "
    is "$STORE_NAME: and has" "$(rows)" "0 0 0 0"
    PRESCIENT_STORE=$store
    of_a_month_ago
    PRESCIENT_STORE=$(sed -E "s#//[^@/]*@#//$role@#" <<<"$store")
    ok "$STORE_NAME: a run by that role, with keep" "$P" --quiet --log-level warn run
    is "$STORE_NAME: without a word, as in the sample for cron" "$(cat "$TMP/.out" "$TMP/.err")" ""
    is "$STORE_NAME: drops them, too" "$(rows)" "0 0 0 0"
    PRESCIENT_STORE=$store
    q "DROP OWNED BY $role; DROP ROLE $role" >/dev/null
}

prune() {
    a_clean_store
    under_cron
    a_replay
    in_the_daemon
    in_use
    by_the_role_of_engines
}

on_each_store prune
