#!/usr/bin/env bash
# statements.sh - statements.awk makes C of the statements in a .sql file, and refuses those whose
# names do not fit together; a call with the wrong struct or a wrong type does not compile.
# not instrumented
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0

# report WHAT FOUND EXPECTED: FOUND has EXPECTED in it.
report() {
    case $2 in *"$3"*) echo "ok - $1" ;; *)
        echo "not ok - $1"
        printf '#   found:    %s\n#   expected: %s\n' "$2" "$3"
        failed=1 ;;
    esac
}

# make_from DIALECT: the statements on stdin; what the generator prints.
make_from() {
    rm -rf "$tmp/out"; mkdir -p "$tmp/out/$1"
    cat >"$tmp/store.sql"
    awk -v dialect="$1" -v out="$tmp/out" -f engine/store/statements.awk "$tmp/store.sql" 2>&1
}

# What migrations make, as rows: forms of a function are counted, drops and bodies are not.
objects() {
    mkdir -p "$tmp/migrations"
    cat >"$tmp/migrations/1.sql" <<'END'
CREATE FUNCTION prescient.f(a text) RETURNS void AS $$
    CREATE TEMP TABLE t (a text);
$$;
CREATE FUNCTION prescient.f(a integer) RETURNS void AS $$ $$;
CREATE OR REPLACE FUNCTION prescient.f(a text) RETURNS void AS $$ $$;
CREATE UNIQUE INDEX i ON prescient.t (a);
CREATE VIEW prescient_v AS SELECT 1;
CREATE TRIGGER tr BEFORE INSERT ON t EXECUTE FUNCTION prescient.f();
CREATE VIEW prescient.old AS SELECT 1;
DROP VIEW prescient.old;
END
    printf -- '-- name: all\nSELECT * FROM ({made_objects}) m WHERE {made} IS NOT NULL\n' >"$tmp/store.sql"
    mkdir -p "$tmp/out/pg"
    awk -v dialect=pg -v out="$tmp/out" -f engine/store/statements.awk "$tmp/migrations/1.sql" \
        "$tmp/store.sql" 2>&1
    tr -s '\n' ' ' <"$tmp/out/pg/all.sql"
}
report "what migrations make" "$(objects)" "(VALUES ('function', 'f', 2, 1), ('index', 'i', 1, 2), \
('view', 'prescient_v', 1, 3), ('trigger', 'tr', 1, 4), ('view', 'old', 0, 5)) m"

good() {
    cat <<'END'
-- forms: slot careful

-- name: renew
-- What a comment says: {nothing} of :this counts.
-- forms: slot careful
-- in: owner uuid, at timestamptz, names text[]?
-- out: n int8, until_us timestamptz?, name text
SELECT {rows} AS n, :at::timestamptz AS until_us, 'a "name" '::text AS name
 WHERE x = :owner OR y = ANY (:names)

-- part: rows
(SELECT count(*) FROM {table})

-- part: rows_slot rows_slot_careful
2

-- part: table
prescient.lease

-- part: table_careful
careful_lease

-- name: hello
-- report: writes
SELECT 1
END
}

report "a good file is taken" "$(good | make_from pg && echo taken)" taken
text() { tr -s '\n' ' ' <"$tmp/out/pg/$1.sql"; }
report "parts are put in, casts are left alone" "$(text renew)" \
    "SELECT (SELECT count(*) FROM prescient.lease) AS n, \$2::timestamptz AS until_us,"
report "names are numbered" "$(text renew)" "WHERE x = \$1 OR y = ANY (\$3);"
report "a form takes the parts of its name" "$(text renew_slot_careful)" "SELECT 2 AS n"
report "also inside of other parts" "$(text renew_careful)" "FROM careful_lease)"
report "psql takes it alone" "$(text renew)" "PREPARE renew (uuid, timestamptz, text[]) AS SELECT"
report "SQLite's statements do not have the names of its library's constants" \
    "$(good | make_from sqlite; cat "$tmp/out/sqlite_statements.h")" STATEMENT_RENEW_SLOT_CAREFUL
