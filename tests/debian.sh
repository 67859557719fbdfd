#!/usr/bin/env bash
# debian.sh - debian/ says what the rest of the repository says: the version, what a build needs,
# which files there are. tests/packages.sh builds and installs the packages, in the night.
# not instrumented
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

version=$(sed -n 's/^## \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -1)
is "the packages have the version of CHANGELOG.md" \
    "$(sed -n '1s/^prescient (\(.*\)) .*/\1/p' debian/changelog)" "$version"
is "and the program has it" "$("$P" --version | head -1)" "prescient $version"

# What build-essential has, and debhelper and systemd's folders, are of one side only. Ubuntu 22.04
# has an older pkg-config, by the name that Debian has left.
field() { sed -n "/^$1:/,/^[^ ]/{ s/^$1://; /^[A-Z]/d; p }" debian/control; }
is "a build needs what packages.txt says" \
    "$(field Build-Depends | sed 's/<.*>//; s/,.*//; s/[ (|].*//2; s/pkgconf/pkg-config/' |
        awk 'NF { print $1 }' |
        grep -vxE 'debhelper-compat|dh-sequence-.*|systemd-dev|python3' | sort)" \
    "$(awk '!/^#/ && $2 == "build" { print $1 }' packages.txt | grep -vxE 'gcc|make|libc6-dev' | sort)"
is "every test that is named is there" \
    "$(sed -n 's/^Tests: //p' debian/tests/control | tr ', ' '\n\n' | grep . |
        while read -r name; do [ -x "debian/tests/$name" ] || echo "$name"; done)" ""

# The same is said by dh_missing, when a package is built. The folder of units is named by rules.
ok "what is installed" env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s BUILD="${P%/*}" STAGE="$TMP/stage" \
    PREFIX=/usr docdir=/usr/share/doc/prescient zshdir=/usr/share/zsh/vendor-completions stage
in_packages() { cat debian/*.install; echo usr/lib/systemd/system; }
is "every file of it is in one of the packages" \
    "$(in_packages | sed 's|.*|^&(/.*)?$|' >"$TMP/patterns"
    (cd "$TMP/stage" && find . -type f) | sed 's|^\./||' | grep -vEf "$TMP/patterns")" ""
is "and each that they name is there" \
    "$(in_packages | while read -r place; do [ -e "$TMP/stage/$place" ] || echo "$place"; done)" ""
