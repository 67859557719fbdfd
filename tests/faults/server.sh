# server.sh - a PostgreSQL of a scenario's own, to be tormented: stopped, crashed, refusing,
# read-only, starting up for ever, without some of its sessions. Sourced after lib.sh. No fault is
# recorded here: callers put fault_begins and fault_ends around it.
#
#   a_server [setting=value...]     starts one in $TMP/pg, sets CLUSTER, STORE_NAME, PRESCIENT_STORE
#                                   and SERVER_URL; it ends with the scenario. `port=N` listens at
#                                   127.0.0.1 too (free_port finds one); PG_INITDB="--waldir=..."
#                                   goes to initdb.
#   server_down                     ends it before that (its folder is gone: another a_server may
#                                   follow)
#   on_a_server F [setting=value...]   all of it: starts one, calls F, ends it; needs_a_server
#                                      skips the scenario, with a reason, when none can be started
#   server_sql SQL                  runs SQL as its administrator, on a direct connection, also
#                                   while it is read-only
#
#   server_stop MODE  server_start  server_restart MODE        MODE: smart, fast, immediate
#   server_crash                    SIGKILL to all of its processes, as when the machine loses its
#                                   power; then server_start
#   server_refuses  server_serves   the port is closed (the server is stopped, with its sockets);
#                   and open again
#   server_starts_up                it runs, and answers 57P03, "the database system is starting
#                                   up", until server_promote
#   server_standby                  it is a standby, which can be read and not written, until
#                                   server_promote
#   server_read_only  server_read_write                        default_transaction_read_only for
#                     everybody
#   server_set NAME VALUE           a setting for everybody, from now on; server_reset NAME
#
#   engine_sessions                 the pids of the engines' sessions, oldest first
#   session_terminate PID  sessions_terminate                  pg_terminate_backend, of one, of all
#                          except ours
#   session_kill PID                SIGKILL of one backend: the whole server restarts and recovers
#
# Each returns once its effect is there, and fails if that takes too long.

server_ctl() { "$FAULTS/../pg_cluster.sh" ctl "$CLUSTER" "$@"; }

# Below those that the kernel gives to connections (32768 and up): they would take it while the
# server is away, a client that looks for the server even finding itself there.
free_port() {
    python3 -c '
import random, socket
for port in random.sample(range(15000, 32000), 200):
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        continue
    print(port)
    break'
}

a_server() {
    local s settings=()
    for s; do
        case $s in port=*) settings+=("listen_addresses=127.0.0.1") ;; esac
        settings+=("$s")
    done
    chmod 711 "$TMP"
    CLUSTER=$TMP/pg STORE_NAME=postgresql
    at_end server_down
    SERVER_URL=$("$FAULTS/../pg_cluster.sh" start "$CLUSTER" "${settings[@]}") || {
        fail "a server of our own" "$SERVER_URL"; exit 1
    }
    for s; do
        case $s in port=*) SERVER_URL="$SERVER_URL&port=${s#port=}" ;; esac
    done
    export PRESCIENT_STORE=$SERVER_URL
}
wants_a_server() {
    [[ " ${STORES:-sqlite postgresql} " == *" postgresql "* ]] && "$FAULTS/../pg_cluster.sh" bin
}
needs_a_server() { needs wants_a_server "it needs PostgreSQL's initdb, and STORES that name postgresql"; }
server_down() {
    [ -d "$CLUSTER" ] || return 0
    "$FAULTS/../pg_cluster.sh" stop "$CLUSTER"
}

# on_a_server F [setting=value...]: the counterpart of on_stores, for a scenario that torments the
# server.
on_a_server() {
    needs_a_server
    a_server "${@:2}"
    "$1"
    server_down
}

# An administrator's session may be waited for as long as a server may take to come back, but never
# for ever.
server_sql() {
    PGCONNECT_TIMEOUT=5 PGOPTIONS='-c default_transaction_read_only=off' timeout 30 \
        psql -qXAt -v ON_ERROR_STOP=1 "$SERVER_URL" -c "$1"
}
server_answers() { server_sql 'SELECT 1' >/dev/null 2>&1; }
server_takes_writes() { [ "$(server_sql 'SELECT NOT pg_is_in_recovery()' 2>/dev/null)" = t ]; }

server_stop() { server_ctl -m "$1" stop; }
server_start() { server_ctl start && wait_until 60 server_answers; }
server_restart() { server_ctl -m "$1" restart && wait_until 60 server_answers; }
server_refuses() { server_stop fast; }
server_serves() { server_start; }

server_pids() {
    local postmaster; read -r postmaster <"$CLUSTER/data/postmaster.pid" || return 1
    echo "$postmaster"
    sed 's/ /\n/g' "/proc/$postmaster/task/$postmaster/children"
}
# What was killed is waited for until init has taken it: a zombie would count as a server that still
# runs.
server_crash() {
    local pids pid
    pids=$(server_pids) || return 1
    kill -KILL $pids 2>/dev/null
    for pid in $pids; do wait_until 10 is_gone "$pid" || return 1; done
}
is_gone() { ! [ -e "/proc/$1" ]; }

# With nothing to follow, a standby stays what it is; without hot_standby it accepts no clients.
server_waits() {
    server_stop "$1" || return 1
    touch "$CLUSTER/data/standby.signal"
    server_ctl -o "-c hot_standby=$2" start
}
server_starts_up() { server_waits immediate off; }
server_standby() { server_waits fast on && wait_until 30 server_answers; }
server_promote() { server_ctl promote && wait_until 60 server_takes_writes; }

# Sessions that are there learn of it with their next statement, new ones are born with it.
server_set() { server_sql "ALTER SYSTEM SET $1 = $2" && server_reload; }
server_reset() { server_sql "ALTER SYSTEM RESET $1" && server_reload; }
server_reload() {
    local before; before=$(server_sql 'SELECT clock_timestamp()') &&
        server_sql 'SELECT pg_reload_conf()' >/dev/null && wait_until 10 server_loaded "$before"
}
server_loaded() { [ "$(server_sql "SELECT pg_conf_load_time() >= '$1'")" = t ]; }

server_read_only() { server_set default_transaction_read_only on; }
server_read_write() { server_reset default_transaction_read_only; }

engine_sessions() {
    server_sql "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()
                AND application_name LIKE 'prescient%' ORDER BY backend_start, pid"
}
session_is_over() { [ "$(server_sql "SELECT count(*) FROM pg_stat_activity WHERE pid = $1")" = 0 ]; }
session_terminate() {
    server_sql "SELECT pg_terminate_backend($1)" >/dev/null && wait_until 10 session_is_over "$1"
}
sessions_terminate() {
    server_sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()" >/dev/null
}

# A pid is killed only when it is a child of this server.
session_kill() {
    case " $(server_pids | tr '\n' ' ') " in *" $1 "*) ;; *) return 1 ;; esac
    kill -KILL "$1" && wait_until 10 is_gone "$1" && wait_until 60 server_answers
}
