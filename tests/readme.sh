#!/usr/bin/env bash
# readme.sh - the README's commands for newcomers work, in its order: each block under a line
# "<!-- readme.sh: KIND -->" is taken out of it and run.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
README=$PWD/README.md INCLUDE=$PWD/include
. tests/lib.sh
JOBS=${P%/*}/jobs

# block KIND N: the N-th block of that kind
block() {
    awk -v kind="<!-- readme.sh: $1 -->" -v n="$2" '
        $0 == kind { seen++ }
        /^```/ { inside = !inside && seen == n && !done; if (!inside && seen == n) done = 1; next }
        inside' "$README"
}

# json_lines EXPRESSION: the same as json, where each line is an object: `lines`
json_lines() { python3 -c "import json,sys; lines=[json.loads(l) for l in sys.stdin]; print($1)"; }

ln -s "$P" prescient
PATH=$TMP:$PATH

block prescient.cfg 1 >prescient.cfg
is "the settings are accepted" \
    "$(prescient config --check)" "the settings are good: 1 job, every plug-in loads"
ok "the shop, and checks in its trigger" bash -euc "$(block sh 1)"
is "both orders wait" "$(prescient list --json | json '[(r["entity_key"], r["job_exec"]) for r in j]')" \
    "[('42', 'unshipped_order'), ('43', 'unshipped_order')]"
ok "four hours pass" bash -euc "$(block sh 2)"
is "42 raised an alert" "$(prescient events --json | json 'j["event"], j["entity_key"]')" \
    "('order.unshipped', '42')"
is "43 is done" "$(prescient history --json | json '[(r["entity_key"], r["outcome"]) for r in j]')" \
    "[('43', 'done')]"
is "42 waits on, one look later" \
    "$(prescient list --json | json '[(r["entity_key"], r["check_count"]) for r in j]')" "[('42', 1)]"
ok "42 is resolved" bash -euc "$(block sh 3)"
is "42 has ended as resolved" "$(prescient history orders 42 --json | json '[r["outcome"] for r in j]')" \
    "['resolved']"

mkdir mine
block order_paid.c 1 >order_paid.c
ok "the job in C compiles without a warning" cc -Wall -Wextra -Werror -I "$INCLUDE" \
    -shared -fPIC -o mine/order_paid.so order_paid.c
is "and the command for that is the README's" \
    "$(block compile 1 | cut -d' ' -f1-6)" "cc -shared -fPIC -o order_paid.so order_paid.c"
chmod go-w mine mine/order_paid.so
job='order_paid = { plugin = "order_paid"; };'
sed 's|^jobs = {|plugin_dirs = ["mine", "'"$JOBS"'"];\njobs = {\n    '"$job|" prescient.cfg >mine.cfg
prescient --config mine.cfg enqueue orders 43 order_paid +1h >/dev/null
sqlite3 shop.db "ALTER TABLE orders ADD paid_at TEXT"
prescient --config mine.cfg --quiet --log-level error replay --from now --to +2h
is "and it runs" \
    "$(prescient --config mine.cfg events --json | json_lines '[j["event"] for j in lines][-1]')" \
    "order.unpaid"

on_postgresql() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local role=prescient_readme_$$             # roles are the whole server's
    prescient init >/dev/null
    ok "the functions of PostgreSQL" psql -qX "$PRESCIENT_STORE" -v ON_ERROR_STOP=1 -c "$(block postgresql 1)"
    is "what they leave waits" "$(prescient list --json | json 'sorted(r["entity_key"] for r in j)')" \
        "['43', '44', '45', '46']"
    ok "the enqueuer's role" psql -qX "$PRESCIENT_STORE" -v ON_ERROR_STOP=1 \
        -c "$(block postgresql 2 | sed "s|shop|$role|g")"
    ok "it may enqueue" psql -qX "$PRESCIENT_STORE" -v ON_ERROR_STOP=1 -c "SET ROLE $role" \
        -c "SELECT prescient.enqueue('orders', '50', 'unshipped_order', now())"
    fails_with 1 "permission denied" psql -qX "$PRESCIENT_STORE" -v ON_ERROR_STOP=1 \
        -c "SET ROLE $role" -c "SELECT * FROM prescient.future_job"
    psql -qX "$PRESCIENT_STORE" -c "DROP ROLE $role"
}
on_each_store on_postgresql
