#!/usr/bin/env bash
# pg_cluster.sh start DIR [setting=value ...] | url DIR | ctl DIR argument... | stop DIR | bin
#
# A PostgreSQL cluster of its own in DIR: initdb as user postgres (if root), a unix socket only
# unless listen_addresses is among the settings; no other server is touched. "hba=LINE" is not a
# setting but a line at the top of pg_hba.conf. `start` prints the libpq URL of its "postgres"
# database; PG_INITDB has further arguments for initdb. PG_TEMPLATE=FOLDER: initdb runs once, into
# that folder, which is copied: for clusters that never meet, as they have the same identifier.
# `ctl` passes arguments to pg_ctl (stop, start, promote, ...), which waits until it is done. `bin`
# prints the folder of the server's programs. PATIENCE multiplies how long pg_ctl waits (60 s).
set -euo pipefail

bin=${PG_BIN:-}
if [ -z "$bin" ]; then
    bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true)
    [ -x "$bin/initdb" ] || bin=$(dirname "$(command -v initdb || echo /nonexistent/initdb)")
fi
[ -x "$bin/initdb" ] || {
    echo "pg_cluster.sh: no initdb found (install the postgresql package)" >&2; exit 1
}

limit_s=$((60 * ${PATIENCE:-1}))

# A clock of its own (tests/faults/clock.sh) comes with it.
as_postgres() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --init-groups env -i PATH="$PATH" LC_ALL=C.UTF-8 \
            ${CLOCK_FILE:+LD_PRELOAD="$LD_PRELOAD" CLOCK_FILE="$CLOCK_FILE"} "$@"
    else
        "$@"
    fi
}
url() { echo "postgresql://postgres@/postgres?host=$1/sock"; }

# initialize FOLDER: nothing of it need outlive a crash of the machine
initialize() {
    if [ "$(id -u)" = 0 ]; then install -d -o postgres -m 700 "$1"; fi
    as_postgres "$bin/initdb" --no-sync -D "$1" -U postgres -A trust -E UTF8 \
        --locale=C.UTF-8 ${PG_INITDB:-} >"$dir/initdb.log" 2>&1 || {
        cat "$dir/initdb.log" >&2; exit 1
    }
}

case ${1:-} in
start)
    dir=$2; shift 2
    mkdir -p "$dir/sock"
    [ "$(id -u)" != 0 ] || chown -R postgres "$dir"
    chmod 755 "$dir"
    if [ -z "${PG_TEMPLATE:-}" ]; then
        initialize "$dir/data"
    else
        [ -d "$PG_TEMPLATE" ] || initialize "$PG_TEMPLATE"
        cp -a "$PG_TEMPLATE" "$dir/data"
    fi
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$dir/sock'"
        echo "shared_buffers = 256MB"
        echo "max_wal_size = 2GB"
        echo "max_connections = 200"
        for s in "$@"; do [ "${s%%=*}" = hba ] || echo "${s%%=*} = '${s#*=}'"; done
    } | as_postgres tee -a "$dir/data/postgresql.conf" >/dev/null
    for s in "$@"; do [ "${s%%=*}" != hba ] || as_postgres sed -i "1i ${s#*=}" "$dir/data/pg_hba.conf"; done
    (cd / && as_postgres "$bin/pg_ctl" -D "$dir/data" -l "$dir/server.log" -w -t "$limit_s" \
        start >/dev/null) || {
        cat "$dir/server.log" >&2; exit 1
    }
    url "$dir"
    ;;
url) url "$2" ;;
ctl)
    dir=$2; shift 2
    (cd / && as_postgres "$bin/pg_ctl" -D "$dir/data" -l "$dir/server.log" -w -t "$limit_s" "$@") \
        >"$dir/ctl.log" 2>&1 || {
        code=$?
        echo "pg_cluster.sh: pg_ctl $* failed ($code):" >&2
        cat "$dir/ctl.log" >&2
        tail -n 5 "$dir/server.log" >&2
        exit "$code"
    }
    ;;
bin) echo "$bin" ;;
stop)
    (cd / && as_postgres "$bin/pg_ctl" -D "$2/data" -m immediate -w stop >/dev/null 2>&1) || true
    rm -rf "$2"
    ;;
*) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
