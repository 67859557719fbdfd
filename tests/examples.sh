#!/usr/bin/env bash
# examples.sh - the examples in --help: each command has one, and each is run here as it stands, in
# a folder with the shop that they speak of.
# about 10 s
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mkdir bin spool
chmod 700 spool
ln -s "$P" bin/prescient
PATH=$TMP/bin:$PATH
sqlite3 shop.db 'CREATE TABLE orders (id integer PRIMARY KEY, shipped_at text);
    INSERT INTO orders VALUES (42, NULL), (43, NULL)'
cat >prescient.cfg <<CFG
store = "sqlite:shop.db";
plugin_dirs = ["$(dirname "$P")/jobs"];
jobs = {
    unshipped_order = { plugin = "unshipped_order"; settings = { table = "orders"; }; };
    sync = { plugin = "noop"; settings = { answer = "done"; }; };
};
CFG
chmod 600 prescient.cfg
echo 'entity_name,entity_key,job_exec,check_at
orders,43,unshipped_order,+3h' >orders.csv
echo 'entity_name,entity_key,job_exec,check_at
orders,43,unshipped_order,2026-03-05T12:00:00Z' >orders-of-march.csv
printf '#!/bin/sh\ncat >/dev/null\n' | tee remind >send-mail
chmod +x remind send-mail

# the check that examples are about, whatever the one before has done
an_order_waits() { prescient --quiet enqueue orders 42 unshipped_order +3h >/dev/null; }

# Those that stay are ended as an operator ends them. doctor warns of a store in which no pass was.
run_example() {
    case $1 in
    # not at a port that somebody else may have
    "prescient serve") PRESCIENT_LISTEN=unix:example.sock timeout -s TERM 1 bash -c "exec $1"; [ $? = 124 ] ;;
    "prescient daemon" | "prescient serve "* | *--follow) timeout -s TERM 1 bash -c "exec $1"; [ $? = 124 ] ;;
    "prescient doctor") bash -c "$1"; [ $? -le 1 ] ;;
    *) timeout 60 bash -c "$1" ;;
    esac
}

commands=$(prescient --help | sed '/^options of/q' | awk '/^  [a-z]/ { print $1 }')
examples_of() { prescient "$1" --help | sed -n '/^examples:/,/^$/s/^  \(prescient .*\)/\1/p'; }
is "every command has an example" \
    "$(for c in $commands; do [ -n "$(examples_of "$c")" ] || echo "$c"; done)" ""
is "of itself" "$(for c in $commands; do
    examples_of "$c" | grep -q "^prescient $c\b" || echo "$c"; done)" ""
ok "$(examples_of init)" run_example "$(examples_of init)"
mapfile -t examples < <(for c in $(sort <<<"$commands"); do examples_of "$c"; done)
for example in "${examples[@]}"; do
    an_order_waits
    ok "$example" run_example "$example"
done
