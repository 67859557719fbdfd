#!/usr/bin/env bash
# `prescient schema`: what it prints makes the store that init makes, alone and in one transaction,
# on PostgreSQL also as a role without superuser rights. A store of an unreleased version is
# refused.
. "$(dirname "$0")/lib.sh"

# apply STORE: what schema prints
apply() {
    "$P" --store "$1" schema >schema.sql || return
    if [ "$STORE_NAME" = sqlite ]; then
        sqlite3 -bail "${1#sqlite:}" <schema.sql
    else
        psql -qX -v ON_ERROR_STOP=1 -f schema.sql "$1"
    fi
}

# Each object of a store, but for days, and its definition.
objects() {
    if [ "$STORE_NAME" = sqlite ]; then
        sqlite3 "${1#sqlite:}" "SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2"
        return
    fi
    psql -qXAt -v ON_ERROR_STOP=1 "$1" -c "
        SELECT pg_get_functiondef(p.oid), p.proacl IS NOT NULL, obj_description(p.oid, 'pg_proc')
          FROM pg_proc p WHERE p.pronamespace = 'prescient'::regnamespace
         ORDER BY p.oid::regprocedure::text;
        SELECT c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
               col_description(c.oid, a.attnum)
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = 'prescient'::regnamespace AND c.relname !~ '_p[0-9]{8}'
         ORDER BY 1, a.attnum;
        SELECT version, name, sha256, oldest_engine FROM prescient.migration ORDER BY 1" ||
        echo "the objects of $1 cannot be read"
}

scripted() {
    local made=$PRESCIENT_STORE plain=prescient_plain_$$
    fails_with 78 "prescient init" $P list
    has "$STORE_NAME: --json has the kind of store" \
        "$($P schema --json | json 'j["kind"], "BEGIN" in j["sql"], j["sql"].endswith("COMMIT;\n")')" \
        "('$STORE_NAME', True, True)"
    fails_with 78 "prescient init" $P list                  # nothing was made
    $P init --quiet                                         # which also makes the roles
    a_store by_script
    if [ "$STORE_NAME" = postgresql ]; then
        psql -qX "$SERVER" -c "CREATE ROLE $plain LOGIN" -c \
            "GRANT CREATE ON DATABASE prescient_cli_$$_by_script TO $plain" >/dev/null
        PRESCIENT_STORE=${PRESCIENT_STORE/postgres@/$plain@}
    fi
    ok "$STORE_NAME: what it prints is applied" apply "$PRESCIENT_STORE"
    fails_with "$([ $STORE_NAME = sqlite ] && echo 1 || echo 3)" "already exists" apply "$PRESCIENT_STORE"
    ok "$STORE_NAME: the store takes checks" $P enqueue orders 42 unshipped +3h
    [ "$STORE_NAME" = sqlite ] || is "the roles have all rights that they need" \
        "$($P doctor --json | json '[r["found"] for r in j if r["what"] == "rights"]')" "['as they must be']"
    has "$STORE_NAME: init finds nothing to apply" "$($P init)" "is up to date, slots of 15m"
    is "$STORE_NAME: it is the one that init makes" \
        "$(diff <(objects "$made") <(objects "$PRESCIENT_STORE") | head -20)" ""
    [ "$STORE_NAME" = sqlite ] || psql -qX "$SERVER" -c "DROP DATABASE prescient_cli_$$_by_script" \
        -c "DROP ROLE $plain" >/dev/null
}
on_each_store scripted

named() {
    [ "$STORE_NAME" = postgresql ] || return 0
    $P --set schema=other schema >schema.sql
    ok "the schema has the name of the settings" psql -qX -v ON_ERROR_STOP=1 -f schema.sql "$PRESCIENT_STORE"
    ok "and is found by it" $P --set schema=other list
    is "nothing of it has another name" "$(grep -cE 'prescient_schema|prescient\.(future|slot)' schema.sql)" 0
    psql -qX "$PRESCIENT_STORE" -c "UPDATE other.migration SET name = '0002_history_days' WHERE version = 2" \
        -c "INSERT INTO other.migration VALUES (86, '0086_within', '', 80)"
    for command in list init migrate "migrate --dry-run" run; do
        fails_with 78 "schema 'other' was made by an unreleased version of prescient" \
            $P --set schema=other $command
    done
}
on_each_store named

# Settings decide as they do for init: the slot length, and no setting of the database.
with_settings() {
    echo 'slot_length = "5m";' >five.cfg
    [ "$STORE_NAME" = sqlite ] || psql -qX "$PRESCIENT_STORE" -c "DO \$\$ BEGIN EXECUTE
        format('ALTER DATABASE %I SET standard_conforming_strings = off', current_database()); END \$\$"
    "$P" --config five.cfg schema >schema.sql
    if [ "$STORE_NAME" = sqlite ]; then
        ok "$STORE_NAME: the script of five minutes" \
            sqlite3 -bail "${PRESCIENT_STORE#sqlite:}" ".read schema.sql"
    else
        ok "$STORE_NAME: the script of five minutes, whatever a database reads in strings" \
            psql -qX -v ON_ERROR_STOP=1 -f schema.sql "$PRESCIENT_STORE"
    fi
    has "$STORE_NAME: makes slots of them" "$("$P" --config five.cfg init)" "is up to date, slots of 5m"
}
on_each_store with_settings

