#!/usr/bin/env bash
# files.sh - engine/README.md and comments name files that are there, and each file is on the map.
# tests/house/files.py has the rules. Then it is shown a small tree in which each of them is broken.
# not instrumented
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
rules=$PWD/tests/house/files.py
"$rules"
failed=$?

tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/engine/run" "$tree/engine/store"
cat >"$tree/engine/README.md" <<'END'
# The map, with `plan.c` in a text
| subject | files |
|---|---|
| the loop | `run/engine.c`, `gone.c`; `store/store_*.c` |
END
cat >"$tree/engine/run/engine.c" <<'END'
/* engine.c - as said in store_pg.h and prescient/lost.h, but not in "word.c.txt" or store_NAME.c */
END
touch "$tree"/engine/run/{engine.h,plan.c} "$tree"/engine/store/store_{pg.c,pg.h,sqlite.c}

# finds WHAT LINE: what is found in the small tree
finds() {
    if grep -qxF "#   $2" <<<"$found"; then echo "ok - finds $1"; else
        echo "not ok - finds $1"
        failed=1
    fi
}
found=$(cd "$tree" && "$rules")
finds "a name on the map without a file" "engine/README.md:4: there is no gone.c"
finds "a file that is in a text, but in no row" "engine/run/plan.c is in no row of engine/README.md"
finds "a comment that names what is not there" "engine/run/engine.c:1: there is no prescient/lost.h"
count=$(grep -c '^#' <<<"$found")
found="#   $count"
finds "nothing else" 3
exit $failed
