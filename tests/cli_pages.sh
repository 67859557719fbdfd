#!/usr/bin/env bash
# cli_pages.sh - the files of the dashboard as prescient serve answers with them, what may stand in
# them, and what its pure modules find. t_pages.sh looks at them in a browser.
# about 10 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"
PAGES=$ROOT/engine/http/pages
NODE=$(command -v node || true)

# status_of PATH OPTION...: prints the status; head and body are in these files
status_of() { : >body; get -D head "${@:2}" "http://localhost${BASE:-}$1"; }
# header NAME: of the last answer
header() { tr -d '\r' <head | sed -n "s/^$1: //p"; }
# has_file WHAT PATH FILE TYPE
has_file() {
    is "$1: $2 is there" "$(status_of "$2")" 200
    ok "$1: $2 is its file" cmp body "$3"
    is "$1: $2 has its type" "$(header Content-Type)" "$4"
}
type_of() {
    case $1 in
    *.css) echo "text/css; charset=utf-8" ;;
    *.js) echo "text/javascript; charset=utf-8" ;;
    *.svg) echo "image/svg+xml" ;;
    esac
}
all_are_there() {
    local file name
    for file in "$PAGES"/*; do
        name=${file##*/}
        [ "$name" = index.html ] || has_file "$1" "/assets/$name" "$file" "$(type_of "$name")"
        [[ $name == page_* ]] || continue
        name=${name#page_} name=${name%.js}
        has_file "$1" "/${name/#home/}?x=1" "$PAGES/index.html" "text/html; charset=utf-8"
    done
}

says_what_a_browser_needs() {
    local tag length
    status_of / >/dev/null
    is "where all may come from is said" "$(header Content-Security-Policy)" "default-src 'none'; $(
        )script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; $(
        )form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    is "and that types are as said" "$(header X-Content-Type-Options)" nosniff
    is "it may be kept, and is asked for again" "$(header Cache-Control)" no-cache
    tag=$(header ETag)
    is "by a tag of its bytes" "$tag" "\"$(sha256sum "$PAGES/index.html" | cut -c 1-32)\""
    is "who has it gets no bytes" "$(status_of / -H "If-None-Match: $tag")$(wc -c <body)" 3040
    is "but its tag" "$(header ETag)" "$tag"
    is "also through a proxy that packs" "$(status_of / -H "If-None-Match: \"x\", W/$tag")" 304
    is "who has another one gets them" "$(status_of / -H 'If-None-Match: "x"')" 200
    length=$(stat -c %s "$PAGES/index.html")
    is "HEAD has no body" "$(status_of / -I)$(header Content-Length)$(cmp head body && echo .)" "200$length."
    is "what others ask is kept nowhere" "$(status_of /liveness)$(header Cache-Control)" 200no-store
    is "a page takes no POST" "$(status_of /slots -X POST)$(header Allow)" "405GET, HEAD"
}
is_nowhere() {
    local path
    for path in /assets/ /assets/none.js /assets/index.html /index.html /slots/ /page_slots.js //; do
        is "nothing is at $path" "$(status_of "$path")" 404
    done
}
asks_no_store() {
    local pid
    for pid in $(backends_of pages); do kill -STOP "$pid"; done
    is "a page comes from the front alone" "$(status_of /checks)" 200
    for pid in $(backends_of pages); do kill -CONT "$pid"; done
}

# lacks_all WHAT PATTERN FILE...: says WHAT, if no line has that
lacks_all() { is "$1" "$(grep -nE "$2" "${@:3}" | sed "s|^$PAGES/||")" ""; }
may_be_looked_at() {
    local bytes
    bytes=$(cat "$PAGES"/* | wc -c)
    at_most "bytes of all of it" "$bytes" $((300 * 1024))
    lacks_all "text never becomes markup or code" \
        'innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|DOMParser|\.style\b|srcdoc' \
        "$PAGES"/*.js
    lacks_all "nothing stands inline" '<style|style=| on[a-z]+=|javascript:|<script[^>]*>[^<]' \
        "$PAGES/index.html"
    is "nothing comes from elsewhere" "$(grep -ohE '(https?:)?//[a-z][^ "]*' "$PAGES"/*.{js,css,html,svg} |
        grep -v '^// \|^//$' | sort -u)" "http://www.w3.org/2000/svg"
    lacks_all "all leads to the same server, below any path" \
        '(href|src|action)="/|["`(]/(v1|assets|slot|check|job)' "$PAGES"/*.js "$PAGES/index.html"
    is "what a module imports is there" "$(cd "$PAGES" && grep -ohE '(from|href=|src=) ?"(\./|assets/)[^"]*' \
        *.js index.html | sed -E 's/.*"(\.\/|assets\/)//' | sort -u | xargs ls -d 2>&1 >/dev/null)" ""
}

below_a_path() {
    BASE=/shop/checks serve below --set base_path=/shop/checks
    is "below a path" "$(BASE=/shop/checks status_of /)$(BASE=/shop/checks status_of /assets/app.js)" 200200
    is "and nowhere else" "$(status_of /)" 404
    ends below
}

units() {
    if [ -z "$NODE" ]; then
        echo "# there is no node: the modules are tried in a browser alone (t_pages.sh)"
        return
    fi
    node "$ROOT/tests/pages/units.mjs" >units.out 2>&1
    local code=$?
    cat units.out
    is "the modules' own tests" "$code" 0
}

# What the page of a new check offers to copy is run, with all that could end a text in it.
ODD='{"entity": "it'\''s \"a\" $(x) `y` \\", "key": "<script>\n%s é", "job": "look",
      "check_at": "2099-03-01T13:15:00Z", "payload": {"a": ["'\''", "\\n"]}, "tenant": "o'\''b"}'
filed() {
    "$P" list --json | json '[(c["entity_name"], c["entity_key"], c["payload"], c["tenant"]) for c in j]'
}
same_words() {
    local port expected
    [ -n "$NODE" ] || return 0
    expected=$(json '[(j["entity"], j["key"], j["payload"], j["tenant"])]' <<<"$ODD")
    a_clean_store
    settings 'jobs = { look = { plugin = "noop"; }; };'
    if [ "$STORE_NAME" = postgresql ]; then
        node "$ROOT/tests/pages/said.mjs" sql "$ODD" >said.sql
        ok "the SQL of a new check is taken" psql -qXAt -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" -f said.sql
        is "and files it" "$(filed)" "$expected"
        return
    fi
    port=$(a_free_port)
    start port "$P" serve --listen "127.0.0.1:$port"
    wait_until 20 curl -sf "http://127.0.0.1:$port/liveness" >/dev/null
    node "$ROOT/tests/pages/said.mjs" curl "http://127.0.0.1:$port/v1/checks" "$ODD" >said.sh
    has "the curl of a new check is taken" "$(bash said.sh 2>/dev/null)" '"outcome":"new"'
    is "and files it" "$(filed)" "$expected"
    ends port
}

on_this_store() {
    same_words
    [ "$STORE_NAME" = sqlite ] || return 0
    a_clean_store
    serve pages
    all_are_there root
    says_what_a_browser_needs
    is_nowhere
    asks_no_store
    ends pages
    below_a_path
    may_be_looked_at
    units
}
on_each_store on_this_store
