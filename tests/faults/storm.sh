#!/usr/bin/env bash
# storm.sh - F99: the storm: 200,000 checks while everything fails by the seed that can: engines,
#     workers, sessions, servers, the ways between them
# PASS: the common checks. On PostgreSQL three engines, each with a way of its own that fails, to a
# primary and its synchronous standby, past a host that never answers (the first), through a pooler
# (the second) and plainly (the third); on SQLite two, and checks come in by SQL and by the command
# line. STORM_S is how long each of the two lasts (1800 and 600); there are 111 checks a second.
# STORES picks one of them; SEED repeats one.
. "$(dirname "$0")/lib.sh"
. "$FAULTS/net.sh"
. "$FAULTS/disk.sh"
. "$FAULTS/pair.sh"
. "$FAULTS/bouncer.sh"
. "$FAULTS/chaos.sh"
. "$FAULTS/chaos_net.sh"
. "$FAULTS/chaos_store.sh"

LIMITS='batch = 1; timeout = "1500ms"; max_failures = 6;'
SETTINGS='workers = 2; split_at = 50; hold_back_after = 1000000;'
DISK_MIB=3072

storm_ends() {
    LIVE_S=120 EPSILON_MS=15000 verdict F99 "$@"
    at_least "$CASE_NAME: checks that ran again" "$RERUNS" 1
    echo "# $CASE_NAME: the seed was $SEED; again: make storm SECONDS=$STORM SEED=$SEED STORES=$STORE_NAME"
}

# The two nodes lie on disks that can be full, where there is a right to make some.
pair_on_disks() {
    local node
    mkdir -p "$PAIR"
    for node in a b; do
        a_disk "$node" $DISK_MIB 2>/dev/null || { echo "# no disk of our own: none will be full"; return; }
        mkdir "$DISK/sock" && chown -R postgres "$DISK"
        ln -s "$DISK" "$PAIR/$node"
    done
    DEEDS_OF_STORE+=" $CHAOS_STORE_ON_DISKS"
}

# way SEAT: proxies to both nodes; CHAOS_STORES and CHAOS_WAYS know it
way_to_the_pair() {
    proxy_start "w$1a" "$PAIR/a/sock/.s.PGSQL.5432" && proxy_start "w$1b" "$PAIR/b/sock/.s.PGSQL.5432" ||
        return 1
    CHAOS_WAYS[$1]="w$1a w$1b"
    local ports=${2:+$2,}${PROXY_PORTS[w$1a]},${PROXY_PORTS[w$1b]}
    CHAOS_STORES[$1]="postgresql://postgres@/postgres?host=${2:+127.0.0.1,}127.0.0.1,127.0.0.1"
    CHAOS_STORES[$1]+="&port=$ports&target_session_attrs=read-write"
}
way_through_the_pooler() {
    proxy_start "w$1" "$BOUNCER/.s.PGSQL.6432" || return 1
    CHAOS_WAYS[$1]="w$1" CHAOS_SETTINGS[$1]="PRESCIENT_PREPARED=false"
    CHAOS_STORES[$1]="postgresql://postgres@/postgres?host=127.0.0.1&port=${PROXY_PORTS[w$1]}"
}
ways() {
    proxy_start nobody "$PAIR/a/sock/.s.PGSQL.5432" && proxy nobody drop || return 1
    way_to_the_pair 0 "${PROXY_PORTS[nobody]}" && way_through_the_pooler 1 && way_to_the_pair 2
}

storm_on_postgresql() {
    STORM=${STORM_S:-1800} STORE_NAME=postgresql DEEDS_OF_STORE=$CHAOS_STORE
    pair_on_disks
    pair_start max_connections=60 && pair_sync on && bouncer_start "$(pair_url)" && ways || return
    PRESCIENT_STORE=$(pair_url); export PRESCIENT_STORE
    WITNESS=$LIMITS a_case storm "$SETTINGS"
    chaos_store_begins
    chaos_begins 3
    write_checks w --patient --checks $((STORM * 1000 / 9)) --batch 37 --over "$STORM" \
        --mix rough --most-ms 30
    write_checks x --patient --checks $((STORM * 8)) --batch 20 --over "$STORM" --mix rough --most-ms 30
    chaos_apart "$STORM" 200 4000 "$DEEDS_OF_STORE"
    chaos "$STORM" 100 2500 "$CHAOS_PROCESSES $CHAOS_NET"
    chaos_joined
    written w
    written x
    storm_ends --changed x.
    bouncer_stop
    pair_stop
}

storm_on_sqlite() {
    STORM=${STORM_S:-600}
    WITNESS=$LIMITS a_case storm "$SETTINGS"
    CHAOS_STORES=() CHAOS_SETTINGS=() CHAOS_WAYS=()
    chaos_begins 2
    write_checks sql --patient --checks $((STORM * 500 / 9)) --batch 37 --over "$STORM" \
        --mix rough --most-ms 10
    write_checks cli --patient --checks $((STORM * 500 / 9)) --batch 61 --over "$STORM" \
        --mix rough --most-ms 10 --by cli
    chaos "$STORM" 100 2500 "$CHAOS_PROCESSES"
    written sql
    written cli
    storm_ends
}

case " ${STORES:-postgresql sqlite} " in
*" postgresql "*)
    needs_bouncer
    needs_pair
    storm_on_postgresql
    ;;
esac
[[ " ${STORES:-postgresql sqlite} " != *" sqlite "* ]] || STORES=sqlite on_stores sqlite storm_on_sqlite
