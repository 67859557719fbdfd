#!/usr/bin/env bash
# prescient try: one look of a job, as a worker would make it, and nothing is written down.
# night: a process for each look
# about 20 s
. "$(dirname "$0")/lib.sh"
json_begins

plugin deeds 'const char *key = check->entity_key;
    if (!strcmp(key, "again")) prescient_again(answer, check->now + 3600), prescient_note(answer, "not yet");
    else if (!strcmp(key, "past")) prescient_again(answer, check->now - 60);
    else if (!strcmp(key, "far")) prescient_again(answer, check->now + 4000000000LL);
    else if (!strcmp(key, "defer")) prescient_defer(answer, check->now + 60);
    else if (!strcmp(key, "fail")) prescient_fail(answer, "the shop is closed");
    else if (!strcmp(key, "gone")) prescient_fail_final(answer, "the shop is gone");
    else if (!strcmp(key, "crash")) abort();
    else if (!strcmp(key, "hang")) pause();
    else if (!strcmp(key, "bad")) answer->kind = 77;
    else if (!strcmp(key, "effects")) {
        host->emit(host, answer, "order.late", "{\"n\": 1}");
        host->enqueue(host, answer, "orders", "43", "deeds", check->now + 60, NULL, "earlier");
        host->resolve(host, answer, "orders", "44", NULL);
        prescient_done(answer);
    } else if (!strcmp(key, "for")) {
        host->enqueue_check(host, answer, &(struct prescient_new_check){
            .size = sizeof(struct prescient_new_check), .entity_name = "orders", .entity_key = "43",
            .job = "deeds", .at = check->now + 60, .json = "[1]", .priority = -2,
            .concurrency_key = "project 7", .tenant = "acme" });
        prescient_done(answer);
    } else { prescient_note(answer, "payload %s, now %lld", check->payload ? check->payload : "-",
                            (long long)check->now); prescient_done(answer); }'
cat >prescient.cfg <<CFG
plugin_dirs = ["$TMP/jobs", "$(dirname "$P")/jobs"];
jobs = { deeds = { plugin = "deeds"; timeout = "1s"; horizon = "30d"; max_failures = 3; };
         once = { plugin = "deeds"; max_checks = 0; };
         asks = { plugin = "unshipped_order"; };
         misspelt = { plugin = "unshipped_order"; settings = { tabel = "orders"; }; }; };
CFG
chmod 600 prescient.cfg
NOW=2030-01-01T00:05:00Z

# tried KEY EXPRESSION EXPECTED [JOB]: of the JSON, and that the exit code is CODE (0 if not set)
tried() {
    local code=0
    "$P" --now $NOW try "${4:-deeds}" orders "$1" --json >.tried 2>.err || code=$?
    is "$STORE_NAME: $1" "$code $(json "$2" <.tried)" "${CODE:-0} $3"
}

