# lib.sh - what the cli_*.sh scripts share: an empty folder, a store in it, and lines "ok - what" /
# "not ok - what". Sourced. The program is $P; the script ends non-zero when a line was "not ok".
# Everything is gone afterwards.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/etc_lib.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
ROOT=$PWD
P=$(realpath "${BUILD:-build}/prescient") || exit 2
[ -x "$P" ] || { echo "not ok - $P is not built" >&2; exit 2; }
TMP=$(mktemp -d "${TMPDIR:-/tmp}/prescient-cli.XXXXXX") || exit 2
cd "$TMP" || exit 2
SERVER=${PRESCIENT_TEST_PG:-}
TEMPLATE=${PRESCIENT_TEST_TEMPLATE:-}    # a database with the schema, on a server of the run's own
unset "${!PRESCIENT_@}" DATABASE_URL "${!PG@}" COLUMNS NO_COLOR NOTIFY_SOCKET WATCHDOG_USEC \
    WATCHDOG_PID JOURNAL_STREAM 2>/dev/null
# A command's patience with a server: a machine with other work may stand still for ten seconds.
export PRESCIENT_CONNECT_TIMEOUT=1m
: "${FAILED:=0}"

finish() {
    cd / || exit 2
    json_ends
    [ -n "$TEMPLATE" ] || for db in ${DATABASES:-}; do
        psql -qX "$SERVER" -c "DROP DATABASE IF EXISTS $db" >/dev/null 2>&1
    done
    rm -rf "$TMP"
    [ "$FAILED" = 0 ]
}
trap 'finish || exit 1' EXIT

# judges_time: whether seconds are judged here: in the night, as a busy machine has its own, and
# not of an instrumented program, which is slow.
judges_time() { [ -n "${NIGHT:-}" ] && [ -z "${SANITIZE:-}${COVERAGE:-}" ]; }

# children_of PID: the processes that it has started, a line each
children_of() { tr -s ' ' '\n' 2>/dev/null <"/proc/$1/task/$1/children"; }

now_ms() { local t=$EPOCHREALTIME; t=${t/[.,]/}; echo $((t / 1000)); }

# wait_until SECONDS command...: true as soon as the command is; false after so many seconds, times
# PATIENCE. A limit is only there for what never comes: what is awaited is no question of time.
PATIENCE=${PATIENCE:-1}
wait_until() {
    local until=$(($(now_ms) + $1 * PATIENCE * 1000)); shift
    until "$@"; do
        [ "$(now_ms)" -lt "$until" ] || return 1
        sleep 0.1
    done
}
# limited SECONDS command...: it is ended after so many seconds, times PATIENCE.
limited() { timeout "$(($1 * PATIENCE))" "${@:2}"; }

# ok WHAT command...: the command succeeds.
ok() {
    local what=$1; shift
    if "$@" >"$TMP/.out" 2>"$TMP/.err"; then echo "ok - $what"; else report "$what" "exit code $?"; fi
}

# is WHAT FOUND EXPECTED: the two are the same.
is() {
    if [ "$2" = "$3" ]; then echo "ok - $1"; else
        : >"$TMP/.out"; : >"$TMP/.err"
        report "$1" "found:    $2" "expected: $3"
    fi
}

# has WHAT FOUND WORDS: WORDS (a fixed string) stand in what was found.
has() {
    case $2 in *"$3"*) echo "ok - $1" ;; *) is "$1" "$2" "... $3 ..." ;; esac
}

# fails_with CODE WORDS command...: the exit code is CODE and stderr has WORDS (a fixed string).
fails_with() {
    local code=$1 words=$2 found=0; shift 2
    "$@" >"$TMP/.out" 2>"$TMP/.err" || found=$?
    if [ "$found" = "$code" ] && grep -qF -- "$words" "$TMP/.err"; then
        echo "ok - exit $code: $words"
    else
        report "exit $code: $words" "command:  $*" "found:    exit code $found"
    fi
}

report() {
    echo "not ok - $1"; shift
    printf '#   %s\n' "$@"
    sed 's/^/#   stdout: /' "$TMP/.out" | head -20
    sed 's/^/#   stderr: /' "$TMP/.err" | head -20
    FAILED=1
}

