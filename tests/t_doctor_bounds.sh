#!/usr/bin/env bash
# t_doctor_bounds.sh - what doctor says where there is more than it looks at.
# about 30 s
# night: it kills, waits or judges time for minutes
SCHEMA=shop_checks            # doctor looks at the schema of the settings
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

# fails N: so many usual failures of the last day, of a job that the settings have.
fails() {
    local values="'orders', 'worn', 'failed', 2, 0, 1"
    if [ "$STORE_NAME" = sqlite ]; then
        q "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $1)
           INSERT INTO {future_job_history} (entity_name, job_exec, outcome, failure_count, check_count,
                  run_count, entity_key, check_id, slot_at, first_check_at, ended_at_us, archived_at_us,
                  total_run_us)
           SELECT $values, n, n, 0, 0, strftime('%s', 'now') * 1000000, strftime('%s', 'now') * 1000000, 0
             FROM c"
    else
        q "INSERT INTO {future_job_history} (entity_name, job_exec, outcome, failure_count, check_count,
                  run_count, entity_key, slot_at, first_check_at, ended_at, archived_at)
           SELECT $values, n, now(), now(), now(), now() FROM generate_series(1, $1) n"
    fi
}
found() { "$P" doctor --json | json "[f['found'] for f in j if f['what'] == '$1']"; }

all_of_it() {
    a_clean_store
    settings 'jobs = { worn = { plugin = "noop"; max_failures = 1; }; };'
    [ "$STORE_NAME" = sqlite ] ||
        is "in a schema of another name it looks at the database" "$(found rights)" "['as they must be']"
    fails 9
    is "$STORE_NAME: failures that are all looked at" "$(found 'refused for good')" \
        "['nothing in the last day']"
    fails 99991
    is "$STORE_NAME: failures that are not" "$(found 'refused for good')" \
        "['nothing among the newest failures of the last day; there are more than were looked at']"

    echo name,entity_name,entity_key,job_exec,every >schedules.csv
    seq 10000 | sed 's|.*|&,shops,&,worn,6h|' >>schedules.csv
    ok "$STORE_NAME: schedules" "$P" --quiet schedule load schedules.csv
    is "$STORE_NAME: all are on" "$(found schedules)" "['each that is on has its check']"
    q "UPDATE {schedule} SET is_active = $FALSE WHERE name <> '1'"
    is "$STORE_NAME: all that are off" "$(found schedules)" \
        "[\"9999 off, and their checks wait and are run; the first is '10'\"]"
    q "UPDATE {schedule} SET is_active = $FALSE"
    is "$STORE_NAME: as many as are looked at" "$(found schedules)" \
        "[\"10000 or more off, and their checks wait and are run; the first is '1'\"]"
}
everything() {
    FALSE=false
    [ "$STORE_NAME" != sqlite ] || FALSE=0
    all_of_it
}
on_each_store everything
