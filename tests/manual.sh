#!/usr/bin/env bash
# manual.sh - the manual pages and the tables of the program name the same things: commands with
# their options, options of every command, settings. What is missing on either side is printed.
. "$(dirname "$0")/lib.sh"
page=$ROOT/docs/prescient.1
settings_page=$ROOT/docs/prescient.cfg.5

# Commands and options as the tables have them, by way of --help: "COMMAND", "COMMAND --option".
commands=$($P --help | sed '/^options of/q' | awk '/^  [a-z]/ { print $1 }')
own_options() { $P "$1" --help | sed -n '/^options:/,/^$/s/^  \(--[a-z-]*\).*/\1/p'; }
global_options() { $P --help | sed -n '/^options of every command:/,$s/^  \(--[a-z-]*\).*/\1/p'; }
in_program() {
    local c
    for c in $commands; do
        echo "$c"
        # it has so many that the manual leaves them to --help
        [ "$c" = bench ] || own_options "$c" | sed "s/^/$c /"
    done
}

# The same from the manual. An entry is the line after .TP; a backslash continues it.
plain() { sed -E 's/\\-/-/g; s/\\f[A-Z]//g; s/"//g; s/\\&//g' "$1"; }
section() { plain "$1" | awk -v name="$2" '/^\.SH / { is_in = ($0 == ".SH " name) } is_in'; }
entries() {
    awk '/^\.TP/ {
        getline; tag = $0
        while (tag ~ /\\$/) { sub(/\\$/, "", tag); getline; tag = tag $0 }
        print tag
    }'
}
in_manual() {
    section "$page" COMMANDS | entries | sed 's/^\.[A-Z]* *//' | while read -r command rest; do
        echo "$command"
        grep -oE -- '--[a-z-]+' <<<"$rest" | sed "s/^/$command /"
    done
}

# same WHAT PROGRAM MANUAL: two lists without order; what only one of them has is printed.
same() {
    is "$1" "$(comm -3 <(sort -u <<<"$2") <(sort -u <<<"$3") |
        sed 's/^\t/only in the manual: /; t; s/^/not in the manual: /')" ""
}

same "prescient(1) has every command and its options, and no others" "$(in_program)" "$(in_manual)"
# What is given in brackets stands in the entry, and no entry is cut off before its end.
is "each entry of prescient(1) closes its brackets" "$(section "$page" COMMANDS | entries |
    awk '{ entry = $0; opened = gsub(/[[{]/, ""); if (opened != gsub(/[]}]/, "")) print entry }')" ""
# The words that an option may have, where the entry of its command is described, or in OUTCOMES.
described() {
    section "$page" OUTCOMES
    section "$page" COMMANDS | awk -v command="$1" '
        /^\.TP/ { getline; is_its = $2 == command }
        is_its'
}
words() {
    $P help "$1" --json | json '[w for o in j["options"] for w in o["words"] or []]' | grep -oE '[a-z_]+'
}
words_not_in_manual() {
    local c
    for c in $commands; do
        words "$c" | while read -r word; do described "$c" | grep -qw "$word" || echo "$c: $word"; done
    done
}
is "prescient(1) has each word that an option may have" "$(words_not_in_manual)" ""
is "README.md names no command that there is not" \
    "$(sed -nE 's/^    prescient ([a-z]+).*/\1/p' "$ROOT/README.md" | sort -u |
    comm -23 - <(sort -u <<<"$commands"))" ""
same "prescient(1) has the options of every command, and no others" "$(global_options)" \
    "$(section "$page" "OPTIONS OF EVERY COMMAND" | entries | grep -oE -- '--[a-z-]+')"
known=$({ for c in $commands; do own_options "$c"; done; global_options; } | sort -u)
is "prescient(1) names no option that no command has" \
    "$(plain "$page" | grep -oE -- '--[a-z-]+' | sort -u | comm -23 - <(echo "$known"))" ""

# Settings stand in the lists at the head of each part of SETTINGS; those of a job in one in JOBS.
settings=$($P config --sample | sed -nE 's/^ *(# )?([a-z_]+) = .*/\2/p' | grep -vx 'plugin\|settings')
lists() {
    section "$settings_page" SETTINGS |
        awk '/^\.SS/ { is_list = 1; next } /^\.PP/ { is_list = 0 } is_list'
    section "$settings_page" JOBS | grep -A2 '^\.BR timeout'
}
same "prescient.cfg(5) has every setting, and no others" "$settings" \
    "$(lists | sed 's/^\.BR *//; s/ and those of a job above//' | tr -s ', ' '\n\n' | grep -vx 'and\|')"
