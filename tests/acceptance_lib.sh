# acceptance_lib.sh - what the t_*.sh scripts share beyond lib.sh: the store in plain SQL, a table
# full of checks, engines in the background that are ended by pid, and waiting for conditions.
# Sourced.

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 2
. "$TESTS/lib.sh"
JOBS=$(dirname "$P")/jobs
TEST_JOBS=$(dirname "$P")/tests/jobs
declare -A RUNNING=()               # name -> pid of what was started and not joined
declare -A ASIDE=()                 # function -> pid of the shell that runs it (at_once)

processes_end() {
    local name
    for name in "${!RUNNING[@]}"; do
        kill -CONT "${RUNNING[$name]}" 2>/dev/null
        kill -KILL "${RUNNING[$name]}" 2>/dev/null
        wait "${RUNNING[$name]}" 2>/dev/null
    done
    RUNNING=()
}
shells_end() {
    [ ${#ASIDE[@]} = 0 ] || { kill "${ASIDE[@]}" 2>/dev/null; wait "${ASIDE[@]}"; }
    ASIDE=()
}
everything_ends() { shells_end; processes_end; client_ends; finish; }
trap 'everything_ends || exit 1' EXIT
trap 'exit 130' INT TERM

pass() { echo "ok - $1"; }
fail() { : >"$TMP/.out"; : >"$TMP/.err"; report "$@"; }

# at_most WHAT FOUND MOST, at_least WHAT FOUND LEAST: whole numbers.
at_most() {
    if [ "$2" -le "$3" ] 2>/dev/null; then
        pass "$1 ($2)"
    else
        fail "$1" "found:    $2" "expected: at most $3"
    fi
}
at_least() {
    if [ "$2" -ge "$3" ] 2>/dev/null; then
        pass "$1 ($2)"
    else
        fail "$1" "found:    $2" "expected: at least $3"
    fi
}

# in_time WHAT FOUND MOST: the same as at_most, for milliseconds, where time is judged.
in_time() {
    ! judges_time || at_most "$1 (ms)" "$2" "$3"
}

boot_ms() { local up; read -r up _ </proc/uptime; echo "${up/./}0"; }

# at_once FUNCTION...: runs them beside each other, as they mostly wait, each in a shell, a folder
# and a store of its own. Their lines come in this order. Not for functions that keep a transaction
# open: it delays second looks in all databases of the server.
at_once() {
    local name
    for name; do
        a_store "$name" || return 0
        mkdir "$TMP/$STORE_NAME.$name"
        on_its_own "$name" >"$TMP/$STORE_NAME.$name.lines" 2>&1 &
        ASIDE[$name]=$!
    done
    for name; do
        wait "${ASIDE[$name]}" || FAILED=1
        unset "ASIDE[$name]"
        cat "$TMP/$STORE_NAME.$name.lines"
    done
}
on_its_own() {
    RUNNING=() ASIDE=() FAILED=0 DATABASES= CLIENT_STORE= JSON_READER=()
    trap 'processes_end; client_ends' EXIT
    trap 'exit 143' TERM
    TMP=$TMP/$STORE_NAME.$1
    cd "$TMP" || exit 2
    "$1"
    exit "$FAILED"
}

# ---- the store, in plain SQL ----

# On PostgreSQL; a test may set another one, before it reads this file.
export SCHEMA=${SCHEMA:-prescient}
export PRESCIENT_SCHEMA=$SCHEMA

# A client that stays, on PostgreSQL: one a look would take more of the machine than what it asks.
# It belongs to the shell that began it and those that this one waits for, $(q ...) above all; a
# shell in the background begins its own, or has none.
CLIENT=() CLIENT_STORE=             # its pid, where to write, to read, its words; of which store
client_begins() {
    client_ends
    [ "$STORE_NAME" = postgresql ] || return 0
    local pipes=$TMP/.client to from
    rm -rf "$pipes"
    mkdir "$pipes" && mkfifo "$pipes/to" "$pipes/from"
    # it does not keep open what its script will close
    psql -qXAt "$PRESCIENT_STORE" <"$pipes/to" >"$pipes/from" 2>>"$pipes/words" \
        3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
    # read and written by us: to write to a client that is gone must not end this shell
    exec {to}<>"$pipes/to" {from}<"$pipes/from"
    CLIENT=($! "$to" "$from" "$pipes/words") CLIENT_STORE=$PRESCIENT_STORE
}
client_ends() {
    [ -n "$CLIENT_STORE" ] || return 0
    kill "${CLIENT[0]}" 2>/dev/null
    wait "${CLIENT[0]}" 2>/dev/null
    exec {CLIENT[1]}>&- {CLIENT[2]}<&-
    CLIENT_STORE=
}

# client_asks SQL: prints the rows of one statement that leaves nothing behind in a session. 1 when
# there is no client for it: nothing has been changed or printed then. 2 when it fails, in words.
client_asks() {
    local line lines=()
    [ "$CLIENT_STORE" = "$PRESCIENT_STORE" ] && [[ $1 != *[\;\\]* ]] || return 1
    case $1 in SELECT* | INSERT* | UPDATE* | DELETE* | WITH*) ;; *) return 1 ;; esac
    kill -0 "${CLIENT[0]}" 2>/dev/null || return 1
    : >"${CLIENT[3]}"
    printf '%s\n;\n\\echo :ERROR end of q\n' "$1" >&"${CLIENT[1]}"
    while IFS= read -r line; do
        case $line in
        "false end of q") [ ${#lines[@]} = 0 ] || printf '%s\n' "${lines[@]}"; return 0 ;;
        "true end of q") cat "${CLIENT[3]}" >&2; return 2 ;;
        esac
        lines+=("$line")
    done <&"${CLIENT[2]}"
    return 1
}

