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

# json_lines EXPRESSION: the same as json, where each line is an object, of which `j` has a list
json_lines() { local text; text=$(</dev/stdin); json "$1" <<<"[${text//$'\n'/,}]"; }

if [ "$P" = "$ROOT/build/prescient" ]; then     # it may have been built elsewhere
    is "the first lines lead to the program and to a folder" \
        "$(cd "$ROOT" && HOME=$TMP bash -euc "$(block begin 1)"$'\ncommand -v prescient; pwd; umask')" \
        "$P"$'\n'"$TMP/try"$'\n0022'
fi
ln -s "$P" prescient
PATH=$TMP:$PATH

block prescient.cfg 1 >prescient.cfg
ok "the shop, and checks in its trigger" bash -euc "$(block sh 1)"
is "the settings are accepted" \
    "$(prescient config --check)" "the settings are good: 1 job, every job can be run"
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
is "its probe says what the table lacks" \
    "$(prescient --config mine.cfg config --check 2>&1 | grep -c 'job order_paid: .*paid_at')" 1
prescient --config mine.cfg enqueue orders 43 order_paid +1h >/dev/null
sqlite3 shop.db "ALTER TABLE orders ADD paid_at TEXT"
prescient --config mine.cfg --quiet --log-level error replay --from now --to +2h
is "and it runs" \
    "$(prescient --config mine.cfg events --json | json_lines 'j[0]["event"]')" \
    "order.unpaid"

# ---- without writing C: a receiver of webhooks and a mail server ---------------------------------

SERVERS=()
trap 'kill "${SERVERS[@]}" 2>/dev/null; finish || exit 1' EXIT
# server PROGRAM FOLDER: starts one and prints its port
server() {
    mkdir "$2"
    /usr/bin/python3 -W ignore "$ROOT/tests/$1" "$2" >"$2/out" 2>&1 &
    SERVERS+=($!)
    for _ in {1..1500}; do [ ! -e "$2/port" ] || break; sleep 0.02; done
}
block alerts.cfg 1 >alerts.cfg
is "fifteen lines of settings" "$(wc -l <alerts.cfg)" 15
is "and one statement of SQL" "$(block alerts.sql 1 | grep -c ';$')" 1
is "each plug-in is in jobs/README.md" \
    "$(for d in "$ROOT"/jobs/*/README.md; do d=${d%/README.md}
        grep -qF -- "- [${d##*/}](${d##*/}/README.md): " "$ROOT/jobs/README.md" || echo "${d##*/}"; done)" ""
if grep -qwE 'webhook|email' "${P%/*}/left_out" || ! /usr/bin/python3 -c 'import aiosmtpd' 2>/dev/null; then
    echo "ok - not tested: alerts, as webhook, email or python3-aiosmtpd is not here"
else
    server http_server.py hook; server smtp_server.py mails
    sed -i "s|https://shop.example/hooks/late|http://127.0.0.1:$(cat hook/port)/status/200|
            s|smtp://localhost|smtp://127.0.0.1:$(cat mails/port)|" alerts.cfg
    is "its settings are accepted" "$(prescient --config alerts.cfg config --check)" \
        "the settings are good: 3 jobs, every job can be run"
    ok "order 42 is to be looked at" sqlite3 shop.db "$(block alerts.sql 1)"
    ok "the look, and what cron calls" bash -euc "$(block "sh of alerts" 1)"
    json 'j["body"]' <hook/requests >body
    is "the webhook has come" "$(json 'j["type"], j["entity_name"], j["entity_key"]' <body)" \
        "('order.unshipped', 'orders', '42')"
    is "and the mail" "$(json 'j["to"], "Subject: Order 42 was not shipped" in j["data"]' <mails/mails)" \
        "(['sales@example.com'], True)"
    is "both are over" "$(prescient --config alerts.cfg history prescient.event --json |
        json 'sorted((r["job_exec"], r["outcome"]) for r in j)')" "[('hook', 'done'), ('mail', 'done')]"
    is "the order will be looked at again" "$(prescient --config alerts.cfg list orders 42 --json |
        json '[(r["job_exec"], r["check_count"]) for r in j]')" "[('unshipped', 1)]"
fi

# ---- the same on PostgreSQL: a cluster with passwords, as Debian's has, and nothing in it --------

. "$ROOT/tests/drivers/lib.sh"
trap 'kill "${SERVERS[@]}" 2>/dev/null; stop_loopback; finish || exit 1' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
start_loopback "hba=host all all 127.0.0.1/32 scram-sha-256" || { echo "# no PostgreSQL server here"; exit; }

# What `sudo -u postgres` means there: the superuser, on the server's socket.
cat >sudo <<END
#!/bin/sh
[ "\$1 \$2" = "-u postgres" ] || exit 1
shift 2
PGHOST=$CLUSTER/sock PGPORT=$PORT PGUSER=postgres exec "\$@"
END
chmod +x sudo
printf '\\set ON_ERROR_STOP on\n\\pset pager off\n' >psqlrc
mkdir pg && cd pg || exit 2

# on_pg N: the N-th block, word for word but for the port
on_pg() { PSQLRC=$TMP/psqlrc bash -euc "$(block "sh on postgresql" "$1" | sed "s/@localhost/&:$PORT/")"; }

for n in 1 2 3 4; do ok "PostgreSQL, block $n of its lines" on_pg "$n"; done
is "there are no more of them" "$(block "sh on postgresql" 5)" ""
is "it ends in an alert" \
    "$(prescient events --json | json_lines '[(e["event"], e["entity_key"]) for e in j]')" \
    "[('order.unshipped', '42')]"
ok "all is well, says doctor" prescient doctor
has "no role is missing" "$(cat "$TMP/.out")" "rights: as they must be"
is "what the other calls leave" "$(prescient list --json | json 'sorted(r["entity_key"] for r in j)')" \
    "['43', '44', '45', '46', '47']"
prescient --quiet --log-level error replay --from now --to +25h
is "every one of them is in the shop, and not shipped" \
    "$(prescient events --json | json_lines 'sorted({e["entity_key"] for e in j})')" \
    "['42', '43', '44', '45', '46', '47']"
fails_with 1 "permission denied" psql -qX -v ON_ERROR_STOP=1 "postgresql://shop:secret@localhost:$PORT/shop" \
    -c "SELECT * FROM prescient.future_job"