# sql TEXT: runs it in the database of the store.
sql() {
    if [ "$STORE_NAME" = sqlite ]; then
        sqlite3 "${PRESCIENT_STORE#sqlite:}" "$1"
    else
        psql -qX "$PRESCIENT_STORE" -c "$1"
    fi >"$TMP/.sql" 2>&1 || report "sql: $1" "$(cat "$TMP/.sql")"
}

# json EXPRESSION: the value of a Python expression about the JSON on stdin, `j`. A script that asks
# often calls json_begins once: then one Python stays, as to start one takes more than what it is
# asked. It belongs to the shell that began it and those that this one waits for; one in the
# background begins its own, or has one a question.
JSON_READER=()                      # its pid, and where to write and to read
json_begins() {
    local at=$TMP/.json.$BASHPID to from
    mkdir "$at" && mkfifo "$at/to" "$at/from"
    python3 -S -E "$ROOT/tests/ask_json.py" <"$at/to" >"$at/from" &
    # read and written by us: to write to one that is gone must not end this shell
    exec {to}<>"$at/to" {from}<"$at/from"
    JSON_READER=($! "$to" "$from")
}
json_ends() {
    [ ${#JSON_READER[@]} != 0 ] || return 0
    kill "${JSON_READER[0]}" 2>/dev/null
    wait "${JSON_READER[0]}" 2>/dev/null
    exec {JSON_READER[1]}>&- {JSON_READER[2]}<&-
    JSON_READER=()
}
json() {
    local text value
    text=$(</dev/stdin)
    [ ${#JSON_READER[@]} != 0 ] || json_begins
    kill -0 "${JSON_READER[0]}" 2>/dev/null || { echo "no Python to ask"; return; }
    printf '%s\0%s\0' "$1" "$text" >&"${JSON_READER[1]}"
    IFS= read -rd '' value <&"${JSON_READER[2]}"
    printf '%s' "${value:-no answer}"
}

# plugin NAME BODY [CODE]: builds jobs/NAME.so, whose job_exec is BODY, with CODE in front of it.
plugin() {
    mkdir -p jobs
    cat > "$1.c" <<C
#include <prescient/job.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
${3:-}
static int start_job(const struct prescient_host *host, void **state, char *why, size_t size)
{
    (void)why; (void)size; *state = (void *)host; return 0;
}
static void run(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    const struct prescient_host *host = state;
    (void)host, (void)check;
    $2
}
PRESCIENT_PLUGIN(.name = "$1", .summary = "from a test", .open = start_job, .job_exec = run);
C
    ${CC:-cc} -shared -fPIC -I"$ROOT/include" -o "jobs/$1.so" "$1.c"
}

# new_database NAME: makes it, empty, on the server; HERE is its URL. Its files are copied. Through
# the log, as PostgreSQL 15 and later would, it takes three times the work; before 15 there was no
# other way.
new_database() {
    PGOPTIONS="-c client_min_messages=warning" psql -qX -v ON_ERROR_STOP=1 "$SERVER" >/dev/null <<SQL || {
DROP DATABASE IF EXISTS $1;
SELECT format('CREATE DATABASE $1 %s', CASE WHEN current_setting('server_version_num')::integer >= 150000
                                            THEN 'STRATEGY file_copy' END) \gexec
SQL
        FAILED=1; echo "not ok - a database of our own"; return 1
    }
    DATABASES="${DATABASES:-} $1"
    [[ $SERVER =~ ^(postgres(ql)?://[^/]*/)[^?]*(.*)$ ]]
    HERE=${BASH_REMATCH[1]}$1${BASH_REMATCH[3]}
}

# a_store NAME: sets PRESCIENT_STORE to a store without a schema, in the database STORE_NAME.
a_store() {
    export PRESCIENT_STORE
    PRESCIENT_STORE="sqlite:$TMP/$1.db"
    [ "$STORE_NAME" != sqlite ] || return 0
    local HERE
    new_database "prescient_cli_$$_$1" && PRESCIENT_STORE=$HERE
}

# on_each_store FUNCTION: runs it with PRESCIENT_STORE set to a store without a schema: SQLite, and
# PostgreSQL when there is a server.
on_each_store() {
    local name
    for name in sqlite ${SERVER:+postgresql}; do
        STORE_NAME=$name
        ! a_store "$1" || "$1"
    done
    unset PRESCIENT_STORE
}
