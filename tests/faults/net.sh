# net.sh - networks that fail, for scenarios: proxies on command (proxy.py), and engines behind a
# line of their own, where the kernel itself loses the packets. Sourced after lib.sh and server.sh.
# All of it ends with the scenario, however that ends.

declare -A PROXIES=() PROXY_PORTS=()        # name -> pid, port
declare -A LINES=()                         # name -> pid of the process that holds the network at the far end

net_ends() {
    local name
    for name in "${!PROXIES[@]}"; do proxy_stop "$name"; done
    for name in "${!LINES[@]}"; do line_down "$name"; done
}
at_end net_ends

# with_parent COMMAND...: a command that is killed when this script is
with_parent() { exec setpriv --pdeathsig KILL "$@"; }

# ---- proxies ----

# proxy_start NAME TARGET [option of proxy.py...]: TARGET is HOST:PORT, the path of a unix socket,
# or the URL of a database.
proxy_start() {
    local name=$1 target=$2; shift 2
    case $target in *://*) target=$(server_of "$target") ;; esac
    rm -f "$TMP/$name.control" "$TMP/$name.port"
    (with_parent python3 -S "$FAULTS/proxy.py" --to "$target" --control "$TMP/$name.control" --seed "$SEED" \
        "$@" >"$TMP/$name.port" 2>"$TMP/$name.proxy") &
    PROXIES[$name]=$!
    wait_until 10 test -s "$TMP/$name.port" || {
        fail "proxy $name starts" "$(cat "$TMP/$name.proxy")"; return 1
    }
    PROXY_PORTS[$name]=$(cat "$TMP/$name.port")
}

# proxy NAME COMMAND...: what it does to connections from now on (see proxy.py); its answer goes to
# PROXY_SAID.
proxy() {
    local name=$1; shift
    PROXY_SAID=$(python3 -S "$FAULTS/proxy.py" --tell "$TMP/$name.control" "$@" 2>&1) ||
        fail "$CASE_NAME: proxy $name obeys: $*" "$PROXY_SAID" "$(cat "$TMP/$name.proxy")"
}
# proxy_stat NAME FIELD: open, total, up, down, cuts, answer, armed
proxy_stat() { proxy "$1" stat; sed "s/.*\b$2=\([0-9]*\).*/\1/" <<<"$PROXY_SAID"; }
proxy_is() { [ "$(proxy_stat "$1" "$2")" = "$3" ]; }

# proxy_url NAME URL [HOST]: the same database through the proxy
proxy_url() { with_server "$2" "${3:-127.0.0.1}" "${PROXY_PORTS[$1]}"; }

proxy_stop() {
    kill -KILL "${PROXIES[$1]}" 2>/dev/null
    wait "${PROXIES[$1]}" 2>/dev/null
    unset "PROXIES[$1]" "PROXY_PORTS[$1]"
    rm -f "$TMP/$1.control" "$TMP/$1.port"
}

# behind NAME: an engine behind a proxy of its own, pNAME, which writes down what it cuts
behind() {
    proxy_start "p$1" "$PRESCIENT_STORE"
    PRESCIENT_STORE=$(proxy_url "p$1" "$PRESCIENT_STORE") engine "$1"
    proxy "p$1" log "$CASE/faults" "engine:$(engine_pid "$1")"
}

# line_lost NAME SECONDS: nothing moves between that engine and its store, and then all of it goes
# on
line_lost() {
    fault_begins drop "engine:$(engine_pid "$1")"
    proxy "p$1" drop
    sleep "$2"
    proxy "p$1" pass
    fault_ends drop "engine:$(engine_pid "$1")"
}

# server_of URL: HOST:PORT, or the path of the socket
server_of() {
    local host port=5432
    case $1 in
    *host=/*)
        host=$(sed -E 's/.*[?&]host=([^&]*).*/\1/' <<<"$1")
        [[ $1 != *port=* ]] || port=$(sed -E 's/.*[?&]port=([0-9]*).*/\1/' <<<"$1")
        echo "$host/.s.PGSQL.$port"
        ;;
    *)
        host=$(sed -E 's#^[a-z]*://([^@/]*@)?([^/?]*).*#\2#' <<<"$1")
        [[ $host == *:* ]] || host=$host:$port
        echo "$host"
        ;;
    esac
}

