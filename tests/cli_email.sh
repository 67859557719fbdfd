#!/usr/bin/env bash
# cli_email.sh - the job email against a mail server on loopback: the mail as a reader sees it, who
# gets it, what payloads cannot do, and what the server's answers mean, at each step.
# about 25 s
# night: a mail server for each edge
PLUGIN=email
. "$(dirname "${BASH_SOURCE[0]}")/http_lib.sh"

# Packages of Debian are those of its own Python.
PYTHON=/usr/bin/python3
if ! $PYTHON -c 'import aiosmtpd' 2>/dev/null || ! command -v openssl >/dev/null; then
    echo "ok - not tested: there is no python3-aiosmtpd, or no openssl"
    exit 0
fi

# mail_server FOLDER [OPTION...]: starts one and sets PORT
mail_server() {
    mkdir "$1"
    $PYTHON -W ignore "$ROOT/tests/smtp_server.py" "$@" >"$1/out" 2>&1 &
    SERVERS+=($!)
    for _ in {1..1500}; do [ ! -e "$1/port" ] || break; sleep 0.02; done
    PORT=$(cat "$1/port")
}
# job SETTINGS, with SERVER and TO, beside what each mail has
mail_job() {
    job "server = \"$URL\"; from = \"${FROM:-Shop <shop@example.com>}\"; to = \"${TO:-sales@example.com}\";
        subject = \"${SUBJECT:-Order}\"; text = \"${TEXT:-It waits.}\"; $*"
}
mails() { cat "${FOLDER:-plain}/mails" 2>/dev/null | wc -l; }
# mail EXPRESSION: of the last one, `j` as the server saw it, `m` as a reader of mails does
mail() {
    tail -n 1 "${FOLDER:-plain}/mails" 2>&1 | python3 -c '
import json, sys, email, email.policy
j = json.loads(sys.stdin.read())
raw = j["data"].encode("latin-1")
m = email.message_from_bytes(raw, policy=email.policy.default)
print(eval(sys.argv[1]))' "$1"
}

mail_server plain
URL=smtp://127.0.0.1:$PORT
NONE='tls = "none";'

# ---- the mail ----
SUBJECT='Order \(.entity_key) of \(.data.name)' \
TEXT='Order \(.entity_key)\nof \(.data.name)\n.\nFrom here = end ' \
    mail_job "$NONE" 'cc = [ "Käthe Groß <k@example.com>", "\(.data.cc // \"\")" ];
        bcc = [ "boss@example.com" ];
        headers = [ "X-Team: \(.data.name)", "Reply-To: <back@example.com>" ];'
tried "a mail" 'j["answer"]' "done" '{"name": "Zoë 日本"}'
is "from whom, to whom" "$(mail 'j["from"], j["to"]')" \
    "('shop@example.com', ['sales@example.com', 'k@example.com', 'boss@example.com'])"
is "subject" "$(mail 'm["Subject"]')" "Order 42 of Zoë 日本"
is "addresses" "$(mail '[str(a) for n in ("From", "To", "Cc") for a in m[n].addresses]')" \
    "['Shop <shop@example.com>', 'sales@example.com', 'Käthe Groß <k@example.com>']"
is "bcc is in the envelope only" "$(mail '"boss" in j["data"]')" False
is "other headers" "$(mail 'm["X-Team"], m["Reply-To"]')" "('Zoë 日本', 'back@example.com')"
is "the text" "$(mail 'm.get_content().splitlines()')" \
    "['Order 42', 'of Zoë 日本', '.', 'From here = end ']"
KIND='m.get_content_type(), m["Content-Transfer-Encoding"], m["Auto-Submitted"], m["MIME-Version"]'
is "its kind" "$(mail "$KIND")" "('text/plain', 'quoted-printable', 'auto-generated', '1.0')"
SHORT='max(map(len, raw.split(b"\r\n"))) <= 78'
is "is ASCII with CR LF, in short lines" \
    "$(mail 'raw.isascii(), b"\n" in raw.replace(b"\r\n", b""), '"$SHORT")" "(True, False, True)"
id=$(mail 'm["Message-ID"]')
tried "again" 'j["answer"]' "done" '{"name": "x"}'
is "another payload is another check" "$([ "$(mail 'm["Message-ID"]')" != "$id" ] && echo yes)" yes
tried "again" 'j["answer"]' "done" '{"name": "Zoë 日本"}'
is "the same Message-ID when it is sent again" "$(mail 'm["Message-ID"]')" "$id"
is "which is the key" "$(mail 'm["Message-ID"][33:], int(m["Message-ID"][1:33], 16) > 0')" \
    "('@example.com>', True)"
