#!/usr/bin/env bash
# hardened.sh - the program and the bundled plug-ins have the compiler's and the linker's protection
# against wild writes. It reads the built files; protection that the compiler or the C library lacks
# is not expected.
# not under sanitizers
# not instrumented
# night: each file that is built
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
BUILD=$(realpath "${BUILD:-build}") || exit 2
export LC_ALL=C
command -v readelf >/dev/null || { echo "not ok - readelf is installed (binutils)"; exit 1; }
failed=0

# says WHAT FOUND: good if nothing was found.
says() {
    if [ -z "$2" ]; then echo "ok - $1"; else
        echo "not ok - $1"
        printf '%s\n' "$2" | head -20 | sed 's/^/#   /'
        failed=1
    fi
}

# lacks PATTERN COMMAND...: a message when no line of the command's output matches
lacks() {
    local pattern=$1; shift
    "$@" 2>/dev/null | grep -E "$pattern" >/dev/null || echo "nothing in: $* matches: $pattern"
}

# holds PATTERN COMMAND...: the lines of the command's output that match
holds() {
    local pattern=$1; shift
    "$@" 2>/dev/null | grep -E "$pattern"
}

imports() { readelf -W --dyn-syms "$1" | awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }'; }
features() { readelf -nW "$1" | sed -n 's/.*x86 feature: //p'; }

# Each unit's debugging data has the flags it was compiled with; ours are known by the folder that
# they were compiled in.
units_without() {
    readelf -W --debug-dump=info --dwarf-depth=1 "$2" 2>/dev/null |
        awk -v flag="$1" \
            '/DW_AT_producer/ && !/GNU AS/ { n++; if (index($0, flag " ") == 0 && $0 !~ flag "$") print }
             END { if (!n) print "no debugging data" }'
}

# What the compiler takes, asked of the compiler and not of the Makefile.
takes() {
    ${CC:-cc} -O2 -U_FORTIFY_SOURCE "$@" -Werror -include stdio.h -x c -S -o /dev/null /dev/null 2>/dev/null
}

is_x86() { [ "$(uname -m)" = x86_64 ]; }

every_file() {
    local file=$1 name=${1#"$BUILD/"}
    says "$name: data that the linker has set is read-only (RELRO)" "$(lacks 'GNU_RELRO' readelf -lW "$file")"
    says "$name: every symbol is bound before it runs (BIND_NOW)" \
        "$(lacks '\(FLAGS\).*BIND_NOW' readelf -dW "$file")"
    says "$name: its stack is not executable" "$(lacks 'GNU_STACK .* RW +0x' readelf -lW "$file")"
    says "$name: nothing is both writable and executable" "$(holds 'LOAD .* RWE' readelf -lW "$file")"
    says "$name: its code is not relocated" "$(holds 'TEXTREL' readelf -dW "$file")"
    says "$name: libraries are looked for where the system has them (no RPATH)" \
        "$(holds '\((RPATH|RUNPATH)\)' readelf -dW "$file")"
    says "$name: frames are protected" "$(units_without -fstack-protector-strong "$file")"
    says "$name: and none can be larger than the guard page unseen" \
        "$(! takes -fstack-clash-protection || units_without -fstack-clash-protection "$file")"
    says "$name: printing and copying know the size of where they write (FORTIFY)" \
        "$(lacks '^__v?snprintf_chk$' imports \
        "$file"; holds '^(v?f?printf|vs?printf|sprintf|v?asprintf|v?dprintf|gets)$' imports "$file")"
    ! is_x86 || ! takes -fcf-protection ||
        says "$name: marked for shadow stacks" "$(features "$file" | lacks 'SHSTK' cat)"
}

for program in prescient prescient-bench; do
    every_file "$BUILD/$program"
    says "$program: an executable of no fixed address (PIE)" \
        "$(lacks '^ *Type: +DYN' readelf -hW "$BUILD/$program"; lacks 'FLAGS_1.*PIE' readelf \
        -dW "$BUILD/$program")"
done
for plugin in "$BUILD"/jobs/*.so; do every_file "$plugin"; done

says "FORTIFY is at the highest level that the compiler has" \
    "$(level=2; ! takes -D_FORTIFY_SOURCE=3 || level=3; lacks "_FORTIFY_SOURCE=$level " cat "$BUILD/flags")"

# The linked program is marked for indirect branch tracking only when the C library's start files
# are; our own part is done when all objects are.
if is_x86 && takes -fcf-protection; then
    says "every object begins its functions with a landing pad (IBT), and keeps to shadow stacks" \
        "$(for o in "$BUILD"/engine/*.o "$BUILD"/engine/*/*.o "$BUILD"/bench/*.o; do [ "$(features "$o")" = \
        "IBT, SHSTK" ] || echo "$o: found $(features "$o")"; done)"
    says "prescient: marked for IBT as far as the C library lets it" \
        "$(case $(features \
        "$(${CC:-cc} \
        -print-file-name=crti.o)") in *IBT*) features "$BUILD/prescient" | lacks IBT cat ;; esac)"
fi
exit $failed
