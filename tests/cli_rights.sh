#!/usr/bin/env bash
# cli_rights.sh - the program for users who have one role each on PostgreSQL: an application
# enqueues, moves and resolves without a right to any table; a right that is missing is told with
# the line that grants it.
# night: roles for each edge
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
json_begins

[ -n "$SERVER" ] || { echo "# no PostgreSQL: no roles"; exit 0; }
case $SERVER in
*"//postgres@/postgres"*) ;;
*) echo "# this server's URL names another superuser: the roles are not tried"; exit 0 ;;
esac
mark=r$$
db=rights_$mark
new_database $db
url() { sed -E "s#//postgres@/postgres#//$1@/$db#" <<<"$SERVER"; }
as() { psql -qXAt "$(url "$1")" -c "$2" 2>&1; }
shop=shop_$mark
nobody=nobody_$mark
reader=reader_$mark
engine=engine_$mark
operator=operator_$mark
odd='Odd one_'$mark
drop_roles() {
    local name
    for name in "$shop" "$nobody" "$reader" "$engine" "$operator" "$odd"; do
        psql -qX "$(url postgres)" -c "DROP OWNED BY \"$name\" CASCADE" -c "DROP ROLE \"$name\""
    done >/dev/null 2>&1
}
trap 'drop_roles; finish || exit 1' EXIT

ok "a schema" "$P" --store "$(url postgres)" init
as postgres "CREATE ROLE $shop LOGIN IN ROLE prescient_enqueuer; CREATE ROLE $nobody LOGIN;
             CREATE ROLE $reader LOGIN IN ROLE prescient_reader;
             CREATE ROLE $engine LOGIN IN ROLE prescient_engine;
             CREATE ROLE $operator LOGIN IN ROLE prescient_operator;
             CREATE ROLE \"$odd\" LOGIN" >/dev/null
on() { local user=$1; shift; "$P" --store "$(url "$user")" "$@"; }

# ---- an application ----

is "an enqueuer enqueues" "$(on "$shop" enqueue orders 42 unshipped 2099-12-31T23:50:00Z 2>&1 | tail -1)" \
    "new: orders 42 unshipped at 2100-01-01T00:00:00Z"
is "and is told the slot of what it keeps" "$(on "$shop" enqueue orders 42 unshipped +3h 2>&1 | tail -1)" \
    "kept: orders 42 unshipped at 2100-01-01T00:00:00Z"
is "moves it" "$(on "$shop" reschedule orders 42 unshipped 2099-12-31T23:30:00Z)" \
    "moved to 2099-12-31T23:30:00Z"
is "or says that there is none" "$(on "$shop" reschedule orders 43 unshipped +3h)" \
    "no check waits for orders 43 unshipped; prescient enqueue writes one down"
is "resolves it" "$(on "$shop" resolve orders 42)" "1 check resolved"
has "and is told what may be mistyped" "$(on "$shop" resolve ordrs 42 2>&1)" \
    "no check of any row of entity 'ordrs' waits: is that its name?"
{
    echo entity_name,entity_key,job_exec,check_at
    for i in 1 2 3; do echo "orders,$i,unshipped,2099-12-31T23:30:00Z"; done
} >checks.csv
ok "loads a file" on "$shop" enqueue --from checks.csv
is "of three" "$(as "$shop" "SELECT count(*) FROM generate_series(1, 3) i, prescient.pending('orders', i)")" 3
is "JSON is as it is for everybody" \
    "$(on "$shop" enqueue --json orders 1 unshipped +3h | json 'sorted(j), j["outcome"]')" \
    "(['next_check_at', 'outcome'], 'kept')"

# refused WORDS COMMAND...: it fails, and stderr has these words
grant='As a superuser or an admin of that role run: GRANT'
refused() {
    local words=$1 said; shift
    if said=$("$@" 2>&1 >/dev/null); then is "refused: $words" "it succeeded" "a refusal"; fi
    has "$words" "$said" "$words"
}
refused "permission denied for function file_check (user $shop). $grant prescient_engine TO $shop" \
    on "$shop" --now 2026-03-01T13:15:00Z enqueue orders 42 unshipped +3h
