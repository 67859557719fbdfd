# pair.sh - a primary and a standby that follows it by streaming replication, and what failovers are
# made of. Sourced after lib.sh.
#
#   pair_start [setting=value...]       both nodes, called a and b; a is the primary. PRIMARY and
#                                       STANDBY have their names from then on
#   pair_url [DATABASE]                 both hosts; libpq picks the one that takes writes;
#                                       pair_url_of NODE [DATABASE]: one of them
#   pair_q NODE SQL                     runs SQL on a node, as the superuser
#   pair_sync on|off                    commits wait for the standby, or not; on is there again
#                                       after a rejoin
#   pair_lag on|off                     the standby stays connected but gets nothing: a failover
#                                       loses all commits from now on
#   pair_kill_primary, pair_promote     the two halves of a failover; the fault `failover` begins
#                                       with the first and ends with the second
#   pair_rejoin                         the old primary becomes the standby, by pg_rewind, or by a
#                                       copy where that fails
#   pair_freeze_standby, pair_thaw_standby      SIGSTOP and SIGCONT to all its processes; the fault
#                                               `standby-frozen`
#   pair_stop                           ends both; so does the end of the scenario
#
# Only unix sockets, no system service. Settings that differ between the nodes are on the
# server's command line, because a rewind or a copy brings the other node's files.

PAIR=$TMP/pgpair
PRIMARY= STANDBY= PAIR_SYNC=off PAIR_WALSENDERS=
PAIR_WAIT_S=60                      # for a server to do as it was told

pair_cluster() { "$FAULTS/../pg_cluster.sh" "$@"; }
needs_pair() {
    needs '[[ " ${STORES:-sqlite postgresql} " == *" postgresql "* ]] && pair_cluster bin' \
        "it needs PostgreSQL's initdb, and STORES that name postgresql"
}

pair_as() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --init-groups env -i PATH="$PATH" LC_ALL=C.UTF-8 \
            "$@")
    else
        (cd / && "$@")
    fi
}
pair_program() { echo "$(pair_cluster bin)/$1"; }
pair_other() { case $1 in a) echo b ;; b) echo a ;; esac; }

# ---- one node ----

pair_url_of() { echo "postgresql://postgres@/${2:-postgres}?host=$PAIR/$1/sock&connect_timeout=3"; }
pair_url() {
    printf '%s%s\n' "postgresql://postgres@/${1:-postgres}?host=$PAIR/a/sock,$PAIR/b/sock" \
        '&target_session_attrs=read-write&connect_timeout=3'
}
pair_q() { psql -qXAt -v ON_ERROR_STOP=1 "$(pair_url_of "$1")" -c "$2"; }

pair_ctl() { pair_cluster ctl "$PAIR/$1" "${@:2}"; }

# pair_node_up NODE: as standby of the other one when it has a standby.signal
pair_node_up() {
    local other; other=$(pair_other "$1")
    local from="host=$PAIR/$other/sock user=postgres application_name=$1"
    local options="-c unix_socket_directories='$PAIR/$1/sock' -c cluster_name=$1"
    pair_ctl "$1" -o "$options -c primary_conninfo='$from'" start ||
        { tail -5 "$PAIR/$1/server.log"; return 1; }
}

pair_postmaster() { head -1 "$PAIR/$1/data/postmaster.pid" 2>/dev/null; }
pair_processes() {
    local postmaster; postmaster=$(pair_postmaster "$1")
    [ -z "$postmaster" ] || {
        echo "$postmaster"; sed 's/ /\n/g' "/proc/$postmaster/task/$postmaster/children"
    }
}
pair_are_gone() {
    local pid
    for pid; do is_over "$pid" || return 1; done
}

# The next postmaster takes a killed one for alive until it has been reaped; its files are removed,
# because nothing else uses this folder.
pair_kill() {
    local postmaster pids
    postmaster=$(pair_postmaster "$1")
    [ -n "$postmaster" ] || return 0
    kill -STOP "$postmaster"            # it starts no more
    mapfile -t pids < <(pair_processes "$1")
    kill -KILL "${pids[@]}" 2>/dev/null
    wait_until 30 pair_are_gone ${pids[@]+"${pids[@]}"} || return 1
    rm -f "$PAIR/$1/data/postmaster.pid" "$PAIR/$1"/sock/.s.PGSQL.*.lock
}

# ---- both ----

pair_streams() {
    [ "$(pair_q "$PRIMARY" "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'
                            AND application_name = '$STANDBY'" 2>/dev/null)" = 1 ]
}
pair_is_level() {
    [ "$(pair_q "$PRIMARY" "SELECT coalesce(bool_and(replay_lsn >= pg_current_wal_flush_lsn()), false)
                            FROM pg_stat_replication" 2>/dev/null)" = t ]
}