# in_words SQL PREFIX MOMENT: {table} and <column> written out as this store has them, in the
# variable `sql` of the caller. MOMENT is an expression of COLUMN.
in_words() {
    sql=$1
    while [[ $sql =~ \{([a-z_]+)\} ]]; do
        sql=${sql//"${BASH_REMATCH[0]}"/$2${BASH_REMATCH[1]}}
    done
    while [[ $sql =~ \<([a-z_.]+)\> ]]; do
        sql=${sql//"${BASH_REMATCH[0]}"/${3/COLUMN/${BASH_REMATCH[1]}}}
    done
}

# q SQL: the rows, columns separated by |. Tables are written as {future_job}, moments as <slot_at>
# (seconds since the epoch). What the client that stays cannot do, one of its own does.
q() {
    local sql
    if [ "$STORE_NAME" = sqlite ]; then
        in_words "$1" prescient_ COLUMN
        sqlite3 -batch -noheader -cmd '.timeout 20000' "${PRESCIENT_STORE#sqlite:}" "$sql"
    else
        in_words "$1" "$SCHEMA." 'extract(epoch FROM COLUMN)::bigint'
        client_asks "$sql"
        case $? in
        0) ;;
        1) psql -qXAt -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" -c "$sql" ;;
        *) return 1 ;;
        esac
    fi
}

# fill N SLOT JOB [KEY]: N checks of entity "row" due at SLOT, by a plain INSERT; KEY is an SQL
# expression of the number n.
fill() {
    local key=${4:-"'k' || n"}
    if [ "$STORE_NAME" = sqlite ]; then
        q "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $1)
           INSERT INTO {future_job} (entity_name, entity_key, job_exec, first_check_at, next_check_at)
               SELECT 'row', $key, '$3', $2, $2 FROM c"
    else
        q "INSERT INTO {future_job} (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)
           SELECT $SCHEMA.bucket_of('row', $key), 'row', $key, '$3', to_timestamp($2), to_timestamp($2)
               FROM generate_series(1, $1) n"
    fi
}

# enqueue_in SECONDS N JOB [KEY]: N checks enqueued by an application, through the SQL API, for so
# many seconds from now.
enqueue_in() {
    local key=${4:-"'k' || n"}
    if [ "$STORE_NAME" = sqlite ]; then
        q "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $2)
           INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at)
               SELECT 'row', $key, '$3', strftime('%s', 'now') + $1 FROM c"
    else
        q "SELECT count($SCHEMA.enqueue('row', $key, '$3', interval '$1 seconds'))
           FROM generate_series(1, $2) n" >/dev/null
    fi
}

