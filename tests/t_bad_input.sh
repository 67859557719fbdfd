#!/usr/bin/env bash
# t_bad_input.sh - bad settings, bad stores, bad values: an exit code and a message with what was
# found and what was expected, and nothing lost.
# not for coverage
# about 30 s
# night: each mistake starts a program; in the gate the suites of settings and stores make most
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

SLOT=1700000100
good='jobs = { noop = { plugin = "noop"; }; };'
settings "$good"

# ---- settings: exit 78, with file, line, what was found and what was expected ----

bad_settings() {
    local words=$1; shift
    printf '%s\n' "$@" >bad.cfg
    fails_with 78 "$words" "$P" --config bad.cfg run
}
STORE_NAME=sqlite; export PRESCIENT_STORE=sqlite:$TMP/settings.db
a_clean_store
bad_settings "bad.cfg:2" 'workers = 2;' 'lease = ;'
bad_settings "did you mean" 'wrokers = 2;'
bad_settings "bad.cfg:2: workers" '' 'workers = "many";'
bad_settings "workers" 'workers = 100000;'
bad_settings "trust" 'lease = "2s"; trust = "5s";'
bad_settings "slot_length" 'slot_length = "7m";'
# A job that cannot be loaded is no reason to refuse the others; but then there must be others.
fill 3 $SLOT noop
printf '%s\n' "plugin_dirs = (\"$JOBS\");" 'jobs = { noop = { plugin = "no_such_plugin"; }; };' >bad.cfg
fails_with 78 "no_such_plugin" "$P" --config bad.cfg run --slot $SLOT
is "and the checks wait" "$(pending) $(leases)" "3 0"
bad_settings "plugin" "plugin_dirs = (\"$JOBS\");" 'jobs = { a = { plugin = "../jobs/noop"; }; };'
fails_with 78 "missing.cfg" "$P" --config missing.cfg run
fails_with 78 "slot_length is 3600 s in the settings and 900 s" "$P" --set slot_length=1h run
fails_with 78 "slot_length is 3600 s in the settings and 900 s" "$P" --set slot_length=1h daemon

# ---- stores that are not there, too old, too new ----

began=$(now_ms)
fails_with 69 "/nowhere" "$P" --store "postgresql://u@/d?host=$TMP/nowhere" run
in_time "an engine gives up after bounded retries" "$(($(now_ms) - began))" 15000
fails_with 69 "cannot" "$P" --store "postgresql://u@127.0.0.1:1/d" --set connect_timeout=500ms list
fails_with 78 "prescient init" "$P" --store sqlite:nothing.db run
ok "and no file was made" test ! -e nothing.db

schemas() {
    if [ "$STORE_NAME" = postgresql ]; then fails_with 78 "prescient init" "$P" run; fi
    a_clean_store
    q "INSERT INTO {migration} (version, name, oldest_engine, $1, $2)
       VALUES (9999, 'of_the_future', 9999, 'x', $3)"
    fails_with 78 "9999" "$P" run
    fails_with 78 "9999" "$P" list
    q "UPDATE {migration} SET oldest_engine = 1 WHERE version = 9999"
    ok "$STORE_NAME: a newer schema that still serves this engine is fine" "$P" --quiet run
}
too_new() {
    if [ "$STORE_NAME" = sqlite ]; then
        schemas checksum applied_at_us 0
    else
        schemas sha256 applied_at "now()"
    fi
}

# ---- values, through the SQL API ----

# refused WORDS ENTITY KEY JOB AT PAYLOAD CONFLICT: the values are SQL expressions.
refused() {
    local words=$1 code=0; shift
    if [ "$STORE_NAME" = sqlite ]; then
        q "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict)
           VALUES ($1, $2, $3, $4, $5, $6)" >.out 2>.err || code=1
    else
        q "SELECT prescient.enqueue($1, $2, $3, $4, $5, $6)" >.out 2>.err || code=1
    fi
    if [ $code = 1 ] && grep -qE -- "$words" .err; then
        pass "$STORE_NAME: refused: $words"
    else
        report "$STORE_NAME: refused: $words" "values: $*"
    fi
}

