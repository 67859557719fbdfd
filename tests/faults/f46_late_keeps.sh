#!/usr/bin/env bash
# f46_late_keeps.sh - F46: checks are kept, moved and replaced in transactions that commit after the
#     slot, at each isolation level
# PASS: within seconds of each commit a look sees what the transaction wrote; each run leaves one
# row; nothing is lost or left.
# quick
# limit 300
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/teller.sh"

# What is asked for: `later` and `sooner` are the two outcomes of earlier. In which transaction: as
# it is; in a savepoint; in one that is rolled back, and once more; prepared; with a snapshot from
# before the slot, and the enqueue when that slot has been looked at and another session has filed
# the check again.
ASKS="keep later sooner replace"
LEVELS="committed repeatable serializable"
WAYS="plain savepoint rolled prepared late"
declare -A LEVEL=([committed]="READ COMMITTED" [repeatable]="REPEATABLE READ" [serializable]="SERIALIZABLE")
# the time for all to have asked before the slot; whether that was enough is looked at
AHEAD_S=14
SEEN_MS=6000                        # within so much of its commit what was written is seen
EPSILON_MS=60000                    # delays are judged here, by the moment of each commit

keys() {
    local ask level way
    for ask in $ASKS; do
        for level in $LEVELS; do for way in ${1:-$WAYS}; do echo "$ask.$level.$way"; done; done
    done
}
# parts KEY: ASK, IN (the isolation level), HOW (the way)
parts() { IFS=. read -r ASK IN HOW <<<"$1"; IN=${LEVEL[$IN]}; }

file() { echo "SELECT prescient.enqueue('row', '$1', 'teller', to_timestamp($2), NULL, '$3')"; }
# enqueue KEY: what is asked for
enqueue() {
    parts "$1"
    case $ASK in
    keep) file "$1" "$SLOT" keep ;;
    later) file "$1" $((SLOT + 4)) earlier ;;
    sooner) file "$1" $((SLOT - 2)) earlier ;;
    replace) file "$1" "$SLOT" replace ;;
    esac
}
writes() { echo "UPDATE thing SET written = 1 WHERE key = '$1'"; }

# begins KEY: the transaction up to where it waits
begins() {
    local ask; ask=$(enqueue "$1")
    parts "$1"
    echo "BEGIN ISOLATION LEVEL $IN; $(writes "$1");"
    case $HOW in
    plain) echo "$ask;" ;;
    savepoint) echo "SAVEPOINT s; $ask; RELEASE s;" ;;
    rolled) echo "SAVEPOINT s; $ask; ROLLBACK TO s; $ask;" ;;
    prepared) echo "$ask; PREPARE TRANSACTION '$1';" ;;
    esac
}
# ends KEY: the rest
ends() {
    parts "$1"
    case $HOW in
    prepared) echo "COMMIT PREPARED '$1';" ;;
    late) echo "$(enqueue "$1"); COMMIT;" ;;
    *) echo "COMMIT;" ;;
    esac
}

# ---- sessions ----

declare -A SESSION=()
a_session() {
    local fd
    mkfifo "$CASE/$1.in"
    psql -qXAt -v VERBOSITY=sqlstate "$PRESCIENT_STORE" <"$CASE/$1.in" >"$CASE/$1.out" 2>&1 &
    HELPERS[$1]=$!
    exec {fd}>"$CASE/$1.in"
    SESSION[$1]=$fd
}
has_said() { grep -qxF "said $2" "$CASE/$1.out" || grep -q 'ERROR' "$CASE/$1.out"; }
# say KEY WORD SQL: WORD is printed when it is done, otherwise the error
say() { { printf '%s\n\\echo said %s\n' "$3" "$2" >&"${SESSION[$1]}"; } 2>/dev/null; }
all_said() {
    local key word=$1; shift
    for key; do has_said "$key" "$word" || return 1; done
}

# in_short KEY SQL: in a session of its own, because the others run statements. Of a transaction
# that could not be prepared nothing is left to commit.
in_short() {
    grep -qs ERROR "$1.out" ||
        psql -qXAt -v VERBOSITY=sqlstate -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" -c "$2" >>"$1.out" 2>&1 || true
}

# tries_again KEY: as an application does after a serialization failure: all of it again, now in a
# short transaction.
tries_again() {
    local try words
    parts "$1"
    for ((try = 0; try < 40; try++)); do
        words=$(psql -qXAt -v VERBOSITY=sqlstate -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" \
                -c "BEGIN ISOLATION LEVEL $IN; $(writes "$1"); $(enqueue "$1"); COMMIT" 2>&1) && return
        [[ $words == *40001* ]] || break
    done
    fail "$CASE_NAME: $1: its transaction is tried again" "$words"
}

# commits KEY: recorded when the commit has been acknowledged. A transaction that failed is tried
# again when all others are over: a prepared serializable transaction blocks each new one for as
# long.
commits() {
    local words; words=$(grep -m1 ERROR "$1.out")
    case $words in
    '') printf '%s\t%s\n' "$1" "$(now_us)" >>committed ;;
    'ERROR:  40001') echo "$1" >>again ;;
    *) fail "$CASE_NAME: $1: its transaction commits" "$words" ;;
    esac
}
the_others_commit() {
    local key
    while read -r key; do
        tries_again "$key" </dev/null
        printf '%s\t%s\n' "$key" "$(now_us)" >>committed
    done <again
}

# ---- what came of it ----

