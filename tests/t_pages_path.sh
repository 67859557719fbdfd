#!/usr/bin/env bash
# t_pages_path.sh - the dashboard in a browser below a path, and at a server that has a token.
#
# night: it needs a browser, and takes long
# about 60 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"
. "$ROOT/tests/pages_lib.sh"

on_this_store() {
    [ "$STORE_NAME" = sqlite ] || return 0
    has_browser || return 0
    a_store_to_look_at
    BASE=/shop/checks serve_at below --set base_path=/shop/checks
    looks browser.py --brief "$URL" >below.out
    sed 's/^\(not \)\?ok - /&below a path: /' below.out
    ends below
    serve_at tokens
    looks browser.py --token "$("$P" token new eve --role read --quiet)" "$URL"
    ends tokens
}
on_each_store on_this_store