values() {
    a_clean_store
    local t_ok past after long big k1025
    if [ "$STORE_NAME" = sqlite ]; then
        t_ok="'2100-01-01 00:00:00'" past="'1969-12-31 23:59:59'" after="253402300800" \
            k1025="hex(zeroblob(512)) || 'x'" big="'\"' || hex(zeroblob(32768)) || '\"'"
        refused "UTF-8" "'row'" "CAST(x'c328' AS TEXT)" "'noop'" "$t_ok" NULL NULL
        refused "NUL" "'row'" "'a' || char(0) || 'b'" "'noop'" "$t_ok" NULL NULL
        refused "check_at" "'row'" "'k'" "'noop'" "'soon'" NULL NULL
    else
        t_ok="timestamptz '2100-01-01'" past="timestamptz '1969-12-31 23:59:59+00'" \
            after="timestamptz '10000-01-01 00:00:00+00'" k1025="repeat('x', 1025)" \
            big="to_json(repeat('x', 65536))"
        refused "invalid byte sequence" "'row'" "convert_from('\\xc328', 'UTF8')" \
            "'noop'" "$t_ok" NULL "'keep'"
        refused "infinity|1970 to 9999" "'row'" "'k'" "'noop'" "timestamptz 'infinity'" NULL "'keep'"
    fi
    refused "1 to 1024" "''" "'k'" "'noop'" "$t_ok" NULL "'keep'"
    refused "1 to 1024" "'row'" "''" "'noop'" "$t_ok" NULL "'keep'"
    refused "1 to 1024" "'row'" "$k1025" "'noop'" "$t_ok" NULL "'keep'"
    refused "1 to 1024" "'row'" "'k'" "''" "$t_ok" NULL "'keep'"
    refused "entity|NOT NULL" NULL "'k'" "'noop'" "$t_ok" NULL "'keep'"
    refused "1970 to 9999" "'row'" "'k'" "'noop'" "$past" NULL "'keep'"
    refused "1970 to 9999" "'row'" "'k'" "'noop'" "$after" NULL "'keep'"
    refused "JSON|json" "'row'" "'k'" "'noop'" "$t_ok" "'{\"a\": '" "'keep'"
    refused "65536" "'row'" "'k'" "'noop'" "$t_ok" "$big" "'keep'"
    refused "keep, earlier or replace" "'row'" "'k'" "'noop'" "$t_ok" NULL "'sometimes'"
    is "$STORE_NAME: nothing of it was written" "$(pending)" 0
    # SQLite refuses an INSERT past the views; PostgreSQL at its slot (t_wrong_rows.sh).
    if [ "$STORE_NAME" = sqlite ]; then
        q "INSERT INTO {future_job} (entity_name, entity_key, job_exec, first_check_at, next_check_at)
           VALUES ('row', 'k', 'noop', 1.5, 1.5)" 2>.err
        has "$STORE_NAME: half a second is no slot" "$(cat .err)" "cannot store REAL value in INTEGER"
    fi
    # In the CLI and in a CSV file.
    fails_with 2 "1970" "$P" enqueue row k noop 1969-12-31T23:59:59Z
    fails_with 2 "9999" "$P" enqueue row k noop 253402300800
    fails_with 2 "entity_key" "$P" enqueue row "$(printf 'x%.0s' {1..1025})" noop +1h
    fails_with 2 "UTF-8" "$P" enqueue row $'\xc3\x28' noop +1h
    printf 'entity_name,entity_key,job_exec,check_at\nrow,good,noop,+1h\nrow,b\0d,noop,+1h\n' >nul.csv
    fails_with 2 "nul.csv:3" "$P" enqueue --from nul.csv
    printf 'entity_name,entity_key,job_exec,check_at\nrow,\xff\xfe,noop,+1h\n' >utf8.csv
    fails_with 2 "utf8.csv:2" "$P" enqueue --from utf8.csv
    {
        printf 'entity_name,entity_key,job_exec,check_at,payload\nrow,k,noop,+1h,"""'
        head -c 70000 /dev/zero | tr '\0' x
        printf '"""\n'
    } >big.csv
    fails_with 2 "payload" "$P" enqueue --from big.csv
    is "$STORE_NAME: nothing of it was written either" "$(pending)" 0
}

