#!/usr/bin/env bash
# docs.sh - what pages in Markdown name is there: links, files, commands with their options; the
# index of docs/ has every page; words.md has every outcome. tests/house/docs.py has the rules. Then
# it is shown a small tree in which each of them is broken.
# not instrumented
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
rules=$ROOT/tests/house/docs.py
(cd "$ROOT" && "$rules" "$P") || FAILED=1

outcomes_of_manual() {
    sed -n '/^\.SH OUTCOMES/,/^\.TE/s/^\([a-z_]*\)|.*/\1/p' "$ROOT/docs/prescient.1" | sort
}
outcomes_of_words() {
    sed -n '/^## Outcomes/,$s/^- \(.*\)/\1/p' "$ROOT/docs/words.md" | sed 's/: .*//' |
        grep -o '`[a-z_]*`' | tr -d '`' | sort
}
is "words.md has the outcomes of prescient(1)" "$(outcomes_of_words)" "$(outcomes_of_manual)"

mkdir -p tree/docs tree/etc
touch tree/docs/{lost.md,lost.png} tree/etc/there.cfg
cat >tree/docs/README.md <<'END'
# The index
[A page](page.md#a-heading-of-two), [none](none.md), [no heading](page.md#nothing)
END
cat >tree/docs/page.md <<'END'
# A heading, of two
`etc/there.cfg`, `etc/th*.cfg`, `etc/NAME.cfg`, but not `etc/{there,gone}.cfg`; `prescient status`
and `prescient --json list --limit 5`, but not `prescient lists` or `prescient list --limits 5`.
```sh
prescient run --sl \
    ot now                          # prescient is good
prescient run --sweep \
    --slot now
events() { prescient deliver --all; }
```
END
found=$("$rules" "$P" tree)
is "and finds what is not there" "$(grep '^#' <<<"$found")" "\
#   docs/README.md:2: leads nowhere: none.md
#   docs/README.md:2: there is no such heading: page.md#nothing
#   docs/page.md:2: there is no etc/{there,gone}.cfg
#   docs/page.md:3: \`prescient list\` has no --limits
#   docs/page.md:3: there is no command \`prescient lists\`
#   docs/page.md:5: \`prescient run\` has no --sl
#   docs/page.md:7: \`prescient run\` has no --sweep
#   docs/page.md:9: there is no command \`prescient deliver\`
#   docs/README.md:0: docs/lost.md is not in the index
#   docs/README.md:0: no page shows docs/lost.png"
