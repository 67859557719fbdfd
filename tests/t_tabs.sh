#!/usr/bin/env bash
# t_tabs.sh - fifty open tabs of the front page ask the store at most twice as much as one does:
# they share answers (tests/pages/tabs.py asks as they do). On PostgreSQL, which counts.
#
# FOR_S: how long it looks at none, at one and at fifty (40)
#
# not instrumented
# night: it looks at open tabs for minutes
# about 150 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"
FOR_S=${FOR_S:-40}

# What a session has done is counted a second after it is over.
counted() {
    sleep 2
    psql -qXAt "$PRESCIENT_STORE" \
        -c "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
}
# asked TABS: transactions while so many are open
asked() {
    local before
    before=$(counted)
    "$ROOT/tests/pages/tabs.py" "$SOCK" "$1" "$FOR_S" >tabs.out 2>&1 || fail "$1 tabs" "$(cat tabs.out)"
    echo $(($(counted) - before))
}

on_this_store() {
    [ "$STORE_NAME" = postgresql ] || return 0
    a_clean_store
    settings 'jobs = { look = { plugin = "noop"; }; };'
    "$P" --quiet enqueue orders 1 look +3h >/dev/null
    serve tabs
    local none one fifty looks=$((FOR_S / 10))
    none=$(asked 0) one=$(asked 1) fifty=$(asked 50)
    echo "# transactions in $FOR_S s: without tabs $none, with one $one, with fifty $fifty"
    ok "one tab asks" test $((one - none)) -ge 6
    # one look more, as of fifty one looks right at the start and one right before the end; and what
    # the server asks by itself in a tenth of the time
    at_most "of fifty, as of two" $((fifty - none)) \
        $(((2 * looks + 1) * (one - none) / looks + none / 10))
    ends tabs
}
on_each_store on_this_store
