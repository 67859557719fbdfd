#!/usr/bin/env bash
# t_pooled.sh - settings of a role or a database do not reach our statements behind a PgBouncer in
# transaction mode, and the session that it lends us stays as it was for others.
# night: it needs the program pgbouncer
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PGBOUNCER=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v pgbouncer) && [ -n "$SERVER" ] ||
    { echo "# no PgBouncer, or no PostgreSQL"; exit 0; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/pb.XXXXXX")
as_nobody() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --init-groups env -i PATH="$PATH" "$@")
    else
        (cd / && "$@")
    fi
}
everything_goes() {
    kill "$(cat "$dir/pid" 2>/dev/null)" 2>/dev/null
    rm -rf "$dir"
    finish
}
trap everything_goes EXIT
db=pooled_$$
new_database $db
# one session, which all clients share
target=$(psql -qX "$SERVER" <<<'\echo host=:HOST port=:PORT user=:USER')
printf '%s\n' '[databases]' "* = $target" '[pgbouncer]' 'listen_addr =' 'listen_port = 6432' \
    "unix_socket_dir = $dir" 'auth_type = any' 'pool_mode = transaction' 'default_pool_size = 1' \
    "logfile = $dir/log" "pidfile = $dir/pid" >"$dir/ini"
[ "$(id -u)" != 0 ] || chown -R postgres "$dir"
as_nobody "$PGBOUNCER" -q -d "$dir/ini" 2>"$dir/words"
URL="postgresql://postgres@/$db?host=$dir&port=6432&connect_timeout=5"
q() { psql -qXAt "$URL" -c "$1" 2>&1; }
for i in $(seq 100); do [ "$(q 'SELECT 1')" = 1 ] && break; sleep 0.1; done
is "the pooler answers" "$(q 'SELECT 1')" 1

cat >prescient.cfg <<CFG
store = "$URL";
plugin_dirs = [ "$(dirname "$P")/jobs" ];
jobs = { noop = { plugin = "noop"; settings = { answer = "done"; }; }; };
connections = 1;
CFG
chmod 600 prescient.cfg
ok "a schema" "$P" --quiet init
q "ALTER DATABASE $db SET jit = on" >/dev/null
q "ALTER DATABASE $db SET \"DateStyle\" = 'German, DMY'" >/dev/null
q "ALTER DATABASE $db SET plan_cache_mode = force_custom_plan" >/dev/null
q "CREATE TABLE seen (setting text);
   CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
       INSERT INTO public.seen SELECT concat_ws(' ', current_setting('jit'), current_setting('DateStyle'),
                                                current_setting('plan_cache_mode'));
       RETURN NEW; END \$\$;
   CREATE TRIGGER noted BEFORE INSERT ON prescient.slot_lease FOR EACH ROW EXECUTE FUNCTION note()" >/dev/null
# the settings of a database hold for sessions that begin
psql -qX "$SERVER" >/dev/null \
    -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$db'"
for i in $(seq 100); do [ "$(q 'SHOW jit')" = on ] && break; sleep 0.1; done
# what the session has by itself; the pooler keeps some of it for its clients, DateStyle among them
session() { q "SELECT concat_ws(' ', current_setting('jit'), current_setting('DateStyle'),
                                current_setting('plan_cache_mode'), current_setting('search_path'))"; }
before=$(session)
slot=$(($(date +%s) / 900 * 900))
"$P" --quiet --now $((slot - 1800)) enqueue e 1 noop $((slot - 900)) >/dev/null
ok "a run" timeout 100 "$P" --quiet run
is "its check has run" "$(q 'SELECT outcome FROM prescient.history')" done
is "its statements had the settings that they need" "$(q 'SELECT DISTINCT setting FROM seen')" \
    "off ISO, MDY auto"
has "others have the settings of the database" "$before" "force_custom_plan"
is "the session is as it was for others" "$(session)" "$before"
