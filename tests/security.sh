#!/usr/bin/env bash
# security.sh - the setup of docs/security.md works: an owner who is no
# superuser, an engine that owns nothing, jobs that can only read, an application that can only
# enqueue. Its SQL is taken out of the page and run.
PAGE=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../docs/security.md")
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
JOBS=${P%/*}/jobs

# Every file, setting and command that the page names is there.
for file in $(grep -oE '`(tests|etc)/[a-z0-9_./-]+`' "$PAGE" | tr -d '`' | sort -u); do
    ok "it is there: $file" test -e "$ROOT/$file"
done
for name in $(grep -oE '`worker_[a-z_]+`' "$PAGE" | tr -d '`' | sort -u); do
    has "it is a setting: $name" "$("$P" config --sample)" "$name = "
done

# Settings that another user has prepared in the folder where somebody works.
mkdir -m 700 his && echo 'store = "sqlite:his.db"; @include "more.cfg"' >his/prescient.cfg
echo 'page = 77;' >his/more.cfg; sed -i 's/; @include/;\n@include/' his/prescient.cfg
in_his() { (cd his && "$@"); }
ok "settings of one's own are read" in_his "$P" init
if [ "$(id -u)" = 0 ]; then
    chown nobody his/more.cfg
    fails_with 78 "his/more.cfg belongs to user" in_his "$P" status
    chown root his/more.cfg; chown nobody his/prescient.cfg
    fails_with 78 "his/prescient.cfg belongs to user" in_his "$P" status
    fails_with 78 "his/prescient.cfg belongs to user" "$P" --config his/prescient.cfg status
    chown root his/prescient.cfg; chown nobody his
    fails_with 78 "/his belongs to user" in_his "$P" status
    chown root his
fi
chmod 777 his
fails_with 78 "/his may be written by others (mode 0777)" in_his "$P" status
chmod 700 his
ok "and then they are read again" in_his "$P" status

[ -n "$SERVER" ] || { echo "# no PostgreSQL: the roles are not tried"; exit 0; }
block() {
    awk -v kind="<!-- security.sh: $1 -->" '
        $0 == kind { seen = 1 }
        /^```/ { inside = !inside && seen && !done; if (!inside && seen) done = 1; next }
        inside' "$PAGE"
}

# Roles are server-wide: under other names, so that no other roles are touched.
mark=t$$
db=shop_$mark
names="prescient_owner prescient_runner shop_reader"
own() {
    sed -E "s/\\b(prescient_owner|prescient_runner|shop_reader)\\b/\\1_$mark/g
        s/DATABASE shop/DATABASE $db/; s/TO shop;/TO shop_$mark;/
        /prescient_(enqueuer|operator|engine|reader) NOLOGIN/d"
}
new_database $db
url() { sed -E "s#//postgres@/postgres#//$1@/$db#" <<<"$SERVER"; }
as() { psql -qXAt "$(url "$1")" -c "$2" 2>&1; }
drop_roles() {
    local name
    for name in $names shop; do
        psql -qX "$(url postgres)" -c "DROP OWNED BY ${name}_$mark CASCADE" -c "DROP ROLE ${name}_$mark"
    done >/dev/null 2>&1
}
trap 'drop_roles; finish || exit 1' EXIT
case $(url x) in
*"//x@/$db"*) ;;
*) echo "# this server's URL names another superuser: the roles are not tried"; exit 0 ;;
esac

# they may be there from another test
for role in prescient_enqueuer prescient_operator prescient_engine prescient_reader; do
    as postgres "CREATE ROLE $role NOLOGIN" >/dev/null
done
ok "the roles are made" psql -qX -v ON_ERROR_STOP=1 "$(url postgres)" -c "$(block sql | own)"
as postgres "CREATE ROLE shop_$mark LOGIN;
             CREATE TABLE orders (id bigint PRIMARY KEY, shipped_at timestamptz);
             INSERT INTO orders VALUES (1), (2)" >/dev/null
ok "an owner who is no superuser makes the schema" "$P" --store "$(url "prescient_owner_$mark")" init
ok "the grants" psql -qX -v ON_ERROR_STOP=1 "$(url postgres)" -c "$(block grants | own)"

fails_with 78 \
    "schema 'prescient' belongs to role 'prescient_owner_$mark', whose functions would run with the rights of 'prescient_runner_$mark'" \
    "$P" --store "$(url "prescient_runner_$mark")" status
cat >prescient.cfg <<END
schema_owner = "prescient_owner_$mark";      # the page's own name needs no setting
store = "$(url "prescient_runner_$mark")";
business = "$(url "shop_reader_$mark")";
plugin_dirs = ["$JOBS"];
jobs = {
    unshipped_order = { plugin = "unshipped_order";
        settings = { table = "orders"; key = "id"; shipped = "shipped_at"; again_after = "24h"; }; };
    writes = { plugin = "sql_check"; max_failures = 0; settings = { event = "late";
        query = "UPDATE orders SET shipped_at = now() WHERE \$1 <> '' RETURNING id::text"; }; };
};
END
is "an application enqueues" \
    "$(as "shop_$mark" "SELECT prescient.enqueue('orders', '1', 'unshipped_order', interval '3 hours'),
                               prescient.enqueue('orders', '2', 'writes', interval '3 hours')")" "new|new"
has "and reads nothing" "$(as "shop_$mark" "SELECT payload FROM prescient.future_job")" "permission denied"
echo "# an engine that owns nothing runs the slots of four hours; one of the two jobs must fail"
fails_with 1 "2 run, 0 done, 1 again, 1 failed" "$P" --quiet replay --from now --to +4h
is "the job that looks has looked" "$("$P" events --json | json 'j["event"]')" "order.unshipped"
is "the job that writes could not" \
    "$("$P" history --json | json '[(r["job_exec"], r["outcome"]) for r in j]')" "[('writes', 'failed')]"
is "nothing was written" "$(as postgres "SELECT count(shipped_at) FROM orders")" 0
as "prescient_owner_$mark" "SELECT prescient.make_history_day('2020-01-01')" >/dev/null
ok "the engine's role prunes" "$P" prune --keep 90d
is "the old day is gone" \
    "$(as postgres "SELECT count(*) FROM pg_class WHERE relname = 'future_job_history_p20200101'")" 0
ok "and brings the schema up to date" "$P" --store "$(url "prescient_owner_$mark")" migrate