looks() {
    local before
    "$P" init >/dev/null
    sql 'CREATE TABLE orders (id integer PRIMARY KEY, shipped_at integer)'
    sql 'INSERT INTO orders VALUES (1, NULL), (2, 5)'
    "$P" --now $NOW enqueue orders 1 deeds +1h >/dev/null
    before=$("$P" list --json; "$P" history --json; "$P" runs --json; "$P" events --json; "$P" passes --json)
    tried again 'j["answer"], j["at"], j["outcome"], j["next_check_at"], j["is_over"], j["note"]' \
        "('again', '2030-01-01T01:05:00Z', 'again', '2030-01-01T01:15:00Z', False, 'not yet')"
    tried past 'j["answer"], j["outcome"], j["is_over"], j["next_check_at"]' "('again', 'past', True, None)"
    tried far 'j["answer"], j["outcome"], j["is_over"]' "('again', 'beyond_horizon', True)"
    tried again 'j["answer"], j["outcome"], j["is_over"]' "('again', 'max_checks', True)" once
    tried defer 'j["answer"], j["outcome"], j["next_check_at"]' \
        "('defer', 'deferred', '2030-01-01T00:06:00Z')"
    tried effects '[(e["effect"], e["event"], e["entity_key"], e["job"], e["at"], e["data"])
                    for e in j["effects"]]' \
        "[('emit', 'order.late', None, None, None, {'n': 1}), \
('enqueue', None, '43', 'deeds', '2030-01-01T00:06:00Z', None), \
('resolve', None, '44', None, None, None)]"
    tried for '[(e["conflict"], e["priority"], e["concurrency_key"], e["tenant"]) for e in j["effects"]]' \
        "[('keep', -2, 'project 7', 'acme')]"
    tried 1 'j["answer"], [e["event"] for e in j["effects"]]' "('again', ['order.unshipped'])" asks
    tried 2 'j["answer"], j["effects"], j["note"]' "('done', [], None)" asks
    tried 3 'j["answer"], j["note"]' "('done', 'there is no such order')" asks
    CODE=1 tried fail 'j["answer"], j["note"], j["is_over"]' "('fail', 'the shop is closed', False)"
    CODE=1 tried gone 'j["answer"], j["note"], j["outcome"], j["is_over"]' \
        "('final fail', 'the shop is gone', 'failed', True)"
    CODE=1 tried crash 'j["answer"], j["note"]' "('crash', 'killed by SIGABRT')"
    CODE=1 tried hang 'j["answer"], j["note"], j["run_us"] > 900000' \
        "('timeout', 'no answer within 1000 ms', True)"
    CODE=1 tried bad 'j["answer"], j["outcome"]' "('bad answer', 'bad_answer')"
    sql 'DROP TABLE orders'
    CODE=1 tried 1 'j["answer"], "orders" in j["note"], "business database" in j["note"]' \
        "('broken', True, True)" asks
    is "$STORE_NAME: nothing was written down" \
        "$("$P" list --json; "$P" history --json; "$P" runs --json; "$P" events --json; "$P" passes --json)" \
        "$before"
}

# The delivery of an event: what it would be given, and that nothing is run, sent or written down.
cat >touch.sh <<'SH'
touch ran
cat >>given
SH
events() {
    local before
    cp prescient.cfg usual.cfg
    {
        echo "plugin_dirs = [\"$TMP/jobs\", \"$(dirname "$P")/jobs\"];"
        echo "jobs = { tell = { plugin = \"exec\"; settings = { command = [\"sh\", \"touch.sh\", \"a b\"];"
        echo "    dir = \"$TMP\"; env = [\"TOKEN=hush\"]; }; }; other = { plugin = \"deeds\"; };"
        echo "    on = { plugin = \"exec\"; settings = { stream = true;"
        echo "    command = [\"sh\", \"touch.sh\"]; dir = \"$TMP\"; }; };"
        echo "    asks = { plugin = \"unshipped_order\"; }; };"
        echo "listeners = ( { name = \"ears\"; events = \"order.*\"; job = \"tell\"; } );"
    } >prescient.cfg
    "$P" init >/dev/null
    rm -f ran given
    before=$("$P" list --json; "$P" history --json; "$P" runs --json; "$P" events --json)
    event() { "$P" --now $NOW try "$@" 2>.err; }
    event tell orders 42 --event order.late --payload '{"n": 1.10}' --json >.tried
    is "$STORE_NAME: the request is told" "$(json 'j["answer"], j["note"], j["outcome"]' <.tried)" \
        "('done', 'not run', 'done')"
    is "$STORE_NAME: what would be run" "$(json 'j["request"].split("\n")[:4]' <.tried)" \
        "['in $TMP', \"run sh touch.sh 'a b'\", 'TOKEN=***', '']"
    json 'j["request"].split("\n")[4]' <.tried >document
    is "$STORE_NAME: its input is the document of the event" "$(json '[j[k] for k in ("type",
        "entity_name", "entity_key", "check_number", "timestamp", "data")]' <document)" \
        "['order.late', 'orders', '42', 1, '2030-01-01T00:05:00Z', {'n': 1.1}]"
    ok "$STORE_NAME: it was not run" test ! -e ran
    is "$STORE_NAME: a listener hears it" "$(cat .err)" ""
    event tell orders 42 --event order.late --json | json 'j["request"].split("\n")[4]' >again
    is "$STORE_NAME: each time under another key" \
        "$(cat again document | python3 -c 'import json, sys
