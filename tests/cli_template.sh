#!/usr/bin/env bash
# cli_template.sh - settings that are filled in for each check: what comes out, what is refused when
# a job is opened, and what ends one check and no other; with the job webhook on loopback.
# about 15 s
# night: a template for each edge
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if grep -qw webhook "$(dirname "$P")/left_out"; then
    echo "ok - not tested: the job webhook is left out of this build"
    exit 0
fi

NOW=2030-01-01T00:05:00Z
trap 'kill "$RECEIVER" 2>/dev/null; finish || exit 1' EXIT
mkdir plain
python3 "$ROOT/tests/http_server.py" plain >plain/out 2>&1 &
RECEIVER=$!
for _ in {1..500}; do [ ! -e plain/port ] || break; sleep 0.02; done
HTTP=http://127.0.0.1:$(cat plain/port)

# job SETTINGS: the job `hook`; libconfig reads `\"` as a quote
job() {
    printf 'plugin_dirs = ["%s"];\nhorizon = "30d";\ntimeout = "%s";\njobs = { hook = {
        plugin = "webhook"; settings = { url = "%s"; %s }; }; };\n' \
        "$(dirname "$P")/jobs" "${TIMEOUT:-20s}" "${URL:-$HTTP/status/200}" "$1" >prescient.cfg
    chmod 600 prescient.cfg
}
# tried WHAT EXPRESSION EXPECTED: of the JSON of prescient try, with $PAYLOAD
PAYLOAD='{"name": "A & \"B\"", "n": 1.5, "big": 9007199254740993, "no": null, "line": "a\r\nX: b",
    "list": [1, 2]}'
USUAL=$PAYLOAD
tried() {
    local before; before=$(requests)
    timeout 60 "$P" --store sqlite:none.db --now $NOW try hook orders "${KEY:-42}" --json \
        --payload "$PAYLOAD" >.tried 2>.err
    is "$1" "$(json "$2" <.tried)" "$3"
    SENT=$(($(requests) - before))
}
requests() { cat plain/requests 2>/dev/null | wc -l; }
last() { tail -n 1 plain/requests | json "$1"; }
# fails_for_good WHAT WORDS: and nothing is sent
fails_for_good() {
    tried "$1" 'j["answer"], j["note"]' "('final fail', $2)"
    is "$1: nothing is sent" "$SENT" 0
}
# fails_another_time WHAT WORDS: the same, but it is tried again
fails_another_time() {
    tried "$1" 'j["answer"], j["note"]' "('fail', $2)"
    is "$1: nothing is sent" "$SENT" 0
}

# ---- what comes out ----
job 'body = "{text: \"Order \(.entity_key) of \(.data.name)\", n: .data.n, at: now,
    deep: [.data.list[] | {a: .}]}";'
tried "a program makes the body" 'j["answer"]' "done"
is "values cannot break out of it" "$(last 'j["body"]' | json 'j["text"]')" 'Order 42 of A & "B"'
is "numbers and lists" "$(last 'j["body"]' | json 'j["n"], j["deep"]')" "(1.5, [{'a': 1}, {'a': 2}])"
is "now is the time of the check" "$(last 'j["body"]' | json 'int(j["at"])')" "$(date -ud "$NOW" +%s)"
job 'body = "\"a=\(.data.name | @uri)&b=\(.data.no // \"-\")\""; headers = [ "Content-Type: text/plain" ];'
tried "a text is sent as it is" 'j["answer"]' "done"
is "without quotes" "$(last 'j["body"]')" 'a=A%20%26%20%22B%22&b=-'
job 'headers = [ "X-Order: \"no\" \(.entity_key)\\ \(.data.n)", "X-Empty: \(\"\")", "X-Fixed: a\\b" ];'
tried "a header" 'j["answer"]' "done"
is "in which only interpolations are special" \
    "$(last '[v for n, v in j["headers"] if n.startswith("X-")]')" "['\"no\" 42\\\\ 1.5', '', 'a\\\\b']"
is "the document is sent all the same" "$(last 'j["body"]' | json 'j["entity_key"]')" 42
job 'body = "[.data.at | todate, todateiso8601, strftime(\"%d.%m.%Y\"), strflocaltime(\"%Y\"),
    (now | todate)]";'
PAYLOAD='{"at": 1700000000}' TZ=UTC tried "times" 'j["answer"]' "done"
is "as jq has them" "$(last 'j["body"]')" \
    '["2023-11-14T22:13:20Z","2023-11-14T22:13:20Z","14.11.2023","2023","2030-01-01T00:05:00Z"]'
for at in 1e300 -1e300 1e18 99999999999999999; do
    PAYLOAD="{\"at\": $at}"
    for how in todate todateiso8601 'strftime(\"%Y\")' 'strflocaltime(\"%Y\")'; do
        job "body = \".data.at | $how\";"
        tried "$how of $at" 'j["answer"], "is no time" in j["note"]' "('final fail', True)"
    done
done
job 'body = ".data.at | strftime(1)";'
fails_for_good "a form that is no text" "'body: jq: strftime: no text'"
PAYLOAD=$USUAL
job 'body = "[.data.big, .data.big + 0]";'
tried "numbers are doubles" 'j["answer"]' "done"
is "and are rounded from 2^53 on where jq counts with them" \
    "$(last 'json.loads(j["body"])[1] - 9007199254740992')" 0
