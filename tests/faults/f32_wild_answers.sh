#!/usr/bin/env bash
# f32_wild_answers.sh - F32: jobs answer with now, the past, the same slot, far beyond the horizon,
#     the ends of what a number holds, and garbage
# PASS: each check moves to a strictly later slot, or ends with a reason; it is not run again and
# again.
# quick
. "$(dirname "$0")/lib.sh"

MAX=9223372036854775807

# action, its number, the outcome that ends the check, and how often it runs until then
WILD="again|0|past|1
again|-5|past|1
again|1|max_checks|3
again_from_slot|0|past|1
again_at|0|past|1
again_at|-1|past|1
again_at|-$MAX|past|1
again_at|$MAX|beyond_horizon|1
again_at|253402300799|beyond_horizon|1
again_at|253402300800|beyond_horizon|1
again|86401|beyond_horizon|1
defer|-100|deferred_out|?
defer_at|-$MAX|deferred_out|?
defer_at|0|deferred_out|?
garbage|77|bad_answer|2
garbage|-1|bad_answer|2
garbage|2147483647|bad_answer|2
bad_text|0|failed|2
silence|0|failed|2
sleep|1|failed|2"

# sql_of KEY PAYLOAD
sql_of() {
    if [ "$STORE_NAME" = sqlite ]; then
        echo "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload)
              VALUES ('row', '$1', 'witness', strftime('%s', 'now') + 1, '$2');"
    else
        echo "SELECT prescient.enqueue('row', '$1', 'witness', clock_timestamp() + interval '1 s', '$2');"
    fi
}
note() { printf 'sent\t0\t%s\trow\t%s\twitness\t0\t\nacked\t0\t%s\n' "$1" "$1" "$1" >>plan; }

wild_answers() {
    local horizon=$1 deed number outcome times n=0 sql="BEGIN;" found
    WITNESS="batch = 1; max_checks = 2; max_failures = 1; horizon = \"${horizon}s\";" a_case \
        "wild$horizon" 'workers = 2;'
    engine one
    while IFS='|' read -r deed number outcome times; do
        n=$((n + 1))
        sql+=$(sql_of "k$n" "\"$deed $number\"")
        note "k$n"
    done <<<"$WILD"
    q "$sql COMMIT" >/dev/null
    LIVE_S=$((horizon < 60 ? 20 : 5))
    if [ "$horizon" -ge 60 ]; then
        # Deferred without end: a day is long. They wait, in later slots.
        ok "$CASE_NAME: all but those deferred are over" wait_until 20 only_deferred_wait
        q "DELETE FROM {future_job}"
        sed -i '/\tk1[234]\t/d; /\tk1[234]$/d' plan
        sed -i '/\tk1[234]\t/d' journal
        q "DELETE FROM {future_job_run} WHERE entity_key IN ('k12', 'k13', 'k14')"
        q "DELETE FROM {event} WHERE entity_key IN ('k12', 'k13', 'k14')"
    fi
    verdict F32
    n=0
    while IFS='|' read -r deed number outcome times; do
        n=$((n + 1))
        [ "$horizon" -lt 60 ] || [ "$times" != '?' ] || continue
        [ "$horizon" -ge 60 ] || [ "$deed $number" != "again 86401" ] || continue
        found=$(q "SELECT outcome, run_count FROM {future_job_history} WHERE entity_key = 'k$n'")
        if [ "$times" = '?' ]; then
            is "$CASE_NAME: $deed $number" "${found%|*}" "$outcome"
            at_most "$CASE_NAME: $deed $number: a run a slot (runs)" "${found#*|}" $((horizon + 4))
        else
            is "$CASE_NAME: $deed $number" "$found" "$outcome|$times"
        fi
    done <<<"$WILD"
}
only_deferred_wait() {
    [ "$(q "SELECT count(*) FROM {future_job} WHERE deferred_at IS NULL")" = 0 ] &&
        [ "$(q "SELECT count(*) FROM {future_job}")" = 3 ]
}

long_horizon() { wild_answers 86400; }
short_horizon() { wild_answers 4; }

on_both_stores short_horizon
[ -n "${QUICK:-}" ] || on_both_stores long_horizon