print(len({json.loads(line)["id"] for line in sys.stdin}))')" 2
    event tell orders 42 --event stock.low >.out
    has "$STORE_NAME: nobody would hear it" "$(cat .err)" "no listener hands 'stock.low' to the job tell"
    is "$STORE_NAME: for people" "$(head -2 .out; tail -1 .out)" "> in $TMP
> run sh touch.sh 'a b'
nothing was sent, and nothing was written down; --send sends it"
    event on orders 42 --event order.late --json >.tried
    is "$STORE_NAME: no process is started that lives on" "$(json 'j["answer"]' <.tried; ls ran 2>&1)" \
        "done
ls: cannot access 'ran': No such file or directory"
    fails_with 78 "it may send or change things, and cannot say what: add --send" \
        "$P" try other orders effects --event order.late
    is "$STORE_NAME: which runs it" "$(event other orders 42 --event order.late --send --json |
        json 'j["answer"], "order.late" in j["note"], j["request"]')" "('done', True, None)"
    event tell orders 42 --event order.late --send --json >.tried
    is "$STORE_NAME: and a command" "$(json 'j["answer"], j["request"]' <.tried; ls ran)" "('done', None)
ran"
    is "$STORE_NAME: with the document" "$(json 'j["type"]' <given)" order.late
    fails_with 2 "--send belongs to --event" "$P" try tell orders 42 --send
    fails_with 2 "--event: event name" "$P" try tell orders 42 --event ''
    is "$STORE_NAME: nothing of an event was written down" \
        "$("$P" list --json; "$P" history --json; "$P" runs --json; "$P" events --json)" "$before"
    mv usual.cfg prescient.cfg
}
on_each_store looks
on_each_store events

export PRESCIENT_STORE="sqlite:$TMP/looks.db"
is "for people" "$("$P" --now $NOW try deeds orders effects | sed 's/[0-9.]* ms/N ms/')" \
    "answer   done
then     the check would be over: done
took     N ms
event    order.late {\"n\": 1}
enqueue  orders 43 deeds at 2030-01-01T00:06:00Z, conflict earlier 
resolve  orders 44 (every job)
nothing was written down"
has "what few checks have" "$("$P" --now $NOW try deeds orders for)" \
    'conflict keep, priority -2, concurrency key project 7, tenant acme [1]'
has "a payload" "$("$P" --now $NOW try deeds orders 7 --payload '{"a": 1}')" \
    'note     payload {"a": 1}, now 1893456300'
fails_with 2 "payload: found '{a'" "$P" try deeds orders 7 --payload '{a'
fails_with 78 "no job 'deads' in the settings; did you mean 'deeds'?" "$P" try deads orders 7
fails_with 78 "no job 'something' in the settings; \`prescient jobs\` lists them" "$P" try something orders 7
fails_with 78 "job misspelt: there is no setting 'tabel'; did you mean 'table'?" "$P" try misspelt orders 7
fails_with 2 "too few arguments" "$P" try deeds orders
is "no store is needed" "$("$P" --store sqlite:absent.db --quiet --now $NOW try deeds orders again --json |
    json 'j["next_check_at"]')" 2030-01-01T01:15:00Z
ok "and none is made" test ! -e absent.db
chmod 444 looks.db
is "nor one that can be written" "$("$P" --now $NOW try deeds orders again >/dev/null; echo $?)" 0
