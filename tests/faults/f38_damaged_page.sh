#!/usr/bin/env bash
# f38_damaged_page.sh - F38: one block of the table of checks is corrupt
# PASS: its rows stay, are named and shown as late; the rest of their slot runs (in SQLite it waits
# with them); all other slots run, in passes and under a daemon.
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"

SLOT=1772370900                     # long over
EACH=400

# Three slots, each with rows on several pages of their own.
three_slots() {
    local n
    for n in 0 1 2; do
        fill "$EACH" $((SLOT + n * 900)) witness \
            "'s$n.' || n || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    done
}

# Each of these damages a page in the middle of the first slot's rows, and prints how many rows were
# on it.
damage_sqlite() {
    python3 - "${PRESCIENT_STORE#sqlite:}" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
size = db.execute("PRAGMA page_size").fetchone()[0]
leaves = db.execute("SELECT pageno, ncell FROM dbstat WHERE name = 'prescient_future_job'"
                    " AND pagetype = 'leaf' ORDER BY path").fetchall()
db.close()
page, rows = leaves[len(leaves) // 6]
with open(sys.argv[1], "r+b") as f:
    f.seek((page - 1) * size)
    f.write(b"\xee" * 8)
print(rows)
END
}
# damage_relation NAME PAGE
damage_relation() {
    local file; file=$CLUSTER/data/$(server_sql "SELECT pg_relation_filepath('$1')")
    server_stop fast >/dev/null || return 1
    printf '\xee%.0s' {1..24} | dd of="$file" bs=1 seek=$(($2 * 8192)) conv=notrunc status=none
    server_start >/dev/null
}
damage_postgresql() {
    local page rows
    page=$(server_sql "SELECT split_part(trim(ctid::text, '()'), ',', 1)
                       FROM prescient.future_job WHERE entity_key LIKE 's0.$((EACH / 2))x%'")
    rows=$(server_sql "SELECT count(*) FROM prescient.future_job WHERE ctid::text LIKE '($page,%'")
    damage_relation prescient.future_job "$page" && echo "$rows"
}

runs_of() { cut -f6 journal | grep -c "^$1"; }
twice() { cut -f6 journal | sort | uniq -d | tr '\n' ' '; }
history_of() { q "SELECT count(*) FROM {future_job_history} WHERE entity_key LIKE '$1%'"; }

# The rows of a slot that can be run beside a page that cannot be read. Those of a SQLite file could
# be read, and run, but not deleted: the leaf that they leave too empty is merged with those beside
# it.
can_run() {
    case $STORE_NAME in
    sqlite) echo 0 ;;
    postgresql) echo $((EACH - $1)) ;;
    esac
}

a_damaged_page() {
    local lost rest
    SLOT_LENGTH=15m a_case page 'workers = 1; page = 200;'
    three_slots
    lost=$("damage_$STORE_NAME")
    at_least "$CASE_NAME: rows on the damaged page" "${lost:-0}" 10
    rest=$(can_run "$lost")

    start pass "$P" --quiet run --slot "$SLOT"
    join_within 60 pass
    is "$CASE_NAME: a pass over that slot ends by itself, and its exit code says that something was left" \
        "$CODE" 1
    has "$CASE_NAME: it says what is left" "$(cat pass.err)" "stay where they are"
    has "$CASE_NAME: and why" "$(cat pass.err)" \
        "$([ "$STORE_NAME" = sqlite ] && echo "is damaged" || echo "invalid page")"
    is "$CASE_NAME: the rest of the slot has run" "$(runs_of s0)" "$rest"
    is "$CASE_NAME: and is settled" "$(history_of s0)" "$rest"
    is "$CASE_NAME: nothing twice" "$(twice)" ""
    is "$CASE_NAME: no lease is left" "$(leases)" 0

    engine e0
    ok "$CASE_NAME: a daemon runs the slots after it" wait_until 30 runs_at_least $((rest + 2 * EACH))
    fill 5 "$(($(date +%s) / 900 * 900 - 900))" witness "'new.' || n"
    ok "$CASE_NAME: and what comes later" wait_until 30 runs_at_least $((rest + 2 * EACH + 5))
    stop_engines
    is "$CASE_NAME: none of the rows on the page was run, nothing twice" "$(runs_of s0)$(twice)" "$rest"
    is "$CASE_NAME: status counts what is left as late" \
        "$("$P" --json status | json 'j["overdue"]')" $((EACH - rest))
    at_most "$CASE_NAME: the log tells of it once" "$(grep -c 'stay where they are' e0.err)" 2
    [ "$STORE_NAME" = postgresql ] || has "$CASE_NAME: doctor tells where the damage is" \
        "$("$P" doctor 2>&1)" "file is whole: "
    RUNS=$(runs) RERUNS=0 LONGEST_MS=0
    record F38 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
}

