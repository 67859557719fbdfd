#!/usr/bin/env bash
# cli_slack.sh - the job slack against a receiver on loopback: messages, what payloads cannot do in
# them, and what responses mean.
# about 5 s
# night: a receiver for each edge
PLUGIN=slack
. "$(dirname "${BASH_SOURCE[0]}")/http_lib.sh"

receiver plain
HTTP=http://127.0.0.1:$PORT
body() { last 'j["body"]' | json "$1"; }

job "url = \"$HTTP/status/200\"; text = \"<!here> Order \\(.entity_key): \\(.data.why)\";"
tried "a message" 'j["answer"]' "done" '{"why": "\"late\" & <!channel>\n\u003c@U1\u003e"}'
is "is JSON by POST" "$(last 'j["method"], [v for n, v in j["headers"] if n == "Content-Type"]')" \
    "('POST', ['application/json'])"
is "in which only the settings can call" "$(body 'j')" \
    "{'text': '<!here> Order 42: \"late\" &amp; &lt;!channel&gt;\\n&lt;@U1&gt;'}"
KEY='<b>' tried "nor a key" 'j["answer"]' "done" '{"why": "x"}'
is "of a row" "$(body 'j["text"]')" '<!here> Order &lt;b&gt;: x'
tried "null" 'j["answer"], j["note"]' "('final fail', 'text: \\\\(.data.why) is null')"
job "url = \"$HTTP/status/200\";
    blocks = \"[{type: \\\"section\\\", text: {type: \\\"mrkdwn\\\", text: .data.t}}]\";"
tried "blocks" 'j["answer"]' "done" '{"t": "<!channel>"}'
is "are made by a program, which cannot call either" "$(body 'j')" \
    "{'blocks': [{'type': 'section', 'text': {'type': 'mrkdwn', 'text': '&lt;!channel&gt;'}}]}"
CODED='{"raw": "{\"why\": \"\\u003c!channel> &\"}", "s": "PCFjaGFubmVsPg==", "codes": [60, 33, 62],
    "is": true}'
job "url = \"$HTTP/status/200\"; text = \"<!here> \\(.data.raw | fromjson | .why) \\(.data.s | @base64d) \
\\(.data.codes | implode) \\(if .data.is then \\\"<!everyone>\\\" else 1 end) \\(\\\"<\\(.data.s)>\\\")\";"
tried "what the template decodes" 'j["answer"]' "done" "$CODED"
is "calls nobody, what stands in it does" "$(body 'j["text"]')" \
    "<!here> &lt;!channel&gt; &amp; &lt;!channel&gt; &lt;!&gt; <!everyone> <PCFjaGFubmVsPg==>"
job "url = \"$HTTP/status/200\"; blocks = \"[{a: (.data.raw | fromjson | .why), b: (.data.s | @base64d)},
    {t: \\\"<https://x/?a=1&b=\\(.data.s)|\\(.data.s | @base64d)>\\\", u: [.data.codes | implode]},
    (.data.raw | fromjson | {(.why): 1}), (.data.s | @base64d | test(\\\"^<!(?<a>c)\\\")),
    (.data.s | @base64d == \\\"<!channel>\\\")]\";"
tried "what blocks decode" 'j["answer"]' "done" "$CODED"
is "calls nobody either" "$(body 'j["blocks"]')" "[{'a': '&lt;!channel&gt; &amp;', 'b': '&lt;!channel&gt;'}, \
{'t': '<https://x/?a=1&b=PCFjaGFubmVsPg==|&lt;!channel&gt;>', 'u': ['&lt;!&gt;']}, \
{'&lt;!channel&gt; &amp;': 1}, True, True]"
job "url = \"$HTTP/status/200\"; text = \"<!here> & that\";"
tried "a fixed text" 'j["answer"]' "done"
is "is sent as it is" "$(body 'j["text"]')" '<!here> & that'
job "url = \"$HTTP/status/200\"; text = \"\\(\\\"<a>\\\" | tonumber)\";"
tried "an error of jq" 'j["answer"]' "final fail"
is "has its text without marks" "$(python3 -c 'print(max(map(ord, open(".tried").read())) < 128)')" True
job "url = \"$HTTP/status/200\"; text = \"fallback\"; blocks = \"[]\";"
tried "both" 'j["answer"]' "done"
is "are sent together" "$(body 'j')" "{'text': 'fallback', 'blocks': []}"

job "url = \"$HTTP/status/200\"; text = \"x\"; blocks = \".data.blocks\";"
sent=$(wc -l <plain/requests)
for found in string object number true null; do
    value=$(python3 -c 'import json, sys; print(json.dumps({"string": "[], \"channel\": \"#ceo\"",
        "object": {}, "number": 1, "true": True, "null": None}[sys.argv[1]]))' "$found")
    tried "blocks that are no list: $found" 'j["answer"], j["note"]' \
        "('final fail', 'blocks: found ${found/true/boolean}, expected a list')" "{\"blocks\": $value}"
done
is "are not sent" "$(wc -l <plain/requests)" "$sent"
tried "blocks of a payload" 'j["answer"]' "done" '{"blocks": [{"type": "divider"}]}'
is "that are a list are sent" "$(body 'j["blocks"]')" "[{'type': 'divider'}]"

NUL_WORDS='a NUL has come out of the template; no message can have one'
sent=$(wc -l <plain/requests)
job "url = \"$HTTP/status/200\"; text = \"Order \\(.data.raw | fromjson) is late\";"
tried "a NUL in a text" 'j["answer"], j["note"]' "('final fail', 'text: $NUL_WORDS')" \
    '{"raw": "\"a\\u0000b\""}'
job "url = \"$HTTP/status/200\"; text = \"x\"; blocks = \"[.data.raw | fromjson]\";"
tried "and in blocks" 'j["answer"], j["note"]' "('final fail', 'blocks: $NUL_WORDS')" \
    '{"raw": "{\"a\\u0000\": 1}"}'
is "is not sent" "$(wc -l <plain/requests)" "$sent"
tried "a backslash before u0000" 'j["answer"]' "done" '{"raw": "{\"a\\\\u0000\": 1}"}'
is "is none" "$(body 'j["blocks"]')" "[{'a\\\\u0000': 1}]"

job "url = \"$HTTP/body/404?no_service\"; text = \"x\";"
tried "a webhook that is gone" 'j["answer"], j["outcome"], j["note"].split(" ms: ")[1]' \
    "('final fail', 'failed', 'no_service')"
job "url = \"$HTTP/status/429?Retry-After=30\"; text = \"x\";"
tried "too many" 'j["answer"], "2030-01-01T00:05:30Z" <= j["at"] <= "2030-01-01T00:05:40Z"' "('defer', True)"
job "url = \"$HTTP/body/500?rollup_error\"; text = \"x\";"
tried "a failure" 'j["answer"]' fail

refused "settings 'text' and 'blocks': found none" "url = \"$HTTP\";"
refused "setting 'blocks': line 1: what begins with [ has no end" "url = \"$HTTP\"; blocks = \"[\" ;"
refused "setting 'url' is missing" 'text = "x";'