slot_is_looked_at() {
    [ "$(q "SELECT count(*) FROM prescient.slot_pass WHERE slot_at = to_timestamp($SLOT)")" -gt 0 ]
}
all_seen() { [ "$(unseen | wc -l)" = 0 ]; }
# Keys without a run that saw what was written; and how long the slowest took from its commit, in
# ms.
unseen() {
    awk -F'\t' 'NR == FNR { if ($13 ~ /saw 1/) seen[$6] = 1; next } !seen[$1] { print $1 }' journal committed
}
slowest() {
    awk -F'\t' 'NR == FNR { if ($13 ~ /saw 1/ && !($6 in seen)) seen[$6] = $1; next }
                ($1 in seen) && (seen[$1] - $2) / 1000 > most { most = (seen[$1] - $2) / 1000; who = $1 }
                END { printf "%d %s\n", most, who }' journal committed
}
# KEY, runs as the job wrote them down, and rows that the store has of them, where these differ.
runs_and_rows() {
    q "SELECT entity_key, count(*) FROM (SELECT entity_key FROM prescient.future_job_history
                                          UNION ALL SELECT entity_key FROM prescient.future_job_run) r
                                              GROUP BY 1" >rows
    awk -F'[\t|]' 'FILENAME == "rows" { rows[$1] = $2; next } FILENAME == "journal" { runs[$6]++; next }
                   runs[$1] != rows[$1] { print $1, runs[$1] + 0, rows[$1] + 0 }' rows journal committed
}
# A transaction that was tried again asks while the row may be at work: the answer to what was
# replaced then leaves no row, and is counted.
without_a_row() { runs_and_rows | awk '{ n += $2 - $3 } END { print n + 0 }'; }
unexplained() { runs_and_rows | grep -vE "^($(paste -sd'|' again)|[a-z.]*\.late) "; }
superseded() { q "SELECT coalesce(sum(superseded), 0) FROM prescient.slot_pass"; }
judge() {
    local took
    wait_until 20 all_seen
    is "$CASE_NAME: a look after each commit sees what the transaction wrote" "$(unseen | tr '\n' ' ')" ""
    took=$(slowest)
    at_most "$CASE_NAME: the slowest look, in ms after its commit (${took#* })" "${took%% *}" "$SEEN_MS"
    ok "$CASE_NAME: nothing is left pending" wait_until 20 nothing_pending
    is "$CASE_NAME: each run of what was asked for before the slot leaves one row" "$(unexplained)" ""
    is "$CASE_NAME: runs without a row, and answers that were counted as superseded" \
        "$(without_a_row)" "$(superseded)"
}

# late_keeps NAME SLOT-LENGTH HELD-S: so long after its slot has been looked at the transactions
# commit
late_keeps() {
    local key open late asking=()
    local business="business = \"$PRESCIENT_STORE\";"
    JOB_LINES=$(tellers "$STORE_NAME.$1" 'query = "SELECT written FROM thing WHERE key = $1";')
    SLOT_LENGTH=$2 a_case "$1" 'workers = 4;' "$business"
    unset JOB_LINES
    : >again; : >committed
    q "SET client_min_messages = error; DROP TABLE IF EXISTS thing;
       CREATE TABLE thing (key text PRIMARY KEY, written integer NOT NULL);
       INSERT INTO thing VALUES $(keys | sed "s/.*/('&', 0)/" | paste -sd,)"
    engine e0; engine e1                # before the sessions, whose pipes they would inherit
    for key in $(keys "plain savepoint rolled late"); do a_session "$key"; done
    SLOT=$((($(now_ms) / 1000 + AHEAD_S + 1) / 2 * 2))
    for key in $(keys); do printf 'sent\t0\tb\trow\t%s\tteller\t%s\t\n' "$key" "$SLOT" >>plan; done
    printf 'acked\t1\tb\n' >>plan
    q "SELECT count(prescient.enqueue('row', key, 'teller', to_timestamp($SLOT))) FROM thing" >/dev/null
    for key in "${!SESSION[@]}"; do say "$key" begun "$(begins "$key")"; done
    for key in $(keys prepared); do in_short "$key" "$(begins "$key")" & asking+=($!); done
    wait "${asking[@]}"
    ok "$CASE_NAME: all have asked" wait_until 20 all_said begun "${!SESSION[@]}"
    at_most "$CASE_NAME: in time before the slot, in ms from it" $(($(now_ms) - SLOT * 1000)) -1
    wait_until 20 slot_is_looked_at || fail "$CASE_NAME: the slot is looked at"
    sleep "$3"                         # what comes of transactions that stay open for so long
    for key in $(keys prepared); do in_short "$key" "$(ends "$key")"; commits "$key"; done
    q "SELECT count(prescient.enqueue('row', key, 'teller', clock_timestamp() + interval '4 s')) FROM thing
        WHERE key LIKE '%.late'" >/dev/null
    for key in $(keys late) $(keys "plain savepoint rolled"); do
        say "$key" over "$(ends "$key")"
        wait_until 20 has_said "$key" over || fail "$CASE_NAME: $key is told how it ended"
        commits "$key"
    done
    the_others_commit
    for key in "${!SESSION[@]}"; do
        open=${SESSION[$key]}
        exec {open}>&-
        unset "SESSION[$key]"
    done
    late=$(grep -l 40001 "$CASE"/*.late.out | wc -l)
    echo "# $CASE_NAME: $(wc -l <committed) transactions, $(wc \
        -l <again) of them tried again ($late with an old snapshot)"
    judge
    at_least "$CASE_NAME: serialization failures, of old snapshots that met a row they do not see" \
        "$late" $((4 * 2))
    LIVE_S=20 verdict F46 --changed ''
}
all_of_them() {
    late_keeps "second" 1s 2
    [ -z "${QUICK:-}" ] || return 0
    late_keeps "seconds" 2s 5
    late_keeps "long" 1s 35             # longer than an engine tries a row that is held
}
on_a_server all_of_them max_prepared_transactions=64
