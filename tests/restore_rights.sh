#!/usr/bin/env bash
# restore_rights.sh - a dump is restored on a server without the roles: after `prescient init` all
# rights are as before. With a real dump and two servers.
# night: clusters that are restored
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -n "$SERVER" ] || { echo "# no PostgreSQL: no dump is restored"; exit 0; }
[ -x "$("$ROOT/tests/pg_cluster.sh" bin)/pg_restore" ] || { echo "# no pg_restore"; exit 0; }
BIN=$("$ROOT/tests/pg_cluster.sh" bin)
new_database rights_$$
chmod 755 "$TMP"
THERE=$("$ROOT/tests/pg_cluster.sh" start "$TMP/there") || { echo "not ok - a second server"; exit 1; }
trap '"$ROOT/tests/pg_cluster.sh" stop "$TMP/there"; finish || exit 1' EXIT

at() { psql -qXAt "$1" -c "$2" 2>&1; }
# Every right to every function, table, sequence and the schema itself, by names.
rights() {
    at "$1" "SELECT p.oid::regprocedure, (SELECT array_agg(a ORDER BY a) FROM unnest(p.proacl::text[]) a)
             FROM pg_proc p WHERE p.pronamespace = 'prescient'::regnamespace
             UNION ALL SELECT c.oid::regclass, (SELECT array_agg(a ORDER BY a)
                 FROM unnest(c.relacl::text[]) a) FROM pg_class c
                        WHERE c.relnamespace = 'prescient'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
                        AND NOT c.relispartition
             UNION ALL SELECT n.nspname, (SELECT array_agg(a ORDER BY a) FROM unnest(n.nspacl::text[]) a)
                 FROM pg_namespace n WHERE n.nspname = 'prescient'
             ORDER BY 1"
}
open_to_all() {
    at "$1" "SELECT count(*) FROM pg_proc p WHERE p.pronamespace = 'prescient'::regnamespace
             AND has_function_privilege('nobody_at_all', p.oid, 'EXECUTE')"
}
finding() {
    "$P" --store "$1" doctor --json | json '[(f["level"], f["found"]) for f in j if f["what"] == "rights"]'
}

ok "a schema" "$P" --store "$HERE" init
at "$HERE" "CREATE ROLE reader_$$; GRANT SELECT ON prescient.future_job_history TO reader_$$;
            SELECT prescient.enqueue('e', '1', 'j', interval '1 hour')" >/dev/null
rights "$HERE" >before
is "all is as it must be" "$(finding "$HERE")" "[('ok', 'as they must be')]"
ok "init once more" "$P" --store "$HERE" init
rights "$HERE" >again
ok "changes nothing, what an operator has granted neither" diff before again
at "$HERE" "REVOKE ALL ON prescient.future_job_history FROM reader_$$" >/dev/null
rights "$HERE" >before
"$BIN/pg_dump" -Fc "$HERE" >dump

at "$THERE" "CREATE ROLE nobody_at_all; CREATE ROLE plain LOGIN" >/dev/null
at "$THERE" "CREATE DATABASE plain OWNER plain" >/dev/null
plain=$(sed -E 's#postgres@/postgres#plain@/plain#' <<<"$THERE")
roles="prescient_engine, prescient_enqueuer, prescient_operator, prescient_reader"
has "init by one who may not make roles says which are not there" \
    "$("$P" --store "$plain" init 2>&1)" "the schema works for its owner alone: $roles"
is "and doctor, too" "$(finding "$plain")" \
    "[('ok', 'of the owner alone, as these roles are not there: $roles')]"
at "$THERE" "DROP DATABASE plain" >/dev/null

"$BIN/pg_restore" -d "$THERE" dump 2>restore.err
has "the roles are not there" "$(cat restore.err)" 'role "prescient_engine" does not exist'
is "what nobody was granted is open to everybody now" \
    "$([ "$(open_to_all "$THERE")" -gt 10 ] && echo yes)" yes
has "doctor says so" "$(finding "$THERE")" "functions are open to everybody"
ok "init" "$P" --store "$THERE" init
is "nothing is open to everybody" "$(open_to_all "$THERE")" 0
rights "$THERE" >after
ok "everybody may do there what he may here, and no more" diff before after
is "doctor sees nothing amiss" "$(finding "$THERE")" "[('ok', 'as they must be')]"

at "$THERE" "CREATE ROLE shop LOGIN IN ROLE prescient_enqueuer;
             CREATE ROLE runner LOGIN IN ROLE prescient_engine; REVOKE ALL ON SEQUENCE prescient.event_id_seq
                 FROM prescient_engine;
             REVOKE EXECUTE ON FUNCTION prescient.resolve(text, text, text)
                 FROM prescient_enqueuer" >/dev/null
has "rights that are missing are told, to an engine, too" "$(finding "${THERE/postgres@/runner@}")" \
    "('warn', '2 are missing')"
ok "migrate" "$P" --store "$THERE" migrate
rights "$THERE" >after
ok "gives them back" diff before after
is "an application enqueues" \
    "$(at "${THERE/postgres@/shop@}" "SELECT prescient.enqueue('e', '2', 'j', interval '1 hour')")" new
has "and no more" "$(at "${THERE/postgres@/shop@}" "SELECT prescient.resolve_at('e', '2', NULL, now())")" \
    "permission denied for function resolve_at"
ok "an engine works" "$P" --store "${THERE/postgres@/runner@}" run
at "$SERVER" "DROP ROLE reader_$$" >/dev/null
