#!/usr/bin/env bash
# cli_ssrf.sh - a URL that comes from a payload leads only to the hosts of the settings, and never
# into our own networks, whatever a name server answers. Name servers that are slow or silent.
# about 20 s
# night: an address for each edge
if [ -z "${OWN_NETWORK:-}" ] && unshare -mn true 2>/dev/null; then
    OWN_NETWORK=1 exec unshare -mn "$0"
fi
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if grep -qw webhook "$(dirname "$P")/left_out"; then
    echo "ok - not tested: the job webhook is left out of this build"
    exit 0
fi

SERVERS=()
trap 'kill "${SERVERS[@]}" 2>/dev/null; finish || exit 1' EXIT
[ -z "${OWN_NETWORK:-}" ] || ip link set lo up
mkdir plain
HTTP_ADDRESS=0.0.0.0 python3 "$ROOT/tests/http_server.py" plain >plain/out 2>&1 &
SERVERS+=($!)
for _ in {1..500}; do [ ! -e plain/port ] || break; sleep 0.02; done
PORT=$(cat plain/port)

# job URL [SETTINGS]
job() {
    printf 'plugin_dirs = ["%s"];\nhorizon = "30d";\ntimeout = "4s";\njobs = { hook = {
        plugin = "webhook"; settings = { url = "%s"; %s }; }; };\n' "$(dirname "$P")/jobs" "$1" "${2:-}" \
        >prescient.cfg
    chmod 600 prescient.cfg
}
requests() { cat plain/requests 2>/dev/null | wc -l; }
# tried WHAT PAYLOAD ANSWER NOTE: its answer, and words of its note; what is not done is not sent
tried() {
    local before note; before=$(requests)
    timeout 60 "$P" --store sqlite:none.db try hook orders 42 --json --payload "$2" >.tried 2>.err
    is "$1" "$(json 'j["answer"]' <.tried)" "$3"
    note=$(json 'j["note"]' <.tried)
    has "$1: its note" "$note" "$4"
    [ "$3" = "done" ] || is "$1: nothing is sent" "$(($(requests) - before))" 0
}

