#!/usr/bin/env bash
# tests/pg_release.sh RELEASE   prints the folder of the programs of PostgreSQL 13, 15 or 17, for
#                               PG_BIN: that of this machine, or of another Debian's packages
#
# As root, the first time; it needs debootstrap and bwrap. The packages of Debian 11 (13), 12 (15)
# or 13 (17) are unpacked below PG_RELEASES (/var/tmp/prescient-pg), some 300 MB, and stay there.
# Its programs see that Debian's /usr and all else of this machine, so that data, sockets and pids
# are where they would be; psql is this machine's own.
set -euo pipefail
umask 022
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

release=${1:-}
declare -A suites=([13]=bullseye [15]=bookworm [17]=trixie)
[ -n "${suites[$release]:-}" ] || { sed -n '2,3s/^# \{0,1\}//p' "$0" >&2; exit 2; }
own=/usr/lib/postgresql/$release/bin
if [ -x "$own/initdb" ]; then
    echo "$own"
    exit
fi

refuse() { echo "tests/pg_release.sh: $*" >&2; exit 2; }
root=${PG_RELEASES:-/var/tmp/prescient-pg}/$release
bin=$root.bin
if [ ! -x "$bin/initdb" ]; then
    [ "$(id -u)" = 0 ] || refuse "PostgreSQL $release is not here; the first time must be as root"
    for program in debootstrap bwrap; do
        command -v "$program" >/dev/null ||
            refuse "there is no $program here; install it: apt-get install debootstrap bubblewrap"
    done
    mkdir -p "$(dirname "$root")"
    rm -rf --one-file-system "$root" "$bin"
    . tests/debian_lib.sh
    debian_make "${suites[$release]}" "$root" --include="postgresql-$release" >"$root.log" 2>&1 ||
        { tail -n 20 "$root.log" >&2; refuse "PostgreSQL $release cannot be had: $root.log"; }
    mkdir "$bin"
    for program in "$root$own"/*; do
        [ "${program##*/}" != psql ] || continue
        printf '#!/bin/sh\nexec bwrap --dev-bind / / --ro-bind %s/usr /usr -- %s/%s "$@"\n' \
            "$root" "$own" "${program##*/}" >"$bin/${program##*/}"
    done
    chmod 755 "$bin"/*
fi
echo "$bin"
