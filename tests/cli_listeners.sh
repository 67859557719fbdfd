#!/usr/bin/env bash
# cli_listeners.sh - engines note their listeners, and `prescient doctor` names those that differ.
# about 20 s
# night: hundreds of commands
. "$(dirname "$0")/lib.sh"

plugin good "prescient_done(answer);"

# cfg NAME ENGINE LISTENERS
cfg() {
    printf 'engine_name = "%s"; slot_length = "15m"; plugin_dirs = ["%s/jobs"];
        jobs = { tell = { plugin = "good"; }; mail = { plugin = "good"; }; };
        listeners = ( %s );\n' "$2" "$TMP" "$3" >"$1.cfg"
    chmod 600 "$1.cfg"
}
look() { "$P" doctor --json "$@" | json '[(f["level"], f["found"]) for f in j if f["what"] == "listeners"]'; }
# without when they were seen
texts() { look "$@" | sed 's/ ([0-9-]*T[0-9:]*Z)//g'; }
run() { "$P" --quiet run --config "$1.cfg" 2>/dev/null; }

HOOK='{ name = "hook"; events = [ "order.*", "ticket.*" ]; job = "tell"; }'
compares() {
    cfg a shop1 "$HOOK"
    cfg b shop2 '{ name = "hook"; events = [ "ticket.*", "order.*" ]; job = "tell"; }'
    "$P" init --config a.cfg >/dev/null
    is "$STORE_NAME: no engine has noted any" "$(look --config a.cfg)" "[('ok', 'no engine has noted any')]"
    run a
    is "$STORE_NAME: one engine, and the same file" "$(texts --config a.cfg)" \
        "[('ok', '1, the same for all: shop1 run $TMP/a.cfg, this command with $TMP/a.cfg')]"
    has "$STORE_NAME: without a file, engines alone" "$(texts)" "the same for all: shop1 run $TMP/a.cfg')]"
    run b
    is "$STORE_NAME: the order of patterns is nothing" "$(texts)" \
        "[('ok', '1, the same for all: shop2 run $TMP/b.cfg, shop1 run $TMP/a.cfg')]"
    is "$STORE_NAME: exit code" "$("$P" doctor --config a.cfg >/dev/null; echo $?)" 0

    cfg b shop2 '{ name = "hook"; events = "order.*"; job = "tell"; }, { events = "*"; job = "mail"; }'
    is "$STORE_NAME: ours differ from those of engines" "$(texts --config b.cfg)" \
        "[('warn', 'listener hook: job tell: ticket.*, order.* - shop2 run $TMP/b.cfg, shop1 run $TMP/a.cfg; \
job tell: order.* - this command with $TMP/b.cfg'), \
('warn', 'listener mail: none - shop2 run $TMP/b.cfg, shop1 run $TMP/a.cfg; job mail: * - \
this command with $TMP/b.cfg')]"
    has "$STORE_NAME: what to do" "$("$P" doctor --config b.cfg)" \
        "engines read their settings when they start: restart those that lack what this file has"
    run b
    is "$STORE_NAME: two engines differ" "$(texts --config a.cfg)" \
        "[('warn', 'listener hook: job tell: order.* - shop2 run $TMP/b.cfg; job tell: order.*, ticket.* - \
shop1 run $TMP/a.cfg, this command with $TMP/a.cfg'), \
('warn', 'listener mail: job mail: * - shop2 run $TMP/b.cfg; none - shop1 run $TMP/a.cfg, \
this command with $TMP/a.cfg')]"
    has "$STORE_NAME: what to do" "$("$P" doctor --config a.cfg)" \
        "an event is delivered as the engine has it that settles its check: give all engines the same"
    is "$STORE_NAME: exit code of a warning" "$("$P" doctor --config a.cfg >/dev/null; echo $?)" 1

    cfg none shop3 ''
    run none
    has "$STORE_NAME: one that has none lacks both" "$(texts)" \
        "listener hook: none - shop3 run $TMP/none.cfg; job tell: order.* - shop2 run $TMP/b.cfg; job tell: \
order.*, ticket.* - shop1 run $TMP/a.cfg'), ('warn', 'listener mail: none - shop3 run $TMP/none.cfg, \
shop1 run $TMP/a.cfg; job mail: * - shop2"
    cfg a shop1 '{ name = "hook"; events = "order.*"; job = "tell"; }, { events = "*"; job = "mail";
        digest = "15m"; }'
    run a
    has "$STORE_NAME: a digest is no delivery at once" "$(texts)" "job mail, each 15m: * - shop1 run"
    cfg none shop3 '{ name = "hook"; events = "order.*"; job = "tell"; }, { events = "*"; job = "mail";
        digest = "900s"; }'
    cp none.cfg b.cfg
    sed -i s/shop3/shop2/ b.cfg
    run none; run b
    has "$STORE_NAME: mended" "$(texts --config a.cfg)" "[('ok', '2, the same for all: shop2 run"
    is "$STORE_NAME: a sweep is no other engine" \
        "$("$P" --quiet sweep --config a.cfg; look --config a.cfg | grep -o "shop1 [a-z]*")" "shop1 run"

    printf 'engine_name = "shop4"; jobs = {};' >idle.cfg
    chmod 600 idle.cfg
    has "$STORE_NAME: a file without jobs is no engine's" "$(texts --config idle.cfg)" "[('ok', '2, the same"
    for i in $(seq 1 9); do
        cfg many "many$i" "{ name = \"l$i\"; events = \"*\"; job = \"tell\"; }"
        run many
    done
    is "$STORE_NAME: at most so many are named" \
        "$(look | python3 -c 'import ast, sys; j = ast.literal_eval(sys.stdin.read())
