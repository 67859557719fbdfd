#!/usr/bin/env bash
# f42_rolling_upgrade.sh - F42: a later program migrates the schema under running engines and works
#     beside them; a job that only one engine has; other slots
# PASS: older engines continue while the schema serves them, then stop with a message; checks of an
# unknown job wait for the engine that has it; nothing is deleted, nothing runs twice.
. "$(dirname "$0")/lib.sh"
needs_command make

# A program with one migration more than ours, built beside it: in the tree of the sources, only the
# embedded SQL is made again. later_program OLDEST: the oldest engine that its migration serves:
# "all", or "none" but itself
later_program() {
    local tree=$TMP/later.$1 kind last number
    LATER=$tree/build/prescient
    [ ! -x "$LATER" ] || return 0
    mkdir -p "$tree"
    (cd "$ROOT" && cp -a Makefile install.mk CHANGELOG.md engine include jobs bench migrations tests "$tree/")
    cp -a "$(dirname "$P")" "$tree/build"
    for kind in pg sqlite; do
        last=$(basename "$(ls "$tree/migrations/$kind"/*.sql | tail -1)")
        number=$((10#${last%%_*} + 1))
        {
            echo "-- $(printf %04d $number)_later - from a test. A column more, and a table."
            echo "-- oldest engine: $([ "$1" = all ] && echo 1 || echo $number)"
            if [ $kind = pg ]; then
                echo "ALTER TABLE prescient.future_job ADD COLUMN later text;
                      CREATE TABLE prescient.later (n integer);"
            else
                echo "ALTER TABLE prescient_future_job ADD COLUMN later TEXT;
                      CREATE TABLE prescient_later (n INTEGER) STRICT;"
            fi
        } >"$tree/migrations/$kind/$(printf %04d $number)_later.sql"
    done
    (cd "$tree" && nice make -s BUILD=build all) >"$tree/log" 2>&1 || {
        fail "a later program is built" "$(tail -5 "$tree/log")"; exit 1
    }
}

# with PROGRAM command...: the same with another program as $P
with() {
    local was=$P; P=$1; shift
    "$@"
    P=$was
}

side_by_side() {
    later_program all
    WITNESS='batch = 1;' a_case beside 'workers = 2; split_at = 50;'
    engine old0; engine old1
    write_checks w --checks 900 --batch 30 --over 9 --mix busy --most-ms 10
    ok "$CASE_NAME: they are at work" wait_until 10 runs_at_least 50
    ok "$CASE_NAME: a later program migrates the schema under them" "$LATER" --quiet migrate
    with "$LATER" engine new0
    sleep 2
    ok "$CASE_NAME: the older ones go on" alive old0
    kill -TERM "$(engine_pid old0)"; engine_over old0
    is "$CASE_NAME: an older engine ends well" "$CODE" 0
    with "$LATER" engine new1
    written w
    LIVE_S=20 verdict F42
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}

too_old() {
    later_program none
    WITNESS='batch = 1;' a_case too_old 'workers = 2;'
    engine old0
    write_checks w --checks 600 --batch 30 --over 6 --mix plain
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 50
    ok "$CASE_NAME: a later program migrates the schema" "$LATER" --quiet migrate
    # Connections that are open are not asked again; the next one is.
    [ "$STORE_NAME" = sqlite ] || q "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                                     WHERE datname = current_database()
                                     AND application_name LIKE 'prescient%'" >/dev/null
    ok "$CASE_NAME: the older engine ends by itself" wait_until 10 is_over "$(engine_pid old0)"
    engine_over old0
    is "$CASE_NAME: with the exit code for a schema that does not fit" "$CODE" 78
    has "$CASE_NAME: and words" "$(cat old0.err)" "this one knows"
    with "$LATER" engine new0
    written w
    LIVE_S=20 EPSILON_MS=15000 with "$LATER" verdict F42
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}

unknown_job() {
    local special
    JOB_LINES='placeholder = { plugin = "noop"; };' a_case unknown 'workers = 2; split_at = 50;'
    JOB_LINES="$(witness witness)" case_settings; cp prescient.cfg few.cfg
    JOB_LINES="$(witness witness) $(witness special)" case_settings; cp prescient.cfg all.cfg
    engine few0 --config few.cfg daemon; engine few1 --config few.cfg daemon
    write_checks w --checks 300 --batch 30 --over 4 --mix plain --job witness --job special
    written w
    sleep 2
    is "$CASE_NAME: what nobody here knows was not run" "$(cut -f7 journal | sort -u)" witness
    special=$(grep -c '	special	' plan)
    is "$CASE_NAME: and is all there" "$(q "SELECT count(*) FROM {future_job} WHERE job_exec = 'special'")" \
        "$special"
    engine all0 --config all.cfg daemon
    LIVE_S=40 EPSILON_MS=20000 verdict F42
    is "$CASE_NAME: an engine that has it ran all of it, once" \
        "$(grep -c '	special	' "$CASE/journal")" "$special"
    is "$CASE_NAME: and nobody else" \
        "$(awk -F'\t' '$7 == "special" { print $4 }' "$CASE/journal" | sort -u | wc -l)" 1
}

# An engine may end at it, or continue in the new slots; either way no answer is lost.
other_slots() {
    WITNESS='batch = 1;' a_case slots 'workers = 2;'
    engine one
    write_checks w --checks 400 --batch 20 --over 5 --ahead 1,6 --mix busy
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 50
    ok "$CASE_NAME: the slots become twice as long" wait_until 20 "$P" --quiet migrate --slot-length 2s
    engine two
    wait_until 8 is_over "$(engine_pid one)" && engine_over one
    written w
    # Checks were moved to other slots than those they were filed under, by the migration; that is a
    # change of them all.
    LIVE_S=30 EPSILON_MS=15000 verdict F42 --changed ''
    is "$CASE_NAME: each is archived once" \
        "$(q 'SELECT count(*), count(DISTINCT entity_key) FROM {future_job_history}')" "400|400"
    is "$CASE_NAME: none in another way than its job said" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE outcome NOT IN ('done', 'failed')")" 0
    is "$CASE_NAME: nor its runs" \
        "$(q "SELECT count(*) FROM {future_job_run} WHERE outcome NOT IN ('again', 'failed')")" 0
    # An engine on PostgreSQL learns it when a move is refused, and ends with what was not settled.
    at_most "$CASE_NAME: what ran twice is what one engine had in hand" \
        "$(cut -f8,11,12 "$CASE/journal" | sort | uniq -d | wc -l)" 150
}

on_both_stores side_by_side
on_both_stores too_old
on_both_stores unknown_job
on_both_stores other_slots