# ---- hosts and forms ----
ANY='hosts = [ "127.0.0.1", "localhost", "*.test", "[::1]" ];'
PORTS=${ANY//\",/:$PORT\",}; PORTS=${PORTS/]\" ]/]:$PORT\" ]}
job "\(.data.url)" "$PORTS"
tried "loopback" "{\"url\": \"http://127.0.0.1:$PORT/status/200\"}" fail "its address 127.0.0.1 is loopback"
tried "in another form" "{\"url\": \"http://0x7f.1:$PORT/status/200\"}" fail "127.0.0.1 is loopback"
tried "by name" "{\"url\": \"http://localhost:$PORT/status/200\"}" fail "its address is loopback"
tried "of IPv6" "{\"url\": \"http://[::1]:$PORT/status/200\"}" fail "its address ::1 is loopback"
tried "another host" '{"url": "http://shop.example/"}' "final fail" "the host shop.example is none of"
tried "with a user" "{\"url\": \"http://a:b@127.0.0.1:$PORT/\"}" "final fail" "expected no user"
tried "a user that looks like a host" "{\"url\": \"http://x.test@127.0.0.1:$PORT/\"}" "final fail" "no user"
tried "another scheme" '{"url": "file:///etc/passwd"}' "final fail" "begins with http"
tried "no URL" '{"url": "http://"}' "final fail" "it is no URL"
tried "the end of a line" "{\"url\": \"http://127.0.0.1:$PORT/a\r\nX: b\"}" "final fail" "a control character"
tried "null" '{}' "final fail" 'url: \(.data.url) is null'
job "\(.data.url)" "$PORTS networks = [ \"127.0.0.0/8\" ];"
tried "a network that is allowed" "{\"url\": \"http://127.0.0.1:$PORT/status/200\"}" "done" "status 200"
job "http://127.0.0.1:$PORT/status/\(.data.n)" "$ANY networks = [ \"127.0.0.1\" ];"
tried "a part of a URL" '{"n": 204}' "done" "status 204"
job "http://127.0.0.1:$PORT/"'\(\"a\\u0000b\")' "$ANY networks = [ \"127.0.0.1\" ];"
tried "a NUL" '{}' "final fail" "a control character"
job "http://127.0.0.1:$PORT/status/200"
tried "a fixed URL may lead anywhere" '{}' "done" "status 200"

# ---- ports ----
LOCAL='networks = [ "127.0.0.1" ];'
NOT="is not fixed in 'url', and 'hosts' does not name it"
job "http://\(.data.h):1/x" "$ANY $LOCAL"
tried "a port before that of the template" "{\"h\": \"127.0.0.1:$PORT/#\"}" "final fail" \
    "port $PORT of 127.0.0.1 $NOT"
job "http://\(.data.h)" "$ANY $LOCAL"
tried "a port of a payload" "{\"h\": \"127.0.0.1:$PORT/status/200\"}" "final fail" "$NOT"
job "http://127.0.0.1:\(.data.p)/status/200" "$ANY $LOCAL"
tried "a port that is filled in" "{\"p\": $PORT}" "final fail" "$NOT"
job "http://127.0.0.1:\(.data.p)/status/200" "hosts = [ \"127.0.0.1:$PORT\" ]; $LOCAL"
tried "that 'hosts' names" "{\"p\": $PORT}" "done" "status 200"
tried "and another" '{"p": 1}' "final fail" "port 1 of 127.0.0.1 $NOT"
tried "also the scheme's own, then" '{"p": 80}' "final fail" "port 80 of 127.0.0.1 $NOT"
job "http://"'\(.data.h // (\")\\\\(1):7/\")):'"$PORT/\(.data.s)" "$ANY $LOCAL"
tried "a port behind an interpolation" '{"h": "127.0.0.1", "s": "status/200"}' "done" "status 200"
job "http://\(.data.h)/:$PORT/" "$ANY $LOCAL"
tried "a port in a path" "{\"h\": \"127.0.0.1:$PORT\"}" "final fail" "$NOT"

# ---- settings ----
refused() {     # WORDS URL SETTINGS
    job "$2" "$3"
    fails_with 78 "$1" "$P" --store sqlite:none.db config --check
}
refused "setting 'hosts' is missing" "\(.data.url)" ""
refused "setting 'hosts': expected none, as 'url' is the same" "http://x/" 'hosts = [ "x" ];'
refused "setting 'networks': expected none, as 'url' is the same" "http://x/" 'networks = [ "10.0.0.0/8" ];'
refused "setting 'hosts': element 2 is no host" "\(.data.url)" 'hosts = [ "a", "http://x" ];'
for port in 0 65536 x ''; do
    refused "setting 'hosts': element 1 is no host" "\(.data.url)" "hosts = [ \"a.test:$port\" ];"
done
refused "setting 'networks': element 1 is no network" "\(.data.url)" "$ANY networks = [ \"10.0.0.1/8\" ];"
refused "setting 'proxy': expected none" "\(.data.url)" "$ANY proxy = \"http://127.0.0.1:1\";"

# ---- the peer ----
# Where a look-up let a wrong address through, the peer would still be refused: on a new connection,
# and on one that was there before.
cat >peer.c <<'C'
#include <stdio.h>
#include <string.h>
#include "jobs/shared/http/peer.h"

static size_t drop(char *data, size_t size, size_t n, void *ctx)
{
    (void)data, (void)ctx;
    return size * n;
}

/* peer URL KIND...: a request for each, all on one handle: "free", or watched, where loopback is
 * refused or allowed. */
int main(int argc, char **argv)
{
    CURL *curl = curl_easy_init();
    struct network loopback;
    struct address_rules refuses = { .nallowed = 0 }, allows = { .allowed = &loopback, .nallowed = 1 };
    if (argc < 3 || !curl || address_read_network("127.0.0.0/8", &loopback))
        return 2;
    curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "free"))
            peer_watch(curl, strcmp(argv[i], "allowed") ? &refuses : &allows);
        printf("%s %d\n", argv[i], curl_easy_perform(curl));
    }
    curl_easy_cleanup(curl);
}
C
ok "a program with the look at the peer is compiled" "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -Wall -Werror \
    -iquote "$ROOT" -o peer peer.c "$ROOT"/jobs/shared/http/{peer,address}.c -lcurl
