# bouncer.sh - a PgBouncer in transaction mode in front of a server or a pair, which does not know
# prepared statements. Sourced after lib.sh.
#
#   bouncer_start URL [setting=value...]    in front of the server of that URL; of several hosts the
#                                           one that takes writes now
#   bouncer_url [DATABASE]                  the URL for engines and applications
#   bouncer_pause, bouncer_resume           transactions wait from the next one on; they continue
#   bouncer_retarget URL                    another server from the next transaction on, as by a
#                                           failover manager; the fault `retarget`
#   bouncer_restart                         its clients lose their connections; the fault
#                                           `bouncer-restart`
#   bouncer_q COMMAND                       runs a command of its console
#   bouncer_stop                            ends it; so does the end of the scenario
#
# It serves all databases of the server; every client is user postgres there.

BOUNCER=$TMP/bouncer
BOUNCER_SETTINGS=()

needs_bouncer() {
    PGBOUNCER=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v pgbouncer)
    needs '[ -n "$PGBOUNCER" ]' "it needs the program pgbouncer"
}

bouncer_as() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --init-groups env -i PATH="$PATH" "$@")
    else
        (cd / && "$@")
    fi
}
bouncer_url() { echo "postgresql://postgres@/${1:-postgres}?host=$BOUNCER&port=6432&connect_timeout=3"; }
bouncer_q() { psql -qXAt "$(bouncer_url pgbouncer)" -c "$1"; }
bouncer_answers() { bouncer_q 'SHOW VERSION' >/dev/null 2>&1; }
bouncer_pid() { cat "$BOUNCER/pid" 2>/dev/null; }

# The server that libpq reaches there. One that has to be asked for first must answer now.
bouncer_target() { psql -qX "$1" <<<'\echo host=:HOST port=:PORT' 2>/dev/null; }

# bouncer_settings TARGET: one line a setting; those of the caller last, since the last one counts.
bouncer_settings() {
    printf '%s\n' '[databases]' "* = $1 user=postgres" '[pgbouncer]' 'listen_addr =' 'listen_port = 6432' \
        "unix_socket_dir = $BOUNCER" 'auth_type = any' \
        'admin_users = postgres' 'pool_mode = transaction' 'default_pool_size = 20' \
        'max_client_conn = 500' 'server_login_retry = 1' 'server_connect_timeout = 3' \
        'query_wait_timeout = 10' "logfile = $BOUNCER/log" "pidfile = $BOUNCER/pid" \
        ${BOUNCER_SETTINGS[@]+"${BOUNCER_SETTINGS[@]/=/ = }"} >"$BOUNCER/ini"
}

bouncer_up() {
    bouncer_as "$PGBOUNCER" -q -d "$BOUNCER/ini" 2>>"$BOUNCER/words" &&
        wait_until 10 bouncer_answers && return
    fail "pgbouncer answers" "$(tail -3 "$BOUNCER/log" "$BOUNCER/words" 2>/dev/null)"
    return 1
}
bouncer_start() {
    local target
    target=$(bouncer_target "$1")
    [ -n "$target" ] || { fail "there is a server for pgbouncer"; return 1; }
    shift
    BOUNCER_SETTINGS=("$@")
    at_end bouncer_stop
    chmod 711 "$TMP"
    mkdir -p "$BOUNCER"
    bouncer_settings "$target"
    [ "$(id -u)" != 0 ] || chown -R postgres "$BOUNCER"
    bouncer_up
}

# PAUSE waits for transactions under way, which may hang; so it is given a few seconds, and is in
# force all the same.
bouncer_pause() { timeout 5 psql -qXAt "$(bouncer_url pgbouncer)" -c PAUSE >/dev/null 2>&1; true; }
bouncer_resume() { bouncer_q RESUME >/dev/null; }

# Connections to the old server are closed as soon as no transaction uses them.
bouncer_retarget() {
    local target
    fault_begins retarget store
    target=$(bouncer_target "$1")
    [ -n "$target" ] || { fail "there is a server for pgbouncer to turn to"; return 1; }
    bouncer_settings "$target"
    bouncer_q RELOAD >/dev/null && bouncer_q RECONNECT >/dev/null
    fault_ends retarget store
}

bouncer_end() {
    local pid; pid=$(bouncer_pid)
    [ -n "$pid" ] || return 0
    kill -TERM "$pid" 2>/dev/null       # without a goodbye to its clients
    wait_until 5 is_over "$pid" || kill -KILL "$pid" 2>/dev/null
    rm -f "$BOUNCER/pid" "$BOUNCER"/.s.PGSQL.*
}
bouncer_restart() {
    fault_begins bouncer-restart store
    bouncer_end
    bouncer_up
    fault_ends bouncer-restart store
}
bouncer_stop() {
    bouncer_end
    rm -rf "${BOUNCER:?}"
}
