#!/usr/bin/env bash
# t_wrong_rows.sh - rows that a plain INSERT got wrong on PostgreSQL. A pass refuses at its slot
# what it cannot run, in words, and runs what stands beside it; a time that is no whole second, and
# so no slot, is moved into one, and what is in another bucket than its key's is filed in that one.
# Nothing is run twice, disappears, or stops an engine.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -n "$SERVER" ] || { echo "# no PostgreSQL: SQLite refuses such an INSERT"; exit 0; }
new_database wrong_$$
q() { psql -qXAt "$HERE" -c "SET timezone = 'UTC'" -c "$1" 2>&1; }
cat >prescient.cfg <<CFG
store = "$HERE";
plugin_dirs = [ "$(dirname "$P")/jobs" ];
jobs = { noop = { plugin = "noop"; settings = { answer = "done"; }; }; };
CFG
chmod 600 prescient.cfg
export PRESCIENT_CONFIG=$PWD/prescient.cfg
ok "a schema" "$P" init

# put KEY BUCKET TIME [COLUMN VALUE]: a row of a plain INSERT.
put() {
    q "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                         next_check_at${4:+, $4})
       VALUES ($2, 'e', $1, 'noop', now(), $3${5:+, $5})"
}
own() { echo "prescient.bucket_of('e', $1)"; }
# Asked for once: a slot may begin while the test runs.
slot="timestamptz '$(q "SELECT prescient.slot_floor(now()) - interval '1 hour'")'"
put "'good'" "$(own "'good'")" "$slot"
put "'bucket'" "($(own "'bucket'") + 1) % 64" "$slot"
put "'counts'" "$(own "'counts'")" "$slot" failure_count -1
put "repeat('long', 1250)" "$(own "repeat('long', 1250)")" "$slot"
put "'payload'" "$(own "'payload'")" "$slot" payload "to_json(repeat('x', 70000))"
put "'second'" "$(own "'second'")" "$slot + interval '7 minutes'"
put "'fraction'" "$(own "'fraction'")" "$slot + interval '0.5 s'"
put "'before'" "$(own "'before'")" "'1950-01-01 00:15+00'"
put "'never'" "$(own "'never'")" "'-infinity'"
put "'waits'" "($(own "'waits'") + 1) % 64" "$slot + interval '4 hours'"
is "all of them are there" "$(q "SELECT count(*) FROM prescient.future_job")" 10
has "a bucket that no lease is for is refused" "$(put "'none'" 64 "$slot")" \
    "bucket is bucket_of(entity_name, entity_key), 0 to 63"
is "a check in a wrong bucket is not found" "$("$P" resolve e waits --json | json 'j["resolved"]')" 0

told=$("$P" doctor)
limited 100 "$P" run >run.out 2>run.err
is "a run ends, and says by its exit code that not all is well" $? 1
is "what is right is run, once" "$(q "SELECT entity_key || ' ' || outcome || ' ' || run_count
                                        FROM prescient.future_job_history ORDER BY 1")" \
    $'bucket done 1\ngood done 1\nsecond done 1'
has "a wrong bucket is told before" "$told" \
    "2 of the next 1000 checks are in a wrong one, as (e, bucket, noop)"
has "one that waits comes into the right one, and a run says so" "$(cat run.err)" \
    "1 waiting check was in a bucket that is not that of the key, as (e, waits, noop): a plain INSERT filed"
is "from then on it can be resolved" "$("$P" resolve e waits --json | json 'j["resolved"]')" 1
q "DELETE FROM prescient.future_job_history WHERE outcome = 'resolved'" >/dev/null
has "a negative count" "$(cat run.err)" "(e, counts, noop) has a negative count"
has "a long name" "$(cat run.err)" "longlong, noop) has a name that is too long"
has "a large payload" "$(cat run.err)" "(e, payload, noop) has a payload that is too large"
has "and what to do" "$(cat run.err)" "delete the row, and enqueue the check"
is "these stay where they are" "$(q "SELECT string_agg(left(entity_key, 7), ',' ORDER BY entity_key)
    FROM prescient.future_job WHERE next_check_at = $slot")" "counts,longlon,payload"
is "they are overdue" \
    "$("$P" status --json | json 'j[0]["overdue"] if isinstance(j, list) else j["overdue"]')" 3