is "its time is now" "$(mail 'abs(m["Date"].datetime.timestamp() - __import__("time").time()) < 120')" True
mail_job "$NONE" 'headers = [
    "Reply-To: Käthe <k@example.com>, \"Groß, \(.data.name)\" <\(.data.to)>, ops@x.y",
    "Sender: \(.data.bot // \"\")", "References: \(.data.ids)" ];'
IDS=$(printf '<%040d@example.com> ' {1..40})
tried "headers with addresses" 'j["answer"]' "done" \
    "{\"name\": \"Zoë, (B)\", \"to\": \"z@example.com\", \"ids\": \"$IDS<end@x>\"}"
is "addresses stand outside of words" "$(mail '[str(a) for a in m["Reply-To"].addresses]')" \
    "['Käthe <k@example.com>', '\"Groß, Zoë, (B)\" <z@example.com>', 'ops@x.y']"
is "and in the headers, as they are" \
    "$(mail '"<z@example.com>" in j["data"], "References: =?" in j["data"]')" \
    "(True, False)"
is "an address that is empty is left out" "$(mail 'm["Sender"]')" None
is "references are whole, in short lines" "$(mail 'len(m["References"].split()), '"$SHORT")" "(41, True)"
mail_job "$NONE" 'headers = [ "Sender: bot@example.com", "X-Long: '"$(printf 'word %.0s' {1..60})"'" ];'
tried "a sender" 'j["answer"]' "done"
is "has its address" "$(mail 'm["Sender"].address.addr_spec, len(m["X-Long"].split()), '"$SHORT")" \
    "('bot@example.com', 60, True)"
mail_job "$NONE" 'html = "<p>\(.data.name | @html)</p>";'
tried "two alternatives" 'j["answer"]' "done" '{"name": "a < b"}'
is "text and html" "$(mail '[(p.get_content_type(), p.get_content().strip()) for p in m.iter_parts()]')" \
    "[('text/plain', 'It waits.'), ('text/html', '<p>a &lt; b</p>')]"
LONG=$(printf 'x%.0s' {1..3000})
SUBJECT='\(.data.long)' TEXT='\(.data.long)' mail_job "$NONE"
tried "long lines" 'j["answer"]' "done" "{\"long\": \"$LONG\"}"
is "are folded" "$(mail "$SHORT"', len(m["Subject"]), len(m.get_content().strip())')" "(True, 3000, 3000)"

# ---- what payloads cannot do ----
nothing_sent() {        # WHAT NOTE PAYLOAD
    local before; before=$(mails)
    tried "$1" 'j["answer"], j["note"]' "('final fail', $2)" "$3"
    is "$1: nothing is sent" "$(mails)" "$before"
}
SUBJECT='\(.data.s)' mail_job "$NONE"
nothing_sent "the end of a line in a header" \
    "'subject: a control character has come out, such as the end of a line'" '{"s": "a\r\nBcc: x@y.z"}'
nothing_sent "null" "'subject: \\\\(.data.s) is null'" '{}'
TO='\(.data.to)' mail_job "$NONE"
nothing_sent "two addresses" "\"to: 'a@b.c, d@e.f': it is no address such as a@example.com\"" \
    '{"to": "a@b.c, d@e.f"}'
nothing_sent "a command" "\"to: 'a@b.c> SIZE=1 <d@e.f': it is no address such as a@example.com\"" \
    '{"to": "a@b.c> SIZE=1 <d@e.f"}'
TO=a@b.c mail_job "$NONE" 'headers = [ "Reply-To: sales@b.c, \(.data.to)", "In-Reply-To: \(.data.id)" ];'
nothing_sent "an address more in a header" \
    "\"Reply-To: 'a@b.c, d@e.f': it is no address such as a@example.com\"" '{"to": "a@b.c, d@e.f"}'
nothing_sent "an id that is no ASCII" \
    "'In-Reply-To has a letter that is no ASCII, or 900 bytes without a blank'" '{"to": "", "id": "<ä@x>"}'
TO='\(.data.to)' mail_job "$NONE"
nothing_sent "nobody" "'it is to nobody'" '{"to": " "}'