# Names that would break what does not quote: they are only names.
hostile_names() {
    a_clean_store
    local key=$'O\'Brien; DROP TABLE x; --\n"two"\t\\ \xe2\x80\xae%s $1 {}'
    "$P" --quiet --now $((SLOT - 60)) enqueue "row'\"s" "$key" noop +10s >/dev/null
    printf 'entity_name,entity_key,job_exec,check_at\n"row'"'"'""s","line one\nline ""two"",",noop,@%s\n' \
        $SLOT >quotes.csv
    ok "$STORE_NAME: a key with quotes, commas and a newline in CSV" \
        "$P" --quiet --now $((SLOT - 60)) enqueue --from quotes.csv
    ok "$STORE_NAME: a run" "$P" --quiet run --slot $SLOT
    q "SELECT entity_key FROM {future_job_history} ORDER BY entity_key" >found.keys
    { printf '%s\n' "$key"; printf 'line one\nline "two",\n'; } >expected.keys
    sort found.keys >a; sort expected.keys >b
    ok "$STORE_NAME: both are done under their own names" cmp a b
    is "$STORE_NAME: names of 1 KiB each" \
        "$("$P" --now $((SLOT - 60)) enqueue "$(printf 'e%.0s' {1..1024})" \
        "$(printf 'k%.0s' {1..1024})" noop +10s | cut -c1-4)" "new:"
    ok "$STORE_NAME: run" "$P" --quiet sweep
    is "$STORE_NAME: done" "$(archived) $(pending)" "3 0"
}

# An unknown job: the pass runs the others, ends with 1 in words, and nothing happens to the check.
unknown_job() {
    a_clean_store
    fill 5 $SLOT stranger "'s' || n"
    fill 5 $SLOT noop
    fails_with 1 "5 checks wait for job 'stranger', which is not in the settings" \
        "$P" --json run --slot $SLOT
    is "$STORE_NAME: the others ran, those wait as they were" \
        "$(archived) $(q "SELECT count(*), min(<next_check_at>), max(check_count) FROM {future_job}")" \
        "5 5|$SLOT|0"
    has "$STORE_NAME: the pass says what was left" \
        "$(q "SELECT left_jobs FROM {slot_pass} WHERE pass > 0")" stranger
}

# ---- SQLite: a file that cannot be written, a disk that is full ----

read_only_file() {
    [ "$STORE_NAME" = sqlite ] || return 0
    local file=${PRESCIENT_STORE#sqlite:} run=("$P")
    a_clean_store
    fill 10 $SLOT noop
    mkdir readonly; cp "$file" readonly/a.db; chmod 555 readonly; chmod 444 readonly/a.db
    if [ "$(id -u)" = 0 ]; then
        chmod 711 "$TMP"
        run=(setpriv --reuid=65534 --regid=65534 --clear-groups "$P")
        "${run[@]}" version >/dev/null 2>&1 || {
            pass "(the program cannot be started as nobody: read-only file left out)"; return
        }
    fi
    began=$(now_ms)
    fails_with 77 "readonly/a.db" timeout 30 "${run[@]}" --store "sqlite:$TMP/readonly/a.db" run --slot $SLOT
    in_time "it is said within seconds" "$(($(now_ms) - began))" 15000
    fails_with 77 "readonly/a.db" timeout 30 \
        "${run[@]}" --store "sqlite:$TMP/readonly/a.db" enqueue row k noop +1h
}

full_disk() {
    [ "$STORE_NAME" = sqlite ] || return 0
    mkdir disk
    { [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=2m none disk 2>/dev/null; } ||
        { pass "(no small file system could be mounted: full disk left out)"; return; }
    trap 'umount "$TMP/disk"; everything_ends || exit 1' EXIT
    PRESCIENT_STORE=sqlite:$TMP/disk/a.db
    a_clean_store
    : >journal
    settings "jobs = { journal = { plugin = \"journal\"; settings = { file = \"$TMP/journal\";
                event = \"ran\"; }; }; };"
    fill 2000 $SLOT journal
    head -c 2m /dev/zero >disk/filler 2>/dev/null
    local began code=0; began=$(now_ms)
    start engine "$P" run --slot $SLOT
    sleep 1
    is "full disk: nothing is lost" \
        "$(q 'SELECT (SELECT count(*) FROM {future_job}) + (SELECT count(*) FROM {future_job_history})')" 2000
    has "full disk: the log says so" "$(cat engine.err)" "full"
    code=0; "$P" enqueue row new journal +1h >.out 2>.err || code=$?
    is "full disk: an enqueue says so" "$code $(grep -c full .err)" "69 1"
    rm disk/filler
    join_within 30 engine
    is "with room again it goes on: each check is done once" \
        "$CODE $(q 'SELECT count(*), count(DISTINCT entity_key) FROM {future_job_history}') $(
            pending) $(leases)" "0 2000|2000 0 0"
    is "its events, too" "$(q 'SELECT count(*) FROM {event}')" 2000
    settings "$good"
}

on_each_store too_new
on_each_store values
on_each_store hostile_names
on_each_store unknown_job
on_each_store read_only_file
on_each_store full_disk
