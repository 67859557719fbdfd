#!/usr/bin/env bash
# f26_first_host.sh - F26: of two hosts the first is a black hole, has a name that does not resolve
#     (or whose name server does not answer), or refuses the password
# PASS: connected within 3 s for each host, engine and command line; a refused password is reported,
# with the host and the user, also if the second host accepts us; and with one host as the reason of
# the failure.
# limit 200
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/net.sh"
needs_a_server
needs_lines
needs_command mount

HOSTS_MS=6000 LATER_MS=2500         # two hosts; a worker has to start, and a slot to come

# connects WHAT URL [WORDS]: the command line and an engine, with the words in BEFORE in front of
# them
connects() {
    local what="$CASE_NAME: $1" began
    began=$(now_ms)
    ok "$what: the command line connects" timeout 60 "${BEFORE[@]}" "$P" --store "$2" list
    at_most "$what: within 3 s a host, in ms" $(($(now_ms) - began)) $HOSTS_MS
    write_checks "w$((N++))." --checks 20 --batch 20 --mix plain --ahead 0,0
    written "w$((N - 1))."
    began=$(now_ms)
    ENGINE_BY=("${BEFORE[@]}")
    PRESCIENT_STORE=$2 engine "e$N"
    ENGINE_BY=()
    ok "$what: the engine does its work" wait_until 40 nothing_pending
    at_most "$what: soon after 3 s a host, in ms" $(($(now_ms) - began)) $((HOSTS_MS + LATER_MS))
    kill -TERM "$(engine_pid "e$N")"
    engine_over "e$N"
    [ -z "${3:-}" ] || has "$what: it is told" "$(cat "e$N.err")" "$3"
}

first_hosts() {
    local good
    N=0 BEFORE=()
    WITNESS='batch = 1;' a_case hosts 'workers = 1;'
    line_up l1 1 && line_up l2 2 || return
    good=10.213.1.1
    line l2 drop
    ip link set pf2 up
    connects "the first is a black hole" "$(with_server "$PRESCIENT_STORE" "10.213.2.2,$good" 5432,5432)"
    proxy_start p "$PRESCIENT_STORE"
    proxy p drop
    connects "the first takes connections and says nothing" \
        "$(with_server "$PRESCIENT_STORE" "127.0.0.1,$good" "${PROXY_PORTS[p]},5432")"
    proxy_stop p
    connects "the first is a name that does not resolve" \
        "$(with_server "$PRESCIENT_STORE" "nobody.invalid,$good" 5432,5432)"
    echo "nameserver 10.213.2.2" >"$TMP/resolv.conf"        # behind the line that is out
    BEFORE=(unshare -m sh -ec 'mount --bind "$0" /etc/resolv.conf; exec "$@"' "$TMP/resolv.conf")
    connects "the first is a name that no name server answers for" \
        "$(with_server "$PRESCIENT_STORE" "nobody.example,$good" 5432,5432)"
    BEFORE=()
    verdict F26
    line_down l1; line_down l2
}

passwords() {
    local url good=10.213.1.1 host
    N=0 BEFORE=()
    WITNESS='batch = 1;' a_case passwords 'workers = 1;'
    line_up l1 1 && line_up l2 2 || return
    q "CREATE ROLE clerk LOGIN SUPERUSER PASSWORD 'right'" >/dev/null
    url=$(with_server "$PRESCIENT_STORE" 10.213.2.1,$good 5432,5432)
    url=${url/postgres@/clerk:wrong@}
    connects "the first refuses the password" "$url" 'password authentication failed for user "clerk"'
    has "$CASE_NAME: the host is told, too" "$(cat e1.err)" 10.213.2.1
    is "$CASE_NAME: the password is not" "$(grep -c 'clerk:[^*]\|wrong' e1.err)" 0
    fails_with 77 'password authentication failed for user "clerk"' "$P" --store "${url/,$good/}" list
    verdict F26
    line_down l1; line_down l2
}

case ${CASES:-all} in *hosts* | all) on_line_server first_hosts fsync=off ;; esac
case ${CASES:-all} in *passwords* | all)
    on_line_server passwords fsync=off password_encryption=scram-sha-256 \
        hba="host all clerk 10.213.1.0/24 trust" hba="host all clerk 10.213.2.0/24 scram-sha-256" ;;
esac
