#!/usr/bin/env bash
# recipes.sh - each recipe of docs/recipes.md, on both stores: its table, SQL and job are taken from
# the page, and what its job `act` is called with is what the page shows.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PAGE=$ROOT/docs/recipes.md

# blocks KIND: all blocks under a line "<!-- recipes.sh: KIND -->", in their order
blocks() {
    awk -v kind="<!-- recipes.sh: $1 -->" '
        $0 == kind { mine = 1; next }
        /^```/ { inside = !inside; if (!inside) mine = 0; next }
        inside && mine' "$PAGE"
}
# what the page says happens, and within which time
time_of() { sed -n "s/^<!-- recipes.sh: $1 \([0-9]*d\) -->\$/\1/p" "$PAGE"; }

application() {                     # runs the SQL on stdin, up to the first error
    if [ "$STORE_NAME" = sqlite ]; then sqlite3 -bail shop.db; else
        psql -qX -v ON_ERROR_STOP=1 "$URL" >/dev/null; fi
}
# the frame of this store, with the jobs of the recipe where the page says
settings_of() {
    [ "$STORE_NAME" != sqlite ] || blocks "frame sqlite"
    [ "$STORE_NAME" = sqlite ] || echo "store = \"$URL\";"
    blocks "$1 jobs" >jobs
    blocks "frame postgresql" | sed -e '/^store\|^business/d' -e "s|/usr/local/bin/act|$PWD/act|" \
        -e '/here come the jobs/r jobs'
}
recipe() {
    local name=$1 within; within=$(time_of "$1")
    settings_of "$name" >prescient.cfg
    chmod 600 prescient.cfg
    rm -f acted
    ok "$STORE_NAME: $name: its SQL" application < <(blocks "$name $STORE_NAME")
    is "$STORE_NAME: $name: its settings are accepted" "$("$P" config --check)" \
        "the settings are good: $2, every job can be run"
    ok "$STORE_NAME: $name: $within pass" \
        "$P" --log-level error --quiet replay --from now --to "+$within" --deliver
    is "$STORE_NAME: $name: what act was called with" "$(sort acted)" \
        "$(blocks "$name $within" | sort)"
}
all_recipes() {
    local URL=$PRESCIENT_STORE
    mkdir "$STORE_NAME" && cd "$STORE_NAME" || return
    unset PRESCIENT_STORE
    blocks act >act; chmod 755 act
    [ "$STORE_NAME" != sqlite ] || URL=sqlite:shop.db
    ok "$STORE_NAME: a store" "$P" --quiet --store "$URL" init
    recipe trial "3 jobs"
    recipe invoice "2 jobs"
    recipe callback "2 jobs"
    is "$STORE_NAME: the history says why the callback's check has ended, and how the other" \
        "$("$P" history payments --json | json 'sorted((r["entity_key"], r["outcome"]) for r in j)')" \
        "[('1', 'max_checks'), ('2', 'resolved')]"
    is "$STORE_NAME: its event has the payload" \
        "$("$P" events --json | grep payment | head -1 | json 'j["data"]["payload"]')" "{'partner': 'A'}"
    recipe upload "2 jobs"
    cd "$TMP" || return
}
json_begins
on_each_store all_recipes