refused "(user $shop). $grant prescient_reader TO $shop" on "$shop" list
refused "(user $shop). $grant prescient_engine TO $shop" on "$shop" sweep
for command in "schedule list" "schedule show nightly" "--now 2099-01-01 schedule list"; do
    # shellcheck disable=SC2086
    refused "(user $shop). $grant prescient_reader TO $shop" on "$shop" $command
done

# ---- a reader: what it asked for decides which role it needs, not which one it has ----

for command in "enqueue orders 42 unshipped +3h" "resolve orders 42" "reschedule orders 42 unshipped +3h"; do
    # shellcheck disable=SC2086
    refused "(user $reader). $grant prescient_enqueuer TO $reader" on "$reader" $command
done
# Who may not run checks moves none to be run: the first look is refused.
for user in "$shop" "$reader"; do
    refused "(user $user). $grant prescient_engine TO $user" on "$user" run --check orders 1
done
is "and nothing was asked for" "$(as postgres "SELECT count(*) FROM prescient.future_job
    WHERE next_check_at < now() + interval '1 day'")" 0
fails_with 75 "it is run at" on "$engine" run --check orders 1 --within 1s
is "an engine's role suffices" "$(as postgres "SELECT count(*) FROM prescient.future_job
    WHERE next_check_at < now() + interval '1 day'")" 1
printf 'entity,key,job,at\norders,1,unshipped,+3h\n' >denied.csv
on "$reader" enqueue --from denied.csv >denied.out 2>&1
has "a load that is refused: who may change that" "$(cat denied.out)" "$grant prescient_enqueuer TO $reader"
is "and that nothing was written" "$(tail -1 denied.out)" "prescient enqueue: nothing was written"
is "which is known" "$(grep -c 'not known' denied.out)" 0
for command in run sweep reslot; do
    refused "(user $reader). $grant prescient_engine TO $reader" on "$reader" $command
done
refused "schema 'prescient' belongs to role 'postgres' and this is '$reader'" on "$reader" migrate

# ---- a dashboard ----

on "$shop" enqueue orders 77 unshipped +3h --payload '{"card": "4111"}' >/dev/null 2>&1
on "$reader" list orders 77 --json >.seen 2>.said
is "a reader lists what waits" "$(json 'j[0]["entity_key"], "payload" in j[0]' <.seen)" "('77', False)"
has "and is told what it is not shown" "$(cat .said)" \
    "without the column 'payload': this user may read the views only (role prescient_reader)"
is "the owner sees the payload" "$(on postgres list orders 77 --json | json 'j[0]["payload"]["card"]')" \
    4111
for report in "list" "list orders" "history" "runs" "events" "slots" "passes" "status" "show orders 77" \
    "status --by job" "status --slow 5s"; do
    for how in "" "--json" "--now 2099-01-01"; do
        # shellcheck disable=SC2086
        ok "a reader: $report $how" on "$reader" $report $how
    done
done
on postgres schedule add nightly orders 78 sync --cron '0 6 * * *' --payload '{"card": "4111"}' >.seen 2>&1
for how in "" "--json"; do
    # shellcheck disable=SC2086
    ok "a reader: schedule list $how" on "$reader" schedule list $how
    # shellcheck disable=SC2086
    ok "a reader: schedule show $how" on "$reader" schedule show nightly $how
done
fields='[j[k] for k in ("name", "cron", "is_active", "next_check_at", "made_by", "slot_length_s")]'
is "a reader sees a schedule as the owner does" \
    "$(on "$reader" schedule show nightly --json 2>.said | json "$fields, 'payload' in j")" \
    "$(on postgres schedule show nightly --json | json "$fields, False")"
has "and is told what it is not shown" "$(cat .said)" "without the column 'payload'"
is "it lists them" "$(on "$reader" schedule list --json 2>.said | json '[r["name"] for r in j]')" \
    "['nightly']"
