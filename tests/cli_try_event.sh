#!/usr/bin/env bash
# cli_try_event.sh - `prescient try JOB ... --event`: each job that sends something prints what it
# would send, with no secret in it, and connects to nobody; with --send it is sent.
# about 20 s
# night: hundreds of commands
PLUGIN=webhook
. "$(dirname "${BASH_SOURCE[0]}")/http_lib.sh"
json_begins

receiver plain
HTTP=http://127.0.0.1:$PORT
printf 'file-secret-8814\n' >key
chmod 600 key
# job PLUGIN SETTINGS: the only job, `it`, and a listener for it
job() {
    printf 'plugin_dirs = ["%s"];\nhorizon = "30d";
        jobs = { it = { plugin = "%s"; settings = { %s }; }; };
        listeners = ( { events = "order.*"; job = "it"; } );\n' "$(dirname "$P")/jobs" "$1" "$2" \
        >prescient.cfg
    chmod 600 prescient.cfg
}
left_out() { grep -qw "$1" "$(dirname "$P")/left_out"; }
USUAL='{"n": 1.10, "who": "<Zoë>"}'
# shown WHAT EXPRESSION EXPECTED [OPTION...]: of the JSON; `r` are the lines of the request
shown() {
    local what=$1 expression=$2 expected=$3; shift 3
    timeout 60 "$P" --store sqlite:none.db --now $NOW try it orders 42 --event order.late \
        --payload "${PAYLOAD:-$USUAL}" --json "$@" >.tried 2>.err
    is "$what" "$(json "(lambda r: ($expression))((j['request'] or '').split('\n'))" <.tried)" "$expected"
}
hidden() { is "no secret is shown: $1" "$(grep -c 'secret-8814\|hush' .tried)" 0; }

