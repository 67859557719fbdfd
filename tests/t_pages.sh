#!/usr/bin/env bash
# t_pages.sh - the dashboard in a browser, headless Chromium, over a store with odd names in it:
# each page, light and dark, wide and narrow, by keyboard, in three zones; below a path, too.
# Without chromium, chromedriver and python3-selenium it says so, and looks at nothing.
#
# night: it needs a browser, and takes long
# about 60 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

# Debian's Python has Debian's modules.
PYTHON=/usr/bin/python3
has_browser() {
    [ -x /usr/bin/chromium ] && [ -x /usr/bin/chromedriver ] && "$PYTHON" -c 'import selenium' 2>/dev/null
}

ODD='"entity": "<script>alert(1)</script>", "key": "a\"b'\''c\n<img src=x onerror=alert(2)>"'
fill_in() {
    local n
    is "checks with odd names" "$(post "[
        {$ODD, \"job\": \"bad\", \"in\": 1, \"tenant\": \"<b>t</b>\"},
        {\"entity\": \"orders\", \"key\": \"emit\", \"job\": \"tell\", \"in\": 1},
        {\"entity\": \"orders\", \"key\": 42, \"job\": \"look\", \"in\": 1}]")" 200
    is "are run, and one fails" "$("$P" sweep --quiet --now +1h 2>/dev/null; echo $?)" 1
    is "others wait" "$(post "[{$ODD, \"job\": \"look\", \"in\": \"3h\", \"tenant\": \"<b>t</b>\"},
        {\"entity\": \"orders\", \"key\": 43, \"job\": \"look\", \"in\": \"5h\"}]")" 200
    ok "some come again" "$P" schedule add 'stock "of" <b>' shop 7 look --cron '30 6 * * mon-fri' \
        --timezone Australia/Lord_Howe
    ok "one is paused" "$P" pause --job bad --reason '<i>why</i>'
}
# serve_at NAME OPTION...: at a port; sets URL
serve_at() {
    local port
    port=$(a_free_port)
    start "$1" "$P" serve --listen "127.0.0.1:$port" "${@:2}"
    wait_until 20 curl -sf "http://127.0.0.1:$port${BASE:-}/liveness" >/dev/null ||
        fail "$1 answers" "$(cat "$1.err")"
    URL=http://127.0.0.1:$port${BASE:-}/
}

on_this_store() {
    [ "$STORE_NAME" = sqlite ] || return 0
    if ! has_browser; then
        pass "without chromium, chromedriver and python3-selenium nothing is looked at"
        return
    fi
    a_clean_store
    settings 'jobs = { look = { plugin = "noop"; }; tell = { plugin = "effects"; };
        bad = { plugin = "rehearse"; max_failures = 0; settings = { failing = "100"; }; }; };'
    serve fills
    fill_in
    ends fills
    serve_at plain
    "$PYTHON" "$ROOT/tests/pages/browser.py" "$URL" ${SHOTS:+--shots "$SHOTS"} ${AXE:+--axe "$AXE"} ||
        FAILED=1
    ends plain
    BASE=/shop/checks serve_at below --set base_path=/shop/checks
    "$PYTHON" "$ROOT/tests/pages/browser.py" --brief "$URL" |
        sed 's/^\(not \)\?ok - /&below a path: /' | tee below.out
    is "all holds below a path" "$(grep -c '^not ok' below.out)" 0
    ends below
    serve_at tokens
    "$PYTHON" "$ROOT/tests/pages/browser.py" --token "$("$P" token new eve --role read --quiet)" "$URL" ||
        FAILED=1
    ends tokens
}
on_each_store on_this_store