# with_server URL HOST PORT: the URL with another server in it (HOST and PORT may be lists with
# commas)
with_server() {
    local user base rest
    user=$(sed -nE 's#^[a-z]*://([^@/]*@).*#\1#p' <<<"$1")
    base=$(sed -E 's#^[a-z]*://[^/]*/([^?]*).*#\1#' <<<"$1")
    rest=$(sed -nE 's#^[^?]*\?(.*)#\1#p' <<<"$1" | tr '&' '\n' | grep -vE '^(host|port)=' | paste -sd '&')
    echo "postgresql://$user/$base?host=$2&port=$3${rest:+&$rest}"
}

# ---- lines: an engine in a network of its own, behind a pair of virtual interfaces ----

# Namespaces without a name: they are gone with the process that holds them. The scenario starts
# itself again in one of its own, so that addresses and rules touch no other process; unix sockets
# are reached from everywhere.
needs_lines() {
    needs_root
    needs_command unshare nsenter ip nft setpriv
    local tried='ip link set lo up && nft add table inet t && ip link add veth0 type veth peer name veth1'
    needs "unshare -n sh -c '$tried'" "it needs virtual interfaces and nftables"
    [ -z "${NET_OF_ITS_OWN:-}" ] || { ip link set lo up; return; }
    cd "$ROOT" && rmdir "$TMP"
    trap - EXIT
    NET_OF_ITS_OWN=1 SEED=$SEED PRESCIENT_TEST_PG=$SERVER exec unshare -n "$FAULTS/$SCENARIO.sh"
}

# line_up NAME N: a network behind a line, N from 1 to 254. The host is 10.213.N.1 there.
line_up() {
    local name=$1 n=$2
    (with_parent unshare -n sleep 100000) &
    LINES[$name]=$!
    wait_until 5 in_other_network "${LINES[$name]}" && ip link add \
        "pf$n" type veth peer name line netns "${LINES[$name]}" && ip addr add "10.213.$n.1/30" dev "pf$n" &&
        ip link set "pf$n" up && on_line "$name" sh -ec "
            ip link set lo up; ip addr add 10.213.$n.2/30 dev line; ip link set line up
            ip route add default via 10.213.$n.1" ||
        { fail "line $name is there"; return 1; }
}
in_other_network() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink "/proc/$$/ns/net")" ]; }
line_down() {
    kill -KILL "${LINES[$1]}" 2>/dev/null
    wait "${LINES[$1]}" 2>/dev/null
    unset "LINES[$1]"
}
on_line() { local name=$1; shift; nsenter -t "${LINES[$name]}" -n -- "$@"; }

# on_line_server F [setting=value...]: as `on_a_server`, with a server that engines on lines reach;
# url_on_line N is the way to it.
on_line_server() {
    local run=$1; shift
    on_a_server "$run" listen_addresses=* hba="host all all 10.213.0.0/16 trust" "$@"
}
url_on_line() { with_server "$PRESCIENT_STORE" "10.213.$1.1" 5432; }

# engine_on_line LINE NAME [argument...]: as `engine`, in the network behind the line
engine_on_line() {
    ENGINE_BY=(nsenter -t "${LINES[$1]}" -n --)
    shift
    engine "$@"
    ENGINE_BY=()
}

# line NAME MODE [BYTES]: drop, drop-out (what the engine sends is lost), drop-in (what is sent to
# it is lost), drop-out-after BYTES and drop-in-after BYTES (so much passes first), reset (each
# packet of the engine is answered by a reset), pass.
line() {
    local out= in=
    case $2 in
    drop) out=drop in=drop ;;
    drop-out) out=drop ;;
    drop-in) in=drop ;;
    drop-after) out="meta l4proto tcp quota over $3 bytes drop" \
        in="meta l4proto tcp quota over $3 bytes drop" ;;
    drop-out-after) out="meta l4proto tcp quota over $3 bytes drop" ;;
    drop-in-after) in="meta l4proto tcp quota over $3 bytes drop" ;;
    reset) out="meta l4proto tcp reject with tcp reset" ;;
    pass) ;;
    *) fail "line $1: $2"; return ;;
    esac
    on_line "$1" nft -f - <<NFT || fail "line $1: $2"
add table inet fault
delete table inet fault
table inet fault {
    chain out { type filter hook output priority 0; policy accept; ${out:+oifname line $out} ; }
    chain in { type filter hook input priority 0; policy accept; ${in:+iifname line $in} ; }
}
NFT
}
