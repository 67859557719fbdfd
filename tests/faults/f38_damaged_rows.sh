#!/usr/bin/env bash
# f38_damaged_rows.sh - F38: rows hold values that no constraint allows, blocks of the file have
#     changed bytes
# PASS: what can be a check is run, the rest stays, is named and shown as late; the rest of the slot
# runs; changed bytes end nothing but the pass.
# quick
# limit 900
. "$(dirname "$0")/lib.sh"

SLOT=1772370900                     # long over
GOOD=40

# One a line: whether it can be run (runs) or must stay (stays), where, and what is done to the row.
damages() {
    cat <<'END'
runs sqlite entity_key = CAST(x'ff61' AS TEXT)
runs sqlite entity_key = 'a' || char(0) || 'b'
runs sqlite payload = CAST(x'22ff22' AS TEXT)
runs sqlite payload = '{'
runs sqlite first_check_at = -3
runs both check_count = 2147483647, failure_count = 2147483647
runs sqlite entity_name = ''
stays both check_count = -3
stays both failure_count = -7
stays both job_exec = 'nobody knows this job'
stays sqlite job_exec = CAST(x'ff61' AS TEXT)
stays sqlite check_count = 4294967296
stays sqlite failure_count = -4294967296
stays sqlite priority = 4294967296
stays sqlite priority = -4294967296
stays sqlite entity_name = replace(hex(zeroblob(1500)), '00', 'n')
stays sqlite payload = '"' || replace(hex(zeroblob(3000000)), '00', 'p') || '"'
stays postgresql payload = to_json(repeat('p', 3000000))
stays null entity_key = NULL
stays null check_count = NULL
stays null first_check_at = NULL
stays null priority = x'07'
stays null entity_name = x'6f'
END
}

# loosen: as a person does who wants a row in there that is refused.
loosen() {
    local name
    if [ "$STORE_NAME" = postgresql ]; then
        for name in $(q "SELECT conname FROM pg_constraint
                         WHERE conrelid = 'prescient.future_job'::regclass AND contype = 'c'"); do
            q "ALTER TABLE {future_job} DROP CONSTRAINT \"$name\""
        done
        return
    fi
    q "PRAGMA writable_schema = ON;
       UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ') STRICT', ')'), ' INTEGER NOT NULL',
           ' INTEGER'), ' TEXT NOT NULL', ' TEXT') WHERE name = 'prescient_future_job'"
}

# change ID WHAT
change() {
    if [ "$STORE_NAME" = postgresql ]; then
        q "UPDATE {future_job} SET $2 WHERE entity_key = 'd$1'"
    else
        q "PRAGMA ignore_check_constraints = ON; UPDATE {future_job} SET $2 WHERE entity_key = 'd$1'"
    fi
}

# damage: a row of its own for each line, among the good ones.
damage() {
    local n=0 runs_or_stays where what
    RUNNING_ONES=0 STAYING_ONES=0
    while read -r runs_or_stays where what; do
        [ "$where" = both ] || [ "$where" = "$STORE_NAME" ] ||
            [ "$STORE_NAME.$where" = sqlite.null ] || continue
        n=$((n + 1))
        fill 1 "$SLOT" witness "'d$n'"
        change "$n" "$what"
        if [ "$runs_or_stays" = runs ]; then
            RUNNING_ONES=$((RUNNING_ONES + 1))
        else
            STAYING_ONES=$((STAYING_ONES + 1))
        fi
        fill 1 "$SLOT" witness "'g$n'"
    done < <(damages)
    DAMAGED=$n
}

runs_of() { cut -f6 journal | grep -c "^$1"; }
twice() { cut -f6 journal | sort | uniq -d | tr '\n' ' '; }

damaged_rows() {
    SLOT_LENGTH=15m a_case rows
    fill "$GOOD" "$SLOT" witness
    loosen
    damage
    at_least "$CASE_NAME: rows are damaged" "$DAMAGED" 4
    start pass timeout -k 5 60 "$P" --json run --slot "$SLOT"
    join_within 60 pass
    is "$CASE_NAME: the pass ends, and says by its exit code that something was left" "$CODE" 1
    is "$CASE_NAME: the rest of the slot has run" "$(runs_of '[kg]')" $((GOOD + DAMAGED))
    is "$CASE_NAME: what can be a check has run, too" "$(runs)" $((GOOD + DAMAGED + RUNNING_ONES))
    is "$CASE_NAME: nothing twice" "$(twice)" ""
    is "$CASE_NAME: the others stay in their slot" \
        "$(q "SELECT count(*) FROM {future_job} WHERE <next_check_at> = $SLOT")" "$STAYING_ONES"
    has "$CASE_NAME: the log names a row" "$(grep -E 'stays? where' pass.err)" " stays where it is"
    is "$CASE_NAME: no lease is left" "$(leases)" 0
    is "$CASE_NAME: list shows them" "$("$P" --json list --limit 0 --before now | json 'len(j)')" \
        "$STAYING_ONES"
    is "$CASE_NAME: status counts them as late" "$("$P" --json status | json 'j["overdue"]')" "$STAYING_ONES"
    beside_them
    RUNS=$(runs) RERUNS=0 LONGEST_MS=0
    record F38 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
}

