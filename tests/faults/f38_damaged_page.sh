#!/usr/bin/env bash
# f38_damaged_page.sh - F38: one page of the table of checks is no page any more
# PASS: its rows stay, are named and seen as late; the rest of their slot runs (in SQLite it waits with them); all other slots run, in passes and under a daemon.
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"

SLOT=1772370900                     # long over
EACH=400

# Three slots, each with rows on several pages of their own.
three_slots() {
    local n
    for n in 0 1 2; do fill "$EACH" $((SLOT + n * 900)) witness "'s$n.' || n || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"; done
}

# Each of these damages a page in the middle of the first slot's rows, and prints how many rows were on it.
damage_sqlite() {
    python3 - "${PRESCIENT_STORE#sqlite:}" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
size = db.execute("PRAGMA page_size").fetchone()[0]
leaves = db.execute("SELECT pageno, ncell FROM dbstat WHERE name = 'prescient_future_job' AND pagetype = 'leaf' ORDER BY path").fetchall()
db.close()
page, rows = leaves[len(leaves) // 6]
with open(sys.argv[1], "r+b") as f:
    f.seek((page - 1) * size)
    f.write(b"\xee" * 8)
print(rows)
END
}
damage_postgresql() {
    local file page rows
    file=$CLUSTER/data/$(server_sql "SELECT pg_relation_filepath('prescient.future_job')")
    page=$(server_sql "SELECT split_part(trim(ctid::text, '()'), ',', 1) FROM prescient.future_job WHERE entity_key LIKE 's0.$((EACH / 2))x%'")
    rows=$(server_sql "SELECT count(*) FROM prescient.future_job WHERE ctid::text LIKE '($page,%'")
    server_stop fast >/dev/null || return 1
    printf '\xee%.0s' {1..24} | dd of="$file" bs=1 seek=$((page * 8192)) conv=notrunc status=none
    server_start >/dev/null || return 1
    echo "$rows"
}

runs_of() { cut -f6 journal | grep -c "^$1"; }
twice() { cut -f6 journal | sort | uniq -d | tr '\n' ' '; }
history_of() { q "SELECT count(*) FROM {future_job_history} WHERE entity_key LIKE '$1%'"; }

# The rows of a slot that can be run beside a page that cannot be read. Those of a SQLite file could be read, and run, but not deleted: the leaf that they
# leave too empty is merged with those beside it.
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
    is "$CASE_NAME: a pass over that slot ends by itself, and its exit code says that something was left" "$CODE" 1
    has "$CASE_NAME: it says what is left" "$(cat pass.err)" "left where"
    has "$CASE_NAME: and why" "$(cat pass.err)" "$([ "$STORE_NAME" = sqlite ] && echo "is damaged" || echo "invalid page")"
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
    is "$CASE_NAME: status counts what is left as late" "$("$P" --json status | json 'j["overdue"]')" $((EACH - rest))
    at_most "$CASE_NAME: the log tells of it once" "$(grep -c 'left where' e0.err)" 2
    [ "$STORE_NAME" = postgresql ] || has "$CASE_NAME: doctor tells where the damage is" "$("$P" doctor 2>&1)" "file is whole: "
    RUNS=$(runs) RERUNS=0 LONGEST_MS=0
    record F38 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
}

# In SQLite, with pages so small that some are run before the damaged one is met: of those whose rows lie beside it some cannot be deleted. Their answers
# are dropped, each with a word, and the next engine runs them once more, or leaves them with what cannot be read.
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
    ok "$CASE_NAME: a daemon runs the slots after it" wait_until 60 runs_at_least $(($(runs_of s0) + 2 * EACH))
    sleep 2                             # some looks more
    stop_engines
    at_most "$CASE_NAME: checks that ran once more" "$(twice | wc -w)" "$dropped"
    at_most "$CASE_NAME: how often one ran" "$(cut -f6 journal | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')" 2
    RUNS=$(runs) RERUNS=$(twice | wc -w) LONGEST_MS=0
    record F38 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
}

needs "[ \"\$(sqlite3 :memory: 'PRAGMA compile_options' | grep -c DBSTAT)\" != 0 ]" "it needs an sqlite3 with dbstat"
on_stores sqlite a_damaged_page
on_stores sqlite beside_a_damaged_page
on_a_server a_damaged_page
