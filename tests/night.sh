#!/usr/bin/env bash
# tests/night.sh        all that the gate (.ci/run) leaves out, for hours: phases by name, one after
#                       the other, each to its end, whatever fell before it
#
# ONLY="valgrind faults"    these phases; "list" prints their names
# SEED                  of the phases that draw (random; it is printed); with it, all are run
#
# Each phase adds a line to build/night.tsv: commit, when it began, phase, passed, failed, seconds.
# One that has passed is not run again until a commit changes what it reads (not this table of
# phases), so that a night that was cut off goes on where it was. With changes that are not
# committed, all run. So that it can go on on another machine, tests/night.tsv keeps such lines in
# the repository, of commits that it has: whoever has run a night adds the lines of
# his build/night.tsv. What a phase prints is in build/night/PHASE.log. Exit code 1: a phase failed.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 2
exec </dev/null

jobs=$(nproc)
table=build/night.tsv
record=tests/night.tsv
logs=build/night
seed=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
make="make -s -j$jobs"
# Instrumented, or many of the night beside each other, a script may take minutes.
long="env TEST_LIMIT_S=300"
# Pages of a million rows, settled at beside their readers, take half an hour of a quiet machine.
longest="env TEST_LIMIT_S=900"
sanitized="SANITIZE=address,undefined"
only=${ONLY:-}
export NIGHT=1 FULL=1 QUIET=1 PATIENCE=${PATIENCE:-6}
# Phases take these, too: what one leaves out by them would be noted as passed.
unset ONLY PG T KIND STORES QUICK CASES MAKEFLAGS MFLAGS MAKELEVEL

# night NAME READS COMMAND...: READS are the files and folders that can change its result, besides
# the Makefile; "." is all. Patterns of git: one that excludes is stronger than those before it.
names=() reads=() commands=()
night() { names+=("$1"); reads+=("$2"); commands+=("${*:3}"); }

program="engine include jobs migrations packages.txt"
# What measures alone read; besides them the tests of the house do, as in the gate.
measured=":(exclude)bench/night.sh :(exclude)bench/pages.sh :(exclude)bench/pages.py"
measured="$measured :(exclude)bench/README.md :(exclude)bench/renew.sh :(exclude)bench/fair.sh"
# The document of the HTTP API is text that the program carries, for those who do not ask for it.
document=":(exclude)engine/http/openapi"
# What answers lists and looks of that API: campaign, planted bugs and simulation ask for none.
looks="$document :(exclude)engine/http/pages :(exclude,glob)engine/http/lists.* \
    :(exclude,glob)engine/http/looks.* :(exclude,glob)engine/http/search.*"