is "others are rounded (libjq 1.6), or stay as they were given" \
    "$(last 'json.loads(j["body"])[0] - 9007199254740992 in (0, 1)')" True
job 'body = "def twice: \"\(.)\(.)\"; # env\n.data.n | twice";'
tried "a program with a function and a comment" 'j["answer"]' "done"
is "is run" "$(last 'j["body"]')" "1.51.5"
job 'body = ".data | [indices(\"\"), index(\"\"), rindex(\"\"), _strindices(\"\"), index(\"b\"),
    rindex(\"b\"), indices(\"b\"), ([\"\", 1] | indices(\"\")),
    ([1, 2, 1] | index(1), rindex(1)), (null | index(1))]";'
PAYLOAD='"abab"' tried "places in a text" 'j["answer"]' "done"
is "none is that of an empty one" "$(last 'j["body"]')" \
    '[null,null,null,null,1,3,[1,3],[0],0,2,null]'
# ---- what ends a check ----
job 'body = "{a: \"x \(.data.gone)\"}";'
fails_for_good "null in an interpolation" "'body: \\\\(.data.gone) is null'"
job 'headers = [ "X-A: \(.data.no)" ];'
fails_for_good "null in a header" "'headers: \\\\(.data.no) is null'"
job 'body = ".data.n | test(\"x\")";'
tried "an error of jq" 'j["answer"], j["note"].startswith("body: jq: ")' "('final fail', True)"
job 'body = "empty";'
fails_for_good "no result" "'body: it has no result'"
job 'body = ".data.list[]";'
fails_for_good "two results" "'body: it has more than one result'"
job 'headers = [ "X-A: \(.data.line)" ];'
fails_for_good "the end of a line in a header" \
    "'headers: a control character has come out, such as the end of a line'"
job 'headers = [ "X-A: \(\"a\\u0000b\")" ];'
fails_for_good "NUL in a header" "'headers: a control character has come out, such as the end of a line'"
job 'body = "error(\"out of stock\")";'
fails_for_good "error()" "'body: jq: out of stock'"
job 'body = "error({a: 1})";'
fails_for_good "error() of an object" "'body: jq: {\"a\":1}'"
job 'body = ".data | length";'
PAYLOAD=$(printf '[%.0s' {1..300}; printf ']%.0s' {1..300}) \
    tried "a payload too deep for jq" 'j["answer"], "Exceeds depth limit" in j["note"]' "('final fail', True)"

# It may have a result another time, when less else is going on.
TIMEOUT=2s job 'body = "if .entity_key == \"7\" then last(repeat(1)) else 1 end";'
KEY=7 fails_another_time "an endless program" "'body: jq: no end after 500 ms, a quarter of the timeout'"
tried "it hurts no other" 'j["answer"]' "done"
TIMEOUT=2s job 'body = "1, until(false; .)";'
fails_another_time "one that is endless behind its result" \
    "'body: jq: no end after 500 ms, a quarter of the timeout'"
TIMEOUT=60s job 'headers = [ "X-A: \(def f: . + f; f)" ];'
if [ -z "${SANITIZE:-}" ]; then                # they need more memory than a limit would leave
    fails_another_time "one that takes more and more" "'headers: jq: it takes too much of worker_memory'"
fi

# libjq calls itself for each level of a value, also to free it.
if [ -z "${SANITIZE:-}" ]; then
    job 'body = "reduce range(.data) as $i (0; [.]) | length";'
    PAYLOAD=1000000 tried "a value of a million levels" 'j["answer"]' "done"
    is "is freed" "$(last 'j["body"]')" 1
    job 'body = "reduce range(.data) as $i (0; [.]) | contains(.)";'
    # libjq 1.7 of Debian 13 has a bound of its own for that, of 10,000 levels
    PAYLOAD=300000 tried "another is compared with itself, or refused in words" \
        'j["answer"] == "done" or j["note"] == "body: jq: Containment check too deep"' True
    [ "$SENT" = 0 ] || is "as one of few levels is" "$(last 'j["body"]')" true
    TIMEOUT=8s job 'body = "until(false; [.])";'
    tried "one that is nested for ever" 'j["answer"], j["note"][:9]' "('fail', 'body: jq:')"
fi

# ---- what is refused when the job is opened ----
refused() {     # WORDS SETTINGS
    job "$2"
    fails_with 78 "$1" "$P" --store sqlite:none.db config --check
}
refused "setting 'body': jq: syntax error" 'body = "{a: }";'
refused "setting 'body': jq: nothing_like_it/0 is not defined, line 1" 'body = "nothing_like_it";'
refused "setting 'headers': line 1: what begins with \(.x has no end" 'headers = [ "X-A: \(.x" ];'
refused "setting 'body': line 2: env may not be used" 'body = "1 |\nenv";'
for name in input import include '$ENV' halt debug input_filename '$__loc__'; do
    refused "$name may not be used in templates" "body = \"$name\";"
done
refused "setting 'body': jq: syntax error, unexpected" 'body = "..env";'
refused "setting 'body': expected none, as a GET has no body" 'method = "GET"; body = "1";'
refused "setting 'body': expected a text" 'body = [ "1" ];'
