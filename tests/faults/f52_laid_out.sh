#!/usr/bin/env bash
# f52_laid_out.sh - F52: a stranger has prepared settings files, a schema, advisory locks, search
#     paths and a database's settings for engines and their operator
# PASS: refused with a message, or bypassed; the stranger gains no right, none of his functions is
# called, and the work continues.
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"

as_stranger() { psql -qXAt "${SERVER_URL/postgres@/stranger@}" -c "$1" 2>&1; }
gained_nothing() {
    is "$CASE_NAME: $1: the stranger has gained nothing, and nothing of his was called" \
        "$(server_sql "SELECT rolsuper, (SELECT count(*) FROM evil.caught) FROM pg_roles
                       WHERE rolname = 'stranger'")" "f|0"
}

# A whole schema of his, in which whatever is read or called first makes him a superuser when it
# can, and leaves word.
lay_out_a_schema() {
    server_sql "CREATE ROLE stranger LOGIN; GRANT CREATE, TEMP ON DATABASE postgres TO stranger;
                GRANT CREATE ON SCHEMA public TO PUBLIC" >/dev/null
    ok "$CASE_NAME: the stranger makes a schema" \
        "$P" --store "${SERVER_URL/postgres@/stranger@}" --set schema=evil init
    as_stranger "GRANT USAGE ON SCHEMA evil TO PUBLIC; CREATE TABLE evil.caught (who name);
                 GRANT INSERT ON evil.caught TO PUBLIC;
        CREATE FUNCTION evil.trap() RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO evil.caught
            VALUES (current_user);
            IF current_setting('is_superuser')::boolean THEN ALTER ROLE stranger SUPERUSER; END IF;
            RETURN true; END \$\$;
        ALTER TABLE evil.setting RENAME TO setting_0; CREATE VIEW evil.setting AS SELECT * FROM evil.setting_0
            WHERE evil.trap();
        ALTER TABLE evil.migration RENAME TO migration_0; CREATE VIEW evil.migration AS SELECT *
            FROM evil.migration_0 WHERE evil.trap();
        GRANT SELECT ON ALL TABLES IN SCHEMA evil TO PUBLIC;
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA evil TO PUBLIC;
        CREATE FUNCTION public.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT evil.trap()';
        CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
            AS 'SELECT CASE WHEN evil.trap() THEN pg_catalog.clock_timestamp() END'" >/dev/null
}

# In his folder there is a settings file that leads into his schema; a user with all rights works
# there.
settings_of_a_stranger() {
    mkdir -m 755 his
    printf 'store = "%s"; schema = "evil"; schema_owner = "stranger";\n' "$SERVER_URL" >his/prescient.cfg
    chown -R nobody his
    local command
    cd his || exit 2
    for command in status list init doctor "run --no-sweep"; do
        fails_with 78 "/his belongs to user" "$P" $command
    done
    chown root .
    fails_with 78 "/his/prescient.cfg belongs to user" "$P" status
    cd .. || exit 2
    echo "@include \"his/prescient.cfg\"" >mine.cfg
    fails_with 78 "mine.cfg:1: settings file: " "$P" --config mine.cfg status
    gained_nothing "his settings file"
}

# The name is given by a user who does not know who owns the schema.
a_schema_of_a_stranger() {
    local command
    for command in status list doctor "run --no-sweep" "migrate --dry-run"; do
        "$P" --store "$SERVER_URL" --set schema=evil $command >out 2>&1
        has "$CASE_NAME: $command" "$(cat out)" \
            "schema 'evil' belongs to role 'stranger', whose functions would run with the rights of 'postgres'"
    done
    fails_with 78 "ALTER SCHEMA evil OWNER TO postgres" "$P" --store "$SERVER_URL" --set schema=evil init
    gained_nothing "his schema"
}

# He holds every lock that is free for all, and a path of his own comes first for all; two engines
# work meanwhile.
work_goes_on() {
    server_sql "ALTER DATABASE postgres SET search_path = public, pg_catalog" >/dev/null
    PGOPTIONS= psql -qXAt "${SERVER_URL/postgres@/stranger@}" \
        -c "SELECT count(pg_advisory_lock(n, h)) FROM unnest(ARRAY[1886544242, 1886544243]) n,
        unnest(ARRAY[hashtext('prescient'), 'prescient.future_job_history'::regclass::oid::int]) h" \
        -c "SELECT 'held'" -c "SELECT pg_sleep(600)" >held 2>&1 &
    local holder=$!
    ok "$CASE_NAME: he holds the locks" wait_until 10 grep -q held held
    server_sql "DO \$\$ DECLARE p text; BEGIN FOR p IN SELECT relname FROM pg_class
                WHERE relnamespace = 'prescient'::regnamespace AND relispartition
        AND relname ~ '_p[0-9]{8}\$' AND right(relname, 8) > to_char(current_date, 'YYYYMMDD')
        LOOP EXECUTE format('DROP TABLE prescient.%I', p); END LOOP; END \$\$" >/dev/null
    is "$CASE_NAME: the days ahead are missing" \
        "$(server_sql "SELECT prescient.history_day_is_there(current_date + 1)")" f
    ok "$CASE_NAME: the schema is brought up to date beside them" timeout 20 "$P" migrate
    ok "$CASE_NAME: and the days are made" test \
        "$(server_sql "SELECT prescient.history_day_is_there(current_date + 1)")" = t
    engine e0; engine e1
    write_checks w --checks 300 --over 4 --mix busy
    written w
    kill $holder; wait $holder 2>/dev/null
    gained_nothing "locks and a path"
    verdict F52
}

laid_out() {
    needs_root
    a_case laid_out 'workers = 2;'
    lay_out_a_schema
    settings_of_a_stranger
    a_schema_of_a_stranger
    work_goes_on
}
on_a_server laid_out fsync=off
