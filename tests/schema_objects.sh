#!/usr/bin/env bash
# schema_objects.sh - the migrations of PostgreSQL define each object once, something refers to
# each, and each column and function has a comment; and the check finds what is planted in a copy
# not instrumented
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
look=$PWD/tests/house/objects.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

# says WHAT FOUND: nothing was found
says() {
    if [ -z "$2" ]; then echo "ok - $1"; else
        echo "not ok - $1"
        sed 's/^/#   /' <<<"$2"
        failed=1
    fi
}

says "each object is defined once, and used" "$(python3 "$look" . 2>&1)"

# planted WORDS SQL: with this migration more, the check prints WORDS and nothing else
planted() {
    printf -- '-- Planted.\n%s\n' "$2" >"$tree/migrations/pg/0099_planted.sql"
    found=$(python3 "$look" "$tree" 2>&1 | grep '^migrations/pg/')
    [ "$found" = "${1:+migrations/pg/0099_planted.sql: }$1" ] && found=
    says "planted: ${1:-nothing wrong}" "$found"
}
cp -r engine bench docs "$tree" && mkdir "$tree/migrations" && cp -r migrations/pg "$tree/migrations"
planted "TABLE setting is defined in migrations/pg/0001_tables.sql already" \
    'CREATE TABLE prescient.setting (name text);'
planted "FUNCTION slot_floor is defined in migrations/pg/0002_slots.sql already" \
    'CREATE FUNCTION prescient.slot_floor(moment timestamptz) RETURNS date LANGUAGE sql AS $$ SELECT 1 $$;'
planted "" 'CREATE FUNCTION prescient.slot_floor(at date, n integer) RETURNS date LANGUAGE sql AS $$ x $$;'
planted "FUNCTION enqueue is defined in migrations/pg/0006_enqueue.sql already" \
    'CREATE FUNCTION prescient.enqueue(a text, b anyelement, c text, d interval,
                                       e anycompatible DEFAULT NULL, f text DEFAULT 0, g integer, h interval)
    RETURNS text LANGUAGE sql AS $$ SELECT 1 $$;'
planted "INDEX future_job_slot is defined in migrations/pg/0001_tables.sql already" \
    'CREATE INDEX future_job_slot ON prescient.future_job (id);'
planted "nothing refers to FUNCTION no_use" \
    'CREATE FUNCTION prescient.no_use() RETURNS int LANGUAGE sql AS $$ SELECT prescient.no_use() $$;
COMMENT ON FUNCTION prescient.no_use() IS $$prescient.no_use$$;
GRANT EXECUTE ON FUNCTION prescient.no_use() TO PUBLIC;     -- prescient.no_use'
planted "nothing refers to TABLE no_use" 'CREATE TABLE prescient.no_use (n int);'
for kind in DOMAIN TYPE PROCEDURE "MATERIALIZED VIEW"; do
    planted "nothing refers to $kind no_use" "CREATE $kind prescient.no_use () AS x;"
done
planted "nothing refers to FUNCTION no_use" 'create function prescient.no_use() returns int as $$ x $$;'
planted "nothing refers to FUNCTION no_use
migrations/pg/0099_planted.sql: nothing refers to FUNCTION nor_this" \
    'CREATE FUNCTION prescient.no_use() RETURNS int AS $$ SELECT prescient.nor_this() $$;
-- Planted, too.
CREATE FUNCTION prescient.nor_this() RETURNS int AS $$ SELECT prescient.no_use() $$;'
planted "TABLE setting is defined in migrations/pg/0001_tables.sql already
migrations/pg/0099_planted.sql: COLUMN setting.name has no comment
migrations/pg/0099_planted.sql: FUNCTION slot_floor has no comment" \
    'CREATE TABLE prescient.setting (
    name text
);
CREATE FUNCTION prescient.slot_floor(at date) RETURNS date LANGUAGE sql AS $$ SELECT at $$;'
planted "DOMAIN bucket_number is defined in migrations/pg/0001_tables.sql already" \
    'CREATE DOMAIN prescient.bucket_number AS integer;'
planted "defines again: ALTER TABLE prescient.setting ALTER COLUMN value TYPE json;" \
    'ALTER TABLE prescient.setting ALTER COLUMN value TYPE json;'
planted "defines again: CREATE OR REPLACE FUNCTION prescient.slot_floor(at date)" \
    'CREATE OR REPLACE FUNCTION prescient.slot_floor(at date)'
planted "defines again: ALTER TABLE prescient.setting ADD COLUMN more text;" \
    'ALTER TABLE prescient.setting ADD COLUMN more text;'
planted "defines again: DROP FUNCTION prescient.slot_floor(timestamptz);" \
    'DROP FUNCTION prescient.slot_floor(timestamptz);'

# once the files are released, a later one may replace what they define
(cd "$tree/migrations" && sha256sum pg/00[01][0-9]_*.sql >landed.sha256)
planted "" 'CREATE OR REPLACE FUNCTION prescient.slot_floor(at timestamptz) RETURNS date AS $$ x $$;'
planted "nothing refers to TABLE no_use" 'CREATE TABLE prescient.no_use (n int);'
exit $failed
