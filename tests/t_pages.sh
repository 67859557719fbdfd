#!/usr/bin/env bash
# t_pages.sh - the dashboard in a browser, headless Chromium, over a store with odd names in it:
# each page, light and dark, wide and narrow, by keyboard, in three zones. t_pages_path.sh has it
# below a path and with tokens, t_pages_change.sh its buttons, t_pages_axe.sh what keeps people out.
# Without chromium, chromedriver and python3-selenium it says so, and looks at nothing.
#
# night: it needs a browser, and takes long
# about 100 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"
. "$ROOT/tests/pages_lib.sh"

on_this_store() {
    [ "$STORE_NAME" = sqlite ] || return 0
    has_browser || return 0
    a_store_to_look_at
    serve_at plain
    looks browser.py "$URL"
    ends plain
}
on_each_store on_this_store
