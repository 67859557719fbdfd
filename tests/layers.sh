#!/usr/bin/env bash
# layers.sh - includes point downward only, and a plug-in sees nothing of ours but include/.
# cmd -> run -> pool -> wire -> rules -> base, and run -> store -> pg: the engine. worker -> wire, pg: the process that runs
# jobs, which never sees a store. Each may include itself, what it is allowed below, and the job ABI.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
failed=0

# says WHAT FOUND: nothing found is good.
says() {
    if [ -z "$2" ]; then echo "ok - $1"; else
        echo "not ok - $1"
        printf '%s\n' "$2" | sed 's/^/#   /'
        failed=1
    fi
}

# includes FILE...: "file: what it includes", paths from the top; <...> of ours too
includes() {
    local file line path
    for file; do
        while IFS= read -r line; do
            case $line in
            \<prescient/*) path=include/${line#<} ;;
            \<*) path=$line ;;
            engine/* | bench/*) path=$line ;;
            *) path=$(realpath -m --relative-to=. "$(dirname "$file")/$line") ;;
            esac
            echo "$file: ${path%>}"
        done < <(sed -n 's/^ *# *include *"\(.*\)".*/\1/p; s/^ *# *include *\(<.*>\).*/\1/p' "$file")
    done
}

# layer NAME ALLOWED...: the folder of engine/ that is looked at, and those it may include
layer() {
    local name=$1 allowed; shift
    allowed="^engine/[^ ]*: (<|include/prescient/|engine/($(IFS='|'; echo "$name $*" | tr ' ' '|'))/)"
    says "engine/$name includes only itself${1:+, $*}" "$(includes engine/"$name"/*.[ch] | grep -vE "$allowed")"
}

layer base
layer rules base
layer pg base
layer store pg rules base
layer wire rules base
layer worker wire pg rules base
layer pool wire rules base
layer run pool wire store rules base
layer cmd run pool worker wire store pg rules base

outside='<(libpq-fe|postgres_ext|sqlite3)\.h'
says "rules and base know no database" "$(includes engine/rules/*.[ch] engine/base/*.[ch] | grep -E ": $outside")"
# cmd_version names the versions of the libraries
says "the faces know no database but by the store" "$(includes engine/cmd/*.[ch] | grep -E ": $outside" | grep -v '^engine/cmd/cmd_version\.c:')"
# The bench stands beside the product: it drives engines as processes and asks the database itself.
says "bench includes only itself, cmd, store, rules, base" "$(includes bench/bench*.[ch] | grep -vE '^bench/[^ ]*: (<|bench/|engine/(cmd|store|rules|base)/)')"
says "nothing of the engine includes bench" "$(includes engine/*.c engine/*/*.[ch] | grep ': bench/')"
says "rules ask no clock" "$(grep -nE '\b(time|clock_gettime|gettimeofday)\(' engine/rules/*.c)"
says "jobs include nothing of ours but include/prescient" "$(includes jobs/*/*.c tests/jobs/*.c | grep -vE ': (<|include/prescient/job\.h$)')"
exit $failed
