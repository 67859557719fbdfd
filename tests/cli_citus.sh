#!/usr/bin/env bash
# cli_citus.sh - tables that Citus has spread over nodes are refused, by whatever looks at them
# first. Citus is not here: a table of its name, with the one column that is read, stands for its
# catalog.
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

[ -n "$SERVER" ] || { echo "# no PostgreSQL: Citus is not tried"; exit 0; }
STORE_NAME=postgresql
a_store citus || exit 1
superuser() { psql -qXAt "$PRESCIENT_STORE" -c "SET allow_system_table_mods = on; $1" 2>&1; }
if ! superuser "CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass)" >made; then
    echo "# this user makes no table in pg_catalog: Citus is not tried"
    exit 0
fi
settings 'jobs = { noop = { plugin = "noop"; }; };'
refused="table 'future_job' of schema 'prescient' is distributed over nodes (Citus"

ok "tables of a server with Citus are made" "$P" --quiet init
ok "and used, as they are local" "$P" --quiet run
superuser "CREATE TABLE public.orders (id bigint)"
superuser "INSERT INTO pg_catalog.pg_dist_partition VALUES ('public.orders')"
ok "also beside an application's that are not" "$P" --quiet run

superuser "INSERT INTO pg_catalog.pg_dist_partition VALUES ('prescient.future_job')"
for command in "run" "daemon" "init" "migrate" "status" "enqueue orders 1 noop +1h"; do
    fails_with 78 "$refused" "$P" $command
done
"$P" doctor >doctor.out 2>&1
is "doctor says it, too" "$? $(grep -c "undistribute_table('prescient.future_job')" doctor.out)" "1 1"

superuser "DELETE FROM pg_catalog.pg_dist_partition WHERE logicalrelid = 'prescient.future_job'::regclass"
ok "when it is local again, it is used" "$P" --quiet run
