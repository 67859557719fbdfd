#!/usr/bin/env bash
# cli_proxy.sh - the samples of proxies with TLS in etc/ (nginx, Caddy): at the root of a name and
# under a path, with a certificate of our own, browsers' sessions, and nothing held up.
# needs: nginx caddy
# about 10 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

read -r ROOT_PORT PATH_PORT TLS_PORT <<<"$(python3 -c 'import socket
held = [socket.socket() for _ in range(3)]
for s in held: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in held])')"
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=prescient.example \
    >/dev/null 2>&1

said() { json "$(printf 'j.get("%s"), ' "$@")" <body; }
# via NAME PATH [option of curl...]: prints the status
via() {
    curl -sk --max-time $((20 * PATIENCE)) --connect-to "$1:443:127.0.0.1:$TLS_PORT" -o body -D head \
        -w '%{http_code}' "https://$1$2" "${@:3}"
}
is_there() { [ "$(via "$1" "$2")" = 200 ]; }

# The settings that the samples name.
servers() {
    a_clean_store
    settings 'http_hosts = ["prescient.example", "shop.example"]; jobs = { look = { plugin = "noop"; }; };'
    TOKEN=$("$P" --quiet token new anna --role operate)
    start at_root "$P" serve --listen "127.0.0.1:$ROOT_PORT"
    start at_path "$P" serve --listen "127.0.0.1:$PATH_PORT" --set base_path=/prescient
}

nginx_runs() {
    sed "s|listen 443 |listen 127.0.0.1:$TLS_PORT |; s|127.0.0.1:8080|127.0.0.1:$ROOT_PORT|
         s|127.0.0.1:8081|127.0.0.1:$PATH_PORT|; s|/etc/ssl/certs/[a-z]*.pem|$PWD/cert.pem|
         s|/etc/ssl/private/[a-z]*.key|$PWD/key.pem|" "$ROOT/etc/nginx/prescient.conf" >prescient.conf
    cat >nginx.conf <<END
$([ "$(id -u)" != 0 ] || echo "user root;")
daemon off; pid $PWD/nginx.pid; error_log stderr; worker_processes 1;
events {}
http {
    access_log off;
    client_body_temp_path $PWD/n1; proxy_temp_path $PWD/n2; fastcgi_temp_path $PWD/n3;
    uwsgi_temp_path $PWD/n4; scgi_temp_path $PWD/n5;
    include $PWD/prescient.conf;
}
END
    start proxy nginx -p "$PWD" -c "$PWD/nginx.conf"
}

caddy_runs() {
    { printf '{\n\tadmin off\n\tauto_https disable_redirects\n'
      printf '\tdefault_bind 127.0.0.1\n\thttps_port %s\n}\n' "$TLS_PORT"
      sed "s|127.0.0.1:8080|127.0.0.1:$ROOT_PORT|; s|127.0.0.1:8081|127.0.0.1:$PATH_PORT|
           s|^\(.*\.example\) {|\1 {\n\ttls $PWD/cert.pem $PWD/key.pem|" "$ROOT/etc/caddy/Caddyfile"
    } >Caddyfile
    HOME=$PWD start proxy caddy run --config "$PWD/Caddyfile" --adapter caddyfile
}

# An answer to what has not been sent to its end: the proxy has not waited for it.
answered_early='import socket, ssl, sys
c = ssl.create_default_context(); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
s = c.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1]))), server_hostname=sys.argv[2])
s.settimeout(20 * int(sys.argv[4]))
s.sendall(b"POST %s/v1/checks HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
          b"Content-Length: 1000000\r\n\r\n" % (sys.argv[3].encode(), sys.argv[2].encode()) + b" " * 65536)
print(s.recv(4096).split()[1].decode())'

# goes PROXY NAME BASE: a program, and a browser
goes() {
    local csrf origin="https://$2" body='{"entity": "orders", "key": 1, "job": "look", "in": "3h"}'
    local page=(-H "Origin: https://$2" -H 'Content-Type: application/json' -b jar -c jar)
    rm -f jar
    ok "$1, $2$3: there it is" wait_until 20 is_there "$2" "$3/liveness"
    is "$1, $2$3: who asks needs a token" "$(via "$2" "$3/v1/status")" 401
    is "$1, $2$3: and is let in with it" "$(via "$2" "$3/v1/status" -H "Authorization: Bearer $TOKEN")" 200
    is "$1, $2$3: a browser logs in" "$(via "$2" "$3/v1/login" "${page[@]}" -d "{\"token\": \"$TOKEN\"}")" 200
    is "$1, $2$3: with a cookie for TLS and this path" \
        "$(tr -d '\r' <head | grep -ic "^set-cookie: .*Path=${3:-/};.*; Secure$")" 1
    csrf=$(said csrf_token)
    csrf=${csrf:2:32}
    is "$1, $2$3: files a check" \
        "$(via "$2" "$3/v1/checks" "${page[@]}" -H "X-CSRF-Token: $csrf" -d "$body" | tr 1 0)" 200
    is "$1, $2$3: not for a page of another site" "$(via "$2" "$3/v1/checks" "${page[@]:2}" \
        -H "X-CSRF-Token: $csrf" -H 'Origin: https://evil.example' -d "$body")" 403
    is "$1, $2$3: what is sent is not held up" \
        "$(limited 60 python3 -c "$answered_early" "$TLS_PORT" "$2" "$3" "$PATIENCE")" 401
}

behind() {
    local proxy=$1
    if ! command -v "$proxy" >/dev/null; then
        echo "# no $proxy here: its sample is not tried"
        return
    fi
    "${proxy}_runs"
    goes "$proxy" prescient.example ""
    goes "$proxy" shop.example /prescient
    kill -TERM "$(pid_of proxy)"
    join_within 20 proxy
}

on_this_store() {
    [ "$STORE_NAME" = sqlite ] || return 0              # the store makes no difference
    servers
    behind nginx
    behind caddy
    for name in at_root at_path; do
        kill -TERM "$(pid_of $name)"
        join_within 30 $name
    done
}
on_each_store on_this_store