# ---- what the server answers ----
# answers STEP ANSWER EXPECTED: of the server that answers so to that step
answers() {
    URL=smtp://127.0.0.1:$(sed -n "s/^$1 $2 //p" "$STEPS/ports") mail_job "$OWN"
    local words="$2 as asked for"
    [ "$2" != lost ] || words=smtp://127.0.0.1:
    tried "$1: $2" "j[\"answer\"], '$words' in j[\"note\"], 'pw-' in str(j)" "('$3', True, False)"
}
steps() {       # FOLDER OPTIONS STEP ANSWER...
    local options=$2; STEPS=$1; shift 2
    # shellcheck disable=SC2086
    mail_server "$STEPS" --at "$@" $options
}
steps plain_steps "" greeting 421 greeting 554 greeting lost EHLO 421 EHLO 502 EHLO lost MAIL 421 MAIL 451 \
    MAIL 550 MAIL lost RCPT 421 RCPT 451 RCPT 550 RCPT lost DATA 421 DATA 451 DATA 554 DATA lost end 421 \
    end 452 end 554 end lost
OWN=$NONE
for step in greeting EHLO; do
    for code in 421 $([ $step = EHLO ] && echo 502 || echo 554) lost; do answers $step $code fail; done
done
for step in MAIL RCPT; do
    for code in 421 451 lost; do answers $step $code fail; done
    answers $step 550 "final fail"
done
for code in 421 451 lost; do answers DATA $code fail; done
answers DATA 554 "final fail"
for code in 421 452 lost; do answers end $code fail; done
answers end 554 "final fail"
is "none of them is taken for sent" "$(FOLDER=plain_steps mails)" 0
URL=smtp://127.0.0.1:1 mail_job "$NONE"
tried "nobody there" 'j["answer"], "connect" in j["note"]' "('fail', True)"
mail_job
tried "a server without STARTTLS" 'j["answer"], "STARTTLS" in j["note"]' "('fail', True)"

# ---- TLS and passwords ----
certificate good 127.0.0.1 IP:127.0.0.1
certificate other elsewhere.example DNS:elsewhere.example
CA="ca_file = \"$TMP/ca.pem\";" LOGIN='user = "me"; password = "pw-4711";'
mail_server tls --tls good.pem good.key --login me pw-4711
URL=smtp://127.0.0.1:$PORT
mail_job "$CA $LOGIN"
tried "STARTTLS and a password" 'j["answer"]' "done"
is "are used" "$(FOLDER=tls mail 'j["tls"], j["user"]')" "(True, 'me')"
mail_job "$CA" 'user = "me"; password = "pw-other";'
tried "a wrong password" 'j["answer"], "535" in j["note"], "pw-" in str(j)' "('fail', True, False)"
mail_job "$CA"
tried "no password" 'j["answer"], "530" in j["note"]' "('fail', True)"
mail_job "$LOGIN"
tried "an authority that is not known" 'j["answer"], "certificate" in j["note"]' "('fail', True)"
steps tls_steps "--tls good.pem good.key --login me pw-4711" STARTTLS 454 STARTTLS 502 STARTTLS lost \
    AUTH 454 AUTH 504 AUTH lost
OWN="$CA $LOGIN"
for code in 454 502 lost; do answers STARTTLS $code fail; done
for code in 454 504 lost; do answers AUTH $code fail; done
is "none of these is taken for sent" "$(FOLDER=tls_steps mails)" 0
mail_server smtps --smtps good.pem good.key
URL=smtps://127.0.0.1:$PORT mail_job "$CA"
tried "smtps" 'j["answer"]' "done"
mail_server other --smtps other.pem other.key
URL=smtps://127.0.0.1:$PORT mail_job "$CA"
tried "another name" 'j["answer"], "name" in j["note"]' "('fail', True)"

# ---- many: one connection ----
URL=smtp://127.0.0.1:$(cat plain/port) SUBJECT='\(.entity_key)' mail_job "$NONE"
"$P" --store sqlite:p.db init >/dev/null
echo entity_name,entity_key,job_exec,check_at >rows
for i in {1..50}; do echo "orders,$i,it,2023-11-14T22:15:00Z"; done >>rows
ok "many are loaded" "$P" --store sqlite:p.db --now 2023-11-14T22:10:00Z enqueue --from rows
before=$(mails)
has "and run" "$("$P" --store sqlite:p.db --set workers=1 run --slot 1700000100 2>/dev/null)" "50 done"
is "each is sent once" "$(($(mails) - before)) $(tail -n 50 plain/mails | sort -u | wc -l)" "50 50"
is "over one connection" "$(tail -n 50 plain/mails | grep -o '"connection": [0-9]*' | sort -u | wc -l)" 1