# ---- HTTP ----
job webhook "url = \"$HTTP/status/200?team=a&api_key=hush1\";
    secrets = [ \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\" ];
    headers = [ \"X-Team: sales \\\\(.entity_key)\", \"Authorization: Bearer hush2\", \"X-Api-Token: hush3\",
                \"X-Plain: @file:key\", \"X-Empty:\" ];"
shown "a webhook" 'r[0], j["answer"], j["outcome"]' \
    "('POST $HTTP/status/200?team=a&api_key=***', 'done', 'done')"
hidden webhook
has "its note" "$(json 'j["note"]' <.tried)" "not sent to $HTTP"
is "headers, without secrets" "$(json '[l for l in j["request"].split("\n")
    if l.startswith(("X-", "Auth", "webhook-sig", "Content"))]' <.tried)" \
    "['X-Team: sales 42', 'Authorization: ***', 'X-Api-Token: ***', 'X-Plain: ***', 'X-Empty: ', \
'Content-Type: application/json', 'webhook-signature: ***']"
json '[l.split(": ")[1] for l in j["request"].split("\n") if l.startswith(("Idem", "webhook-id"))]' \
    <.tried >ids
json 'j["request"].split("\n\n")[1]' <.tried >body
is "the key is shown" "$(cat ids)" "['$(json 'j["id"]' <body)', '$(json 'j["id"]' <body)']"
is "the body is the document of the event" "$(json 'j["type"], j["entity_key"], j["data"]["who"]' <body)" \
    "('order.late', '42', '<Zoë>')"
is "nobody was connected to" "$(requests)" 0
shown "with --send it is sent" 'j["answer"], j["request"]' "('done', None)" --send
is "once" "$(requests) $(last 'j["path"]')" "1 /status/200?team=a&api_key=hush1"
shown "again" 'j["answer"]' done --send
is "under another key" "$(tail -2 plain/requests | python3 -c 'import json, sys
print(len({v for l in sys.stdin for n, v in json.loads(l)["headers"] if n == "Idempotency-Key"}))')" 2
job webhook "url = \"$HTTP/status/200\"; body = \".data.raw | fromjson\"; method = \"PUT\";"
NUL='{"raw": "\"a\\u0000b\\u0000\\u0000\\nc\""}'
PAYLOAD=$NUL shown "a body with NULs is shown whole" 'r[-3:]' "['a\\\\x00b\\\\x00\\\\x00', 'c', '']"
has "also to people" "$("$P" --store sqlite:none.db --now $NOW try it orders 42 --event order.late \
    --payload "$NUL" 2>/dev/null)" '> a\x00b\x00\x00'
PAYLOAD=$NUL shown "and sent as it was shown" 'j["answer"]' done --send
is "byte by byte" "$(last 'j["body"] == "a\0b\0\0\nc"')" True
rm plain/requests
# names KEPT HIDDEN: parameters of the first are shown, of the others not
names() {
    job webhook "url = \"http://nobody.invalid/?$(sed 's/[^ ]\+/&=8814-5/g; s/ /\&/g' <<<"$1 $2")\";"
    shown "names: $1 $2" '" ".join(p[:-7] for p in r[0].split("?")[1].split("&") if "8814" in p)' "$1"
}
names "keyboard Keynote author X-Passenger signal zipcode" \
    "jsessionid apikeys x-passcodes X-Authtokens tokenvalue key apikey api_key API-Key apiKey keyId \
key2 authToken AUTH x-authorization password dbPassword2 \
user.passwd sig x-signature code auth_code session sessionid csrf-token client_secret cookie"
job webhook 'url = "http://nobody.invalid/hook"; body = "{n: .data.n, big: (\"x\" * 60000)}"; method = "PUT";'
shown "a long body, to a name that nobody has" 'r[0], len(r[-2]) > 60000, j["answer"]' \
    "('PUT http://nobody.invalid/hook', True, 'done')"
job webhook 'url = "http://nobody.invalid/hook"; body = "error(\"no such thing\")";'
shown "what fails, fails in a try" 'j["answer"], r' "('final fail', [''])"

job ping "url = \"$HTTP/status/500\";"
shown "ping" 'r' "['GET $HTTP/status/500', 'User-Agent: prescient', '']"
job slack "url = \"$HTTP/services/hush/path\"; text = \"late: \\\\(.data.who)\";"
shown "slack, whose path lets others in" 'r[0], r[-2]' \
    "('POST $HTTP/***', '{\"text\":\"late: &lt;Zoë&gt;\"}')"
hidden slack
for q in 'token=abcdefghijklmnop&pw=hush1' 'token=\(.entity_key)&pw=hush1' 'pw=hush1&x=1'; do
    hosts=
    [ "$q" = "${q#*(}" ] || hosts='hosts = [ "127.0.0.1" ];'
    job webhook "$hosts"' url = "@env:U1"; headers = [ "X-Secret-Thing: @env:U1", "X-Zone: @env:U2" ];'
    U1="$HTTP/h?$q" U2='hüsh?token=abcdefgh&pw=hush1' \
        shown "a URL that is a secret, ?$q" 'r[0], [l for l in r if l.startswith("X-")], j["answer"]' \
        "('POST ***', ['X-Secret-Thing: ***', 'X-Zone: ***'], 'done')"
    hidden "a URL, ?$q"
    is "no part of it, ?$q" "$(grep -c 127.0.0.1 .tried)" 0
done
job slack 'url = "@env:U1"; text = "late";'
U1="$HTTP/services/a/b" shown "slack, whose URL is a secret" 'r[0]' "POST ***"
is "no HTTP at all" "$(requests)" 0

# ---- others: nobody listens there ----
job email 'server = "smtp://nobody.invalid"; user = "shop"; password = "hush"; from = "shop@example.com";
    to = "a@example.com"; bcc = [ "b@example.com" ]; subject = "Order \\(.entity_key)"; text = "It waits.";'
shown "email" '[l for l in r[:6] if "TO" in l or "FROM" in l], "Subject: Order 42\r" in r, j["answer"]' \
    "(['MAIL FROM:<shop@example.com>', 'RCPT TO:<a@example.com>', 'RCPT TO:<b@example.com>'], True, 'done')"
hidden email
job email 'server = "smtp://nobody.invalid"; from = "@env:FROM"; to = "a@example.com";
    subject = "@env:HUSH"; text = "@env:HUSH"; html = "@env:HUSH"; cc = [ "@env:CC" ];
    headers = [ "X-Auth-Token: hush-é", "X-Key: hush-1", "X-Keyboard: qwertz", "X-Author: Zoë",
        "X-Zone: @env:HUSH", "X-Team: sales", "Reply-To: @env:CC" ];'
HUSH='hüsh=8814 of us' FROM='Zoë <zoe@example.com>' CC='Grüße aus dem Süden <c@example.com>' \
    shown "secrets of a mail" \
        '[l for l in r if l[:2] in ("X-", "Su", "**", "MA", "RC", "Fr", "To", "Cc", "Re")], j["answer"]' \
        "$(python3 -c 'print(([*"MAIL FROM:<***@***> RCPT TO:<a@example.com> RCPT TO:<***@***>".replace(
            "> ", ">|").split("|"), *(l + "\r" for l in ["From: ***@***", "To: a@example.com", "Cc: ***@***",
            "Subject: ***", "X-Auth-Token: ***", "X-Key: ***",
            "X-Keyboard: qwertz", "X-Author: =?UTF-8?Q?Zo=C3=AB?=", "X-Zone: ***", "X-Team: sales",
            "Reply-To: ***@***", "***",
            "***"])], "done"))')"
