#!/usr/bin/env bash
# faq.sh - the answers of docs/faq.md: each block is typed, in the page's order, and prints what the
# page says.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PAGE=$ROOT/docs/faq.md
mkdir bin && ln -s "$P" bin/prescient
PATH=$TMP/bin:$PATH

# of KIND [N]: the N-th block behind the line "<!-- faq.sh: KIND -->"; the second one, without a
# line of its own, is what the first one prints
of() {
    awk -v kind="<!-- faq.sh: $1 -->" -v n="${2:-1}" '
        $0 == kind { mine = 1; next }
        !mine { next }
        /^```/ { inside = !inside; seen += inside; if (!inside && seen == n) exit; next }
        !inside && seen { exit }
        inside && seen == n' "$PAGE"
}

of settings >prescient.cfg
chmod 600 prescient.cfg
ok "the shop" bash -euc "$(of begin)"
mapfile -t kinds < <(sed -n 's/^<!-- faq.sh: \(.*\) -->$/\1/p' "$PAGE" | grep -vx 'settings\|begin')
for kind in "${kinds[@]}"; do
    is "$kind" "$(bash -uc "$(of "$kind")" 2>"$TMP/.said")" "$(of "$kind" 2)"
    [ ! -s "$TMP/.said" ] || sed 's/^/# /' "$TMP/.said"
done
is "each block of shell has a name" \
    "$(awk '/^```sh$/ && last !~ /^<!-- faq.sh: / { print FNR } { last = $0 }' "$PAGE")" ""