report "SQLite has other numbers" "$(good | make_from sqlite; cat "$tmp/out/sqlite/renew.sql")" "x = ?1"

# change SED WORDS WHAT: a good file with this change is refused, with these words.
refused() { report "refused: $1" "$(good | sed "$2" | make_from pg)" "$3"; }
refused "a parameter that is not declared" 's/:owner/:ower/' "'renew' has no parameter 'ower'"
refused "a parameter that is not used" 's/x = :owner OR//' "'renew' does not use ':owner'"
refused "a type that there is not" 's/owner uuid/owner uid/' "no type 'uid'"
refused "a word that is no part" 's/{rows}/{row}/' "{row}, included in 'renew', is no part"
refused "a part that nobody includes" 's/{table}/leases/' "is included nowhere"
refused "a part that is not whole" 's/(SELECT count/SELECT count/' "part 'rows' is not whole"
refused "two parts that fit equally well" 's/ rows_slot_careful//; s/table_careful/rows_careful/' \
    "{rows}, included in 'renew': both rows_slot and rows_careful fit"
refused "a name twice" 's/-- name: hello/-- part: table/' "'table' is there twice"
refused "a form that the head lacks" '1s/ careful//' "forms that the head of the file does not have"

# check FILE: what the compiler says of it. compiles CALL: of a call.
check() {
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -iquote . -iquote "$tmp/out" "$1" 2>&1 &&
        echo good
}
good | make_from pg >/dev/null
compiles() {
    printf '%s\n' '#include "pg_statements.h"' \
        'bool send(const void *in); bool f(int64_t *wide, bool is_one);' \
        "bool f(int64_t *wide, bool is_one) { return is_one && wide && $1; }" >"$tmp/call.c"
    check "$tmp/call.c"
}
report "the C that is made compiles" "$(check "$tmp/out/pg_statements.c")" good
report "a good call compiles" \
    "$(compiles 'send(SQL_IN(PG_RENEW, &(struct pg_renew_in){ .at = wide[0], .names = { 0 } }))')" good
report "refused: the struct of another statement" \
    "$(compiles 'send(SQL_IN(PG_RENEW, &(struct pg_renew_out){ .n = 1 }))')" _Generic
report "refused: an argument of another type" \
    "$(compiles 'send(SQL_IN(PG_RENEW, &(struct pg_renew_in){ .owner = wide }))')" incompatible
report "refused: a parameter that there is not" \
    "$(compiles 'send(SQL_IN(PG_RENEW, &(struct pg_renew_in){ .slot = 1 }))')" "no member named"

# calls_in FILE...: what the calls in them leave out, and how many there are.
flags="$(pkg-config --cflags libpq sqlite3) -std=gnu11 -D_GNU_SOURCE -Iinclude -iquote ."
flags="$flags -iquote engine/store -iquote ${BUILD:-build}/sql"
# shellcheck disable=SC2086
calls_in() { ${CC:-cc} $flags -E -P -x c "$@" | tests/house/calls.py; }
for header in "${BUILD:-build}"/sql/*_statements.h; do
    dialect=$(basename "$header" _statements.h)
    found=$(calls_in engine/store/store_"$dialect"*.c)
    report "$dialect: each of ${found##*$'\n'} names each parameter" "#$found" "#${found##*$'\n'}"
    report "$dialect: there are calls" "$([ "${found##*$'\n'}" != '0 calls' ] && echo some)" some
done
# A fault that waits for a statement of another name is never made.
for name in $(grep -hoE 'proxy [^ ]+ (every|when) [a-z_]+' tests/faults/*.sh | sed 's/.* //' | sort -u); do
    report "a fault waits for a statement that there is: $name" \
        "$(compgen -G "${BUILD:-build}/sql/pg/$name*.sql" | head -1)" "$name"
done
report "a parameter that is left out is seen" \
    "$(calls_in <(sed '/\.lease_s = r/d' "$(grep -l '\.lease_s = r' engine/store/store_pg*.c)"))" \
    "a pg_renew_in without .lease_s"
exit $failed