is "none of them is encoded" "$(grep -c '8814\|_of_us\|hush\|Gr=C3\|zoe\|c@ex' .tried)" 0
left_out redis_stream || {
    job redis_stream 'server = "127.0.0.1:1"; stream = "out"; maxlen = 7; password = "hush";'
    shown "redis_stream" 'r[0], r[1][:24], j["answer"]' \
        "('to redis 127.0.0.1:1, with password', 'XADD out MAXLEN ~ 7 * id', 'done')"
    hidden redis_stream
    job redis_stream 'server = "@env:SERVER"; stream = "@env:STREAM"; user = "hush1"; password = "hush2";'
    SERVER=127.0.0.1:1 STREAM=hush-orders shown "redis_stream, whose settings are secrets" \
        'r[0], r[1][:11], j["note"], j["answer"]' \
        "('to redis ***, with password', 'XADD *** * ', 'not sent to redis ***', 'done')"
    hidden "redis_stream, all of it"
}
left_out gearman || {
    job gearman 'servers = [ "127.0.0.1:1" ]; function = "tell";'
    shown "gearman" 'r[0], r[1][:27], json.loads(r[3])["type"], j["answer"]' \
        "('to gearman 127.0.0.1:1, or the next of 1', 'background job tell, unique', 'order.late', 'done')"
    job gearman 'servers = [ "@env:SERVER", "127.0.0.1:2" ]; function = "@env:FUNCTION";'
    SERVER=hush:1111 FUNCTION=hush_tell shown "gearman, whose settings are secrets" \
        'r[0], r[1][:26], j["answer"]' \
        "('to gearman ***, or the next of 2', 'background job ***, unique', 'done')"
    hidden gearman
}
job pg_notify 'connection = "postgresql://u:hush@127.0.0.1:1/shop"; channel = "late";'
shown "pg_notify" 'r[:3], json.loads(r[3][4:])["type"], j["answer"]' \
    "(['to shop at 127.0.0.1', 'SELECT pg_catalog.pg_notify(\$1, \$2)', '\$1: late'], 'order.late', 'done')"
hidden pg_notify
for connection in postgresql://u:hush@hush1/hush2 'host=hush1 dbname=hush2 user=u password=hush'; do
    job pg_notify 'connection = "@env:HUSH"; channel = "@env:CHANNEL";'
    HUSH=$connection CHANNEL=hush_late shown "pg_notify, whose connection is a secret" \
        'r[0], r[2], j["note"], j["answer"]' "('to ***', '\$1: ***', 'not sent to ***', 'done')"
    hidden "pg_notify, its connection"
    job sql_call 'connection = "@env:HUSH"; function = "shop.tell";'
    HUSH=$connection shown "sql_call, whose connection is a secret" 'r[0], j["note"], j["answer"]' \
        "('to ***', 'not sent to ***', 'done')"
    hidden "sql_call, its connection"
done
job sql_call 'connection = "postgresql://u:hush@127.0.0.1:1/shop"; function = "shop.tell";'
shown "sql_call" 'r[1], len(r[2]), json.loads(r[3][4:])["entity_key"]' \
    "('SELECT \"shop\".\"tell\"(\$1::text, \$2::jsonb)', 36, '42')"
hidden sql_call
job exec 'command = [ "/bin/true", "a word", "hu'"'sh'88'"'14" ]; env = [ "TOKEN=@env:HUSH", "@env:WHOLE" ];'
HUSH="hu'sh'88'14" WHOLE=hush_name=hush shown "exec" 'r[:3], json.loads(r[4])["type"], j["answer"]' \
    "([\"run /bin/true 'a word' '***'\", 'TOKEN=***', '***'], 'order.late', 'done')"
hidden exec
