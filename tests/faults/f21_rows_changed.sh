#!/usr/bin/env bash
# f21_rows_changed.sh - F21: rows are resolved, replaced, rescheduled, updated, deleted and inserted
#     again while their jobs run
# PASS: the settle of the old state touches nothing and is counted as superseded; the new state
# stays; what was asked for meanwhile is done.
. "$(dirname "$0")/lib.sh"

EACH=4                              # rows for each kind of change
KINDS="resolve replace reschedule update delete reinsert keep earlier"
SLOW='["sleep 9000, done"]'         # all of them run before the first is changed

# put_sql KEY SECONDS [CONFLICT [PAYLOAD]]: an enqueue by the API
put_sql() {
    if [ "$STORE_NAME" = sqlite ]; then
        echo "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict)
              VALUES ('row', '$1', 'witness', strftime('%s', 'now') + $2, '${4:-$SLOW}', '${3:-keep}');"
    else
        echo "SELECT prescient.enqueue('row', '$1', 'witness', clock_timestamp() + interval '$2 s',
              '${4:-$SLOW}', '${3:-keep}');"
    fi
}
put() { q "$(put_sql "$@")" >/dev/null; }

change_resolve() {
    if [ "$STORE_NAME" = sqlite ]; then
        q "INSERT INTO prescient_resolve (entity_name, entity_key) VALUES ('row', '$1')"
    else q "SELECT prescient.resolve('row', '$1')" >/dev/null; fi
}
change_replace() { put "$1" 12 replace '["done"]'; }
change_keep() { put "$1" 12 keep '["done"]'; }
change_earlier() { put "$1" 12 earlier '["done"]'; }
change_reschedule() {
    if [ "$STORE_NAME" = sqlite ]; then
        q "INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at)
           VALUES ('row', '$1', 'witness', strftime('%s', 'now') + 12)"
    else q "SELECT prescient.reschedule('row', '$1', 'witness', interval '12 s')" >/dev/null; fi
}
change_update() {
    if [ "$STORE_NAME" = sqlite ]; then
        q "UPDATE {future_job} SET next_check_at = next_check_at + 14 WHERE entity_key = '$1'"
    else
        q "UPDATE {future_job} SET next_check_at = next_check_at + interval '14 s' WHERE entity_key = '$1'"
    fi
}
change_delete() { q "DELETE FROM {future_job} WHERE entity_key = '$1'"; }
# A row of the same name, in the same slot, under a new id: another check.
change_reinsert() {
    local columns="bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at, payload"
    q "BEGIN; CREATE TEMP TABLE old AS SELECT $columns FROM {future_job} WHERE entity_key = '$1';
       DELETE FROM {future_job} WHERE entity_key = '$1'; INSERT INTO {future_job} ($columns) SELECT *
           FROM old; DROP TABLE old; COMMIT"
}

ends_of() {
    q "SELECT outcome, count(*) FROM {future_job_history} WHERE entity_key LIKE '$1.%'
       GROUP BY outcome ORDER BY outcome" | tr '\n' ' '
}
runs_of() { cut -f6 "$CASE/journal" | grep -c "^$1\."; }

# What is left of each kind in the end: outcomes in history, and how often its jobs ran.
judge() {
    is "$CASE_NAME: $1: history" "$(ends_of "$1")" "$2"
    is "$CASE_NAME: $1: runs" "$(runs_of "$1")" "$3"
}

all_run() { [ "$(cut -f6 "$CASE/journal" | sort -u | wc -l)" = $((8 * EACH)) ]; }

changed_rows() {
    local kind key keys superseded
    WITNESS='batch = 1;' a_case change 'workers = 32; slab = 1;'
    keys=$(for kind in $KINDS; do seq -f "$kind.%.0f" $EACH; done | shuf --random-source=<(yes "$SEED"))
    engine e0; engine e1
    if [ "$STORE_NAME" = sqlite ]; then q "BEGIN; $(for key in $keys; do put_sql "$key" 2; done) COMMIT"
    else q "$(for key in $keys; do put_sql "$key" 2; done)" >/dev/null; fi
    ok "$CASE_NAME: all jobs run at once" wait_until 8 all_run
    for key in $keys; do "change_${key%.*}" "$key"; done
    is "$CASE_NAME: none had ended when the last one was changed" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE outcome <> 'resolved'")" 0
    for kind in $KINDS; do
        printf 'sent\t0\tb\trow\t%s\twitness\t0\t\n' $(seq -f "$kind.%.0f" $EACH) >>plan
    done
    LIVE_S=50 verdict F21 --changed ''
    judge resolve "resolved|$EACH " "$EACH"
    judge replace "done|$EACH " $((2 * EACH))
    judge reschedule "done|$EACH " $((2 * EACH))
    judge update "done|$EACH " $((2 * EACH))
    judge delete "" "$EACH"
    judge reinsert "done|$EACH " $((2 * EACH))
    judge keep "done|$((2 * EACH)) " $((2 * EACH))
    judge earlier "done|$((2 * EACH)) " $((2 * EACH))
    superseded=$(q "SELECT coalesce(sum(superseded), 0) FROM {slot_pass}")
    is "$CASE_NAME: counted as superseded" "$superseded" $((6 * EACH))
}
on_both_stores changed_rows
