#!/usr/bin/env bash
# calls.sh [URL] - the SQL API takes what drivers send: tests/calls.sql on the server at hand, or on
# the server URL, where a database is made for it and dropped again.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SERVER=${1:-$SERVER}
[ -n "$SERVER" ] || { echo "# no PostgreSQL: it is not called"; exit 0; }
new_database calls_$$
echo "# PostgreSQL $(psql -qXAt "$HERE" -c "SHOW server_version")"
ok "a schema" "$P" --store "$HERE" init

psql -qX "$HERE" -f "$ROOT/tests/calls.sql" >calls.out 2>calls.err
is "all calls are tried" $? 0
cat calls.err calls.out
! grep -q '^not ok' calls.out || FAILED=1