before=$(requests)
is "a peer that is refused is not connected" "$(./peer "http://127.0.0.1:$PORT/status/200" refused)" \
    "refused 7"
is "and is sent nothing" "$(($(requests) - before))" 0
is "nor is it on a connection that is used again" \
    "$(./peer "http://127.0.0.1:$PORT/status/200" free refused allowed)" \
    $'free 0\nrefused 42\nallowed 0'
is "what is allowed is sent" "$(($(requests) - before))" 2

# ---- name servers ----
if [ -z "${OWN_NETWORK:-}" ]; then
    echo "ok - not tested: name servers, as there is no right to make namespaces"
    exit 0
fi
printf 'nameserver 127.0.0.1\noptions timeout:30 attempts:1\n' >resolv.conf
printf 'hosts: dns\n' >nsswitch.conf
mount --bind resolv.conf /etc/resolv.conf && mount --bind nsswitch.conf /etc/nsswitch.conf || exit 1
python3 "$ROOT/tests/dns_server.py" "$TMP" >dns.out 2>&1 &
SERVERS+=($!)
for _ in {1..500}; do [ ! -e ready ] || break; sleep 0.02; done

job "http://\(.data.host).test:$PORT/status/200" "$ANY networks = [ \"127.0.0.2\" ];"
tried "a name" '{"host": "at-127-0-0-2"}' "done" "status 200"
job "http://\(.data.host):$PORT/status/200" "$ANY networks = [ \"127.0.0.2\" ];"
tried "a name with a dot at its end" '{"host": "at-127-0-0-2.test."}' "done" "status 200"
job "http://\(.data.host).test:$PORT/status/200" "$ANY networks = [ \"127.0.0.2\" ];"
tried "a name of ours" '{"host": "at-169-254-169-254"}' fail "its address is link-local"
tried "a name of ours and of others" '{"host": "both"}' "done" "status 200"
is "goes to that of others" "$(tail -1 plain/requests | json 'j["to"]')" 127.0.0.2
tried "a name that has one address first" '{"host": "rebind-1"}' "done" "status 200"
tried "and ours then" '{"host": "rebind-1"}' fail "its address is loopback"
tried "a slow name server" '{"host": "slow"}' "done" "status 200"
tried "a silent name server" '{"host": "silent"}' fail "no name server has answered in time"
is "takes half of the timeout" "$(json '1700 <= j["run_us"] / 1000 <= 2500' <.tried)" True
tried "no such address" '{"host": "other"}' fail "its name"

# More hosts at once than are looked up at a time: those whose names nobody answers for hold back no
# others.
"$P" --store sqlite:p.db init >/dev/null
for i in {1..40}; do
    host=at-127-0-0-2.x$i
    [ $((i % 10)) != 0 ] || host=silent.x$i
    echo "orders,$i,hook,2023-11-14T22:15:00Z,\"{\"\"host\"\": \"\"$host\"\"}\""
done >rows
sed -i '1i entity_name,entity_key,job_exec,check_at,payload' rows
before=$(requests)
ok "many are loaded" "$P" --store sqlite:p.db --now 2023-11-14T22:10:00Z enqueue --from rows
has "and run" "$("$P" --store sqlite:p.db run --slot 1700000100 2>/dev/null)" "40 run, 36 done"
is "those whose names are answered are sent" "$(($(requests) - before))" 36
grep '^at-127-0-0-2\.x' asked >names
is "each name is asked for once" "$(wc -l <names) $(sort -u names | wc -l)" "36 36"

# One look-up for all that go to a host.
echo entity_name,entity_key,job_exec,check_at,payload >rows
for i in {1..60}; do
    echo "orders,y$i,hook,2023-11-14T22:30:00Z,\"{\"\"host\"\": \"\"slow.y\"\"}\""
done >>rows
ok "many to one host are loaded" "$P" --store sqlite:p.db --now 2023-11-14T22:20:00Z enqueue --from rows
has "and run" \
    "$("$P" --store sqlite:p.db --set workers=1 run --slot 1700001000 2>/dev/null)" "60 run, 60 done"
is "its name is asked for once" "$(grep -c '^slow\.y' asked)" 1
