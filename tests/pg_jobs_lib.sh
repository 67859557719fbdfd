# pg_jobs_lib.sh - what the scripts about jobs with a `connection` share: a database of their own
# and a role without rights in it. Sourced, with the plug-in in PLUGIN and its settings in DEFAULTS.

. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$TESTS/jobs_lib.sh"

[ -n "$SERVER" ] || { echo "# no PostgreSQL: nothing to connect to"; exit 0; }
case $SERVER in
*"//postgres@/postgres"*) ;;
*) echo "# this server's URL names another superuser: the roles are not tried"; exit 0 ;;
esac
DB=pgjobs_$$ CALLER=caller_$$
new_database $DB
url() { sed -E "s#//postgres@/postgres#//$1@/$DB#" <<<"$SERVER"; }
as_owner() { psql -qXAt "$(url postgres)" -c "$1" 2>&1; }
as_owner "CREATE ROLE $CALLER LOGIN"
drop_role() { psql -qX "$SERVER" -c "DROP OWNED BY $CALLER" -c "DROP ROLE $CALLER" >/dev/null 2>&1; }
trap 'shells_end; processes_end; finish; code=$?; drop_role; [ $code = 0 ] || exit 1' EXIT

NOW=2030-01-01T00:05:00Z
# job [SETTINGS]: TIMEOUT, AT (the connection)
job() {
    settings "horizon = \"30d\"; timeout = \"${TIMEOUT:-10s}\"; max_failures = 0;" \
        "jobs = { tell = { plugin = \"$PLUGIN\"; settings = {
            connection = \"${AT-$(url "$CALLER")}\"; ${1:-$DEFAULTS} }; }; };"
}
# try_in_background [OPTION...]
try_in_background() {
    timeout 60 "$P" --store sqlite:none.db --now $NOW try tell orders "${KEY:-42}" --json "$@" \
        >.tried 2>.err & TRY=$!
}
# tried EXPRESSION EXPECTED [OPTION...]
tried() {
    local expression=$1 expected=$2; shift 2
    try_in_background "$@"
    wait $TRY
    is "${WHAT:-}" "$(json "$expression" <.tried)" "$expected"
}
note() { json 'j["note"]' <.tried; }
# fails WHAT WORDS [KIND]
fails() {
    WHAT="$1" tried 'j["answer"]' "${3:-fail}"
    has "$1: its words" "$(note)" "$2"
}
sessions() { as_owner "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'prescient tell' $1"; }
is_running() { [ "$(sessions "AND state = 'active' ${1:-}")" = 1 ]; }

# What all of them have in common. `told KEY`: whether the check of that row has arrived.
common_failures() {
    local port
    AT='' refused "setting 'connection' is missing"
    AT='postgresql://u:%zz-4fd1@h/db' refused "setting 'connection' cannot be read, expected"
    AT='postgresql://u:a@b:pw-4fd1@h/db' refused "setting 'connection' has a name with @ or :"
    is "without a part of the password" "$(grep -c 4fd1 .err .out)" ".err:0
.out:0"
    AT="host=$TMP dbname=x password=pw-4fd1" job; fails "no server" "x at $TMP: cannot connect: "
    is "without its password, either" "$(grep -c 4fd1 .err .tried)" ".err:0
.tried:0"
    AT=$(sed "s#/$DB#/nowhere_$$#" <<<"$(url "$CALLER")") job; fails "no database" "does not exist"
    start silent python3 -c 'import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True)
time.sleep(60)'
    wait_until 10 test -s silent.out; port=$(cat silent.out)
    # so long that its own limit, a part of that, comes first on a busy machine, too
    TIMEOUT=4s AT="host=127.0.0.1 port=$port dbname=x" job
    fails "a server that is silent" "x at 127.0.0.1: cannot connect: no answer in time"
    kill "$(pid_of silent)"; join silent
}

# Many, and a connection that is closed while nobody uses it. The store is PRESCIENT_STORE.
many() {
    job; a_clean_store
    fill 300 1700000100 tell
    "$P" --set workers=2 run --slot 1700000100 >.out 2>engine.err
    is "$STORE_NAME: many checks" \
        "$(q "SELECT outcome, count(*) FROM {future_job_history} GROUP BY 1")" "done|300"
    start daemon "$P" --set workers=1 daemon
    "$P" --quiet enqueue row before tell --at-once >/dev/null
    ok "$STORE_NAME: a check of a daemon" wait_until 30 over before
    is "$STORE_NAME: its worker stays connected" "$(sessions "AND state = 'idle'")" 1
    as_owner "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'prescient tell'" >/dev/null
    ok "$STORE_NAME: until the server ends that" wait_until 10 is_gone
    "$P" --quiet enqueue row after tell --at-once >/dev/null
    ok "$STORE_NAME: the next check" wait_until 30 over after
    is "$STORE_NAME: needs no second try" \
        "$(q "SELECT outcome FROM {future_job_history} WHERE entity_key = 'after'")" "done"
    kill -TERM "$(pid_of daemon)"; join daemon
}
is_gone() { [ "$(sessions "")" = 0 ]; }
on_both_stores() {
    export PRESCIENT_STORE
    STORE_NAME=sqlite PRESCIENT_STORE=sqlite:$TMP/store.db; "$@"
    STORE_NAME=postgresql PRESCIENT_STORE=$(url postgres); "$@"
}
