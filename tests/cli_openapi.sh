#!/usr/bin/env bash
# cli_openapi.sh - GET /v1/openapi.json is an OpenAPI 3.1 document (tests/openapi_document.py judges
# it), of this version, for this server. That it has each route and each word of the program asks
# tests/test_http_openapi.c.
# about 5 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

judged() { python3 "$ROOT/tests/openapi_document.py" "$1"; }
# planted WORDS CHANGE: a document with this change is found wrong, in these words
planted() {
    python3 -c 'import json, sys
j = json.load(open("openapi.json"))
exec(sys.argv[1])
json.dump(j, open("planted.json", "w"))' "$2"
    has "finds: $1" "$(judged planted.json 2>&1)" "$1"
}
head_of() { curl -s -I --unix-socket "$SOCK" "http://localhost$1" | tr -d '\r'; }

is_served() {
    STORE_NAME=sqlite
    export PRESCIENT_STORE="sqlite:$TMP/none.db"
    a_clean_store
    settings 'log_level = "error";'
    serve openapi
    is "it is served" "$(get http://localhost/v1/openapi.json)" 200
    cp body openapi.json
    is "as JSON" "$(head_of /v1/openapi.json | sed -n 's/^Content-Type: //p')" application/json
    is "and takes no query" "$(get 'http://localhost/v1/openapi.json?x=1')" 400
    is "its version is that of the program" "$(json 'j["info"]["version"]' <openapi.json)" \
        "$("$P" --version | awk '{ print $2 }')"
    ends openapi
    BASE=/below/it serve below --set base_path=/below/it
    is "below a base path it says so" \
        "$(get http://localhost/below/it/v1/openapi.json; json 'j["servers"][0]["url"]' <body)" 200/below/it
    ends below
}

is_well_made() {
    is "it is an OpenAPI 3.1 document" "$(judged openapi.json 2>&1)" ""
    local why='j["paths"]["/v1/why"]["get"]'
    planted "'description' is a required" "del $why['responses']['200']['description']"
    planted "Additional properties are not allowed" "$why['sumary'] = 'x'"
    planted "leads nowhere" "$why['responses']['400']['\$ref'] = '#/components/responses/Bad'"
    planted "#/components/schemas/Unused is used nowhere" 'j["components"]["schemas"]["Unused"] = {}'
    planted "two operations are called why" 'j["paths"]["/v1/jobs"]["get"]["operationId"] = "why"'
    planted "it never goes well" "del $why['responses']['200']"
    planted "it has a body, or lacks one" "del j['paths']['/v1/checks']['post']['requestBody']"
    planted "is not valid under any" 'j["components"]["schemas"]["Moment"]["type"] = "txt"'
    planted "it requires {'lost'}" 'j["components"]["schemas"]["Filed"]["required"].append("lost")'
    planted "there are no other members" 'del j["components"]["schemas"]["Filed"]["additionalProperties"]'
    planted "/example: " "$why['responses']['200']['content']['application/json']['example']['x'] = 1"
    planted "has no example" "del $why['responses']['200']['content']['application/json']['example']"
}

is_served
is_well_made
