# lib.sh - what tests/drivers.sh and tests/readme.sh share: a cluster on loopback, and which
# languages and drivers are installed. Sourced after tests/lib.sh.

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# start_loopback SETTING...: a cluster of its own: $CLUSTER, $PORT. False when there is no server.
start_loopback() {
    CLUSTER=$(mktemp -d /tmp/pd.XXXXXX)         # short: a socket is in it
    PORT=$(free_port)
    "$ROOT/tests/pg_cluster.sh" start "$CLUSTER" fsync=off listen_addresses=127.0.0.1 port="$PORT" \
        "$@" >/dev/null 2>"$TMP/.cluster" && return 0
    if ! grep -q "no initdb" "$TMP/.cluster"; then
        FAILED=1
        echo "not ok - a cluster: $(tail -n 1 "$TMP/.cluster")"
    fi
    return 1
}

stop_loopback() { [ -z "${CLUSTER:-}" ] || "$ROOT/tests/pg_cluster.sh" stop "$CLUSTER"; }

# LANGUAGE_ready DRIVER: whether the language and its driver are installed.

# Debian's Python, which has Debian's drivers
# one module, or two with "_" between them
python_ready() {
    local modules=${1/psycopg3/psycopg}
    /usr/bin/python3 -c "import ${modules/_/, }" 2>/dev/null
}

# A driver of Node is Debian's, or fetched by npm into a temporary folder when DRIVERS_FETCH is set
fetch_node() {
    [ -n "${DRIVERS_FETCH:-}" ] && command -v npm >/dev/null && [ ! -d "$TMP/npm" ] || return 0
    mkdir "$TMP/npm" && cp "$ROOT/tests/drivers/package.json" "$TMP/npm/"
    (cd "$TMP/npm" && HOME=${HOME:-$TMP} npm install --silent --no-audit --no-fund --ignore-scripts) \
        >"$TMP/npm.log" 2>&1 || echo "# npm could not fetch them: $(tail -n 1 "$TMP/npm.log")"
}
node_ready() {
    local name=${1#node_}
    command -v node >/dev/null || return 1
    fetch_node
    export NODE_PATH=$TMP/npm/node_modules:/usr/share/nodejs
    node -e "require('${name/postgres_js/postgres}')" 2>/dev/null
}

JAR=/usr/share/java/postgresql.jar
java_ready() { command -v javac >/dev/null && [ -e "$JAR" ]; }

go_ready() {
    local package=github.com/lib/pq
    [ "$1" = lib_pq ] || package=github.com/jackc/pgx/v4
    command -v go >/dev/null && [ -d "/usr/share/gocode/src/$package" ] &&
        [ -d /usr/share/gocode/src/github.com/gofrs/uuid ]
}
# go_build PROGRAM FILE...: with Debian's packages and no network
go_build() {
    GO111MODULE=off GOFLAGS='' GOPATH=/usr/share/gocode GOCACHE=${GOCACHE:-${HOME:-$TMP}/.cache/go-build} \
        go build -o "$@"
}

ruby_ready() { command -v ruby >/dev/null && ruby -e 'require "pg"' 2>/dev/null; }