# Python that neither the campaign nor what it sources names.
not_its_own=$(for file in tests/*.py; do grep -qrF "$(basename "$file")" tests/faults tests/*lib.sh bench ||
    echo ":(exclude)$file"; done | tr '\n' ' ')
campaign="$program $looks bench $measured tests/faults tests/jobs :(glob)tests/*.py $not_its_own"
campaign="$campaign :(glob)tests/*lib.sh tests/pg_cluster.sh"
# Scripts that run in the night alone are not read by who runs the others, as a newcomer does.
by_day=$(grep -l '^# night:' tests/*.sh | sed 's/^/:(exclude)/' | tr '\n' ' ')
none_of_these="$by_day :(exclude)tests/sim :(exclude)tests/model :(exclude)tests/pages"
# What the campaign of faults alone runs; besides it the tests of the house read it, as in the gate.
scenarios=":(exclude,glob)tests/faults/f[0-9]*.sh"
packaged=". $measured $none_of_these $scenarios :(exclude)tests/test_*.c"
# Where suites in C and scenarios alone are run, not what `make check` runs besides.
no_scripts=":(exclude,glob)tests/cli_*.sh :(exclude,glob)tests/t_*.sh"
# Of the suites a planted bug is tried by the one that it names.
planted=$(grep -hoP '^test: \K.*' tests/faults/planted/*.patch)
unnamed=$(for file in tests/test_*.c; do grep -qxF "$(basename "$file" .c | cut -c6-)" <<<"$planted" ||
    echo ":(exclude)$file"; done | tr '\n' ' ')
# Those that are not run under instruments are not read there (tests/run.sh has the marks).
marked() { grep -lE "^# (not instrumented|$1)\$" tests/*.sh | sed 's/^/:(exclude)/' | tr '\n' ' '; }
unsanitized=$(marked "not under sanitizers") uncovered=$(marked "not for coverage")
night build         .            ./quickstart.sh prepare
night tests         .            $longest make -s check
night sanitizers    ". $measured $scenarios $unsanitized" $long make -s $sanitized check
night coverage      ". $measured $scenarios $uncovered" $long make -s coverage
night valgrind      "$program tests $none_of_these $no_scripts $scenarios" \
    env TEST_LIMIT_S=1800 $make valgrind
night analysis      "$program $document tests/analyze bench $measured .clang-tidy" $make analyze
night fuzz          "$program tests/fuzz tests/lsan.supp" $make $sanitized fuzz-corpus
night drivers       "$program tests/drivers* tests/languages* docs/languages.md quickstart.sh \
    :(glob)tests/*lib.sh tests/ask_json.py tests/pg_cluster.sh" ./quickstart.sh drivers
night model         tests/model  make -s model
night simulation    "$program $looks tests/sim" env -u SEED make -s sim SEEDS=20000
night faults        "$campaign"  make -s -j"$jobs" faults SEED=$seed
night planted       "$program $looks bench $measured tests $none_of_these $no_scripts $not_its_own \
    $unnamed" make -s planted SEED=$seed
night storm         "$campaign"  make -s storm SECONDS=600 SEED=$seed
night measures      "$program $document bench tests/jobs :(glob)tests/*.py tests/pg_cluster.sh \
    examples" $make measures
night postgresql13  ". $measured $by_day $scenarios" $long make -s check PG=13 NIGHT=
night postgresql17  ". $measured $by_day $scenarios" $long make -s check PG=17 NIGHT=
night bookworm      ". $measured $by_day $scenarios" tests/fresh.sh bookworm
night trixie        ". $measured $by_day $scenarios" tests/fresh.sh trixie
night packages12    "$packaged" tests/packages.sh bookworm
night packages13    "$packaged" tests/packages.sh trixie
night container12   "$packaged" tests/container.sh bookworm
night container13   "$packaged" tests/container.sh trixie

# is_wanted NAME
is_wanted() {
    [ -z "$only" ] && return 0
    case " $only " in *" $1 "*) ;; *) return 1 ;; esac
}

# passed_for NAME: commits for which it has passed, when it was last run for them; what is here is
# newer than the record
passed_for() {
    awk -F '\t' -v name="$1" '
        $3 == name { good[$1] = $5 == 0 && $4 > 0 }
        END { for (commit in good) if (good[commit]) print commit }' "$record" "$table"
}

# has_passed NAME READS: prints for which commit, if what it reads is the same here
has_passed() {
    local before paths
    [ -n "$commit" ] && [ -z "${SEED:-}" ] || return
    read -ra paths <<<"$2"              # patterns for git, not for this shell
    for before in $(passed_for "$1"); do
        if git diff --quiet "$before" HEAD -- Makefile "${paths[@]}" ":(exclude)$record" \
            ":(exclude)tests/night.sh" 2>/dev/null; then
            echo "$before"
            return
        fi
    done
    return 1
}

# run_phase NAME COMMAND: adds its line to the table
run_phase() {
    local name=$1 began=$SECONDS code=0 at good bad
    at=$(date -u +%Y-%m-%dT%H:%MZ)
    ${*:2} >"$logs/$name.log" 2>&1 || code=$?
    read -r good bad \
        < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$logs/$name.log" | tail -n 1; echo)
    [ -n "${good:-}" ] || good=$((code == 0)) bad=$((code != 0))
    [ "$code" = 0 ] || [ "$bad" != 0 ] || bad=1
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "${commit:-changed}" "$at" "$name" "$good" "$bad" \
        $((SECONDS - began)) >>"$table"
    printf '%-12s %6d passed, %4d failed, %5d s\n' "$name" "$good" "$bad" $((SECONDS - began))
    if [ "$bad" != 0 ]; then
        failed=$((failed + 1))
        grep -E '^[[:space:]]*not ok|^FAIL' "$logs/$name.log" | head -n 20 | sed 's/^/    /'
        echo "    all of it: $logs/$name.log"
    fi
    passed=$((passed + good))
}

if [ "$only" = list ]; then
    printf '%s\n' "${names[@]}"
    exit
fi
for name in $only; do
    case " ${names[*]} " in
    *" $name "*) ;;
    *) echo "tests/night.sh: there is no phase $name; the phases are: ${names[*]}" >&2; exit 2 ;;
    esac
done

commit=$(git rev-parse --short HEAD 2>/dev/null)
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit=
mkdir -p "$logs"
touch "$table"
passed=0 failed=0
echo "the night of ${commit:-what is not committed}, seed $seed"
for i in "${!names[@]}"; do
    is_wanted "${names[i]}" || continue
    if before=$(has_passed "${names[i]}" "${reads[i]}"); then
        printf '%-12s has passed for %s\n' "${names[i]}" "$before"
        continue
    fi
    run_phase "${names[i]}" "${commands[i]}"
done
echo "$passed passed, $failed phases failed"
[ "$failed" = 0 ]