print(len(j), [f[1][:20] for f in j])')" \
        "9 ['listener l9: job tel', 'listener l8: none - ', 'listener l7: none - ', 'listener l6: none - ', \
'listener l5: none - ', 'listener l4: none - ', 'listener l3: none - ', 'listener l2: none - ', \
'there are more lists']"
}
on_each_store compares

digests() {
    "$P" doctor --json "$@" | json '[(f["level"], f["found"]) for f in j if f["what"] == "digests"]'
}
# Whoever deletes the row of the check has ended it, and no application can by a call.
stands_still() {
    cfg late shop1 '{ name = "late"; events = "order.*"; job = "mail"; digest = "15m"; },
        { name = "day"; events = "*"; job = "tell"; digest = "cron 0 8 * * *"; }'
    cfg none shop1 "$HOOK"
    "$P" init --config late.cfg >/dev/null
    is "$STORE_NAME: no engine has filed them yet" "$(digests --config late.cfg)" \
        "[('warn', 'no check waits for that of the listener late, day')]"
    run late
    is "$STORE_NAME: a digest has its check" "$(digests --config late.cfg)" \
        "[('ok', '2, and a check waits for each')]"
    is "$STORE_NAME: without digests there is nothing to look at" "$(digests --config none.cfg)" "[]"
    "$P" resolve prescient.digest day --config late.cfg >/dev/null
    is "$STORE_NAME: one is missing" "$(digests --config late.cfg)" \
        "[('warn', 'no check waits for that of the listener day')]"
    has "$STORE_NAME: what to do" "$("$P" doctor --config late.cfg)" "prescient run files it now, a daemon"
    run late
    is "$STORE_NAME: which helps" "$(digests --config late.cfg)" "[('ok', '2, and a check waits for each')]"
}
on_each_store stands_still

daemons() {
    cfg a shop1 "$HOOK"
    cfg b shop2 ""
    "$P" init --config a.cfg >/dev/null
    "$P" daemon --config a.cfg >a.log 2>&1 & local first=$!
    "$P" daemon --config b.cfg >b.log 2>&1 & local second=$!
    for _ in $(seq 600); do
        [ "$(look | grep -o 'shop[12] daemon' | sort -u | wc -l)" = 2 ] && break
        sleep 0.1
    done
    has "$STORE_NAME: daemons note theirs when they start" "$(texts)" \
        "job tell: order.*, ticket.* - shop1 daemon $TMP/a.cfg"
    has "$STORE_NAME: those that have none, too" "$(texts)" "none - shop2 daemon $TMP/b.cfg"
    kill -TERM $first $second
    wait $first $second
}
on_each_store daemons