# a file that is what is there: without payloads it would differ
printf 'name,entity_name,entity_key,job_exec,cron,payload\n' >wanted.csv
printf 'nightly,orders,78,sync,0 6 * * *,"{""card"": ""4111""}"\n' >>wanted.csv
refused "(user $reader). $grant prescient_engine TO $reader" \
    on "$reader" schedule load wanted.csv --dry-run
on "$reader" --json schedule load wanted.csv --dry-run >.seen 2>/dev/null
is "whose exit code and output say nothing of a change that is none" "$? $(cat .seen)" "77 "
is "an engine's role compares payloads" "$(on "$engine" --json schedule load wanted.csv --dry-run \
    2>/dev/null | json 'j["changed"], j["kept"]')" "(0, 1)"
counts='[j[k] for k in ("pending", "due", "overdue", "leases", "history_rows", "unknown_jobs")]'
is "status counts for it as for the owner" "$(on "$reader" status --json | json "$counts")" \
    "$(on postgres status --json | json "$counts")"

# ---- consumers: whose command gets the data of events ----

for command in "--deliver mail -- true" "--reset mail --to 0-0-0" "--reset mail --to now" \
    "--reset mail --to -1d" "--forget mail"; do
    # shellcheck disable=SC2086
    refused "(user $reader). $grant prescient_engine TO $reader" on "$reader" events $command
    # shellcheck disable=SC2086
    refused "(user $shop). $grant prescient_engine TO $shop" on "$shop" events $command
done
ok "an engine's role delivers" on "$engine" events --deliver mail -- true
is "a reader sees who is how far" "$(on "$reader" events --consumers --json | json 'j[0]["name"]')" mail
refused "(user $shop). $grant prescient_reader TO $shop" on "$shop" events --consumers
ok "an engine's role forgets" on "$engine" events --forget mail

# ---- an operator: who changes what is there, and reads no table ----

delivery=mail/00000000000000000000000000000000
id=$(printf %032d 0)
changes=("pause --job look" "resume --job look" "schedule add hourly orders 79 sync --every 1h"
         "schedule set nightly --missed skip" "schedule off nightly" "schedule on nightly"
         "schedule remove nightly" "deliveries --again $delivery")
for user in "$shop" "$reader"; do
    for command in "${changes[@]}"; do
        # shellcheck disable=SC2086
        refused "(user $user). $grant prescient_operator TO $user" on "$user" $command
    done
done
for user in "$shop" "$operator"; do
    refused "(user $user). $grant prescient_reader TO $user" on "$user" deliveries --again "$id"
    refused "(user $user). $grant prescient_reader TO $user" on "$user" deliveries
done
refused "(user $operator). $grant prescient_engine TO $operator" \
    on "$operator" --now 2026-03-01T13:15:00Z schedule off nightly
refused "(user $operator). $grant prescient_engine TO $operator" on "$operator" schedule load wanted.csv
refused "(user $operator). $grant prescient_engine TO $operator" on "$operator" retry --all
# does WORDS COMMAND...: an operator may, and is told that
does() { is "an operator: ${*:2}" "$(on "$operator" "${@:2}" 2>&1)" "$1"; }
does "job look is paused; \`prescient resume\` with the same words ends that" pause --job look --reason moving
does "job look was paused already; \`prescient pauses\` shows by whom" pause --job look
does "entity nobodys is paused; \`prescient resume\` with the same words ends that" pause --entity nobodys
does "job look is resumed; engines move its checks to the next slot" resume --job look
does "job look is not paused; \`prescient pauses\` lists what is" resume --job look
ok "an operator makes a schedule" on "$operator" schedule add hourly orders 79 sync --every 1h --bias 0.1
does "prescient schedule: there is a schedule 'hourly' already" \
    schedule add hourly orders 80 sync --every 1h
does "kept: hourly" schedule set hourly --every 1h
ok "and changes it" on "$operator" schedule set hourly orders 80 sync --bias 0.2
is "which is what was asked for" "$(as postgres "SELECT entity_key, every_s, bias, missed
    FROM prescient.schedules WHERE name = 'hourly'")" "80|3600|0.2000|run_once"
