# failovers.sh - what scenarios with failovers share: both connections to the pair, what must have
# survived a failover, and work that continues. Sourced after lib.sh.

. "$FAULTS/pair.sh"
. "$FAULTS/bouncer.sh"
# direct: engines know both hosts; bouncer: they know a PgBouncer, which is turned to the new
# primary
WAY=direct
WAY_SETTINGS=                       # lines of prescient.cfg for it

# on_a_pair WAY F [setting=value...]: a pair, and the way to it; calls F, ends both.
on_a_pair() {
    WAY=$1 STORE_NAME=postgresql WAY_SETTINGS=
    pair_start "${@:3}" || return 1
    if [ "$WAY" = direct ]; then
        PRESCIENT_STORE=$(pair_url)
    else
        bouncer_start "$(pair_url)" || { pair_stop; return 1; }
        PRESCIENT_STORE=$(bouncer_url) WAY_SETTINGS='prepared = false;'
    fi
    export PRESCIENT_STORE
    "$2"
    [ "$WAY" = direct ] || bouncer_stop
    pair_stop
}

# settles_on NODE: every settle that it has, a line each, in order
settles_on() {
    pair_q "$1" "SELECT slot_at, entity_name, entity_key, job_exec, check_count, failure_count, outcome
                 FROM prescient.future_job_history
                 UNION ALL SELECT slot_at, entity_name, entity_key, job_exec, check_count, failure_count,
                     outcome FROM prescient.future_job_run" | LC_ALL=C sort
}
settled_on() {
    pair_q "$1" "SELECT (SELECT count(*) FROM prescient.future_job_history) + (SELECT count(*)
                 FROM prescient.future_job_run)"
}
settled_more_than() { [ "$(settled_on "$PRIMARY" 2>/dev/null || echo 0)" -gt "$1" ]; }

# known_on NODE: the keys of all checks that it knows, in order
known_on() {
    pair_q "$1" "SELECT entity_key FROM prescient.future_job UNION SELECT entity_key
                 FROM prescient.future_job_history" | LC_ALL=C sort
}
# acknowledged_keys: the keys whose enqueue was acknowledged, up to now
acknowledged_keys() {
    awk -F'\t' '$1 == "sent" { keys[$3] = keys[$3] $5 "\n" } $1 == "acked" { printf "%s", keys[$3] }' \
        "$CASE/plan" | LC_ALL=C sort
}

# fail_over [SECONDS [COMMAND...]]: the primary is killed, the standby promoted so much later, and a
# pooler in front is switched to it. The command is run while there is no primary.
fail_over() {
    pair_kill_primary || return 1
    "${@:2}"
    sleep "${1:-0}"
    pair_promote || return 1
    [ "$WAY" = direct ] || bouncer_retarget "$(pair_url)"
}

# fail_over_without_loss [SECONDS]: and everything that was seen or acknowledged on the old primary
# is on the new one.
fail_over_without_loss() {
    acknowledged_keys >acked.before
    settles_on "$PRIMARY" >settles.before
    fail_over "${1:-0}" || return 1
    settles_on "$PRIMARY" >settles.after
    known_on "$PRIMARY" >known.after
    is "$CASE_NAME: of $(wc -l <acked.before) acknowledged enqueues none is lost" \
        "$(LC_ALL=C comm -23 acked.before known.after | wc -l)" 0
    is "$CASE_NAME: of $(wc -l <settles.before) settles none is lost" \
        "$(LC_ALL=C comm -23 settles.before settles.after | wc -l)" 0
}

# it_goes_on: something is settled on the new primary, within T.
it_goes_on() {
    local before began
    before=$(settled_on "$PRIMARY") began=$(now_ms)
    ok "$CASE_NAME: work is settled within T of the promotion" wait_until \
        "$LEASE_S" settled_more_than "$before"
    echo "# $CASE_NAME: after $(($(now_ms) - began)) ms"
}
