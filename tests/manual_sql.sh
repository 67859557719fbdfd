#!/usr/bin/env bash
# manual_sql.sh - prescient-sql(7) and the database name the same things: functions that a role may
# call with the names of their arguments, views with their columns, errors by their SQLSTATE.
. "$(dirname "$0")/lib.sh"
page=$ROOT/docs/prescient-sql.7

# The page as lines "SECTION<tab>SUBSECTION<tab>word", a word being a name in italics (an argument
# or a column) or, marked by a star, one in the heading of the subsection.
names() {
    python3 - "$page" <<'PY'
import re, sys
section = sub = ""
nofill = False
for line in open(sys.argv[1]):
    line = line.rstrip("\n")
    if line.startswith(".SH "):
        section, sub = line[4:], ""
    elif line.startswith(".SS "):
        sub = line[4:]
        for name in sub.split(", "):
            print(section, sub, "*" + name, sep="\t")
    elif line in (".nf", ".fi"):
        nofill = line == ".nf"
    elif nofill:
        for name in re.findall(r"\\fI([a-z_0-9]+)", line):
            print(section, sub, name, sep="\t")
    elif line.startswith((".IR ", ".I ")):
        for name in re.findall(r"[a-z_0-9]+", line.split(" ", 1)[1]):
            print(section, sub, name, sep="\t")
PY
}
names >names
# of SECTION: "SUBSECTION word" of the page's list, without the headings
of() { awk -F'\t' -v section="$1" '$1 == section && $3 !~ /^\*/ { print $2 "\t" $3 }' names | sort -u; }
headings() { awk -F'\t' -v s="$1" '$1 == s && $3 ~ /^\*/ { print substr($3, 2) }' names | sort -u; }
# same WHAT PROGRAM MANUAL: two lists without order; what only one of them has is printed.
same() {
    is "$1" "$(comm -3 <(sort -u <<<"$2") <(sort -u <<<"$3") |
        sed 's/^\t/only in the manual: /; t; s/^/not in the manual: /')" ""
}

# ---- SQLite ----

ok "a file" "$P" --store sqlite:file.db init
sqlite_columns() {
    python3 -c "
import sqlite3, sys
for row in sqlite3.connect('file.db').execute('SELECT name FROM pragma_table_info(?)', (sys.argv[1],)):
    print(row[0])" "$1"
}
for view in prescient_enqueue prescient_enqueue_now prescient_resolve prescient_reschedule \
    prescient_schedules; do
    same "SQLite's $view has these columns" "$(sqlite_columns $view)" \
        "$(of SQLITE | awk -F'\t' -v v=$view '$1 == v { print $2 }')"
done
for view in pending history runs run_hours running engines events slots passes; do
    [ "$view" = events ] && without='recorded_at|generation|xid' || without='-'
    same "SQLite's prescient_$view has the columns of PostgreSQL's" \
        "$(sqlite_columns prescient_$view | sed -E 's/_(at|until)_us$/_\1/')" \
        "$(of 'VIEWS (POSTGRESQL)' | awk -F'\t' -v v=$view '$1 == v { print $2 }' | grep -vxE "$without")"
done

# ---- PostgreSQL ----

[ -n "$SERVER" ] || { echo "# no PostgreSQL: its part of the page is not compared"; exit 0; }
new_database manual_$$
ok "a schema" "$P" --store "$HERE" init
sql() { psql -qXAt -F $'\t' "$HERE" -c "$1" 2>&1; }
callable="FROM pg_proc p WHERE p.pronamespace = 'prescient'::regnamespace
          AND (has_function_privilege('prescient_enqueuer', p.oid, 'EXECUTE')
               OR has_function_privilege('prescient_reader', p.oid, 'EXECUTE')
               OR has_function_privilege('prescient_operator', p.oid, 'EXECUTE')
               OR p.proname IN ('pause', 'resume', 'set_concurrency', 'set_pace'))"     # for people