is "a time that is no slot becomes one" \
    "$(q "SELECT string_agg(entity_key, ',' ORDER BY entity_key) FROM prescient.future_job
           WHERE next_check_at > now() AND prescient.is_slot(next_check_at)")" "before,fraction,never"
is "the run log says why" \
    "$(q "SELECT count(*) FROM prescient.future_job_run WHERE outcome = 'reslotted'
           AND note LIKE 'not run: it was filed at %, which is no slot of 900 s%'")" 3

has "and so does the run" "$(cat run.err)" \
    "3 late checks were at times that are no slot, as only a plain INSERT files them"

limited 100 "$P" --now +1h run >run.out 2>run.err
is "the next run ends, too" $? 1
is "and has run those, each once" \
    "$(q "SELECT string_agg(entity_key || ' ' || run_count, ',' ORDER BY entity_key)
            FROM prescient.future_job_history")" "before 1,bucket 1,fraction 1,good 1,never 1,second 1"
is "the others are still there" "$(q "SELECT count(*) FROM prescient.future_job")" 3
limited 100 "$P" reslot >run.out 2>run.err
is "reslot ends, too" $? 1
is "and moves none of them" "$(q "SELECT count(*) FROM prescient.future_job WHERE next_check_at = $slot")" 3

# More than one call moves, and a late slot behind them all.
q "DELETE FROM prescient.future_job"
q "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)
   SELECT $(own k.key), 'e', k.key, 'noop', now(), $slot + i * interval '0.123 s'
     FROM generate_series(1, 5000) i, LATERAL (SELECT 'many' || i AS key OFFSET 0) k WHERE i % 1000 <> 0"
put "'behind'" "$(own "'behind'")" "$slot + interval '15 minutes'"
limited 100 "$P" run >run.out 2>run.err
is "a run moves as many as there are, and is well" $? 0
has "in words" "$(cat run.err)" "4995 late checks were at times that are no slot"
is "and blames no old transaction" "$(grep -c 'old transaction' run.err)" 0
is "all of them are in slots" \
    "$(q "SELECT count(*) FROM prescient.future_job WHERE prescient.is_slot(next_check_at)")" 4995
is "what is late in a slot is run" \
    "$(q "SELECT count(*) FROM prescient.future_job_history WHERE entity_key = 'behind'")" 1

# What stands beside a row with such values is run all the same.
q "DELETE FROM prescient.future_job" >/dev/null
q "DELETE FROM prescient.future_job_history" >/dev/null
put "'beside'" "$(own "'beside'")" "$slot + interval '15 minutes'"
put "'line'" "$(own "'line'")" "$slot + interval '15 minutes'" origin "E'1772370900\\n/7'"
put "'infinity'" "$(own "'infinity'")" "$slot + interval '15 minutes'" put_off_at "'infinity'"
put "'past'" "$(own "'past'")" "$slot + interval '15 minutes'" put_off_at "'-infinity'"
limited 100 "$P" run >run.out 2>run.err
is "a run ends that meets them" $? 1
is "what is beside them is run, once" "$(q "SELECT entity_key || ' ' || outcome || ' ' || run_count
                                              FROM prescient.future_job_history ORDER BY 1")" \
    $'beside done 1\ninfinity done 1\npast done 1'
has "an origin of two lines" "$(cat run.err)" "(e, line, noop) has an origin with an end of line"

# Ids of one's own: each answer is written to its own row, however far the ids are from each other,
# and though doubles cannot tell some of them apart.
q "DELETE FROM prescient.future_job" >/dev/null
q "DELETE FROM prescient.future_job_history" >/dev/null
ids="-9223372036854775807 -5 0 3 9007199254740991 9007199254740992 9007199254740993 9007199254740994
     9223372036854775806 9223372036854775807"
for id in $ids; do
    put "'id $id'" "$(own "'id $id'")" "$slot + interval '30 minutes'" id "$id"
done
limited 100 "$P" run >run.out 2>run.err
is "a run with such ids is well" $? 0
is "each of them is run, once" "$(q "SELECT entity_key || ' ' || outcome || ' ' || run_count
                                       FROM prescient.future_job_history ORDER BY entity_key")" \
    "$(for id in $ids; do echo "id $id done 1"; done | LC_ALL=C sort)"
is "and none is left" "$(q "SELECT count(*) FROM prescient.future_job")" 0