# A file of an unreleased version, older or newer than this one by its number.
unreleased() {
    [ "$STORE_NAME" = sqlite ] || return 0
    for last in 0001_init 0049_within; do
        rm -f "${PRESCIENT_STORE#sqlite:}"
        $P init --quiet
        sql "UPDATE prescient_migration SET name = '0002_raise' WHERE version = 2"
        sql "INSERT OR REPLACE INTO prescient_migration VALUES (${last:2:2} + 0, '$last', '', 1, 0)"
        for command in list init migrate "migrate --dry-run" run; do
            fails_with 78 "was made by an unreleased version of prescient" $P $command
        done
    done
}
on_each_store unreleased

# Some objects: as the whole script has them, in place of those that are there.
for store in sqlite:x.db postgresql://h/d; do
    one=enqueue
    [ $store = postgresql://h/d ] || one=prescient_enqueue
    fails_with 2 "no function, view, trigger or index 'enqueu'" $P --store $store schema --only $one,enqueu
    fails_with 2 "restore a backup" $P --store $store schema --only ${one/enqueue/setting}
    fails_with 2 "no function, view, trigger or index ''" $P --store $store schema --only ""
done
is "each form of a function, with its comment" "$($P --store postgresql://h/d schema --only enqueue |
    grep -oE '^(CREATE OR REPLACE|COMMENT ON) FUNCTION prescient.enqueue' | sort | uniq -c | xargs)" \
    "6 COMMENT ON FUNCTION prescient.enqueue 6 CREATE OR REPLACE FUNCTION prescient.enqueue"
is "under the name of the schema" "$($P --store postgresql://h/d --set schema=other schema --only pending |
    grep -cE 'prescient(_schema|\.)')" 0
# All that can be made again, over what is there: what the schema has is not changed by it.
again() {
    $P init --quiet
    objects "$PRESCIENT_STORE" >before
    if [ "$STORE_NAME" = sqlite ]; then
        names=$(sqlite3 "${PRESCIENT_STORE#sqlite:}" "SELECT group_concat(name) FROM sqlite_schema
            WHERE type IN ('view', 'trigger', 'index') AND sql IS NOT NULL")
        $P schema --only "$names" >again.sql
        ok "$STORE_NAME: it may be there" sqlite3 -bail "${PRESCIENT_STORE#sqlite:}" ".read again.sql"
        [ -z "$names" ] || for kind in view trigger; do
            sqlite3 "${PRESCIENT_STORE#sqlite:}" \
                "SELECT 'DROP ' || type || ' IF EXISTS ' || name || ';'
                 FROM sqlite_schema WHERE type = '$kind'"
        done >drop.sql
        ok "$STORE_NAME: all is dropped" sqlite3 -bail "${PRESCIENT_STORE#sqlite:}" ".read drop.sql"
        ok "$STORE_NAME: and made again" sqlite3 -bail "${PRESCIENT_STORE#sqlite:}" ".read again.sql"
    else
        names=$(psql -qXAt "$PRESCIENT_STORE" -c "SELECT string_agg(DISTINCT name, ',') FROM (
            SELECT proname::text AS name FROM pg_proc WHERE pronamespace = 'prescient'::regnamespace
            UNION ALL SELECT relname FROM pg_class
             WHERE relnamespace = 'prescient'::regnamespace AND relkind = 'v') n")
        $P schema --only "$names" >again.sql
        ok "$STORE_NAME: it may be there" psql -qX -v ON_ERROR_STOP=1 -f again.sql "$PRESCIENT_STORE"
        ok "$STORE_NAME: views and functions of all kinds are dropped" psql -qX -v ON_ERROR_STOP=1 -c \
            "DROP VIEW prescient.pending, prescient.runs, prescient.events CASCADE" -c \
            "DROP FUNCTION prescient.pause, prescient.slot_length_s" "$PRESCIENT_STORE"
        ok "$STORE_NAME: and made again" psql -qX -v ON_ERROR_STOP=1 -f again.sql "$PRESCIENT_STORE"
        $P init --quiet
    fi
    objects "$PRESCIENT_STORE" >after
    is "$STORE_NAME: it is what it was" "$(diff before after | head -20)" ""
}
on_each_store again

fails_with 2 "is no URL of a store" $P --store mysql:x schema
fails_with 2 "takes no arguments" $P --store sqlite:x.db schema orders
ok "the file of the URL is not made" test ! -e x.db
