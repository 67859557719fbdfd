#!/usr/bin/env bash
# A host name with two addresses, the first one of a server that only reads: all connections of a
# program go to the other one. On two servers of its own.
# about 3 s
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -n "$SERVER" ] || { echo "# no PostgreSQL"; exit 0; }
chmod 755 "$TMP"
port=$((20000 + $$ % 20000))
trap '"$ROOT/tests/pg_cluster.sh" stop "$TMP/reads"; "$ROOT/tests/pg_cluster.sh" stop "$TMP/writes"
      finish || exit 1' EXIT
# at FOLDER ADDRESS setting=value...
at() {
    "$ROOT/tests/pg_cluster.sh" start "$TMP/$1" fsync=off listen_addresses="$2" port="$port" \
        'hba=host all all 127.0.0.0/8 trust' "${@:3}" >/dev/null || {
        echo "not ok - a server of its own: $1"; exit 1
    }
}
at reads 127.0.0.2 default_transaction_read_only=on
at writes 127.0.0.3
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -fPIC -shared -o "$TMP/addresses.so" \
    "$ROOT/tests/preload/addresses.c" || { echo "not ok - addresses.c is compiled"; exit 1; }

pair="postgresql://postgres@pair.test:$port/postgres"
# there COMMAND...: where pair.test has both addresses
there() {
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
        LD_PRELOAD="$TMP/addresses.so${LD_PRELOAD:+ $LD_PRELOAD}" "$P" --store "$pair" --quiet "$@"
}
cat >prescient.cfg <<CFG
jobs = { noop = { plugin = "noop"; settings = { answer = "done"; }; }; };
CFG
chmod 600 prescient.cfg

ok "init finds the server that writes" there init
ok "a command does" there --now -2h enqueue orders 1 noop +15m
printf 'entity,key,job,at\norders,2,noop,+15m\n' >rows.csv
ok "what is sent beside it does" there --now -2h enqueue --from rows.csv
ok "an engine does" there sweep
is "all were run there" "$(psql -qXAt "postgresql://postgres@127.0.0.3:$port/postgres" -c \
    "SELECT count(*) FROM prescient.future_job_history WHERE outcome = 'done'")" 2