# In SQLite, with pages so small that some are run before the damaged one is met: of those whose
# rows lie beside it some cannot be deleted. Their answers are dropped, each with a word, and the
# next engine runs them once more, or leaves them with what cannot be read.
beside_a_damaged_page() {
    local lost dropped
    SLOT_LENGTH=15m a_case beside 'workers = 1; page = 50;'
    three_slots
    lost=$(damage_sqlite)
    start pass "$P" --quiet run --slot "$SLOT"
    join_within 60 pass
    dropped=$(grep -c 'its answer is dropped' pass.err)
    is "$CASE_NAME: the pass ends by itself, and its exit code says that something was left" "$CODE" 1
    at_least "$CASE_NAME: answers dropped" "$dropped" 1
    is "$CASE_NAME: all others are settled" "$(history_of s0)" $(($(runs_of s0) - dropped))
    is "$CASE_NAME: nothing twice" "$(twice)" ""
    is "$CASE_NAME: no lease is left" "$(leases)" 0
    engine e0
    ok "$CASE_NAME: a daemon runs the slots after it" wait_until 60 runs_at_least \
        $(($(runs_of s0) + 2 * EACH))
    sleep 2                             # some looks more
    stop_engines
    at_most "$CASE_NAME: checks that ran once more" "$(twice | wc -w)" "$dropped"
    at_most "$CASE_NAME: how often one ran" \
        "$(cut -f6 journal | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')" 2
    RUNS=$(runs) RERUNS=$(twice | wc -w) LONGEST_MS=0
    record F38 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
}

# Corruption of the index by slot cannot be bypassed: the error is reported as it was, and a slot
# that does not exist is never run.
a_damaged_index() {
    SLOT_LENGTH=15m a_case index 'workers = 1;'
    server_sql "INSERT INTO prescient.future_job (bucket, entity_name, entity_key,
                job_exec, first_check_at, next_check_at)
                SELECT prescient.bucket_of('row', 'k' || n), 'row', 'k' || n, 'witness', t, t
                    FROM generate_series(1, 3000) n, to_timestamp($SLOT - 900 * n) t"
    damage_relation prescient.future_job_slot 4
    start sweep "$P" --quiet sweep
    join_within 60 sweep
    is "$CASE_NAME: a sweep ends by itself, as when there is no database" "$CODE" 69
    has "$CASE_NAME: it says why" "$(tail -1 sweep.err)" "invalid page"
    is "$CASE_NAME: what lies on other pages has run, once" \
        "$(q "SELECT count(*) > 100 FROM {future_job_history}")$(twice)" t
    is "$CASE_NAME: passes over slots that are none" \
        "$(q "SELECT count(*) FROM {slot_pass} WHERE <slot_at> % 900 <> 0")" 0
    start status "$P" status
    join_within 20 status
    is "$CASE_NAME: status fails, too, and at once" "$CODE" 69
    RUNS=$(runs) RERUNS=0 LONGEST_MS=0
    record F38 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
}

# No answer can be written: jobs that have run are not run again at once, a command ends, and so
# does a daemon that is told to.
a_damaged_history() {
    SLOT_LENGTH=15m a_case history 'workers = 1; page = 50;'
    fill "$EACH" "$SLOT" witness
    "$P" --quiet run --slot "$SLOT"
    fill 300 $((SLOT + 900)) witness "'late' || n"
    damage_relation "prescient.future_job_history_p$(date -u +%Y%m%d)" \
        "$(q "SELECT pg_relation_size('prescient.future_job_history_p$(date -u +%Y%m%d)') / 8192 - 1")"
    start pass "$P" --quiet run --slot $((SLOT + 900))
    join_within 60 pass
    is "$CASE_NAME: a pass ends by itself, as when there is no database" "$CODE" 69
    has "$CASE_NAME: it says why" "$(tail -1 pass.err)" "no answer can be written: invalid page"
    at_most "$CASE_NAME: in few words (lines)" "$(wc -l <pass.err)" 40
    is "$CASE_NAME: nothing was run twice" "$(twice)" ""
    wait_until 10 no_live_lease
    engine e0
    ok "$CASE_NAME: a daemon runs them, once more" wait_until 20 runs_at_least $((EACH + 300 + 20))
    sleep 3                             # tries
    at_most "$CASE_NAME: and not again" \
        "$(cut -f6 journal | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')" 2
    signal_engine e0 TERM
    ok "$CASE_NAME: told to stop, it does not wait for what cannot be written" wait_until 5 is_over \
        "$(engine_pid e0)"
    engine_over e0
    RUNS=$(runs) RERUNS=$(twice | wc -w) LONGEST_MS=0
    record F38 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
}
no_live_lease() { [ "$(q "SELECT count(*) FROM {slot_lease} WHERE expires_at > clock_timestamp()")" = 0 ]; }

needs "[ \"\$(sqlite3 :memory: 'PRAGMA compile_options' | grep -c DBSTAT)\" != 0 ]" \
    "it needs an sqlite3 with dbstat"
on_stores sqlite a_damaged_page
on_stores sqlite beside_a_damaged_page
on_a_server a_damaged_page
on_a_server a_damaged_index
on_a_server a_damaged_history