# pair_copy NODE: copies its data again from the primary
pair_copy() {
    rm -rf "${PAIR:?}/$1/data"
    pair_as "$(pair_program pg_basebackup)" -h "$PAIR/$PRIMARY/sock" -U postgres \
        -D "$PAIR/$1/data" -X stream -c fast >"$PAIR/copy.log" 2>&1 || {
        cat "$PAIR/copy.log"; return 1
    }
}
pair_follow() {
    pair_as touch "$PAIR/$1/data/standby.signal"
    pair_node_up "$1" || return 1
    # which came with the primary's files; promoted, it would wait for no standby
    pair_q "$1" "ALTER SYSTEM RESET synchronous_standby_names" || return 1
    pair_q "$1" "SELECT pg_reload_conf()" >/dev/null
    wait_until "$PAIR_WAIT_S" pair_streams
}

pair_start() {
    local words
    chmod 711 "$TMP"
    at_end pair_stop
    PRIMARY=a STANDBY=b PAIR_SYNC=off
    words=$(pair_cluster start "$PAIR/a" fsync=off wal_log_hints=on wal_keep_size=512MB shared_buffers=64MB \
        "$@" 2>&1) || {
        fail "a primary of our own" "$words"; return 1
    }
    mkdir -p "$PAIR/b/sock" && chmod 755 "$PAIR" "$PAIR/b"
    [ "$(id -u)" != 0 ] || chown -R postgres "$PAIR/b"
    words=$(pair_copy b && pair_follow b) || { fail "a standby of our own" "$words"; return 1; }
}

pair_is_sync() {
    [ "$(pair_q "$PRIMARY" \
        "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'" 2>/dev/null)" = 1 ]
}
pair_sync() {
    PAIR_SYNC=$1
    pair_q "$PRIMARY" "ALTER SYSTEM SET synchronous_standby_names = '$([ "$1" = off ] || echo '*')'" &&
        pair_q "$PRIMARY" "SELECT pg_reload_conf()" >/dev/null || return 1
    if [ "$1" = on ]; then wait_until "$PAIR_WAIT_S" pair_is_sync; fi
}

# The sender is stopped, not the receiver: a receiver that is continued for the promotion would
# still read what has been sent.
pair_lag() {
    case $1 in
    on)
        PAIR_WALSENDERS=$(pair_q "$PRIMARY" "SELECT string_agg(pid::text, ' ') FROM pg_stat_replication")
        [ -n "$PAIR_WALSENDERS" ] && kill -STOP $PAIR_WALSENDERS
        ;;
    off) [ -z "$PAIR_WALSENDERS" ] || kill -CONT $PAIR_WALSENDERS; PAIR_WALSENDERS= ;;
    esac
}

# The fault is the database's: it lasts until there is one again that takes writes.
pair_kill_primary() {
    fault_begins failover store
    PAIR_WALSENDERS=
    pair_kill "$PRIMARY" || { fail "the primary is gone"; return 1; }
}
pair_promote() {
    pair_ctl "$STANDBY" promote || {
        fail "the standby is promoted" "$(tail -5 "$PAIR/$STANDBY/server.log")"; return 1
    }
    read -r PRIMARY STANDBY <<<"$STANDBY $PRIMARY"
    fault_ends failover store
}

pair_rewind() {
    pair_q "$PRIMARY" CHECKPOINT        # whose timeline pg_rewind looks up
    pair_as "$(pair_program pg_rewind)" -D "$PAIR/$STANDBY/data" \
        --source-server="host=$PAIR/$PRIMARY/sock user=postgres dbname=postgres" >"$PAIR/rewind.log" 2>&1
}
pair_rejoin() {
    local words
    pair_rewind || pair_copy "$STANDBY" || {
        fail "what was the primary gets the data of the new one"; return 1
    }
    words=$(pair_follow "$STANDBY") || {
        fail "what was the primary follows the new one" "$words" "$(tail -5 "$PAIR/$STANDBY/server.log")"
        return 1
    }
    [ "$PAIR_SYNC" = off ] || pair_sync on
}

pair_freeze_standby() {
    fault_begins standby-frozen store
    kill -STOP $(pair_processes "$STANDBY")
}
pair_thaw_standby() {
    kill -CONT $(pair_processes "$STANDBY")
    fault_ends standby-frozen store
}

pair_stop() {
    local node
    for node in a b; do
        [ -d "$PAIR/$node" ] || continue
        kill -CONT $(pair_processes "$node") 2>/dev/null
        pair_kill "$node"
    done
    rm -rf "${PAIR:?}"
}