does "hourly: off, and its check is ended" schedule off hourly --why moving
does "hourly: it was off" schedule off hourly
does "hourly: on" schedule on hourly
does "hourly: removed, and its check is ended" schedule remove hourly
does "hourly: there is no such schedule" schedule remove hourly
for command in "on hourly" "off hourly" "set hourly --missed skip"; do
    # shellcheck disable=SC2086
    fails_with 2 "there is no schedule 'hourly'" on "$operator" schedule $command
done
does "prescient deliveries: no delivery $delivery in the history; \`prescient deliveries\` lists them" \
    deliveries --again "$delivery"
as postgres "GRANT prescient_reader TO $operator" >/dev/null
fails_with 1 "no delivery has the id $id" on "$operator" deliveries --again "$id"
is "what an operator did is written down" "$(as postgres "SELECT string_agg(change, ' ' ORDER BY changed_at)
    FROM prescient.audit WHERE done_by = '$operator' AND reason = 'moving'")" "pause schedule-off"

# ---- a server of HTTP, which has the rights of its user ----

# serves USER: sets SERVES
serves() {
    # not by a function: $! would be a shell's, and the server would outlive it
    "$P" --store "$(url "$1")" serve --listen "unix:$PWD/$1.sock" >/dev/null 2>"$1.log" &
    SERVES=$!
    ok "$1 serves" wait_until 20 curl -so /dev/null --unix-socket "$PWD/$1.sock" http://localhost/liveness
}
asked() { curl -so /dev/null -w '%{http_code}' --unix-socket "$PWD/$1.sock" "${@:2}"; }
posted() {
    asked "$1" -H 'Content-Type: application/json' http://localhost/v1/checks \
        -d '{"entity": "orders", "key": "http", "job": "unshipped", "in": "3h", "uniqid": "u"}'
}
serves "$shop"
is "an enqueuer's server is ready" "$(asked "$shop" http://localhost/readiness)" 200
is "it files" "$(posted "$shop")" 201
is "and knows what it was asked for" "$(asked "$shop" 'http://localhost/v1/requests?uniqid=u')" 200
is "but not why nothing has happened" "$(asked "$shop" 'http://localhost/v1/why?entity=orders&key=42')" 503
has "for which its log has the right" "$(cat "$shop.log")" "$grant prescient_reader TO $shop"
kill "$SERVES"
wait "$SERVES"
serves "$reader"
is "a reader's server is ready" "$(asked "$reader" http://localhost/readiness)" 200
is "and knows why nothing has happened" \
    "$(asked "$reader" 'http://localhost/v1/why?entity=orders&key=42')" 200
is "and files nothing" "$(posted "$reader")" 503
has "its log has what to do about it" "$(cat "$reader.log")" "$grant prescient_enqueuer TO $reader"
kill "$SERVES"
wait "$SERVES"

# ---- nobody ----

denied="permission denied for schema prescient (user $nobody)"
refused "$denied. $grant prescient_enqueuer TO $nobody" on "$nobody" resolve orders 42
refused "$denied. $grant prescient_reader TO $nobody" on "$nobody" status
has "doctor finds it" "$(on "$nobody" doctor)" "$denied. $grant prescient_engine TO $nobody"
quoted=$(sed 's/ /%20/' <<<"$odd")
refused "GRANT prescient_enqueuer TO \"$odd\"" on "$quoted" resolve orders 42
denied="user $nobody may not create schema 'other' in database $db"
refused "$denied. As the owner of the database run: GRANT CREATE ON DATABASE $db TO $nobody" \
    env PRESCIENT_SCHEMA=other "$P" --store "$(url "$nobody")" init

# The line that is told is the one that helps.
line=$(on "$nobody" resolve orders 42 2>&1 | sed -n 's/.*that role run: //p' | tail -1)
as postgres "$line" >/dev/null
is "with it, the command does what was asked" "$(on "$nobody" resolve orders 1)" "1 check resolved"
