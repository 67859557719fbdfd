#!/usr/bin/env bash
# migrations.sh - a released migration never changes: each one of migrations/landed.sha256 is still
# as it was. A new migration comes to the list with its release; before the first release it is
# empty. Then the check is shown migrations of its own.
# not instrumented
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

# judge FOLDER: a line for each migration that its list names
judge() {
    local sum file
    while read -r sum file; do
        if [ -f "$1/$file" ] && [ "$(sha256sum <"$1/$file" | cut -d' ' -f1)" = "$sum" ]; then
            echo "ok - $file is as it landed"
        else
            echo "not ok - $file is as it landed: what it got wrong is mended by a new migration"
        fi
    done <"$1/landed.sha256"
}

judge migrations
judge migrations | grep -q "^not ok" && failed=1

own=$(mktemp -d) || exit 2
trap 'rm -rf "$own"' EXIT
mkdir "$own/pg"
echo "CREATE TABLE one (n int);" >"$own/pg/0001_one.sql"
echo "CREATE TABLE two (n int);" >"$own/pg/0002_two.sql"
(cd "$own" && sha256sum pg/*.sql >landed.sha256)
echo "CREATE TABLE later (n int);" >"$own/pg/0003_later.sql"

# finds WHAT COUNT
finds() {
    if [ "$(judge "$own" | grep -c "^not ok - pg/0002_two.sql")" = "$2" ] &&
        [ "$(judge "$own" | grep -c "^ok - ")" = $((2 - $2)) ]; then echo "ok - $1"; else
        echo "not ok - $1"
        failed=1
    fi
}
finds "released files that are as they were are well, and a later one is not judged" 0
echo "-- a word more" >>"$own/pg/0002_two.sql"
finds "a released file that changed is found" 1
rm "$own/pg/0002_two.sql"
finds "a released file that is gone is found" 1
exit ${failed:-0}
