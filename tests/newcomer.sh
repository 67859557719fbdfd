#!/usr/bin/env bash
# newcomer.sh - quickstart.sh in a clone as git makes it for a user whose group may write (umask
# 002, usual on Ubuntu): the clone is closed, and a folder above it is named.
# not instrumented
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ "$P" = "$ROOT/build/prescient" ] || { echo "ok - not tried: the program was built elsewhere"; exit 0; }

# The clone has the program already, with its times, so that make has nothing to do. Every package
# is said to be installed: this must not install any.
chmod 700 "$TMP"
mkdir -p above/clone bin
(cd "$ROOT" && { git ls-files -z 2>/dev/null || find . -path './build*' -prune -o -type f -print0; } |
    tar -c --null -T - build) | tar -x -C above/clone
find above/clone -path '*/build/*' -prune -o -exec chmod g+w {} +    # plug-ins are built closed
printf '#!/bin/sh\nprintf "ii "\n' >bin/dpkg-query
chmod +x bin/dpkg-query
quickstart() {
    (umask 002 && env -u BUILD -u MAKEFLAGS -u MAKELEVEL -u MFLAGS PATH="$TMP/bin:$PATH" TMPDIR="$TMP" \
        above/clone/quickstart.sh)
}

chmod 775 above
fails_with 1 "chmod go-w '$TMP/above'" quickstart
chmod 755 above
ok "quickstart.sh in a clone that the group may write" quickstart
has "order 1003 was never shipped, and its check ends by a guard" "$(grep "^1003 " .out)" "max_checks"