pending() { q "SELECT count(*) FROM {future_job}"; }
archived() { q "SELECT count(*) FROM {future_job_history}"; }
archived_at_least() { [ "$(archived)" -ge "$1" ]; }
leases() { q "SELECT count(*) FROM {slot_lease}"; }
nothing_pending() { [ "$(pending)" = 0 ]; }

# a_clean_store: a new, empty schema in the store of this test, whatever was in it. LOG_AHEAD=1: in
# a SQLite file whose application has chosen WAL mode.
a_clean_store() {
    if [ "$STORE_NAME" = sqlite ]; then
        rm -f "${PRESCIENT_STORE#sqlite:}"*
        [ -z "${LOG_AHEAD:-}" ] || sqlite3 -batch "${PRESCIENT_STORE#sqlite:}" \
            "PRAGMA journal_mode = WAL" >/dev/null
    else
        q "DROP SCHEMA IF EXISTS $SCHEMA CASCADE" 2>/dev/null
    fi
    "$P" --quiet init "$@" >/dev/null || { fail "$STORE_NAME: prescient init"; exit 1; }
    client_begins
}

# ---- settings and engines ----

# settings LINES: prescient.cfg in the test's folder, which is where every prescient of the test is
# started.
settings() {
    { echo "plugin_dirs = (\"$JOBS\", \"$TEST_JOBS\");"; printf '%s\n' "$@"; } >prescient.cfg
}

# start NAME command...: in the background; stdout and stderr go to NAME.out and NAME.err. pid_of
# NAME; join NAME: waits, sets CODE.
start() {
    local name=$1; shift
    setsid "$@" >"$name.out" 2>"$name.err" &
    RUNNING[$name]=$!
}
pid_of() { echo "${RUNNING[$1]}"; }
alive() { kill -0 "${RUNNING[$1]}" 2>/dev/null; }
join() {
    CODE=0
    wait "${RUNNING[$1]}" 2>/dev/null || CODE=$?
    unset "RUNNING[$1]"
}

# join_within SECONDS NAME: the same, but ends it (and fails) when it takes longer.
join_within() {
    local name=$2
    wait_until "$1" is_over "${RUNNING[$name]}" || {
        fail "$name ends within $(($1 * PATIENCE)) s"; kill -KILL "${RUNNING[$name]}"
    }
    join "$name"
}
is_over() {
    local state; state=$(sed -E 's/.*\) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 0
    [ -z "$state" ] || [ "$state" = Z ]
}

# workers_of PID: pids of the workers of the engine PID, their keepers, and what their jobs started;
# also when it is gone, since each engine has a session of its own here.
workers_of() {
    local file stat
    for file in /proc/[0-9]*/stat; do
        { read -r stat <"$file"; } 2>/dev/null || continue
        file=${file//[!0-9]/}
        read -ra stat <<<"${stat##*) }"         # state, parent, group, session, ...
        [ "${stat[3]}" != "$1" ] || [ "$file" = "$1" ] || [ "${stat[0]}" = Z ] || echo "$file"
    done
}
# A keeper is no worker: it stays in each worker's group to end it when the engine is killed.
is_keeper() { local comm; { read -r comm <"/proc/$1/comm"; } 2>/dev/null && [ "$comm" = "worker keeper" ]; }
# Of an engine that lives: its children, which is quick to know.
workers_but_keepers_of() {
    local pid children=()
    { read -ra children <"/proc/$1/task/$1/children"; } 2>/dev/null
    for pid in "${children[@]}"; do is_keeper "$pid" || echo "$pid"; done
}
no_workers_of() { [ -z "$(workers_of "$1")" ]; }

# number NAME FILE: a number of the totals that an engine printed with --json.
number() { sed -n "s/.*\"$1\": *\([0-9-]*\).*/\1/p" "$2" | tail -1; }
