#!/usr/bin/env bash
# operations_night.sh - the commands of docs/operations.md that need more than one server, as they
# stand there: a restore on another server, recovery to a point in time, a standby that is promoted,
# a switch by logical replication, pg_upgrade.
# night: servers that are copied, promoted and upgraded
# about 60 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$TESTS/operations_lib.sh"
[ -x "$BIN/initdb" ] || { echo "# no PostgreSQL server here"; exit; }

# Work before that of the section: a check that waits, one that has run, and a consumer.
begins() {
    file before "1 hour"
    "$TMP/bin/systemctl" start prescient-daemon
    one_is_run "$1: a daemon works" first
    CURSOR=
    reads_on
    is "$1: a consumer is shown its event" "$READ" first
}
# goes_on WHAT KEY: with the daemon, the consumer and the check that waits
goes_on() {
    is "$1: what waited waits" "$(waiting)" before
    one_is_run "$1: checks run" "$2"
    ok "$1: the consumer goes on" reads_on
    is "$1: and is shown what it has not seen" "$READ" "$2"
    is "$1: doctor finds no wrong history" \
        "$("$P" doctor --json | json '[f for f in j if f["level"] == "error"]')" "[]"
}
ends() {
    "$TMP/bin/systemctl" stop prescient-daemon
    for name in main other new; do
        [ ! -e "$CLUSTERS/$name/data/postmaster.pid" ] ||
            as_postgres "$BIN/pg_ctl" -D "$CLUSTERS/$name/data" -m immediate -w stop >/dev/null
        rm -rf "${CLUSTERS:?}/$name"
    done
    rm -rf "$CLUSTERS/backup"; mkdir "$CLUSTERS/backup"
    [ "$(id -u)" != 0 ] || chown postgres "$CLUSTERS/backup"
}
room_for_another() {
    mkdir -p "$CLUSTERS/other"; [ "$(id -u)" != 0 ] || chown postgres "$CLUSTERS/other"
}

# transaction ids that a server is ahead of another
burn_ids() {
    psql -qX "$1" -c "DO \$\$ BEGIN FOR i IN 1..20000 LOOP PERFORM pg_current_xact_id();
                      COMMIT; END LOOP; END \$\$" >/dev/null
}
# elsewhere AHEAD: the old server, or the new one, has the larger transaction ids
elsewhere() {
    local what="elsewhere, $1 ahead"
    server new
    [ "$1" = old ] || burn_ids "$ADMIN"
    server main
    [ "$1" = new ] || burn_ids "$ADMIN"
    the_shop
    begins "$what"
    by_the_page "$what: a backup" "backup"
    one_is_run "$what: a check runs after the copy was made" second
    reads_on
    "$TMP/bin/systemctl" stop prescient-daemon
    by_the_page "$what: a restore" "restore elsewhere"
    settings_at "host=$CLUSTERS/new/sock"
    HERE="postgresql://postgres@/shop?host=$CLUSTERS/new/sock"
    "$TMP/bin/systemctl" start prescient-daemon
    goes_on "$what" third
    is "$what: rights" "$("$P" doctor --json | json '[f["found"] for f in j if f["what"] == "rights"]')" \
        "['as they must be']"
    ends
}

recovers() {
    server main
    the_shop
    room_for_another
    by_the_page "a log that is kept, and a copy" "archive"
    begins recovery
    local moment; moment=$(at "SELECT clock_timestamp()")
    file after "1 hour"
    one_is_run "recovery: a check runs after the moment" second
    reads_on
    by_the_page "recovery to a point in time" "recover" "MOMENT='$moment'"
    goes_on recovery third
    ends
}

# The standby lies beside the first one, at another port of the same folder of sockets.
fails_over() {
    server main port=5432
    the_shop
    room_for_another
    settings_at "host=$CLUSTERS/main/sock,$CLUSTERS/main/sock&port=5432,5433"
    by_the_page "a standby" "standby"
    by_the_page "that commits wait for" "synchronous"
    begins failover
    is "failover: the standby is synchronous" \
        "$(at "SELECT sync_state FROM pg_stat_replication" | head -1)" sync
    file last "1 hour"
    as_postgres "$BIN/pg_ctl" -D "$CLUSTERS/main/data" -m immediate -w stop >/dev/null
    by_the_page "its promotion" "failover"
    HERE="$HERE&port=5433"
    is "failover: what was acknowledged last is there" "$(waiting)" "before last"
    at "ALTER SYSTEM RESET synchronous_standby_names" >/dev/null
    at "SELECT pg_reload_conf(), prescient.resolve('orders', 'last')" >/dev/null
    goes_on failover third
    ends
}

switches() {
    server main wal_level=logical
    the_shop
    begins switch
    server new
    by_the_page "another server follows" "follow"
    by_the_page "until it has all" "followed"
    file while "1 hour"
    one_is_run "switch: the old one works meanwhile" second
    reads_on
    by_the_page "the switch" "switch"
    settings_at "host=$CLUSTERS/new/sock"
    HERE="postgresql://postgres@/shop?host=$CLUSTERS/new/sock"
    by_the_page "the engines' new server" "switched"
    at "SELECT prescient.resolve('orders', 'while')" >/dev/null
    goes_on switch third
    is "switch: no sequence lies behind" "$(at "SELECT count(*) FROM prescient.sequences_behind(true)")" 0
    ends
}

# From 13 to this machine's own release, where 13 is at hand (tests/pg_release.sh).
upgrades() {
    local new=$BIN old=${PG_RELEASES:-/var/tmp/prescient-pg}/13.bin
    if [ ! -x "$old/initdb" ] || [ "$new" = "$old" ]; then
        echo "# no PostgreSQL 13 here (tests/pg_release.sh 13): pg_upgrade is not tried"
        return
    fi
    export PG_BIN=$old PG_INITDB="--encoding=UTF8 --locale=C"
    BIN=$old
    server main
    the_shop
    begins upgrade
    room_for_another
    by_the_page "pg_upgrade" "pg_upgrade" "NEWBIN=$new"
    BIN=$new; unset PG_BIN PG_INITDB
    is "upgrade: the server is another one" \
        "$(( $(at "SHOW server_version_num") / 10000 > 13 ))" 1
    goes_on upgrade third
    ends
}

elsewhere_both() { elsewhere old; elsewhere new; }

# all, or those that are named: tests/operations_night.sh upgrades
machine_begins
for section in "${@:-elsewhere_both recovers fails_over switches upgrades}"; do
    for part in $section; do "$part"; done
done
