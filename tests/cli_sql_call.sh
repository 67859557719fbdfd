#!/usr/bin/env bash
# cli_sql_call.sh - the job sql_call: what the function is given, one transaction each, and each way
# in which it fails; with both stores.
# about 20 s
# night: a database for each edge
PLUGIN=sql_call DEFAULTS='function = "shop.order_check";'
. "$(dirname "${BASH_SOURCE[0]}")/pg_jobs_lib.sh"

job; fails "no schema" 'schema "shop" does not exist (SQLSTATE 3F000); expected a function' "final fail"
as_owner "CREATE SCHEMA shop; CREATE TABLE shop.alert (id text UNIQUE DEFERRABLE INITIALLY DEFERRED,
    data jsonb, pid int DEFAULT pg_backend_pid(), xid xid8 DEFAULT pg_current_xact_id())"
fails "no right to the schema" "run: GRANT USAGE ON SCHEMA shop TO \"$CALLER\"" "final fail"
as_owner "GRANT USAGE ON SCHEMA shop TO $CALLER"
fails "no function" "expected a function shop.order_check(id text, data jsonb)" "final fail"
has "the server's words" "$(note)" "function shop.order_check(text, jsonb) does not exist (SQLSTATE 42883)"
# body TEXT: of the function
body() {
    as_owner "CREATE OR REPLACE FUNCTION shop.order_check(id text, data jsonb) RETURNS text
        LANGUAGE plpgsql ${SECURITY:-SECURITY DEFINER SET search_path = shop, pg_temp}
        AS \$f\$ BEGIN $1 END \$f\$"
}
body 'INSERT INTO alert VALUES (id, data); RETURN $$kept $$ || (data ->> $$entity_key$$);'
as_owner "REVOKE EXECUTE ON FUNCTION shop.order_check FROM PUBLIC"
fails "no right" "as its owner run: GRANT EXECUTE ON FUNCTION shop.order_check(text, jsonb) TO" "final fail"
as_owner "$(note | sed 's/.*run: //')"
WHAT="the GRANT that was told helps" tried 'j["answer"], j["outcome"]' "('done', 'done')" \
    --payload '{"n": 1.10}'
is "what it returns is the note" "$(note)" "kept 42"
is "it is given the key and the check" "$(as_owner "SELECT length(id), data ->> 'id' = id,
    data ->> 'entity_key', data -> 'data' FROM shop.alert")" '32|t|42|{"n": 1.10}'
WHAT="the same again, refused at COMMIT" tried 'j["answer"]' fail --payload '{"n": 1.10}'
has "its words" "$(note)" "duplicate key value violates unique constraint"
is "leaves nothing" "$(as_owner "SELECT count(*) FROM shop.alert")" 1
KEY="a'); DROP TABLE shop.alert; -- \$(d) \"c\"" WHAT="any key is taken" tried 'j["answer"]' done
is "as it is" "$(as_owner "SELECT count(*) FROM shop.alert WHERE data ->> 'entity_key' =
    \$k\$a'); DROP TABLE shop.alert; -- \$(d) \"c\"\$k\$")" 1

# ---- what the function itself does ----
body "RAISE EXCEPTION 'not now';"
fails "it raises" "$DB at "
has "its words" "$(note)" "not now (SQLSTATE P0001)"
body "RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = 'could not serialize';"
fails "a serialization failure" "could not serialize (SQLSTATE 40001)"
body "RETURN shop.missing(1);"; fails "it calls what is not there" "function shop.missing(integer) does not"
SECURITY=' ' body "INSERT INTO shop.alert VALUES (id, data); RETURN 1;"
fails "it has no right" "permission denied for table alert; as its owner run: GRANT what" "final fail"
body "SET TRANSACTION READ ONLY; INSERT INTO alert VALUES (id); RETURN 1;"
fails "read-only" "SQLSTATE 25006"
body "PERFORM pg_sleep(60); RETURN 1;"
TIMEOUT=2s job; fails "it takes too long" "canceling statement due to statement timeout (SQLSTATE 57014)"
is "nothing of it goes on" "$(sessions "AND state <> 'idle'")" 0
job; try_in_background
ok "it is running" wait_until 20 is_running
as_owner "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'prescient tell'" \
    >/dev/null
wait $TRY
is "its session is ended in the middle" "$(json 'j["answer"]' <.tried)" fail
has "with words" "$(note)" "terminating connection due to administrator command"

# A deadlock with a session that waits longer than the server takes to notice it.
as_owner "CREATE TABLE shop.two (n int PRIMARY KEY); INSERT INTO shop.two VALUES (1), (2)"
body "PERFORM 1 FROM two WHERE n = 1 FOR UPDATE; PERFORM 1 FROM two WHERE n = 2 FOR UPDATE; RETURN 1;"
mkfifo say
psql -qXAt "$(url postgres)" <say >said 2>&1 & OTHER=$!
exec 5>say
echo "SET deadlock_timeout = '20s'; BEGIN; SELECT 'has' || n FROM shop.two WHERE n = 2 FOR UPDATE;" >&5
ok "another session has one row" wait_until 10 grep -q has2 said
try_in_background
ok "the function waits for it" wait_until 20 is_running "AND wait_event_type = 'Lock'"
echo "SELECT 'has' || n FROM shop.two WHERE n = 1 FOR UPDATE; COMMIT;" >&5
wait $TRY
is "a deadlock" "$(json 'j["answer"]' <.tried)" fail
has "its words" "$(note)" "deadlock detected (SQLSTATE 40P01)"
exec 5>&-; wait $OTHER

refused "setting 'function': found ''" 'other = 1;'
for name in 'a.b.c' 'Shop.f' 'f()' 'a.' '.f' '1f' 'f; DROP TABLE x'; do
    refused "setting 'function': found '$name'" "function = \"$name\";"
done
common_failures

body "INSERT INTO alert VALUES (id, data); RETURN NULL;"
called() {
    as_owner "TRUNCATE shop.alert"
    many
    is "$STORE_NAME: one call each, in a transaction each" "$(as_owner "SELECT count(*), count(DISTINCT xid)
        FROM shop.alert")" "302|302"
}
on_both_stores called
