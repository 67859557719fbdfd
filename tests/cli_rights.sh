#!/usr/bin/env bash
# cli_rights.sh - the program for users who have one role each on PostgreSQL: an application
# enqueues, moves and resolves without a right to any table; a right that is missing is told with
# the line that grants it.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -n "$SERVER" ] || { echo "# no PostgreSQL: no roles"; exit 0; }
case $SERVER in
*"//postgres@/postgres"*) ;;
*) echo "# this server's URL names another superuser: the roles are not tried"; exit 0 ;;
esac
mark=r$$
db=rights_$mark
psql -qX "$SERVER" -c "CREATE DATABASE $db" && DATABASES="${DATABASES:-} $db"
url() { sed -E "s#//postgres@/postgres#//$1@/$db#" <<<"$SERVER"; }
as() { psql -qXAt "$(url "$1")" -c "$2" 2>&1; }
shop=shop_$mark
nobody=nobody_$mark
odd='Odd one_'$mark
drop_roles() {
    local name
    for name in "$shop" "$nobody" "$odd"; do
        psql -qX "$(url postgres)" -c "DROP OWNED BY \"$name\" CASCADE" -c "DROP ROLE \"$name\""
    done >/dev/null 2>&1
}
trap 'drop_roles; finish || exit 1' EXIT

ok "a schema" "$P" --store "$(url postgres)" init
as postgres "CREATE ROLE $shop LOGIN IN ROLE prescient_enqueuer; CREATE ROLE $nobody LOGIN;
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
grant='As its owner run: GRANT'
refused() {
    local words=$1 said; shift
    if said=$("$@" 2>&1 >/dev/null); then is "refused: $words" "it succeeded" "a refusal"; fi
    has "$words" "$said" "$words"
}
refused "permission denied for function file_check (user $shop). $grant prescient_engine TO $shop" \
    on "$shop" --now 2026-03-01T13:15:00Z enqueue orders 42 unshipped +3h
refused "(user $shop). $grant prescient_engine TO $shop" on "$shop" list
refused "(user $shop). $grant prescient_engine TO $shop" on "$shop" sweep

# ---- nobody ----

denied="permission denied for schema prescient (user $nobody)"
refused "$denied. $grant prescient_enqueuer TO $nobody" on "$nobody" resolve orders 42
refused "$denied. $grant prescient_engine TO $nobody" on "$nobody" status
has "doctor finds it" "$(on "$nobody" doctor)" "$denied. $grant prescient_engine TO $nobody"
quoted=$(sed 's/ /%20/' <<<"$odd")
refused "GRANT prescient_enqueuer TO \"$odd\"" on "$quoted" resolve orders 42
denied="user $nobody may not create schema 'other' in database $db"
refused "$denied. $grant CREATE ON DATABASE $db TO $nobody" \
    env PRESCIENT_SCHEMA=other "$P" --store "$(url "$nobody")" init

# The line that is told is the one that helps.
line=$(on "$nobody" resolve orders 42 2>&1 | sed -n 's/.*As its owner run: //p' | tail -1)
as postgres "$line" >/dev/null
is "with it, the command does what was asked" "$(on "$nobody" resolve orders 1)" "1 check resolved"
