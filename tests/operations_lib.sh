# operations_lib.sh - what operations.sh and operations_night.sh share: the commands of
# docs/operations.md, and the machine on which they are typed: PostgreSQL as in the page's names,
# `sudo -u postgres`, and the service prescient-daemon. Sourced after acceptance_lib.sh.
PAGE=$ROOT/docs/operations.md
CLUSTERS=$(mktemp -d /tmp/po.XXXXXX) && chmod 755 "$CLUSTERS"   # short: sockets are in it
BIN=$("$TESTS/pg_cluster.sh" bin 2>/dev/null)
ADMIN=
trap 'leave || exit 1' EXIT
leave() {
    local folder
    service_ends
    for folder in "$CLUSTERS"/*/*; do
        [ ! -e "$folder/postmaster.pid" ] ||
            as_postgres "$BIN/pg_ctl" -D "$folder" -m immediate -w stop >/dev/null
    done
    rm -rf "$CLUSTERS"
    everything_ends
}
as_postgres() { "$TMP/bin/sudo" -u postgres "$@"; }

# of KIND: the block under the line "<!-- operations.sh: KIND -->"
of() {
    awk -v kind="<!-- operations.sh: $1 -->" '
        $0 == kind { mine = 1; next }
        /^```/ { inside = !inside; if (!inside) mine = 0; next }
        inside && mine' "$PAGE"
}
# The page's names, as this machine has them, and the folders that it speaks of.
names() {
    cat <<END
BIN=$BIN
MAIN=$CLUSTERS/main/data
OTHER=$CLUSTERS/other/data
BACKUP=$CLUSTERS/backup
DB="postgresql://postgres@/shop?host=$CLUSTERS/main/sock"
OWNER="postgresql://prescient_owner@/shop?host=$CLUSTERS/main/sock"
NEW="postgresql://postgres@/shop?host=$CLUSTERS/new/sock"
NEW_OWNER="postgresql://prescient_owner@/shop?host=$CLUSTERS/new/sock"
END
}
as_here() {
    sed -e "s|/etc/prescient/|$TMP/|g; s|/var/lib/prescient/|$TMP/|g; s|/srv/backup/|$CLUSTERS/backup/|g"
}

# by_the_page WHAT KIND [BEFORE]: the block is typed; BEFORE has names that the page leaves open
by_the_page() {
    local block; block=$(of "$2")
    [ -n "$block" ] || { fail "$1" "no block: $2"; return 1; }
    if limited 60 bash -euo pipefail -c "$(names)
${3:-}
$(as_here <<<"$block")" >"$TMP/.out" 2>"$TMP/.err"; then
        pass "$1"
    else
        report "$1" "exit code $?" "$(tail -n 8 "$TMP/.out")" "$(tail -n 8 "$TMP/.err")"
    fi
}

# ---- the machine ----

# What the page types is found in bin: prescient, sudo, systemctl, install. Nothing asks who is who.
machine_begins() {
    mkdir "$TMP/bin" "$CLUSTERS/backup"
    ln -s "$P" "$TMP/bin/prescient"
    cat >"$TMP/bin/sudo" <<'END'
#!/bin/sh
[ "$1 $2" = "-u postgres" ] || exit 1
shift 2
case $PWD in /tmp/po.*) ;; *) cd / ;; esac
[ "$(id -u)" != 0 ] || exec setpriv --reuid=postgres --regid=postgres --init-groups env -i \
    PATH="$PATH" LC_ALL=C.UTF-8 "$@"
exec "$@"
END
    cat >"$TMP/bin/systemctl" <<END
#!/usr/bin/env bash
exec "$TESTS/operations/service.sh" "$TMP/service" "$P" "\$@"
END
    # whom a file is given is written down, as this machine may have no such user
    cat >"$TMP/bin/install" <<END
#!/bin/sh
if [ "\$1 \$2" = "-o prescient" ]; then
    echo "\$2:\$4 \$8" >>"$TMP/given"
    shift 4
fi
exec "$(command -v install)" "\$@"
END
    chmod 755 "$TMP/bin"/*
    [ "$(id -u)" != 0 ] || chown postgres "$CLUSTERS/backup"
    export PATH=$TMP/bin:$PATH
    mkdir "$TMP/service"
}
service_ends() {
    local file
    for file in "$TMP/service"/*.pid; do
        [ ! -e "$file" ] || kill -KILL "$(cat "$file")" 2>/dev/null
    done
}

# server NAME [setting=value...]: a cluster in $CLUSTERS/NAME
server() {
    local name=$1; shift
    ADMIN=$(PG_TEMPLATE= "$TESTS/pg_cluster.sh" start "$CLUSTERS/$name" fsync=off shared_buffers=32MB \
        "$@") || { fail "a server" "$ADMIN"; exit 1; }
}
# the shop, as docs/security.md has it, and an engine with slots of a second
the_shop() {
    export STORE_NAME=postgresql
    HERE="postgresql://postgres@/shop?host=$CLUSTERS/main/sock"
    psql -qX -v ON_ERROR_STOP=1 "$ADMIN" >/dev/null <<'SQL'
CREATE ROLE prescient_enqueuer; CREATE ROLE prescient_operator; CREATE ROLE prescient_engine;
CREATE ROLE prescient_reader;
CREATE ROLE prescient_owner LOGIN;
CREATE ROLE prescient_runner LOGIN IN ROLE prescient_engine;
CREATE ROLE shop LOGIN IN ROLE prescient_enqueuer;
CREATE DATABASE shop OWNER shop;
GRANT CREATE ON DATABASE shop TO prescient_owner;
SQL
    "$P" --quiet --store "${HERE/postgres@/prescient_owner@}" init --slot-length 1s || exit 1
    settings_at "host=$CLUSTERS/main/sock"
}
settings_at() {
    (umask 077; cat >"$TMP/prescient.cfg") <<CFG
store = "postgresql://prescient_runner@/shop?$1";
jobs = { unshipped = { plugin = "noop"; settings = { answer = "done"; }; };
         late = { plugin = "exec"; settings = { answer = "json";
             command = [ "/bin/echo", "{\"done\": true, \"emit\": {\"event\": \"late\"}}" ]; }; }; };
lease = "5s"; trust = "2s";
CFG
}

# at SQL: rows from the shop's database; file KEY WHEN [JOB]: an application files a check
at() { psql -qXAt -v ON_ERROR_STOP=1 "$HERE" -c "$1"; }
file() {
    psql -qXAt "${HERE/postgres@/shop@}" -v ON_ERROR_STOP=1 \
        -c "SELECT prescient.enqueue('orders', '$1', '${3:-late}', interval '$2')" >/dev/null
}
is_over_for() {
    [ "$(at "SELECT count(*) FROM prescient.history WHERE entity_key = '$1' AND outcome = 'done'")" = 1 ]
}
waiting() { at "SELECT string_agg(entity_key, ' ' ORDER BY entity_key) FROM prescient.future_job"; }
# one_is_run WHAT KEY: the service runs a check that is due at once
one_is_run() {
    file "$2" "1 second"
    ok "$1" wait_until 30 is_over_for "$2"
}
# what a consumer that keeps its cursor is shown: keys, in a line
CURSOR= READ=
reads_on() {
    "$P" events --json ${CURSOR:+--after "$CURSOR"} >read 2>read.err ||
        { fail "reading on" "$(cat read.err)"; return 1; }
    READ=$(sed 's/.*"entity_key": *"\([^"]*\)".*/\1/' read | xargs)
    [ ! -s read ] || CURSOR=$(tail -1 read | sed 's/.*"cursor": *"\([^"]*\)".*/\1/')
}