# A daemon lives with them: other slots run at their time, and neither log nor table of passes
# fills.
beside_them() {
    local before passes
    before=$(runs)
    passes=$(q "SELECT count(*) FROM {slot_pass}")
    engine e0
    fill 5 $((SLOT + 900)) witness "'n' || n"
    ok "$CASE_NAME: a daemon runs another late slot" wait_until 20 runs_at_least $((before + 5))
    sleep 4
    stop_engines
    at_most "$CASE_NAME: it tells of each kind once" "$(grep -cE 'stays? where' e0.err)" 6
    at_most "$CASE_NAME: passes over what cannot be run" \
        $(($(q "SELECT count(*) FROM {slot_pass}") - passes)) 30
}
on_both_stores damaged_rows

# ---- pages ----

# Changes some bytes of the table's or its indexes' pages, as the seed draws.
damage_pages() {
    python3 - "$1" "$2" <<'END'
import random, sqlite3, sys
path, seed = sys.argv[1], int(sys.argv[2])
draw = random.Random(seed)
db = sqlite3.connect(path)
size = db.execute("PRAGMA page_size").fetchone()[0]
roots = [r[0] for r in db.execute("SELECT rootpage FROM sqlite_schema"
                                  " WHERE tbl_name = 'prescient_future_job' AND rootpage > 0")]
pages = db.execute("PRAGMA page_count").fetchone()[0]
db.close()
with open(path, "r+b") as f:
    for _ in range(draw.choice([1, 1, 2, 5, 20])):
        page = draw.choice(roots + [draw.randint(2, pages)])
        f.seek((page - 1) * size + draw.choice([draw.randrange(16), draw.randrange(size)]))
        f.write(bytes([draw.randrange(256)]) * draw.choice([1, 1, 1, 2, 8, 200]))
END
}

# ends_in_order: the pass, when a signal asks it to, or before; never by a signal of its own making.
ends_in_order() {
    wait_until 2 is_over "$(pid_of pass)" || kill -TERM "$(pid_of pass)" 2>/dev/null
    wait_until 15 is_over "$(pid_of pass)" || return 1
    join pass
    case $CODE in 0 | 1 | 69 | 75 | 78 | 143) return 0 ;; *) return 1 ;; esac
}

# What can happen to a check by a changed byte: another key, another count, gone. What cannot: that
# the same check number runs again in the pass.
damaged_pages() {
    local n most=${QUICK:+3} ended=0 twice=0 told=0
    SLOT_LENGTH=15m a_case pages
    fill 400 "$SLOT" witness "'k' || n || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    cp "$TMP/damaged_pages.db" whole.db
    for ((n = 0; n < ${most:-60}; n++)); do
        rm -f "$TMP"/damaged_pages.db*
        cp whole.db "$TMP/damaged_pages.db"
        damage_pages "$TMP/damaged_pages.db" $((SEED + n))
        : >journal
        start pass "$P" --json run --slot "$SLOT"
        if ends_in_order; then
            ended=$((ended + 1))
        else
            cp "$TMP/damaged_pages.db" "bad.$n.db"; cp pass.err "bad.$n.err"
        fi
        [ -z "$(cut -f8 journal | sort | uniq -d)" ] || {
            twice=$((twice + 1)); cp journal "twice.$n.journal"
        }
        ! grep -qE 'is damaged|violate the table.s constraints|is no SQLite database|no schema' pass.err ||
            told=$((told + 1))
    done
    is "$CASE_NAME: passes over a damaged file that ended in order" "$ended" "${most:-60}"
    is "$CASE_NAME: passes in which a check number ran twice" "$twice" 0
    at_least "$CASE_NAME: passes that told of the damage" "$told" 1
    RUNS=$n RERUNS=0 LONGEST_MS=0
    record F38 "$([ "$FAILED" = 0 ] && echo passed || echo failed)"
}
on_stores sqlite damaged_pages
