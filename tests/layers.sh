#!/usr/bin/env bash
# layers.sh [ROOT]      includes point downward only, no layer has a circle, and a plug-in sees
#                       nothing of ours but include/.
# cmd -> run -> pool -> wire -> rules -> base, and run -> store -> pg: the engine. http -> view ->
# store: the server. worker -> wire, pg: the process that runs jobs, which never sees a store. Each
# may include itself, what it is allowed below, and the job ABI. With ROOT, that tree is looked at,
# whose folders may be fewer; without, this one, and then small trees with planted violations.
# not instrumented
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 2
cd "${1:-$tests/..}" || exit 2
shopt -s nullglob
failed=0

# Circles that are still to be opened: "LAYER FILE...". A file more is a failure, and a file less,
# too: then it leaves the list.
known=$([ $# != 0 ] || grep -v '^#' <<'END'
END
)

# says WHAT FOUND: good if nothing was found.
says() {
    if [ -z "$2" ]; then echo "ok - $1"; else
        echo "not ok - $1"
        printf '%s\n' "$2" | sed 's/^/#   /'
        failed=1
    fi
}

# includes FILE...: "file: what it includes", paths from the top; <...> of ours too
includes() {
    [ $# = 0 ] || awk '
        # without the folders that ".." leaves
        function plain(path,    parts, n, kept, i, out) {
            n = split(path, parts, "/")
            kept = 0
            for (i = 1; i <= n; i++) {
                if (parts[i] == "..") kept--
                else if (parts[i] != ".") parts[++kept] = parts[i]
            }
            out = parts[1]
            for (i = 2; i <= kept; i++) out = out "/" parts[i]
            return out
        }
        match($0, /^ *# *include *["<][^">]*/) {
            named = substr($0, RSTART, RLENGTH)
            sub(/^ *# *include */, "", named)
            path = substr(named, 2)
            folder = FILENAME
            sub(/[^\/]*$/, "", folder)
            if (path ~ /^prescient\// && named ~ /^</) path = "include/" path
            else if (named ~ /^</) path = named
            else if (path !~ /^(engine|bench)\//) path = plain(folder path)
            print FILENAME ": " path
        }' "$@"
}

included=$(includes engine/*/*.[ch])

# layer NAME ALLOWED...: the folder of engine/ that is looked at, and those it may include
layer() {
    local name=$1 allowed found="" line; shift
    allowed="^engine/[^ ]*: (<|include/prescient/|engine/($(IFS='|'; echo "$name|$*"))/)"
    while read -r line; do
        [[ $line != "engine/$name/"* || $line =~ $allowed ]] || found+=$line$'\n'
    done <<<"$included"
    says "engine/$name includes only itself${1:+, $*}" "$found"
}

# circles: those that are not known, with their arrows
circles() {
    python3 "$tests/circles.py" engine/*/ | awk -v known="$known" '
        BEGIN { n = split(known, row, "\n"); for (i = 1; i <= n; i++) is_known["engine/" row[i]] = 1 }
        /^[^ ]/ { circle = $0; sub(/ [a-z]*:/, "", circle); shown = !(circle in is_known) }
        shown'
}

# opened: known circles that are there no more
opened() {
    [ -z "$known" ] || python3 "$tests/circles.py" engine/*/ |
        sed -n 's/^engine\/\([a-z]*\) [a-z]*: /\1 /p' | grep -vxFf - <(echo "$known")
}

layer base
layer rules base
layer pg base
layer store pg rules base
layer wire rules base
layer worker wire pg rules base
layer pool wire rules base
layer run pool wire store rules base
layer view store rules base
layer http view store rules base
layer cmd http view run pool worker wire store pg rules base

says "no layer has a circle" "$(circles)"
says "circles that are known are still there (else they leave the list in tests/layers.sh)" "$(opened)"
# shares: "JOB FOLDER" of each folder of jobs/shared that a plug-in names in jobs/JOB/shared
declare -A shares=()
for list in jobs/*/shared; do
    [ -f "$list" ] || continue          # jobs/shared/shared may be a folder
    name=${list#jobs/} name=${name%%/*}
    while read -r folder; do shares[$name $folder]=1; done <"$list"
done
# taken: lines "FILE: WHAT" of plug-ins, without what they may include: their own folder, and what
# they share
taken() {
    local line name
    grep -vE ': (<|include/prescient/job\.h$)' | grep -vE '^(jobs/[^/]*/)[^/]*: \1[^/]*\.h$' |
        while read -r line; do
            name=${line#jobs/} name=${name%%/*}
            [[ $line =~ :\ jobs/shared/([^/]*)/[^/]*\.h$ ]] &&
                [ -n "${shares[$name ${BASH_REMATCH[1]}]:-}" ] || echo "$line"
        done
}
# lacking: what a plug-in has to name, too, as a shared folder that it names includes it
lacking() {
    local pair name folder one
    local -A needs=()
    while read -r folder one; do needs[$folder]+=" $one"; done < <(includes jobs/shared/*/*.[ch] |
        sed -nE 's|^jobs/shared/([^/]*)/[^:]*: jobs/shared/([^/]*)/.*|\1 \2|p' | sort -u)
    for pair in "${!shares[@]}"; do
        read -r name folder <<<"$pair"
        [ -d "jobs/shared/$folder" ] || echo "jobs/$name/shared: there is no jobs/shared/$folder"
        for one in ${needs[$folder]:-}; do
            [ -n "${shares[$name $one]:-}" ] || echo "jobs/$name/shared: jobs/shared/$folder needs $one"
        done
    done
}
says "jobs include nothing of ours but include/prescient, their own folder, and what they share" \
    "$(includes jobs/*/*.[ch] tests/jobs/*.c | taken)"
says "shared folders include themselves, settings and answers; http includes template, too" \
    "$(includes jobs/shared/*/*.[ch] |
        grep -vE ': (<|include/prescient/job\.h$|jobs/shared/(settings|answers)/)' |
        grep -vE '^(jobs/shared/[^/]*/)[^/]*: \1[^/]*\.h$|^jobs/shared/http/.*: jobs/shared/template/')"
says "jobs name all that they share" "$(lacking)"

[ $# = 0 ] || exit $failed

outside='(<(libpq-fe|postgres_ext|sqlite3)|engine/pg/libpq)\.h'
says "rules and base know no database" \
    "$(includes engine/rules/*.[ch] engine/base/*.[ch] | grep -E ": $outside")"
# cmd_version names the versions of the libraries
says "the faces know no database but by the store" \
    "$(includes engine/cmd/*.[ch] | grep -E ": $outside" | grep -v '^engine/cmd/cmd_version\.c:')"
# The bench is beside the product: it drives engines as processes and queries the database itself.
says "bench includes only itself, cmd, store, rules, base" \
    "$(includes bench/bench*.[ch] | grep -vE '^bench/[^ ]*: (<|bench/|engine/(cmd|store|rules|base)/)')"
says "nothing of the engine includes bench" "$(includes engine/*.c engine/*/*.[ch] | grep ': bench/')"
says "rules ask no clock" "$(grep -nE '\b(time|clock_gettime|gettimeofday)\(' engine/rules/*.c)"
# ---- what it is for: planted violations, each alone in a small tree ------------------------------

tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/engine/{base,rules,pg,store,wire,worker,pool,run,cmd} "$tree"/jobs/{one,shared/{a,b}}

# plant FILE TEXT...: a file of the tree, one line each
plant() { local file=$tree/engine/$1; shift; printf '%s\n' "$@" >"$file"; }

# refused WHAT WORDS...: the tree is refused, with all these words on lines of their own; then it is
# empty again
refused() {
    local what=$1 found words missing="" status; shift
    found=$("$tests/layers.sh" "$tree"); status=$?
    for words; do grep -qF -- "$words" <<<"$found" || missing+="no line with: $words"$'\n'; done
    [ $status = 1 ] || missing+="it ended with $status"$'\n'
    says "refused: $what" "${missing:+$missing$found}"
    find "$tree" -type f -delete
}

plant store/store.h 'int store_do(void);'
plant worker/worker.c '#include "../store/store.h"'
refused "a worker that includes a store" "not ok - engine/worker includes only" \
    "engine/worker/worker.c: engine/store/store.h"

plant pool/pool.c 'int pool_do(void)' '{' '    return pool_end();' '}'
plant pool/pool_end.c 'static int pool_do_not(void);' '__attribute__((nonnull(1))) int pool_end(int *x)' \
    '{' '    return pool_do();' '}'
refused "two files that call each other" "not ok - no layer has a circle" \
    "engine/pool calls: pool pool_end" "pool -> pool_end: pool_end" "pool_end -> pool: pool_do"

plant run/a.c 'void a(void) { b(); }'
plant run/b.c 'const struct moves b_moves = { .next = c };' 'void b(void) { b_of(&b_moves); }'
plant run/c.h 'static inline void c_of(void)' '{' '    a();' '}'
plant run/c.c 'void c(void) { }'
refused "three files, by way of a table and of an inline function" "engine/run calls: a b c"

plant rules/slot.h '#include "bucket.h"'
plant rules/bucket.h '#  include "slot.h"'
refused "two headers that include each other" "engine/rules includes: bucket.h slot.h"

# plant_job FILE TEXT...: the same, below jobs/
plant_job() { local file=$1; shift; plant "../jobs/$file" "$@"; }
plant_job one/one.c '#include "../shared/b/b.h"' '#include "../shared/a/a.h"' '#include "../two/x.h"'
plant_job one/shared b gone
plant_job shared/b/b.h '#include "../settings/settings.h"' '#include "../../one/one.h"'
refused "plug-ins and shared folders that take what they do not name" \
    "jobs/one/one.c: jobs/shared/a/a.h" "jobs/one/one.c: jobs/two/x.h" \
    "jobs/one/shared: jobs/shared/b needs settings" "jobs/one/shared: there is no jobs/shared/gone" \
    "jobs/shared/b/b.h: jobs/one/one.h"
plant run/lane.c '/* settle(); */ int lane(void)' '{' '    int n = x->settle + y.settle;' \
    '    return puts("settle()");' '}' 'static int page(void) { return 0; }'
plant run/settle.c 'int settle(void)' '{' '    return lane() + page();' '}'
plant_job one/one.c '#include "../shared/b/b.h"' '#include "own.h"'
plant_job one/shared b
"$tests/layers.sh" "$tree" >/dev/null
says "not refused: words in comments and texts, fields, static functions of one name, what a job shares" \
    "$([ $? = 0 ] || echo refused)"
exit $failed