# ---- a connection that the server gives up ----
steps given_up "--most 3" MAIL 421 MAIL lost DATA 421 end lost
# sent N STEP ANSWER: what becomes of so many mails, where a connection ends so after three
sent() {
    URL=smtp://127.0.0.1:$(sed -n "s/^$2 $3 //p" given_up/ports) mail_job "$NONE"
    rm -f g.db
    "$P" --store sqlite:g.db init >/dev/null
    { head -n 1 rows; sed -n "2,$(($1 + 1))p" rows; } >some
    "$P" --store sqlite:g.db --now 2023-11-14T22:10:00Z enqueue --from some >/dev/null
    before=$(FOLDER=given_up mails)
    "$P" --store sqlite:g.db --set workers=1 run --slot 1700000100 >sent 2>&1
    OUT=$(cat sent)
    CAME=$(($(FOLDER=given_up mails) - before))
}
for how in "MAIL 421" "MAIL lost" "DATA 421"; do
    sent 10 $how
    has "$how after three mails a connection: no mail fails" "$OUT" "10 done"
    is "$how: each is taken once" "$CAME" 10
done
sent 4 end lost
has "what was sent whole is not sent again at once" "$OUT" "3 done"
is "as nobody knows" "$CAME" 3

# ---- a server that is away for a night ----
cat >away.cfg <<CFG
plugin_dirs = ["$(dirname "$P")/jobs"];
jobs = { mail = { plugin = "email"; settings = { server = "smtp://127.0.0.1:1"; tls = "none";
    from = "a@example.com"; to = "b@example.com"; subject = "s"; text = "t"; }; }; };
CFG
chmod 600 away.cfg
sed "s#smtp://127.0.0.1:1\"#smtp://127.0.0.1:$(cat plain/port)\"#" away.cfg >back.cfg
away() { "$P" --quiet --store sqlite:away.db "$@" >.out 2>.err; }
away init
away --config away.cfg --now 2030-01-01T18:00Z enqueue orders 7 mail 2030-01-01T18:15Z
for hour in 18 19 20 21 22 23; do
    for minute in 16 31 46; do
        away --config away.cfg --now "2030-01-01T$hour:${minute}Z" run
        cat .err >>away.err
    done
done
is "it is put off, and has not failed for good" \
    "$(sqlite3 away.db "SELECT count(*) FROM prescient_future_job WHERE put_off_at IS NOT NULL;
        SELECT count(*) FROM prescient_future_job_history" | xargs)" "1 0"
has "which a pass tells" "$(cat away.err)" "job 'mail' is broken: smtp://127.0.0.1:1: "
FOLDER=plain
before=$(mails)
for time in 00:01 00:16 00:31 00:46 01:01; do
    away --config back.cfg --now "2030-01-02T${time}Z" run
done
is "once it is back, the mail is sent within the hour" $(($(mails) - before)) 1

# ---- settings that are refused ----
URL=smtp://127.0.0.1:1
BASE="server = \"$URL\"; from = \"a@b.c\"; to = \"d@e.f\"; subject = \"s\"; text = \"t\";"
refused "setting 'server': expected such as" 'from = "a@b.c";'
refused "setting 'server': it is no URL of a server without user" 'server = "smtp://me:pw@x";'
for more in /name '/a%0d%0aRCPT' '/?q' '?q' '#f'; do
    refused "setting 'server': it is no URL of a server without user" "server = \"smtp://x:25$more\";"
done
refused "expected none, as tls = \"none\" would show them" "$BASE $NONE $LOGIN"
refused "found one of them, expected both or none" "$BASE user = \"me\";"
refused "setting 'tls': found 'off'" "$BASE tls = \"off\";"
refused "setting 'from': 'shop': it has no '@'" 'server = "smtp://x"; from = "shop";'
refused "setting 'to': 'a@b, c@d': it is no address" \
    'server = "smtp://x"; from = "a@b.c"; to = [ "a@b, c@d" ];'
refused "setting 'to' is missing" 'server = "smtp://x"; from = "a@b.c";'
refused "setting 'subject' is missing" 'server = "smtp://x"; from = "a@b.c"; to = "a@b.c";'
refused "settings 'text' and 'html': found none" \
    'server = "smtp://x"; from = "a@b.c"; to = "a@b.c"; subject = "s";'
refused "Bcc is a header that the job itself sets" "$BASE headers = [ \"Bcc: x@y.z\" ];"
refused "setting 'headers': 'x': it has no '@'" "$BASE headers = [ \"Reply-To: a@b, x\" ];"
refused "setting 'headers': sender: found 2 addresses, expected one" \
    "$BASE headers = [ \"sender: a@b, c@d\" ];"
refused "setting 'headers': References has a letter that is no ASCII" \
    "$BASE headers = [ \"References: <ä@b>\" ];"
refused "setting 'text': line 1: what begins with" \
    'server = "smtp://x"; from = "a@b.c"; to = "a@b.c"; subject = "s"; text = "\(.x";'
