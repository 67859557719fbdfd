#!/usr/bin/env bash
# drivers.sh [DRIVER...]    the SQL API from each language: every driver of drivers.tsv that is
#                           installed makes the same calls, with its own types
#
# Without arguments these are the two that `make check` has time for; with DRIVERS_FETCH=1
# (`make drivers`) all of them.
#
# A cluster of its own, on loopback, and a database for each driver. A driver that is not installed
# is skipped, and the last lines say which, and what to install. DRIVERS_FETCH=1 also fetches the
# drivers of Node by npm, into a temporary folder, in the versions of tests/drivers/package.json;
# without it a test needs no network. PG_BIN: the server's programs.
# not instrumented
# night: all drivers that are here
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tests/drivers/lib.sh"
HERE=$ROOT/tests/drivers
TABLE=$HERE/table.py
ZONE=Asia/Kathmandu                             # a zone that no machine is in by chance

stop_all() {
    stop_loopback
    finish
}
trap 'stop_all || exit 1' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

start_loopback || { echo "# skipped: no PostgreSQL server here"; exit 0; }
export PGHOST=127.0.0.1 PGPORT=$PORT
sql() { psql -qXAt -v ON_ERROR_STOP=1 -U postgres "$@"; }

# ---- one database, which is the template of all others -------------------------------------------

cat >prescient.cfg <<'CFG'
slot_length = "1s";                             # so that times are compared to the second
CFG
sql -d postgres -c "CREATE DATABASE of_all"
ok "the schema" "$P" --store "postgresql://postgres@127.0.0.1:$PORT/of_all" init
sql -d postgres -c "CREATE ROLE shop LOGIN IN ROLE prescient_enqueuer" \
    -c "ALTER ROLE shop SET timezone = '$ZONE'"

# ---- LANGUAGE_run ARGUMENT...: the program of a driver, which reads the file `cases` -------------

python_run() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$HERE/run_$1.py" cases; }
node_run() { node "$HERE/run_$1.js" cases; }
java_run() {
    [ -e "$TMP/RunJdbc.class" ] || javac -cp "$JAR" -d "$TMP" "$HERE/RunJdbc.java" || return 1
    java -XX:TieredStopAtLevel=1 -Duser.timezone="$ZONE" -cp "$TMP:$JAR" RunJdbc cases "$@"
}
go_run() { go_build "$TMP/run_$1" "$HERE/go/cases.go" "$HERE/go/$1.go" && "$TMP/run_$1" cases; }
ruby_run() { ruby "$HERE/run_ruby_pg.rb" cases "$@"; }

# ---- each driver ---------------------------------------------------------------------------------

# The database's clock, and the day after its day
now() {
    sql -F ' ' -c "SET timezone = '$ZONE'" \
        -c "SELECT extract(epoch FROM now()), extract(epoch FROM timestamptz 'tomorrow')"
}

# run_driver NAME LANGUAGE ARGUMENT...
run_driver() {
    local name=$1 language=$2; shift 2
    mkdir -p "$name" && cd "$name" || return 1
    export PGDATABASE=d_${name//[^a-zA-Z0-9]/_}
    PGDATABASE=${PGDATABASE,,}
    sql -d postgres -c "CREATE DATABASE $PGDATABASE TEMPLATE of_all"
    "$TABLE" before "$name" | sql >/dev/null
    "$TABLE" cases "$name" >cases
    now >around
    PGUSER=shop PGTZ=$ZONE "${language}_run" "$@" >answers 2>errors ||
        { FAILED=1; echo "not ok - $name: its program runs to the end"; sed 's/^/#   /' errors | tail -n 20; }
    now >>around
    sql -c "COPY (SELECT entity_name AS entity, entity_key AS key,
                         extract(epoch FROM next_check_at)::bigint AS due, payload, priority
                    FROM prescient.future_job) TO STDOUT (FORMAT csv, HEADER)" >rows
    "$TABLE" judge "$name" . || FAILED=1
    cd "$TMP" || return 1
    ran+=("$name")
}

[ $# != 0 ] || [ -n "${DRIVERS_FETCH:-}" ] || set -- psycopg2 ruby-pg

ran=() skipped=()
while IFS=$'\t' read -r name needs language arguments; do
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    read -r language arguments <<<"$language"
    if ! "${language}_ready" $arguments; then
        skipped+=("$name")
        echo "# skipped: $name is not installed ($needs)"
        continue
    fi
    run_driver "$name" "$language" $arguments </dev/null
done < <("$TABLE" list)

[ ${#ran[@]} = 0 ] || "$TABLE" print "${ran[@]}" | sed 's/^/# /'
echo "# ${#ran[@]} drivers ran, ${#skipped[@]} were skipped${skipped[*]:+: ${skipped[*]}}"
[ ${#ran[@]} != 0 ] || { FAILED=1; echo "not ok - at least one driver is installed"; }
