#!/usr/bin/env bash
# The manual pages are what mandoc takes without a complaint. Lines may be longer than it likes:
# prose has 100 columns here (tests/width.sh).
# needs: mandoc
# not instrumented
. "$(dirname "$0")/lib.sh"
for page in "$ROOT"/docs/*.[1-9]; do
    is "${page##*/} is clean" \
        "$(mandoc -Tlint "$page" | grep -v 'STYLE: input text line longer than 80 bytes')" ""
done
printf '.TH X 1\n.SH A\n.PP\ntext\n' >bad.1
has "mandoc complains where there is something" "$(mandoc -Tlint bad.1)" "WARNING: skipping paragraph macro"
