# pages_lib.sh - the dashboard in a browser, headless Chromium. Sourced after serve_lib.sh.

# Debian's Python has Debian's modules.
PYTHON=/usr/bin/python3
has_browser() {
    [ -x /usr/bin/chromium ] && [ -x /usr/bin/chromedriver ] && "$PYTHON" -c 'import selenium' 2>/dev/null &&
        return
    pass "without chromium, chromedriver and python3-selenium nothing is looked at"
    return 1
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
# looks PROGRAM OPTION...: a program of tests/pages/
looks() { "$PYTHON" "$ROOT/tests/pages/$1" "${@:2}" || FAILED=1; }
ODD='"entity": "<script>alert(1)</script>", "key": "a\"b'\''c\n<img src=x onerror=alert(2)>"'
# a_store_to_look_at: with odd names, failures, a schedule and a pause
a_store_to_look_at() {
    a_clean_store
    settings 'jobs = { look = { plugin = "noop"; }; tell = { plugin = "effects"; };
        bad = { plugin = "rehearse"; max_failures = 0; settings = { failing = "100"; }; }; };'
    serve fills
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
    ends fills
}
# axe_is_here: axe-core, which looks for what keeps people out, as $AXE. It is no part of this
# repository: npm fetches it the first time, and it stays in the build's folder.
AXE_VERSION=4.14.1
AXE_SHA512=FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
axe_is_here() {
    local at=${P%/*}/axe-core-$AXE_VERSION file=axe-core-$AXE_VERSION.tgz
    AXE=$at/axe.min.js
    [ ! -s "$AXE" ] || return 0
    command -v npm >/dev/null && limited 60 npm pack --silent "axe-core@$AXE_VERSION" >npm.out 2>&1 || {
        pass "npm cannot fetch axe-core $AXE_VERSION: nothing is looked at"
        return 1
    }
    is "axe-core is the one we know" "$(openssl dgst -sha512 -binary "$file" | base64 -w0)" "$AXE_SHA512"
    [ "$FAILED" = 0 ] && mkdir -p "$at" && tar -xzf "$file" -C "$at" --strip-components=1 package/axe.min.js
}
