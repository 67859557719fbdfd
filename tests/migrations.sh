#!/usr/bin/env bash
# A released migration never changes: each one of migrations/landed.sha256 is still as it was. A new
# migration comes to the list with its release.
cd "$(dirname "${BASH_SOURCE[0]}")/../migrations" || exit 2
bad=0
while read -r sum file; do
    if [ "$(sha256sum <"$file" | cut -d' ' -f1)" = "$sum" ]; then
        echo "ok - $file is as it landed"
    else
        echo "not ok - $file is as it landed: what it got wrong is mended by a new migration"
        bad=1
    fi
done <landed.sha256
exit $bad