functions=$(sql "SELECT DISTINCT p.proname $callable")
described=$(headings 'FUNCTIONS (POSTGRESQL)' | grep -vx 'Other functions')
same "the page has every function that a role may call, and no others" "$functions" "$described"
arguments=$(sql "SELECT DISTINCT f.name, f.argument
                 FROM (SELECT p.proname AS name, unnest(p.proargnames) AS argument $callable) f" |
    awk -F'\t' 'NR == FNR { if ($1 == "FUNCTIONS (POSTGRESQL)") subsection[$3] = $2; next }
                { print subsection["*" $1] "\t" $2 }' names -)
same "with the names of their arguments and columns" "$arguments" "$(of 'FUNCTIONS (POSTGRESQL)' |
    awk -F'\t' '$1 != "" && $2 != "any"')"
views=$(sql "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
             WHERE c.relnamespace = 'prescient'::regnamespace AND c.relkind = 'v' AND a.attnum > 0")
same "the page has every view with its columns, and no others" "$views" "$(of 'VIEWS (POSTGRESQL)' |
    awk -F'\t' '$1 != ""')"
same "it names nothing else of the schema" "" \
    "$(sed 's/\\f[A-Z]//g' "$page" | grep -oE 'prescient\.[a-z_]+' | cut -d. -f2 | sort -u |
        grep -vxE 'cfg|now' |
        grep -vxF "$(printf '%s\n' "$functions" "$(cut -f1 <<<"$views")")")"

# ---- errors ----

text=$(<"$page")
# state SQLSTATE SQL: it fails so, and the page has it.
state() {
    local words
    words=$(psql -qXAt -v VERBOSITY=sqlstate "$HERE" -c "$2" 2>&1)
    is "$1: $2" "${words: -5}" "$1"
    has "the page has $1" "$text" "$1"
}
state 22023 "SELECT prescient.enqueue('', 1, 'j', now())"
state 22023 "SELECT prescient.enqueue('o', 1, 'j', now(), NULL, 'often')"
state 22023 "SELECT * FROM prescient.enqueue_each('{o,o}', '{1}', '{j}', now())"
state 22023 "SELECT prescient.resolve('o', NULL)"
state 22023 "SELECT * FROM prescient.pending('o', NULL)"
state 22007 "SELECT prescient.enqueue('o', 1, 'j', 'some day')"
state 22008 "SELECT prescient.enqueue('o', 1, 'j', NULL)"
state 22008 "SELECT prescient.enqueue('o', 1, 'j', '1960-01-01'::date)"
state 22P02 "SELECT prescient.enqueue('o', 1, 'j', now(), '{')"
state 42804 "SELECT prescient.enqueue('o', 1.5, 'j', now())"
state 42804 "SELECT prescient.resolve('o', 1.5)"
state 42804 "SELECT * FROM prescient.pending('o', 1.5)"
state 42883 "SELECT prescient.enqueue('o', 1, 2, now())"
state 25006 "BEGIN READ ONLY; SELECT prescient.enqueue('o', 1, 'j', now())"
state 22023 "SELECT prescient.schedule('s', 'o', 1, 'j', cron => '61 * * * *')"
state 22023 "SELECT prescient.schedule('s', 'o', 1, 'j', cron => '@daily', timezone => 'Mars/Olympus')"
state 22023 "SELECT prescient.schedule('s', 'o', 1, 'j', every => '1 month')"
state 23505 "SELECT prescient.schedule(n, 'o', 1, 'j', '1 day') FROM (VALUES ('a'), ('b')) v (n)"
state P0002 "SELECT prescient.schedule_off('none')"
state 22023 "SELECT * FROM prescient.events_after('4711')"
state 42501 "SET ROLE prescient_reader; SELECT prescient.enqueue('o', 1, 'j', now())"
is "a read-only transaction may ask what waits" \
    "$(sql "BEGIN READ ONLY; SELECT count(*) FROM prescient.pending('o', 1)")" 0

# 40001: another transaction has moved the check since the snapshot was taken.
sql "SELECT prescient.enqueue('o', 1, 'j', '3 hours')" >/dev/null
late=$(psql -qXAt -v VERBOSITY=sqlstate "$HERE" 2>&1 <<SQL
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM prescient.future_job;
\! psql -qXAt "$HERE" -c "SELECT prescient.reschedule('o', 1, 'j', '6 hours')"
SELECT prescient.reschedule('o', 1, 'j', '9 hours');
SQL
)
is "40001 in SERIALIZABLE, when another has moved the check" \
    "$(grep -oE '[0-9A-Z]{5}$' <<<"$late" | tail -1)" 40001
